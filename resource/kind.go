package resource

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Descriptor is what the engine needs to know of a kind. It is the untyped inside of
// [Namespaced], [Cluster] and their variants, and never changes after its definition.
type Descriptor struct {
	Info
	// Scope says whether objects of the kind have a namespace.
	Scope Scope
	// MetadataOnly asks the server for PartialObjectMetadata instead of whole objects.
	MetadataOnly bool
}

// Kind is a descriptor of any scope whose Go type is K. It is implemented by the types of
// this package only.
type Kind[K any] interface {
	// Descriptor returns the untyped description.
	Descriptor() *Descriptor

	kindOf(*K)
}

// NamespacedKind is a descriptor whose objects live in namespaces: [Namespaced], the
// metadata variant of it, or a [DynamicKind] (whose scope is checked at run time).
type NamespacedKind[K any] interface {
	Kind[K]

	namespacedKind()
}

// ObjectPtr is what a pointer to the Go type of a kind has to have: the accessors of
// metav1.ObjectMeta, which embedding metav1.ObjectMeta gives.
type ObjectPtr[K any] interface {
	*K
	metav1.Object
}

// Namespaced describes a namespaced kind whose Go type is K. Make one with
// [DefineNamespaced]; the zero value is not usable.
type Namespaced[K any] struct{ d *Descriptor }

// Cluster describes a cluster-scoped kind whose Go type is K. Make one with
// [DefineCluster]; the zero value is not usable.
type Cluster[K any] struct{ d *Descriptor }

// DefineNamespaced describes a namespaced kind. Callers name K; P follows from it. It panics
// when Info lacks a version or a kind.
func DefineNamespaced[K any, P ObjectPtr[K]](info Info) Namespaced[K] {
	return Namespaced[K]{&Descriptor{Info: info.validated(), Scope: NamespaceScoped}}
}

// DefineCluster describes a cluster-scoped kind. Callers name K; P follows from it. It panics
// when Info lacks a version or a kind.
func DefineCluster[K any, P ObjectPtr[K]](info Info) Cluster[K] {
	return Cluster[K]{&Descriptor{Info: info.validated(), Scope: ClusterScoped}}
}

// Descriptor implements [Kind].
func (k Namespaced[K]) Descriptor() *Descriptor { return k.d }

// Descriptor implements [Kind].
func (k Cluster[K]) Descriptor() *Descriptor { return k.d }

func (Namespaced[K]) kindOf(*K)       {}
func (Namespaced[K]) namespacedKind() {}
func (Cluster[K]) kindOf(*K)          {}

// Metadata describes the same kind with metadata only: objects are [Metadata] values, and the
// server sends no spec and no status.
func (k Namespaced[K]) Metadata() NamespacedMetadata[K] {
	return NamespacedMetadata[K]{k.d.metadata()}
}

// Metadata describes the same kind with metadata only: objects are [Metadata] values, and the
// server sends no spec and no status.
func (k Cluster[K]) Metadata() ClusterMetadata[K] {
	return ClusterMetadata[K]{k.d.metadata()}
}

func (d *Descriptor) metadata() *Descriptor {
	m := *d
	m.MetadataOnly = true
	return &m
}

// NamespacedMetadata describes a namespaced kind of which only the metadata is read.
type NamespacedMetadata[K any] struct{ d *Descriptor }

// ClusterMetadata describes a cluster-scoped kind of which only the metadata is read.
type ClusterMetadata[K any] struct{ d *Descriptor }

// Descriptor implements [Kind].
func (k NamespacedMetadata[K]) Descriptor() *Descriptor { return k.d }

// Descriptor implements [Kind].
func (k ClusterMetadata[K]) Descriptor() *Descriptor { return k.d }

func (NamespacedMetadata[K]) kindOf(*Metadata[K]) {}
func (NamespacedMetadata[K]) namespacedKind()     {}
func (ClusterMetadata[K]) kindOf(*Metadata[K])    {}

// DynamicKind describes a kind that is known at run time only. Its objects are
// unstructured.Unstructured.
type DynamicKind struct{ d *Descriptor }

// Dynamic describes a kind found at run time, by discovery or by configuration. A dynamic
// kind is accepted wherever a namespaced one is; using a cluster-scoped one with a namespace
// is then an error of the first request. It panics when info lacks a version or a kind.
func Dynamic(info Info, scope Scope) DynamicKind {
	info.Protobuf = false
	return DynamicKind{&Descriptor{Info: info.validated(), Scope: scope}}
}

// Descriptor implements [Kind].
func (k DynamicKind) Descriptor() *Descriptor { return k.d }

// Metadata describes the same kind with metadata only.
func (k DynamicKind) Metadata() NamespacedMetadata[unstructured.Unstructured] {
	return NamespacedMetadata[unstructured.Unstructured]{k.d.metadata()}
}

func (DynamicKind) kindOf(*unstructured.Unstructured) {}
func (DynamicKind) namespacedKind()                   {}

// Subresource describes what can be addressed below objects of kind K, with bodies of type
// B: Subresource[corev1.Pod, policyv1.Eviction] is POST …/pods/NAME/eviction. A subresource
// of Pods cannot be used on Nodes: that does not compile.
type Subresource[K, B any] struct{ d *SubresourceDescriptor }

// SubresourceDescriptor is the untyped inside of a [Subresource].
type SubresourceDescriptor struct {
	// Name is the last element of the path, such as eviction.
	Name string
	// Body is the identity of the kind of the body, such as policy/v1 Eviction.
	Body Info
}

// DefineSubresource describes the subresource called name of kind K with bodies of type B.
// Of body, Group, Version, Kind, Verbs and Protobuf are used.
func DefineSubresource[K, B any](name string, body Info) Subresource[K, B] {
	if name == "" {
		panic("resource: a subresource needs a name")
	}
	return Subresource[K, B]{&SubresourceDescriptor{Name: name, Body: body.validated()}}
}

// Descriptor returns the untyped description.
func (s Subresource[K, B]) Descriptor() *SubresourceDescriptor { return s.d }

// Connection describes a subresource of kind K that is a connection and not an object: a
// stream (log), streams in both directions (exec, attach, portforward) or another server's
// HTTP (proxy). Options of type O go into the query; there is no body to encode, so a
// connection is not accepted where a [Subresource] is.
type Connection[K, O any] struct{ d *SubresourceDescriptor }

// DefineConnection describes the connection called name of kind K with options of type O. Of
// options, Group, Version, Kind and Verbs are used.
func DefineConnection[K, O any](name string, options Info) Connection[K, O] {
	if name == "" {
		panic("resource: a connection needs a name")
	}
	options.Protobuf = false
	return Connection[K, O]{&SubresourceDescriptor{Name: name, Body: options.validated()}}
}

// Descriptor returns the untyped description.
func (c Connection[K, O]) Descriptor() *SubresourceDescriptor { return c.d }
