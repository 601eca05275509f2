package replay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/go-kube/kube/bench/internal/measure"
)

// The server is read with client-go, which decodes everything: what it can read is what an API
// server could have sent.

type api interface {
	list(context.Context, metav1.ListOptions) (runtime.Object, error)
	watch(context.Context, metav1.ListOptions) (watch.Interface, error)
}

type typed struct{ *kubernetes.Clientset }

func (t typed) list(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
	return t.CoreV1().Pods("").List(ctx, o)
}

func (t typed) watch(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	return t.CoreV1().Pods("").Watch(ctx, o)
}

type untyped struct{ dynamic.ResourceInterface }

func (u untyped) list(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
	return u.List(ctx, o)
}

func (u untyped) watch(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	return u.Watch(ctx, o)
}

const objectsServed = 25

// serve starts a server of pods or webapps and returns a client of it.
func serve(t *testing.T, kind Kind, format Format) (*httptest.Server, api) {
	t.Helper()
	objects, err := Encode(kind, format, objectsServed)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(NewServer(objects))
	t.Cleanup(server.Close)
	accept := format.mediaType(false)
	config := &rest.Config{Host: server.URL, ContentConfig: rest.ContentConfig{AcceptContentTypes: accept, ContentType: accept}}
	if kind.Plural == "pods" {
		clientset, err := kubernetes.NewForConfig(config)
		if err != nil {
			t.Fatal(err)
		}
		return server, typed{clientset}
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return server, untyped{client.Resource(schema.GroupVersionResource{Group: kind.Group, Version: kind.Version, Resource: kind.Plural})}
}

func each(t *testing.T, f func(t *testing.T, server *httptest.Server, a api)) {
	for _, c := range []struct {
		kind   Kind
		format Format
	}{{Pods, JSON}, {Pods, Protobuf}, {WebApps, JSON}} {
		t.Run(c.kind.Plural+" "+string(c.format), func(t *testing.T) {
			server, a := serve(t, c.kind, c.format)
			f(t, server, a)
		})
	}
}

func TestListHasPages(t *testing.T) {
	each(t, func(t *testing.T, _ *httptest.Server, a api) {
		names := map[string]bool{}
		pages := 0
		for token := ""; ; {
			list, err := a.list(t.Context(), metav1.ListOptions{Limit: 10, Continue: token})
			if err != nil {
				t.Fatal(err)
			}
			pages++
			meta.EachListItem(list, func(o runtime.Object) error {
				names[o.(metav1.Object).GetName()] = true
				if len(o.(metav1.Object).GetManagedFields()) == 0 {
					t.Error("an object without managedFields")
				}
				return nil
			})
			if token = list.(metav1.ListInterface).GetContinue(); token == "" {
				break
			}
		}
		if pages != 3 || len(names) != objectsServed {
			t.Errorf("%d objects on %d pages, want %d on 3", len(names), pages, objectsServed)
		}
	})
}

// next returns the next event of a watch.
func next(t *testing.T, w watch.Interface) watch.Event {
	t.Helper()
	event, ok := <-w.ResultChan()
	if !ok {
		t.Fatal("the watch has ended")
	}
	return event
}

func TestWatch(t *testing.T) {
	each(t, func(t *testing.T, server *httptest.Server, a api) {
		yes := true
		w, err := a.watch(t.Context(), metav1.ListOptions{
			SendInitialEvents: &yes, AllowWatchBookmarks: true, ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan,
		})
		if err != nil {
			t.Fatal(err)
		}
		defer w.Stop()
		for range objectsServed {
			if event := next(t, w); event.Type != watch.Added {
				t.Fatalf("%s, want ADDED", event.Type)
			}
		}
		bookmark := next(t, w)
		if bookmark.Type != watch.Bookmark || bookmark.Object.(metav1.Object).GetAnnotations()[metav1.InitialEventsAnnotationKey] != "true" {
			t.Fatalf("%v, want the bookmark of the end", bookmark)
		}
		post(t, server.URL+"/bench/events?count=60&window=50")
		version := bookmark.Object.(metav1.Object).GetResourceVersion()
		for n := range 60 {
			if n == 50 {
				post(t, server.URL+"/bench/next")
			}
			event := next(t, w)
			object := event.Object.(metav1.Object)
			if event.Type != watch.Modified || object.GetResourceVersion() <= version {
				t.Fatalf("%s of version %s after %s", event.Type, object.GetResourceVersion(), version)
			}
			version = object.GetResourceVersion()
			if at := object.GetAnnotations()[measure.AtAnnotation]; at < "1700000000000000000" || at > "4000000000000000000" {
				t.Fatalf("sent at %q", at)
			}
			if done := object.GetLabels()[measure.DoneLabel] != ""; done != (n == 59) {
				t.Fatalf("event %d: done is %v", n, done)
			}
		}
	})
}

func TestExpire(t *testing.T) {
	each(t, func(t *testing.T, server *httptest.Server, a api) {
		w, err := a.watch(t.Context(), metav1.ListOptions{ResourceVersion: "2000000000"})
		if err != nil {
			t.Fatal(err)
		}
		post(t, server.URL+"/bench/expire")
		event := next(t, w)
		if event.Type != watch.Error || !apierrors.IsResourceExpired(apierrors.FromObject(event.Object)) {
			t.Fatalf("%v, want that the version is too old", event)
		}
		list, err := a.list(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		done := 0
		meta.EachListItem(list, func(o runtime.Object) error {
			if o.(metav1.Object).GetLabels()[measure.DoneLabel] != "" {
				done++
			}
			return nil
		})
		if done != 1 {
			t.Errorf("%d objects have changed, want 1", done)
		}
	})
}

func TestGetAndApply(t *testing.T) {
	server, a := serve(t, Pods, Protobuf)
	client := a.(typed)
	pod, err := client.CoreV1().Pods("team-3").Get(t.Context(), "web-6d4cf56db6-00003", metav1.GetOptions{})
	if err != nil || pod.Spec.NodeName != "node-3" {
		t.Errorf("%v, %v", pod, err)
	}
	patched, err := client.CoreV1().Pods("team-3").Patch(t.Context(), pod.Name, "application/apply-patch+yaml", []byte("{}"), metav1.PatchOptions{FieldManager: "me"})
	if err != nil || patched.UID != pod.UID {
		t.Errorf("%v, %v", patched, err)
	}
	if _, err := client.CoreV1().Pods("team-3").Get(t.Context(), "nobody", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("%v, want not found", err)
	}
	resources, err := client.Discovery().ServerResourcesForGroupVersion("v1")
	if err != nil || len(resources.APIResources) != 2 {
		t.Errorf("%v, %v", resources, err)
	}
	if want := "0 lists, 0 watches, 2 gets, 1 applies"; server.Config.Handler.(*Server).Requests() != want {
		t.Errorf("requests: %s, want %s", server.Config.Handler.(*Server).Requests(), want)
	}
}

func TestMistakesAreAnswered(t *testing.T) {
	server, _ := serve(t, Pods, JSON)
	for path, want := range map[string]int{
		"/bench/events?count=x":                http.StatusBadRequest,
		"/bench/events?count=0":                http.StatusBadRequest,
		"/bench/events?count=1&rate=-1":        http.StatusBadRequest,
		"/api/v1/pods?continue=%21":            http.StatusBadRequest,
		"/api/v1/pods?continue=OTk5OTk5OTk5OQ": http.StatusBadRequest,
	} {
		method := http.MethodGet
		if path[1] == 'b' {
			method = http.MethodPost
		}
		req, err := http.NewRequestWithContext(t.Context(), method, server.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := status(t, req); got != want {
			t.Errorf("%s: %d, want %d", path, got, want)
		}
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/api/v1/pods", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", protobufType)
	if got := status(t, req); got != http.StatusNotAcceptable {
		t.Errorf("protobuf of a JSON server: %d", got)
	}
	if _, err := Encode(WebApps, Protobuf, 1); err == nil {
		t.Error("custom resources as protobuf are no error")
	}
	if _, err := Encode(Pods, JSON, 0); err == nil {
		t.Error("no objects are no error")
	}
	if _, err := KindNamed("nodes"); err == nil {
		t.Error("a kind that is not there is no error")
	}
}

func post(t *testing.T, url string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := status(t, req); got != http.StatusOK {
		t.Fatalf("%s: %d", url, got)
	}
}

func status(t *testing.T, req *http.Request) int {
	t.Helper()
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	io.Copy(io.Discard, resp.Body)
	return resp.StatusCode
}

// TestObjectsAreThoseOfTheTargets keeps the sizes that the targets were set for.
func TestObjectsAreThoseOfTheTargets(t *testing.T) {
	for format, want := range map[Format]int{JSON: 5300, Protobuf: 3490} {
		objects, err := Encode(Pods, format, 100)
		if err != nil {
			t.Fatal(err)
		}
		if got := objects.Size(); got < want-50 || got > want+50 {
			t.Errorf("pods are %d bytes as %s, want about %d", got, format, want)
		}
	}
	var pod corev1.Pod
	objects, err := Encode(Pods, Protobuf, 3)
	if err != nil {
		t.Fatal(err)
	}
	if err := pod.Unmarshal(objects.items[2]); err != nil || pod.Name != "web-6d4cf56db6-00002" {
		t.Error(errors.Join(err, fmt.Errorf("the pod is %s", pod.Name)))
	}
}
