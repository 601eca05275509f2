package controller

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-kube/kube/resource"
	"github.com/go-kube/kube/runtime/reflector"
	"github.com/go-kube/kube/runtime/watcher"
	"github.com/google/go-cmp/cmp"
)

func TestControllerReconcilesWhatIsThereAndWhatChanges(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		w := r.serve(widgetsPath, r.object("a", size(1)))
		r.start(New(r.client.All(widgets), r.noting(nil), nil))
		r.want(t, "0s a size 1 (object found, attempt 1)")
		time.Sleep(time.Second)
		w.Send("ADDED", r.object("b", size(7)))
		time.Sleep(time.Second)
		w.Send("MODIFIED", r.object("a", size(2)))
		time.Sleep(time.Second)
		w.Send("DELETED", r.object("b", size(7)))
		time.Sleep(time.Hour)
		r.want(t,
			"0s a size 1 (object found, attempt 1)",
			"1s b size 7 (object updated, attempt 1)",
			"2s a size 2 (object updated, attempt 1)",
		)
	})
}

func TestControllerWaitsForTheFirstListBeforeItReconciles(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		w := r.watch(widgetsPath)
		ctl := New(r.client.All(widgets), r.noting(nil), &Options{Concurrency: 1})
		r.start(ctl)
		w.Send("ADDED", r.object("a", size(1)))
		w.Send("MODIFIED", r.object("a", size(2)))
		time.Sleep(5 * time.Second)
		r.want(t)
		if err := ctl.Ready(); err == nil || !strings.Contains(err.Error(), "first list is not complete") {
			t.Errorf("Ready = %v before the first list", err)
		}
		w.InitialEventsEnd(r.next())
		r.want(t, "5s a size 2 (object found, attempt 1)")
		if err := ctl.Ready(); err != nil {
			t.Errorf("Ready = %v", err)
		}
	})
}

func TestControllerReconcilesTheNewestState(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		w := r.serve(widgetsPath, r.object("a", size(1)))
		r.start(New(r.client.All(widgets), r.noting(func(*widget) (Action, error) {
			time.Sleep(10 * time.Second)
			return Await(), nil
		}), nil))
		time.Sleep(time.Second)
		for i := range 5 {
			w.Send("MODIFIED", r.object("a", size(10+i)))
			time.Sleep(time.Second)
		}
		time.Sleep(time.Minute)
		r.want(t, "0s a size 1 (object found, attempt 1)", "10s a size 14 (object updated, attempt 1)")
	})
}

func TestControllerGivesTheReconcilerItsOwnCopy(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.serve(widgetsPath, r.object("a", size(1)))
		r.start(New(r.client.All(widgets), r.noting(func(w *widget) (Action, error) {
			w.Spec.Size = 99
			return After(time.Second), nil
		}), nil))
		time.Sleep(1500 * time.Millisecond)
		r.want(t, "0s a size 1 (object found, attempt 1)", "1s a size 1 (reconciler requested, attempt 1)")
	})
}

func TestControllerDropsAnObjectThatIsGoneQuietly(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		w := r.serve(widgetsPath, r.object("a"), r.object("b"))
		ctl := New(r.client.All(widgets), r.noting(func(w *widget) (Action, error) {
			time.Sleep(time.Second)
			return Await(), errors.New("fails")
		}), &Options{Concurrency: 1})
		r.start(ctl)
		time.Sleep(500 * time.Millisecond)
		w.Send("DELETED", r.object("a"))
		w.Send("DELETED", r.object("b"))
		time.Sleep(time.Hour)
		synctest.Wait()
		if n := len(r.lines); n != 1 {
			t.Errorf("%d reconciles, want the one that ran when the objects went: %q", n, r.lines)
		}
		if s := ctl.Stats(); s.Waiting+s.Due+s.Running != 0 || s.Absent != 2 {
			t.Errorf("Stats = %+v, want nothing left and two keys whose object was gone", s)
		}
		if left := ctl.engine.runner.Load().keys.entries.count; left != 0 {
			t.Errorf("%d keys are remembered", left)
		}
	})
}

func TestControllerAfterRunsAgain(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		w := r.serve(widgetsPath, r.object("a"))
		r.start(New(r.client.All(widgets), r.noting(func(*widget) (Action, error) { return After(time.Minute), nil }), nil))
		time.Sleep(90 * time.Second)
		w.Send("MODIFIED", r.object("a", size(2))) // earlier than the next, and in place of it
		time.Sleep(70 * time.Second)
		r.want(t,
			"0s a size 0 (object found, attempt 1)",
			"1m0s a size 0 (reconciler requested, attempt 1)",
			"1m30s a size 2 (object updated, attempt 1)",
			"2m30s a size 2 (reconciler requested, attempt 1)",
		)
	})
}

func TestControllerFilterHoldsBackChanges(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		w := r.serve(widgetsPath, r.object("a", size(1)))
		ctl := New(r.client.All(widgets), r.noting(nil), nil)
		ctl.Filter(Generation())
		r.start(ctl)
		label := func(w *widget) { w.Labels = map[string]string{"a": "b"} }
		for _, obj := range []*widget{r.object("a", size(1), label), r.object("a", size(2), label), r.object("a", size(2))} {
			time.Sleep(time.Second)
			w.Send("MODIFIED", obj)
		}
		time.Sleep(time.Second)
		w.Send("DELETED", r.object("a", size(2)))
		time.Sleep(time.Second)
		if synctest.Wait(); len(ctl.engine.filter.passed) != 0 {
			t.Error("the filter remembers an object that is gone")
		}
		w.Send("ADDED", r.object("a", size(2), func(w *widget) { w.UID = "other" }))
		r.want(t,
			"0s a size 1 (object found, attempt 1)",
			"2s a size 2 (object updated, attempt 1)",
			"5s a size 2 (object updated, attempt 1)",
		)
		if n := len(ctl.engine.filter.passed); n != 1 {
			t.Errorf("the filter remembers %d objects, want 1", n)
		}
	})
}

func TestControllerSurvivesAPanicInAPredicate(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.serve(widgetsPath, r.object("a"))
		ctl := New(r.client.All(widgets), r.noting(nil), nil)
		ctl.Filter(Where(func(*resource.Raw) bool { panic("predicate is broken") }))
		r.start(ctl)
		r.want(t, "0s a size 0 (object found, attempt 1)")
		r.wantLog("predicate failed", "predicate is broken", "Widget ns/a")
	})
}

func TestControllerDebounces(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		w := r.serve(widgetsPath)
		r.start(New(r.client.All(widgets), r.noting(func(w *widget) (Action, error) {
			if w.Spec.Size == 4 {
				return After(500 * time.Millisecond), nil // not put off
			}
			return Await(), nil
		}), &Options{Debounce: 2 * time.Second}))
		for i := range 5 {
			w.Send("MODIFIED", r.object("a", size(i)))
			time.Sleep(time.Second)
		}
		time.Sleep(1700 * time.Millisecond)
		r.want(t, "6s a size 4 (object updated, attempt 1)", "6.5s a size 4 (reconciler requested, attempt 1)")
	})
}

func TestControllerRecoversFromALostServer(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		w := r.serve(widgetsPath, r.object("a", size(1)))
		ctl := New(r.client.All(widgets), r.noting(nil), nil)
		r.start(ctl)
		synctest.Wait()
		r.srv.Network().Refuse(true)
		w.Abort()
		time.Sleep(30 * time.Second)
		if err := ctl.Ready(); err == nil || !strings.Contains(err.Error(), "widgets.example.com") {
			t.Errorf("Ready = %v while the server is away", err)
		}
		r.srv.Network().Refuse(false)
		w.Send("MODIFIED", r.object("a", size(2)))
		time.Sleep(2 * time.Minute)
		if err := ctl.Ready(); err != nil {
			t.Errorf("Ready = %v after the server is back", err)
		}
		synctest.Wait()
		if n := len(r.lines); n != 2 || !strings.Contains(r.lines[1], "a size 2 (object updated") {
			t.Errorf("reconciles: %q", r.lines)
		}
		if n := r.srv.Network().Dials(); n > 12 {
			t.Errorf("%d connections were tried within 30s: a busy loop", n)
		}
	})
}

func TestControllerReportsMistakesAtOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		api := r.client.All(widgets)
		for name, test := range map[string]struct {
			opts *Options
			want string
		}{
			"debounce":       {&Options{Debounce: -time.Second}, "Options.Debounce is -1s"},
			"debounce limit": {&Options{Debounce: time.Minute, DebounceLimit: time.Second}, "less than Debounce 1m0s"},
			"backoff":        {&Options{Backoff: Backoff{Initial: time.Hour, Max: time.Second}}, "Options.Backoff is 1h0m0s to 1s"},
			"selector":       {&Options{Watch: watcher.Options{Labels: "a in"}}, `"a in" is no label selector`},
		} {
			err := New(api, r.noting(nil), test.opts).Run(t.Context())
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "controller widgets.example.com") {
				t.Errorf("%s: Run = %v, want it to say %q", name, err, test.want)
			}
		}
		ctl := New(api, r.noting(nil), nil)
		ctl.Owns(r.client.All(gadgets)).WatchOptions(watcher.Options{Fields: "nonsense"})
		if err := ctl.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "related kind gadgets.example.com") {
			t.Errorf("Run = %v, want it to name the related kind", err)
		}
	})
}

func TestControllerRunsOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.serve(widgetsPath)
		ctl := New(r.client.All(widgets), r.noting(nil), nil)
		r.start(ctl)
		synctest.Wait()
		if err := ctl.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "runs once") {
			t.Errorf("second Run = %v", err)
		}
		for name, register := range map[string]func(){
			"Filter":  func() { ctl.Filter(Generation()) },
			"OnError": func() { ctl.OnError(func(context.Context, *widget, error, int) Action { return Await() }) },
			"Owns":    func() { ctl.Owns(r.client.All(gadgets)) },
			"Modify":  func() { ctl.Modify(func(*widget) {}) },
		} {
			message := panicOf(register)
			if !strings.Contains(message, name) || !strings.Contains(message, "after Run") {
				t.Errorf("%s after Run: panic %q", name, message)
			}
		}
	})
}

func panicOf(f func()) (message string) {
	defer func() { message = fmt.Sprint(recover()) }()
	f()
	return ""
}

func TestControllerNeedsItsFunctions(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		ctl := New(r.client.All(widgets), r.noting(nil), nil)
		for name, register := range map[string]func(){
			"New":            func() { New(r.client.All(widgets), nil, nil) },
			"Watches":        func() { ctl.Watches[widget](r.client.All(gadgets), nil) },
			"OnError":        func() { ctl.OnError(nil) },
			"OnDeleted":      func() { ctl.OnDeleted(nil) },
			"Modify":         func() { ctl.Modify(nil) },
			"Where":          func() { Where(nil) },
			"Changed":        func() { Changed[int](nil) },
			"ReconcileOn":    func() { ctl.ReconcileOn(nil) },
			"ReconcileAllOn": func() { ctl.ReconcileAllOn[int](nil) },
		} {
			if message, want := panicOf(register), name+" was called with a nil function"; !strings.Contains(message, want) {
				t.Errorf("panic %q, want %q", message, want)
			}
		}
	})
}

func TestControllerModifiesAndIndexesItsStore(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.serve(widgetsPath, r.object("a", size(1)))
		ctl := New(r.client.All(widgets), r.noting(nil), nil)
		ctl.Modify(func(w *widget) { w.Spec.Size = 50 })
		bySize := reflector.NewIndex(func(w *widget) []string { return []string{fmt.Sprint(w.Spec.Size)} })
		ctl.Index(bySize)
		r.start(ctl)
		r.want(t, "0s a size 50 (object found, attempt 1)")
		got, err := ctl.Store().Get(resource.Ref[widget]{Namespace: "ns", Name: "a"})
		if err != nil || got.Spec.Size != 50 {
			t.Errorf("the store has %+v, %v", got, err)
		}
		found := 0
		for lazy := range bySize.Lookup(ctl.Store(), "50") {
			found++
			if lazy.Name() != "a" {
				t.Errorf("the index has %s", lazy.Raw)
			}
		}
		if found != 1 {
			t.Errorf("the index has %d objects of size 50, want 1", found)
		}
	})
}

func TestControllerStateNamesEachWatch(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.serve(widgetsPath)
		refused := r.srv.Expect("GET "+gadgetsPath).Always().Status(403, "Forbidden", "gadgets are forbidden", 0)
		ctl := New(r.client.All(widgets), r.noting(nil), nil)
		ctl.Owns(r.client.All(gadgets))
		r.start(ctl)
		time.Sleep(time.Second)
		var got []string
		for _, s := range ctl.State() {
			got = append(got, fmt.Sprint(s.Resource, " ", s.Phase))
		}
		if diff := cmp.Diff([]string{"widgets.example.com Watching", "gadgets.example.com Retrying"}, got); diff != "" {
			t.Errorf("State (-want +got):\n%s", diff)
		}
		if err := ctl.Ready(); err == nil || !strings.Contains(err.Error(), "gadgets are forbidden") {
			t.Errorf("Ready = %v, want the refusal", err)
		}
		if refused.Served() == 0 {
			t.Error("gadgets were not asked for")
		}
	})
}

func TestControllerContextCarriesValues(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		type key struct{}
		r.serve(widgetsPath, r.object("a"))
		got := make(chan any, 1)
		ctl := New(r.client.All(widgets), func(ctx context.Context, w *widget) (Action, error) {
			got <- ctx.Value(key{})
			return Await(), nil
		}, nil)
		ctx, cancel := context.WithCancel(context.WithValue(t.Context(), key{}, "kept"))
		ended := make(chan error, 1)
		go func() { ended <- ctl.Run(ctx) }()
		if v := <-got; v != "kept" {
			t.Errorf("the value in the reconciler's context is %v", v)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	if r, n := ReasonFrom(context.Background()), AttemptFrom(context.Background()); r.Kind != Unknown || n != 0 {
		t.Errorf("reason and attempt of another context are %v and %d", r, n)
	}
}
