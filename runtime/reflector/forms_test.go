package reflector_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/go-kube/kube/internal/apitest"
	"github.com/go-kube/kube/k8s/core"
	"github.com/go-kube/kube/resource"
	"github.com/go-kube/kube/runtime/reflector"
	"github.com/go-kube/kube/runtime/watcher"
)

var dynamicMaps = resource.Dynamic(core.ConfigMaps.Descriptor().Info, resource.NamespaceScoped)

// partialMap is a config map of which only the data matter.
type partialMap struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Data map[string]string `json:"data,omitempty"`
}

var partialMaps = resource.Partial[partialMap](core.ConfigMaps)

// wantMap checks what typed, dynamic, partial and metadata readers get of the config map a.
func wantMap(t *testing.T, store reflector.Store[corev1.ConfigMap], want *corev1.ConfigMap) {
	t.Helper()
	got, err := store.Get(ref("a"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("typed (-want +got):\n%s", diff)
	}
	u, err := reflector.Dynamic(store).Get(resource.Ref[unstructured.Unstructured](ref("a")))
	if err != nil {
		t.Fatal(err)
	}
	content := map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{
			"namespace": want.Namespace, "name": want.Name, "uid": string(want.UID), "resourceVersion": want.ResourceVersion,
		},
		"data": map[string]any{"key": want.Data["key"]},
	}
	if diff := cmp.Diff(content, u.Object); diff != "" {
		t.Errorf("dynamic (-want +got):\n%s", diff)
	}
	m, err := reflector.Metadata(store).Get(resource.Ref[resource.Metadata[corev1.ConfigMap]](ref("a")))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want.ObjectMeta, m.ObjectMeta); diff != "" || m.Kind != "ConfigMap" {
		t.Errorf("metadata of %s (-want +got):\n%s", m.Kind, diff)
	}
}

// accepted returns what the requests asked for, shortened to protobuf or JSON.
func accepted(srv *apitest.Server) (forms []string) {
	for _, r := range srv.Requests() {
		form := "JSON"
		if strings.Contains(r.Header.Get("Accept"), "protobuf") {
			form = "protobuf"
		}
		if strings.Contains(r.Header.Get("Accept"), "PartialObjectMetadata") {
			form = "metadata"
		}
		forms = append(forms, form)
	}
	return forms
}

func wantForms(t *testing.T, srv *apitest.Server, want ...string) {
	t.Helper()
	synctest.Wait()
	if diff := cmp.Diff(want, accepted(srv)); diff != "" {
		t.Errorf("forms that were asked for (-want +got):\n%s", diff)
	}
}

// Readers of a built-in kind with its type, with a part of it, without one and of metadata have one
// watch in the end, whoever comes first. It is of protobuf where nothing is there yet when a typed one comes.
func TestReadersOfAllFormsShare(t *testing.T) {
	for _, test := range []struct {
		name  string
		order string // of who runs
		late  bool   // the others come after the first snapshot
		forms []string
	}{
		{"typed first", "tdpm", true, []string{"protobuf"}},
		{"dynamic first", "dtpm", true, []string{"JSON"}},
		{"partial first", "ptdm", true, []string{"JSON"}},
		{"metadata first", "mtdp", true, []string{"metadata", "protobuf"}},
		{"typed first, at once", "tdpm", false, []string{"protobuf"}},
		{"dynamic first, at once", "dptm", false, []string{"JSON", "protobuf"}},
		{"metadata first, at once", "mdpt", false, []string{"metadata", "JSON", "protobuf"}},
		{"metadata and then the type, at once", "mtdp", false, []string{"metadata", "protobuf"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := apitest.Start(t, &apitest.Options{HTTP2: true, Protobuf: true})
				client := srv.Client()
				var watches []*apitest.Watch
				for range test.forms {
					watches = append(watches, srv.Expect(stream).Watch())
				}
				last := watches[len(watches)-1]
				if test.late {
					send(watches[0], "10", object("a", "1", data("key", "value")))
				}
				typed := reflector.New(client.All(core.ConfigMaps), shared)
				dynamic := reflector.New(client.All(dynamicMaps), shared)
				partial := reflector.New(client.All(partialMaps), shared)
				metadata := reflector.New(client.All(core.ConfigMaps.Metadata()), shared)
				f := follow(t, typed, nil)
				for _, who := range test.order {
					switch who {
					case 't':
						run(t, typed)
					case 'd':
						run(t, dynamic)
					case 'p':
						run(t, partial)
					case 'm':
						run(t, metadata)
					}
				}
				if !test.late || len(watches) > 1 {
					send(last, "10", object("a", "1", data("key", "value")))
				}
				wantForms(t, srv, test.forms...)
				f.want("=a@1")
				wantMap(t, typed.Store(), object("a", "1", data("key", "value")))

				last.Send("MODIFIED", object("a", "11", data("key", "next")))
				wantOpen(t, last, watches[:len(watches)-1]...)
				f.want("a@11")
				wantMap(t, typed.Store(), object("a", "11", data("key", "next")))
				u, err := dynamic.Store().Get(resource.Ref[unstructured.Unstructured](ref("a")))
				if err != nil {
					t.Fatal(err)
				}
				if value, _, err := unstructured.NestedString(u.Object, "data", "key"); value != "next" || u.GetAPIVersion() != "v1" {
					t.Errorf("the dynamic reader got %v, %v", u, err)
				}
				p, err := partial.Store().Get(resource.Ref[partialMap](ref("a")))
				if err != nil || p.Data["key"] != "next" || p.Kind != "ConfigMap" {
					t.Errorf("the partial reader got %+v, %v", p, err)
				}
				if m, err := metadata.Store().Get(resource.Ref[resource.Metadata[corev1.ConfigMap]](ref("a"))); err != nil || m.ResourceVersion != "11" {
					t.Errorf("the reader of metadata got %+v, %v", m, err)
				}
				wantForms(t, srv, test.forms...)
			})
		})
	}
}

// What is half there of a form that is given up is no part of the snapshot that comes then.
func TestAnotherFormWithinASnapshot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := apitest.Start(t, &apitest.Options{HTTP2: true, Protobuf: true})
		client := srv.Client()
		half, whole := srv.Expect(stream).Watch(), srv.Expect(stream).Watch()
		half.Send("ADDED", object("gone", "1"))
		half.Send("ADDED", object("a", "2"))
		dynamic := reflector.New(client.All(dynamicMaps), shared)
		run(t, dynamic)
		typed := reflector.New(client.All(core.ConfigMaps), shared)
		f := follow(t, typed, nil)
		run(t, typed)
		send(whole, "10", object("a", "3"))
		wantOpen(t, whole, half)
		f.want("=a@3")
		wantStore(t, typed, "a@3")
		if dynamic.Store().Len() != 1 || !dynamic.Store().Ready() || dynamic.State().Phase != watcher.Watching {
			t.Errorf("the first reader has %d objects, and its watch is %+v", dynamic.Store().Len(), dynamic.State())
		}
	})
}

// Feeds of whole objects find each other whatever their types, and are told the same.
func TestFeedsOfAllFormsShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := apitest.Start(t, &apitest.Options{HTTP2: true, Protobuf: true})
		client := srv.Client()
		alone := srv.Expect(stream).Watch()
		send(alone, "10", object("a", "1"))
		one := listen(t, reflector.NewFeed(client.All(dynamicMaps).Endpoint(), &reflector.FeedOptions{Share: true}))
		one.want("Init", "InitApply a@1", "InitDone @10")
		together := srv.Expect(stream).Watch()
		send(together, "10", object("a", "1"))
		two := listen(t, reflector.NewFeed(client.All(core.ConfigMaps).Endpoint(), &reflector.FeedOptions{Share: true}))
		two.want("Init", "InitApply a@1", "InitDone @10")
		one.want("Init", "InitApply a@1", "InitDone @10")
		wantOpen(t, together, alone)
		together.Send("MODIFIED", object("a", "11"))
		one.want("Apply a@11", "Bookmark @11")
		two.want("Apply a@11", "Bookmark @11")
		wantForms(t, srv, "JSON", "protobuf")
	})
}

// A store of metadata says as an object without a type what there is, as the kind that it is of.
func TestDynamicReaderOfMetadata(t *testing.T) {
	inBubbles(t, func(t *testing.T, srv *apitest.Server) {
		send(srv.Expect(stream).Watch(), "10", object("a", "1", label("app", "web")))
		r := reflector.New(srv.Client().All(core.ConfigMaps.Metadata()), nil)
		run(t, r)
		u, err := reflector.Dynamic(r.Store()).Get(resource.Ref[unstructured.Unstructured](ref("a")))
		if err != nil || u.GetKind() != "ConfigMap" || u.GetLabels()["app"] != "web" {
			t.Errorf("got %v, %v", u, err)
		}
	})
}
