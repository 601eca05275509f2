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
	"github.com/google/go-cmp/cmp"
)

func TestPauseHoldsRunsAndGathersTriggers(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		w := r.serve(widgetsPath, r.object("a", size(1)))
		ctl := New(r.client.All(widgets), r.noting(nil), nil)
		ctl.Pause()
		r.start(ctl)
		time.Sleep(time.Second)
		w.Send("MODIFIED", r.object("a", size(2)))
		r.want(t)
		if err := ctl.Ready(); err != nil {
			t.Errorf("Ready = %v of a paused controller", err)
		}
		ctl.Resume()
		r.want(t, "1s a size 2 (object found, attempt 1)")
		ctl.Pause()
		w.Send("MODIFIED", r.object("a", size(3)))
		time.Sleep(time.Second)
		ctl.Resume()
		r.want(t, "1s a size 2 (object found, attempt 1)", "2s a size 3 (object updated, attempt 1)")
	})
}

func TestHoldIsAWarmStandby(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		w := r.serve(widgetsPath, r.object("a", size(1)))
		lost := errors.New("lease lost")
		var ended error
		ctl := New(r.client.All(widgets), func(ctx context.Context, w *widget) (Action, error) {
			r.add(fmt.Sprintf("%s size %d", w.Name, w.Spec.Size))
			if w.Spec.Size == 2 {
				<-ctx.Done()
				ended = context.Cause(ctx)
			}
			return Await(), nil
		}, nil)
		terms := 0
		ctl.Hold(func(ctx context.Context) (context.Context, error) {
			terms++
			r.add(fmt.Sprint("stands by for term ", terms))
			time.Sleep(10 * time.Second)
			term, cancel := context.WithCancelCause(ctx)
			time.AfterFunc(time.Minute, func() { cancel(lost) })
			return term, nil
		})
		r.start(ctl)
		time.Sleep(5 * time.Second)
		if err := ctl.Ready(); err != nil {
			t.Errorf("Ready = %v of a standby", err)
		}
		if n := ctl.Store().Len(); n != 1 {
			t.Errorf("the standby has %d objects, want 1", n)
		}
		time.Sleep(15 * time.Second)
		w.Send("MODIFIED", r.object("a", size(2))) // runs until the term ends
		time.Sleep(52 * time.Second)
		w.Send("MODIFIED", r.object("a", size(3)))
		time.Sleep(20 * time.Second)
		r.want(t,
			"0s stands by for term 1", "10s a size 1", "20s a size 2",
			"1m10s stands by for term 2", "1m20s a size 3",
		)
		if !errors.Is(ended, lost) {
			t.Errorf("the run ended with %v, want %v", ended, lost)
		}
	})
}

func TestHoldEndsWithRunAndLeavesTheStopTimeout(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.serve(widgetsPath, r.object("a"))
		ctl := New(r.client.All(widgets), func(ctx context.Context, w *widget) (Action, error) {
			select {
			case <-ctx.Done():
				r.add("cut short")
			case <-time.After(10 * time.Second):
				r.add("ended")
			}
			return Await(), nil
		}, nil)
		ctl.Hold(func(ctx context.Context) (context.Context, error) { return ctx, nil })
		stop := r.run(ctl)
		time.Sleep(time.Second)
		if err := stop(); err != nil {
			t.Errorf("Run: %v", err)
		}
		r.want(t, "10s ended")
	})
}

func TestHoldStandingByEndsWithRun(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.serve(widgetsPath)
		ctl := New(r.client.All(widgets), r.noting(nil), nil)
		ctl.Hold(func(ctx context.Context) (context.Context, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		})
		stop := r.run(ctl)
		time.Sleep(time.Second)
		if err := stop(); err != nil {
			t.Errorf("Run: %v", err)
		}
	})
}

func TestHoldThatFailsEndsRun(t *testing.T) {
	for name, test := range map[string]struct {
		hold func(context.Context) (context.Context, error)
		want string
	}{
		"error":   {func(context.Context) (context.Context, error) { return nil, errBoom }, "the function of Hold: boom"},
		"nothing": {func(context.Context) (context.Context, error) { return nil, nil }, "neither a context nor an error"},
		"panic":   {func(context.Context) (context.Context, error) { panic("no") }, "panic: no"},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, r *rig) {
				r.serve(widgetsPath)
				ctl := New(r.client.All(widgets), r.noting(nil), nil)
				ctl.Hold(test.hold)
				if err := ctl.Run(t.Context()); err == nil || !strings.Contains(err.Error(), test.want) {
					t.Errorf("Run = %v, want %q in it", err, test.want)
				}
			})
		})
	}
}

func TestQueueShowsWhatThereIsToDo(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		began := time.Now()
		w := r.serve(widgetsPath, r.object("running"))
		ctl := New(r.client.All(widgets), func(ctx context.Context, w *widget) (Action, error) {
			switch w.Name {
			case "running":
				time.Sleep(time.Hour)
			case "later":
				return After(time.Minute), nil
			case "failing":
				return After(time.Hour), errBoom
			}
			return Await(), nil
		}, &Options{Concurrency: 2})
		if q := ctl.Queue(); q != nil {
			t.Errorf("Queue = %v before Run", q)
		}
		r.start(ctl)
		time.Sleep(time.Second)
		for _, name := range []string{"later", "failing", "done", "running"} {
			w.Send("MODIFIED", r.object(name))
			time.Sleep(time.Second)
		}
		ref := func(name string) resource.Ref[widget] { return resource.Ref[widget]{Namespace: "ns", Name: name} }
		want := []QueueItem[widget]{
			{Ref: ref("running"), Running: true, Planned: true, At: began.Add(4 * time.Second), Reason: Reason{Kind: Updated}},
			{Ref: ref("later"), Planned: true, At: began.Add(61 * time.Second), Reason: Reason{Kind: Requested}},
			{Ref: ref("failing"), Planned: true, At: began.Add(2*time.Second + time.Hour), Reason: Reason{Kind: Retried}, Failures: 1},
		}
		if diff := cmp.Diff(want, ctl.Queue()); diff != "" {
			t.Errorf("Queue (-want +got):\n%s", diff)
		}
		time.Sleep(2 * time.Hour)
	})
}

func TestResyncRunsWhatNothingTriggers(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		objects := make([]any, 20)
		for i := range objects {
			objects[i] = r.object(fmt.Sprint("o", i))
		}
		w := r.serve(widgetsPath, objects...)
		runs := map[string][]time.Time{}
		began := time.Now()
		ctl := New(r.client.All(widgets), func(ctx context.Context, w *widget) (Action, error) {
			runs[w.Name] = append(runs[w.Name], time.Now())
			if w.Name == "o1" {
				return Await(), Terminal(errBoom)
			}
			return Await(), nil
		}, &Options{Resync: 10 * time.Hour, Concurrency: 1})
		r.start(ctl)
		time.Sleep(5 * time.Hour)
		w.Send("MODIFIED", r.object("o0", size(1)))
		w.Send("DELETED", r.object("o2"))
		time.Sleep(6*time.Hour + time.Minute)
		synctest.Wait()
		times := map[time.Time]bool{}
		for name, at := range runs {
			switch name {
			case "o0":
				if len(at) != 2 || at[1].Sub(began) != 5*time.Hour {
					t.Errorf("o0 ran at %v, want once after its change and no resync yet", at)
				}
				continue
			case "o2":
				if len(at) != 1 {
					t.Errorf("o2 ran at %v, it is gone", at)
				}
				continue
			}
			if len(at) != 2 || at[1].Sub(began) < 9*time.Hour || at[1].Sub(began) > 11*time.Hour {
				t.Errorf("%s ran at %v, want one resync after 9 to 11 hours", name, at)
				continue
			}
			times[at[1]] = true
		}
		if len(times) < 10 {
			t.Errorf("the resyncs of 18 objects came at %d times", len(times))
		}
	})
}

func TestRateBoundsRunsOverAllKeys(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		objects := make([]any, 25)
		for i := range objects {
			objects[i] = r.object("o" + string(rune('a'+i)))
		}
		r.serve(widgetsPath, objects...)
		began, at := time.Now(), []time.Duration{}
		ctl := New(r.client.All(widgets), func(ctx context.Context, w *widget) (Action, error) {
			r.mu.Lock()
			defer r.mu.Unlock()
			at = append(at, time.Since(began))
			return Await(), nil
		}, &Options{Rate: Rate{PerSecond: 2, Burst: 5}})
		r.start(ctl)
		time.Sleep(time.Minute)
		synctest.Wait()
		if len(at) != 25 || at[4] != 0 || at[5] != 500*time.Millisecond || at[24] != 10*time.Second {
			t.Errorf("runs at %v, want 5 at once and then 2 a second", at)
		}
	})
}

func TestOptionsThatSteerAreChecked(t *testing.T) {
	for want, opts := range map[string]*Options{
		"Options.Resync is -1s":         {Resync: -time.Second},
		"Options.Rate.PerSecond is -1":  {Rate: Rate{PerSecond: -1}},
		"Options.Rate.Burst is -1":      {Rate: Rate{PerSecond: 1, Burst: -1}},
		"Options.Rate.Burst is 1 witho": {Rate: Rate{Burst: 1}},
		"Options.KeyRate.Burst is -1":   {KeyRate: Rate{PerSecond: 1, Burst: -1}},
	} {
		inBubble(t, func(t *testing.T, r *rig) {
			err := New(r.client.All(widgets), r.noting(nil), opts).Run(t.Context())
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("Run = %v, want %q in it", err, want)
			}
		})
	}
}

func TestChangesGoBeforeTheInitialList(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		w := r.serve(widgetsPath, r.object("a"), r.object("b"), r.object("c"), r.object("d"))
		r.start(New(r.client.All(widgets), func(ctx context.Context, w *widget) (Action, error) {
			r.add(fmt.Sprint(ReasonFrom(ctx), ", size ", w.Spec.Size))
			time.Sleep(time.Second)
			return Await(), nil
		}, &Options{Concurrency: 1}))
		time.Sleep(500 * time.Millisecond)
		w.Send("MODIFIED", r.object("new", size(1)))
		time.Sleep(10 * time.Second)
		r.want(t,
			"0s object found, size 0",
			"1s object updated, size 1",
			"2s object found, size 0", "3s object found, size 0", "4s object found, size 0",
		)
	})
}

func TestPriorityIsTheUsersToSet(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		w, g := r.serve(widgetsPath, r.object("a"), r.object("b")), r.serve(gadgetsPath)
		ctl := New(r.client.All(widgets), func(ctx context.Context, w *widget) (Action, error) {
			r.add(w.Name)
			time.Sleep(time.Second)
			return Await(), nil
		}, &Options{Concurrency: 1, Priority: func(reason Reason) Priority {
			if reason.Resource == "gadgets.example.com" {
				return High
			}
			return DefaultPriority(reason)
		}})
		ctl.Owns(r.client.All(gadgets))
		r.start(ctl)
		time.Sleep(2500 * time.Millisecond)
		r.clear()
		w.Send("MODIFIED", r.object("c"))
		time.Sleep(100 * time.Millisecond)
		w.Send("MODIFIED", r.object("d"))
		w.Send("MODIFIED", r.object("a", size(1)))
		time.Sleep(100 * time.Millisecond)
		g.Send("ADDED", r.object("child", ownedBy("Widget", "a", "uid-a")))
		time.Sleep(time.Minute)
		r.want(t,
			"0s c",
			"1s a", // came last, and was raised by its child
			"2s d",
		)
	})
}
