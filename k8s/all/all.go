// Package all lists the descriptors of every kind that Kubernetes serves by itself, for
// programs that act on all of them: fake servers, tests of codecs, tables of kinds.
//
// Importing it links the Go types of every API group. A program that uses a few kinds names
// them in the packages of their groups.
package all

import (
	"slices"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/go-kube/kube/resource"
)

// Object is what the Go type of every built-in kind can do.
type Object interface {
	metav1.Object
	runtime.Object
}

// Kind is a built-in kind.
type Kind struct {
	// Descriptor describes the kind; its Subresources name status too.
	Descriptor *resource.Descriptor
	// Subresources describes what can be addressed below an object, but for status, whose
	// bodies are objects of the kind itself.
	Subresources []Subresource
	// New returns an empty object of the kind's Go type, a pointer to a struct.
	New func() Object
}

// Subresource is a subresource of a built-in kind.
type Subresource struct {
	// Descriptor describes the subresource.
	Descriptor *resource.SubresourceDescriptor
	// Connection says that it is a [resource.Connection]: New makes the options, and the
	// answer is no object.
	Connection bool
	// New returns an empty body, a pointer to a struct.
	New func() runtime.Object
}

// Kinds returns every built-in kind in every version that is served, including versions that
// an API server has to be asked for (--runtime-config). The order is that of the API server's
// discovery: groups by their priority, the preferred version of a group before the others.
// Callers may change the slice.
func Kinds() []Kind { return kinds() }

func kind[K any](k resource.Kind[K], subresources ...Subresource) Kind {
	if slices.Contains(k.Descriptor().Subresources, "scale") {
		subresources = append(subresources, scale[K]())
	}
	return Kind{
		Descriptor:   k.Descriptor(),
		Subresources: subresources,
		New:          func() Object { return any(new(K)).(Object) },
	}
}

func subresource[K, B any](s resource.Subresource[K, B]) Subresource {
	return Subresource{Descriptor: s.Descriptor(), New: newBody[B]}
}

// scale is the one subresource beside status that has no variable in its package: the client's
// Scale method reaches it.
func scale[K any]() Subresource {
	return subresource(resource.BuiltinSubresource[K, autoscalingv1.Scale]("scale", resource.Info{
		Group: "autoscaling", Version: "v1", Kind: "Scale",
		Verbs: []string{"get", "patch", "update"}, Protobuf: true,
	}, resource.UnmarshalMessage[autoscalingv1.Scale]))
}

func connection[K, O any](c resource.Connection[K, O]) Subresource {
	return Subresource{Descriptor: c.Descriptor(), Connection: true, New: newBody[O]}
}

func newBody[B any]() runtime.Object { return any(new(B)).(runtime.Object) }
