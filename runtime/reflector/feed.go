package reflector

import (
	"context"
	"iter"
	"sync/atomic"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/runtime/watcher"
)

// Feed tells what happens to objects, as a [watcher.Engine] does, to one who needs no store of
// them. Whom it hears it from is its own affair. Feeds and reflectors with [Options.Share] that
// were made from the same client and ask for the same have one watch between them: a feed alone has a
// watch and keeps nothing; where there is a store that has what it asks for, whole or the metadata, it
// follows that; and two feeds make a store, for what one of them has missed the other could not
// tell. What one does, or does not do, holds up no other, and costs one entry per object.
//
// Make one with [NewFeed], or with [Reflector.Feed] to follow that reflector and no other.
type Feed struct {
	engine  *watcher.Engine // of a watch of its own; nil where from is not
	from    *source         // the reflector that is followed
	opts    watcher.Options
	share   bool
	follows atomic.Pointer[cache] // nil while its own watch is what it hears
}

// NewFeed returns a feed of what endpoint spans. opts, which may be nil, are those of the watch, and
// are copied; what is wrong with them, Err says. Without share it always has a watch of its own.
func NewFeed(endpoint kube.Endpoint, opts *watcher.Options, share bool) *Feed {
	f := &Feed{engine: watcher.NewEngine(endpoint, opts), share: share}
	if opts != nil {
		f.opts = *opts
	}
	return f
}

// Feed returns a feed of what the reflector keeps, which has to be run.
func (r *Reflector[K]) Feed() *Feed { return &Feed{from: r.from} }

// Err returns what is wrong with the options, or nil.
func (f *Feed) Err() error {
	if f.engine == nil {
		return nil
	}
	return f.engine.Err()
}

// State returns what the watch is doing that the feed hears from.
func (f *Feed) State() watcher.State {
	if f.from != nil {
		return f.from.now().state()
	}
	if c := f.follows.Load(); c != nil {
		return c.state()
	}
	return f.engine.State()
}

// Events yields a snapshot and what happens after it, until ctx ends; that of a reflector
// also ends with it. There is a new snapshot, from Init to InitDone, whenever the feed cannot
// say what came before: after a list, and when it goes over to another watch. A Bookmark
// tells how far it has come when nothing is left to tell; Apply and Delete may come without a
// version. Several changes of one object become one while the loop body runs, and an
// object can be yielded as deleted that never was before.
//
// One loop at a time can range over the events of a feed.
func (f *Feed) Events(ctx context.Context) iter.Seq[watcher.RawEvent] {
	switch {
	case f.from != nil:
		return f.from.events(ctx)
	case f.share && f.engine.Err() == nil:
		return func(yield func(watcher.RawEvent) bool) { f.run(ctx, yield) }
	}
	return f.engine.Events(ctx)
}

// run yields the events of one watch after the other.
func (f *Feed) run(ctx context.Context, yield func(watcher.RawEvent) bool) {
	all := jointsOf(f.engine)
	m := &member{feed: f, key: f.engine.Key()}
	all.enter(m)
	defer all.exit(m)
	for more := true; more && ctx.Err() == nil; {
		more = f.follow(ctx, all, m, yield)
	}
}

// follow yields the events of the watch that is the best at present, until there is a better one.
// It returns false when the consumer breaks its loop.
func (f *Feed) follow(ctx context.Context, all *joints, m *member, yield func(watcher.RawEvent) bool) bool {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	user := &source{onError: f.opts.OnError, telling: make(chan struct{}, 1)}
	events := f.engine.Events(ctx)
	if j := all.place(ctx, m, user, cancel); j != nil {
		defer user.leave(all, j)
		f.follows.Store(j.cache)
		events = j.cache.events(ctx)
	}
	defer f.follows.Store(nil)
	for event := range events {
		if !yield(event) {
			return false
		}
	}
	return true
}

// member is a feed that runs. Its fields but the first are guarded by mu of joints.
type member struct {
	feed  *Feed
	key   watcher.Key
	joint *joint             // that it follows, or nil
	move  context.CancelFunc // has it look for a better one
}

func (all *joints) enter(m *member) {
	all.mu.Lock()
	defer all.mu.Unlock()
	if all.members == nil {
		all.members = map[watcher.Key]map[*member]struct{}{}
	}
	if all.members[m.key] == nil {
		all.members[m.key] = map[*member]struct{}{}
	}
	all.members[m.key][m] = struct{}{}
}

func (all *joints) exit(m *member) {
	all.mu.Lock()
	defer all.mu.Unlock()
	delete(all.members[m.key], m)
	if len(all.members[m.key]) == 0 {
		delete(all.members, m.key)
	}
}

// place makes user, who stands for m, one of those who run the joint that serves m best. It is nil
// when m is alone.
func (all *joints) place(ctx context.Context, m *member, user *source, move context.CancelFunc) *joint {
	all.mu.Lock()
	defer all.mu.Unlock()
	m.move = nil // not to be moved to what is begun here
	m.joint = all.best(m.key)
	if m.joint == nil && len(all.members[m.key]) > 1 {
		m.joint = all.begin(ctx, jointKey{watch: m.key}, m.feed.newStore())
	}
	if m.joint != nil {
		m.joint.users[user] = struct{}{}
	}
	m.move = move
	return m.joint
}

// best returns the joint of whole objects that serves key, else any that does.
func (all *joints) best(key watcher.Key) (best *joint) {
	for k, j := range all.byKey {
		if k.namespaces != nil || !k.watch.Serves(key) {
			continue
		}
		if best == nil || k.watch.Whole(best.key.watch) {
			best = j
		}
	}
	return best
}

// newStore returns what runs a store for the feed and others.
func (f *Feed) newStore() *source {
	s := &source{}
	opts := f.opts
	opts.OnError = s.tellAll
	endpoint := f.engine.Endpoint()
	s.own = newWatchCache(endpoint, &opts)
	s.own.onError, s.own.log = s.tellAll, opts.Logger
	if s.own.log == nil {
		s.own.log = endpoint.Client().Logger()
	}
	return s
}

// betterWith reports whether j, which serves m, does so better than what it follows.
func (m *member) betterWith(j *joint) bool {
	return j.key.namespaces == nil && m.move != nil && m.joint != j &&
		(m.joint == nil || j.key.watch.Whole(m.joint.key.watch))
}

// moveTo has the feeds follow j that are better off with it, which is ready.
func (all *joints) moveTo(j *joint) {
	all.mu.Lock()
	defer all.mu.Unlock()
	all.move(j, func(*member) bool { return true })
}

// moveEarly has those of them follow j at once that know nothing yet. The caller holds mu.
func (all *joints) moveEarly(j *joint) {
	all.move(j, func(m *member) bool { return !m.feed.State().Synced })
}

func (all *joints) move(j *joint, which func(*member) bool) {
	for key, members := range all.members {
		if !j.key.watch.Serves(key) {
			continue
		}
		for m := range members {
			if m.betterWith(j) && which(m) {
				m.move()
			}
		}
	}
}

// events yields what is in the cache and what happens to it, as [Feed.Events] says.
func (c *cache) events(ctx context.Context) iter.Seq[watcher.RawEvent] {
	return func(yield func(watcher.RawEvent) bool) {
		s := newSubscriber()
		s.follows = true
		c.enlist(s)
		defer c.unsubscribe(s)
		for ctx.Err() == nil {
			event, ok := c.nextEvent(s)
			if ok && !yield(event) || !ok && !c.waitFor(ctx, s) {
				return
			}
		}
	}
}

func (c *cache) nextEvent(s *subscriber) (watcher.RawEvent, bool) {
	c.mu.RLock()
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
