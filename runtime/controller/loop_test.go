package controller

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/resource"
	"github.com/google/go-cmp/cmp"
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

func TestFlipsNameFields(t *testing.T) {
	f := newFlips()
	f.compare("", map[string]any{
		"metadata": map[string]any{"resourceVersion": "1", "labels": map[string]any{"a.b/c": "1"}},
		"status":   map[string]any{"list": []any{1.0, 2.0}, "conditions": []any{map[string]any{"at": "x", "type": "y"}}, "same": 1.0},
	}, map[string]any{
		"metadata": map[string]any{"resourceVersion": "2", "labels": map[string]any{"a.b/c": "2"}},
		"status":   map[string]any{"list": []any{1.0}, "conditions": []any{map[string]any{"at": "z", "type": "y"}}, "same": 1.0, "new": 1.0},
	})
	want := []string{`.metadata.labels["a.b/c"]`, ".status.conditions[0].at", ".status.list", ".status.new"}
	if diff := cmp.Diff(want, f.fields); diff != "" {
		t.Errorf("fields (-want +got):\n%s", diff)
	}
}
