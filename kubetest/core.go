package kubetest

import (
	"errors"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// coreHooks are the hooks of the core group.
func coreHooks() hooks {
	core := func(kind string) schema.GroupVersionKind { return corev1.SchemeGroupVersion.WithKind(kind) }
	return hooks{
		core("Namespace"): namespaceHooks,
		core("Pod"):       podHooks,
		core("Service"): func(s *strategy) {
			s.admit, s.warnings = admitService, serviceWarnings
		},
		appsv1.SchemeGroupVersion.WithKind("DaemonSet"): func(s *strategy) {
			s.prepareCreate, s.prepareUpdate = prepareDaemonSet, prepareDaemonSetUpdate
		},
		appsv1.SchemeGroupVersion.WithKind("StatefulSet"): func(s *strategy) { s.warnings = statefulSetWarnings },
		core("PersistentVolume"):                          func(s *strategy) { s.prepareCreate = prepareVolume },
		core("PersistentVolumeClaim"): func(s *strategy) {
			s.prepareCreate, s.prepareUpdate = prepareClaim, prepareClaimUpdate
		},
		core("Node"): func(s *strategy) { s.admit = admitNode },
		schedulingv1.SchemeGroupVersion.WithKind("PriorityClass"): func(s *strategy) {
			s.prepareCreate = func(_ *request, obj runtime.Object) { accessor(obj).SetGeneration(1) }
		},
		batchv1.SchemeGroupVersion.WithKind("Job"): func(s *strategy) { s.prepareCreate = prepareJob },
		core("Endpoints"): func(s *strategy) {
			s.deprecated = "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"
		},
		core("ComponentStatus"): func(s *strategy) { s.deprecated = "v1 ComponentStatus is deprecated in v1.19+" },
	}
}

// on adapts a function for a Go type to any object.
func on[T any, P interface {
	*T
	runtime.Object
}](f func(P)) func(runtime.Object) {
	return func(obj runtime.Object) { f(obj.(P)) }
}

func namespaceHooks(s *strategy) {
	s.defaults = on(labelNamespace)
	s.canonicalize = on(labelNamespace)
	s.prepareCreate = func(_ *request, obj runtime.Object) {
		ns := obj.(*corev1.Namespace)
		ns.Status = corev1.NamespaceStatus{Phase: corev1.NamespaceActive}
		if !slices.Contains(ns.Spec.Finalizers, corev1.FinalizerKubernetes) {
			ns.Spec.Finalizers = append(ns.Spec.Finalizers, corev1.FinalizerKubernetes)
		}
	}
	s.prepareUpdate = func(_ *request, obj, old runtime.Object) {
		obj.(*corev1.Namespace).Spec.Finalizers = old.(*corev1.Namespace).Spec.Finalizers
	}
	s.admitDelete = func(rq *request, obj runtime.Object) error {
		switch name := accessor(obj).GetName(); name {
		case metav1.NamespaceDefault, metav1.NamespaceSystem, metav1.NamespacePublic:
			return apierrors.NewForbidden(namespaces, name, errors.New("this namespace may not be deleted"))
		}
		return nil
	}
	s.hold = holdNamespace
	s.mayFinish = func(obj runtime.Object) bool { return len(obj.(*corev1.Namespace).Spec.Finalizers) == 0 }
}

// holdNamespace has a namespace wait until its content is gone.
func holdNamespace(obj runtime.Object) bool {
	ns := obj.(*corev1.Namespace)
	if len(ns.Spec.Finalizers) == 0 {
		return false
	}
	if ns.DeletionTimestamp == nil {
		ns.DeletionTimestamp = new(metav1.NewTime(time.Now()))
		ns.Status.Phase = corev1.NamespaceTerminating
	}
	return true
}

// labelNamespace labels a namespace with its name.
func labelNamespace(ns *corev1.Namespace) {
	if ns.Name == "" {
		return
	}
	if ns.Labels == nil {
		ns.Labels = map[string]string{}
	}
	ns.Labels[corev1.LabelMetadataName] = ns.Name
}

func podHooks(s *strategy) {
	s.gracefully = podGracefully
	s.admit = admitPod
	s.prepareCreate = preparePod
	s.prepareStatus = func(_ *request, obj, old runtime.Object) {
		obj.(*corev1.Pod).Status.QOSClass = old.(*corev1.Pod).Status.QOSClass
	}
}

// podGracefully gives a pod that may be running the time that it asks for.
func podGracefully(_ *request, obj runtime.Object, options *metav1.DeleteOptions) bool {
	pod := obj.(*corev1.Pod)
	period := int64(0)
	switch {
	case options.GracePeriodSeconds != nil:
		period = *options.GracePeriodSeconds
	case pod.Spec.TerminationGracePeriodSeconds != nil:
		period = *pod.Spec.TerminationGracePeriodSeconds
	}
	if pod.Spec.NodeName == "" || pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded {
		period = 0
	}
	if period < 0 {
		period = 1
	}
	options.GracePeriodSeconds = &period
	return true
}
