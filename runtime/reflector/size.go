package reflector

import (
	"fmt"

	"github.com/go-kube/kube/resource"
)

// SizeError says that the objects of a store take more memory than [Options.MaxBytes].
type SizeError struct {
	// Resource is plural.group of the kind, or the plural alone in the core group.
	Resource string
	// Objects is the number of objects, Bytes the memory that they take, and MaxBytes the limit.
	// While a snapshot is read both count what is there and what was read so far.
	Objects         int
	Bytes, MaxBytes int64
}

// Error names the kind, its size and what can be done about it.
func (e *SizeError) Error() string {
	return fmt.Sprintf("the store of %s holds %d objects of %d bytes together, the limit is %d: select fewer (labels, fields, a namespace), watch metadata only, or drop fields with Modify",
		e.Resource, e.Objects, e.Bytes, e.MaxBytes)
}

// err returns what is wrong with the options.
func (c *cache) err() error {
	if c.invalid != nil {
		return c.invalid
	}
	if c.maxBytes < 0 {
		return fmt.Errorf("reflector: Options.MaxBytes is %d; it has to be 0 (no limit) or more", c.maxBytes)
	}
	if err := c.engine.Err(); err != nil || c.namespaces == nil {
		return err
	}
	return c.namespaces.err(c.engine.Endpoint())
}

// watchSize reports a store that grows too large by raw, which is about to be held. It is called by
// the writer, which needs no lock to read what it alone changes.
func (c *cache) watchSize(raw *resource.Raw) {
	if c.maxBytes == 0 {
		return
	}
	size, objects := c.bytes+int64(raw.Size()), c.objects
	for _, p := range c.parts {
		if b := p.building; b != nil {
			size += b.bytes
			objects += len(b.added)
		}
	}
	if size <= c.maxBytes || size < 2*c.reported {
		return
	}
	c.reported = size
	err := &SizeError{c.descriptor.GroupResource().String(), objects + 1, size, c.maxBytes}
	c.log.Error("store is too large", "error", err)
	if c.onError != nil {
		c.onError(err)
	}
}
