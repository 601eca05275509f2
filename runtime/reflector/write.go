package reflector

import (
	"context"
	"errors"

	"github.com/go-kube/kube/internal/wire"
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
	return nil
}

func (c *cache) fill(ctx context.Context) {
	for event := range c.engine.Events(ctx) {
		c.take(event)
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
	c.building = nil
	close(c.stopped)
}

// take brings an event into the cache.
func (c *cache) take(event watcher.RawEvent) {
	switch event.Type {
	case watcher.Init:
		c.building = newSnapshot(c)
	case watcher.InitApply:
		c.building.apply(event.Object)
	case watcher.InitDone:
		c.building.swapIn(event.ResourceVersion)
		c.building = nil
	case watcher.Apply:
		c.apply(event.Object, event.ResourceVersion)
	case watcher.Delete:
		if c.building != nil {
			c.building.remove(event.Object)
			return
		}
		c.remove(event.Object, event.ResourceVersion)
	case watcher.Bookmark:
		c.mu.Lock()
		c.advance(event.ResourceVersion)
		c.mu.Unlock()
	}
}

// apply stores a version of an object.
func (c *cache) apply(raw *resource.Raw, version string) {
	if !c.named(raw) {
		return
	}
	k := keyOf(raw.Namespace(), raw.Name())
	e := c.table.get(k)
	known := e != nil && e.raw.UID() == raw.UID()
	var now content
	unchanged := known && c.same(e.content, raw)
	if !unchanged {
		now = c.hold(raw, c.table.len)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case unchanged:
	case known:
		c.replace(e, now)
	default:
		if e != nil {
			c.dropped(e, e.content) // its deletion was missed
		}
		e = &entry{now}
		c.table.put(k, e)
		c.added(e)
		c.tell(e)
	}
	c.advance(version)
}

// worthPacking is how many objects a store has when it begins to pack them: what the packer
// needs itself is a small part of what they take then.
const worthPacking = 256

// hold makes of raw what is stored, in a store of so many objects.
func (c *cache) hold(raw *resource.Raw, among int) content {
	now := c.content(raw)
	if c.packer == nil && among >= worthPacking {
		c.packer = wire.NewPacker()
	}
	if c.packer != nil {
		now.raw = now.raw.Pack(c.packer)
	}
	c.watchSize(now.raw)
	return now
}

// remove takes an object out.
func (c *cache) remove(raw *resource.Raw, version string) {
	last := c.last(raw)
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.table.remove(keyOf(raw.Namespace(), raw.Name())); e != nil {
		if e.raw.UID() != raw.UID() {
			last = e.content
		}
		c.dropped(e, last)
	}
	c.advance(version)
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

// added brings bytes and indexes up to a new entry in the table.
func (c *cache) added(e *entry) {
	c.bytes += int64(e.raw.Size())
	for _, x := range c.indexed {
		x.update(content{}, e.content, nil, e)
	}
}

// tell tells subscribers that e is new or has another version.
func (c *cache) tell(e *entry) {
	for s := range c.subscribers {
		s.applied(e)
	}
}

// replace gives an entry its next version.
func (c *cache) replace(e *entry, now content) {
	c.bytes += int64(now.raw.Size() - e.raw.Size())
	for _, x := range c.indexed {
		x.update(e.content, now, e, e)
	}
	e.content = now
	c.tell(e)
}

// dropped brings bytes, indexes and subscribers up to an entry that left the table, and leaves
// it with its last state.
func (c *cache) dropped(e *entry, last content) {
	c.bytes -= int64(e.raw.Size())
	for _, x := range c.indexed {
		x.update(e.content, content{}, e, nil)
	}
	e.content = last
	for s := range c.subscribers {
		s.deleted(e)
	}
}

// advance notes how far the cache has come.
func (c *cache) advance(version string) {
	if version == "" {
		return
	}
	c.version = version
	for w := range c.waiters {
		if w.reached(version) {
			delete(c.waiters, w)
			close(w.done)
		}
	}
}
