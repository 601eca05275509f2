package reflector

import (
	"context"
	"iter"
	"time"

	"github.com/go-kube/kube/runtime/watcher"
)

// events yields what is in the cache and what happens to it, as [Feed.Events] says.
func (c *cache) events(ctx context.Context, patience time.Duration) iter.Seq[watcher.RawEvent] {
	return func(yield func(watcher.RawEvent) bool) {
		s := newSubscriber()
		s.follows = true
		c.enlist(s)
		defer s.leave()
		defer s.hurry(patience)()
		for ctx.Err() == nil {
			event, ok := s.takeEvent()
			if ok && !yield(event) || !ok && !s.waitFor(ctx) {
				return
			}
		}
	}
}

// hurry has s begin with those namespaces that are there once patience is over. The function that it
// returns stops that.
func (s *subscriber) hurry(patience time.Duration) (stop func() bool) {
	if patience == 0 || s.home.Load().namespaces == nil {
		return func() bool { return false }
	}
	return time.AfterFunc(patience, func() {
		c := s.home.Load().lock()
		defer c.mu.Unlock()
		s.hurried = true
		c.beginPartly()
	}).Stop
}

// beginPartly has those be told what there is who wait for no more, once it is known which namespaces there
// are. The caller holds mu.
func (c *cache) beginPartly() {
	for s := range c.subscribers {
		if c.known && s.hurried && !s.started {
			c.partly = true
			s.start(c)
		}
	}
}

// takeEvent returns the next event for one who follows.
func (s *subscriber) takeEvent() (watcher.RawEvent, bool) {
	c := s.home.Load().lockToRead()
	defer c.mu.RUnlock()
	return s.event(c.lowest())
}

// event returns the next event for one who follows. version is how far the cache has come. The
// caller holds cache.mu for reading.
func (s *subscriber) event(version string) (watcher.RawEvent, bool) {
	if event, ok := s.snapshotEvent(); ok {
		return event, true
	}
	if raw, n, ok := s.next(); ok {
		event := watcher.RawEvent{Type: watcher.Apply, Object: raw}
		if n == isDeleted {
			event.Type = watcher.Delete
		}
		return event, true
	}
	if version == s.version {
		return watcher.RawEvent{}, false
	}
	s.version = version
	return watcher.RawEvent{Type: watcher.Bookmark, ResourceVersion: version}, true
}

// snapshotEvent returns the next event of the snapshot under way.
func (s *subscriber) snapshotEvent() (event watcher.RawEvent, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch s.telling {
	case toBegin:
		s.telling = within
		return watcher.RawEvent{Type: watcher.Init}, true
	case within:
		if raw := s.nextReplay(); raw != nil {
			return watcher.RawEvent{Type: watcher.InitApply, Object: raw}, true
		}
		s.telling = complete
		return watcher.RawEvent{Type: watcher.InitDone, ResourceVersion: s.version}, true
	}
	return watcher.RawEvent{}, false
}
