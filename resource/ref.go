package resource

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Ref names an object of kind K: a namespace (empty for cluster-scoped kinds) and a name. It
// is comparable, and the ref of one kind cannot be used where another is wanted.
type Ref[K any] struct {
	Namespace, Name string
}

// RefTo returns the ref of obj.
func RefTo[K any, P ObjectPtr[K]](obj P) Ref[K] {
	return Ref[K]{obj.GetNamespace(), obj.GetName()}
}

// String returns namespace/name, or the name alone without a namespace.
func (r Ref[K]) String() string {
	if r.Namespace == "" {
		return r.Name
	}
	return r.Namespace + "/" + r.Name
}

// IsZero reports whether r names nothing.
func (r Ref[K]) IsZero() bool { return r == Ref[K]{} }

// ControllerOwner returns an owner reference to owner with controller and
// blockOwnerDeletion set, for metadata.ownerReferences of the objects that owner controls.
// owner has to come from the server: an owner reference needs its uid.
// See https://kubernetes.io/docs/concepts/overview/working-with-objects/owners-dependents/
func (k Namespaced[K]) ControllerOwner(owner *K) metav1.OwnerReference {
	return controllerOwner(k.d, owner)
}

// ControllerOwner returns an owner reference to owner with controller and
// blockOwnerDeletion set. See [Namespaced.ControllerOwner].
func (k Cluster[K]) ControllerOwner(owner *K) metav1.OwnerReference {
	return controllerOwner(k.d, owner)
}

// ControllerOwner returns an owner reference to owner with controller and
// blockOwnerDeletion set. See [Namespaced.ControllerOwner].
func (k NamespacedMetadata[K]) ControllerOwner(owner *Metadata[K]) metav1.OwnerReference {
	return controllerOwner(k.d, owner)
}

// ControllerOwner returns an owner reference to owner with controller and
// blockOwnerDeletion set. See [Namespaced.ControllerOwner].
func (k ClusterMetadata[K]) ControllerOwner(owner *Metadata[K]) metav1.OwnerReference {
	return controllerOwner(k.d, owner)
}

// ControllerOwner returns an owner reference to owner with controller and
// blockOwnerDeletion set. See [Namespaced.ControllerOwner].
func (k DynamicKind) ControllerOwner(owner *unstructured.Unstructured) metav1.OwnerReference {
	return controllerOwner(k.d, owner)
}

// Owner returns an owner reference to owner that does not make it the controller: an object
// can have many owners, and one controller.
func (k Namespaced[K]) Owner(owner *K) metav1.OwnerReference { return ownerReference(k.d, owner) }

// Owner returns an owner reference to owner that does not make it the controller. See
// [Namespaced.Owner].
func (k Cluster[K]) Owner(owner *K) metav1.OwnerReference { return ownerReference(k.d, owner) }

// Owner returns an owner reference to owner that does not make it the controller. See
// [Namespaced.Owner].
func (k NamespacedMetadata[K]) Owner(owner *Metadata[K]) metav1.OwnerReference {
	return ownerReference(k.d, owner)
}

// Owner returns an owner reference to owner that does not make it the controller. See
// [Namespaced.Owner].
func (k ClusterMetadata[K]) Owner(owner *Metadata[K]) metav1.OwnerReference {
	return ownerReference(k.d, owner)
}

// Owner returns an owner reference to owner that does not make it the controller. See
// [Namespaced.Owner].
func (k DynamicKind) Owner(owner *unstructured.Unstructured) metav1.OwnerReference {
	return ownerReference(k.d, owner)
}

func controllerOwner(d *definition, owner any) metav1.OwnerReference {
	ref := ownerReference(d, owner)
	yes, block := true, true
	ref.Controller, ref.BlockOwnerDeletion = &yes, &block
	return ref
}

func ownerReference(d *definition, owner any) metav1.OwnerReference {
	kind := &d.completed().whole
	m := owner.(metav1.Object) // checked by the constraint where the kind was defined
	return metav1.OwnerReference{APIVersion: kind.APIVersion(), Kind: kind.Kind, Name: m.GetName(), UID: m.GetUID()}
}

// OwnerRef returns the ref of the object that reference names, when that is an object of d's
// group and kind in any version of the group; ok is false otherwise. namespace is that of
// the object that carries the reference: the owner of a namespaced kind lives in the same
// namespace, a cluster-scoped owner in none, whatever the namespace of its dependant.
func OwnerRef[K any](d *Descriptor, reference metav1.OwnerReference, namespace string) (ref Ref[K], ok bool) {
	group, _ := SplitAPIVersion(reference.APIVersion)
	if reference.Kind != d.Kind || group != d.Group {
		return Ref[K]{}, false
	}
	if d.Scope == ClusterScoped {
		namespace = ""
	}
	return Ref[K]{namespace, reference.Name}, true
}

// SplitAPIVersion splits group/version at the slash. The core group has no name and no slash.
func SplitAPIVersion(apiVersion string) (group, version string) {
	for i := range len(apiVersion) {
		if apiVersion[i] == '/' {
			return apiVersion[:i], apiVersion[i+1:]
		}
	}
	return "", apiVersion
}
