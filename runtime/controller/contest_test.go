package controller

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-kube/kube"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// undoneAfter is how long after a change somebody else undoes it. No sum of these and of the lags of
// events is another such sum: of two things that fall on one instant nobody knows the order.
const undoneAfter = 30*time.Millisecond + 7*time.Microsecond

// undoing has somebody else change an object back, a moment after each change. change returns the
// content that it is to have, nil for none; changed says whether it has to be written.
func (s *laggingServer) undoing(t *testing.T, collection, name string, change func(now content) (to content, changed bool)) (times *atomic.Int64) {
	times = new(atomic.Int64)
	ended := make(chan struct{})
	t.Cleanup(func() { <-ended })
	go func() {
		defer close(ended)
		for {
			s.mu.Lock()
			more := s.more
			s.mu.Unlock()
			select {
			case <-time.After(undoneAfter):
			case <-t.Context().Done():
				return
			}
			s.mu.Lock()
			if to, changed := change(s.objects[collection+"/ns/"+name]); changed {
				times.Add(1)
				s.store(collection, "ns", name, to)
			}
			s.mu.Unlock()
			select {
			case <-more:
			case <-t.Context().Done():
				return
			}
		}
	}()
	return times
}

// resized returns a change of an object to a size of somebody else's.
func resized(size float64) func(content) (content, bool) {
	return func(now content) (content, bool) {
		if now == nil || now["spec"].(content)["size"] == size {
			return nil, false
		}
		to := content{}
		merge(to, now)
		to["spec"].(content)["size"] = size
		return to, true
	}
}

func childOf(w *widget, size int) *widget {
	return &widget{
		ObjectMeta: metav1.ObjectMeta{Name: "child", Namespace: w.Namespace, OwnerReferences: []metav1.OwnerReference{widgets.ControllerOwner(w)}},
		Spec:       widgetSpec{Size: size},
	}
}

// phases writes one phase after the other.
func phases(ctx context.Context, api kube.API[stamped]) error {
	for _, phase := range []string{"working", "done"} {
		if _, err := api.Status().Patch(ctx, "a", kube.MergePatch(content{"status": content{"lastUpdated": phase}}), nil); err != nil {
			return err
		}
	}
	return nil
}

func TestPhasesThatEachRunGoesThroughAreALoop(t *testing.T) {
	inLaggingBubble(t, 20*time.Millisecond, func(t *testing.T, r *rig, s *laggingServer) {
		s.add(t, widgetsPath, r.object("a"))
		r.start(New(r.client.All(stampeds), func(ctx context.Context, w *stamped) (Action, error) {
			return Await(), phases(ctx, r.client.Namespaced(stampeds, "ns"))
		}, nil))
		time.Sleep(time.Minute)
		if reports := loopReports(r); len(reports) != 1 || !strings.Contains(reports[0], "fields=[.status.lastUpdated] ") {
			t.Errorf("reports %q", reports)
		}
	})
}

func unlessGone(err error) error {
	if errors.Is(err, kube.ErrNotFound) {
		return nil
	}
	return err
}

// Somebody else undoes what a reconciler writes. That is slowed down as a loop is, and reported with what it is about.
func TestAContestIsReportedOnceAndSlowedDown(t *testing.T) {
	for name, test := range map[string]struct {
		reconcile func(ctx context.Context, r *rig, w *widget) error
		object    string // collection/name, that is fought over
		undo      func(now content) (content, bool)
		want      []string
	}{
		"a field of a child": {
			reconcile: func(ctx context.Context, r *rig, w *widget) error {
				_, err := r.client.Namespaced(gadgets, "ns").Apply(ctx, childOf(w, 3), "test", nil)
				return err
			},
			object: gadgetsPath + "/child",
			undo:   resized(5),
			want:   []string{`written="[Gadget ns/child]"`, "fields=[.spec.size]", "undone=[changed]"},
		},
		"a field of its own": {
			reconcile: func(ctx context.Context, r *rig, w *widget) error {
				_, err := r.client.Namespaced(widgets, "ns").Patch(ctx, "a", kube.MergePatch(content{"spec": content{"size": 3}}), nil)
				return err
			},
			object: widgetsPath + "/a",
			undo:   resized(5),
			want:   []string{`written="[Widget ns/a]"`, "fields=[.spec.size]", "undone=[changed]"},
		},
		"a child that is deleted": {
			reconcile: func(ctx context.Context, r *rig, w *widget) error {
				_, err := r.client.Namespaced(gadgets, "ns").Apply(ctx, childOf(w, 3), "test", nil)
				return err
			},
			object: gadgetsPath + "/child",
			undo:   func(now content) (content, bool) { return nil, now != nil },
			want:   []string{`written="[Gadget ns/child]"`, "undone=[deleted]"},
		},
		"a child that is made again": {
			reconcile: func(ctx context.Context, r *rig, w *widget) error {
				return unlessGone(r.client.Namespaced(gadgets, "ns").Delete(ctx, "child", nil))
			},
			object: gadgetsPath + "/child",
			undo: func(now content) (content, bool) {
				return content{"metadata": content{"ownerReferences": []any{content{"apiVersion": "example.com/v1", "kind": "Widget", "name": "a", "uid": "uid-1"}}}}, now == nil
			},
			want: []string{`written="[Gadget ns/child]"`, `undone="[created again]"`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			inLaggingBubble(t, 20*time.Millisecond, func(t *testing.T, r *rig, s *laggingServer) {
				s.add(t, widgetsPath, r.object("a"))
				times := s.undoing(t, path.Dir(test.object), path.Base(test.object), test.undo)
				ctl := New(r.client.All(widgets), func(ctx context.Context, w *widget) (Action, error) {
					return Await(), test.reconcile(ctx, r, w)
				}, nil)
				ctl.Owns(r.client.All(gadgets))
				r.start(ctl)
				time.Sleep(time.Minute)
				synctest.Wait()
				if n := times.Load(); n < hotAfter+contestedAfter || n > hotAfter+contestedAfter+8 {
					t.Errorf("undone %d times in a minute, want about fifteen times at once and then every 10s", n)
				}
				reports := loopReports(r)
				if len(reports) != 1 {
					t.Fatalf("reports %q, want one", reports)
				}
				for _, want := range test.want {
					if !strings.Contains(reports[0], want) {
						t.Errorf("report %q, want %s in it", reports[0], want)
					}
				}
				if n := ctl.Stats().Looping; n != 1 {
					t.Errorf("Looping = %d, want 1", n)
				}
				times.Store(0)
				time.Sleep(time.Hour)
				if n := times.Load(); n < 300 || n > 360 {
					t.Errorf("undone %d times in an hour, want at most one every 10s", n)
				}
				if n := len(loopReports(r)); n != 1 {
					t.Errorf("%d reports, want one", n)
				}
			})
		})
	}
}

// In a contest, whatever it is not about runs the reconciler at once, and so does everything when it is over.
func TestAContestHoldsUpNothingElse(t *testing.T) {
	inLaggingBubble(t, 20*time.Millisecond, func(t *testing.T, r *rig, s *laggingServer) {
		s.add(t, widgetsPath, r.object("a"))
		s.add(t, gadgetsPath, r.object("other", ownedBy("Widget", "a", "uid-1")))
		var over atomic.Bool
		s.undoing(t, gadgetsPath, "child", func(now content) (content, bool) {
			if over.Load() {
				return nil, false
			}
			return resized(5)(now)
		})
		ctl := New(r.client.All(widgets), func(ctx context.Context, w *widget) (Action, error) {
			r.add(fmt.Sprintf("%s, size %d", ReasonFrom(ctx), w.Spec.Size))
			_, err := r.client.Namespaced(gadgets, "ns").Apply(ctx, childOf(w, 3), "test", nil)
			return Await(), err
		}, nil)
		ctl.Owns(r.client.All(gadgets))
		r.start(ctl)
		time.Sleep(time.Minute)
		patch := func(api kube.API[widget], name string, size int) {
			if _, err := api.Patch(t.Context(), name, kube.MergePatch(content{"spec": content{"size": size}}), nil); err != nil {
				t.Fatal(err)
			}
		}
		if ctl.Stats().Looping != 1 {
			t.Fatal("no contest")
		}
		r.clear()
		patch(r.client.Namespaced(gadgets, "ns"), "other", 7)
		time.Sleep(time.Second)
		patch(r.client.Namespaced(widgets, "ns"), "a", 8)
		time.Sleep(time.Second)
		r.want(t, "20ms related object updated: gadgets.example.com ns/other, size 0", "1.02s object updated, size 8")
		over.Store(true)
		time.Sleep(time.Minute)
		if n := ctl.Stats().Looping; n != 0 {
			t.Errorf("Looping = %d after the contest", n)
		}
		r.clear()
		patch(r.client.Namespaced(gadgets, "ns"), "child", 5)
		time.Sleep(time.Second)
		r.want(t, "20ms related object updated: gadgets.example.com ns/child, size 8", "40ms related object updated: gadgets.example.com ns/child, size 8")
		if n := len(ctl.engine.loops.keys); n != 1 {
			t.Errorf("%d keys are remembered, want 1", n)
		}
		time.Sleep(time.Minute)
		ctl.Stats()
		if n := len(ctl.engine.loops.keys); n != 0 {
			t.Errorf("%d keys are remembered, want none", n)
		}
	})
}

// What a busy object looks like, and is no contest: its reconciler writes at each of a thousand changes.
func TestABusyObjectIsNotSlowedDown(t *testing.T) {
	const every, changes = 100 * time.Millisecond, 1000
	child := func(ctx context.Context, r *rig, w *widget, size int) error {
		_, err := r.client.Namespaced(gadgets, "ns").Apply(ctx, childOf(w, size), "test", nil)
		return err
	}
	replaced := 0
	for name, test := range map[string]struct {
		filter    Predicate
		change    func(s *laggingServer, n int)
		reconcile func(ctx context.Context, r *rig, w *widget, n int) error
	}{
		"a spec that changes is carried on to a child": {
			change:    func(s *laggingServer, n int) { s.merge(widgetsPath, "a", content{"spec": content{"size": float64(n)}}) },
			reconcile: func(ctx context.Context, r *rig, w *widget, n int) error { return child(ctx, r, w, w.Spec.Size) },
		},
		"a spec that goes to and fro is carried on to a child": {
			change: func(s *laggingServer, n int) {
				s.merge(widgetsPath, "a", content{"spec": content{"size": float64(n % 2)}})
			},
			reconcile: func(ctx context.Context, r *rig, w *widget, n int) error { return child(ctx, r, w, w.Spec.Size) },
		},
		"the status of a child changes, which is applied without a change": {
			change: func(s *laggingServer, n int) {
				s.merge(gadgetsPath, "child", content{"status": content{"ready": float64(n)}})
			},
			reconcile: func(ctx context.Context, r *rig, w *widget, n int) error { return child(ctx, r, w, 3) },
		},
		"the status of a child changes, and is counted in the own": {
			change: func(s *laggingServer, n int) {
				s.merge(gadgetsPath, "child", content{"status": content{"ready": float64(n % 3)}})
			},
			reconcile: func(ctx context.Context, r *rig, w *widget, n int) error {
				if err := child(ctx, r, w, 3); err != nil {
					return err
				}
				_, err := r.client.Namespaced(widgets, "ns").Status().Patch(ctx, "a", kube.MergePatch(content{"status": content{"ready": n}}), nil)
				return err
			},
		},
		"a phase that each run goes through": {
			filter: Generation(),
			change: func(s *laggingServer, n int) {
				s.merge(widgetsPath, "a", content{"metadata": content{"generation": float64(n)}, "spec": content{"size": float64(n)}})
			},
			reconcile: func(ctx context.Context, r *rig, w *widget, n int) error {
				return phases(ctx, r.client.Namespaced(stampeds, "ns"))
			},
		},
		"two that write one object, each its own field": {
			change: func(s *laggingServer, n int) {
				s.merge(gadgetsPath, "child", content{"metadata": content{"annotations": content{"theirs": fmt.Sprint(n)}}})
			},
			reconcile: func(ctx context.Context, r *rig, w *widget, n int) error {
				_, err := r.client.Namespaced(gadgets, "ns").Patch(ctx, "child", kube.MergePatch(content{"metadata": content{"annotations": content{"ours": fmt.Sprint(n)}}}), nil)
				return err
			},
		},
		"a child for each change": {
			change: func(s *laggingServer, n int) { s.merge(widgetsPath, "a", content{"spec": content{"size": float64(n)}}) },
			reconcile: func(ctx context.Context, r *rig, w *widget, n int) error {
				api, c := r.client.Namespaced(gadgets, "ns"), childOf(w, 3)
				c.Name = fmt.Sprint("child-", w.Spec.Size)
				_, err := api.Apply(ctx, c, "test", nil)
				return err
			},
		},
		"a child that is replaced at each change": {
			change: func(s *laggingServer, n int) { s.merge(widgetsPath, "a", content{"spec": content{"size": float64(n)}}) },
			reconcile: func(ctx context.Context, r *rig, w *widget, n int) error {
				if replaced == w.Spec.Size {
					return nil
				}
				replaced = w.Spec.Size
				return errors.Join(r.client.Namespaced(gadgets, "ns").Delete(ctx, "child", nil), child(ctx, r, w, w.Spec.Size))
			},
		},
		"a change by hand now and then": {
			change: func(s *laggingServer, n int) {
				if n%20 == 0 {
					s.merge(gadgetsPath, "child", content{"spec": content{"size": 9.0}})
				}
				s.merge(widgetsPath, "a", content{"spec": content{"size": float64(n)}})
			},
			reconcile: func(ctx context.Context, r *rig, w *widget, n int) error {
				if err := child(ctx, r, w, 3); err != nil {
					return err
				}
				_, err := r.client.Namespaced(gadgets, "ns").Patch(ctx, "child", kube.MergePatch(content{"spec": content{"part": fmt.Sprint(w.Spec.Size)}}), nil)
				return err
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			inLaggingBubble(t, 5*time.Millisecond, func(t *testing.T, r *rig, s *laggingServer) {
				s.add(t, widgetsPath, r.object("a"))
				s.add(t, gadgetsPath, r.object("child", ownedBy("Widget", "a", "uid-1")))
				var at time.Time // of the change that no run has followed
				var n int
				slowest := time.Duration(0)
				ctl := New(r.client.All(widgets), func(ctx context.Context, w *widget) (Action, error) {
					s.mu.Lock()
					n := n
					if !at.IsZero() {
						slowest = max(slowest, time.Since(at))
						at = time.Time{}
					}
					s.mu.Unlock()
					return Await(), test.reconcile(ctx, r, w, n)
				}, nil)
				ctl.Filter(test.filter)
				ctl.Owns(r.client.All(gadgets))
				r.start(ctl)
				time.Sleep(time.Second)
				for i := range changes {
					s.mu.Lock()
					n = i + 1
					test.change(s, n)
					at = time.Now()
					s.mu.Unlock()
					time.Sleep(every)
				}
				synctest.Wait()
				if slowest > every {
					t.Errorf("a change was followed by a run %s later", slowest)
				}
				if reports := loopReports(r); len(reports) > 0 || ctl.Stats().Looping > 0 {
					t.Errorf("reports %q, Looping = %d", reports, ctl.Stats().Looping)
				}
				s.mu.Lock()
				defer s.mu.Unlock()
				if most := 2 * watchedRuns * (recentRuns + 1); s.gets > most {
					t.Errorf("%d objects were read for %d changes in %s, want at most %d in that time", s.gets, changes, changes*every, most)
				}
			})
		})
	}
}

// merge has somebody else change an object. The caller holds the lock.
func (s *laggingServer) merge(collection, name string, patch content) {
	to := content{}
	merge(to, s.objects[collection+"/ns/"+name])
	merge(to, patch)
	s.store(collection, "ns", name, to)
}

// Where the objects may not be read, nothing is known of what becomes of the writes.
func TestAContestIsNotFoundWithoutTheRightToRead(t *testing.T) {
	inLaggingBubble(t, 20*time.Millisecond, func(t *testing.T, r *rig, s *laggingServer) {
		s.unreadable = true
		s.add(t, widgetsPath, r.object("a"))
		times := s.undoing(t, gadgetsPath, "child", resized(5))
		ctl := New(r.client.All(widgets), func(ctx context.Context, w *widget) (Action, error) {
			_, err := r.client.Namespaced(gadgets, "ns").Apply(ctx, childOf(w, 3), "test", nil)
			return Await(), err
		}, nil)
		ctl.Owns(r.client.All(gadgets))
		r.start(ctl)
		time.Sleep(time.Minute)
		if reports := loopReports(r); len(reports) > 0 || times.Load() < 100 {
			t.Errorf("%d runs, reports %q; want it to go on", times.Load(), reports)
		}
	})
}

// A loop of its own is found without that right.
func TestATimestampIsFoundWithoutTheRightToRead(t *testing.T) {
	inLaggingBubble(t, 50*time.Millisecond, func(t *testing.T, r *rig, s *laggingServer) {
		s.unreadable = true
		s.add(t, widgetsPath, r.object("a"))
		r.start(New(r.client.All(stampeds), stamping(r), nil))
		time.Sleep(time.Minute)
		if reports := loopReports(r); len(reports) != 1 || !strings.Contains(reports[0], "fields=[.status.lastUpdated] ") {
			t.Errorf("reports %q", reports)
		}
	})
}

// A reconciler that deletes a child and makes the same again, in each run.
func TestAChildThatIsMadeAgainEachTimeIsALoop(t *testing.T) {
	inLaggingBubble(t, 20*time.Millisecond, func(t *testing.T, r *rig, s *laggingServer) {
		s.add(t, widgetsPath, r.object("a"))
		var runs atomic.Int64
		ctl := New(r.client.All(widgets), func(ctx context.Context, w *widget) (Action, error) {
			runs.Add(1)
			api := r.client.Namespaced(gadgets, "ns")
			if err := unlessGone(api.Delete(ctx, "child", nil)); err != nil {
				return Await(), err
			}
			_, err := api.Apply(ctx, childOf(w, 3), "test", nil)
			return Await(), err
		}, nil)
		ctl.Owns(r.client.All(gadgets))
		r.start(ctl)
		time.Sleep(time.Minute)
		if n := runs.Load(); n > hotAfter+contestedAfter+8 {
			t.Errorf("%d runs in a minute", n)
		}
		if reports := loopReports(r); len(reports) != 1 || !strings.Contains(reports[0], "by the reconciler itself") {
			t.Errorf("reports %q", reports)
		}
	})
}
