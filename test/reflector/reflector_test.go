// Package reflector_test runs watchers and reflectors against a real API server and kubetest.
package reflector_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/k8s/apiextensions"
	"github.com/go-kube/kube/k8s/core"
	"github.com/go-kube/kube/resource"
	"github.com/go-kube/kube/runtime/reflector"
	"github.com/go-kube/kube/runtime/watcher"
	"github.com/go-kube/kube/test/apiserver"
	"github.com/go-kube/kube/test/servers"
)

func TestMain(m *testing.M) { servers.Main(m) }

// patience bounds what a test waits for.
const patience = 2 * time.Minute

func connect(t *testing.T) (*kube.Client, string) {
	t.Helper()
	server := servers.Shared(t)
	return apiserver.NewClient(t, server), server.NewNamespace(t)
}

func patiently(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

// run runs r until the test ends.
func run[K any](t *testing.T, r *reflector.Reflector[K]) reflector.Store[K] {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- r.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
	return r.Store()
}

// versions returns the versions of the objects of a store by name.
func versions[K any](store reflector.Store[K]) map[string]string {
	m := map[string]string{}
	for lazy := range store.All() {
		m[lazy.Name()] = lazy.ResourceVersion()
	}
	return m
}

// listed returns the versions of the config maps that the server lists, and the list's own.
func listed(t *testing.T, api kube.API[corev1.ConfigMap]) (map[string]string, string) {
	t.Helper()
	list, err := api.List(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	m := map[string]string{}
	for _, o := range list.Items {
		m[o.Name] = o.ResourceVersion
	}
	return m, list.ResourceVersion
}

func configMap(name, value string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string]string{"key": value}}
}

// Every way to take a snapshot gives the same: streaming lists and pages, protobuf, JSON and
// metadata alone.
func TestSnapshotsAgree(t *testing.T) {
	client, namespace := connect(t)
	api := client.Namespaced(core.ConfigMaps, namespace)
	for i := range 50 {
		if _, err := api.Create(t.Context(), configMap(fmt.Sprint("c", i), "v"), nil); err != nil {
			t.Fatal(err)
		}
	}
	dynamic := resource.Dynamic(core.ConfigMaps.Descriptor().Info, resource.NamespaceScoped)
	want, _ := listed(t, api)
	for name, options := range map[string]watcher.Options{
		"auto":           {},
		"streaming list": {InitialList: watcher.StreamingList},
		"pages":          {InitialList: watcher.ListWatch, PageSize: 7},
		"one piece":      {InitialList: watcher.ListWatch, PageSize: -1},
		"any version":    {InitialList: watcher.ListWatch, AnyVersion: true},
	} {
		t.Run(name, func(t *testing.T) {
			options.OnError = func(err error) { t.Errorf("watch: %v", err) }
			agree(t, api, options, want)
			agree(t, client.Namespaced(core.ConfigMaps.Metadata(), namespace), options, want)
			agree(t, client.Namespaced(dynamic, namespace), options, want)
		})
	}
	if api.Endpoint().StreamingListsFailed() {
		t.Error("the streaming lists of this server did not work")
	}
}

func agree[K any](t *testing.T, api kube.API[K], options watcher.Options, want map[string]string) {
	t.Helper()
	store := run(t, reflector.New(api, &reflector.Options{Watch: options}))
	if err := store.WaitReady(patiently(t)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, versions(store)); diff != "" {
		t.Errorf("store of %T (-server +store):\n%s", api, diff)
	}
	for lazy := range store.All() {
		if _, err := lazy.Decode(); err != nil {
			t.Error(err)
		}
	}
}

// The store follows random writes, and WaitFor tells when it has caught up.
func TestStoreFollowsTheServer(t *testing.T) {
	client, namespace := connect(t)
	api := client.Namespaced(core.ConfigMaps, namespace)
	byValue := reflector.NewIndex(func(o *corev1.ConfigMap) []string { return []string{o.Data["key"]} })
	r := reflector.New(api, nil)
	r.Index(byValue)
	store := run(t, r)
	ctx := patiently(t)
	for i := range 200 {
		name := fmt.Sprint("c", rand.IntN(20))
		var err error
		if i%3 == 2 {
			err = api.Delete(ctx, name, nil)
		} else {
			_, err = api.Apply(ctx, configMap(name, fmt.Sprint(i%5)), "test", nil)
		}
		if err != nil && !isNotFound(err) {
			t.Fatal(err)
		}
	}
	want, version := listed(t, api)
	last, err := api.Create(ctx, configMap("last", "x"), nil) // something later than the list
	if err != nil {
		t.Fatal(err)
	}
	want["last"] = last.ResourceVersion
	if err := store.WaitFor(ctx, last.ResourceVersion); err != nil {
		t.Fatal(err)
	}
	if err := store.WaitFor(ctx, version); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, versions(store)); diff != "" {
		t.Errorf("store (-server +store):\n%s", diff)
	}
	indexed := 0
	for _, value := range []string{"0", "1", "2", "3", "4", "x"} {
		for range byValue.Lookup(store, value) {
			indexed++
		}
	}
	if indexed != len(want) {
		t.Errorf("the index has %d objects, want %d", indexed, len(want))
	}
}

func isNotFound(err error) bool { return errors.Is(err, kube.ErrNotFound) }

// A reflector of a kind that is installed later waits for it.
func TestKindIsInstalledLater(t *testing.T) {
	client, namespace := connect(t)
	group := namespace + ".example.com" // of this test alone
	kind := resource.Dynamic(resource.Info{Group: group, Version: "v1", Kind: "Gadget", Plural: "gadgets"}, resource.NamespaceScoped)
	api := client.Namespaced(kind, namespace)
	waiting := make(chan error, 1)
	r := reflector.New(api, &reflector.Options{Watch: watcher.Options{OnError: func(err error) {
		select {
		case waiting <- err:
		default:
		}
	}}})
	store := run(t, r)
	if err := <-waiting; !isNotFound(err) {
		t.Fatalf("got %v, want the kind to be missing", err)
	}
	if phase := r.State().Phase; phase != watcher.WaitingForKind {
		t.Errorf("got phase %s, want WaitingForKind", phase)
	}

	ctx := patiently(t)
	definitions := client.All(apiextensions.CustomResourceDefinitions)
	definition, err := definitions.Create(ctx, gadgets(group), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { definitions.Delete(context.Background(), definition.Name, nil) })
	if err := store.WaitReady(ctx); err != nil {
		t.Fatal(err)
	}
	gadget := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": group + "/v1", "kind": "Gadget", "metadata": map[string]any{"name": "g"}, "spec": map[string]any{"size": int64(3)},
	}}
	created, err := api.Create(ctx, gadget, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := store.WaitFor(ctx, created.GetResourceVersion()); err != nil {
		t.Fatal(err)
	}
	got, err := store.Get(resource.Ref[unstructured.Unstructured]{Namespace: namespace, Name: "g"})
	if err != nil {
		t.Fatal(err)
	}
	if size, _, _ := unstructured.NestedInt64(got.Object, "spec", "size"); size != 3 {
		t.Errorf("got %v, want size 3", got.Object)
	}
}

func gadgets(group string) *apiextensionsv1.CustomResourceDefinition {
	preserve := true
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "gadgets." + group},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: group, Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "gadgets", Singular: "gadget", Kind: "Gadget", ListKind: "GadgetList"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
					Type: "object", XPreserveUnknownFields: &preserve,
				}},
			}},
		},
	}
}
