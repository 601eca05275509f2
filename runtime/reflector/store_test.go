package reflector_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/internal/apitest"
	"github.com/go-kube/kube/k8s/core"
	"github.com/go-kube/kube/resource"
	"github.com/go-kube/kube/runtime/reflector"
	"github.com/go-kube/kube/runtime/watcher"
)

func TestStoreFollowsTheServer(t *testing.T) {
	inBubbles(t, func(t *testing.T, srv *apitest.Server) {
		r, watch := started(t, srv, nil, object("a", "1"))
		wantStore(t, r, "a@1")
		watch.Send("ADDED", object("b", "11"))
		wantStore(t, r, "a@1", "b@11")
		watch.Send("MODIFIED", object("a", "12", data("k", "v")))
		wantStore(t, r, "a@12", "b@11")
		watch.Send("DELETED", object("a", "13"))
		wantStore(t, r, "b@11")
		watch.Send("DELETED", object("never seen", "14"))
		wantStore(t, r, "b@11")
		if got := r.Store().Stats().ResourceVersion; got != "14" {
			t.Errorf("got version %s, want 14", got)
		}
	})
}

// Readers see nothing of a snapshot before it is complete: neither of the first nor of a later one.
func TestSnapshotIsSwapped(t *testing.T) {
	inBubbles(t, func(t *testing.T, srv *apitest.Server) {
		watch := srv.Expect(stream).Watch()
		r := newReflector(srv, nil)
		run(t, r)
		watch.Send("ADDED", object("a", "1"))
		watch.Send("ADDED", object("gone", "2"))
		wantStore(t, r)
		if r.Store().Ready() {
			t.Error("the store is ready before its first snapshot is complete")
		}
		watch.InitialEventsEnd("10")
		wantStore(t, r, "a@1", "gone@2")
		if !r.Store().Ready() {
			t.Error("the store is not ready after its first snapshot")
		}

		again := srv.Expect(stream).Watch()
		watch.Error(410, "Expired", "too old")
		watch = again
		time.Sleep(2 * time.Second)
		watch.Send("ADDED", object("b", "12"))
		watch.Send("ADDED", object("c", "13"))
		watch.Send("MODIFIED", object("a", "14"))
		watch.Send("MODIFIED", object("b", "15"))
		watch.Send("DELETED", object("c", "16"))
		wantStore(t, r, "a@1", "gone@2")
		if !r.Store().Ready() {
			t.Error("a store that was ready stays ready")
		}
		watch.InitialEventsEnd("20")
		wantStore(t, r, "a@14", "b@15")
	})
}

// A snapshot that breaks leaves nothing behind.
func TestBrokenSnapshotLeavesNoGhosts(t *testing.T) {
	inBubbles(t, func(t *testing.T, srv *apitest.Server) {
		watch := srv.Expect(stream).Watch()
		watch.Send("ADDED", object("ghost", "1"))
		watch.Abort()
		r := newReflector(srv, nil)
		run(t, r)
		send(srv.Expect(stream).Watch(), "10", object("a", "2"))
		time.Sleep(2 * time.Second)
		wantStore(t, r, "a@2")
	})
}

func TestGet(t *testing.T) {
	inBubbles(t, func(t *testing.T, srv *apitest.Server) {
		watch := srv.Expect(stream).Watch()
		r := newReflector(srv, nil)
		run(t, r)
		store := r.Store()
		if _, err := store.Get(ref("a")); !errors.Is(err, reflector.ErrNotReady) || errors.Is(err, reflector.ErrAbsent) {
			t.Errorf("got %v before the first snapshot, want ErrNotReady", err)
		}
		send(watch, "10", object("a", "1", data("k", "v")))
		synctest.Wait()

		got, err := store.Get(ref("a"))
		if err != nil || got.Data["k"] != "v" || got.Kind != "ConfigMap" {
			t.Fatalf("got %v, %v, want the object with its data and type", got, err)
		}
		got.Data["k"] = "changed" // it is a private copy
		if again, _ := store.Get(ref("a")); again.Data["k"] != "v" {
			t.Error("changing what Get returned has changed the store")
		}
		if lazy, ok := store.Lazy(ref("a")); !ok || lazy.Name() != "a" {
			t.Errorf("got %v, %v, want the object undecoded", lazy, ok)
		}

		_, err = store.Get(ref("b"))
		if !errors.Is(err, reflector.ErrAbsent) || err.Error() != "configmaps default/b: not in the store" {
			t.Errorf("got %v, want ErrAbsent with the name", err)
		}
		if _, err := store.Get(resource.Ref[corev1.ConfigMap]{Name: "a"}); !errors.Is(err, reflector.ErrAbsent) {
			t.Errorf("got %v for a ref without its namespace, want ErrAbsent", err)
		}
		if _, ok := store.Lazy(ref("b")); ok {
			t.Error("Lazy says that an absent object is there")
		}
	})
}

// A cluster-scoped object has no namespace, whatever the ref says.
func TestGetClusterScoped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := apitest.Start(t, nil)
		watch := srv.Expect("GET /api/v1/nodes?watch=true").Watch()
		node := object("n", "1")
		node.Namespace = ""
		send(watch, "10", node)
		r := reflector.New(srv.Client().All(core.Nodes), nil)
		run(t, r)
		for _, namespace := range []string{"", "default"} {
			got, err := r.Store().Get(resource.Ref[corev1.Node]{Namespace: namespace, Name: "n"})
			if err != nil || got.Name != "n" {
				t.Errorf("got %v, %v for namespace %q, want the node", got, err, namespace)
			}
		}
	})
}

func TestWaitReady(t *testing.T) {
	inBubbles(t, func(t *testing.T, srv *apitest.Server) {
		refused := srv.Expect("GET "+path).Always().Status(403, "Forbidden", "configmaps is forbidden", 0)
		r := newReflector(srv, &reflector.Options{Watch: watcher.Options{InitialList: watcher.ListWatch}})
		run(t, r)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		err := r.Store().WaitReady(ctx)
		want := "reflector: the store of configmaps has no snapshot yet: context deadline exceeded; last failure: list configmaps: configmaps is forbidden"
		if err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
		if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, kube.ErrForbidden) {
			t.Errorf("%v does not match both causes", err)
		}

		refused.Times(0)
		srv.Expect("GET "+path+"?watch=").List("10", "")
		srv.Expect("GET " + path + "?watch=true").Watch()
		if err := r.Store().WaitReady(t.Context()); err != nil {
			t.Error(err)
		}
		cancelled, cancel := context.WithCancel(t.Context())
		cancel()
		if err := r.Store().WaitReady(cancelled); err != nil {
			t.Errorf("got %v from a store that is ready, want nil", err)
		}
		synctest.Wait()
	})
}

func TestWaitReadyOfAStoppedReflector(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := apitest.Start(t, nil)
		srv.Expect(stream).Watch()
		r := newReflector(srv, nil)
		stop := run(t, r)
		result := make(chan error)
		go func() { result <- r.Store().WaitReady(context.Background()) }()
		synctest.Wait()
		stop()
		if err := <-result; !errors.Is(err, reflector.ErrStopped) {
			t.Errorf("got %v, want ErrStopped", err)
		}
	})
}

func TestWaitFor(t *testing.T) {
	inBubbles(t, func(t *testing.T, srv *apitest.Server) {
		r, watch := started(t, srv, nil)
		for _, step := range []struct {
			version string
			reach   func()
		}{
			{"9", func() {}},
			{"10", func() {}},
			{"11", func() { watch.Send("ADDED", object("a", "11")) }},
			{"12", func() { watch.Send("DELETED", object("a", "13")) }},
			{"100", func() { watch.Bookmark("100") }},
			{"101", func() {
				again := srv.Expect(stream).Watch()
				watch.Error(410, "Expired", "too old")
				send(again, "110")
			}},
		} {
			result := make(chan error, 1)
			go func() { result <- r.Store().WaitFor(t.Context(), step.version) }()
			synctest.Wait()
			step.reach()
			time.Sleep(2 * time.Second)
			synctest.Wait()
			select {
			case err := <-result:
				if err != nil {
					t.Errorf("WaitFor(%s): %v", step.version, err)
				}
			default:
				t.Errorf("WaitFor(%s) is still waiting at %s", step.version, r.Store().Stats().ResourceVersion)
				t.FailNow()
			}
		}

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err := r.Store().WaitFor(ctx, "1000")
		if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), `is at resource version "110" and has not reached 1000`) {
			t.Errorf("got %v, want the deadline and both versions", err)
		}
		for _, version := range []string{"", "0", "abc", "-1"} {
			if err := r.Store().WaitFor(t.Context(), version); err == nil || !strings.Contains(err.Error(), "no resource version") {
				t.Errorf("WaitFor(%q): got %v, want an error about the version", version, err)
			}
		}
	})
}

func TestWaitForOfAStoppedReflector(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := apitest.Start(t, nil)
		send(srv.Expect(stream).Watch(), "10")
		r := newReflector(srv, nil)
		stop := run(t, r)
		stop()
		if err := r.Store().WaitFor(context.Background(), "11"); !errors.Is(err, reflector.ErrStopped) {
			t.Errorf("got %v, want ErrStopped", err)
		}
	})
}

func TestRunErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := apitest.Start(t, nil)
		r := newReflector(srv, &reflector.Options{Watch: watcher.Options{Timeout: -1}})
		if err := r.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "Options.Timeout is -1ns") {
			t.Errorf("got %v, want an error about the option", err)
		}
		if err := r.Store().WaitReady(t.Context()); !errors.Is(err, reflector.ErrStopped) {
			t.Errorf("got %v, want ErrStopped", err)
		}
		if err := r.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "Run was called before") {
			t.Errorf("got %v from the second Run, want an error", err)
		}
	})
}

// Unchanged objects keep their bytes over a new snapshot, so that it needs no second copy.
func TestUnchangedObjectsKeepTheirBytes(t *testing.T) {
	inBubbles(t, func(t *testing.T, srv *apitest.Server) {
		r, watch := started(t, srv, nil, object("same", "1"), object("new", "2"))
		before, _ := r.Store().Lazy(ref("same"))
		again := srv.Expect(stream).Watch()
		watch.Error(410, "Expired", "too old")
		send(again, "20", object("same", "1"), object("new", "12"))
		time.Sleep(2 * time.Second)
		wantStore(t, r, "new@12", "same@1")
		if after, _ := r.Store().Lazy(ref("same")); after.Raw != before.Raw {
			t.Error("an object that did not change has new bytes")
		}
	})
}
