package reflector

import (
	"fmt"
	"strings"

	"github.com/go-kube/kube/resource"
)

// entry is one object of a store, from its creation to its deletion: an object that is created
// again under the same name gets another entry. Its content changes under the lock of the
// cache; what has left the store keeps its last state.
type entry struct{ content }

// content is one version of an object.
type content struct {
	raw   *resource.Raw
	extra *extra // nil in stores that keep nothing but bytes
}

// extra is what was made of an object by decoding it.
type extra struct {
	object any // the decoded object, in stores that keep it; nil if it does not decode
	// namespace and name are those of object: it is found without its bytes, which are far away.
	namespace, name string
	values          [][]string // of each index that decodes, in their order
}

// isNamed reports whether the object of c has a namespace and a name.
func (c content) isNamed(namespace, name string) bool {
	if c.extra == nil || c.extra.object == nil {
		return c.raw.IsNamed(namespace, name)
	}
	return c.extra.name == name && c.extra.namespace == namespace
}

// decoder makes content of objects.
type decoder struct {
	descriptor *resource.Descriptor
	decode     func(*resource.Raw) (any, error)
	modify     []func(any)
	// encode is resource.EncodeRaw once something is to be modified. It is not named here, so
	// that a program that modifies nothing does not link the encoders of every type.
	encode  func(*resource.Descriptor, any) (*resource.Raw, error)
	indexes []*index // those that decode
	keep    bool     // decoded objects
	report  func(error)
}

// needed reports whether objects have to be decoded before they are stored.
func (d *decoder) needed() bool { return d.keep || len(d.modify) > 0 || len(d.indexes) > 0 }

// content decodes raw as far as the store needs it. An object that does not decode is
// reported, and stored all the same with what is known of it.
func (d *decoder) content(raw *resource.Raw) content {
	if !d.needed() {
		if err := raw.Err(); err != nil {
			d.fail(raw, err)
		}
		return content{raw: raw}
	}
	c := content{raw: raw}
	if err := d.fill(&c); err != nil {
		d.fail(raw, err)
		return content{raw: raw, extra: d.blank()}
	}
	return c
}

// last returns the last state of an object that is gone, changed as those in the store are.
func (d *decoder) last(raw *resource.Raw) content {
	if len(d.modify) == 0 {
		return content{raw: raw}
	}
	return d.content(raw)
}

// blank is the extra of an object that does not decode.
func (d *decoder) blank() *extra {
	if !d.keep && len(d.indexes) == 0 {
		return nil
	}
	return &extra{values: make([][]string, len(d.indexes))}
}

// fill decodes c.raw, and runs the user's functions on it. A panic of theirs is an error of
// this object: whatever is wrong with it, the others have to go on.
func (d *decoder) fill(c *content) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic in a Modify or index function: %v", p)
		}
	}()
	object, err := d.decode(c.raw)
	if err != nil {
		return err
	}
	raw, extra := c.raw, d.blank()
	if len(d.modify) > 0 {
		for _, modify := range d.modify {
			modify(object)
		}
		if raw, err = d.encode(d.descriptor, object); err != nil {
			return err
		}
		if raw.Namespace() != c.raw.Namespace() || raw.Name() != c.raw.Name() || raw.UID() != c.raw.UID() {
			return fmt.Errorf("a Modify function changed its namespace, name or uid to %s (%s)", raw, raw.UID())
		}
	}
	for i, x := range d.indexes {
		extra.values[i] = x.values(nil, raw, object)
	}
	if d.keep {
		extra.object, extra.namespace, extra.name = object, raw.Namespace(), strings.Clone(raw.Name())
	}
	c.raw, c.extra = raw, extra
	return nil
}

func (d *decoder) fail(raw *resource.Raw, err error) {
	d.report(&DecodeError{
		Resource:  d.descriptor.GroupResource().String(),
		Namespace: raw.Namespace(), Name: strings.Clone(raw.Name()),
		ResourceVersion: strings.Clone(raw.ResourceVersion()),
		Err:             err,
	})
}

// unchanged reports whether raw says nothing new about the object in c. A Modify function makes
// the bytes differ from the server's, but not the version.
func (d *decoder) unchanged(c content, raw *resource.Raw) bool {
	if len(d.modify) > 0 {
		return c.raw.ResourceVersion() == raw.ResourceVersion()
	}
	return c.raw.SameContent(raw)
}
