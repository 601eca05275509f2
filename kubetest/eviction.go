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
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// evict answers POST on the eviction of a pod, as Kubernetes does
// (pkg/registry/core/pod/storage/eviction.go): it deletes the pod, unless a disruption budget
// is against it.
func evict(w http.ResponseWriter, rq *request) error {
	if err := rq.createOptions(); err != nil {
		return err
	}
	eviction := &policyv1.Eviction{}
	if err := rq.readSubresource(eviction); err != nil {
		return err
	}
	if err := rq.setNamespace(eviction); err != nil {
		return err
	}
	if eviction.Name != rq.name {
		return apierrors.NewBadRequest("name in URL does not match name in Eviction object")
	}
	if err := rq.checkNamespace(); err != nil {
		return err
	}
	options, err := rq.evictionOptions(eviction)
	if err != nil {
		return err
	}
	status, err := rq.evictPod(options)
	if err != nil {
		return err
	}
	code := http.StatusCreated
	if status.Code == 0 {
		status.Code = int32(code)
	}
	return rq.respondBody(w, code, status, statusKind)
}

// evictionOptions returns how the pod is deleted.
func (rq *request) evictionOptions(eviction *policyv1.Eviction) (*metav1.DeleteOptions, error) {
	options := eviction.DeleteOptions
	if options == nil {
		options = &metav1.DeleteOptions{}
	}
	asked := rq.query["dryRun"]
	if len(options.DryRun) > 0 && len(asked) > 0 && !slices.Equal(options.DryRun, asked) {
		return nil, fmt.Errorf("Non-matching dry-run options in request and content: %v and %v", asked, options.DryRun)
	}
	rq.dryRun = rq.dryRun || len(options.DryRun) > 0
	return options, nil
}

func (rq *request) evictPod(options *metav1.DeleteOptions) (*metav1.Status, error) {
	o := rq.kind.table.get(key{rq.namespace, rq.name})
	if o == nil {
		return nil, rq.notFound(rq.name)
	}
	success := &metav1.Status{Status: metav1.StatusSuccess}
	pod := o.content.(*corev1.Pod)
	if ignoresBudget(pod) {
		return success, rq.deleteEvicted(options)
	}
	budgets := rq.budgetsOf(pod)
	if len(budgets) > 1 {
		return &metav1.Status{
			Status: metav1.StatusFailure, Code: http.StatusInternalServerError,
			Message: "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.",
		}, nil
	}
	if len(budgets) == 1 && !coveredAnyway(pod, budgets[0]) {
		if err := rq.spend(budgets[0].Name, pod.Name); err != nil {
			return nil, err
		}
	}
	return success, rq.deleteEvicted(options)
}

// ignoresBudget reports whether the end of a pod is no disruption.
func ignoresBudget(pod *corev1.Pod) bool {
	switch pod.Status.Phase {
	case corev1.PodSucceeded, corev1.PodFailed, corev1.PodPending:
		return true
	}
	return pod.DeletionTimestamp != nil
}

// coveredAnyway reports whether a pod that is not ready may go without being counted.
func coveredAnyway(pod *corev1.Pod, budget *policyv1.PodDisruptionBudget) bool {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue {
			return false
		}
	}
	if p := budget.Spec.UnhealthyPodEvictionPolicy; p != nil && *p == policyv1.AlwaysAllow {
		return true
	}
	return budget.Status.DesiredHealthy > 0 && budget.Status.CurrentHealthy >= budget.Status.DesiredHealthy
}

func (rq *request) budgetKind() *kind {
	return rq.server.kinds.catalog().byKind[policyv1.SchemeGroupVersion.WithKind("PodDisruptionBudget")]
}

// budgetsOf returns the disruption budgets that a pod is under.
func (rq *request) budgetsOf(pod *corev1.Pod) []*policyv1.PodDisruptionBudget {
	var budgets []*policyv1.PodDisruptionBudget
	for _, o := range rq.budgetKind().table.in(pod.Namespace) {
		budget := o.content.(*policyv1.PodDisruptionBudget)
		selector, err := metav1.LabelSelectorAsSelector(budget.Spec.Selector)
		if err == nil && selector.Matches(labels.Set(pod.Labels)) {
			budgets = append(budgets, budget)
		}
	}
	return budgets
}

// spend counts the eviction of a pod against a budget, or says why that cannot be.
func (rq *request) spend(budget, pod string) error {
	update := rq.server.internal(verbUpdate, rq.budgetKind(), rq.namespace, budget)
	update.subresource, update.dryRun = "status", rq.dryRun
	_, _, err := update.modify(modification{change: func(live runtime.Object) (runtime.Object, error) {
		b := live.(*policyv1.PodDisruptionBudget).DeepCopy()
		if err := allowsDisruption(b); err != nil {
			return nil, err
		}
		b.Status.DisruptionsAllowed--
		if b.Status.DisruptedPods == nil {
			b.Status.DisruptedPods = map[string]metav1.Time{}
		}
		b.Status.DisruptedPods[pod] = metav1.NewTime(time.Now())
		if b.Status.DisruptionsAllowed == 0 {
			meta.SetStatusCondition(&b.Status.Conditions, metav1.Condition{
				Type: policyv1.DisruptionAllowedCondition, Status: metav1.ConditionFalse,
				Reason: policyv1.InsufficientPodsReason, ObservedGeneration: b.Status.ObservedGeneration,
			})
		}
		return b, nil
	}})
	return err
}

// maxDisrupted is how many evictions may be on their way.
const maxDisrupted = 2000

func allowsDisruption(b *policyv1.PodDisruptionBudget) error {
	switch {
	case b.Status.ObservedGeneration < b.Generation:
		err := apierrors.NewTooManyRequests("Cannot evict pod as it would violate the pod's disruption budget.", 10)
		return withBudgetCause(err, "The disruption budget %s is still being processed by the server.", b.Name)
	case b.Status.DisruptionsAllowed < 0:
		err := apierrors.NewForbidden(budgetResource, b.Name, errors.New("pdb disruptions allowed is negative"))
		return withBudgetCause(err, "The disruption budget %s does not allow evicting pods currently: pdb disruptions allowed is negative", b.Name)
	case len(b.Status.DisruptedPods) > maxDisrupted:
		err := apierrors.NewForbidden(budgetResource, b.Name, errors.New("DisruptedPods map too big - too many evictions not confirmed by PDB controller"))
		return withBudgetCause(err, "The disruption budget %s does not allow evicting pods currently: too many pending evictions not confirmed by PDB controller", b.Name)
	case b.Status.DisruptionsAllowed == 0:
		err := apierrors.NewTooManyRequests("Cannot evict pod as it would violate the pod's disruption budget.", 0)
		return withBudgetCause(err, "%s", whyNoDisruption(b))
	}
	return nil
}

var budgetResource = schema.GroupResource{Group: policyv1.GroupName, Resource: "poddisruptionbudget"}

func withBudgetCause(err *apierrors.StatusError, format string, args ...any) error {
	err.ErrStatus.Details.Causes = append(err.ErrStatus.Details.Causes, metav1.StatusCause{
		Type: policyv1.DisruptionBudgetCause, Message: fmt.Sprintf(format, args...),
	})
	return err
}

// whyNoDisruption says why a budget that allows nothing does so.
func whyNoDisruption(b *policyv1.PodDisruptionBudget) string {
	c := meta.FindStatusCondition(b.Status.Conditions, policyv1.DisruptionAllowedCondition)
	told := c != nil && c.Status == metav1.ConditionFalse && c.Message != ""
	switch {
	case told && c.Reason == policyv1.SyncFailedReason:
		return fmt.Sprintf("The disruption budget %s does not allow evicting pods currently because it failed sync: %s", b.Name, c.Message)
	case b.Status.CurrentHealthy <= b.Status.DesiredHealthy:
		return fmt.Sprintf("The disruption budget %s needs %d healthy pods and has %d currently", b.Name, b.Status.DesiredHealthy, b.Status.CurrentHealthy)
	case told:
		return fmt.Sprintf("The disruption budget %s does not allow evicting pods currently (%s): %s", b.Name, c.Reason, c.Message)
	}
	return fmt.Sprintf("The disruption budget %s does not allow evicting pods currently", b.Name)
}

// deleteEvicted deletes the pod, after it has got a condition that says why.
func (rq *request) deleteEvicted(options *metav1.DeleteOptions) error {
	if !rq.dryRun {
		marked, err := rq.markEvicted(options.Preconditions)
		if err != nil {
			return err
		}
		if p := options.Preconditions; p != nil && p.ResourceVersion != nil {
			p.ResourceVersion = new(marked.meta.GetResourceVersion())
		}
	}
	_, _, err := rq.delete(rq.name, options)
	return err
}

func (rq *request) markEvicted(p *metav1.Preconditions) (*object, error) {
	update := rq.server.internal(verbUpdate, rq.kind, rq.namespace, rq.name)
	update.subresource = "status"
	for {
		live := rq.kind.table.get(key{rq.namespace, rq.name})
		if live == nil {
			return nil, rq.notFound(rq.name)
		}
		if err := rq.checkPreconditions(live, p); err != nil {
			return nil, err
		}
		pod := live.copy().(*corev1.Pod)
		setPodCondition(pod, corev1.PodCondition{
			Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue,
			Reason: "EvictionByEvictionAPI", Message: "Eviction API: evicting",
		})
		if o, err := update.replace(pod, live); !errors.Is(err, errChanged) {
			return o, err
		}
	}
}
