package resource

import (
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/go-kube/kube/internal/codec"
)

// Lazy is an object of kind K that is not decoded yet: the routing metadata by method, all of
// it by [Lazy.Decode]. It is a small value that never changes. The zero Lazy has no
// object: its Decode is an error, and its other methods must not be called.
type Lazy[K any] struct{ *Raw }

// AsLazy types an object. The caller knows that its kind is K.
func AsLazy[K any](raw *Raw) Lazy[K] { return Lazy[K]{raw} }

// Ref returns the ref of the object. Its name shares the memory of the object: clone it
// (strings.Clone) where the ref is to outlive the object.
func (l Lazy[K]) Ref() Ref[K] { return Ref[K]{l.Namespace(), l.Name()} }

// Decode returns the whole object. Each call gives a copy of the caller's own, which may be
// changed at will. apiVersion and kind are set, which servers leave out of the items of lists.
// The error names the kind, the object and the cause.
func (l Lazy[K]) Decode() (*K, error) {
	if l.Raw == nil {
		return nil, errors.New("decode: there is no object")
	}
	if err := l.Err(); err != nil {
		return nil, fmt.Errorf("decode %w", err)
	}
	obj := new(K)
	if err := l.decodeInto(obj); err != nil {
		return nil, fmt.Errorf("decode %s: %w", l.Raw, err)
	}
	return obj, nil
}

// decodeInto decodes the object into the new value that obj points to.
func (r *Raw) decodeInto(obj any) error {
	decode := codec.DecodeJSON
	if r.IsProtobuf() {
		decode = r.descriptor.DecodeProtobuf
	}
	if err := r.object.Read(func(data []byte) error { return decode(data, obj) }); err != nil {
		return err
	}
	r.descriptor.setType(obj)
	return nil
}

// setType sets the apiVersion and the kind of an object that d describes.
func (d *Descriptor) setType(obj any) {
	typed, ok := obj.(interface{ GetObjectKind() schema.ObjectKind })
	if !ok {
		return // a type with metadata alone
	}
	kind := typed.GetObjectKind()
	if meta, ok := kind.(*metav1.TypeMeta); ok { // as in nearly all, and cheaper than the method
		meta.APIVersion, meta.Kind = d.APIVersion(), d.Kind
		return
	}
	kind.SetGroupVersionKind(d.GroupVersionKind())
}
