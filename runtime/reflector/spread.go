package reflector

import (
	"context"
	"iter"
	"maps"
	"slices"

	"github.com/go-kube/kube/runtime/watcher"
)

// spread fills a cache from several watches: one for each namespace. They are not one watch of
// everything, of which the rest is thrown away, because a program that is given some namespaces
// is allowed to see no others, mostly.
type spread struct {
	cache    *cache
	ctx      context.Context
	branches map[string]*branch
}

// branch is the watch of one namespace.
type branch struct {
	stop  context.CancelFunc
	ended chan struct{}
}

// fillParts fills c with the namespaces that sets yields last, until ctx ends.
func (c *cache) fillParts(ctx context.Context, sets iter.Seq[[]string]) {
	s := &spread{c, ctx, map[string]*branch{}}
	for names := range sets {
		s.follow(names)
	}
	<-ctx.Done()
	for _, b := range s.branches {
		<-b.ended
	}
}

// follow makes names the namespaces that are watched.
func (s *spread) follow(names []string) {
	var left []string
	for name, b := range s.branches {
		if !slices.Contains(names, name) {
			left = append(left, name)
			b.stop()
		}
	}
	for _, name := range left {
		<-s.branches[name].ended
		delete(s.branches, name)
	}
	joined := map[string]*part{}
	for _, name := range names {
		if s.branches[name] == nil {
			joined[name] = newPart(s.cache.engine.In(name))
		}
	}
	s.cache.rearrange(left, joined)
	for name, p := range joined {
		s.branches[name] = s.start(p)
	}
}

func (s *spread) start(p *part) *branch {
	ctx, stop := context.WithCancel(s.ctx)
	b := &branch{stop, make(chan struct{})}
	go func() {
		defer close(b.ended)
		defer stop()
		for event := range p.engine.Events(ctx) {
			s.take(ctx, p, event)
		}
	}()
	return b
}

// take brings an event into the cache, unless it is too late for it.
func (s *spread) take(ctx context.Context, p *part, event watcher.RawEvent) {
	s.cache.writing.Lock()
	defer s.cache.writing.Unlock()
	if ctx.Err() == nil {
		s.cache.take(p, event)
	}
}

// rearrange takes out the namespaces that left, their objects included, and lets others in.
func (c *cache) rearrange(left []string, joined map[string]*part) {
	c.writing.Lock()
	defer c.writing.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, name := range left {
		p := c.parts[name]
		delete(c.parts, name)
		for e := range p.table.all() {
			c.dropped(e, e.content)
		}
	}
	maps.Copy(c.parts, joined)
	c.known = true
	c.settle()
	c.beginPartly()
	c.wake()
}

// states returns what the watch of each namespace is doing.
func (c *cache) states() map[string]watcher.State {
	c = c.lockToRead()
	defer c.mu.RUnlock()
	states := make(map[string]watcher.State, len(c.parts))
	for name, p := range c.parts {
		states[name] = p.engine.State()
	}
	return states
}

// worst returns the state that stands for all: that of the watch that is worst off.
func worst(states []watcher.State) watcher.State {
	worst := watcher.State{Phase: watcher.Watching, Synced: true}
	synced := true
	for i, s := range states {
		synced = synced && s.Synced
		if i == 0 || trouble(s) > trouble(worst) {
			worst = s
		}
	}
	worst.Synced, worst.ResourceVersion = synced, ""
	return worst
}

// trouble says how bad a state is.
func trouble(s watcher.State) int {
	switch {
	case s.LastError != nil && !s.Synced:
		return 3
	case s.LastError != nil:
		return 2
	case s.Phase != watcher.Watching:
		return 1
	}
	return 0
}
