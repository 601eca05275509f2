package kubetest_test

import (
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/go-kube/kube/k8s/apps"
	"github.com/go-kube/kube/k8s/core"
	"github.com/go-kube/kube/kubetest"
	"github.com/go-kube/kube/resource"
)

func TestPreload(t *testing.T) {
	const uid = "11111111-1111-1111-1111-111111111111"
	ctx := t.Context()
	srv := kubetest.Start(t, &kubetest.Options{
		Objects: []runtime.Object{
			&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "typed", UID: uid}},
			&unstructured.Unstructured{Object: map[string]any{
				"apiVersion": "v1", "kind": "Secret",
				"metadata": map[string]any{"name": "dynamic", "namespace": "made"},
			}},
			&appsv1.Deployment{
				ObjectMeta: metav1.ObjectMeta{Name: "web"},
				Spec: appsv1.DeploymentSpec{
					Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}},
					Template: corev1.PodTemplateSpec{
						ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"a": "b"}},
						Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
					},
				},
				Status: appsv1.DeploymentStatus{Replicas: 3, ReadyReplicas: 3},
			},
			&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
				Name: "going", Finalizers: []string{"example.com/f"}, DeletionTimestamp: &metav1.Time{},
			}},
		},
		YAML: `
apiVersion: v1
kind: ConfigMap
metadata: {name: yaml1}
---
# nothing here
---
{"apiVersion": "v1", "kind": "List", "items": [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "yaml2", "namespace": "later"}}]}
---
apiVersion: v1
kind: Namespace
metadata: {name: later, labels: {a: b}}
---
apiVersion: v1
kind: Namespace
metadata: {name: default, labels: {c: d}}
`,
		Files: fstest.MapFS{
			"a/node.yaml": {Data: []byte("apiVersion: v1\nkind: Node\nmetadata: {name: n1}\n")},
			"a/notes.txt": {Data: []byte("not YAML: [")},
			"cm.json":     {Data: []byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"json"}}`)},
		},
	})
	client := srv.Client()
	var names []string
	for cm, err := range client.All(core.ConfigMaps).Each(ctx, nil) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, cm.Namespace+"/"+cm.Name)
	}
	if diff := cmp.Diff([]string{"default/going", "default/json", "default/typed", "default/yaml1", "later/yaml2"}, names); diff != "" {
		t.Errorf("configmaps (-want +got):\n%s", diff)
	}
	maps := client.Namespaced(core.ConfigMaps, "default")
	if cm, err := maps.Get(ctx, "typed"); err != nil || cm.UID != uid {
		t.Errorf("the uid was not kept: %v, %v", cm, err)
	}
	if cm, err := maps.Get(ctx, "going"); err != nil || cm.DeletionTimestamp == nil {
		t.Errorf("it is not being deleted: %v, %v", cm, err)
	}
	if d, err := client.Namespaced(apps.Deployments, "default").Get(ctx, "web"); err != nil || d.Status.ReadyReplicas != 3 || d.Generation != 1 {
		t.Errorf("the status was not kept: %v, %v", d, err)
	}
	if _, err := client.Namespaced(core.Secrets, "made").Get(ctx, "dynamic"); err != nil {
		t.Error(err)
	}
	if _, err := client.All(core.Nodes).Get(ctx, "n1"); err != nil {
		t.Error(err)
	}
	for name, label := range map[string]string{"default": "c", "later": "a"} {
		if ns, err := client.All(core.Namespaces).Get(ctx, name); err != nil || ns.Labels[label] == "" {
			t.Errorf("namespace %s has not got its label %s: %v, %v", name, label, ns, err)
		}
	}

	var saved strings.Builder
	if err := srv.Save(&saved); err != nil {
		t.Fatal(err)
	}
	again := kubetest.Start(t, &kubetest.Options{YAML: saved.String()})
	var savedAgain strings.Builder
	if err := again.Save(&savedAgain); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(saved.String(), savedAgain.String()); diff != "" {
		t.Errorf("what was saved, loaded and saved again differs:\n%s", diff)
	}
}

// What is being deleted when it is loaded has been so since the time that it says.
func TestPreloadKeepsTheTimeOfADeletion(t *testing.T) {
	at, grace := metav1.NewTime(time.Date(2020, 2, 3, 4, 5, 6, 0, time.UTC)), int64(17)
	meta := metav1.ObjectMeta{Name: "going", Finalizers: []string{"example.com/f"}, DeletionTimestamp: &at}
	pod := &corev1.Pod{ObjectMeta: meta, Spec: corev1.PodSpec{NodeName: "n1", Containers: []corev1.Container{{Name: "c", Image: "i"}}}}
	pod.DeletionGracePeriodSeconds = &grace
	ns := &corev1.Namespace{ObjectMeta: meta}
	srv := kubetest.Start(t, &kubetest.Options{Objects: []runtime.Object{&corev1.ConfigMap{ObjectMeta: meta}, pod, ns}})
	client := srv.Client()
	cm, err := client.Namespaced(core.ConfigMaps, "default").Get(t.Context(), "going")
	if err != nil || !cm.DeletionTimestamp.Equal(&at) || *cm.DeletionGracePeriodSeconds != 0 {
		t.Errorf("the config map: %v, %v", cm, err)
	}
	got, err := client.Namespaced(core.Pods, "default").Get(t.Context(), "going")
	if err != nil || !got.DeletionTimestamp.Equal(&at) || *got.DeletionGracePeriodSeconds != grace {
		t.Errorf("the pod: %v, %v", got, err)
	}
	if got, err := client.All(core.Namespaces).Get(t.Context(), "going"); err != nil || !got.DeletionTimestamp.Equal(&at) {
		t.Errorf("the namespace: %v, %v", got, err)
	}
}

// Custom resources and their definition come together, in whatever order.
func TestPreloadCustomResource(t *testing.T) {
	const definition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  names: {kind: Widget, plural: widgets}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`
	const widget = `
apiVersion: example.com/v1
kind: Widget
metadata: {name: one}
spec: {size: 1}
status: {ready: true}
`
	widgets := resource.Dynamic(resource.Info{Group: "example.com", Version: "v1", Kind: "Widget"}, resource.NamespaceScoped)
	for name, opts := range map[string]*kubetest.Options{
		"one text":       {YAML: definition + "---" + widget},
		"the other way":  {YAML: widget + "---" + definition},
		"files":          {Files: fstest.MapFS{"a.yaml": {Data: []byte(widget)}, "b.yaml": {Data: []byte(definition)}}},
		"text and files": {YAML: widget, Files: fstest.MapFS{"b.yaml": {Data: []byte(definition)}}},
	} {
		t.Run(name, func(t *testing.T) {
			srv := kubetest.Start(t, opts)
			one, err := srv.Client().Namespaced(widgets, "default").Get(t.Context(), "one")
			if err != nil {
				t.Fatal(err)
			}
			if ready, _, _ := unstructured.NestedBool(one.Object, "status", "ready"); !ready {
				t.Errorf("its status is %v", one.Object["status"])
			}
		})
	}
}

func TestPreloadRefusals(t *testing.T) {
	for _, test := range []struct {
		name, want string
		options    kubetest.Options
	}{
		{"no kind", "Options.Objects[0]: a *unstructured.Unstructured does not say what kind it is: set apiVersion and kind",
			kubetest.Options{Objects: []runtime.Object{&unstructured.Unstructured{}}}},
		{"nil", "Options.Objects[1] is nil", kubetest.Options{Objects: []runtime.Object{&corev1.Node{}, nil}}},
		{"unknown kind", `Options.YAML, document 1 (Foo x): the server has no kind example.com/v1, Kind=Foo; a custom resource needs its definition in Options.CRDs, YAML or Files`,
			kubetest.Options{YAML: "apiVersion: example.com/v1\nkind: Foo\nmetadata: {name: x}"}},
		{"invalid", "Options.Objects[0]: ConfigMap \"A\" is invalid: metadata.name",
			kubetest.Options{Objects: []runtime.Object{&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "A"}}}}},
		{"gone", "Options.Objects[0]: it has a deletion timestamp and no finalizers",
			kubetest.Options{Objects: []runtime.Object{&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a", DeletionTimestamp: &metav1.Time{}}}}}},
		{"twice", `Options.YAML, document 2 (ConfigMap a): configmaps "a" already exists`,
			kubetest.Options{YAML: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}"}},
		{"no YAML", "Options.Files: a.yaml, document 1: yaml:",
			kubetest.Options{Files: fstest.MapFS{"a.yaml": {Data: []byte("a: [")}}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			srv, err := kubetest.NewServer(&test.options)
			if err == nil {
				srv.Close()
				t.Fatal("no error")
			}
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("the error is %q, want it to have %q", err, test.want)
			}
		})
	}
}
