package resource_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/go-kube/kube/k8s/core"
	"github.com/go-kube/kube/resource"
)

const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// podsJSON are pods of which the client was told that the server has no protobuf.
var podsJSON = resource.DefineNamespaced[corev1.Pod](resource.Info{Version: "v1", Kind: "Pod"})

// newPod returns a pod with everything in its metadata.
func newPod() *corev1.Pod {
	created, deleted := metav1.Unix(1700000000, 0), metav1.Unix(1700000001, 0)
	return &corev1.Pod{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "default", Name: "web-0", UID: "u-1", ResourceVersion: "7", Generation: 3,
			CreationTimestamp: created, DeletionTimestamp: &deleted,
			Labels: map[string]string{"app": "web"}, Annotations: map[string]string{"note": "x"},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "StatefulSet", Name: "web", UID: "u-0", Controller: new(true)}},
			Finalizers:      []string{"example.com/x"},
		},
		Spec: corev1.PodSpec{NodeName: "node-1", Containers: []corev1.Container{{Name: "web", Image: "nginx"}}},
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func TestRaw(t *testing.T) {
	for _, d := range []*resource.Descriptor{core.Pods.Descriptor(), podsJSON.Descriptor()} {
		t.Run(fmt.Sprintf("protobuf=%v", d.Protobuf), func(t *testing.T) {
			pod := newPod()
			raw := must(resource.EncodeRaw(d, pod))
			deleted := raw.DeletionTimestamp()
			got := metav1.ObjectMeta{
				Namespace: raw.Namespace(), Name: raw.Name(), UID: raw.UID(), ResourceVersion: raw.ResourceVersion(), Generation: raw.Generation(),
				CreationTimestamp: raw.CreationTimestamp(), DeletionTimestamp: deleted, Labels: raw.Labels(), Annotations: raw.Annotations(),
				OwnerReferences: raw.OwnerReferences(), Finalizers: raw.Finalizers(),
			}
			if diff := cmp.Diff(pod.ObjectMeta, got); diff != "" {
				t.Errorf("metadata (-want +got):\n%s", diff)
			}
			if raw.Descriptor() != d || raw.IsProtobuf() != d.Protobuf || raw.String() != "Pod default/web-0" || raw.Err() != nil {
				t.Errorf("descriptor %v, protobuf %v, %s, %v", raw.Descriptor(), raw.IsProtobuf(), raw, raw.Err())
			}
			app, ok := raw.Label("app")
			_, none := raw.Label("tier")
			note, noted := raw.Annotation("note")
			if app != "web" || !ok || none || note != "x" || !noted {
				t.Errorf("app=%q %v, tier %v, note=%q %v", app, ok, none, note, noted)
			}
			if n := len(raw.Bytes()); raw.Size() <= n || raw.Size() > n+150 {
				t.Errorf("size %d for %d bytes", raw.Size(), n)
			}
		})
	}
}

// TestRawWithoutMetadata asks for what is not there.
func TestRawWithoutMetadata(t *testing.T) {
	for _, d := range []*resource.Descriptor{core.Nodes.Descriptor(), podsJSON.Descriptor()} {
		raw := must(resource.ParseRaw(d, []byte(`{"metadata":{"name":"a"}}`)))
		if raw.Namespace() != "" || raw.UID() != "" || raw.Labels() != nil || raw.Annotations() != nil || raw.OwnerReferences() != nil ||
			raw.Finalizers() != nil || raw.DeletionTimestamp() != nil || !raw.CreationTimestamp().Time.IsZero() || raw.Generation() != 0 {
			t.Errorf("%s has metadata out of nowhere", raw)
		}
		if want := d.Kind + " a"; raw.String() != want {
			t.Errorf("%s, want %s", raw, want)
		}
	}
}

func TestRawSameContent(t *testing.T) {
	d := core.Pods.Descriptor()
	one, two := must(resource.EncodeRaw(d, newPod())), must(resource.EncodeRaw(d, newPod()))
	changed := newPod()
	changed.ResourceVersion = "8"
	other := must(resource.EncodeRaw(d, changed))
	asJSON := must(resource.EncodeRaw(podsJSON.Descriptor(), newPod()))
	var none *resource.Raw
	for _, test := range []struct {
		a, b *resource.Raw
		want bool
	}{{one, one, true}, {one, two, true}, {one, other, false}, {one, asJSON, false}, {one, none, false}, {none, one, false}, {none, none, true}} {
		if got := test.a.SameContent(test.b); got != test.want {
			t.Errorf("%s and %s: %v", test.a, test.b, got)
		}
	}
}

// TestEncodeRaw: what is left out of what servers send is left out here too, and nothing of the
// object is shared.
func TestEncodeRaw(t *testing.T) {
	pod := newPod()
	pod.Annotations[lastApplied] = "{}"
	pod.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubectl"}}
	raw := must(resource.EncodeRaw(core.Pods.Descriptor(), pod))
	pod.Labels["app"] = "changed"
	pod.Spec.NodeName = "changed"
	got := must(resource.AsLazy[corev1.Pod](raw).Decode())
	if diff := cmp.Diff(newPod(), got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}

	app := resource.New(WebApps, "hello", WebAppSpec{Image: "nginx"})
	if got := string(must(resource.EncodeRaw(WebApps.Descriptor(), app)).Bytes()); !strings.HasPrefix(got, `{"kind":"WebApp","apiVersion":"example.com/v1","metadata":{"name":"hello"`) {
		t.Errorf("bytes %s", got)
	}
	gadgets := resource.Dynamic(resource.Info{Group: "example.com", Version: "v1", Kind: "Gadget"}, resource.NamespaceScoped)
	gadget := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "g"}}}
	if got := must(resource.EncodeRaw(gadgets.Descriptor(), gadget)); got.Name() != "g" {
		t.Errorf("name %q", got.Name())
	}
}

func TestEncodeRawFails(t *testing.T) {
	tests := []struct {
		d    *resource.Descriptor
		obj  any
		want string
	}{
		{core.Pods.Descriptor(), &corev1.Pod{}, "encode a Pod: metadata.name is not set"},
		{podsJSON.Descriptor(), &corev1.Pod{}, "encode a Pod: metadata.name is not set"},
		{podsJSON.Descriptor(), "text", "encode a Pod: it is a string, not an object"},
		{podsJSON.Descriptor(), map[string]any{"metadata": map[string]any{"name": 5}}, "encode a Pod: metadata.name is a number, not a string"},
	}
	for _, test := range tests {
		_, err := resource.EncodeRaw(test.d, test.obj)
		if err == nil || err.Error() != test.want {
			t.Errorf("got  %v\nwant %s", err, test.want)
		}
	}
	if _, err := resource.EncodeRaw(podsJSON.Descriptor(), make(chan int)); err == nil || !strings.HasPrefix(err.Error(), "encode a Pod: ") {
		t.Errorf("a channel: %v", err)
	}
}

func TestParseRaw(t *testing.T) {
	pod := newPod()
	message := must(pod.Marshal())
	envelope := runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: "v1", Kind: "Pod"}, Raw: message}
	data := append([]byte("k8s\x00"), must(envelope.Marshal())...)
	raw := must(resource.ParseRaw(core.Pods.Descriptor(), data))
	clear(data)
	if got := must(resource.AsLazy[corev1.Pod](raw).Decode()); !cmp.Equal(newPod(), got) {
		t.Errorf("(-want +got):\n%s", cmp.Diff(newPod(), got))
	}
	raw = must(resource.ParseRaw(core.Pods.Descriptor(), []byte("\n {\"metadata\":{\"name\":\"a\",\"managedFields\":[]}}\n")))
	if got := string(raw.Bytes()); got != `{"metadata":{"name":"a"}}` {
		t.Errorf("bytes %s", got)
	}
}

func TestParseRawFails(t *testing.T) {
	tests := []struct{ data, want string }{
		{"", "read a Pod: unexpected EOF"},
		{"{}", "read a Pod: the object has no metadata"},
		{"pod", `read a Pod: invalid JSON: 'p' where "value" belongs, at byte 0`},
		{`{"metadata":{"name":"a","labels":[]}}`, "read a Pod: metadata.labels is an array, not an object"},
		{"k8s\x00\x12\x05", "read a Pod: invalid protobuf: field 2 at byte 0 has 5 bytes, of which 0 are there"},
	}
	for _, test := range tests {
		_, err := resource.ParseRaw(podsJSON.Descriptor(), []byte(test.data))
		if err == nil || err.Error() != test.want {
			t.Errorf("%q:\ngot  %v\nwant %s", test.data, err, test.want)
		}
	}
}

// TestRawTimes: times are those that decoding gives, in the local zone.
func TestRawTimes(t *testing.T) {
	raw := must(resource.ParseRaw(podsJSON.Descriptor(), []byte(`{"metadata":{"name":"a","creationTimestamp":"2026-01-02T03:04:05+01:00"}}`)))
	pod := must(resource.AsLazy[corev1.Pod](raw).Decode())
	if got := raw.CreationTimestamp(); got != pod.CreationTimestamp || got.Location() != time.Local {
		t.Errorf("%v, decoded %v", got, pod.CreationTimestamp)
	}
}
