package resource_test

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/go-kube/kube/internal/wire"
	"github.com/go-kube/kube/k8s/apps"
	"github.com/go-kube/kube/k8s/core"
	"github.com/go-kube/kube/resource"
)

// inEnvelope returns a protobuf body as a server sends it.
func inEnvelope(kind string, message []byte) []byte {
	envelope := runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: "v1", Kind: kind}, Raw: message}
	return append([]byte("k8s\x00"), must(envelope.Marshal())...)
}

// TestDecodeTypes: whatever the bytes say, the type is that of the descriptor.
func TestDecodeTypes(t *testing.T) {
	pod := newPod()
	partial := metav1.PartialObjectMetadata{ObjectMeta: pod.ObjectMeta}
	partialJSON := []byte(`{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":` + string(must(json.Marshal(pod.ObjectMeta))) + `}`)
	withoutType := newPod()
	withoutType.TypeMeta = metav1.TypeMeta{}
	itemJSON := must(json.Marshal(withoutType))
	metadata := core.Pods.Metadata().Descriptor()

	t.Run("protobuf", func(t *testing.T) {
		checkDecode(t, core.Pods.Descriptor(), inEnvelope("Pod", must(pod.Marshal())), pod)
	})
	t.Run("JSON item", func(t *testing.T) { checkDecode(t, core.Pods.Descriptor(), itemJSON, pod) })
	t.Run("metadata in protobuf", func(t *testing.T) {
		want := &resource.Metadata[corev1.Pod]{TypeMeta: pod.TypeMeta, ObjectMeta: pod.ObjectMeta}
		checkDecode(t, metadata, inEnvelope("PartialObjectMetadata", must(partial.Marshal())), want)
	})
	t.Run("metadata in JSON", func(t *testing.T) {
		want := &resource.Metadata[corev1.Pod]{TypeMeta: pod.TypeMeta, ObjectMeta: pod.ObjectMeta}
		checkDecode(t, metadata, partialJSON, want)
	})
	t.Run("group", func(t *testing.T) {
		raw := must(resource.ParseRaw(apps.Deployments.Descriptor(), []byte(`{"metadata":{"name":"a"}}`)))
		if got := must(resource.AsLazy[unstructured.Unstructured](raw).Decode()); got.GetAPIVersion() != "apps/v1" || got.GetKind() != "Deployment" {
			t.Errorf("%s %s", got.GetAPIVersion(), got.GetKind())
		}
	})
	t.Run("custom resource", func(t *testing.T) {
		want := resource.New(WebApps, "hello", WebAppSpec{Image: "nginx", Replicas: 3})
		checkDecode(t, WebApps.Descriptor(), []byte(`{"metadata":{"name":"hello"},"spec":{"image":"nginx","replicas":3,"unknown":true}}`), want)
	})
	t.Run("dynamic", func(t *testing.T) {
		gadgets := resource.Dynamic(resource.Info{Group: "example.com", Version: "v1", Kind: "Gadget"}, resource.NamespaceScoped)
		want := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "example.com/v1", "kind": "Gadget", "metadata": map[string]any{"name": "g"},
			"spec": map[string]any{"whole": int64(9007199254740993), "part": 1.5, "exponent": 1e3, "list": []any{nil, true, "x"}},
		}}
		checkDecode(t, gadgets.Descriptor(), []byte(`{"metadata":{"name":"g"},"spec":{"whole":9007199254740993,"part":1.5,"exponent":1e3,"list":[null,true,"x"]}}`), want)
	})
}

func checkDecode[K any](t *testing.T, d *resource.Descriptor, data []byte, want *K) {
	t.Helper()
	lazy := resource.AsLazy[K](must(resource.ParseRaw(d, data)))
	got, err := lazy.Decode()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestDecodeIsPrivate: what a caller does to a decoded object is seen by no other.
func TestDecodeIsPrivate(t *testing.T) {
	for _, d := range []*resource.Descriptor{core.Pods.Descriptor(), podsJSON.Descriptor()} {
		lazy := resource.AsLazy[corev1.Pod](must(resource.EncodeRaw(d, newPod())))
		var group sync.WaitGroup
		for range 4 {
			group.Go(func() {
				pod := must(lazy.Decode())
				pod.Labels["app"] = "changed"
				pod.OwnerReferences[0].Name = "changed"
				pod.Spec.Containers[0].Image = "changed"
				*pod.OwnerReferences[0].Controller = false
				lazy.Labels()["app"] = "changed"
				lazy.Finalizers()[0] = "changed"
				*lazy.OwnerReferences()[0].Controller = false
			})
		}
		group.Wait()
		if diff := cmp.Diff(newPod(), must(lazy.Decode())); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if ref := lazy.Ref(); ref != (resource.Ref[corev1.Pod]{Namespace: "default", Name: "web-0"}) {
			t.Errorf("ref %s", ref)
		}
	}
}

func TestDecodeFails(t *testing.T) {
	lazy := resource.AsLazy[WebApp](must(resource.ParseRaw(WebApps.Descriptor(), []byte(`{"metadata":{"name":"hello","namespace":"default"},"spec":{"replicas":"three"}}`))))
	_, err := lazy.Decode()
	if want := `decode WebApp default/hello: `; err == nil || len(err.Error()) <= len(want) || err.Error()[:len(want)] != want {
		t.Errorf("got %v, want %s…", err, want)
	}
	gadgets := resource.Dynamic(resource.Info{Version: "v1", Kind: "Pod"}, resource.NamespaceScoped)
	raw := must(resource.ParseRaw(gadgets.Descriptor(), inEnvelope("Pod", must(newPod().Marshal()))))
	if _, err := resource.AsLazy[unstructured.Unstructured](raw).Decode(); err == nil {
		t.Error("protobuf decodes into an unstructured object")
	}
	if _, err := (resource.Lazy[corev1.Pod]{}).Decode(); err == nil || err.Error() != "decode: there is no object" {
		t.Errorf("zero Lazy: %v", err)
	}
}

// TestDecodeBroken: an object whose metadata is broken says so, with the name that could be read.
func TestDecodeBroken(t *testing.T) {
	lazy := resource.AsLazy[corev1.Pod](broken(t, `{"metadata":{"name":"web-0","namespace":"default","labels":5}}`))
	want := "Pod default/web-0: metadata.labels is a number, not an object"
	if err := lazy.Err(); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if _, err := lazy.Decode(); err == nil || err.Error() != "decode "+want {
		t.Errorf("got %v, want decode %s", err, want)
	}
}

// broken returns an object as a list hands it over.
func broken(t *testing.T, item string) (raw *resource.Raw) {
	t.Helper()
	_, err := wire.ReadList(strings.NewReader(`{"items":[`+item+`]}`), wire.JSON, nil, func(o wire.Object) error {
		raw = resource.NewRaw(podsJSON.Descriptor(), o)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return raw
}
