package reflector

import (
	"github.com/go-kube/kube/internal/wire"
	"github.com/go-kube/kube/resource"
)

// kept makes of an object that was read, and is lent, one to keep. It is called by the writer for each
// object that comes, before the event with it. Of an object that the store has in this version it
// is the store's own: so a list of what is known takes no memory, which would be as much
// again before the garbage is collected.
func (c *cache) kept(lent *resource.Raw) *resource.Raw {
	if c.namespaces != nil { // then there are several writers
		c.writing.Lock()
		defer c.writing.Unlock()
	}
	if known := c.same(lent); known != nil {
		return known
	}
	if len(c.modify) > 0 {
		return lent.Clone() // it is packed when it was changed
	}
	if raw := c.pack(lent); raw != lent {
		return raw
	}
	return lent.Clone()
}

// same returns the object of the store that raw says nothing new about, or nil.
func (c *cache) same(raw *resource.Raw) *resource.Raw {
	p := c.part(raw.Namespace())
	if p == nil {
		return nil // its namespace has just left
	}
	e := p.table.get(keyOf(raw.Namespace(), raw.Name()))
	if e == nil || e.raw.UID() != raw.UID() || !c.unchanged(e.content, raw) {
		return nil
	}
	return e.raw
}

// worthPacking is how many objects a store has when it begins to pack them: what the packer
// needs itself is a small part of what they take then.
const worthPacking = 256

// pack returns raw packed, or raw itself where that is of no use.
func (c *cache) pack(raw *resource.Raw) *resource.Raw {
	if c.packer == nil && c.coming() < worthPacking {
		return raw
	}
	if c.packer == nil {
		c.packer = wire.NewPacker()
	}
	return raw.Pack(c.packer)
}

// coming is how many objects there are, those of snapshots under way included.
func (c *cache) coming() int {
	n := c.objects
	for _, p := range c.parts {
		if p.building != nil {
			n += len(p.building.added)
		}
	}
	return n
}
