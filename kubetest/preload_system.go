package kubetest

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// systemObjects are what an API server makes of itself, as far as programs look for it: its
// own service, and the priorities of the pods of the system.
func systemObjects() map[schema.GroupVersionKind][]runtime.Object {
	priority := func(name string, value int32, description string) runtime.Object {
		return &schedulingv1.PriorityClass{
			ObjectMeta: metav1.ObjectMeta{Name: name}, Value: value, Description: description,
			PreemptionPolicy: new(corev1.PreemptLowerPriority),
		}
	}
	return map[schema.GroupVersionKind][]runtime.Object{
		corev1.SchemeGroupVersion.WithKind("Service"): {&corev1.Service{
			ObjectMeta: metav1.ObjectMeta{
				Name: "kubernetes", Namespace: metav1.NamespaceDefault, Labels: map[string]string{"component": "apiserver", "provider": "kubernetes"},
			},
			Spec: corev1.ServiceSpec{
				Type: corev1.ServiceTypeClusterIP, ClusterIP: "10.0.0.1", ClusterIPs: []string{"10.0.0.1"}, SessionAffinity: corev1.ServiceAffinityNone,
				IPFamilies: []corev1.IPFamily{corev1.IPv4Protocol}, IPFamilyPolicy: new(corev1.IPFamilyPolicySingleStack),
				InternalTrafficPolicy: new(corev1.ServiceInternalTrafficPolicyCluster),
				Ports:                 []corev1.ServicePort{{Name: "https", Protocol: corev1.ProtocolTCP, Port: 443, TargetPort: intstr.FromInt32(6443)}},
			},
		}},
		schedulingv1.SchemeGroupVersion.WithKind("PriorityClass"): {
			priority("system-node-critical", 2000001000, "Used for system critical pods that must not be moved from their current node."),
			priority("system-cluster-critical", 2000000000, "Used for system critical pods that must run in the cluster, but can be moved to another node if necessary."),
		},
	}
}

// preloadSystem creates those objects of the system that are not there yet.
func (s *Server) preloadSystem() error {
	for gvk, objects := range systemObjects() {
		k := s.kinds.catalog().byKind[gvk]
		for _, obj := range objects {
			if k.table.get(keyOf(accessor(obj))) != nil {
				continue
			}
			if _, err := s.add(k, obj); err != nil {
				return fmt.Errorf("%s %s: %w", gvk.Kind, accessor(obj).GetName(), err)
			}
		}
	}
	return nil
}
