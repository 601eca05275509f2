package resource

import (
	"sync"

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
	// Partial says that the Go type lacks fields that objects of the kind have, see [Partial].
	// Such objects are not sent in place of whole ones.
	Partial bool

	unmarshal Unmarshal
}

// Kind is a descriptor of any scope whose Go type is K. It is implemented by the types of
// this package only.
type Kind[K any] interface {
	// Descriptor returns the untyped description: the same pointer each time. It panics
	// when the kind was defined without a version or a kind, or with names that cannot stand
	// in a path.
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

// definition is a kind as it was written down. It is completed when it is first asked for
// and not where it is defined: a package-level variable that holds one is then static data,
// which costs nothing at start-up and which the linker drops where it is not used.
type definition struct {
	info      Info
	scope     Scope
	unmarshal Unmarshal
	// partial describes a kind of which the Go type has only a part. It is nil for others.
	partial  func() Descriptor
	once     sync.Once
	whole    Descriptor
	metadata Descriptor
}

func (d *definition) completed() *definition {
	d.once.Do(func() {
		if d.partial != nil {
			d.whole = d.partial()
		} else {
			d.whole = Descriptor{Info: d.info.completed(), Scope: d.scope, unmarshal: d.unmarshal}
		}
		d.metadata = d.whole
		d.metadata.MetadataOnly, d.metadata.unmarshal = true, nil
	})
	return d
}

// Namespaced describes a namespaced kind whose Go type is K. Make one with
// [DefineNamespaced]; the zero value is not usable.
type Namespaced[K any] struct{ d *definition }

// Cluster describes a cluster-scoped kind whose Go type is K. Make one with
// [DefineCluster]; the zero value is not usable.
type Cluster[K any] struct{ d *definition }

// DefineNamespaced describes a namespaced kind. Callers name K; P follows from it. Info needs
// a version and a kind: using a descriptor without them panics, see [Info.Validate].
func DefineNamespaced[K any, P ObjectPtr[K]](info Info) Namespaced[K] {
	return Namespaced[K]{&definition{info: info, scope: NamespaceScoped}}
}

// DefineCluster describes a cluster-scoped kind. Callers name K; P follows from it. Info needs
// a version and a kind: using a descriptor without them panics, see [Info.Validate].
func DefineCluster[K any, P ObjectPtr[K]](info Info) Cluster[K] {
	return Cluster[K]{&definition{info: info, scope: ClusterScoped}}
}

// BuiltinNamespaced is [DefineNamespaced] for the kinds of Kubernetes itself, whose Go types
// have a protobuf form that unmarshal reads.
func BuiltinNamespaced[K any, P ObjectPtr[K]](info Info, unmarshal Unmarshal) Namespaced[K] {
	return Namespaced[K]{&definition{info: info, scope: NamespaceScoped, unmarshal: unmarshal}}
}

// BuiltinCluster is [DefineCluster] for the kinds of Kubernetes itself, whose Go types have a
// protobuf form that unmarshal reads.
func BuiltinCluster[K any, P ObjectPtr[K]](info Info, unmarshal Unmarshal) Cluster[K] {
	return Cluster[K]{&definition{info: info, scope: ClusterScoped, unmarshal: unmarshal}}
}

// Descriptor implements [Kind].
func (k Namespaced[K]) Descriptor() *Descriptor { return &k.d.completed().whole }

// Descriptor implements [Kind].
func (k Cluster[K]) Descriptor() *Descriptor { return &k.d.completed().whole }

func (Namespaced[K]) kindOf(*K)       {}
func (Namespaced[K]) namespacedKind() {}
func (Cluster[K]) kindOf(*K)          {}

// Metadata describes the same kind with metadata only: objects are [Metadata] values, and the
// server sends no spec and no status.
func (k Namespaced[K]) Metadata() NamespacedMetadata[K] { return NamespacedMetadata[K](k) }

// Metadata describes the same kind with metadata only: objects are [Metadata] values, and the
// server sends no spec and no status.
func (k Cluster[K]) Metadata() ClusterMetadata[K] { return ClusterMetadata[K](k) }

// NamespacedMetadata describes a namespaced kind of which only the metadata is read.
type NamespacedMetadata[K any] struct{ d *definition }

// ClusterMetadata describes a cluster-scoped kind of which only the metadata is read.
type ClusterMetadata[K any] struct{ d *definition }

// Descriptor implements [Kind].
func (k NamespacedMetadata[K]) Descriptor() *Descriptor { return &k.d.completed().metadata }

// Descriptor implements [Kind].
func (k ClusterMetadata[K]) Descriptor() *Descriptor { return &k.d.completed().metadata }

func (NamespacedMetadata[K]) kindOf(*Metadata[K]) {}
func (NamespacedMetadata[K]) namespacedKind()     {}
func (ClusterMetadata[K]) kindOf(*Metadata[K])    {}

// DynamicKind describes a kind that is known at run time only. Its objects are
// unstructured.Unstructured. Make one with [Dynamic]; the zero value is not usable.
type DynamicKind struct{ d *definition }

// Dynamic describes a kind found at run time, by discovery or by configuration. A dynamic
// kind is accepted wherever a namespaced one is; using a cluster-scoped one with a namespace
// is then an error of the first request. Check what a person wrote with [Info.Validate]
// first: a descriptor with wrong names panics when it is used. Objects are read as JSON,
// whatever info.Protobuf says.
func Dynamic(info Info, scope Scope) DynamicKind {
	info.Protobuf = false
	return DynamicKind{&definition{info: info, scope: scope}}
}

// Descriptor implements [Kind].
func (k DynamicKind) Descriptor() *Descriptor { return &k.d.completed().whole }

// Metadata describes the same kind with metadata only.
func (k DynamicKind) Metadata() NamespacedMetadata[unstructured.Unstructured] {
	return NamespacedMetadata[unstructured.Unstructured](k)
}

func (DynamicKind) kindOf(*unstructured.Unstructured) {}
func (DynamicKind) namespacedKind()                   {}
