package kubetest

import (
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// builtinScale returns where the objects of a built-in kind have what the scale subresource
// shows, nil if the kind has none.
func builtinScale(k *kind) *scaleAccess {
	s := &scaleAccess{
		path:  ".spec.replicas",
		paths: managedfields.ResourcePathMappings{k.groupVersion().String(): fieldpath.MakePathOrDie("spec", "replicas")},
	}
	switch k.new().(type) {
	case *appsv1.Deployment:
		scaleOf(s, func(d *appsv1.Deployment) (**int32, int32, *metav1.LabelSelector) {
			return &d.Spec.Replicas, d.Status.Replicas, d.Spec.Selector
		})
	case *appsv1.ReplicaSet:
		scaleOf(s, func(r *appsv1.ReplicaSet) (**int32, int32, *metav1.LabelSelector) {
			return &r.Spec.Replicas, r.Status.Replicas, r.Spec.Selector
		})
	case *appsv1.StatefulSet:
		scaleOf(s, func(f *appsv1.StatefulSet) (**int32, int32, *metav1.LabelSelector) {
			return &f.Spec.Replicas, f.Status.Replicas, f.Spec.Selector
		})
	case *corev1.ReplicationController:
		scaleOf(s, func(rc *corev1.ReplicationController) (**int32, int32, *metav1.LabelSelector) {
			return &rc.Spec.Replicas, rc.Status.Replicas, nil
		})
		s.status = func(obj runtime.Object) (autoscalingv1.ScaleStatus, error) {
			rc := obj.(*corev1.ReplicationController)
			return autoscalingv1.ScaleStatus{Replicas: rc.Status.Replicas, Selector: labels.SelectorFromSet(rc.Spec.Selector).String()}, nil
		}
	default:
		return nil
	}
	return s
}

// scaleOf completes s with where a Go type has its replicas and its selector.
func scaleOf[T runtime.Object](s *scaleAccess, parts func(T) (wanted **int32, have int32, selector *metav1.LabelSelector)) {
	s.replicas = func(obj runtime.Object) (int32, bool, error) {
		wanted, _, _ := parts(obj.(T))
		if *wanted == nil {
			return 0, false, nil
		}
		return **wanted, true, nil
	}
	s.setReplicas = func(obj runtime.Object, replicas int32) error {
		wanted, _, _ := parts(obj.(T))
		*wanted = &replicas
		return nil
	}
	s.status = func(obj runtime.Object) (autoscalingv1.ScaleStatus, error) {
		_, have, labelSelector := parts(obj.(T))
		selector, err := metav1.LabelSelectorAsSelector(labelSelector)
		if err != nil {
			return autoscalingv1.ScaleStatus{}, err
		}
		return autoscalingv1.ScaleStatus{Replicas: have, Selector: selector.String()}, nil
	}
}
