package kubetest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// namespaces is the resource of namespaces.
var namespaces = schema.GroupResource{Resource: "namespaces"}

// checkNamespace refuses new objects in a namespace that does not exist, or that is going.
func (rq *request) checkNamespace() error {
	if !rq.kind.namespaced() || rq.group == "authorization.k8s.io" {
		return nil
	}
	switch rq.server.store.namespaceState(rq.namespace) {
	case namespaceMissing:
		return apierrors.NewNotFound(namespaces, rq.namespace)
	case namespaceLeaving:
		return rq.leaving()
	}
	return nil
}

func (rq *request) leaving() error {
	name := rq.name
	if name == "" {
		name = "Unknown"
	}
	err := apierrors.NewForbidden(rq.resourceName(), name, fmt.Errorf("unable to create new content in namespace %s because it is being terminated", rq.namespace))
	err.ErrStatus.Details.Causes = append(err.ErrStatus.Details.Causes, metav1.StatusCause{
		Type: corev1.NamespaceTerminatingCause, Message: fmt.Sprintf("namespace %s is being terminated", rq.namespace), Field: "metadata.namespace",
	})
	return err
}

// namespaceState is what becomes of new objects in a namespace.
type namespaceState uint8

const (
	namespaceActive namespaceState = iota
	namespaceMissing
	namespaceLeaving
)

// namespaceState returns the state of a namespace.
func (st *store) namespaceState(name string) namespaceState {
	st.mu.RLock()
	defer st.mu.RUnlock()
	return st.stateOfNamespace(name)
}

// stateOfNamespace is namespaceState for who holds mu.
func (st *store) stateOfNamespace(name string) namespaceState {
	if st.namespaces == nil {
		return namespaceActive
	}
	s := st.namespaces.slots[key{name: name}]
	if s == nil || s.now() == nil {
		return namespaceMissing
	}
	if s.now().meta.GetDeletionTimestamp() != nil {
		return namespaceLeaving
	}
	return namespaceActive
}

// observeNamespace follows the changes that concern namespaces that are going.
func (l *lifecycle) observeNamespace(p place, ev event) {
	if p.table == l.server.store.namespaces {
		name := p.key.name
		if ev.deleted {
			delete(l.leaving, name)
		} else if ns := ev.object.content.(*corev1.Namespace); ns.DeletionTimestamp != nil && !l.leaving[name] {
			l.leaving[name] = true
			l.add(namespaceTask, p)
		}
		return
	}
	if ev.deleted && l.leaving[p.key.namespace] {
		l.add(namespaceTask, place{l.server.store.namespaces, key{name: p.key.namespace}})
	}
}

// empty deletes what is in a namespace that is going, and lets the namespace go when nothing
// is left. It does what the namespace controller does (pkg/controller/namespace/deletion).
func (l *lifecycle) empty(p place) {
	o := p.table.get(p.key)
	if o == nil {
		return
	}
	ns := o.content.(*corev1.Namespace)
	if ns.DeletionTimestamp == nil || len(ns.Spec.Finalizers) == 0 {
		return
	}
	left := l.deleteContent(ns.Name)
	if left.count == 0 {
		l.finalizeNamespace(p, o)
		return
	}
	l.reportContent(p, o, left)
}

// content is what is left in a namespace.
type content struct {
	count      int
	resources  map[string]int // by resource.group
	finalizers map[string]int
}

// deleteContent deletes the objects in a namespace, pods before all others, and returns what
// is left of them.
func (l *lifecycle) deleteContent(namespace string) content {
	kinds := l.server.kinds.catalog().tables()
	slices.SortStableFunc(kinds, func(a, b *kind) int { return podsFirst(b) - podsFirst(a) })
	left := content{resources: map[string]int{}, finalizers: map[string]int{}}
	for _, k := range kinds {
		if !k.namespaced() || !k.allows(verbDeleteCollection) {
			continue
		}
		for _, o := range k.table.in(namespace) {
			l.delete(place{k.table, o.key()}, o, metav1.DeletePropagationBackground)
		}
		for _, o := range k.table.in(namespace) {
			left.add(k, o)
		}
		if k.Plural == "pods" && k.Group == "" && left.count > 0 {
			break
		}
	}
	return left
}

func podsFirst(k *kind) int {
	if k.Group == "" && k.Plural == "pods" {
		return 1
	}
	return 0
}

// in returns the objects in a namespace.
func (t *table) in(namespace string) []*object {
	snap, _ := t.snapshot(0, namespace, key{}, 0, nil)
	return snap.objects
}

func (c *content) add(k *kind, o *object) {
	c.count++
	c.resources[k.Plural+"."+k.Group]++
	for _, f := range o.meta.GetFinalizers() {
		c.finalizers[f]++
	}
}

// finalizeNamespace takes Kubernetes' own finalizer from a namespace.
func (l *lifecycle) finalizeNamespace(p place, o *object) {
	l.change(p, o, func(obj runtime.Object) {
		ns := obj.(*corev1.Namespace)
		ns.Spec.Finalizers = slices.DeleteFunc(ns.Spec.Finalizers, func(f corev1.FinalizerName) bool { return f == corev1.FinalizerKubernetes })
	})
}

// reportContent writes into the status of a namespace what it waits for.
func (l *lifecycle) reportContent(p place, o *object, left content) {
	l.change(p, o, func(obj runtime.Object) {
		ns := obj.(*corev1.Namespace)
		for _, c := range left.conditions() {
			setCondition(ns, c)
		}
	})
}

// conditions returns the conditions of a namespace that waits for its content to go.
func (c *content) conditions() []corev1.NamespaceCondition {
	remaining := corev1.NamespaceCondition{
		Type: corev1.NamespaceContentRemaining, Status: corev1.ConditionTrue, Reason: "SomeResourcesRemain",
		Message: "Some resources are remaining: " + counts(c.resources, "%s has %d resource instances"),
	}
	finalizers := corev1.NamespaceCondition{
		Type: corev1.NamespaceFinalizersRemaining, Status: corev1.ConditionFalse, Reason: "ContentHasNoFinalizers",
		Message: "All content-preserving finalizers finished",
	}
	if len(c.finalizers) > 0 {
		finalizers.Status, finalizers.Reason = corev1.ConditionTrue, "SomeFinalizersRemain"
		finalizers.Message = "Some content in the namespace has finalizers remaining: " + counts(c.finalizers, "%s in %d resource instances")
	}
	fine := func(t corev1.NamespaceConditionType, reason, message string) corev1.NamespaceCondition {
		return corev1.NamespaceCondition{Type: t, Status: corev1.ConditionFalse, Reason: reason, Message: message}
	}
	return []corev1.NamespaceCondition{
		fine(corev1.NamespaceDeletionDiscoveryFailure, "ResourcesDiscovered", "All resources successfully discovered"),
		fine(corev1.NamespaceDeletionGVParsingFailure, "ParsedGroupVersions", "All legacy kube types successfully parsed"),
		fine(corev1.NamespaceDeletionContentFailure, "ContentDeleted", "All content successfully deleted, may be waiting on finalization"),
		remaining,
		finalizers,
	}
}

// counts lists what is left, sorted.
func counts(n map[string]int, format string) string {
	var parts []string
	for _, name := range sortedKeys(n) {
		parts = append(parts, fmt.Sprintf(format, name, n[name]))
	}
	return strings.Join(parts, ", ")
}

// setCondition adds a condition, or replaces the one of its type.
func setCondition(ns *corev1.Namespace, c corev1.NamespaceCondition) {
	c.LastTransitionTime = metav1.NewTime(time.Now())
	for i, old := range ns.Status.Conditions {
		if old.Type != c.Type {
			continue
		}
		if old.Status == c.Status {
			c.LastTransitionTime = old.LastTransitionTime
		}
		ns.Status.Conditions[i] = c
		return
	}
	ns.Status.Conditions = append(ns.Status.Conditions, c)
}
