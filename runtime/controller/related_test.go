package controller

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/internal/apitest"
	"github.com/go-kube/kube/resource"
	"github.com/go-kube/kube/runtime/reflector"
	"github.com/go-kube/kube/runtime/watcher"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// kindsOf returns n kinds, and puts an object called a of each on the server.
func kindsOf(t *testing.T, r *rig, s *laggingServer, n int) (apis []kube.API[widget], metadata []kube.API[resource.Metadata[widget]]) {
	for i := range n {
		info := resource.Info{Group: "example.com", Version: "v1", Kind: fmt.Sprintf("Kind%d", i), Plural: fmt.Sprintf("kind%d", i)}
		kind := resource.DefineNamespaced[widget](info)
		apis = append(apis, r.client.All(kind))
		metadata = append(metadata, r.client.All(kind.Metadata()))
		s.add(t, "/apis/example.com/v1/"+info.Plural, r.object("a"))
	}
	return apis, metadata
}

func toA[K any](*K) []resource.Ref[widget] {
	return []resource.Ref[widget]{{Namespace: "ns", Name: "a"}}
}

// 1000 controllers of 50 kinds, each of which owns another kind and watches two more, need 50
// watches, and leave no goroutine behind.
func TestAThousandControllersShareFiftyWatchesWithTheirRelatedKinds(t *testing.T) {
	const kinds, controllers = 50, 1000
	inLaggingBubble(t, 0, func(t *testing.T, r *rig, s *laggingServer) {
		apis, metadata := kindsOf(t, r, s, kinds)
		var reconciled atomic.Int32
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, controllers)
		for i := range controllers {
			ctl := New(apis[i%kinds], func(context.Context, *widget) (Action, error) {
				reconciled.Add(1)
				return Await(), nil
			}, nil)
			ctl.Owns(apis[(i+1)%kinds])
			ctl.Watches(apis[(i+2)%kinds], toA)
			ctl.Watches(metadata[(i+3)%kinds], toA)
			go func() { ended <- ctl.Run(ctx) }()
		}
		synctest.Wait()
		if n := reconciled.Load(); n != controllers {
			t.Errorf("%d reconciles by %d controllers of an object each", n, controllers)
		}
		open, opened := s.watches()
		if open != kinds {
			t.Errorf("%d watches are open, want %d", open, kinds)
		}
		t.Logf("%d watches were begun in all", opened)

		reconciled.Store(0)
		if err := r.client.Namespaced(resource.DefineNamespaced[widget](resource.Info{
			Group: "example.com", Version: "v1", Kind: "Kind7", Plural: "kind7",
		}), "ns").Delete(t.Context(), "a", nil); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if n := reconciled.Load(); n != 2*controllers/kinds {
			t.Errorf("%d reconciles, want one by each of the controllers that watch what was deleted", n)
		}
		cancel()
		for range controllers {
			if err := <-ended; err != nil {
				t.Errorf("Run: %v", err)
			}
		}
		if open, _ := s.watches(); open != 0 {
			t.Errorf("%d watches are open after all controllers have ended", open)
		}
		r.client.Close()
		wantNothingLeft(t)
	})
}

// wantNothingLeft checks that no goroutine of the runtime is left.
func wantNothingLeft(t *testing.T) {
	t.Helper()
	synctest.Wait()
	stacks := make([]byte, 1<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	for _, left := range []string{"controller.(*engine)", "controller.(*runner", "runtime/reflector.", "runtime/watcher."} {
		if n := strings.Count(string(stacks), left); n > 0 {
			t.Errorf("%d calls of %s are left", n, left)
		}
	}
}

// owners runs n controllers that own gadgets, each of which notes its runs under its number.
func owners(r *rig, n int, opts *Options) (stop []func() error) {
	for i := range n {
		ctl := New(r.client.All(widgets), func(ctx context.Context, w *widget) (Action, error) {
			r.add(fmt.Sprintf("%d: %s (%s)", i, w.Name, ReasonFrom(ctx)))
			return Await(), nil
		}, opts)
		ctl.Owns(r.client.All(gadgets))
		stop = append(stop, r.run(ctl))
	}
	return stop
}

const child = "(related object updated: gadgets.example.com ns/child)"

// Controllers that come late know what is there, and a deletion reaches all of them, whoever
// has left meanwhile.
func TestControllersComeAndGoOnASharedRelatedKind(t *testing.T) {
	inLaggingBubble(t, 0, func(t *testing.T, r *rig, s *laggingServer) {
		s.add(t, widgetsPath, r.object("a"))
		children := r.client.Namespaced(gadgets, "ns")
		create := func() {
			obj := &widget{ObjectMeta: metav1.ObjectMeta{Name: "child", OwnerReferences: []metav1.OwnerReference{
				{APIVersion: "example.com/v1", Kind: "Widget", Name: "a", UID: "uid-1"},
			}}}
			if _, err := children.Create(t.Context(), obj, nil); err != nil {
				t.Fatal(err)
			}
		}
		early := owners(r, 2, nil)
		synctest.Wait()
		create()
		synctest.Wait()
		late := owners(r, 3, nil)
		r.clear()
		if open, _ := s.watches(); open != 2 {
			t.Errorf("%d watches of five controllers on two kinds, want 2", open)
		}
		for i, stop := range append(early, late[0]) {
			if err := stop(); err != nil {
				t.Errorf("Run of %d: %v", i, err)
			}
		}
		if err := children.Delete(t.Context(), "child", nil); err != nil {
			t.Fatal(err)
		}
		r.wantSorted(t, "100ms 1: a "+child, "100ms 2: a "+child)
		late[1]()
		late[2]()
		if open, _ := s.watches(); open != 0 {
			t.Errorf("%d watches are open after the last one is out", open)
		}
		r.client.Close()
		wantNothingLeft(t)
	})
}

// One function of Watches that is stuck holds up nobody else.
func TestAStuckWatcherOfASharedRelatedKind(t *testing.T) {
	inLaggingBubble(t, 0, func(t *testing.T, r *rig, s *laggingServer) {
		s.add(t, widgetsPath, r.object("a"))
		s.add(t, gadgetsPath, r.object("part"))
		release, stuck := make(chan struct{}), atomic.Bool{}
		for i := range 3 {
			ctl := New(r.client.All(widgets), func(ctx context.Context, w *widget) (Action, error) {
				if ReasonFrom(ctx).Kind == Related {
					r.add(fmt.Sprint(i))
				}
				return Await(), nil
			}, nil)
			seen := 0
			ctl.Watches(r.client.All(gadgets), func(w *widget) []resource.Ref[widget] {
				if i == 1 && stuck.Load() {
					r.add(fmt.Sprintf("asked about size %d", w.Spec.Size))
					<-release
				}
				seen++
				return toA(w)
			})
			r.start(ctl)
		}
		synctest.Wait()
		stuck.Store(true)
		for n := range 100 {
			part := r.object("part", size(n+1))
			if err := replace(t.Context(), r.client.Namespaced(gadgets, "ns"), &widget{ObjectMeta: metav1.ObjectMeta{Name: "part"}, Spec: part.Spec}); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		times := map[string]int{}
		for _, line := range r.got() {
			times[line]++
		}
		if diff := cmp.Diff(map[string]int{"0s 0": 100, "0s 2": 100, "0s asked about size 1": 1}, times); diff != "" {
			t.Errorf("how often what stands in the journal (-want +got):\n%s", diff)
		}
		r.clear()
		close(release)
		// The changes between are one. The runs that both ask for may be one as well.
		if got := slices.Compact(r.got()); !slices.Equal(got, []string{"0s asked about size 100", "0s 1"}) &&
			!slices.Equal(got, []string{"0s 1", "0s asked about size 100", "0s 1"}) {
			t.Errorf("the journal is %q", got)
		}
	})
}

// A feed that has a watch of its own goes over to the store of a controller of the kind, and stays
// there when that ends.
func TestARelatedKindIsHeardFromItsOwnStore(t *testing.T) {
	inLaggingBubble(t, 0, func(t *testing.T, r *rig, s *laggingServer) {
		s.add(t, widgetsPath, r.object("a"))
		s.add(t, gadgetsPath, r.object("child", ownedBy("Widget", "a", "uid-1")))
		ctl := New(r.client.All(widgets), r.noting(nil), nil)
		owned := ctl.Owns(r.client.All(gadgets))
		r.start(ctl)
		r.want(t, "0s a size 0 (object found, attempt 1)")
		r.clear()
		stop := r.run(New(r.client.All(gadgets), func(context.Context, *widget) (Action, error) { return Await(), nil }, nil))
		if open, opened := s.watches(); open != 2 || opened != 3 {
			t.Errorf("%d watches are open of %d, want 2 of 3", open, opened)
		}
		r.want(t) // nothing has happened to the child
		change := func(n int) {
			t.Helper()
			if _, err := r.client.Namespaced(gadgets, "ns").Patch(t.Context(), "child", kube.MergePatch(map[string]any{"spec": map[string]any{"size": n}}), nil); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		change(1)
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		change(2)
		const because = "100ms a size 0 (related object updated: gadgets.example.com ns/child, attempt 1)"
		r.want(t, because, because)
		if state := owned.State(); state.Phase != watcher.Watching || !state.Synced {
			t.Errorf("the state is %+v", state)
		}
		if open, opened := s.watches(); open != 2 || opened != 3 {
			t.Errorf("%d watches are open of %d, want 2 of 3", open, opened)
		}
	})
}

func TestOwnWatchSharesNoRelatedKind(t *testing.T) {
	inLaggingBubble(t, 0, func(t *testing.T, r *rig, s *laggingServer) {
		s.add(t, widgetsPath, r.object("a"))
		var stops []func() error
		stops = append(stops, owners(r, 2, nil)...)
		stops = append(stops, owners(r, 2, &Options{OwnWatch: true})...)
		if open, _ := s.watches(); open != 6 {
			t.Errorf("%d watches, want two of the two controllers that share, and four of the others", open)
		}
		for _, stop := range stops {
			stop()
		}
	})
}

// An object that a reconciler has made, and that is deleted before any watch has shown it: the
// list that follows cannot tell of it, and the key is reconciled all the same, however the
// related kind is watched.
func TestAnObjectThatCameAndWentUnseenTriggersItsMaker(t *testing.T) {
	share := &reflector.Options{Share: true}
	for name, relate := range map[string]func(r *rig, ctl *Controller[widget]){
		"alone": func(r *rig, ctl *Controller[widget]) { ctl.Owns(r.client.All(gadgets)) },
		"with a store of metadata": func(r *rig, ctl *Controller[widget]) {
			r.start(reflector.New(r.client.All(gadgets.Metadata()), share))
			synctest.Wait()
			ctl.Owns(r.client.All(gadgets))
		},
		"with a store of the kind": func(r *rig, ctl *Controller[widget]) {
			r.start(reflector.New(r.client.All(gadgets), share))
			synctest.Wait()
			ctl.Owns(r.client.All(gadgets))
		},
		"from a reflector": func(r *rig, ctl *Controller[widget]) {
			objects := reflector.New(r.client.All(gadgets), nil)
			r.start(objects)
			ctl.OwnsFrom(objects)
		},
		"watched, from a reflector": func(r *rig, ctl *Controller[widget]) {
			objects := reflector.New(r.client.All(gadgets), nil)
			r.start(objects)
			ctl.WatchesFrom(objects, toA)
		},
	} {
		t.Run(name, func(t *testing.T) { inBubble(t, func(t *testing.T, r *rig) { cameAndWent(t, r, relate) }) })
	}
}

func cameAndWent(t *testing.T, r *rig, relate func(*rig, *Controller[widget])) {
	r.serve(widgetsPath, r.object("a"), r.object("b"))
	first := r.srv.Expect("GET " + gadgetsPath + "?watch=true&sendInitialEvents=true").Watch()
	first.InitialEventsEnd(r.next())
	made := r.object("made", ownedBy("Widget", "a", "uid-a"))
	r.srv.Expect("POST "+strings.Replace(gadgetsPath, "/gadgets", "/namespaces/ns/gadgets", 1)).JSON(201, made)
	runs, last := map[string]int{}, ""
	ctl := New(r.client.All(widgets), func(ctx context.Context, w *widget) (Action, error) {
		last = w.Name + ": " + ReasonFrom(ctx).String()
		if runs[w.Name]++; w.Name != "a" || runs["a"] > 1 {
			return Await(), nil
		}
		_, err := r.client.Namespaced(gadgets, "ns").Create(ctx, &widget{ObjectMeta: metav1.ObjectMeta{Name: "made"}}, nil)
		return Await(), err
	}, &Options{Concurrency: 1})
	relate(r, ctl)
	r.start(ctl)
	synctest.Wait()
	r.serve(gadgetsPath)
	first.Error(410, metav1.StatusReasonExpired, "too old")
	time.Sleep(time.Minute)
	synctest.Wait()
	if runs["a"] != 2 || runs["b"] != 1 {
		t.Errorf("reconciles: %v; want a second one of a, whose gadget is gone", runs)
	}
	if want := "a: related object updated: gadgets.example.com"; last != want {
		t.Errorf("the last reconcile is %q, want %q", last, want)
	}
}

// BenchmarkAThousandControllers starts and stops 1000 controllers on 50 kinds, each with an object
// of its own and a related kind. An iteration is all of it.
func BenchmarkAThousandControllers(b *testing.B) {
	const kinds, controllers = 50, 1000
	s := &laggingServer{lag: func() time.Duration { return 0 }, objects: map[string]content{}, more: make(chan struct{}), open: map[string]int{}}
	client := apitest.Start(b, &apitest.Options{Handler: s}).Client()
	var apis []kube.API[widget]
	for i := range kinds {
		info := resource.Info{Group: "example.com", Version: "v1", Kind: fmt.Sprintf("Kind%d", i), Plural: fmt.Sprintf("kind%d", i)}
		apis = append(apis, client.All(resource.DefineNamespaced[widget](info)))
		s.store("/apis/example.com/v1/"+info.Plural, "ns", "a", content{"metadata": content{}, "spec": content{"size": 1.0}})
	}
	for b.Loop() {
		var found, ended sync.WaitGroup
		ctx, cancel := context.WithCancel(b.Context())
		found.Add(controllers)
		for i := range controllers {
			ctl := New(apis[i%kinds], func(ctx context.Context, w *widget) (Action, error) {
				if ReasonFrom(ctx).Kind == Found {
					found.Done()
				}
				return Await(), nil
			}, nil)
			ctl.Owns(apis[(i+1)%kinds])
			ended.Go(func() {
				if err := ctl.Run(ctx); err != nil {
					b.Errorf("Run: %v", err)
				}
			})
		}
		found.Wait()
		cancel()
		ended.Wait()
	}
	_, opened := s.counts()
	b.ReportMetric(float64(opened)/float64(b.N), "watches/op")
}
