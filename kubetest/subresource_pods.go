package kubetest

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
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
	if err := validateBinding(b); err != nil {
		return err
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

// validateBinding has the words of a real server, which does not say that the binding is invalid.
func validateBinding(b *corev1.Binding) error {
	var errs field.ErrorList
	target := field.NewPath("target")
	if b.Target.Kind != "" && b.Target.Kind != "Node" {
		errs = append(errs, field.NotSupported(target.Child("kind"), b.Target.Kind, []string{"Node", "<empty>"}))
	}
	if b.Target.Name == "" {
		errs = append(errs, field.Required(target.Child("name"), ""))
	}
	if len(errs) == 0 {
		return nil
	}
	return errs.ToAggregate()
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
