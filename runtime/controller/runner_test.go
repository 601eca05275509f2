package controller

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// journal notes what runs when, from many goroutines.
type journal struct {
	mu    sync.Mutex
	began time.Time
	lines []string
}

func newJournal() *journal { return &journal{began: time.Now()} }

// got returns what was noted so far.
func (j *journal) got() []string {
	synctest.Wait()
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.lines)
}

func (j *journal) add(line string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lines = append(j.lines, time.Since(j.began).String()+" "+line)
}

func (j *journal) want(t *testing.T, want ...string) {
	t.Helper()
	synctest.Wait()
	j.mu.Lock()
	defer j.mu.Unlock()
	if diff := cmp.Diff(want, j.lines); diff != "" {
		t.Errorf("journal (-want +got):\n%s", diff)
	}
}

// startRunner runs a runner for the rest of the bubble. It is not opened.
func startRunner(t *testing.T, limit int, do func(*run[string])) *runner[string] {
	r := newRunner(newScheduler[string](0, 0), limit, do)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-r.timer.C:
				r.wake()
			case <-r.idle:
				r.wait()
				return
			}
		}
	}()
	t.Cleanup(func() {
		r.stop()
		<-ended
	})
	return r
}

func TestRunnerNeverRunsOneKeyTwiceAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJournal()
		r := startRunner(t, 10, func(run *run[string]) {
			j.add("begin " + run.key)
			time.Sleep(time.Second)
			j.add("end " + run.key)
		})
		r.open()
		r.trigger("a", because(""))
		time.Sleep(time.Millisecond)
		r.trigger("a", because(""))
		time.Sleep(time.Minute)
		j.want(t, "0s begin a", "1s end a", "1s begin a", "2s end a")
	})
}

func TestRunnerWakesUpForANewKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJournal()
		r := startRunner(t, 1, func(run *run[string]) { j.add(run.key) })
		r.open()
		time.Sleep(time.Hour)
		r.trigger("now", because(""))
		r.schedule("late", time.Minute, because(""))
		r.schedule("soon", time.Second, because(""))
		time.Sleep(time.Hour)
		j.want(t, "1h0m0s now", "1h0m1s soon", "1h1m0s late")
	})
}

func TestRunnerRunsNothingBeforeItIsOpened(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJournal()
		r := startRunner(t, 10, func(run *run[string]) { j.add(run.key) })
		r.trigger("a", because(""))
		r.trigger("b", because(""))
		r.trigger("a", because(""))
		r.schedule("c", time.Second, because(""))
		time.Sleep(time.Minute)
		j.want(t)
		r.open()
		synctest.Wait()
		slices.Sort(j.lines)
		j.want(t, "1m0s a", "1m0s b", "1m0s c")
	})
}

func TestRunnerStoppedBeforeItIsOpenedNeverRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := startRunner(t, 10, func(run *run[string]) { t.Errorf("%s ran", run.key) })
		r.trigger("a", because(""))
		r.stop()
		r.open()
		r.trigger("b", because(""))
		r.wait()
	})
}

func TestRunnerKeepsToItsLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJournal()
		r := startRunner(t, 2, func(run *run[string]) {
			j.add(run.key)
			time.Sleep(time.Duration(run.key[0]-'a'+1) * time.Second)
		})
		r.open()
		for _, key := range []string{"a", "b", "c"} {
			r.trigger(key, because(""))
			synctest.Wait()
		}
		j.want(t, "0s a", "0s b")
		time.Sleep(500 * time.Millisecond)
		r.trigger("a", because("")) // runs: waits for itself, and behind c
		time.Sleep(time.Minute)
		j.want(t, "0s a", "0s b", "1s c", "2s a")
	})
}

func TestRunnerWithoutALimitRunsAllAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var running atomic.Int32
		r := startRunner(t, unlimited, func(*run[string]) {
			running.Add(1)
			time.Sleep(time.Hour)
			running.Add(-1)
		})
		r.open()
		for i := range 1000 {
			r.trigger(string(rune('a'+i)), because(""))
		}
		synctest.Wait()
		if got := running.Load(); got != 1000 {
			t.Errorf("%d keys run, want 1000", got)
		}
	})
}

func TestRunnerStopLetsRunningKeysEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJournal()
		r := startRunner(t, 1, func(run *run[string]) {
			j.add("begin " + run.key)
			time.Sleep(time.Minute)
			j.add("end " + run.key)
			run.outcome = outcome{again: true}
		})
		r.open()
		r.trigger("a", because(""))
		r.trigger("b", because(""))
		r.schedule("c", time.Second, because(""))
		synctest.Wait()
		r.stop()
		r.stop()
		r.wait()
		j.add("stopped")
		time.Sleep(time.Hour)
		j.want(t, "0s begin a", "1m0s end a", "1m0s stopped")
	})
}

func TestRunnerHasNoGoroutinesWhileNothingIsDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRunner(newScheduler[string](0, 0), 10, func(*run[string]) {})
		defer r.wait()
		defer r.stop()
		r.open()
		before := runtime.NumGoroutine()
		for i := range 100 {
			r.trigger(string(rune('a'+i)), because(""))
			r.schedule(string(rune('A'+i)), time.Hour, because(""))
		}
		synctest.Wait()
		if got := runtime.NumGoroutine(); got > before {
			t.Errorf("%d goroutines while idle, %d before", got, before)
		}
	})
}

func TestRunnerOutlivesGoexit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJournal()
		r := startRunner(t, 1, func(run *run[string]) {
			j.add(run.key)
			if run.attempt < 3 {
				run.outcome = outcome{failed: true, again: true, delay: time.Second}
				runtime.Goexit()
			}
		})
		r.open()
		r.trigger("a", because(""))
		r.trigger("b", because(""))
		time.Sleep(time.Minute)
		j.want(t, "0s a", "0s b", "1s a", "1s b", "2s a", "2s b")
	})
}

func TestRunnerTellsReasonAndAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		type seen struct {
			Reason  string
			Attempt int
		}
		var got []seen
		r := startRunner(t, 1, func(run *run[string]) {
			got = append(got, seen{run.reason.Name, run.attempt})
			run.outcome = outcome{failed: len(got) < 3, again: len(got) < 4, delay: time.Second, reason: because("again")}
		})
		r.open()
		r.trigger("a", because("event"))
		time.Sleep(time.Minute)
		synctest.Wait()
		want := []seen{{"event", 1}, {"again", 2}, {"again", 3}, {"again", 1}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("runs (-want +got):\n%s", diff)
		}
	})
}

// The flood of requeues that filled a bounded channel in kube-rs (#926).
func TestRunnerSurvivesAFloodOfRequeues(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const keys, runs = 5000, 15_000
		var count atomic.Int32
		enough := make(chan struct{})
		r := startRunner(t, 50, func(run *run[string]) {
			if count.Add(1) == runs {
				close(enough)
			}
			run.outcome = outcome{again: true}
		})
		for i := range keys {
			r.trigger(string(rune(i+1000)), because(""))
		}
		start := time.Now()
		r.open()
		<-enough
		r.stop()
		r.wait()
		if d := time.Since(start); d > 10*time.Second {
			t.Errorf("%d runs and the end took %s", runs, d)
		}
	})
}

func TestRunnerUnderRandomTriggers(t *testing.T) {
	synctest.Test(t, testRandomTriggers)
}

// testRandomTriggers has 10 000 keys with random triggers, delays, failures and lost
// goroutines.
func testRandomTriggers(t *testing.T) {
	const keys, triggers, limit = 10_000, 60_000, 32
	var inside [keys]atomic.Int32 // runs of each key at this time
	var asked, served [keys]atomic.Int64
	var running atomic.Int32
	do := func(run *run[int]) {
		if n := inside[run.key].Add(1); n != 1 {
			t.Errorf("%d runs of key %d at a time", n, run.key)
		}
		if n := running.Add(1); n > limit {
			t.Errorf("%d runs at a time, the limit is %d", n, limit)
		}
		served[run.key].Store(asked[run.key].Load())
		switch rand.IntN(8) {
		case 0:
			runtime.Gosched()
		case 1:
			run.outcome = outcome{failed: true, again: true, delay: time.Duration(rand.IntN(1000))}
		case 2:
			time.Sleep(time.Duration(rand.IntN(1000)))
		}
		running.Add(-1)
		inside[run.key].Add(-1)
		if rand.IntN(100) == 0 {
			runtime.Goexit()
		}
	}
	r := newRunner(newScheduler[int](0, 0), limit, do)
	var loop, writers sync.WaitGroup
	loop.Go(func() {
		for {
			select {
			case <-r.timer.C:
				r.wake()
			case <-r.idle:
				return
			}
		}
	})
	r.open()
	for range 4 {
		writers.Go(func() {
			for range triggers / 4 {
				key := rand.IntN(keys)
				asked[key].Add(1)
				switch rand.IntN(8) {
				case 0, 1:
					r.schedule(key, time.Duration(rand.IntN(int(time.Millisecond))), Reason{Kind: Requested})
				case 2:
					time.Sleep(time.Duration(rand.IntN(100)))
					fallthrough
				default:
					r.trigger(key, Reason{Kind: Updated})
				}
			}
		})
	}
	writers.Wait()
	time.Sleep(time.Minute)
	if waiting, due, now := r.counts(); waiting+due+now > 0 {
		t.Errorf("%d keys wait, %d are due and %d run long after the last trigger", waiting, due, now)
	}
	r.stop()
	r.wait()
	loop.Wait()
	for key := range keys {
		if asked[key].Load() != served[key].Load() {
			t.Errorf("key %d was asked for after its last run", key)
		}
	}
}

// paced is startRunner with a rate of one run in ten seconds.
func paced(t *testing.T, limit int, do func(*run[string])) *runner[string] {
	r := startRunner(t, limit, do)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pace = newPace(Rate{PerSecond: 0.1, Burst: 1})
	return r
}

// A run that did not take place, since its key has to wait, leaves its share of the rate to others.
func TestRunnerDoesNotCountWhatDidNotRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJournal()
		r := paced(t, 1, func(run *run[string]) {
			j.add(run.key)
			run.outcome.none = run.key == "waits"
		})
		r.open()
		for _, key := range []string{"waits", "runs", "late"} {
			r.trigger(key, because(""))
			synctest.Wait()
		}
		time.Sleep(time.Minute)
		j.want(t, "0s waits", "0s runs", "10s late")
	})
}

// What the rate has put off runs when the rate allows, and not when a run that takes long has ended.
func TestRunnerWaitsForTheRateAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJournal()
		r := paced(t, 3, func(run *run[string]) {
			j.add(run.key)
			time.Sleep(time.Hour)
		})
		for _, key := range []string{"a", "b", "c"} { // all are due when the runner is opened
			r.trigger(key, because(""))
		}
		r.open()
		time.Sleep(time.Minute)
		j.want(t, "0s a", "10s b", "20s c")
	})
}
