package resource_test

import (
	"testing"

	"github.com/go-kube/kube/k8s/core"
	"github.com/go-kube/kube/resource"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestDynamicObjectAsItsType reads what was known at run time only as the type that it has, and
// the other way round.
func TestDynamicObjectAsItsType(t *testing.T) {
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Pod",
		"metadata": map[string]any{"name": "blog", "namespace": "web", "labels": map[string]any{"app": "blog"}},
		"spec":     map[string]any{"containers": []any{map[string]any{"name": "blog", "image": "clux/blog:0.1.0"}}},
	}}
	want := &corev1.Pod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Name: "blog", Namespace: "web", Labels: map[string]string{"app": "blog"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "blog", Image: "clux/blog:0.1.0"}}},
	}
	raw := must(resource.ParseRaw(core.Pods.Descriptor(), must(object.MarshalJSON())))
	if diff := cmp.Diff(want, must(resource.AsLazy[corev1.Pod](raw).Decode())); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(object, must(resource.AsLazy[unstructured.Unstructured](raw).Decode())); diff != "" {
		t.Error(diff)
	}
}
