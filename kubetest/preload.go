package kubetest

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// systemNamespaces are the namespaces that every cluster has.
var systemNamespaces = []string{
	metav1.NamespaceSystem, metav1.NamespacePublic, corev1.NamespaceNodeLease, metav1.NamespaceDefault,
}

// preload creates what exists from the start.
func (s *Server) preload() error {
	k := s.kinds.catalog().byKind[schema.GroupVersionKind{Version: "v1", Kind: "Namespace"}]
	for _, name := range systemNamespaces {
		ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if _, err := s.add(k, ns); err != nil {
			return fmt.Errorf("namespace %s: %w", name, err)
		}
	}
	return nil
}

// add creates an object of k, as a client would.
func (s *Server) add(k *kind, obj runtime.Object) (*object, error) {
	m := accessor(obj)
	rq := s.internal(verbCreate, k, m.GetNamespace(), m.GetName())
	k.strategy.setDefaults(obj)
	if err := rq.prepareNew(obj); err != nil {
		return nil, err
	}
	obj, err := rq.trackFields(obj, nil)
	if err != nil {
		return nil, err
	}
	return rq.create(obj)
}
