package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/internal/apitest"
	"github.com/go-kube/kube/resource"
	"github.com/go-kube/kube/runtime/reflector"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func pathIn(namespace, plural string) string {
	return "/apis/example.com/v1/namespaces/" + namespace + "/" + plural
}

func inNamespace(namespace string) func(*widget) {
	return func(w *widget) { w.Namespace = namespace }
}

// tenants runs a controller of the widgets in a set of namespaces, with their gadgets, whose reconciler does
// what reconcile says: made from reflectors, or by itself.
func tenants(r *rig, set *reflector.NamespaceSet, reflectors bool, reconcile func(context.Context, *widget) (Action, error)) (ctl *Controller[widget]) {
	if reflectors {
		opts := &reflector.Options{Namespaces: set}
		own, children := reflector.New(r.client.All(widgets), opts), reflector.New(r.client.All(gadgets), opts)
		outlive(r.t, own)
		outlive(r.t, children)
		ctl = NewFrom(own, reconcile, nil)
		ctl.OwnsFrom(children)
	} else {
		ctl = New(r.client.All(widgets), reconcile, &Options{Namespaces: set})
		ctl.Owns(r.client.All(gadgets))
	}
	r.start(ctl)
	synctest.Wait()
	return ctl
}

// inBothBubbles runs f for a controller made from reflectors, and for one that is given its namespaces.
func inBothBubbles(t *testing.T, f func(t *testing.T, r *rig, reflectors bool)) {
	for _, reflectors := range []bool{true, false} {
		t.Run(fmt.Sprint("reflectors=", reflectors), func(t *testing.T) {
			inBubble(t, func(t *testing.T, r *rig) { f(t, r, reflectors) })
		})
	}
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
	inBothBubbles(t, func(t *testing.T, r *rig, reflectors bool) {
		r.serve(pathIn("red", "widgets"), r.object("a", inNamespace("red")))
		children := r.serve(pathIn("red", "gadgets"), r.object("child", inNamespace("red"), ownedBy("Widget", "a", "uid-a")))
		r.serve(pathIn("blue", "widgets"), r.object("b", inNamespace("blue")))
		r.serve(pathIn("blue", "gadgets"))
		set := reflector.NewNamespaceSet("red", "blue")
		ctl := tenants(r, set, reflectors, func(_ context.Context, w *widget) (Action, error) {
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
		// The gadget that left may have come before the widget that it belongs to; one that joins runs when it
		// is found, and when its gadgets are known, if that is later.
		lines := slices.DeleteFunc(r.got(), func(line string) bool { return line == "0s red/a" })
		if !slices.Equal(slices.Compact(lines), []string{"0s green/c"}) {
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
			inBothBubbles(t, func(t *testing.T, r *rig, reflectors bool) {
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
				ctl := tenants(r, reflector.NewNamespaceSet("red", "blue"), reflectors, func(ctx context.Context, w *widget) (Action, error) {
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

// forbid refuses lists and watches of a path while there is another answer for them.
func (r *rig) forbid(path string, times int) {
	r.srv.Expect("GET "+path).Times(times).Status(403, metav1.StatusReasonForbidden, "you may not", 0)
}

func setOf(t *testing.T, set *reflector.NamespaceSet, names ...string) {
	t.Helper()
	if err := set.Set(names...); err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
}

// Controllers of the same namespaces have one watch of each kind and namespace between them.
func TestControllersOfSeveralNamespacesShare(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		for _, namespace := range []string{"red", "blue"} {
			r.serve(pathIn(namespace, "widgets"), r.object("a", inNamespace(namespace)))
			r.serve(pathIn(namespace, "gadgets"), r.object("child", inNamespace(namespace), ownedBy("Widget", "a", "uid-a")))
		}
		set := reflector.NewNamespaceSet("red")
		for i := range 3 {
			ctl := New(r.client.All(widgets), func(_ context.Context, w *widget) (Action, error) {
				r.add(fmt.Sprint(i, " ", w.Namespace))
				return Await(), nil
			}, &Options{Namespaces: set})
			ctl.Owns(r.client.All(gadgets))
			r.start(ctl)
		}
		r.wantSorted(t, "0s 0 red", "0s 1 red", "0s 2 red")
		wantWatches(t, r, pathIn("red", "gadgets"), pathIn("red", "widgets"))
		r.clear()
		setOf(t, set, "blue")
		time.Sleep(time.Second)
		if got := r.got(); !slices.Contains(got, "0s 0 blue") || !slices.Contains(got, "0s 1 blue") || !slices.Contains(got, "0s 2 blue") {
			t.Errorf("got %q", got)
		}
		wantWatches(t, r, pathIn("blue", "gadgets"), pathIn("blue", "widgets"), pathIn("red", "gadgets"), pathIn("red", "widgets"))
		r.start(New(r.client.All(widgets), r.noting(nil), &Options{Namespaces: set, OwnWatch: true}))
		wantWatches(t, r, pathIn("blue", "gadgets"), pathIn("blue", "widgets"), pathIn("blue", "widgets"), pathIn("red", "gadgets"), pathIn("red", "widgets"))
	})
}

// wantWatches checks what was watched since the test began.
func wantWatches(t *testing.T, r *rig, want ...string) {
	t.Helper()
	synctest.Wait()
	if got := slices.Sorted(slices.Values(ownWatches(r))); !slices.Equal(got, want) {
		t.Errorf("watches of\n%q, want\n%q", got, want)
	}
}

// Selectors of the same labels are the same namespaces.
func TestControllersOfSelectedNamespacesShare(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		namespaces := r.watch("/api/v1/namespaces")
		namespaces.Send("ADDED", &metav1.PartialObjectMetadata{
			TypeMeta:   metav1.TypeMeta{APIVersion: "meta.k8s.io/v1", Kind: "PartialObjectMetadata"},
			ObjectMeta: metav1.ObjectMeta{Name: "red", ResourceVersion: r.next(), UID: "uid-red"},
		})
		namespaces.InitialEventsEnd(r.next())
		r.serve(pathIn("red", "widgets"), r.object("a", inNamespace("red")))
		r.serve(pathIn("red", "gadgets"))
		for _, labels := range []string{"team=a,tier=b", "tier=b, team=a", "tier = b,team = a"} {
			ctl := New(r.client.All(widgets), r.noting(nil), &Options{Namespaces: reflector.SelectNamespaces(r.client, labels)})
			ctl.Owns(r.client.All(gadgets))
			r.start(ctl)
		}
		synctest.Wait()
		if got := r.got(); len(got) != 3 {
			t.Errorf("got %q", got)
		}
		wantWatches(t, r, "/api/v1/namespaces", pathIn("red", "gadgets"), pathIn("red", "widgets"))
	})
}

// What is cluster-scoped stays so, and so does a kind that was asked for in one namespace.
func TestNamespacesConcernWhatIsInNamespaces(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.serve(realmsPath, &realm{
			TypeMeta:   metav1.TypeMeta{APIVersion: "example.com/v1", Kind: "Realm"},
			ObjectMeta: metav1.ObjectMeta{Name: "top", UID: "uid-top", ResourceVersion: r.next()},
		})
		children := r.serve(pathIn("red", "widgets"))
		r.serve(pathIn("system", "gadgets"))
		set := reflector.NewNamespaceSet("red")
		ctl := New(r.client.All(realms), func(_ context.Context, o *realm) (Action, error) {
			r.add(o.Name)
			return Await(), nil
		}, &Options{Namespaces: set})
		ctl.Owns(r.client.All(widgets))
		ctl.Watches(r.client.Namespaced(gadgets, "system"), func(*widget) []resource.Ref[realm] { return nil })
		r.start(ctl)
		r.want(t, "0s top")
		children.Send("ADDED", r.object("child", inNamespace("red"), ownedBy("Realm", "top", "uid-top")))
		r.want(t, "0s top", "0s top")
		wantWatches(t, r, pathIn("red", "widgets"), pathIn("system", "gadgets"), realmsPath)

		r.clear()
		r.serve(pathIn("blue", "widgets"))
		setOf(t, set, "red", "blue") // what came and went there before it was listed, nothing tells
		r.want(t, "0s top")
		r.clear()
		setOf(t, set, "blue") // the child leaves with its namespace
		r.want(t, "0s top")
		if err := ctl.Ready(); err != nil {
			t.Error(err)
		}
	})
}

// A namespace that cannot be read is named, together with the kind, until it can be or leaves the set.
func TestNamespaceOfTheControllerThatCannotBeRead(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.serve(pathIn("red", "widgets"), r.object("a", inNamespace("red")))
		r.forbid(pathIn("blue", "widgets"), -1)
		set := reflector.NewNamespaceSet("red", "blue")
		ctl := New(r.client.All(widgets), r.noting(nil), &Options{Namespaces: set})
		r.start(ctl)
		time.Sleep(10*time.Minute + time.Second)
		r.want(t)
		const waits = "the controller cannot start before its objects are known"
		r.wantLog("level=ERROR", waits, "widgets.example.com in namespace blue", "you may not")
		if n := strings.Count(r.log.String(), waits); n != 10 {
			t.Errorf("it was said %d times in 10 minutes, want 10", n)
		}
		if strings.Contains(r.log.String(), "in namespace red") {
			t.Errorf("the log complains of a namespace that can be read:\n%s", r.log.String())
		}
		err := ctl.Ready()
		if !errors.Is(err, kube.ErrForbidden) || !strings.Contains(err.Error(), "widgets.example.com in namespace blue") || strings.Contains(err.Error(), "namespace red") {
			t.Errorf("Ready = %v", err)
		}
		if state := ctl.State()[0]; state.Synced || !state.Namespaces["red"].Synced || state.Namespaces["blue"].LastError == nil {
			t.Errorf("State = %+v", state)
		}
		r.clear()
		setOf(t, set, "red")
		r.want(t, "0s a size 0 (object found, attempt 1)")
		if err := ctl.Ready(); err != nil {
			t.Error(err)
		}
	})
}

// Many of them are counted.
func TestManyNamespacesThatCannotBeRead(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		var names []string
		for i := range 9 {
			names = append(names, fmt.Sprint("n", i))
			r.forbid(pathIn(names[i], "widgets"), -1)
		}
		ctl := New(r.client.All(widgets), r.noting(nil), &Options{Namespaces: reflector.NewNamespaceSet(names...)})
		r.start(ctl)
		synctest.Wait()
		err := ctl.Ready()
		if err == nil || strings.Count(err.Error(), "you may not") != 5 || !strings.Contains(err.Error(), "4 more namespaces") {
			t.Errorf("Ready = %v", err)
		}
	})
}

// A namespace in which a related kind cannot be read holds the others up for SyncTimeout. When it
// comes, the objects in it are reconciled: something may have come and gone before.
func TestNamespaceOfARelatedKindThatCannotBeRead(t *testing.T) {
	inBothBubbles(t, func(t *testing.T, r *rig, reflectors bool) {
		red := r.serve(pathIn("red", "widgets"), r.object("a", inNamespace("red")))
		r.serve(pathIn("blue", "widgets"), r.object("b", inNamespace("blue")))
		children := r.serve(pathIn("red", "gadgets"), r.object("child", inNamespace("red"), ownedBy("Widget", "a", "uid-a")))
		r.forbid(pathIn("blue", "gadgets"), 9)
		r.serve(pathIn("blue", "gadgets"))
		ctl := tenants(r, reflector.NewNamespaceSet("red", "blue"), reflectors, func(_ context.Context, w *widget) (Action, error) {
			r.add(w.Name)
			return Await(), nil
		})
		r.want(t)
		time.Sleep(31 * time.Second)
		r.wantSorted(t, "27s a", "27s b")
		r.clear()
		children.Send("DELETED", r.object("child", inNamespace("red"), ownedBy("Widget", "a", "uid-a")))
		r.want(t, "0s a")
		err := ctl.Ready()
		if !errors.Is(err, kube.ErrForbidden) || !strings.Contains(err.Error(), "gadgets.example.com in namespace blue") {
			t.Errorf("Ready = %v", err)
		}
		time.Sleep(40 * time.Second)
		r.wantLog("level=WARN", "a related kind is not complete", "gadgets.example.com in namespace blue", "you may not")
		red.Send("MODIFIED", r.object("a", inNamespace("red"), size(2)))
		synctest.Wait()
		r.clear()
		time.Sleep(5 * time.Minute)
		if got := r.got(); len(got) != 1 || !strings.HasSuffix(got[0], " b") {
			t.Errorf("got %q, want one run of the object in the namespace that came", got)
		}
		if err := ctl.Ready(); err != nil {
			t.Error(err)
		}
	})
}

func TestNamespaceMistakes(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		set := reflector.NewNamespaceSet("red")
		for want, ctl := range map[string]*Controller[widget]{
			"client.All(kind)":    New(r.client.Namespaced(widgets, "red"), r.noting(nil), &Options{Namespaces: set}),
			`"Red"`:               New(r.client.All(widgets), r.noting(nil), &Options{Namespaces: reflector.NewNamespaceSet("Red")}),
			"give both the same":  NewFrom(reflector.New(r.client.All(widgets), nil), r.noting(nil), &Options{Namespaces: set}),
			"not what the reflec": NewFrom(reflector.New(r.client.All(widgets), &reflector.Options{Namespaces: set}), r.noting(nil), &Options{Namespaces: reflector.NewNamespaceSet("red")}),
		} {
			if err := ctl.Run(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("Run = %v, want %q", err, want)
			}
		}
	})
}

// A controller made from a reflector is of the reflector's namespaces, its related kinds included.
func TestRelatedKindsAreOfTheReflectorsNamespaces(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.serve(pathIn("red", "widgets"), r.object("a", inNamespace("red")))
		r.serve(pathIn("red", "gadgets"))
		own := reflector.New(r.client.All(widgets), &reflector.Options{Namespaces: reflector.NewNamespaceSet("red")})
		outlive(t, own)
		ctl := NewFrom(own, r.noting(nil), nil)
		ctl.Owns(r.client.All(gadgets))
		r.start(ctl)
		wantWatches(t, r, pathIn("red", "gadgets"), pathIn("red", "widgets"))
	})
}
