package reflector

import (
	"github.com/go-kube/kube/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Metadata returns s for readers of metadata: Get decodes only that. Nothing is copied, and s and
// what it returns are the same store.
func Metadata[K any](s Store[K]) Store[resource.Metadata[K]] {
	return Store[resource.Metadata[K]](s)
}

// Dynamic returns s for readers without a Go type of the kind, whatever K is: Get decodes into what the
// server sends as JSON. Nothing is copied before that, and s and what it returns are the same store.
//
// An object that came as protobuf, as those of built-in kinds do, has the fields that K has: those of a server
// that is newer than the k8s.io/api of the program are missing. Change such an object by Patch or
// Apply; Replace would remove them on the server, as with a K.
func Dynamic[K any](s Store[K]) Store[unstructured.Unstructured] {
	return Store[unstructured.Unstructured](s)
}
