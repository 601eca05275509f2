package controller

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/resource"
	"github.com/go-kube/kube/runtime/watcher"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// counting runs a controller that counts up the sizes of 50 objects from what the cache shows, each
// times each, against a server whose watch events come late at random, and returns the server.
func counting(t *testing.T, each int, opts *Options, write func(ctx context.Context, api kube.API[widget], w *widget) error) (*laggingServer, Stats) {
	const objects = 50
	r, s := lagging(t, func() time.Duration { return time.Duration(rand.IntN(int(20 * time.Millisecond))) })
	for i := range objects {
		s.add(t, widgetsPath, r.object(fmt.Sprint("w", i)))
	}
	var mu sync.Mutex
	runs := map[string]int{}
	opts.Logger = r.silent()
	ctl := New(r.client.All(widgets), func(ctx context.Context, w *widget) (Action, error) {
		mu.Lock()
		n := runs[w.Name]
		mu.Unlock()
		if n == each {
			return Await(), nil
		}
		w.Spec.Size++
		if err := write(ctx, r.client.Namespaced(widgets, w.Namespace), w); err != nil {
			return Await(), err
		}
		mu.Lock()
		runs[w.Name]++
		mu.Unlock()
		return After(0), nil
	}, opts)
	r.start(ctl)
	time.Sleep(time.Hour)
	synctest.Wait()
	for name, n := range runs {
		if n != each {
			t.Errorf("%s was counted %d times, want %d", name, n, each)
		}
	}
	return s, ctl.Stats()
}

func replace(ctx context.Context, api kube.API[widget], w *widget) error {
	_, err := api.Replace(ctx, w, nil)
	return err
}

// overwrite writes without the check for a conflict.
func overwrite(ctx context.Context, api kube.API[widget], w *widget) error {
	w.ResourceVersion = ""
	return replace(ctx, api, w)
}

func TestACounterOf10000ReconcilesIsExactOnALaggingCache(t *testing.T) {
	const want = 10_000
	t.Run("without a conflict", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s, stats := counting(t, 200, &Options{}, replace)
			if s.total() != want || s.refused != 0 || stats.Failed != 0 {
				t.Errorf("counted %d with %d conflicts, want %d with none", s.total(), s.refused, want)
			}
			if stats.WaitedForWrites == 0 || stats.MissedWrites != 0 || stats.Parked != 0 {
				t.Errorf("Stats = %+v, want keys that waited, and all of them with success", stats)
			}
		})
	})
	t.Run("where nothing checks for conflicts", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			if s, _ := counting(t, 40, &Options{}, overwrite); s.total() != 50*40 {
				t.Errorf("counted %d, want %d", s.total(), 50*40)
			}
		})
	})
	t.Run("not when switched off", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			if s, _ := counting(t, 20, &Options{OwnWrites: -1}, replace); s.refused == 0 {
				t.Error("no conflict: the server does not lag, and these tests show nothing")
			}
		})
		synctest.Test(t, func(t *testing.T) {
			if s, _ := counting(t, 20, &Options{OwnWrites: -1}, overwrite); s.total() == 50*20 {
				t.Error("no write was lost: the server does not lag, and these tests show nothing")
			}
		})
	})
}

// The first run of a writes something. The second is triggered a second later, and the watches
// lag by five.
func TestAKeyWaitsForItsOwnWrites(t *testing.T) {
	child := &widget{ObjectMeta: metav1.ObjectMeta{Name: "child", OwnerReferences: []metav1.OwnerReference{
		{APIVersion: "example.com/v1", Kind: "Widget", Name: "a", UID: "uid-1"},
	}}}
	labelled := func(value string) kube.Patch {
		return kube.MergePatch(map[string]any{"metadata": map[string]any{"labels": map[string]any{"tier": value}}})
	}
	finalized := func(w *widget) { w.Finalizers = []string{"example.com/x"} }
	for _, test := range []struct {
		name    string
		there   func(*widget) // how the object b is
		write   func(ctx context.Context, own, related kube.API[widget]) error
		options Options
		want    string // when a runs again
	}{
		{name: "create", want: "5s", write: func(ctx context.Context, own, _ kube.API[widget]) error {
			_, err := own.Create(ctx, &widget{ObjectMeta: metav1.ObjectMeta{Name: "c"}}, nil)
			return err
		}},
		{name: "replace", want: "5s", write: func(ctx context.Context, own, _ kube.API[widget]) error {
			_, err := own.Replace(ctx, &widget{ObjectMeta: metav1.ObjectMeta{Name: "a"}, Spec: widgetSpec{Size: 9}}, nil)
			return err
		}},
		{name: "patch", want: "5s", write: func(ctx context.Context, own, _ kube.API[widget]) error {
			_, err := own.Patch(ctx, "a", kube.MergePatch([]byte(`{"spec":{"size":9}}`)), nil)
			return err
		}},
		{name: "apply", want: "5s", write: func(ctx context.Context, own, _ kube.API[widget]) error {
			_, err := own.Apply(ctx, &widget{ObjectMeta: metav1.ObjectMeta{Name: "a"}, Spec: widgetSpec{Size: 9}}, "test", nil)
			return err
		}},
		{name: "status", want: "5s", write: func(ctx context.Context, own, _ kube.API[widget]) error {
			_, err := own.Status().Patch(ctx, "a", kube.MergePatch([]byte(`{"status":{"x":1}}`)), nil)
			return err
		}},
		{name: "delete", want: "5s", write: func(ctx context.Context, own, _ kube.API[widget]) error { return own.Delete(ctx, "b", nil) }},
		{name: "delete with a finalizer", want: "5s", there: finalized, write: func(ctx context.Context, own, _ kube.API[widget]) error {
			return own.Delete(ctx, "b", nil)
		}},
		{name: "delete collection", want: "5s", write: func(ctx context.Context, _, related kube.API[widget]) error {
			return related.DeleteCollection(ctx, nil, nil)
		}},
		{name: "eviction", want: "5s", write: func(ctx context.Context, own, _ kube.API[widget]) error {
			_, err := own.Sub(evictions).Create(ctx, "b", &widget{ObjectMeta: metav1.ObjectMeta{Name: "b"}}, nil)
			return err
		}},
		{name: "delete of a related object with a finalizer", want: "5s", write: func(ctx context.Context, _, related kube.API[widget]) error {
			return related.Delete(ctx, "held", nil)
		}},
		{name: "related object", want: "5s", write: func(ctx context.Context, _, related kube.API[widget]) error {
			_, err := related.Create(ctx, child, nil)
			return err
		}},
		{name: "leaves the selector", want: "5s", options: Options{Watch: watcher.Options{Labels: "tier!=gone"}},
			write: func(ctx context.Context, own, _ kube.API[widget]) error {
				_, err := own.Patch(ctx, "b", labelled("gone"), nil)
				return err
			}},
		{name: "never in the selector", want: "1s", options: Options{Watch: watcher.Options{Labels: "tier!=gone"}},
			write: func(ctx context.Context, own, _ kube.API[widget]) error {
				_, err := own.Create(ctx, &widget{ObjectMeta: metav1.ObjectMeta{Name: "c", Labels: map[string]string{"tier": "gone"}}}, nil)
				return err
			}},
		{name: "another name than that of the selector", want: "1s", options: Options{Watch: watcher.Options{Fields: "metadata.name=a"}},
			write: func(ctx context.Context, own, _ kube.API[widget]) error {
				_, err := own.Create(ctx, &widget{ObjectMeta: metav1.ObjectMeta{Name: "c"}}, nil)
				return err
			}},
		{name: "another namespace than that of the selector", want: "1s", options: Options{Watch: watcher.Options{Fields: "metadata.namespace=ns"}},
			write: func(ctx context.Context, own, _ kube.API[widget]) error {
				_, err := own.In("elsewhere").Create(ctx, &widget{ObjectMeta: metav1.ObjectMeta{Name: "c"}}, nil)
				return err
			}},
		{name: "no change", want: "1s", write: func(ctx context.Context, own, related kube.API[widget]) error {
			_, err := own.Patch(ctx, "a", kube.MergePatch([]byte(`{}`)), nil)
			return err
		}},
		{name: "a kind that is not watched", want: "1s", write: func(ctx context.Context, own, _ kube.API[widget]) error {
			_, err := own.Endpoint().Client().Namespaced(trinkets, "ns").Create(ctx, &widget{ObjectMeta: metav1.ObjectMeta{Name: "c"}}, nil)
			return err
		}},
		{name: "a context of its own", want: "1s", write: func(ctx context.Context, own, _ kube.API[widget]) error {
			_, err := own.Patch(context.WithoutCancel(t.Context()), "a", kube.MergePatch([]byte(`{"spec":{"size":9}}`)), nil)
			return err
		}},
		{name: "switched off", want: "1s", options: Options{OwnWrites: -1}, write: func(ctx context.Context, own, _ kube.API[widget]) error {
			_, err := own.Patch(ctx, "a", kube.MergePatch([]byte(`{"spec":{"size":9}}`)), nil)
			return err
		}},
		{name: "the time is over", want: "3s", options: Options{OwnWrites: 3 * time.Second}, write: func(ctx context.Context, own, _ kube.API[widget]) error {
			_, err := own.Patch(ctx, "a", kube.MergePatch([]byte(`{"spec":{"size":9}}`)), nil)
			return err
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			inLaggingBubble(t, 5*time.Second, func(t *testing.T, r *rig, s *laggingServer) {
				s.add(t, widgetsPath, r.object("a"))
				b := r.object("b")
				if test.there != nil {
					test.there(b)
				}
				s.add(t, widgetsPath, b)
				s.add(t, gadgetsPath, r.object("old", ownedBy("Widget", "a", "uid-1")))
				if strings.Contains(test.name, "related object with a finalizer") {
					s.add(t, gadgetsPath, r.object("held", ownedBy("Widget", "a", "uid-1"), finalized))
				}
				runs := 0
				ctl := New(r.client.All(widgets), func(ctx context.Context, w *widget) (Action, error) {
					if w.Name != "a" {
						return Await(), nil
					}
					r.add(w.Name)
					if runs++; runs > 1 {
						return Await(), nil
					}
					return Await(), test.write(ctx, r.client.Namespaced(widgets, "ns"), r.client.Namespaced(gadgets, "ns"))
				}, &test.options)
				ctl.Owns(r.client.All(gadgets))
				ctl.ReconcileOn(func(ctx context.Context) iter.Seq[resource.Ref[widget]] {
					return func(yield func(resource.Ref[widget]) bool) {
						time.Sleep(time.Second)
						yield(resource.Ref[widget]{Namespace: "ns", Name: "a"})
					}
				})
				r.start(ctl)
				time.Sleep(4900 * time.Millisecond)
				if test.want == "5s" {
					r.want(t, "0s a")
					if stats := ctl.Stats(); stats.Parked != 1 || stats.Waiting != 1 {
						t.Errorf("Stats = %+v, want one parked key", stats)
					}
				}
				time.Sleep(time.Second)
				synctest.Wait()
				want := []string{test.want + " a"}
				if test.want == "5s" { // where no change of a itself runs it, it is a moment later
					want = append(want, "5.01s a")
				}
				if runs := r.got(); len(runs) < 2 || !slices.Contains(want, runs[1]) {
					t.Errorf("runs %q, want the second at %s: %s", r.got(), test.want, r.log.String())
				}
				stats := ctl.Stats()
				if stats.Parked != 0 || len(ctl.engine.writes.keys) != 0 {
					t.Errorf("Stats = %+v, %d keys with writes: something is left over", stats, len(ctl.engine.writes.keys))
				}
				if missed := test.want == "3s"; missed != (stats.MissedWrites == 1) {
					t.Errorf("MissedWrites = %d", stats.MissedWrites)
				}
			})
		})
	}
}

// evictions stand for those of pods.
var evictions = resource.DefineSubresource[widget, widget]("eviction", resource.Info{Group: "policy", Version: "v1", Kind: "Eviction"})

var trinkets = resource.DefineNamespaced[widget](resource.Info{Group: "example.com", Version: "v1", Kind: "Trinket"})

func TestAParkedKeyHoldsNoWorkerAndKeepsItsAttempt(t *testing.T) {
	inLaggingBubble(t, 5*time.Second, func(t *testing.T, r *rig, s *laggingServer) {
		s.add(t, widgetsPath, r.object("a"))
		s.add(t, widgetsPath, r.object("b"))
		ctl := New(r.client.All(widgets), func(ctx context.Context, w *widget) (Action, error) {
			r.add(fmt.Sprintf("%s size %d (%s, attempt %d)", w.Name, w.Spec.Size, ReasonFrom(ctx), AttemptFrom(ctx)))
			if w.Name == "b" {
				return After(time.Second), nil
			}
			if w.Spec.Size > 0 {
				return Await(), nil
			}
			w.Spec.Size = 1
			return After(time.Second), errors.Join(replace(ctx, r.client.Namespaced(widgets, "ns"), w), errBoom)
		}, &Options{Concurrency: 1})
		r.start(ctl)
		time.Sleep(5500 * time.Millisecond)
		r.wantSorted(t,
			"0s a size 0 (object found, attempt 1)",
			"0s b size 0 (object found, attempt 1)",
			"1s b size 0 (reconciler requested, attempt 1)",
			"2s b size 0 (reconciler requested, attempt 1)",
			"3s b size 0 (reconciler requested, attempt 1)",
			"4s b size 0 (reconciler requested, attempt 1)",
			"5s a size 1 (object updated, attempt 2)",
			"5s b size 0 (reconciler requested, attempt 1)",
		)
	})
}

func TestAKeyWhoseObjectIsGoneWaitsForNothing(t *testing.T) {
	inLaggingBubble(t, 5*time.Second, func(t *testing.T, r *rig, s *laggingServer) {
		s.add(t, widgetsPath, r.object("a"))
		ctl := New(r.client.All(widgets), func(ctx context.Context, w *widget) (Action, error) {
			api := r.client.Namespaced(widgets, "ns")
			return After(time.Second), errors.Join(replace(ctx, api, &widget{ObjectMeta: metav1.ObjectMeta{Name: "b"}}), api.Delete(ctx, "a", nil))
		}, nil)
		r.start(ctl)
		time.Sleep(20 * time.Minute)
		synctest.Wait()
		if n := len(ctl.engine.writes.keys); n != 0 || ctl.Stats().Parked != 0 {
			t.Errorf("%d keys wait, Stats %+v", n, ctl.Stats())
		}
	})
}

// Nothing is kept of a key whose object is gone, although a watch that is late has not shown its writes.
func TestWritesOfWhatIsGoneAreForgotten(t *testing.T) {
	inLaggingBubble(t, 50*time.Millisecond, func(t *testing.T, r *rig, s *laggingServer) {
		s.later = map[string]time.Duration{gadgetsPath: 8 * time.Second}
		s.add(t, widgetsPath, r.object("a"))
		ctl := New(r.client.All(widgets), func(ctx context.Context, w *widget) (Action, error) {
			_, err := r.client.Namespaced(gadgets, "ns").Create(ctx, childOf(w, 1), nil)
			return Await(), err
		}, nil)
		ctl.Owns(r.client.All(gadgets))
		r.start(ctl)
		time.Sleep(time.Second)
		synctest.Wait()
		if n := len(ctl.engine.writes.keys); n != 1 {
			t.Errorf("%d keys have writes, want 1", n)
		}
		s.mu.Lock()
		s.delete(widgetsPath, "ns", "a")
		s.mu.Unlock()
		time.Sleep(time.Second)
		synctest.Wait()
		if n := len(ctl.engine.writes.keys); n != 0 {
			t.Errorf("%d keys have writes after the object is gone, want none", n)
		}
		time.Sleep(time.Minute)
	})
}
