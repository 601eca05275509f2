package kubetest

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var errNoNode = errors.New("there are no nodes behind this server: it keeps objects and runs nothing")

// hostOf returns the node of a pod.
func hostOf(obj runtime.Object) (host string, ok bool) {
	pod, ok := obj.(*corev1.Pod)
	if !ok {
		return "", false
	}
	return pod.Spec.NodeName, true
}

// bind assigns a pod to a node.
func bind(w http.ResponseWriter, rq *request) error {
	b := &corev1.Binding{}
	if err := rq.readSubresource(b); err != nil {
		return err
	}
	if b.Name != rq.name {
		return apierrors.NewBadRequest("name in URL does not match name in Binding object")
	}
	return rq.bind(w, b)
}

// createBinding answers POST on bindings, the place for them before there were subresources.
func createBinding(w http.ResponseWriter, rq *request) error {
	if err := rq.createOptions(); err != nil {
		return err
	}
	obj, err := rq.decodeObject()
	if err != nil {
		return err
	}
	b := obj.(*corev1.Binding)
	rq.kind = rq.server.kinds.catalog().byKind[corev1.SchemeGroupVersion.WithKind("Pod")]
	rq.name, rq.resource = b.Name, "pods"
	return rq.bind(w, b)
}

func (rq *request) bind(w http.ResponseWriter, b *corev1.Binding) error {
	switch {
	case b.Target.Kind != "" && b.Target.Kind != "Node":
		return fmt.Errorf(`target.kind: Unsupported value: %q: supported values: "Node", "<empty>"`, b.Target.Kind)
	case b.Target.Name == "":
		return errors.New("target.name: Required value")
	}
	rq.subresource = "binding"
	_, _, err := rq.modify(modification{uid: b.UID, change: func(live runtime.Object) (runtime.Object, error) {
		pod := live.DeepCopyObject().(*corev1.Pod)
		if err := bound(pod, b); err != nil {
			return nil, apierrors.NewConflict(schema.GroupResource{Resource: "pods/binding"}, rq.name, err)
		}
		return pod, nil
	}})
	if err != nil {
		return err
	}
	return rq.respondSuccess(w)
}

// bound makes pod what a binding says.
func bound(pod *corev1.Pod, b *corev1.Binding) error {
	switch {
	case pod.DeletionTimestamp != nil:
		return fmt.Errorf("pod %s is being deleted, cannot be assigned to a host", pod.Name)
	case pod.Spec.NodeName != "":
		return fmt.Errorf("pod %s is already assigned to node %q", pod.Name, pod.Spec.NodeName)
	case len(pod.Spec.SchedulingGates) > 0:
		return fmt.Errorf("pod %s has non-empty .spec.schedulingGates", pod.Name)
	}
	pod.ResourceVersion = b.ResourceVersion
	pod.Spec.NodeName, pod.Status.NominatedNodeName = b.Target.Name, ""
	mergeInto(&pod.Annotations, b.Annotations)
	mergeInto(&pod.Labels, b.Labels)
	setPodCondition(pod, corev1.PodCondition{Type: corev1.PodScheduled, Status: corev1.ConditionTrue})
	return nil
}

func setPodCondition(pod *corev1.Pod, c corev1.PodCondition) {
	c.LastTransitionTime = metav1.NewTime(time.Now())
	i := slices.IndexFunc(pod.Status.Conditions, func(old corev1.PodCondition) bool { return old.Type == c.Type })
	if i < 0 {
		pod.Status.Conditions = append(pod.Status.Conditions, c)
		return
	}
	if old := &pod.Status.Conditions[i]; old.Status == c.Status {
		c.LastTransitionTime = old.LastTransitionTime
	}
	pod.Status.Conditions[i] = c
}

// evict deletes a pod if its disruption budget allows it.
func evict(w http.ResponseWriter, rq *request) error {
	e := &policyv1.Eviction{}
	if err := rq.readSubresource(e); err != nil {
		return err
	}
	if e.Name != rq.name {
		return apierrors.NewBadRequest("name in URL does not match name in Eviction object")
	}
	options := &metav1.DeleteOptions{}
	if e.DeleteOptions != nil {
		options = e.DeleteOptions.DeepCopy()
	}
	rq.dryRun = rq.dryRun || len(options.DryRun) > 0
	live := rq.kind.table.get(key{rq.namespace, rq.name})
	if live == nil {
		return rq.notFound(rq.name)
	}
	if err := rq.checkPreconditions(live, options.Preconditions); err != nil {
		return err
	}
	if err := rq.checkBudget(rq.kind.convert(live).(*corev1.Pod)); err != nil {
		return err
	}
	if err := rq.disrupt(options); err != nil {
		return err
	}
	return rq.respondSuccess(w)
}

// disrupt says in the status of the pod why it goes, and deletes it.
func (rq *request) disrupt(options *metav1.DeleteOptions) error {
	if !rq.dryRun {
		o, _, err := rq.modify(modification{change: func(live runtime.Object) (runtime.Object, error) {
			pod := live.DeepCopyObject().(*corev1.Pod)
			setPodCondition(pod, corev1.PodCondition{
				Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "EvictionByEvictionAPI", Message: "Eviction API: evicting",
			})
			return pod, nil
		}})
		if err != nil {
			return err
		}
		if p := options.Preconditions; p != nil && p.ResourceVersion != nil {
			p.ResourceVersion = new(o.meta.GetResourceVersion())
		}
	}
	_, _, err := rq.delete(rq.name, options)
	return err
}

// checkBudget asks the disruption budget of a pod, and counts the disruption there. Pods that
// do not run, or are going anyway, need no budget.
func (rq *request) checkBudget(pod *corev1.Pod) error {
	if p := pod.Status.Phase; p != corev1.PodRunning && p != corev1.PodUnknown && p != "" || pod.DeletionTimestamp != nil {
		return nil
	}
	k := rq.server.kinds.catalog().byKind[policyv1.SchemeGroupVersion.WithKind("PodDisruptionBudget")]
	var budgets []*policyv1.PodDisruptionBudget
	snap, _ := k.table.snapshot(0, pod.Namespace, key{}, 0, nil)
	for _, o := range snap.objects {
		if b := k.convert(o).(*policyv1.PodDisruptionBudget); covers(b, pod) {
			budgets = append(budgets, b)
		}
	}
	switch {
	case len(budgets) > 1:
		return &statusError{metav1.Status{
			Status: metav1.StatusFailure, Code: http.StatusInternalServerError,
			Message: "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.",
		}}
	case len(budgets) == 0 || unguarded(budgets[0], pod):
		return nil
	}
	return rq.spend(k, budgets[0].Name, pod.Name)
}

// covers reports whether a budget is for a pod.
func covers(b *policyv1.PodDisruptionBudget, pod *corev1.Pod) bool {
	selector, err := metav1.LabelSelectorAsSelector(b.Spec.Selector)
	return err == nil && selector.Matches(labels.Set(pod.Labels))
}

// unguarded reports whether a budget lets a pod go that is not ready.
func unguarded(b *policyv1.PodDisruptionBudget, pod *corev1.Pod) bool {
	if (&podSummary{pod: pod}).hasCondition(corev1.PodReady) {
		return false
	}
	return b.Spec.UnhealthyPodEvictionPolicy != nil && *b.Spec.UnhealthyPodEvictionPolicy == policyv1.AlwaysAllow ||
		b.Status.CurrentHealthy >= b.Status.DesiredHealthy && b.Status.DesiredHealthy > 0
}

// spend takes one disruption from a budget.
func (rq *request) spend(k *kind, budget, pod string) error {
	update := rq.server.internal(verbUpdate, k, rq.namespace, budget)
	update.ctx, update.subresource, update.dryRun = rq.ctx, "status", rq.dryRun
	_, _, err := update.modify(modification{change: func(live runtime.Object) (runtime.Object, error) {
		b := live.DeepCopyObject().(*policyv1.PodDisruptionBudget)
		if err := disruptionAllowed(b); err != nil {
			return nil, err
		}
		b.Status.DisruptionsAllowed--
		if b.Status.DisruptedPods == nil {
			b.Status.DisruptedPods = map[string]metav1.Time{}
		}
		b.Status.DisruptedPods[pod] = metav1.NewTime(time.Now())
		return b, nil
	}})
	return err
}

func disruptionAllowed(b *policyv1.PodDisruptionBudget) error {
	text := "The disruption budget %s is still being processed by the server."
	retry := 10
	switch s := &b.Status; {
	case s.ObservedGeneration < b.Generation:
	case s.DisruptionsAllowed < 0:
		return apierrors.NewForbidden(schema.GroupResource{Group: policyv1.GroupName, Resource: "poddisruptionbudget"}, b.Name, errors.New("pdb disruptions allowed is negative"))
	case s.DisruptionsAllowed == 0:
		text, retry = "The disruption budget %s needs %d healthy pods and has %d currently", 0
	default:
		return nil
	}
	err := apierrors.NewTooManyRequests("Cannot evict pod as it would violate the pod's disruption budget.", retry)
	message := fmt.Sprintf(text, b.Name)
	if retry == 0 {
		message = fmt.Sprintf(text, b.Name, b.Status.DesiredHealthy, b.Status.CurrentHealthy)
	}
	err.ErrStatus.Details.Causes = append(err.ErrStatus.Details.Causes, metav1.StatusCause{Type: policyv1.DisruptionBudgetCause, Message: message})
	return err
}

// prepareEphemeralContainers takes all but the ephemeral containers from old.
func prepareEphemeralContainers(_ *request, obj, old runtime.Object) {
	pod, was := obj.(*corev1.Pod), old.DeepCopyObject().(*corev1.Pod)
	was.Spec.EphemeralContainers = pod.Spec.EphemeralContainers
	keepPod(pod, was)
}

// prepareResize takes all but the resources of containers from old.
func prepareResize(_ *request, obj, old runtime.Object) {
	pod, was := obj.(*corev1.Pod), old.DeepCopyObject().(*corev1.Pod)
	for _, lists := range [][2][]corev1.Container{{was.Spec.Containers, pod.Spec.Containers}, {was.Spec.InitContainers, pod.Spec.InitContainers}} {
		for i := range lists[0] {
			c := &lists[0][i]
			j := slices.IndexFunc(lists[1], func(n corev1.Container) bool { return n.Name == c.Name })
			if j >= 0 {
				c.Resources, c.ResizePolicy = lists[1][j].Resources, lists[1][j].ResizePolicy
			}
		}
	}
	keepPod(pod, was)
}

// keepPod makes pod what it was, but for the managed fields and the version.
func keepPod(pod, was *corev1.Pod) {
	version, managed := pod.ResourceVersion, pod.ManagedFields
	*pod = *was
	pod.ResourceVersion, pod.ManagedFields = version, managed
}
