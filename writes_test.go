package kube_test

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/internal/codec"
	"github.com/go-kube/kube/k8s/core"
	"github.com/go-kube/kube/resource"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// told is a write as the tests look at it.
type told struct{ Verb, Resource, Subresource, Namespace, Name, UID, Version string }

func observed(ctx context.Context, into *[]told) context.Context {
	return kube.WithWriteObserver(ctx, func(w kube.Write) {
		*into = append(*into, told{w.Verb, w.Kind.GroupResource().String(), w.Subresource, w.Namespace, w.Name, string(w.UID), w.ResourceVersion})
	})
}

func TestWriteObserverIsToldOfEveryWrite(t *testing.T) {
	const object = `{"apiVersion":"kube.rs/v1","kind":"Hack","metadata":{"name":"a","namespace":"ns","uid":"u","resourceVersion":"7"}}`
	named := &hack{ObjectMeta: metav1.ObjectMeta{Name: "a"}}
	for _, test := range []struct {
		name, answer string
		write        func(context.Context, kube.API[hack]) error
		want         []told
	}{
		{"create", object, func(ctx context.Context, api kube.API[hack]) error {
			_, err := api.Create(ctx, &hack{ObjectMeta: metav1.ObjectMeta{GenerateName: "a-"}}, nil)
			return err
		}, []told{{"create", "hacks.kube.rs", "", "ns", "a", "u", "7"}}},
		{"replace", object, func(ctx context.Context, api kube.API[hack]) error {
			_, err := api.Replace(ctx, named, nil)
			return err
		}, []told{{"update", "hacks.kube.rs", "", "ns", "a", "u", "7"}}},
		{"patch", object, func(ctx context.Context, api kube.API[hack]) error {
			_, err := api.Patch(ctx, "a", kube.MergePatch([]byte(`{}`)), nil)
			return err
		}, []told{{"patch", "hacks.kube.rs", "", "ns", "a", "u", "7"}}},
		{"apply of the status", object, func(ctx context.Context, api kube.API[hack]) error {
			_, err := api.Status().Apply(ctx, named, "test", nil)
			return err
		}, []told{{"apply", "hacks.kube.rs", "status", "ns", "a", "u", "7"}}},
		{"scale", `{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"a","namespace":"ns","uid":"u","resourceVersion":"8"}}`,
			func(ctx context.Context, api kube.API[hack]) error {
				_, err := api.Scale().Patch(ctx, "a", kube.MergePatch([]byte(`{"spec":{"replicas":2}}`)), nil)
				return err
			}, []told{{"patch", "hacks.kube.rs", "scale", "ns", "a", "u", "8"}}},
		{"delete, gone", `{"apiVersion":"v1","kind":"Status","status":"Success","details":{"name":"a","uid":"u"}}`,
			func(ctx context.Context, api kube.API[hack]) error { return api.Delete(ctx, "a", nil) },
			[]told{{"delete", "hacks.kube.rs", "", "ns", "a", "u", ""}}},
		{"delete, marked", object,
			func(ctx context.Context, api kube.API[hack]) error { return api.Delete(ctx, "a", nil) },
			[]told{{"delete", "hacks.kube.rs", "", "ns", "a", "u", ""}}},
		{"delete, answer without a uid", `{"apiVersion":"v1","kind":"Status","status":"Success"}`,
			func(ctx context.Context, api kube.API[hack]) error { return api.Delete(ctx, "a", nil) },
			[]told{{"delete", "hacks.kube.rs", "", "ns", "a", "", ""}}},
		{"delete collection", `{"apiVersion":"kube.rs/v1","kind":"HackList","metadata":{"resourceVersion":"9"},"items":[` + object + `,{"metadata":{"name":"b","namespace":"ns","uid":"v"}}]}`,
			func(ctx context.Context, api kube.API[hack]) error { return api.DeleteCollection(ctx, nil, nil) },
			[]told{{"deletecollection", "hacks.kube.rs", "", "ns", "a", "u", ""}, {"deletecollection", "hacks.kube.rs", "", "ns", "b", "v", ""}}},
		{"delete collection, a Status", `{"apiVersion":"v1","kind":"Status","status":"Success"}`,
			func(ctx context.Context, api kube.API[hack]) error { return api.DeleteCollection(ctx, nil, nil) }, nil},
		{"get", object, func(ctx context.Context, api kube.API[hack]) error {
			_, err := api.Get(ctx, "a")
			return err
		}, nil},
		{"dry runs", object, func(ctx context.Context, api kube.API[hack]) error {
			if err := api.Delete(ctx, "a", &kube.DeleteOptions{DryRun: true}); err != nil {
				return err
			}
			_, err := api.Replace(ctx, named, &kube.ReplaceOptions{DryRun: true})
			return err
		}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			r, client := recording(t, "http://server")
			r.answer = test.answer
			var got []told
			if err := test.write(observed(t.Context(), &got), client.Namespaced(hacks, "ns")); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("observed (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWriteObserverReadsProtobuf(t *testing.T) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "a", UID: "u", ResourceVersion: "7"}}
	status := &metav1.Status{Status: "Success", Details: &metav1.StatusDetails{UID: "u"}}
	for name, answer := range map[string]string{
		"object": envelope(t, "v1", "Pod", pod),
		"status": envelope(t, "v1", "Status", status),
	} {
		t.Run(name, func(t *testing.T) {
			r, client := recording(t, "http://server")
			r.answer = answer
			r.header = map[string][]string{"Content-Type": {"application/vnd.kubernetes.protobuf"}}
			var got []told
			if err := client.Namespaced(core.Pods, "ns").Delete(observed(t.Context(), &got), "a", nil); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]told{{"delete", "pods", "", "ns", "a", "u", ""}}, got); diff != "" {
				t.Errorf("observed (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWriteObserverOfARefusedWriteIsToldNothing(t *testing.T) {
	r, client := recording(t, "http://server")
	r.code, r.answer = 409, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Conflict","code":409}`
	var got []told
	err := client.Namespaced(hacks, "ns").Delete(observed(t.Context(), &got), "a", nil)
	if err == nil || got != nil {
		t.Errorf("error %v, observed %v; want a conflict and nothing", err, got)
	}
}

// What was written can be read again in the form in which it was answered.
func TestAWriteCanBeReadAgain(t *testing.T) {
	const (
		object = `{"apiVersion":"kube.rs/v1","kind":"Hack","metadata":{"name":"a","namespace":"ns","uid":"u","resourceVersion":"7"}}`
		scale  = `{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"a","namespace":"ns"},"spec":{"replicas":2}}`
		path   = "/apis/kube.rs/v1/namespaces/ns/hacks/a"
		whole  = "application/json"
		meta   = "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"
	)
	named := &hack{ObjectMeta: metav1.ObjectMeta{Name: "a"}}
	for name, test := range map[string]struct {
		answer       string
		write        func(ctx context.Context, client *kube.Client) error
		path, accept string
		want         metav1.Object
	}{
		"create over all namespaces": {object, func(ctx context.Context, client *kube.Client) error {
			_, err := client.All(hacks).Create(ctx, &hack{ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: "ns"}}, nil)
			return err
		}, path, whole, &hack{}},
		"status": {object, func(ctx context.Context, client *kube.Client) error {
			_, err := client.Namespaced(hacks, "ns").Status().Apply(ctx, named, "test", nil)
			return err
		}, path, whole, &hack{}},
		"scale": {scale, func(ctx context.Context, client *kube.Client) error {
			_, err := client.Namespaced(hacks, "ns").Scale().Patch(ctx, "a", kube.MergePatch([]byte(`{}`)), nil)
			return err
		}, path + "/scale", whole, &kube.Scale{}},
		"metadata": {object, func(ctx context.Context, client *kube.Client) error {
			_, err := client.Namespaced(hacks.Metadata(), "ns").Patch(ctx, "a", kube.MergePatch([]byte(`{}`)), nil)
			return err
		}, path, meta, &resource.Metadata[hack]{}},
		"delete": {object, func(ctx context.Context, client *kube.Client) error {
			return client.Namespaced(hacks, "ns").Delete(ctx, "a", nil)
		}, path, meta, &resource.Metadata[struct{}]{}},
		"delete collection": {`{"apiVersion":"kube.rs/v1","kind":"HackList","metadata":{},"items":[` + object + `]}`, func(ctx context.Context, client *kube.Client) error {
			return client.All(hacks).DeleteCollection(ctx, nil, nil)
		}, path, meta, &resource.Metadata[struct{}]{}},
	} {
		t.Run(name, func(t *testing.T) {
			r, client := recording(t, "http://server")
			r.answer = test.answer
			var w kube.Write
			if err := test.write(kube.WithWriteObserver(t.Context(), func(got kube.Write) { w = got }), client); err != nil {
				t.Fatal(err)
			}
			if test.answer != scale {
				r.answer = object
			}
			got, err := w.Read(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			last := r.request
			if last.Method != "GET" || last.URL.Path != test.path || last.Header.Get("Accept") != test.accept {
				t.Errorf("%s %s, Accept %q; want GET %s, %q", last.Method, last.URL.Path, last.Header.Get("Accept"), test.path, test.accept)
			}
			if reflect.TypeOf(got) != reflect.TypeOf(test.want) || got.GetName() != "a" {
				t.Errorf("read %T %v, want %T", got, got, test.want)
			}
			r.code, r.answer = 404, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404}`
			if got, err := w.Read(t.Context()); got != nil || !errors.Is(err, kube.ErrNotFound) {
				t.Errorf("read %v, %v of what is gone; want ErrNotFound", got, err)
			}
		})
	}
	if _, err := (kube.Write{}).Read(t.Context()); err == nil || !strings.Contains(err.Error(), "not told to an observer") {
		t.Errorf("the zero Write reads with %v", err)
	}
}

func TestWriteObserversAddUp(t *testing.T) {
	r, client := recording(t, "http://server")
	r.answer = `{"kind":"Status","apiVersion":"v1","status":"Success"}`
	var outer, inner []told
	ctx := observed(observed(t.Context(), &outer), &inner)
	_, err := client.Namespaced(core.Pods, "ns").Sub(core.PodEviction).Create(ctx, "a", &policyv1.Eviction{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []told{{"create", "pods", "eviction", "ns", "a", "", ""}}
	if diff := cmp.Diff([][]told{want, want}, [][]told{outer, inner}); diff != "" {
		t.Errorf("observed (-want +got):\n%s", diff)
	}
}

// envelope encodes obj as the server sends protobuf.
func envelope(t *testing.T, apiVersion, kind string, obj any) string {
	t.Helper()
	body, err := codec.EncodeProtobuf(obj, apiVersion, kind)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}
