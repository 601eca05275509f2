package reflector_test

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/k8s/apiextensions"
	"github.com/go-kube/kube/resource"
	"github.com/go-kube/kube/runtime/reflector"
	"github.com/go-kube/kube/runtime/watcher"
	"github.com/go-kube/kube/test/apiserver"
	"github.com/go-kube/kube/test/servers"
)

// switchable is a connection that can be down.
type switchable struct {
	http.RoundTripper
	down atomic.Bool
}

func (s *switchable) RoundTrip(req *http.Request) (*http.Response, error) {
	if s.down.Load() {
		return nil, errors.New("the network is down")
	}
	return s.RoundTripper.RoundTrip(req)
}

// connectSwitchable is connect with a connection that can be down.
func connectSwitchable(t *testing.T) (*kube.Client, *switchable) {
	t.Helper()
	line := &switchable{}
	wrap := func(next http.RoundTripper) http.RoundTripper {
		line.RoundTripper = next
		return line
	}
	return apiserver.NewClient(t, servers.Shared(t), func(cfg *kube.Config) { cfg.Wrap = append(cfg.Wrap, wrap) }), line
}

// A definition is deleted while the reflector cannot see it: its objects leave the store, once it
// is certain that the kind is gone, and come back with it.
func TestKindIsRemoved(t *testing.T) {
	client, namespace := connect(t)
	away, line := connectSwitchable(t)
	group := namespace + ".example.com" // of this test alone
	kind := resource.Dynamic(resource.Info{Group: group, Version: "v1", Kind: "Gadget", Plural: "gadgets"}, resource.NamespaceScoped)
	ctx := patiently(t)
	definitions := client.All(apiextensions.CustomResourceDefinitions)
	failures := make(chan error, 1000)
	r := reflector.New(away.Namespaced(kind, namespace), &reflector.Options{Watch: watcher.Options{
		Timeout: time.Second, MaxBackoff: time.Second,
		OnError: func(err error) { failures <- err },
	}})
	store := run(t, r)
	changes := make(chan string, 1000)
	go func() {
		for change := range r.Changes(ctx) {
			name := change.Object.Name()
			if change.Deleted {
				name = "-" + name
			}
			changes <- name
		}
	}()
	install := func(name string) {
		t.Helper()
		definition, err := definitions.Create(ctx, gadgets(group), nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { definitions.Delete(context.Background(), definition.Name, nil) })
		established(ctx, t, client.Namespaced(kind, namespace), &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": group + "/v1", "kind": "Gadget", "metadata": map[string]any{"name": name}, "spec": map[string]any{"size": int64(3)},
		}})
		if got := <-changes; got != name {
			t.Fatalf("the store has %q, want %q", got, name)
		}
	}
	install("one")

	line.down.Store(true)
	for err := range failures {
		if !isNotFound(err) {
			break // the watch has ended, and the next does not begin
		}
	}
	if err := definitions.DeleteAndWait(ctx, "gadgets."+group, nil); err != nil {
		t.Fatal(err)
	}
	line.down.Store(false)
	for err := range failures {
		if errors.Is(err, watcher.ErrNotServed) {
			break
		}
	}
	if got := <-changes; got != "-one" {
		t.Fatalf("the change is %q, want that one is gone", got)
	}
	if state := r.State(); store.Len() != 0 || state.Phase != watcher.WaitingForKind || !errors.Is(state.LastError, watcher.ErrNotServed) {
		t.Errorf("%d objects, state %+v", store.Len(), state)
	}
	install("two")
}

// established creates obj as soon as the server takes objects of its kind.
func established(ctx context.Context, t *testing.T, api kube.API[unstructured.Unstructured], obj *unstructured.Unstructured) {
	t.Helper()
	w := watcher.New(api, &watcher.Options{MaxBackoff: time.Second})
	for event := range w.Events(ctx) {
		if event.Type == watcher.InitDone {
			break
		}
	}
	if _, err := api.Create(ctx, obj, nil); err != nil {
		t.Fatal(err)
	}
}
