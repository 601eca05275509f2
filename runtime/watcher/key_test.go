package watcher_test

import (
	"log/slog"
	"testing"
	"time"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/k8s/core"
	"github.com/go-kube/kube/resource"
	"github.com/go-kube/kube/runtime/watcher"
)

func TestKeySaysWhatIsWatched(t *testing.T) {
	client, err := kube.NewClient(&kube.Config{Server: "http://unused.invalid"})
	if err != nil {
		t.Fatal(err)
	}
	pods := client.All(core.Pods).Endpoint()
	key := func(endpoint kube.Endpoint, opts *watcher.Options) watcher.Key {
		return watcher.NewEngine(endpoint, opts).Key()
	}
	plain := key(pods, nil)
	same := map[string]watcher.Key{
		"again":        key(client.All(core.Pods).Endpoint(), &watcher.Options{}),
		"the defaults": key(pods, &watcher.Options{PageSize: 500, Timeout: 290 * time.Second}),
		"who is told":  key(pods, &watcher.Options{OnError: func(error) {}, Logger: slog.New(slog.DiscardHandler)}),
	}
	for name, k := range same {
		if k != plain {
			t.Errorf("%s: got %+v, want %+v", name, k, plain)
		}
	}
	if a, b := key(pods, &watcher.Options{Labels: "a=1,b=2"}), key(pods, &watcher.Options{Labels: "b=2, a=1"}); a != b {
		t.Errorf("the order of a selector: %+v is not %+v", a, b)
	}
	dynamic := resource.Dynamic(core.Pods.Descriptor().Info, resource.NamespaceScoped)
	if k := key(client.All(dynamic).Endpoint(), nil); k != plain {
		t.Errorf("the same kind without a type: got %+v, want %+v", k, plain)
	}
	if a, b := key(pods.Metadata(), nil), key(pods.Metadata(), nil); a != b {
		t.Errorf("metadata: %+v is not %+v", a, b)
	}
	misspelt := core.Pods.Descriptor().Info
	misspelt.Kind = "pod"
	seen := map[watcher.Key]string{plain: "pods"}
	for name, k := range map[string]watcher.Key{
		"another kind":     key(client.All(core.Secrets).Endpoint(), nil),
		"another word":     key(client.All(resource.Dynamic(misspelt, resource.NamespaceScoped)).Endpoint(), nil),
		"another scope":    key(client.All(resource.Dynamic(core.Pods.Descriptor().Info, resource.ClusterScoped)).Endpoint(), nil),
		"a namespace":      key(client.Namespaced(core.Pods, "a").Endpoint(), nil),
		"another":          key(client.Namespaced(core.Pods, "b").Endpoint(), nil),
		"metadata":         key(pods.Metadata(), nil),
		"labels":           key(pods, &watcher.Options{Labels: "a=1"}),
		"fields":           key(pods, &watcher.Options{Fields: "spec.nodeName=a"}),
		"the initial list": key(pods, &watcher.Options{InitialList: watcher.ListWatch}),
		"the page size":    key(pods, &watcher.Options{PageSize: 7}),
		"any version":      key(pods, &watcher.Options{AnyVersion: true}),
	} {
		if other, known := seen[k]; known {
			t.Errorf("%s has the key of %s: %+v", name, other, k)
		}
		seen[k] = name
	}
}
