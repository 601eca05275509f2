package client_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/k8s/apps"
	"github.com/go-kube/kube/k8s/core"
	"github.com/go-kube/kube/resource"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestMetadataVerbs: every verb that makes sense without the whole object works on its metadata.
func TestMetadataVerbs(t *testing.T) {
	client, ns := connect(t)
	ctx := t.Context()
	whole := client.Namespaced(core.ConfigMaps, ns)
	for _, name := range []string{"a", "b", "c"} {
		must[*corev1.ConfigMap](t)(whole.Create(ctx, configMap(name, map[string]string{"k": name}), nil))
	}
	api := client.Namespaced(core.ConfigMaps.Metadata(), ns)

	applied := must[*resource.Metadata[corev1.ConfigMap]](t)(api.Apply(ctx, &resource.Metadata[corev1.ConfigMap]{
		ObjectMeta: metav1.ObjectMeta{Name: "a", Annotations: map[string]string{"note": "applied"}},
	}, "variants", nil))
	if applied.Annotations["note"] != "applied" || applied.Kind != "ConfigMap" {
		t.Errorf("applied: %+v", applied)
	}
	if got := must[*corev1.ConfigMap](t)(whole.Get(ctx, "a")); got.Data["k"] != "a" || got.Annotations["note"] != "applied" {
		t.Errorf("the object of which metadata was applied: %+v", got)
	}
	if _, found, err := api.Lookup(ctx, "none"); found || err != nil {
		t.Errorf("lookup of what is not there: %t, %v", found, err)
	}
	var names []string
	for m, err := range api.Each(ctx, &kube.ListOptions{Labels: "test=yes", Limit: 2}) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, m.Name)
	}
	if diff := cmp.Diff([]string{"a", "b", "c"}, names); diff != "" {
		t.Error(diff)
	}
	for event, err := range api.Watch(ctx, &kube.WatchOptions{Fields: "metadata.name=a"}) {
		if err != nil {
			t.Fatal(err)
		}
		m, err := event.Object.Decode()
		if err != nil || event.Type != kube.Added || m.Annotations["note"] != "applied" || m.Kind != "ConfigMap" {
			t.Errorf("%s %+v, %v", event.Type, m, err)
		}
		break
	}
	if err := api.Delete(ctx, "a", &kube.DeleteOptions{UID: applied.UID}); err != nil {
		t.Error(err)
	}
	if err := api.DeleteCollection(ctx, &kube.ListOptions{Labels: "test=yes"}, nil); err != nil {
		t.Error(err)
	}
	if left := must[*kube.List[corev1.ConfigMap]](t)(whole.List(ctx, &kube.ListOptions{Labels: "test=yes"})); len(left.Items) != 0 {
		t.Errorf("%d objects are left", len(left.Items))
	}
}

// TestDynamicVerbs: every verb works for a kind that is known at run time only.
func TestDynamicVerbs(t *testing.T) {
	client, ns := connect(t)
	ctx := t.Context()
	kind, err := client.DiscoverKind(ctx, apps.Deployments.Descriptor().GroupVersionKind())
	if err != nil {
		t.Fatal(err)
	}
	api := client.Namespaced(kind, ns)
	object := func(name string) *unstructured.Unstructured {
		container := map[string]any{"name": "web", "image": "nginx"}
		return &unstructured.Unstructured{Object: map[string]any{
			"metadata": map[string]any{"name": name, "labels": map[string]any{"test": "yes"}},
			"spec": map[string]any{
				"replicas": int64(1),
				"selector": map[string]any{"matchLabels": map[string]any{"app": "web"}},
				"template": map[string]any{
					"metadata": map[string]any{"labels": map[string]any{"app": "web"}},
					"spec":     map[string]any{"containers": []any{container}},
				},
			},
		}}
	}
	one := must[*unstructured.Unstructured](t)
	replicas := func(obj *unstructured.Unstructured) int64 {
		n, _, _ := unstructured.NestedInt64(obj.Object, "spec", "replicas")
		return n
	}

	created := one(api.Create(ctx, object("a"), nil))
	if created.GetKind() != "Deployment" || created.GetAPIVersion() != "apps/v1" || created.GetUID() == "" {
		t.Errorf("created: %v", created.Object)
	}
	one(api.Create(ctx, object("b"), nil))
	if _, err := api.Create(ctx, object("a"), nil); !errors.Is(err, kube.ErrAlreadyExists) {
		t.Errorf("created twice: %v", err)
	}
	if got := one(api.Patch(ctx, "a", kube.MergePatch([]byte(`{"spec":{"replicas":2}}`)), nil)); replicas(got) != 2 {
		t.Errorf("after a merge patch: %d", replicas(got))
	}
	if got := one(api.Patch(ctx, "a", kube.JSONPatch(kube.JSONPatchOp{Op: "replace", Path: "/spec/replicas", Value: 3}), nil)); replicas(got) != 3 {
		t.Errorf("after a JSON patch: %d", replicas(got))
	}
	partial := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "a"}, "spec": map[string]any{"replicas": int64(4)}}}
	if got := one(api.Apply(ctx, partial, "variants", nil)); replicas(got) != 4 {
		t.Errorf("after an apply: %d", replicas(got))
	}
	if scale := must[*kube.Scale](t)(api.Scale().Patch(ctx, "a", kube.MergePatch([]byte(`{"spec":{"replicas":5}}`)), nil)); scale.Spec.Replicas != 5 {
		t.Errorf("after a patch of the scale: %d", scale.Spec.Replicas)
	}
	got := one(api.Get(ctx, "a"))
	if err := unstructured.SetNestedField(got.Object, int64(7), "status", "replicas"); err != nil {
		t.Fatal(err)
	}
	got = one(api.Status().Replace(ctx, got, nil))
	if n, _, _ := unstructured.NestedInt64(got.Object, "status", "replicas"); n != 7 || replicas(got) != 5 {
		t.Errorf("after a replace of the status: %v", got.Object)
	}
	entry := must[*kube.Entry[unstructured.Unstructured]](t)(api.Entry(ctx, "a"))
	entry.Modify(func(obj *unstructured.Unstructured) { obj.SetAnnotations(map[string]string{"note": "entry"}) })
	if err := entry.Commit(ctx, nil); err != nil || entry.Object().GetAnnotations()["note"] != "entry" {
		t.Errorf("after a commit: %v, %v", entry.Object().Object, err)
	}
	if got := one(api.Restart(ctx, "a")); got.GetGeneration() == entry.Object().GetGeneration() {
		t.Error("a restart changed nothing")
	}
	checkDynamicReads(t, api)
	if err := api.Delete(ctx, "a", &kube.DeleteOptions{Propagation: kube.PropagationBackground}); err != nil {
		t.Error(err)
	}
	if err := api.DeleteCollection(ctx, &kube.ListOptions{Labels: "test=yes"}, &kube.DeleteOptions{Propagation: kube.PropagationBackground}); err != nil {
		t.Error(err)
	}
	if left := must[*kube.List[unstructured.Unstructured]](t)(api.List(ctx, nil)); len(left.Items) != 0 {
		t.Errorf("%d objects are left", len(left.Items))
	}
}

// checkDynamicReads lists and watches the deployments a and b.
func checkDynamicReads(t *testing.T, api kube.API[unstructured.Unstructured]) {
	t.Helper()
	ctx := t.Context()
	want := []string{"Deployment a", "Deployment b"}
	var listed, gone, watched []string
	for _, obj := range must[*kube.List[unstructured.Unstructured]](t)(api.List(ctx, &kube.ListOptions{Labels: "test=yes"})).Items {
		listed = append(listed, fmt.Sprint(obj.GetKind(), " ", obj.GetName()))
	}
	for obj, err := range api.Each(ctx, &kube.ListOptions{Limit: 1}) {
		if err != nil {
			t.Fatal(err)
		}
		gone = append(gone, fmt.Sprint(obj.GetKind(), " ", obj.GetName()))
	}
	for event, err := range api.Watch(ctx, nil) {
		if err != nil {
			t.Fatal(err)
		}
		obj, err := event.Object.Decode()
		if err != nil {
			t.Fatal(err)
		}
		if watched = append(watched, fmt.Sprint(obj.GetKind(), " ", obj.GetName())); len(watched) == 2 {
			break
		}
	}
	slices.Sort(watched)
	for what, got := range map[string][]string{"list": listed, "each": gone, "watch": watched} {
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", what, diff)
		}
	}
}
