package controller

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/internal/apitest"
	"github.com/go-kube/kube/runtime/reflector"
)

func pathIn(namespace, plural string) string {
	return "/apis/example.com/v1/namespaces/" + namespace + "/" + plural
}

func inNamespace(namespace string) func(*widget) {
	return func(w *widget) { w.Namespace = namespace }
}

// tenants runs a controller of the widgets in a set of namespaces, with their gadgets, whose reconciler does
// what reconcile says.
func tenants(r *rig, set *reflector.NamespaceSet, reconcile func(context.Context, *widget) (Action, error)) *Controller[widget] {
	opts := &reflector.Options{Namespaces: set}
	own, children := reflector.New(r.client.All(widgets), opts), reflector.New(r.client.All(gadgets), opts)
	outlive(r.t, own)
	outlive(r.t, children)
	ctl := NewFrom(own, reconcile, nil)
	ctl.OwnsFrom(children)
	r.start(ctl)
	synctest.Wait()
	return ctl
}

// outlive runs a reflector until after those that were started later have ended.
func outlive(t *testing.T, objects *reflector.Reflector[widget]) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- objects.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
}

func TestControllerOfSeveralNamespaces(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.serve(pathIn("red", "widgets"), r.object("a", inNamespace("red")))
		children := r.serve(pathIn("red", "gadgets"), r.object("child", inNamespace("red"), ownedBy("Widget", "a", "uid-a")))
		r.serve(pathIn("blue", "widgets"), r.object("b", inNamespace("blue")))
		r.serve(pathIn("blue", "gadgets"))
		set := reflector.NewNamespaceSet("red", "blue")
		ctl := tenants(r, set, func(_ context.Context, w *widget) (Action, error) {
			r.add(w.Namespace + "/" + w.Name)
			return Await(), nil
		})
		r.wantSorted(t, "0s blue/b", "0s red/a")
		r.clear()

		time.Sleep(time.Second)
		children.Send("MODIFIED", r.object("child", inNamespace("red"), ownedBy("Widget", "a", "uid-a"), size(2)))
		synctest.Wait()
		r.wantSorted(t, "1s red/a")
		r.clear()

		r.serve(pathIn("green", "widgets"), r.object("c", inNamespace("green")))
		r.serve(pathIn("green", "gadgets"))
		if err := set.Set("green", "blue"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		time.Sleep(time.Second)
		// The gadget that left may have come before the widget that it belongs to.
		if lines := slices.DeleteFunc(r.got(), func(line string) bool { return line == "0s red/a" }); !slices.Equal(lines, []string{"0s green/c"}) {
			t.Errorf("got %q", lines)
		}
		if n := ctl.Store().Len(); n != 2 {
			t.Errorf("the store has %d objects, want those of two namespaces", n)
		}
	})
}

// A write is waited for in the namespace that it is in: another, in which nothing happens, does not show it.
func TestOwnWritesInSeveralNamespaces(t *testing.T) {
	for _, related := range []bool{false, true} {
		t.Run(fmt.Sprint("related=", related), func(t *testing.T) {
			inBubble(t, func(t *testing.T, r *rig) {
				plural, kind := "widgets", widgets
				if related {
					plural, kind = "gadgets", gadgets
				}
				watches := map[string]*apitest.Watch{
					"widgets": r.serve(pathIn("red", "widgets"), r.object("a", inNamespace("red"))),
					"gadgets": r.serve(pathIn("red", "gadgets"), r.object("a", inNamespace("red"), ownedBy("Widget", "a", "uid-a"))),
				}
				r.serve(pathIn("blue", "widgets"))
				r.serve(pathIn("blue", "gadgets"))
				written := r.object("a", inNamespace("red"), ownedBy("Widget", "a", "uid-a"), size(2))
				r.srv.Expect("PATCH "+pathIn("red", plural)+"/a").JSON(200, written)
				runs := 0
				ctl := tenants(r, reflector.NewNamespaceSet("red", "blue"), func(ctx context.Context, w *widget) (Action, error) {
					r.add(w.Name)
					if runs++; runs > 1 {
						return Await(), nil
					}
					_, err := r.client.Namespaced(kind, "red").Patch(ctx, "a", kube.MergePatch(map[string]any{"spec": map[string]any{"size": 2}}), nil)
					return After(time.Second), err
				})
				time.Sleep(3 * time.Second) // the second run is due, and waits
				if parked := ctl.Stats().Parked; parked != 1 {
					t.Errorf("%d keys wait for their own writes, want 1", parked)
				}
				watches[plural].Send("MODIFIED", written)
				synctest.Wait()
				time.Sleep(time.Second)
				if stats := ctl.Stats(); stats.Parked != 0 || runs < 2 {
					t.Errorf("after the event there were %d runs, and %d keys wait", runs, stats.Parked)
				}
			})
		})
	}
}
