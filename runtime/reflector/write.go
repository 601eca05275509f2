package reflector

import (
	"context"
	"errors"

	"github.com/go-kube/kube/resource"
	"github.com/go-kube/kube/runtime/watcher"
)

// run fills the cache until ctx ends.
func (c *cache) run(ctx context.Context) error {
	if err := c.start(); err != nil {
		return err
	}
	defer c.stop()
	if err := c.err(); err != nil {
		return err
	}
	c.fill(ctx)
	if ctx.Err() == nil { // a watch goes on until then, a sequence of the program's may not
		return c.engine.State().LastError
	}
	return nil
}

func (c *cache) fill(ctx context.Context) {
	if c.namespaces != nil {
		c.namespaces.fill(ctx, c)
		return
	}
	for c.follow(ctx) {
	}
}

func (c *cache) start() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running {
		return errors.New("reflector: Run was called before; a reflector runs once")
	}
	c.running = true
	return nil
}

func (c *cache) stop() {
	for _, p := range c.parts {
		p.building = nil
	}
	close(c.stopped)
}

// take brings an event of a part into the cache.
func (c *cache) take(p *part, event watcher.RawEvent) {
	switch event.Type {
	case watcher.Init:
		p.building = newSnapshot(c, p)
	case watcher.InitApply:
		p.building.apply(event.Object)
	case watcher.InitDone:
		p.building.swapIn(event.ResourceVersion)
		p.building = nil
	case watcher.Apply:
		c.apply(p, event.Object, event.ResourceVersion)
	case watcher.Delete:
		if p.building != nil {
			p.building.remove(event.Object)
			return
		}
		c.remove(p, event.Object, event.ResourceVersion)
	case watcher.Bookmark:
		c.mu.Lock()
		c.advance(p, event.ResourceVersion)
		c.mu.Unlock()
	}
}

// apply stores a version of an object.
func (c *cache) apply(p *part, raw *resource.Raw, version string) {
	if !c.named(raw) {
		return
	}
	k := keyOf(raw.Namespace(), raw.Name())
	e := p.table.get(k)
	known := e != nil && e.raw.UID() == raw.UID()
	var now content
	unchanged := known && c.unchanged(e.content, raw)
	if !unchanged {
		now = c.hold(raw)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case unchanged:
	case known:
		c.replace(p, e, now)
	default:
		if e != nil {
			c.dropped(e, e.content) // its deletion was missed
		}
		e = &entry{now}
		p.table.put(k, e)
		c.added(e)
		c.tell(e, isChanged)
	}
	c.advance(p, version)
}

// hold makes of raw, which is from kept or from a sequence of the program's, what is stored.
func (c *cache) hold(raw *resource.Raw) content {
	now := c.content(raw)
	if len(c.modify) > 0 || c.given {
		now.raw = c.pack(now.raw)
	}
	c.watchSize(now.raw)
	return now
}

// remove takes an object out.
func (c *cache) remove(p *part, raw *resource.Raw, version string) {
	last := c.last(raw)
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := p.table.remove(keyOf(raw.Namespace(), raw.Name())); e != nil {
		if e.raw.UID() != raw.UID() {
			last = e.content
		}
		c.dropped(e, last)
	}
	c.advance(p, version)
}

// named reports whether raw can be stored at all: one whose name could not be read is only
// reported.
func (c *cache) named(raw *resource.Raw) bool {
	if raw.Name() != "" {
		return true
	}
	err := raw.Err()
	if err == nil {
		err = errors.New("it has no name")
	}
	c.fail(raw, err)
	return false
}

// The methods below change what readers see. The caller holds mu for writing.

// added brings counts and indexes up to a new entry in a table.
func (c *cache) added(e *entry) {
	c.objects++
	c.bytes += int64(e.raw.Size())
	for _, x := range c.indexed {
		x.update(content{}, e.content, nil, e)
	}
}

// tell tells subscribers that e is new or has another version, or that it was there (isInitial).
// Before the store is ready they are told nothing: that comes all at once.
func (c *cache) tell(e *entry, n news) {
	if !c.begun && !c.partly {
		return
	}
	for s := range c.subscribers {
		s.applied(e, n)
	}
}

// replace gives an entry of p its next version.
func (c *cache) replace(p *part, e *entry, now content) {
	c.bytes += int64(now.raw.Size() - e.raw.Size())
	for _, x := range c.indexed {
		x.update(e.content, now, e, e)
	}
	e.content = now
	p.table.renew(e)
	c.tell(e, isChanged)
}

// dropped brings counts, indexes and subscribers up to an entry that left a table, and leaves
// it with its last state.
func (c *cache) dropped(e *entry, last content) {
	c.objects--
	c.bytes -= int64(e.raw.Size())
	for _, x := range c.indexed {
		x.update(e.content, content{}, e, nil)
	}
	e.content = last
	if !c.begun && !c.partly {
		return
	}
	for s := range c.subscribers {
		s.deleted(e)
	}
}

// settle has the store be ready once all of its parts are, and tells subscribers of all that
// there is.
func (c *cache) settle() {
	if c.begun || !c.complete() {
		return
	}
	c.begun = true
	for s := range c.subscribers {
		if !s.started {
			s.start(c)
		}
	}
	close(c.ready)
}

// relisted has those begin anew who are told as a watch would tell them: of what was made and is
// gone again since, a list says nothing, and they may know of it.
func (c *cache) relisted() {
	for s := range c.subscribers {
		if s.follows && s.started {
			s.start(c)
		}
	}
}

// advance notes how far a part has come.
func (c *cache) advance(p *part, version string) {
	if version == "" {
		return
	}
	p.version = version
	c.wake()
	for s := range c.subscribers {
		if s.follows {
			s.signal()
		}
	}
}

// wake lets those go on who have waited for what is there now.
func (c *cache) wake() {
	for w := range c.waiters {
		if c.reached(w) {
			delete(c.waiters, w)
			close(w.done)
		}
	}
}
