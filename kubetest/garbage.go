package kubetest

import (
	"cmp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// What follows is the garbage collector of Kubernetes' controller manager
// (pkg/controller/garbagecollector), on the store itself.

// collect looks at one object: whether it has to go because its owners are gone, or may go
// because its dependents are.
func (l *lifecycle) collect(p place) {
	o := p.table.get(p.key)
	if o == nil {
		return
	}
	if o.meta.GetDeletionTimestamp() != nil {
		if hasFinalizer(o.meta, metav1.FinalizerDeleteDependents) {
			l.collectDependents(p, o)
		}
		return
	}
	if len(o.meta.GetOwnerReferences()) > 0 {
		l.collectDependent(p, o)
	}
}

// collectDependents lets an object go that waits for its dependents, when none is left that
// blocks it.
func (l *lifecycle) collectDependents(p place, o *object) {
	for _, d := range l.dependentsOf(o.meta.GetUID()) {
		if dependent := d.table.get(d.key); dependent != nil && blocks(dependent.meta, o.meta.GetUID()) {
			return
		}
	}
	l.removeFinalizer(p, o, metav1.FinalizerDeleteDependents)
}

// blocks reports whether m keeps its owner from going.
func blocks(m metav1.Object, owner types.UID) bool {
	return slices.ContainsFunc(m.GetOwnerReferences(), func(ref metav1.OwnerReference) bool {
		return ref.UID == owner && ref.BlockOwnerDeletion != nil && *ref.BlockOwnerDeletion
	})
}

// owners sorts the owner references of an object.
type owners struct {
	solid   []metav1.OwnerReference // they exist
	gone    []metav1.OwnerReference // they do not
	waiting []metav1.OwnerReference // they are going, and wait for their dependents
	unknown bool                    // there is one of a kind that is not served
}

func (l *lifecycle) ownersOf(o *object) owners {
	var refs owners
	for _, ref := range o.meta.GetOwnerReferences() {
		k := l.server.kinds.catalog().byKind[gvkOf(ref)]
		if k == nil || k.table == nil || k.namespaced() && o.meta.GetNamespace() == "" {
			refs.unknown = true
			continue
		}
		owner := k.table.get(ownerKey(k, ref, o.meta.GetNamespace()))
		switch {
		case owner == nil || owner.meta.GetUID() != ref.UID:
			refs.gone = append(refs.gone, ref)
		case owner.meta.GetDeletionTimestamp() != nil && hasFinalizer(owner.meta, metav1.FinalizerDeleteDependents):
			refs.waiting = append(refs.waiting, ref)
		default:
			refs.solid = append(refs.solid, ref)
		}
	}
	return refs
}

// collectDependent deletes an object that has no owner left. One that still has an owner only
// loses the references to those that are gone.
func (l *lifecycle) collectDependent(p place, o *object) {
	refs := l.ownersOf(o)
	switch {
	case refs.unknown:
	case len(refs.solid) > 0:
		if len(refs.gone)+len(refs.waiting) > 0 {
			l.setOwners(p, o, refs.solid)
		}
	case len(refs.waiting) > 0 && len(l.dependentsOf(o.meta.GetUID())) > 0:
		if l.inCircle(o) {
			l.unblock(p, o)
		}
		l.delete(p, o, metav1.DeletePropagationForeground)
	case hasFinalizer(o.meta, metav1.FinalizerOrphanDependents):
		l.delete(p, o, metav1.DeletePropagationOrphan)
	case hasFinalizer(o.meta, metav1.FinalizerDeleteDependents):
		l.delete(p, o, metav1.DeletePropagationForeground)
	default:
		l.delete(p, o, metav1.DeletePropagationBackground)
	}
}

// inCircle reports whether a dependent of o waits for its dependents, as o is going to.
func (l *lifecycle) inCircle(o *object) bool {
	return slices.ContainsFunc(l.dependentsOf(o.meta.GetUID()), func(p place) bool {
		d := p.table.get(p.key)
		return d != nil && d.meta.GetDeletionTimestamp() != nil && hasFinalizer(d.meta, metav1.FinalizerDeleteDependents)
	})
}

// orphan sets the dependents of an object free, and then lets the object go.
func (l *lifecycle) orphan(p place) {
	o := p.table.get(p.key)
	if o == nil || o.meta.GetDeletionTimestamp() == nil || !hasFinalizer(o.meta, metav1.FinalizerOrphanDependents) {
		return
	}
	uid := o.meta.GetUID()
	for _, d := range l.dependentsOf(uid) {
		dependent := d.table.get(d.key)
		if dependent == nil {
			continue
		}
		l.setOwners(d, dependent, slices.DeleteFunc(slices.Clone(dependent.meta.GetOwnerReferences()),
			func(ref metav1.OwnerReference) bool { return ref.UID == uid }))
	}
	l.removeFinalizer(p, o, metav1.FinalizerOrphanDependents)
}

// delete deletes an object, if it is still the same one.
func (l *lifecycle) delete(p place, o *object, policy metav1.DeletionPropagation) {
	rq := l.request(verbDelete, p)
	if rq == nil {
		return
	}
	uid := o.meta.GetUID()
	rq.delete(p.key.name, &metav1.DeleteOptions{
		PropagationPolicy: &policy, Preconditions: &metav1.Preconditions{UID: &uid},
	}) // what it fails with is that somebody else was faster, and then the change is looked at again
}

// removeFinalizer takes a finalizer from an object.
func (l *lifecycle) removeFinalizer(p place, o *object, finalizer string) {
	l.change(p, o, func(obj runtime.Object) {
		m := accessor(obj)
		m.SetFinalizers(slices.DeleteFunc(slices.Clone(m.GetFinalizers()), func(f string) bool { return f == finalizer }))
	})
}

func (l *lifecycle) setOwners(p place, o *object, refs []metav1.OwnerReference) {
	l.change(p, o, func(obj runtime.Object) { accessor(obj).SetOwnerReferences(refs) })
}

// unblock lets the owners of an object go before it.
func (l *lifecycle) unblock(p place, o *object) {
	l.change(p, o, func(obj runtime.Object) {
		m := accessor(obj)
		refs := slices.Clone(m.GetOwnerReferences())
		for i := range refs {
			refs[i].BlockOwnerDeletion = new(false)
		}
		m.SetOwnerReferences(refs)
	})
}

// change changes an object, as an update that is not validated.
func (l *lifecycle) change(p place, o *object, f func(obj runtime.Object)) {
	rq := l.request(verbUpdate, p)
	if rq == nil {
		return
	}
	for {
		obj := o.copy()
		f(obj)
		if _, err := rq.replace(obj, o); err != errChanged {
			return
		}
		if o = p.table.get(p.key); o == nil {
			return
		}
	}
}

// request returns a request of the server itself about the object at p, nil if its kind is not
// served any more.
func (l *lifecycle) request(verb string, p place) *request {
	k := l.server.kinds.catalog().storedIn(p.table)
	if k == nil {
		return nil
	}
	return l.server.internal(verb, k, p.key.namespace, p.key.name)
}

func gvkOf(ref metav1.OwnerReference) schema.GroupVersionKind {
	return schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind)
}

// ownerKey returns where an owner is that an object in a namespace refers to.
func ownerKey(k *kind, ref metav1.OwnerReference, namespace string) key {
	if !k.namespaced() {
		namespace = ""
	}
	return key{namespace, ref.Name}
}

func hasFinalizer(m metav1.Object, finalizer string) bool {
	return slices.Contains(m.GetFinalizers(), finalizer)
}

func sameOwners(a, b []metav1.OwnerReference) bool { return slices.EqualFunc(a, b, sameOwner) }

func sortPlaces(places []place) {
	slices.SortFunc(places, func(a, b place) int {
		return cmp.Or(strings.Compare(a.table.resource.String(), b.table.resource.String()), compareKeys(a.key, b.key))
	})
}
