package kubetest_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/k8s/core"
	"github.com/go-kube/kube/kubetest"
	"github.com/go-kube/kube/resource"
	"github.com/go-kube/kube/runtime/reflector"
)

// appConfig is a ConfigMap without its binary data.
type appConfig struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Data      map[string]string `json:"data,omitempty"`
	Immutable *bool             `json:"immutable,omitempty"`
}

var appConfigs = resource.Partial[appConfig](core.ConfigMaps)

// nodeAddress is a Node of which only an address matters.
type nodeAddress struct {
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Status struct {
		Addresses []struct {
			Address string `json:"address"`
		} `json:"addresses,omitempty"`
	} `json:"status,omitzero"`
}

var nodeAddresses = resource.PartialCluster[nodeAddress](core.Nodes)

// TestPartialWrites checks that what the partial type has no field for stays as it is.
func TestPartialWrites(t *testing.T) {
	ctx := t.Context()
	client := kubetest.Start(t, nil).Client()
	whole, parts := client.Namespaced(core.ConfigMaps, "default"), client.Namespaced(appConfigs, "default")
	binary := map[string][]byte{"key": {1, 2, 3}}
	if _, err := whole.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a"}, BinaryData: binary, Data: map[string]string{"x": "1"}}, nil); err != nil {
		t.Fatal(err)
	}
	got, err := parts.Get(ctx, "a")
	if err != nil || got.Data["x"] != "1" || got.Kind != "ConfigMap" || got.APIVersion != "v1" {
		t.Fatalf("got %+v, %v", got, err)
	}
	if _, err := parts.Apply(ctx, &appConfig{ObjectMeta: metav1.ObjectMeta{Name: "a"}, Data: map[string]string{"y": "2"}}, "test", nil); err != nil {
		t.Fatal(err)
	}
	if _, err := parts.Patch(ctx, "a", kube.MergePatch(map[string]any{"data": map[string]string{"z": "3"}}), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := parts.Replace(ctx, got, nil); err == nil || !strings.Contains(err.Error(), "would remove the fields that the type lacks; use Patch or Apply") {
		t.Errorf("got %v", err)
	}
	if _, err := parts.Create(ctx, &appConfig{ObjectMeta: metav1.ObjectMeta{Name: "b"}, Immutable: new(true)}, nil); err != nil {
		t.Fatal(err)
	}
	a, err := whole.Get(ctx, "a")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(binary, a.BinaryData); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if diff := cmp.Diff(map[string]string{"x": "1", "y": "2", "z": "3"}, a.Data); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	list, err := parts.List(ctx, nil)
	if err != nil || len(list.Items) != 2 || list.Items[1].Immutable == nil || !*list.Items[1].Immutable {
		t.Errorf("got %+v, %v", list, err)
	}
}

// TestPartialCluster reads a cluster-scoped kind with a type that has no TypeMeta.
func TestPartialCluster(t *testing.T) {
	ctx := t.Context()
	client := kubetest.Start(t, nil).Client()
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}}
	if _, err := client.All(core.Nodes).Create(ctx, node, nil); err != nil {
		t.Fatal(err)
	}
	status := kube.MergePatch(map[string]any{"status": corev1.NodeStatus{Addresses: []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: "10.0.0.1"}}}})
	nodes := client.All(nodeAddresses)
	got, err := nodes.Status().Patch(ctx, "n", status, nil)
	if err != nil || len(got.Status.Addresses) != 1 || got.Status.Addresses[0].Address != "10.0.0.1" {
		t.Errorf("got %+v, %v", got, err)
	}
	if _, err := nodes.Status().Replace(ctx, got, nil); err == nil || !strings.Contains(err.Error(), "resource.Partial") {
		t.Errorf("got %v", err)
	}
}

// TestPartialStore watches with the partial type: the store follows, and keeps only its fields
// when it is told to.
func TestPartialStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		client := kubetest.Start(t, nil).Client()
		large := map[string][]byte{"large": make([]byte, 10_000)}
		maps := client.Namespaced(core.ConfigMaps, "default")
		if _, err := maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a"}, BinaryData: large, Data: map[string]string{"x": "1"}}, nil); err != nil {
			t.Fatal(err)
		}
		r := reflector.New(client.All(appConfigs), nil)
		r.Modify(func(*appConfig) {})
		go func() { _ = r.Run(ctx) }()
		if err := r.Store().WaitReady(ctx); err != nil {
			t.Fatal(err)
		}
		ref := resource.Ref[appConfig]{Namespace: "default", Name: "a"}
		got, err := r.Store().Get(ref)
		if err != nil || got.Data["x"] != "1" {
			t.Errorf("got %+v, %v", got, err)
		}
		if lazy, ok := r.Store().Lazy(ref); !ok || lazy.Size() > 2_000 {
			t.Errorf("the store keeps %d bytes", lazy.Size())
		}
		if _, err := maps.Patch(ctx, "a", kube.MergePatch(map[string]any{"data": map[string]string{"x": "2"}}), nil); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if got, err := r.Store().Get(ref); err != nil || got.Data["x"] != "2" {
			t.Errorf("got %+v, %v", got, err)
		}
	})
}
