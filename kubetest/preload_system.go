package kubetest

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// systemObjects are what an API server makes of itself, as far as programs look for it: its
// own service, and the priorities of the pods of the system.
func systemObjects() []runtime.Object {
	priority := func(name string, value int32, description string) runtime.Object {
		return &schedulingv1.PriorityClass{
			ObjectMeta: metav1.ObjectMeta{Name: name}, Value: value, Description: description,
			PreemptionPolicy: new(corev1.PreemptLowerPriority),
		}
	}
	return []runtime.Object{
		&corev1.Service{
			ObjectMeta: metav1.ObjectMeta{
				Name: "kubernetes", Namespace: metav1.NamespaceDefault, Labels: map[string]string{"component": "apiserver", "provider": "kubernetes"},
			},
			Spec: corev1.ServiceSpec{
				Type: corev1.ServiceTypeClusterIP, ClusterIP: "10.0.0.1", ClusterIPs: []string{"10.0.0.1"}, SessionAffinity: corev1.ServiceAffinityNone,
				IPFamilies: []corev1.IPFamily{corev1.IPv4Protocol}, IPFamilyPolicy: new(corev1.IPFamilyPolicySingleStack),
				InternalTrafficPolicy: new(corev1.ServiceInternalTrafficPolicyCluster),
				Ports:                 []corev1.ServicePort{{Name: "https", Protocol: corev1.ProtocolTCP, Port: 443, TargetPort: intstr.FromInt32(6443)}},
			},
		},
		priority("system-node-critical", 2000001000, "Used for system critical pods that must not be moved from their current node."),
		priority("system-cluster-critical", 2000000000, "Used for system critical pods that must run in the cluster, but can be moved to another node if necessary."),
	}
}

// preloadSystem creates those objects of the system that are not there yet.
func (s *Server) preloadSystem() error {
	for _, obj := range systemObjects() {
		k := s.kinds.catalog().byType(obj)
		if k == nil || k.table.get(keyOf(accessor(obj))) != nil {
			continue // its version is turned off, or it was given
		}
		o, err := s.add(k, obj)
		if err != nil {
			return fmt.Errorf("%s %s: %w", k.Kind, accessor(obj).GetName(), err)
		}
		s.system[o] = true
	}
	return nil
}
