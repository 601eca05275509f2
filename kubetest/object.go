package kubetest

import (
	"fmt"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// object is one version of a stored object. It never changes: what wants to change one works
// on a copy of its content. Encodings are made when they are first asked for, and kept, so
// that a change costs one encoding however many clients watch it.
type object struct {
	revision uint64
	content  runtime.Object // in the version that its kind is stored in; a *T of k8s.io/api or *unstructured.Unstructured
	meta     metav1.Object  // of content

	encodings [forms]atomic.Pointer[[]byte]
}

// newObject takes content over and writes its resource version.
func newObject(content runtime.Object, revision uint64) *object {
	m := accessor(content)
	m.SetResourceVersion(formatRevision(revision))
	return &object{revision: revision, content: content, meta: m}
}

// accessor returns the metadata of obj, which is an object of a served kind.
func accessor(obj runtime.Object) metav1.Object {
	m, err := meta.Accessor(obj)
	if err != nil {
		panic(fmt.Sprintf("kubetest: %T is stored and has no metadata: %v", obj, err))
	}
	return m
}

func (o *object) key() key { return keyOf(o.meta) }

func keyOf(m metav1.Object) key { return key{m.GetNamespace(), m.GetName()} }

// copy returns a copy of the content, to change.
func (o *object) copy() runtime.Object { return o.content.DeepCopyObject() }

// encoded returns the encoding of o in a form, which make makes if there is none yet.
func (o *object) encoded(f form, make func() ([]byte, error)) ([]byte, error) {
	if data := o.encodings[f].Load(); data != nil {
		return *data, nil
	}
	data, err := make()
	if err != nil {
		return nil, err
	}
	o.encodings[f].Store(&data)
	return data, nil
}
