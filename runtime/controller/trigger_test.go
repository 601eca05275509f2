package controller

import (
	"context"
	"fmt"
	"iter"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-kube/kube/resource"
)

func TestSequencesTrigger(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.serve(widgetsPath, r.object("a"), r.object("b"))
		ctl := New(r.client.All(widgets), r.noting(nil), nil)
		ctl.ReconcileOn(func(ctx context.Context) iter.Seq[resource.Ref[widget]] {
			return func(yield func(resource.Ref[widget]) bool) {
				for _, name := range []string{"a", "absent"} {
					time.Sleep(2 * time.Second)
					if !yield(resource.Ref[widget]{Namespace: "ns", Name: name}) {
						return
					}
				}
				<-ctx.Done()
				r.add("sequence ended")
			}
		})
		ctl.ReconcileAllOn(func(context.Context) iter.Seq[int] {
			return func(yield func(int) bool) {
				time.Sleep(3 * time.Second)
				yield(1)
			}
		})
		stop := r.run(ctl)
		time.Sleep(time.Minute)
		if err := stop(); err != nil {
			t.Errorf("Run = %v", err)
		}
		r.wantSorted(t,
			"0s a size 0 (object found, attempt 1)",
			"0s b size 0 (object found, attempt 1)",
			"1m0s sequence ended",
			"2s a size 0 (custom, attempt 1)",
			"3s a size 0 (reconcile all, attempt 1)",
			"3s b size 0 (reconcile all, attempt 1)",
		)
	})
}

func TestPanicInASequenceEndsItAlone(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.serve(widgetsPath, r.object("a"))
		ctl := New(r.client.All(widgets), r.noting(nil), nil)
		ctl.ReconcileOn(func(context.Context) iter.Seq[resource.Ref[widget]] { panic("sequence is broken") })
		r.start(ctl)
		r.want(t, "0s a size 0 (object found, attempt 1)")
		r.wantLog("level=ERROR", "sequence ended", "sequence is broken", "sequence=ReconcileOn")
	})
}

func TestOnDeletedGetsTheLastState(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		w := r.serve(widgetsPath, r.object("a", size(1)))
		ctl := New(r.client.All(widgets), r.noting(nil), nil)
		ctl.OnDeleted(func(ctx context.Context, last resource.Lazy[widget]) {
			obj, err := last.Decode()
			if err != nil {
				t.Error(err)
				return
			}
			r.add(fmt.Sprintf("gone: %s size %d (%s)", obj.Name, obj.Spec.Size, ReasonFrom(ctx)))
		})
		r.start(ctl)
		time.Sleep(time.Second)
		w.Send("MODIFIED", r.object("a", size(2)))
		time.Sleep(time.Second)
		w.Send("DELETED", r.object("a", size(3)))
		time.Sleep(time.Minute)
		r.want(t,
			"0s a size 1 (object found, attempt 1)",
			"1s a size 2 (object updated, attempt 1)",
			"2s gone: a size 3 (object deleted)",
		)
		if n := len(ctl.engine.gone); n != 0 {
			t.Errorf("%d deletions are still remembered", n)
		}
	})
}

func TestOnDeletedComesBetweenObjectsOfOneName(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		w := r.serve(widgetsPath, r.object("a", size(1)))
		ctl := New(r.client.All(widgets), r.noting(func(*widget) (Action, error) {
			time.Sleep(10 * time.Second)
			return Await(), nil
		}), nil)
		ctl.OnDeleted(func(_ context.Context, last resource.Lazy[widget]) {
			r.add("gone: " + string(last.UID()))
			time.Sleep(time.Second)
		})
		r.start(ctl)
		time.Sleep(5 * time.Second) // the reconcile of the first runs
		w.Send("DELETED", r.object("a", size(1)))
		w.Send("ADDED", r.object("a", size(2), func(w *widget) { w.UID = "second" }))
		time.Sleep(time.Minute)
		r.want(t,
			"0s a size 1 (object found, attempt 1)",
			"10s gone: uid-a",
			"11s a size 2 (object updated, attempt 1)",
		)
	})
}

func TestPanicInOnDeletedIsLogged(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		w := r.serve(widgetsPath, r.object("a"))
		ctl := New(r.client.All(widgets), r.noting(nil), nil)
		ctl.OnDeleted(func(context.Context, resource.Lazy[widget]) { panic("hook is broken") })
		r.start(ctl)
		synctest.Wait()
		w.Send("DELETED", r.object("a"))
		r.wantLog("level=ERROR", "the hook of OnDeleted failed", "hook is broken", "name=a", `reason="object deleted"`)
		if s := ctl.Stats(); s.Waiting+s.Due+s.Running != 0 {
			t.Errorf("Stats = %+v", s)
		}
	})
}

func TestEveryRunIsLoggedAtDebugLevelOnly(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.serve(widgetsPath, r.object("a"))
		r.start(New(r.client.All(widgets), r.noting(nil), nil))
		synctest.Wait()
		if strings.Contains(r.log.String(), "reconcile begins") {
			t.Errorf("the log has every run:\n%s", r.log.String())
		}
		r.wantLog("level=INFO", "controller started", "controller=widgets.example.com")
	})
	inBubble(t, func(t *testing.T, r *rig) {
		r.serve(widgetsPath, r.object("a"))
		debug := slog.New(slog.NewTextHandler(&r.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
		r.start(New(r.client.All(widgets), r.noting(func(*widget) (Action, error) { return After(time.Hour), nil }),
			&Options{Name: "sizes", Logger: debug}))
		r.wantLog("level=DEBUG", "reconcile begins", "controller=sizes", "kind=Widget", "namespace=ns", "name=a", `reason="object found"`, "attempt=1")
		r.wantLog("level=DEBUG", "reconcile ended", "controller=sizes", `action="after 1h0m0s"`)
	})
}
