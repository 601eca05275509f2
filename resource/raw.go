package resource

import (
	"fmt"
	"unsafe"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/go-kube/kube/internal/codec"
	"github.com/go-kube/kube/internal/wire"
)

// Raw is an object as the bytes that the server sent, JSON or protobuf, without managedFields
// and kubectl's last-applied annotation. The metadata that routes it is read from them by
// method, the rest by [Lazy.Decode].
//
// It never changes and can be used by several goroutines at once. Strings that its methods
// return, but for the namespace, share the memory of the object: clone them (strings.Clone)
// where they are to outlive it.
type Raw struct {
	descriptor *Descriptor
	object     wire.Object
}

// NewRaw returns an object of the kind that d describes. It is for the packages that read
// from a server; [ParseRaw] and [EncodeRaw] are for everybody.
func NewRaw(d *Descriptor, o wire.Object) *Raw { return &Raw{d, o} }

// ParseRaw returns the object in data: JSON, or protobuf in the envelope that servers send and
// `kubectl get --raw` shows. The Raw has a copy, less what it would lack when it came from a
// server. The error names the kind and what is wrong with data.
func ParseRaw(d *Descriptor, data []byte) (*Raw, error) {
	format := wire.JSON
	if wire.HasEnvelope(data) {
		format = wire.Protobuf
	}
	object, err := wire.ReadObject(data, format, nil)
	if err == nil {
		err = object.Err()
	}
	if err != nil {
		return nil, fmt.Errorf("read a %s: %w", d.Kind, err)
	}
	return NewRaw(d, object), nil
}

// EncodeRaw returns obj, a pointer to an object of the kind that d describes, in its encoded
// form: protobuf where the kind has it, else JSON. managedFields and kubectl's last-applied
// annotation are left out. Nothing of obj is kept.
func EncodeRaw(d *Descriptor, obj any) (*Raw, error) {
	object, err := encode(d, obj)
	if err == nil {
		err = object.Err()
	}
	if err != nil {
		return nil, fmt.Errorf("encode a %s: %w", d.Kind, err)
	}
	return NewRaw(d, object), nil
}

func encode(d *Descriptor, obj any) (wire.Object, error) {
	if d.Protobuf && codec.SupportsProtobuf(obj) {
		data, err := codec.EncodeProtobuf(obj, d.APIVersion(), d.Kind)
		if err != nil {
			return wire.Object{}, err
		}
		return wire.ReadObject(data, wire.Protobuf, nil)
	}
	data, err := codec.EncodeJSON(obj)
	if err != nil {
		return wire.Object{}, err
	}
	return wire.ReadObject(data, wire.JSON, nil)
}

// Descriptor describes the kind of the object.
func (r *Raw) Descriptor() *Descriptor { return r.descriptor }

// Err says what is wrong with an object of which not even the metadata is as it should be: it
// is nil for nearly all. Such an object has the metadata that could be read, and does not
// decode. An object whose Err is nil may still not decode, when the damage is elsewhere.
func (r *Raw) Err() error {
	if err := r.object.Err(); err != nil {
		return fmt.Errorf("%s: %w", r, err)
	}
	return nil
}

// String returns kind namespace/name, for logs and errors.
func (r *Raw) String() string {
	if r == nil {
		return "no object"
	}
	return r.descriptor.Kind + " " + Ref[any]{r.Namespace(), r.Name()}.String()
}

// Namespace returns metadata.namespace: empty for cluster-scoped kinds.
func (r *Raw) Namespace() string { return r.object.Namespace() }

// Name returns metadata.name.
func (r *Raw) Name() string { return r.object.Name() }

// IsNamed reports whether these are the namespace and the name of the object.
func (r *Raw) IsNamed(namespace, name string) bool { return r.object.IsNamed(namespace, name) }

// UID returns metadata.uid.
func (r *Raw) UID() types.UID { return types.UID(r.object.UID()) }

// ResourceVersion returns metadata.resourceVersion.
func (r *Raw) ResourceVersion() string { return r.object.ResourceVersion() }

// Generation returns metadata.generation, 0 for kinds that have none.
func (r *Raw) Generation() int64 { return r.object.Generation() }

// CreationTimestamp returns metadata.creationTimestamp.
func (r *Raw) CreationTimestamp() metav1.Time { return metav1.Time{Time: r.object.CreationTime()} }

// DeletionTimestamp returns metadata.deletionTimestamp: nil unless the object is being deleted.
func (r *Raw) DeletionTimestamp() *metav1.Time {
	t, ok := r.object.DeletionTime()
	if !ok {
		return nil
	}
	return &metav1.Time{Time: t}
}

// Labels returns a new map of the labels, nil when there are none.
func (r *Raw) Labels() map[string]string { return gather(r.object.EachLabel) }

// Annotations returns a new map of the annotations, nil when there are none. That of kubectl
// apply is not among them.
func (r *Raw) Annotations() map[string]string { return gather(r.object.EachAnnotation) }

func gather(each func(func(key, value string) bool)) (m map[string]string) {
	each(func(key, value string) bool {
		if m == nil {
			m = make(map[string]string)
		}
		m[key] = value
		return true
	})
	return m
}

// Label returns the label called key, without making a map of all.
func (r *Raw) Label(key string) (value string, ok bool) { return r.object.Label(key) }

// Annotation returns the annotation called key, without making a map of all.
func (r *Raw) Annotation(key string) (value string, ok bool) { return r.object.Annotation(key) }

// EachLabel calls f with every label until f returns false, without making a map.
func (r *Raw) EachLabel(f func(key, value string) bool) { r.object.EachLabel(f) }

// OwnerReferences returns metadata.ownerReferences, nil when there are none.
func (r *Raw) OwnerReferences() (owners []metav1.OwnerReference) {
	r.object.EachOwner(func(o wire.OwnerReference) bool {
		owners = append(owners, metav1.OwnerReference{
			APIVersion: o.APIVersion, Kind: o.Kind, Name: o.Name, UID: types.UID(o.UID),
			Controller: o.Controller.Pointer(), BlockOwnerDeletion: o.BlockOwnerDeletion.Pointer(),
		})
		return true
	})
	return owners
}

// Finalizers returns metadata.finalizers, nil when there are none.
func (r *Raw) Finalizers() (finalizers []string) {
	r.object.EachFinalizer(func(f string) bool {
		finalizers = append(finalizers, f)
		return true
	})
	return finalizers
}

// Bytes returns the object as the server sent it: JSON text, or a protobuf message without an
// envelope. They must not be modified. An object out of a store may be packed (see [Raw.Pack]):
// each call makes its bytes anew.
func (r *Raw) Bytes() []byte { return r.object.Bytes() }

// Pack returns the object in a form that takes less memory, or r itself when it would not. It
// is for packages that keep many objects of a kind: p remembers what they have in common.
func (r *Raw) Pack(p *wire.Packer) *Raw {
	var kept *Raw
	packed, ok := p.Pack(r.object, func(size int) (room []byte) {
		kept, room = newKept(size)
		return room
	})
	if !ok {
		return r
	}
	kept.descriptor, kept.object = r.descriptor, packed
	return kept
}

// Clone returns a copy of the object with memory of its own: for one that is only lent, see
// [Lender].
func (r *Raw) Clone() *Raw {
	kept, room := newKept(r.object.Size())
	kept.descriptor, kept.object = r.descriptor, r.object.CloneTo(room)
	return kept
}

// Lender lends objects that were read into a buffer, one at a time. It is for the packages that
// read from a server.
type Lender struct{ raw Raw }

// Lend returns an object that is valid until Lend is called again, and its bytes for as long as those
// of o. What is to outlive that is cloned or packed.
func (l *Lender) Lend(d *Descriptor, o wire.Object) *Raw {
	l.raw = Raw{d, o}
	return &l.raw
}

// IsProtobuf reports whether Bytes are protobuf and not JSON.
func (r *Raw) IsProtobuf() bool { return r.object.Format() == wire.Protobuf }

// Size returns how many bytes of memory the object takes, within the allocator's rounding.
func (r *Raw) Size() int { return int(unsafe.Sizeof(*r)) + r.object.Size() }

// SameContent reports whether the two have the same bytes, resource version included. Two
// that a server sent at different times do unless something changed.
func (r *Raw) SameContent(other *Raw) bool {
	return r == other || r != nil && other != nil && r.object.SameBytes(&other.object)
}
