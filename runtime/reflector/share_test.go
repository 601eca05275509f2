package reflector_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/go-kube/kube/internal/apitest"
	"github.com/go-kube/kube/k8s/core"
	"github.com/go-kube/kube/resource"
	"github.com/go-kube/kube/runtime/reflector"
	"github.com/go-kube/kube/runtime/watcher"
)

var shared = &reflector.Options{Share: true}

func wantRequests(t *testing.T, srv *apitest.Server, want int) {
	t.Helper()
	synctest.Wait()
	if got := len(srv.Requests()); got != want {
		t.Errorf("%d requests, want %d", got, want)
	}
}

func TestReflectorsShareAWatch(t *testing.T) {
	inBubbles(t, func(t *testing.T, srv *apitest.Server) {
		watch := srv.Expect(stream).Watch()
		send(watch, "10", object("a", "1"))
		api := srv.Client().All(core.ConfigMaps)

		one, two := reflector.New(api, shared), reflector.New(api, shared)
		early := follow(t, two, nil) // before there is a watch
		stopOne, stopTwo := run(t, one), run(t, two)
		wantStore(t, one, "a@1")
		wantStore(t, two, "a@1")
		early.want("=a@1")

		watch.Send("ADDED", object("b", "11"))
		synctest.Wait()
		late := reflector.New(api, shared)
		stopLate := run(t, late)
		f := follow(t, late, nil)
		f.want("=a@1 =b@11")
		watch.Send("DELETED", object("a", "12"))
		f.want("-a@12")
		early.want("b@11", "-a@12")
		wantRequests(t, srv, 1)

		stopOne() // whose cache it is
		if !watch.Open() {
			t.Fatal("the watch ended with the first of three")
		}
		watch.Send("MODIFIED", object("b", "13"))
		f.want("b@13")
		wantStore(t, two, "b@13")
		if err := one.Store().WaitReady(t.Context()); !errors.Is(err, nil) {
			t.Errorf("WaitReady of the one that ended: %v", err) // it was ready, and stays so
		}
		if err := one.Store().WaitFor(t.Context(), "14"); !errors.Is(err, reflector.ErrStopped) {
			t.Errorf("WaitFor of the one that ended: %v, want ErrStopped", err)
		}
		stopTwo()
		stopLate()
		synctest.Wait()
		if watch.Open() {
			t.Error("the watch goes on without a reflector")
		}

		again := srv.Expect(stream).Watch()
		send(again, "20", object("c", "20"))
		next := reflector.New(api, shared)
		if next.Store().Ready() {
			t.Error("ready before Run, from what others had")
		}
		run(t, next)
		wantStore(t, next, "c@20") // and nothing of before
		wantRequests(t, srv, 2)
	})
}

func TestReflectorsThatDifferShareNothing(t *testing.T) {
	inBubbles(t, func(t *testing.T, srv *apitest.Server) {
		send(srv.Expect(stream+"&labelSelector=a%3D1").Watch(), "10")
		for range 5 {
			send(srv.Expect(stream).Watch(), "10", object("a", "1"))
		}
		send(srv.Expect("GET /api/v1/namespaces/default/configmaps?watch=true&sendInitialEvents=true").Watch(), "10")
		client := srv.Client()
		api := client.All(core.ConfigMaps)
		indexed := reflector.New(api, shared)
		indexed.Index(reflector.ByLabel[corev1.ConfigMap]("a"))
		modified := reflector.New(api, shared)
		modified.Modify(func(o *corev1.ConfigMap) { o.Data = map[string]string{"made": "here"} })
		for _, r := range []*reflector.Reflector[corev1.ConfigMap]{
			reflector.New(api, shared),
			reflector.New(api, nil),
			reflector.New(api, &reflector.Options{Share: true, Decoded: true}),
			reflector.New(api, &reflector.Options{Share: true, Watch: watcher.Options{Labels: "a=1"}}),
			reflector.New(client.Namespaced(core.ConfigMaps, "default"), shared),
			indexed, modified,
		} {
			run(t, r)
			if !r.Store().Ready() {
				t.Error("a store is not ready")
			}
		}
		wantRequests(t, srv, 7)
		got, err := modified.Store().Get(ref("a"))
		if err != nil || got.Data["made"] != "here" {
			t.Errorf("got %v, %v", got, err)
		}
	})
}

// One stuck subscriber of a shared cache holds up nobody, and costs one entry per object.
func TestStuckSubscriberOfASharedWatch(t *testing.T) {
	inBubbles(t, func(t *testing.T, srv *apitest.Server) {
		watch := srv.Expect(stream).Watch()
		send(watch, "10", object("a", "1"))
		api := srv.Client().All(core.ConfigMaps)
		one, two := reflector.New(api, shared), reflector.New(api, shared)
		run(t, one)
		run(t, two)
		release := make(chan struct{})
		stuck := follow(t, one, func() { <-release })
		quick := follow(t, two, nil)
		for i := range 100 {
			watch.Send("MODIFIED", object("a", strconv.Itoa(11+i)))
		}
		synctest.Wait()
		if got := two.Store().Stats().Pending; got != 1 {
			t.Errorf("%d changes of one object wait, want 1", got)
		}
		wantStore(t, two, "a@110")
		quick.mu.Lock()
		last := quick.seen[len(quick.seen)-1]
		quick.mu.Unlock()
		if last != "a@110" {
			t.Errorf("the other subscriber is at %s", last)
		}
		close(release)
		stuck.want("=a@1", "a@110")
	})
}

func TestEveryoneHearsOfTheFailuresOfASharedWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := apitest.Start(t, nil)
		srv.Expect(stream).Status(403, metav1.StatusReasonForbidden, "no", 0).Always()
		var mu sync.Mutex
		var heard []string
		api := srv.Client().All(core.ConfigMaps)
		for _, name := range []string{"one", "two"} {
			run(t, reflector.New(api, &reflector.Options{Share: true, Watch: watcher.Options{OnError: func(error) {
				mu.Lock()
				defer mu.Unlock()
				heard = append(heard, name)
			}}}))
		}
		quiet := reflector.New(api, shared)
		run(t, quiet)
		time.Sleep(3 * time.Second) // at least one more try
		synctest.Wait()
		mu.Lock()
		if !slices.Contains(heard, "one") || !slices.Contains(heard, "two") {
			t.Errorf("heard by %q, want both", heard)
		}
		mu.Unlock()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := quiet.Store().WaitReady(ctx); err == nil || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("WaitReady = %v", err)
		}
	})
}

// The store of a custom resource serves readers with types of their own, and without any.
func TestTypedAndDynamicReadersShare(t *testing.T) {
	type spec struct {
		Size int `json:"size"`
	}
	info := resource.Info{Group: "example.com", Version: "v1", Kind: "Widget"}
	synctest.Test(t, func(t *testing.T) {
		srv := apitest.Start(t, nil)
		watch := srv.Expect("GET /apis/example.com/v1/widgets?watch=true").Watch()
		watch.Send("ADDED", &resource.Object[spec, struct{}]{
			TypeMeta:   metav1.TypeMeta{APIVersion: "example.com/v1", Kind: "Widget"},
			ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "a", ResourceVersion: "1"},
			Spec:       spec{7},
		})
		watch.InitialEventsEnd("1")
		client := srv.Client()
		typed := reflector.New(client.All(resource.DefineNamespaced[resource.Object[spec, struct{}]](info)), shared)
		dynamic := reflector.New(client.All(resource.Dynamic(info, resource.NamespaceScoped)), shared)
		run(t, typed)
		run(t, dynamic)
		w, err := typed.Store().Get(resource.Ref[resource.Object[spec, struct{}]]{Namespace: "ns", Name: "a"})
		if err != nil || w.Spec.Size != 7 {
			t.Errorf("typed: %v, %v", w, err)
		}
		u, err := dynamic.Store().Get(resource.Ref[unstructured.Unstructured]{Namespace: "ns", Name: "a"})
		if err != nil || u.GetKind() != "Widget" {
			t.Fatalf("dynamic: %v, %v", u, err)
		}
		if size, _, err := unstructured.NestedInt64(u.Object, "spec", "size"); err != nil || size != 7 {
			t.Errorf("dynamic size: %d, %v", size, err)
		}
		wantRequests(t, srv, 1)
	})
}
