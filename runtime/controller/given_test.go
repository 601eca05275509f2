package controller

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/go-kube/kube/resource"
	"github.com/go-kube/kube/runtime/reflector"
	"github.com/go-kube/kube/runtime/watcher"
)

// given is a sequence of events of widgets that a test sends.
type given struct {
	t      *testing.T
	kind   *resource.Descriptor
	events chan watcher.Event[widget]
}

func newGiven(t *testing.T, kind *resource.Descriptor) *given {
	return &given{t, kind, make(chan watcher.Event[widget])}
}

func (g *given) sequence(ctx context.Context) iter.Seq[watcher.Event[widget]] {
	return func(yield func(watcher.Event[widget]) bool) {
		for {
			select {
			case event, ok := <-g.events:
				if !ok || !yield(event) {
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}
}

func (g *given) send(typ watcher.EventType, objects ...*widget) {
	g.t.Helper()
	event := watcher.Event[widget]{Type: typ}
	for _, o := range objects {
		raw, err := resource.EncodeRaw(g.kind, o)
		if err != nil {
			g.t.Fatal(err)
		}
		event.Object = resource.AsLazy[widget](raw)
	}
	g.events <- event
}

// A controller runs on streams of the program's alone: its own objects, owned ones and watched ones.
func TestControllerOverGivenStreams(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		own, owned, watched := newGiven(t, widgets.Descriptor()), newGiven(t, gadgets.Descriptor()), newGiven(t, gadgets.Descriptor())
		objects := reflector.FromEvents(widgets, own.sequence, nil)
		children := reflector.FromEvents(gadgets, owned.sequence, nil)
		others := reflector.FromEvents(gadgets, watched.sequence, nil)
		ctl := NewFrom(objects, r.noting(nil), &Options{Logger: r.client.Logger()})
		ctl.OwnsFrom(children)
		ctl.WatchesFrom(others, func(g *widget) []resource.Ref[widget] {
			return []resource.Ref[widget]{{Namespace: "ns", Name: g.Spec.Part}}
		})
		for _, runs := range []interface{ Run(context.Context) error }{objects, children, others, ctl} {
			r.start(runs)
		}
		own.send(watcher.Init)
		own.send(watcher.InitApply, r.object("a"))
		own.send(watcher.InitDone)
		r.want(t) // the related kinds have no snapshot yet
		for _, g := range []*given{owned, watched} {
			g.send(watcher.Init)
			g.send(watcher.InitApply, r.object("child", ownedBy("Widget", "a", "uid-a")))
			g.send(watcher.InitDone)
		}
		synctest.Wait()
		r.want(t, "0s a size 0 (object found, attempt 1)")
		r.clear()
		own.send(watcher.Apply, r.object("a", size(4)))
		r.want(t, "0s a size 4 (object updated, attempt 1)")
		r.clear()
		watched.send(watcher.Apply, r.object("other", func(w *widget) { w.Spec.Part = "a" }))
		r.want(t, "0s a size 4 (related object updated: gadgets.example.com ns/other, attempt 1)")
		r.clear()
		owned.send(watcher.Init)
		owned.send(watcher.InitDone) // the child has vanished
		r.want(t, "0s a size 4 (related object updated: gadgets.example.com ns/child, attempt 1)")
		if err := ctl.Ready(); err != nil {
			t.Error(err)
		}
	})
}

// The end of a stream is an error of the controller that stands on it, and says what has ended.
func TestControllerEndsWithItsGivenStream(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		own := newGiven(t, widgets.Descriptor())
		objects := reflector.FromEvents(widgets, own.sequence, nil)
		go objects.Run(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- NewFrom(objects, r.noting(nil), nil).Run(t.Context()) }()
		own.send(watcher.Init)
		own.send(watcher.InitDone)
		close(own.events)
		if err := <-ended; !errors.Is(err, watcher.ErrSequenceEnded) {
			t.Errorf("Run = %v", err)
		}
	})
}

// A predicate over events holds back what has not changed since it passed, after a new snapshot too, and
// remembers nothing of what is gone.
func TestPredicateFiltersEvents(t *testing.T) {
	r := &rig{t: t}
	var events []watcher.Event[widget]
	add := func(typ watcher.EventType, objects ...*widget) {
		event := watcher.Event[widget]{Type: typ}
		for _, o := range objects {
			raw, err := resource.EncodeRaw(widgets.Descriptor(), o)
			if err != nil {
				t.Fatal(err)
			}
			event.Object = resource.AsLazy[widget](raw)
		}
		events = append(events, event)
	}
	again := func(w *widget) { w.UID = "another" }
	add(watcher.Init)
	add(watcher.InitApply, r.object("a"))
	add(watcher.InitApply, r.object("b"))
	add(watcher.InitDone)
	add(watcher.Apply, r.object("a"))          // held back: the generation is the same
	add(watcher.Apply, r.object("a", size(2))) // passes
	add(watcher.Delete, r.object("b"))
	add(watcher.Apply, r.object("b")) // passes: it was gone
	add(watcher.Init)
	add(watcher.InitApply, r.object("a", size(2))) // held back
	add(watcher.InitApply, r.object("c"))
	add(watcher.InitDone)
	add(watcher.Apply, r.object("b")) // passes: it was not in the snapshot
	add(watcher.Apply, r.object("c", again))
	want := []string{"Init", "InitApply a 1", "InitApply b 1", "InitDone", "Apply a 2", "Delete b 1", "Apply b 1",
		"Init", "InitApply c 1", "InitDone", "Apply b 1", "Apply c 1"}
	sequence := func(yield func(watcher.Event[widget]) bool) {
		for _, event := range events {
			if !yield(event) {
				return
			}
		}
	}
	for range 2 { // each loop begins anew
		var got []string
		for event := range Generation().Filter(sequence) {
			text := event.Type.String()
			if event.Object.Raw != nil {
				text += fmt.Sprintf(" %s %d", event.Object.Name(), event.Object.Generation())
			}
			got = append(got, text)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
	}
	for range Generation().Filter(sequence) {
		break
	}
}

// A predicate over a sequence that never begins a snapshot still forgets nothing of what is there.
func TestPredicateFiltersChanges(t *testing.T) {
	f := eventFilter{filter: newFilter(Generation())}
	a := raw(t, meta(nil))
	for i, step := range []struct {
		event watcher.RawEvent
		want  bool
	}{
		{watcher.RawEvent{Type: watcher.Apply, Object: a}, true},
		{watcher.RawEvent{Type: watcher.InitDone}, true},
		{watcher.RawEvent{Type: watcher.Apply, Object: a}, false},
		{watcher.RawEvent{Type: watcher.Delete, Object: a}, true},
	} {
		if got := f.pass(step.event); got != step.want {
			t.Errorf("event %d passes = %t, want %t", i, got, step.want)
		}
	}
	if len(f.passed) != 0 {
		t.Error("what is gone is remembered")
	}
}
