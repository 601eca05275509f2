// Package controller_test runs controllers against a real API server and kubetest.
package controller_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/k8s/core"
	"github.com/go-kube/kube/runtime/controller"
	"github.com/go-kube/kube/runtime/watcher"
	"github.com/go-kube/kube/test/apiserver"
	"github.com/go-kube/kube/test/servers"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestMain(m *testing.M) { servers.Main(m) }

// patience bounds what a test waits for.
const patience = 4 * time.Minute

func connect(t *testing.T, server servers.Server, wrap ...func(http.RoundTripper) http.RoundTripper) *kube.Client {
	t.Helper()
	return apiserver.NewClient(t, server, func(cfg *kube.Config) { cfg.Wrap = append(cfg.Wrap, wrap...) })
}

// run runs controllers until the test ends.
func run(t *testing.T, controllers ...interface{ Run(context.Context) error }) {
	ctx, stop := context.WithCancel(context.Background())
	var group sync.WaitGroup
	for _, ctl := range controllers {
		group.Go(func() {
			if err := ctl.Run(ctx); err != nil {
				t.Errorf("Run: %v", err)
			}
		})
	}
	t.Cleanup(func() {
		stop()
		group.Wait()
	})
}

// await follows the object called name until ok holds for it; nil is an object that is gone.
func await[K any](t *testing.T, api kube.API[K], name string, ok func(*K) bool) *K {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var last *K
	for lazy, present := range watcher.Object(ctx, api, name, nil) {
		last = nil
		if present {
			obj, err := lazy.Decode()
			if err != nil {
				t.Fatal(err)
			}
			last = obj
		}
		if ok(last) {
			return last
		}
	}
	t.Fatalf("%s did not get as expected; last seen as %+v", name, last)
	return nil
}

func create[K any](t *testing.T, api kube.API[K], obj *K) *K {
	t.Helper()
	created, err := api.Create(t.Context(), obj, nil)
	if err != nil {
		t.Fatal(err)
	}
	return created
}

// recorder counts what reconcilers did.
type recorder struct {
	mu    sync.Mutex
	calls map[string]int
}

func (r *recorder) add(what string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.calls == nil {
		r.calls = map[string]int{}
	}
	r.calls[what]++
}

func (r *recorder) count(what string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.calls[what]
}

// Five controllers put their finalizers on one object at the same time. The API server keeps
// duplicates and lost updates alike if it is asked to, so all depends on the tests in the patches.
func TestSeveralFinalizersOnOneObject(t *testing.T) {
	server := servers.Shared(t)
	client := connect(t, server)
	maps := client.Namespaced(core.ConfigMaps, server.NewNamespace(t))
	var did recorder
	names := []string{"example.com/a", "example.com/b", "example.com/c", "example.com/d", "example.com/e"}
	for _, name := range names {
		note := func(what string) func(context.Context, *corev1.ConfigMap) (controller.Action, error) {
			return func(_ context.Context, m *corev1.ConfigMap) (controller.Action, error) {
				if !slices.Contains(m.Finalizers, name) {
					t.Errorf("%s without the finalizer %s", what, name)
				}
				did.add(what + " " + name)
				return controller.Await(), nil
			}
		}
		ctl := controller.New(maps, controller.Finalize(maps, name, note("apply"), note("cleanup")),
			&controller.Options{Name: name, Watch: watcher.Options{Labels: "finalized"}})
		ctl.Filter(controller.Or(controller.Generation(), controller.Finalizers()))
		run(t, ctl)
	}
	create(t, maps, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "m", Labels: map[string]string{"finalized": ""}}})
	await(t, maps, "m", func(m *corev1.ConfigMap) bool { return m != nil && len(m.Finalizers) >= len(names) })
	full, err := maps.Get(t.Context(), "m")
	if err != nil {
		t.Fatal(err)
	}
	if got := slices.Sorted(slices.Values(full.Finalizers)); !slices.Equal(got, names) {
		t.Errorf("finalizers %q, want each of %q once", got, names)
	}
	if err := maps.Delete(t.Context(), "m", nil); err != nil {
		t.Fatal(err)
	}
	await(t, maps, "m", func(m *corev1.ConfigMap) bool { return m == nil })
	for _, name := range names {
		if did.count("cleanup "+name) == 0 {
			t.Errorf("the cleanup of %s was not called", name)
		}
	}
}

func TestFinalizerKeepsAnObjectUntilCleanupSucceeds(t *testing.T) {
	server := servers.Shared(t)
	client := connect(t, server)
	maps := client.Namespaced(core.ConfigMaps, server.NewNamespace(t))
	var did recorder
	apply := func(context.Context, *corev1.ConfigMap) (controller.Action, error) {
		did.add("apply")
		return controller.Await(), nil
	}
	cleanup := func(_ context.Context, m *corev1.ConfigMap) (controller.Action, error) {
		did.add("cleanup")
		if _, err := maps.Get(context.Background(), m.Name); err != nil {
			t.Errorf("the object is gone while it is cleaned up: %v", err)
		}
		switch did.count("cleanup") {
		case 1:
			return controller.Await(), errors.New("not yet")
		case 2:
			return controller.After(time.Millisecond), nil
		}
		return controller.Await(), nil
	}
	create(t, maps, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "m", Labels: map[string]string{"finalized": ""}}})
	run(t, controller.New(maps, controller.Finalize(maps, "example.com/x", apply, cleanup),
		&controller.Options{Watch: watcher.Options{Labels: "finalized"}}))
	await(t, maps, "m", func(m *corev1.ConfigMap) bool { return m != nil && len(m.Finalizers) == 1 })
	if err := maps.Delete(t.Context(), "m", nil); err != nil {
		t.Fatal(err)
	}
	await(t, maps, "m", func(m *corev1.ConfigMap) bool { return m == nil })
	if n := did.count("cleanup"); n < 3 {
		t.Errorf("cleanup was called %d times, want it called until it was done", n)
	}
}

// mirror returns a controller that keeps a Secret for each labelled ConfigMap.
func mirror(client *kube.Client, namespace string) *controller.Controller[corev1.ConfigMap] {
	secrets := client.Namespaced(core.Secrets, namespace)
	ctl := controller.New(client.Namespaced(core.ConfigMaps, namespace), func(ctx context.Context, m *corev1.ConfigMap) (controller.Action, error) {
		_, err := secrets.Apply(ctx, &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Name: m.Name, OwnerReferences: []metav1.OwnerReference{core.ConfigMaps.ControllerOwner(m)}},
			StringData: m.Data,
		}, "mirror", nil)
		return controller.Await(), err
	}, &controller.Options{Watch: watcher.Options{Labels: "mirrored"}})
	ctl.Owns(client.Namespaced(core.Secrets, namespace))
	return ctl
}

func TestOwnedObjectIsMadeAgain(t *testing.T) {
	server := servers.Shared(t)
	client := connect(t, server)
	ns := server.NewNamespace(t)
	maps, secrets := client.Namespaced(core.ConfigMaps, ns), client.Namespaced(core.Secrets, ns)
	run(t, mirror(client, ns))
	create(t, maps, mirrored("m", "1"))
	first := await(t, secrets, "m", present("1"))
	if err := secrets.Delete(t.Context(), "m", nil); err != nil {
		t.Fatal(err)
	}
	again := await(t, secrets, "m", func(s *corev1.Secret) bool { return s != nil && s.UID != first.UID })
	if _, err := secrets.Patch(t.Context(), "m", kube.MergePatch(map[string]any{"data": map[string]any{"v": "AAAA"}}), nil); err != nil {
		t.Fatal(err)
	}
	if healed := await(t, secrets, "m", present("1")); healed.UID != again.UID {
		t.Error("the Secret was made anew, not healed")
	}
}

func mirrored(name, value string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"mirrored": ""}},
		Data:       map[string]string{"v": value},
	}
}

func present(value string) func(*corev1.Secret) bool {
	return func(s *corev1.Secret) bool { return s != nil && string(s.Data["v"]) == value }
}
