package controller

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/runtime/watcher"
	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var errBoom = errors.New("boom")

func TestBackoffDoublesUpToItsMaximum(t *testing.T) {
	var got []time.Duration
	b := Backoff{}.withDefaults()
	for failures := range 13 {
		got = append(got, b.full(failures+1))
	}
	ms := time.Millisecond
	want := []time.Duration{
		200 * ms, 400 * ms, 800 * ms, 1600 * ms, 3200 * ms, 6400 * ms, 12800 * ms, 25600 * ms, 51200 * ms,
		102400 * ms, 2 * time.Minute, 2 * time.Minute, 2 * time.Minute,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("delays (-want +got):\n%s", diff)
	}
	if d := (Backoff{Initial: time.Second, Max: 1<<63 - 1}).full(1 << 30); d <= 0 {
		t.Errorf("delay after very many failures is %s", d)
	}
}

func TestBackoffIsSpread(t *testing.T) {
	b := Backoff{Initial: time.Second, Max: time.Minute}
	seen := map[time.Duration]bool{}
	for range 100 {
		d := b.delay(3)
		if d < 2*time.Second || d > 4*time.Second {
			t.Fatalf("delay %s is not within half and all of 4s", d)
		}
		seen[d] = true
	}
	if len(seen) < 50 {
		t.Errorf("only %d different delays of 100", len(seen))
	}
}

// gaps returns the times between the lines of the journal.
func gaps(t *testing.T, j *journal) []time.Duration {
	t.Helper()
	synctest.Wait()
	j.mu.Lock()
	defer j.mu.Unlock()
	var gaps []time.Duration
	var last time.Duration
	for i, line := range j.lines {
		at, err := time.ParseDuration(strings.Fields(line)[0])
		if err != nil {
			t.Fatal(err)
		}
		if i > 0 {
			gaps = append(gaps, at-last)
		}
		last = at
	}
	return gaps
}

func TestFailedReconcileIsRetriedWithBackoff(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		w := r.serve(widgetsPath, r.object("a"))
		var healthy atomic.Bool
		r.start(New(r.client.All(widgets), r.noting(func(*widget) (Action, error) {
			if healthy.Load() {
				return Await(), nil
			}
			return Await(), errBoom
		}), nil))
		time.Sleep(4 * time.Second)
		healthy.Store(true)
		time.Sleep(time.Minute)
		full := 200 * time.Millisecond
		for i, gap := range gaps(t, r.journal) {
			if gap < full/2 || gap > full {
				t.Errorf("retry %d came after %s, want between half and all of %s", i+1, gap, full)
			}
			full *= 2
		}
		n := len(r.lines)
		if n < 5 || !strings.Contains(r.lines[n-1], fmt.Sprintf("(retry, attempt %d)", n)) {
			t.Errorf("reconciles: %q", r.lines)
		}
		r.wantLog("level=WARN", "reconcile failed, trying again", "controller=widgets.example.com", "kind=Widget",
			"namespace=ns", "name=a", `reason="object found"`, "attempt=1", "error=boom", "delay=")

		healthy.Store(false) // after a success the count starts over
		r.clear()
		w.Send("MODIFIED", r.object("a"))
		time.Sleep(250 * time.Millisecond)
		if synctest.Wait(); len(r.lines) < 2 || !strings.Contains(r.lines[1], "(retry, attempt 2)") {
			t.Errorf("reconciles after the success: %q", r.lines)
		}
	})
}

func TestTriggersDoNotCountAsFailures(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		w := r.serve(widgetsPath, r.object("a"))
		r.start(New(r.client.All(widgets), r.noting(func(*widget) (Action, error) {
			time.Sleep(10 * time.Millisecond)
			return Await(), errBoom
		}), &Options{Backoff: Backoff{Initial: time.Hour, Max: time.Hour}}))
		for range 3 {
			time.Sleep(time.Second)
			for range 5 {
				w.Send("MODIFIED", r.object("a"))
			}
		}
		time.Sleep(time.Second)
		synctest.Wait()
		last := r.lines[len(r.lines)-1]
		if want := fmt.Sprintf("attempt %d)", len(r.lines)); len(r.lines) > 7 || !strings.Contains(last, want) {
			t.Errorf("reconciles: %q", r.lines)
		}
	})
}

func TestAfterBesideAnErrorSetsTheDelay(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.serve(widgetsPath, r.object("a"))
		r.start(New(r.client.All(widgets), r.noting(func(*widget) (Action, error) { return After(7 * time.Second), errBoom }), nil))
		time.Sleep(15 * time.Second)
		r.want(t,
			"0s a size 0 (object found, attempt 1)",
			"7s a size 0 (retry, attempt 2)",
			"14s a size 0 (retry, attempt 3)",
		)
	})
}

func TestTerminalErrorIsNotRetried(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		w := r.serve(widgetsPath, r.object("a"))
		ctl := New(r.client.All(widgets), r.noting(func(*widget) (Action, error) {
			return After(time.Second), fmt.Errorf("checked: %w", Terminal(errBoom))
		}), nil)
		r.start(ctl)
		time.Sleep(time.Hour)
		r.want(t, "0s a size 0 (object found, attempt 1)")
		r.wantLog("level=ERROR", "not trying again before something changes", `error="checked: boom"`)
		w.Send("MODIFIED", r.object("a", size(1)))
		time.Sleep(time.Hour)
		r.want(t, "0s a size 0 (object found, attempt 1)", "1h0m0s a size 1 (object updated, attempt 2)")
		w.Send("DELETED", r.object("a"))
		synctest.Wait()
		if n := ctl.engine.runner.Load().keys.entries.count; n != 0 {
			t.Errorf("the failures of %d deleted objects are remembered", n)
		}
	})
}

func TestTerminalKeepsTheError(t *testing.T) {
	if Terminal(nil) != nil {
		t.Error("Terminal(nil) is an error")
	}
	err := fmt.Errorf("outer: %w", Terminal(errBoom))
	if !errors.Is(err, errBoom) || !IsTerminal(err) || err.Error() != "outer: boom" {
		t.Errorf("err = %v", err)
	}
	if IsTerminal(errBoom) || IsTerminal(nil) {
		t.Error("every error is terminal")
	}
}

func TestRetryWithoutAnErrorBacksOffQuietly(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.serve(widgetsPath, r.object("a"))
		ctl := New(r.client.All(widgets), r.noting(func(*widget) (Action, error) { return Retry(), nil }),
			&Options{Backoff: Backoff{Initial: time.Second, Max: time.Second}})
		r.start(ctl)
		time.Sleep(1500 * time.Millisecond)
		if synctest.Wait(); len(r.lines) < 2 || !strings.Contains(r.lines[1], "(retry, attempt 2)") {
			t.Errorf("reconciles: %q", r.lines)
		}
		if s := ctl.Stats(); s.Failed != 0 || strings.Contains(r.log.String(), "failed") {
			t.Errorf("Stats = %+v and the log speak of failures:\n%s", s, r.log.String())
		}
	})
}

func TestRetryAfterOfTheServerIsKept(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.serve(widgetsPath, r.object("a"))
		busy := &kube.Error{Verb: "apply", Err: apierrors.NewTooManyRequests("busy", 30)}
		r.start(New(r.client.All(widgets), r.noting(func(*widget) (Action, error) { return Await(), busy }), nil))
		time.Sleep(31 * time.Second)
		r.want(t, "0s a size 0 (object found, attempt 1)", "30s a size 0 (retry, attempt 2)")
	})
}

func TestConflictIsLoggedQuietly(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.serve(widgetsPath, r.object("a"))
		conflict := &kube.Error{Verb: "update", Err: apierrors.NewConflict(schema.GroupResource{Resource: "widgets"}, "a", errBoom)}
		ctl := New(r.client.All(widgets), r.noting(func(*widget) (Action, error) { return Await(), conflict }), nil)
		r.start(ctl)
		time.Sleep(time.Second)
		if s := ctl.Stats(); s.Failed < 2 {
			t.Errorf("Stats = %+v, want the conflicts counted and retried", s)
		}
		if strings.Contains(r.log.String(), "reconcile failed") {
			t.Errorf("the log speaks of a conflict:\n%s", r.log.String())
		}
	})
}

func TestPanicIsAnErrorOfItsKey(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.serve(widgetsPath, r.object("a"), r.object("b"))
		ctl := New(r.client.All(widgets), r.noting(func(w *widget) (Action, error) {
			if w.Name == "a" {
				panic(errBoom)
			}
			return Await(), nil
		}), &Options{Concurrency: 1, Backoff: Backoff{Initial: time.Minute}})
		var seen error
		ctl.OnError(func(_ context.Context, w *widget, err error, attempt int) Action {
			seen = err
			return Retry()
		})
		r.start(ctl)
		time.Sleep(61 * time.Second)
		synctest.Wait()
		if n := len(r.lines); n != 3 || !strings.Contains(r.lines[2], "a size 0 (retry, attempt 2)") {
			t.Errorf("reconciles: %q", r.lines)
		}
		p, ok := errors.AsType[*PanicError](seen)
		if !ok || !errors.Is(p.Unwrap(), errBoom) || !errors.Is(seen, errBoom) || !strings.Contains(string(p.Stack), "failure_test.go") {
			t.Errorf("OnError got %#v", seen)
		}
		r.wantLog("level=ERROR", `error="panic: boom"`, "name=a", "failure_test.go")
		if s := ctl.Stats(); s.Panicked != 2 || s.Failed != 2 || s.Reconciled != 3 {
			t.Errorf("Stats = %+v", s)
		}
	})
}

func TestGoexitIsAnErrorOfItsKey(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.serve(widgetsPath, r.object("a"), r.object("b"))
		ctl := New(r.client.All(widgets), r.noting(func(w *widget) (Action, error) {
			if w.Name == "a" {
				runtime.Goexit()
			}
			return Await(), nil
		}), &Options{Concurrency: 1})
		r.start(ctl)
		time.Sleep(time.Second)
		if s := ctl.Stats(); s.Running != 0 || s.Waiting != 1 || s.Panicked < 2 {
			t.Errorf("Stats = %+v, want retries of a and nothing stuck", s)
		}
		r.wantLog("level=ERROR", "name=a", "ended its goroutine")
	})
}

func TestOnErrorReplacesTheRule(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		w := r.serve(widgetsPath, r.object("a", size(1)))
		ctl := New(r.client.All(widgets), r.noting(func(w *widget) (Action, error) {
			w.Spec.Size++
			return After(time.Millisecond), Terminal(errBoom)
		}), nil)
		var calls []string
		ctl.OnError(func(ctx context.Context, w *widget, err error, attempt int) Action {
			calls = append(calls, fmt.Sprintf("%s size %d: %v (%s, attempt %d)", w.Name, w.Spec.Size, err, ReasonFrom(ctx), attempt))
			time.Sleep(time.Second) // it may do I/O
			if attempt == 3 {
				return Await()
			}
			return After(10 * time.Second)
		})
		r.start(ctl)
		time.Sleep(500 * time.Millisecond)
		w.Send("MODIFIED", r.object("a", size(1))) // waits for the hook
		time.Sleep(time.Hour)
		r.want(t,
			"0s a size 1 (object found, attempt 1)",
			"1s a size 1 (object updated, attempt 2)",
			"12s a size 1 (retry, attempt 3)",
		)
		want := []string{
			"a size 2: boom (object found, attempt 1)",
			"a size 2: boom (object updated, attempt 2)",
			"a size 2: boom (retry, attempt 3)",
		}
		if diff := cmp.Diff(want, calls); diff != "" {
			t.Errorf("calls of OnError (-want +got):\n%s", diff)
		}
	})
}

func TestPanicInOnErrorLeavesTheRule(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.serve(widgetsPath, r.object("a"))
		ctl := New(r.client.All(widgets), r.noting(func(w *widget) (Action, error) { return After(time.Second), errBoom }), nil)
		ctl.OnError(func(context.Context, *widget, error, int) Action { panic("hook is broken") })
		r.start(ctl)
		time.Sleep(1500 * time.Millisecond)
		r.want(t, "0s a size 0 (object found, attempt 1)", "1s a size 0 (retry, attempt 2)")
		r.wantLog("level=ERROR", "the hook of OnError failed", "hook is broken", "name=a")
	})
}

// A broken object among many must not stop, delay or hide the others.
func TestObjectThatDoesNotDecodeIsReportedAlone(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		w := r.watch(widgetsPath)
		for i := range 1000 {
			if i == 500 {
				w.Send("ADDED", r.broken("broken", "1"))
				continue
			}
			w.Send("ADDED", r.object(fmt.Sprint("w", i)))
		}
		w.InitialEventsEnd(r.next())
		var reconciled atomic.Int32
		ctl := New(r.client.All(widgets), func(context.Context, *widget) (Action, error) {
			reconciled.Add(1)
			return Await(), nil
		}, nil)
		r.start(ctl)
		time.Sleep(time.Hour)
		if got := reconciled.Load(); got != 999 {
			t.Errorf("%d objects were reconciled, want 999", got)
		}
		if s := ctl.Stats(); s.Undecodable != 1 || s.Failed != 1 || s.Reconciled != 1000 {
			t.Errorf("Stats = %+v", s)
		}
		r.wantLog("level=ERROR", "not trying again before something changes", "name=broken", "decode Widget ns/broken", "attempt=1")
		if n := strings.Count(r.log.String(), "name=broken"); n != 1 {
			t.Errorf("the log names the broken object %d times:\n%s", n, r.log.String())
		}
		w.Send("MODIFIED", r.object("broken", size(3)))
		synctest.Wait()
		if got := reconciled.Load(); got != 1000 {
			t.Error("the object is not reconciled after it was mended")
		}
	})
}

func TestOnErrorGetsTheMetadataOfAnObjectThatDoesNotDecode(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.serve(widgetsPath, r.broken("a", "7"))
		ctl := New(r.client.All(widgets), r.noting(nil), nil)
		var got *widget
		var cause error
		ctl.OnError(func(_ context.Context, w *widget, err error, _ int) Action {
			got, cause = w, err
			return Await()
		})
		r.start(ctl)
		r.want(t)
		decode, ok := errors.AsType[*DecodeError](cause)
		if !ok || decode.Unwrap() == nil || !strings.Contains(cause.Error(), "size") {
			t.Errorf("OnError got %v", cause)
		}
		want := metav1.ObjectMeta{
			Namespace: "ns", Name: "a", UID: "uid-a", ResourceVersion: "7", Generation: 2,
			Labels: map[string]string{"a": "b"}, Finalizers: []string{"x/y"},
		}
		if diff := cmp.Diff(want, got.ObjectMeta); diff != "" {
			t.Errorf("metadata (-want +got):\n%s", diff)
		}
	})
}

// broken returns a widget whose size is no number.
func (r *rig) broken(name, version string) string {
	return fmt.Sprintf(`{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"namespace":"ns","name":%q,"uid":%q,`+
		`"resourceVersion":%q,"generation":2,"labels":{"a":"b"},"finalizers":["x/y"]},"spec":{"size":"large"}}`, name, "uid-"+name, version)
}

func TestDecodeErrorsOfTheCacheReachItsHook(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		var reported []error
		r.serve(widgetsPath, r.broken("a", "7"))
		ctl := New(r.client.All(widgets), r.noting(nil), &Options{Watch: watcher.Options{
			OnError: func(err error) { reported = append(reported, err) },
		}})
		ctl.Modify(func(*widget) {}) // makes the cache decode
		r.start(ctl)
		synctest.Wait()
		if len(reported) != 1 || !strings.Contains(reported[0].Error(), "ns/a") {
			t.Errorf("reported: %v", reported)
		}
	})
}
