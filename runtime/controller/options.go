package controller

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/runtime/watcher"
)

// Options changes how a controller works. The zero value, and nil, are right for most.
type Options struct {
	// Name stands in every log record of the controller; empty is plural.group of its kind.
	Name string

	// Watch says which of the controller's own objects are watched, and how. Related kinds
	// have their own: see [Source.WatchOptions].
	Watch watcher.Options

	// Concurrency is how many keys are reconciled at the same time; 0 is 16, a negative number
	// sets no limit. A reconcile mostly waits for the API server: one at a time would let one
	// slow call hold up every object, and no limit would turn a list of 10 000 objects into
	// as many requests at once, and as many decoded objects in memory.
	Concurrency int

	// Debounce puts off each run until nothing has triggered its key for so long, so that a
	// burst of changes becomes one run. 0 runs at once. Times that were asked for, by [After]
	// or by the backoff, are kept to.
	Debounce time.Duration
	// DebounceLimit is the longest that Debounce can put off a run whose key is triggered over
	// and over; 0 is 10 times Debounce.
	DebounceLimit time.Duration

	// Backoff is the wait after failed runs.
	Backoff Backoff

	// SyncTimeout is how long the first reconcile waits for the first lists of the related
	// kinds, once the controller's own objects are known; 0 is 30s, a negative number does not
	// wait. A kind that comes later, because its CRD is not installed or its list is
	// forbidden, holds up nobody after that: when it does come every object is reconciled,
	// lest a change was missed.
	SyncTimeout time.Duration

	// StopTimeout is how long running reconciles may go on after the context of
	// [Controller.Run] has ended; then their own contexts end. 0 is 30s, which is what
	// Kubernetes gives a pod to stop by default; a negative number ends them at once.
	StopTimeout time.Duration

	// Logger is told of failures, and at debug level of every run. Nil is the client's logger.
	Logger *slog.Logger
}

const (
	defaultConcurrency    = 16
	defaultSyncTimeout    = 30 * time.Second
	defaultStopTimeout    = 30 * time.Second
	defaultDebounceFactor = 10
)

// prepared returns a copy with its defaults filled in, or what is wrong with it.
func (o *Options) prepared(endpoint kube.Endpoint) (Options, error) {
	var c Options
	if o != nil {
		c = *o
	}
	if c.Name == "" {
		c.Name = endpoint.Descriptor().GroupResource().String()
	}
	if c.Concurrency == 0 {
		c.Concurrency = defaultConcurrency
	}
	if c.Concurrency < 0 {
		c.Concurrency = unlimited
	}
	if c.DebounceLimit == 0 {
		c.DebounceLimit = min(c.Debounce, horizon) * defaultDebounceFactor
	}
	if c.SyncTimeout == 0 {
		c.SyncTimeout = defaultSyncTimeout
	}
	if c.StopTimeout == 0 {
		c.StopTimeout = defaultStopTimeout
	}
	if c.Logger == nil {
		c.Logger = endpoint.Client().Logger()
	}
	c.Logger = c.Logger.With(slog.String("controller", c.Name))
	if c.Watch.Logger == nil {
		c.Watch.Logger = c.Logger
	}
	c.Backoff = c.Backoff.withDefaults()
	return c, c.validate()
}

func (o *Options) validate() error {
	switch {
	case o.Debounce < 0:
		return fmt.Errorf("Options.Debounce is %s; it has to be 0 (none) or more", o.Debounce)
	case o.DebounceLimit < o.Debounce:
		return fmt.Errorf("Options.DebounceLimit is %s, which is less than Debounce %s", o.DebounceLimit, o.Debounce)
	}
	return o.Backoff.validate()
}
