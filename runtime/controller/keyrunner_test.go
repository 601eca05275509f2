package controller

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// runKeys runs a runner whose runs are noted until the test ends, when Run has to return nil.
func runKeys(t *testing.T, j *journal, do func(ctx context.Context, key string) (Action, error), opts RunnerOptions) *Runner[string] {
	t.Helper()
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	r := NewRunner(func(ctx context.Context, key string) (Action, error) {
		j.add(fmt.Sprintf("%s (%s, attempt %d)", key, ReasonFrom(ctx), AttemptFrom(ctx)))
		return do(ctx, key)
	}, &opts)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
	return r
}

func done(context.Context, string) (Action, error) { return Await(), nil }

func TestRunnerMergesWhatIsAskedOfAKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJournal()
		r := runKeys(t, j, done, RunnerOptions{})
		r.Schedule("a", time.Hour)
		r.Schedule("a", time.Minute)
		r.Schedule("a", time.Second)
		r.Schedule("a", time.Minute)
		r.Schedule("b", 2*time.Second)
		r.Trigger("b")
		time.Sleep(24 * time.Hour)
		j.want(t, "0s b (custom, attempt 1)", "1s a (custom, attempt 1)")
	})
}

// What the function returns decides what comes next, as for a reconciler.
func TestRunnerActions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJournal()
		calls := map[string]int{}
		r := runKeys(t, j, func(_ context.Context, key string) (Action, error) {
			if calls[key]++; calls[key] > 1 {
				return Await(), nil
			}
			switch key {
			case "after":
				return After(time.Minute), nil
			case "retry":
				return Retry(), nil
			case "error":
				return Await(), errors.New("no")
			case "error after":
				return After(time.Minute), errors.New("no")
			case "terminal":
				return After(time.Minute), Terminal(errors.New("no"))
			case "panic":
				panic("no")
			case "goexit":
				runtime.Goexit()
			}
			return Await(), nil
		}, RunnerOptions{Concurrency: 1, Backoff: Backoff{Initial: 2, Max: 2}})
		for _, key := range []string{"await", "after", "retry", "error", "error after", "terminal", "panic", "goexit"} {
			r.Trigger(key)
			synctest.Wait()
			time.Sleep(time.Second)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		want := map[string]int{"await": 1, "after": 2, "retry": 2, "error": 2, "error after": 2, "terminal": 1, "panic": 2, "goexit": 2}
		if diff := cmp.Diff(want, calls); diff != "" {
			t.Errorf("calls (-want +got):\n%s", diff)
		}
		var again []string
		for _, line := range j.got() {
			if _, what, _ := strings.Cut(line, " "); !strings.Contains(what, "custom") {
				again = append(again, what)
			}
		}
		wantAgain := []string{
			"retry (retry, attempt 2)", "error (retry, attempt 2)", "panic (retry, attempt 2)", "goexit (retry, attempt 2)",
			"after (reconciler requested, attempt 1)", "error after (retry, attempt 2)",
		}
		if diff := cmp.Diff(wantAgain, again); diff != "" {
			t.Errorf("later runs (-want +got):\n%s", diff)
		}
		wantStats := RunnerStats{Runs: 14, Failed: 5, Panicked: 2}
		if diff := cmp.Diff(wantStats, r.Stats()); diff != "" {
			t.Errorf("stats (-want +got):\n%s", diff)
		}
		if n := len(r.Queue()); n != 0 {
			t.Errorf("%d keys have something to do", n)
		}
	})
}

func TestRunnerShowsItsQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJournal()
		r := runKeys(t, j, func(ctx context.Context, key string) (Action, error) {
			time.Sleep(time.Second)
			return Await(), nil
		}, RunnerOptions{Concurrency: 1})
		began := time.Now()
		r.Trigger("busy")
		synctest.Wait()
		r.Trigger("busy") // once more afterwards
		r.Trigger("due")
		r.Schedule("later", time.Hour)
		r.Schedule("gone", 2*time.Hour)
		r.Forget("gone")
		want := []RunnerItem[string]{
			{Key: "busy", Running: true, Planned: true, At: began},
			{Key: "due", Planned: true, At: began},
			{Key: "later", Planned: true, At: began.Add(time.Hour)},
		}
		got := r.Queue()
		if len(got) == 3 && got[0].Key == "due" { // both are due at once
			got[0], got[1] = got[1], got[0]
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("queue (-want +got):\n%s", diff)
		}
		if s := r.Stats(); s.Running != 1 || s.Due != 1 || s.Waiting != 1 {
			t.Errorf("stats = %+v", s)
		}
	})
}

func TestRunnerPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJournal()
		r := runKeys(t, j, done, RunnerOptions{})
		r.Pause()
		r.Trigger("a")
		r.Trigger("a")
		time.Sleep(time.Minute)
		j.want(t)
		r.Resume()
		j.want(t, "1m0s a (custom, attempt 1)")
	})
}

func TestRunnerKeepsToItsOptions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJournal()
		r := runKeys(t, j, done, RunnerOptions{Debounce: time.Second, DebounceLimit: 3 * time.Second, Rate: Rate{PerSecond: 0.1, Burst: 1}})
		for range 9 { // every half a second, for 4.5 s
			r.Trigger("a")
			time.Sleep(time.Second / 2)
		}
		r.Trigger("b")
		time.Sleep(time.Minute)
		j.want(t, "3s a (custom, attempt 1)", "13s a (custom, attempt 1)", "23s b (custom, attempt 1)")
	})
}

// Keys that were asked for before Run run when it does, and none after its context has ended.
func TestRunnerBeforeAndAfterRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJournal()
		r := NewRunner(func(_ context.Context, key string) (Action, error) {
			j.add(key)
			return After(time.Second), nil
		}, nil)
		r.Trigger("a")
		time.Sleep(time.Minute)
		j.want(t)
		ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
		defer cancel()
		if err := r.Run(ctx); err != nil {
			t.Errorf("Run: %v", err)
		}
		r.Trigger("b")
		time.Sleep(time.Minute)
		j.want(t, "1m0s a", "1m1s a")
		if err := r.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "called before") {
			t.Errorf("the second Run: %v", err)
		}
	})
}

// With a context that has ended already nothing runs.
func TestRunnerOfAnEndedContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := NewRunner(func(context.Context, int) (Action, error) {
			t.Error("a key runs")
			return Await(), nil
		}, nil)
		r.Trigger(7)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := r.Run(ctx); err != nil {
			t.Error(err)
		}
	})
}

// Runs keep their context after that of Run has ended, for StopTimeout.
func TestRunnerStops(t *testing.T) {
	for name, test := range map[string]struct {
		works time.Duration
		want  error
		took  time.Duration
	}{
		"in time":  {5 * time.Second, nil, 5 * time.Second},
		"too late": {time.Hour, ErrStopTimeout, 10 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var cause error
				r := NewRunner(func(ctx context.Context, key struct{ System, Task string }) (Action, error) {
					select {
					case <-ctx.Done():
						cause = context.Cause(ctx)
					case <-time.After(test.works):
					}
					return Await(), nil
				}, &RunnerOptions{Name: "tasks", StopTimeout: 10 * time.Second, Logger: slog.New(slog.DiscardHandler)})
				r.Trigger(struct{ System, Task string }{"crm", "sync"})
				ctx, cancel := context.WithCancel(t.Context())
				ended := make(chan error, 1)
				go func() { ended <- r.Run(ctx) }()
				synctest.Wait()
				began := time.Now()
				cancel()
				err := <-ended
				if !errors.Is(err, test.want) || !errors.Is(cause, test.want) || time.Since(began) != test.took {
					t.Errorf("Run returned %v after %s, the cause in its run is %v", err, time.Since(began), cause)
				}
				if err != nil && (!strings.Contains(err.Error(), "tasks") || !strings.Contains(err.Error(), "crm sync")) {
					t.Errorf("%q does not say what still ran", err)
				}
			})
		})
	}
}

func TestRunnerOptionsAreChecked(t *testing.T) {
	for want, opts := range map[string]RunnerOptions{
		"Options.Debounce":       {Debounce: -1},
		"Options.DebounceLimit":  {Debounce: 2, DebounceLimit: 1},
		"Options.Backoff":        {Backoff: Backoff{Initial: -1}},
		"Options.Rate.PerSecond": {Rate: Rate{PerSecond: -1}},
	} {
		opts.Name = "tasks"
		r := NewRunner(done, &opts)
		r.Trigger("a") // does no harm
		if err := r.Run(t.Context()); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "tasks") {
			t.Errorf("%s: Run = %v", want, err)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("no function is no mistake")
		}
	}()
	NewRunner[string](nil, nil)
}

// Failures are logged with the key, and those that are not tried again as errors.
func TestRunnerLogsFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log lockedBuffer
		calls := 0
		r := runKeys(t, newJournal(), func(context.Context, string) (Action, error) {
			if calls++; calls == 1 {
				return Await(), errors.New("busy")
			}
			return Await(), Terminal(errors.New("wrong"))
		}, RunnerOptions{Name: "tasks", Logger: slog.New(slog.NewTextHandler(&log, nil))})
		r.Trigger("a")
		time.Sleep(time.Hour)
		lines := strings.Split(strings.TrimSpace(log.String()), "\n")
		if len(lines) != 2 {
			t.Fatalf("log:\n%s", log.String())
		}
		for i, want := range [][]string{{"WARN", "trying again", "busy", "key=a", "attempt=1", "delay=", "runner=tasks"}, {"ERROR", "not trying again", "wrong", "attempt=2"}} {
			for _, part := range want {
				if !strings.Contains(lines[i], part) {
					t.Errorf("line %d lacks %q: %s", i, part, lines[i])
				}
			}
		}
	})
}
