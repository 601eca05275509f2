package controller

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"
)

// Runner runs a function for keys that need work, whatever it is that they name: the queue and the workers
// under a [Controller], for work that no watch triggers, such as tasks in a system outside of the cluster. Nothing of
// Kubernetes is needed for it.
//
// What was asked of a key before it runs is one run, at the earliest of the times asked for. A key never runs twice at a
// time; what is asked of it while it runs is one run afterwards. Keys whose time has come run in the order of their
// times. A run that fails is tried again with a backoff that counts the failures of that key, and a success resets;
// a panic is a failure. [ReasonFrom] and [AttemptFrom] read from the context of a run why it is made.
//
// Make one with [NewRunner]. Its methods are safe for concurrent use, and never wait for a run.
type Runner[T comparable] struct {
	do      func(ctx context.Context, key T) (Action, error)
	opts    RunnerOptions
	invalid error
	runner  *runner[T]
	running atomic.Bool // Run was called

	// runs is the context of runs; set before the first.
	runs context.Context

	mu    sync.Mutex
	stats RunnerStats
}

// RunnerOptions changes how a [Runner] works. The zero value, and nil, are right for most.
type RunnerOptions struct {
	// Name stands in every log record of the runner; empty is "runner".
	Name string
	// Concurrency is how many keys run at the same time; 0 is 16, a negative number sets no limit.
	Concurrency int
	// Debounce puts off a run that [Runner.Trigger] asks for until nothing has triggered its key for so long.
	// DebounceLimit is the longest that this can go on; 0 is 10 times Debounce.
	Debounce, DebounceLimit time.Duration
	// Backoff is the wait after failed runs.
	Backoff Backoff
	// Rate bounds how many runs begin in a time, over all keys. The zero value sets no bound.
	Rate Rate
	// StopTimeout is how long runs may go on after the context of [Runner.Run] has ended; then their own
	// contexts end. 0 is 30s; a negative number ends them at once.
	StopTimeout time.Duration
	// Logger is told of failures. Nil is [slog.Default].
	Logger *slog.Logger
}

// RunnerStats is what a [Runner] has done, and what it has to do.
type RunnerStats struct {
	// Waiting keys have a run planned for later, Due keys would run if there were room, Running keys run.
	Waiting, Due, Running int
	// Runs is the number of runs that have ended, Failed how many of them ended with an error, and Panicked how
	// many of those did by a panic.
	Runs, Failed, Panicked uint64
}

// RunnerItem is a key of a [Runner] that has something to do. See [Runner.Queue].
type RunnerItem[T comparable] struct {
	Key T
	// Running says that it runs, Planned that a run is to come: after the running one, if there is one.
	Running, Planned bool
	// At is when the planned run is due. If that is in the past it waits for its turn.
	At time.Time
	// Failures is how many runs have failed since the last success.
	Failures int
}

// NewRunner returns a runner that calls do for each key that is due: it returns what should happen next, as a
// reconciler does (see [Action]). Its context outlives that of Run by StopTimeout of opts, which may be nil and
// are copied; options that are not valid are an error of Run. Keys can be asked for before Run as well.
func NewRunner[T comparable](do func(ctx context.Context, key T) (Action, error), opts *RunnerOptions) *Runner[T] {
	need(do != nil, "NewRunner")
	r := &Runner[T]{do: do}
	r.opts, r.invalid = opts.prepared()
	keys := newScheduler[T](r.opts.Debounce, r.opts.DebounceLimit)
	r.runner = newRunner(keys, r.opts.Concurrency, r.perform)
	r.runner.pace = newPace(r.opts.Rate)
	return r
}

// prepared returns a copy with its defaults filled in, or what is wrong with it.
func (o *RunnerOptions) prepared() (RunnerOptions, error) {
	var c RunnerOptions
	if o != nil {
		c = *o
	}
	shared := Options{
		Concurrency: c.Concurrency, Debounce: c.Debounce, DebounceLimit: c.DebounceLimit, Backoff: c.Backoff,
		Rate: c.Rate, StopTimeout: c.StopTimeout,
	}
	shared.setDefaults()
	err := shared.validate()
	if err != nil {
		shared = Options{}
		shared.setDefaults()
	}
	c.Concurrency, c.Debounce, c.DebounceLimit = shared.Concurrency, shared.Debounce, shared.DebounceLimit
	c.Backoff, c.Rate, c.StopTimeout = shared.Backoff, shared.Rate, shared.StopTimeout
	if c.Name == "" {
		c.Name = "runner"
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	c.Logger = c.Logger.With(slog.String("runner", c.Name))
	return c, err
}

// Trigger asks for a run of key as soon as Debounce of the options allows.
func (r *Runner[T]) Trigger(key T) { r.runner.trigger(key, Reason{Kind: Custom}) }

// Schedule asks for a run of key once delay has passed; one that is planned for an earlier time covers it. A delay is
// bounded at 180 days; zero and less is none. Debounce does not put it off.
func (r *Runner[T]) Schedule(key T, delay time.Duration) {
	r.runner.schedule(key, delay, Reason{Kind: Custom})
}

// Forget drops the failures of key, and a run that is planned for later: what key names is gone. A run that is due
// already, or follows the running one, takes place.
func (r *Runner[T]) Forget(key T) { r.runner.forget(key) }

// Pause lets no run begin until [Runner.Resume] is called. Those that run go on, and what is asked for is kept.
func (r *Runner[T]) Pause() { r.runner.pause(true) }

// Resume undoes [Runner.Pause].
func (r *Runner[T]) Resume() { r.runner.pause(false) }

// Queue returns the keys that wait for a run, are due or run, in the order of their times. It takes time and memory for
// each of them.
func (r *Runner[T]) Queue() (items []RunnerItem[T]) {
	for _, p := range r.runner.queue() {
		items = append(items, RunnerItem[T]{Key: p.key, Running: p.running, Planned: p.planned, At: p.at, Failures: p.failures})
	}
	return items
}

// Stats returns what the runner has done and has to do, for metrics.
func (r *Runner[T]) Stats() RunnerStats {
	r.mu.Lock()
	s := r.stats
	r.mu.Unlock()
	s.Waiting, s.Due, s.Running = r.runner.counts()
	return s
}

// Run runs keys until ctx ends. No run begins after that; Run returns nil when those that are under way have ended, and
// [ErrStopTimeout] when they had to be told to by StopTimeout of the options. Other than that it fails only at
// once: when options are not valid, and when it was called before.
func (r *Runner[T]) Run(ctx context.Context) error {
	if r.invalid != nil {
		return fmt.Errorf("%s: %w", r.opts.Name, r.invalid)
	}
	if r.running.Swap(true) {
		return fmt.Errorf("%s: Run was called before; a runner runs once", r.opts.Name)
	}
	runs, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(nil)
	r.runs = runs
	if ctx.Err() == nil {
		r.runner.open()
	}
	for {
		select {
		case <-r.runner.timer.C:
			r.runner.wake()
		case <-ctx.Done():
			if err := r.runner.end(r.opts.StopTimeout, r.opts.Logger, cancel); err != nil {
				return fmt.Errorf("%s: %w", r.opts.Name, err)
			}
			return nil
		}
	}
}

// perform does one run of a key.
func (r *Runner[T]) perform(current *run[T]) {
	returned := false
	defer func() {
		if !returned { // the user's code has called runtime.Goexit, which nothing can stop
			current.outcome = r.ended(current, Await(), &PanicError{Stack: debug.Stack()})
		}
	}()
	var action Action
	ctx := &runContext{r.runs, current.reason, current.attempt}
	err := contain(func() (err error) {
		action, err = r.do(ctx, current.key)
		return err
	})
	current.outcome = r.ended(current, action, err)
	returned = true
}

// ended decides what follows a run.
func (r *Runner[T]) ended(current *run[T], action Action, err error) outcome {
	_, panicked := errors.AsType[*PanicError](err)
	r.mu.Lock()
	r.stats.Runs++
	if err != nil {
		r.stats.Failed++
	}
	if panicked {
		r.stats.Panicked++
	}
	r.mu.Unlock()
	if err == nil {
		return r.opts.Backoff.succeeded(current.attempt, action)
	}
	o := r.opts.Backoff.rule(current.attempt, action, err)
	r.logFailure(current, o, err, panicked)
	return o
}

func (r *Runner[T]) logFailure(current *run[T], o outcome, err error, panicked bool) {
	level, text := slog.LevelWarn, "run failed, trying again"
	attrs := append(errorAttrs(err), slog.Any("key", current.key), slog.Int("attempt", current.attempt))
	if o.again {
		attrs = append(attrs, slog.Duration("delay", o.delay))
	} else {
		text = "run failed, not trying again before something asks for it"
	}
	if !o.again || panicked {
		level = slog.LevelError
	}
	r.opts.Logger.LogAttrs(r.runs, level, text, attrs...)
}
