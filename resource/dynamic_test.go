package resource_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/go-kube/kube/k8s/all"
	"github.com/go-kube/kube/k8s/apps"
	"github.com/go-kube/kube/k8s/core"
	"github.com/go-kube/kube/resource"
	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
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

// TestMessageAsDynamicObject reads objects that came as protobuf as those that come as JSON: the
// values that Go writes in its own way, and what is empty, are as the server writes them.
func TestMessageAsDynamicObject(t *testing.T) {
	const text = `{
		"apiVersion": "v1", "kind": "Pod",
		"metadata": {"name": "blog", "namespace": "web", "creationTimestamp": "2026-01-02T03:04:05Z", "generation": 3},
		"spec": {
			"containers": [{
				"name": "blog", "image": "blog:1",
				"env": [{"name": "LEVEL", "valueFrom": {"secretKeyRef": {"key": "level"}}}, {"name": "EMPTY"}],
				"ports": [{"containerPort": 80}],
				"resources": {"limits": {"cpu": "100m", "memory": "1Gi"}},
				"readinessProbe": {"httpGet": {"path": "/", "port": "http"}},
				"livenessProbe": {"tcpSocket": {"port": 80}}
			}, {"name": "side", "resources": {}}],
			"securityContext": {}, "terminationGracePeriodSeconds": 0, "automountServiceAccountToken": false,
			"volumes": [{"name": "tmp", "emptyDir": {}}]
		},
		"status": {"startTime": "2026-01-02T03:04:06Z"}
	}`
	pods := core.Pods.Descriptor()
	asJSON := must(resource.ParseRaw(pods, []byte(text)))
	pod := must(resource.AsLazy[corev1.Pod](asJSON).Decode())
	message := must(resource.EncodeRaw(pods, pod))
	if !message.IsProtobuf() {
		t.Fatal("there is nothing to test: the pod is JSON")
	}
	want := must(resource.AsLazy[unstructured.Unstructured](asJSON).Decode())
	if diff := cmp.Diff(want, must(resource.AsLazy[unstructured.Unstructured](message).Decode())); diff != "" {
		t.Errorf("unstructured, from JSON and from protobuf:\n%s", diff)
	}
	part := must(resource.AsLazy[resource.Object[struct {
		Volumes []corev1.Volume `json:"volumes"`
	}, struct{}]](message).Decode())
	if diff := cmp.Diff(pod.Spec.Volumes, part.Spec.Volumes); diff != "" || part.Kind != "Pod" || part.Generation != 3 {
		t.Errorf("a part of it: %+v\n%s", part, diff)
	}
	if node, err := resource.AsLazy[corev1.Node](message).Decode(); err == nil {
		t.Errorf("a pod was read as a node: %+v", node)
	}
}

// TestMessageOfAStatefulSetAsDynamicObject finds what protobuf leaves out of objects within objects.
func TestMessageOfAStatefulSetAsDynamicObject(t *testing.T) {
	sets := apps.StatefulSets.Descriptor()
	set := &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Name: "db", Namespace: "web"},
		Spec: appsv1.StatefulSetSpec{VolumeClaimTemplates: []corev1.PersistentVolumeClaim{{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolumeClaim"},
			ObjectMeta: metav1.ObjectMeta{Name: "data"},
		}}},
	}
	message := must(resource.EncodeRaw(sets, set))
	text := must(resource.ParseRaw(sets, must(json.Marshal(set))))
	want := must(resource.AsLazy[unstructured.Unstructured](text).Decode())
	if diff := cmp.Diff(want, must(resource.AsLazy[unstructured.Unstructured](message).Decode())); diff != "" {
		t.Errorf("from JSON and from protobuf:\n%s", diff)
	}
	set.Spec.VolumeClaimTemplates = nil
	bare := must(resource.AsLazy[unstructured.Unstructured](must(resource.EncodeRaw(sets, set))).Decode())
	if _, found, err := unstructured.NestedSlice(bare.Object, "spec", "volumeClaimTemplates"); found || err != nil {
		t.Errorf("got %v, %v", bare.Object, err)
	}
}

// TestObjectsWithinObjects fails when Kubernetes has another object within objects, whose apiVersion and kind a
// message lacks: those of StatefulSets are put in.
func TestObjectsWithinObjects(t *testing.T) {
	seen := map[reflect.Type]bool{}
	var within []string
	var walk func(at string, typ reflect.Type)
	walk = func(at string, typ reflect.Type) {
		for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice || typ.Kind() == reflect.Map {
			typ = typ.Elem()
		}
		if typ.Kind() != reflect.Struct {
			return
		}
		if f, ok := typ.FieldByName("TypeMeta"); ok && f.Type == reflect.TypeFor[metav1.TypeMeta]() && strings.Contains(at, ".") {
			within = append(within, at)
		}
		if seen[typ] {
			return
		}
		seen[typ] = true
		for f := range typ.Fields() {
			if f.IsExported() {
				walk(at+"."+f.Name, f.Type)
			}
		}
	}
	for _, kind := range all.Kinds() {
		walk(kind.Descriptor.Kind, reflect.TypeOf(kind.New()))
	}
	if diff := cmp.Diff([]string{"StatefulSet.Spec.VolumeClaimTemplates"}, within); diff != "" {
		t.Error(diff)
	}
}
