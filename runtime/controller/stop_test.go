package controller

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestStopLetsRunningReconcilesEnd(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.serve(widgetsPath, r.object("a"), r.object("b"))
		ctl := New(r.client.All(widgets), func(ctx context.Context, w *widget) (Action, error) {
			select {
			case <-time.After(20 * time.Second):
				r.add("ended by itself")
			case <-ctx.Done():
				r.add("cancelled")
			}
			return After(0), nil
		}, &Options{Concurrency: 1})
		stop := r.run(ctl)
		time.Sleep(time.Second)
		if err := stop(); err != nil {
			t.Errorf("Run = %v", err)
		}
		r.add("Run returned")
		time.Sleep(time.Hour)
		r.want(t, "20s ended by itself", "20s Run returned")
		if err := ctl.Ready(); err == nil || !strings.Contains(err.Error(), "no reconcile can start") {
			t.Errorf("Ready = %v after the stop", err)
		}
	})
}

func TestStopEndsReconcilesAfterItsTimeout(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.serve(widgetsPath, r.object("slow"))
		var cause error
		ctl := New(r.client.All(widgets), func(ctx context.Context, w *widget) (Action, error) {
			<-ctx.Done()
			cause = context.Cause(ctx)
			r.add("told to end")
			time.Sleep(5 * time.Second) // and takes its time over it
			return Await(), ctx.Err()
		}, nil)
		stop := r.run(ctl)
		time.Sleep(time.Second)
		err := stop()
		r.add("Run returned")
		r.want(t, "31s told to end", "36s Run returned")
		if !errors.Is(err, ErrStopTimeout) || !strings.Contains(err.Error(), "1 after 30s") || !strings.Contains(err.Error(), "ns/slow") {
			t.Errorf("Run = %v", err)
		}
		if !errors.Is(cause, ErrStopTimeout) {
			t.Errorf("the cause of the end is %v", cause)
		}
		r.wantLog("level=WARN", "still running after the stop timeout", "ns/slow")
	})
}

func TestStopWithoutAGraceEndsReconcilesAtOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.serve(widgetsPath, r.object("a"))
		ctl := New(r.client.All(widgets), func(ctx context.Context, w *widget) (Action, error) {
			<-ctx.Done()
			return Await(), nil
		}, &Options{StopTimeout: -1})
		stop := r.run(ctl)
		time.Sleep(time.Second)
		if err := stop(); !errors.Is(err, ErrStopTimeout) {
			t.Errorf("Run = %v", err)
		}
		r.add("Run returned")
		r.want(t, "1s Run returned")
	})
}

func TestStopBeforeTheFirstListNeverReconciles(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		w := r.watch(widgetsPath)
		w.Send("ADDED", r.object("a"))
		stop := r.run(New(r.client.All(widgets), r.noting(nil), nil))
		time.Sleep(time.Second)
		if err := stop(); err != nil {
			t.Errorf("Run = %v", err)
		}
		r.want(t)
	})
}

func TestStopWhileWaitingForRelatedKinds(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.serve(widgetsPath, r.object("a"))
		r.watch(gadgetsPath)
		ctl := New(r.client.All(widgets), r.noting(nil), nil)
		ctl.Owns(r.client.All(gadgets))
		stop := r.run(ctl)
		time.Sleep(time.Second)
		if err := stop(); err != nil {
			t.Errorf("Run = %v", err)
		}
		r.add("Run returned")
		r.want(t, "1s Run returned")
	})
}

func TestStopDiscardsWhatIsPlanned(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.serve(widgetsPath, r.object("a"))
		ctl := New(r.client.All(widgets), r.noting(func(*widget) (Action, error) { return After(time.Minute), nil }), nil)
		stop := r.run(ctl)
		time.Sleep(time.Second)
		if err := stop(); err != nil {
			t.Errorf("Run = %v", err)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		r.want(t, "0s a size 0 (object found, attempt 1)")
	})
}
