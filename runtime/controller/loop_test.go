package controller

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

type stampStatus struct {
	LastUpdated string `json:"lastUpdated,omitempty"`
	Size        int    `json:"size,omitempty"`
}

type stamped = resource.Object[widgetSpec, stampStatus]

var stampeds = resource.DefineNamespaced[stamped](resource.Info{Group: "example.com", Version: "v1", Kind: "Widget"})

// stamping returns a reconciler that writes the time of day to the status, and notes each run.
func stamping(r *rig) func(context.Context, *stamped) (Action, error) {
	return func(ctx context.Context, w *stamped) (Action, error) {
		r.add(fmt.Sprintf("%s size %d", w.Name, w.Spec.Size))
		status := stampStatus{LastUpdated: time.Now().Format(time.RFC3339Nano), Size: w.Spec.Size}
		_, err := r.client.Namespaced(stampeds, "ns").Status().Apply(ctx, w.WithStatus(status), "test", nil)
		return Await(), err
	}
}

func loopReports(r *rig) (reports []string) {
	for line := range strings.Lines(r.log.String()) {
		if strings.Contains(line, "over and over") {
			reports = append(reports, line)
		}
	}
	return reports
}

func TestATimestampInTheStatusIsReportedOnceAndSlowedDown(t *testing.T) {
	inLaggingBubble(t, 50*time.Millisecond, func(t *testing.T, r *rig, s *laggingServer) {
		s.add(t, widgetsPath, r.object("a"))
		ctl := New(r.client.All(stampeds), stamping(r), nil)
		r.start(ctl)
		time.Sleep(time.Minute)
		synctest.Wait()
		if n := len(r.got()); n < hotAfter || n > hotAfter+7 {
			t.Errorf("%d runs in a minute, want about ten at once and then one per 10s: %q", n, r.got())
		}
		reports := loopReports(r)
		if len(reports) != 1 || !strings.Contains(reports[0], "fields=[.status.lastUpdated] ") || !strings.Contains(reports[0], "name=a ") {
			t.Errorf("reports %q, want one that names a and .status.lastUpdated", reports)
		}
		if n := ctl.Stats().Looping; n != 1 {
			t.Errorf("Looping = %d, want 1", n)
		}
		r.clear()
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if n := len(r.got()); n < 59 || n > 61 {
			t.Errorf("%d runs in ten minutes, want one per 10s", n)
		}
	})
}

// timeWriters are the ways in which a reconciler can write the time of day over and over.
var timeWriters = map[string]struct {
	field string
	write func(ctx context.Context, api kube.API[stamped], w *stamped, now string) error
}{
	"apply of the status": {".status.lastUpdated", func(ctx context.Context, api kube.API[stamped], w *stamped, now string) error {
		_, err := api.Status().Apply(ctx, w.WithStatus(stampStatus{LastUpdated: now, Size: w.Spec.Size}), "test", nil)
		return err
	}},
	"patch of the status": {".status.lastUpdated", func(ctx context.Context, api kube.API[stamped], w *stamped, now string) error {
		_, err := api.Status().Patch(ctx, w.Name, kube.MergePatch(content{"status": content{"lastUpdated": now}}), nil)
		return err
	}},
	"replacement of the status": {".status.lastUpdated", func(ctx context.Context, api kube.API[stamped], w *stamped, now string) error {
		w.Status = &stampStatus{LastUpdated: now}
		_, err := api.Status().Replace(ctx, w, nil)
		return err
	}},
	"apply": {`.metadata.annotations[\"example.com/at\"]`, func(ctx context.Context, api kube.API[stamped], w *stamped, now string) error {
		_, err := api.Apply(ctx, &stamped{ObjectMeta: metav1.ObjectMeta{Name: w.Name, Annotations: map[string]string{"example.com/at": now}}, Spec: w.Spec}, "test", nil)
		return err
	}},
	"patch": {".metadata.labels.at", func(ctx context.Context, api kube.API[stamped], w *stamped, now string) error {
		_, err := api.Patch(ctx, w.Name, kube.MergePatch(content{"metadata": content{"labels": content{"at": now}}}), nil)
		return err
	}},
	"replacement": {".spec.part", func(ctx context.Context, api kube.API[stamped], w *stamped, now string) error {
		w.Spec.Part = now
		_, err := api.Replace(ctx, w, nil)
		return err
	}},
}

// A reconciler that writes the time writes at most every 10s for hours, and one time more for each
// change by somebody else. When it is mended, it is as quick as ever.
func TestWritesOfALoopAreBoundedUntilItIsMended(t *testing.T) {
	for name, writer := range timeWriters {
		t.Run(name, func(t *testing.T) {
			inLaggingBubble(t, 50*time.Millisecond, func(t *testing.T, r *rig, s *laggingServer) {
				s.add(t, widgetsPath, r.object("a"))
				var mu sync.Mutex
				var writes []time.Time
				mended := false
				api := r.client.Namespaced(stampeds, "ns")
				ctl := New(r.client.All(stampeds), func(ctx context.Context, w *stamped) (Action, error) {
					mu.Lock()
					defer mu.Unlock()
					if mended {
						r.add(fmt.Sprintf("%s size %d", w.Name, w.Spec.Size))
						return Await(), nil
					}
					err := writer.write(ctx, api, w, time.Now().Format("150405.000000000"))
					if err == nil {
						writes = append(writes, time.Now())
					}
					return Await(), err
				}, nil)
				r.start(ctl)
				taken := func() []time.Time {
					mu.Lock()
					defer mu.Unlock()
					taken := writes
					writes = nil
					return taken
				}
				resize := func(n int) {
					if _, err := api.Patch(t.Context(), "a", kube.MergePatch(content{"spec": content{"size": n}}), nil); err != nil {
						t.Fatal(err)
					}
				}
				time.Sleep(time.Minute)
				taken()
				time.Sleep(3 * time.Hour)
				quiet := taken()
				for i, at := range quiet[1:] {
					if pause := at.Sub(quiet[i]); pause < defaultLoopInterval {
						t.Errorf("a write %s after another", pause)
					}
				}
				if len(quiet) < 3*359 {
					t.Errorf("%d writes in three hours, want it to go on", len(quiet))
				}
				for n := range 180 {
					time.Sleep(time.Minute)
					resize(n + 1)
				}
				if n := len(taken()); n > 3*360+180 {
					t.Errorf("%d writes in three hours with 180 changes, want at most one every 10s and one for each change", n)
				}
				reports := loopReports(r)
				if len(reports) != 1 || !strings.Contains(reports[0], "fields=["+writer.field+"]") && !strings.Contains(reports[0], `fields="[`+writer.field+`]"`) {
					t.Errorf("reports %q, want one that names %s", reports, writer.field)
				}
				mu.Lock()
				mended = true
				mu.Unlock()
				time.Sleep(time.Minute)
				if n := ctl.Stats().Looping; n != 0 {
					t.Errorf("Looping = %d after it was mended", n)
				}
				r.clear()
				for n := range 3 {
					resize(1000 + n)
					time.Sleep(time.Second)
				}
				r.want(t, "50ms a size 1000", "1.05s a size 1001", "2.05s a size 1002")
			})
		})
	}
}

// What a reconciler asks for itself comes when it was asked for, in a loop too.
func TestALoopKeepsTheTimesThatAreAskedFor(t *testing.T) {
	for name, result := range map[string]struct {
		action Action
		err    error
	}{"requested": {After(3 * time.Second), nil}, "retried": {After(3 * time.Second), errBoom}} {
		t.Run(name, func(t *testing.T) {
			inLaggingBubble(t, 50*time.Millisecond, func(t *testing.T, r *rig, s *laggingServer) {
				s.add(t, widgetsPath, r.object("a"))
				stamp := stamping(r)
				r.start(New(r.client.All(stampeds), func(ctx context.Context, w *stamped) (Action, error) {
					stamp(ctx, w)
					return result.action, result.err
				}, nil))
				time.Sleep(time.Minute)
				r.clear()
				time.Sleep(10*time.Minute + time.Second)
				synctest.Wait()
				if n := len(r.got()); n < 199 || n > 201 {
					t.Errorf("%d runs in ten minutes, want one every 3s", n)
				}
			})
		})
	}
}

func TestALoopEndsWhenSomethingElseChanges(t *testing.T) {
	inLaggingBubble(t, 50*time.Millisecond, func(t *testing.T, r *rig, s *laggingServer) {
		s.add(t, widgetsPath, r.object("a"))
		ctl := New(r.client.All(stampeds), stamping(r), nil)
		r.start(ctl)
		time.Sleep(time.Minute + 3*time.Second)
		r.clear()
		_, err := r.client.Namespaced(widgets, "ns").Patch(t.Context(), "a", kube.MergePatch([]byte(`{"spec":{"size":7}}`)), nil)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(100 * time.Millisecond)
		synctest.Wait()
		if runs := r.got(); len(runs) == 0 || runs[0] != "50ms a size 7" {
			t.Errorf("runs %q, want one as soon as the change is seen", r.got())
		}
		time.Sleep(time.Minute)
		if n := len(loopReports(r)); n != 1 {
			t.Errorf("%d reports, want no second one for the same object", n)
		}
	})
}

func TestALoopOverAChildIsFound(t *testing.T) {
	inLaggingBubble(t, 50*time.Millisecond, func(t *testing.T, r *rig, s *laggingServer) {
		s.add(t, widgetsPath, r.object("a"))
		ctl := New(r.client.All(widgets), func(ctx context.Context, w *widget) (Action, error) {
			r.add(w.Name)
			_, err := r.client.Namespaced(gadgets, "ns").Apply(ctx, &widget{ObjectMeta: metav1.ObjectMeta{
				Name: "child", OwnerReferences: []metav1.OwnerReference{widgets.ControllerOwner(w)},
				Annotations: map[string]string{"example.com/checked": time.Now().String()},
			}}, "test", nil)
			return Await(), err
		}, nil)
		ctl.Owns(r.client.All(gadgets))
		r.start(ctl)
		time.Sleep(time.Minute)
		synctest.Wait()
		if n := len(r.got()); n > hotAfter+7 {
			t.Errorf("%d runs in a minute", n)
		}
		reports := loopReports(r)
		if len(reports) != 1 || !strings.Contains(reports[0], `.metadata.annotations[\"example.com/checked\"]`) {
			t.Errorf("reports %q", reports)
		}
	})
}

func TestWhatIsNoLoop(t *testing.T) {
	for name, reconcile := range map[string]func(ctx context.Context, r *rig, runs int, w *stamped) (Action, error){
		"a run that asks for the next": func(ctx context.Context, r *rig, runs int, w *stamped) (Action, error) {
			return After(50 * time.Millisecond), nil
		},
		"many steps that get somewhere": func(ctx context.Context, r *rig, runs int, w *stamped) (Action, error) {
			_, err := r.client.Namespaced(stampeds, "ns").Status().Apply(ctx, w.WithStatus(stampStatus{Size: min(runs, hotAfter-1)}), "test", nil)
			return Await(), err
		},
		"writes that fail": func(ctx context.Context, r *rig, runs int, w *stamped) (Action, error) {
			w.ResourceVersion = "1000000"
			_, err := r.client.Namespaced(stampeds, "ns").Replace(ctx, w, nil)
			return After(50 * time.Millisecond), err
		},
	} {
		t.Run(name, func(t *testing.T) {
			inLaggingBubble(t, 10*time.Millisecond, func(t *testing.T, r *rig, s *laggingServer) {
				s.add(t, widgetsPath, r.object("a"))
				runs := 0
				ctl := New(r.client.All(stampeds), func(ctx context.Context, w *stamped) (Action, error) {
					runs++
					return reconcile(ctx, r, runs, w)
				}, nil)
				r.start(ctl)
				time.Sleep(time.Minute)
				if reports := loopReports(r); len(reports) > 0 || ctl.Stats().Looping > 0 {
					t.Errorf("reports %q, Looping = %d", reports, ctl.Stats().Looping)
				}
			})
		})
	}
}

func TestLoopsAreLeftAloneOnRequest(t *testing.T) {
	inLaggingBubble(t, 50*time.Millisecond, func(t *testing.T, r *rig, s *laggingServer) {
		s.add(t, widgetsPath, r.object("a"))
		r.start(New(r.client.All(stampeds), stamping(r), &Options{LoopInterval: -1}))
		time.Sleep(time.Minute)
		synctest.Wait()
		if n := len(r.got()); n < 1000 || len(loopReports(r)) > 0 {
			t.Errorf("%d runs in a minute, reports %q; want a run per change", n, loopReports(r))
		}
	})
}

func TestLoopDetectorForgetsWhatIsOver(t *testing.T) {
	inLaggingBubble(t, 10*time.Millisecond, func(t *testing.T, r *rig, s *laggingServer) {
		for i := range 100 {
			s.add(t, widgetsPath, r.object(fmt.Sprint("o", i)))
		}
		runs := map[string]int{}
		ctl := New(r.client.All(stampeds), func(ctx context.Context, w *stamped) (Action, error) {
			r.mu.Lock()
			runs[w.Name]++
			first := runs[w.Name] == 1
			r.mu.Unlock()
			if !first {
				return Await(), nil
			}
			_, err := r.client.Namespaced(gadgets, "ns").Apply(ctx, &widget{ObjectMeta: metav1.ObjectMeta{Name: w.Name}}, "test", nil)
			return Await(), err
		}, nil)
		r.start(ctl)
		time.Sleep(time.Minute)
		s.mu.Lock()
		s.store(widgetsPath, "ns", "new", content{"spec": content{"size": 1.0}}) // a run, after which things are swept
		s.mu.Unlock()
		time.Sleep(20 * time.Second)
		s.mu.Lock()
		s.store(widgetsPath, "ns", "newer", content{"spec": content{"size": 1.0}})
		s.mu.Unlock()
		time.Sleep(time.Second)
		synctest.Wait()
		if n := len(ctl.engine.loops.keys); n > 1 {
			t.Errorf("%d keys are remembered, want none but the last", n)
		}
	})
}
