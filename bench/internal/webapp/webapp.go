// Package webapp has the custom resource of the benchmark, as both kube and controller-runtime
// take it. The latter wants the methods that deepcopy-gen writes.
package webapp

import (
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is where the kind is.
var GroupVersion = schema.GroupVersion{Group: "example.com", Version: "v1"}

// WebApp is something that runs.
type WebApp struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              Spec   `json:"spec"`
	Status            Status `json:"status"`
}

// Spec is what is wanted.
type Spec struct {
	Image    string            `json:"image"`
	Replicas int32             `json:"replicas"`
	Env      map[string]string `json:"env,omitempty"`
	Hosts    []string          `json:"hosts,omitempty"`
}

// Status is what was seen.
type Status struct {
	AvailableReplicas int32              `json:"availableReplicas"`
	Ready             bool               `json:"ready"`
	Conditions        []metav1.Condition `json:"conditions,omitempty"`
}

// List is a list of them.
type List struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []WebApp `json:"items"`
}

// DeepCopyObject implements runtime.Object.
func (w *WebApp) DeepCopyObject() runtime.Object {
	c := *w
	w.ObjectMeta.DeepCopyInto(&c.ObjectMeta)
	c.Spec.Env, c.Spec.Hosts = maps.Clone(w.Spec.Env), slices.Clone(w.Spec.Hosts)
	c.Status.Conditions = slices.Clone(w.Status.Conditions)
	return &c
}

// DeepCopyObject implements runtime.Object.
func (l *List) DeepCopyObject() runtime.Object {
	c := *l
	l.ListMeta.DeepCopyInto(&c.ListMeta)
	c.Items = make([]WebApp, len(l.Items))
	for i := range l.Items {
		c.Items[i] = *l.Items[i].DeepCopyObject().(*WebApp)
	}
	return &c
}
