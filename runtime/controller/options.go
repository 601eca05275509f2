package controller

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/runtime/reflector"
	"github.com/go-kube/kube/runtime/watcher"
)

// Options changes how a controller works. The zero value, and nil, are right for most.
type Options struct {
	// Name stands in every log record of the controller; empty is plural.group of its kind.
	Name string

	// Watch says which of the controller's own objects are watched, and how. Related kinds
	// have their own: see [Source.WatchOptions].
	Watch watcher.Options
	// OwnWatch gives the controller a watch and a copy of its objects for itself, and a watch for
	// each related kind. Otherwise it has them in common with all running controllers that were made
	// from the same client for the same kind, namespace, selectors and ways to watch, as long
	// as it has neither an index nor a Modify function: see [reflector.Options], Share, and for
	// related kinds [reflector.Feed]. A dynamic controller of a built-in kind needs it where it is to see fields that
	// the k8s.io/api of the program does not know. For a controller that is made from a reflector it has no
	// meaning, and is an error.
	OwnWatch bool

	// Namespaces has the controller be of these namespaces alone: its own objects, and those related
	// kinds whose API spans all namespaces, with a watch for each namespace and kind, which needs no more
	// rights than a Role in each. A related kind whose API is that of one namespace stays there,
	// and what is cluster-scoped, the controller's own kind or a related one, is
	// watched in the whole cluster. The set may change while the controller runs: objects of a namespace that
	// joins are reconciled as they are found, those of one that leaves are forgotten, and count as
	// deleted for OnDeleted. nil is what the APIs span. For a controller that is made from a reflector
	// nil is what the reflector has; another set is an error, unless its kind is cluster-scoped.
	//
	// A namespace of the set that cannot be listed when the controller starts keeps it from starting:
	// until it can, or leaves the set. The log says which, and of what kind, again and again, and so does
	// [Controller.Ready]. For a related kind that is so for SyncTimeout only; then the other
	// namespaces trigger, and the missing one does when it comes.
	Namespaces reflector.Namespaces

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

	// OwnWrites is how long a key waits, after its reconciler has written something, until the
	// watches of the controller have shown what it wrote; its next run does not begin before,
	// so that it never acts on a state from before its own last write. A key that waits holds up no
	// other. When the time is over it runs all the same, which [Stats] counts. 0 is 10s; a
	// negative number has keys run without waiting.
	//
	// What counts are writes with the context that the reconciler is called with, or one made
	// from it, of objects that the controller watches: its own and those of related kinds. What
	// a write has not changed, or what no watch will show, is not waited for. Of a binding, for
	// which the server tells no version, nothing is known.
	OwnWrites time.Duration

	// LoopInterval is the least time between two runs that write of an object that is in a loop; there
	// are two sorts.
	//
	// One is reconciled over and over for no other reason than that its reconciler writes something new each
	// time, such as the time of day in the status: from the tenth run in a row on. It is slowed down until a
	// run writes nothing. What anybody else changes still runs it at once.
	//
	// The other is a contest: somebody else undoes what the reconciler writes, another controller or the garbage
	// collector, and the reconciler writes it again. Where ten runs have written something without a pause
	// as long as LoopInterval, the objects that they wrote are read before the next runs: at most sixteen, for at
	// most twenty runs, and again after ten times LoopInterval at the earliest. It is a contest when
	// five of these runs found a field (or an object) other than the run before had left it, and left it as before. Where
	// somebody else seems to write between the reading and the write of each run, the next runs that the written objects
	// trigger wait a tenth of LoopInterval, so as to find it. An object whose input changes often, and that is written each time, is none, however busy it is. In a contest the runs
	// are put off that changes of the contested objects trigger, whoever made them; what else triggers a
	// run does so at once. It is over when nothing was undone for twice LoopInterval. A client that sets a field over and over
	// for the reconciler to clear looks the same; so does a child that is meant to come and go within LoopInterval.
	//
	// Both are reported to the log, once for an object: with the objects that are written and the fields that
	// change, and in a contest what happens to them and the field managers who do it. [Stats] counts the objects
	// that are slowed down. Runs that the reconciler asks for, and retries, come at their time.
	// A contest is only found where the reconciler may get what it writes. 0 is 10s; a negative number lets objects loop.
	LoopInterval time.Duration

	// Resync is how long after its last run an object is reconciled that nothing has triggered;
	// up to a tenth more or less, so that objects do not come back together. 0 is never: no
	// change is missed by the watches, so this is for what no watch tells, such as the state
	// of a system outside of the cluster.
	Resync time.Duration

	// Rate bounds how many runs begin in a time, over all objects. The zero value sets no
	// bound beyond Concurrency.
	Rate Rate
	// KeyRate bounds how many runs of one object begin in a time. A run that comes too early is put
	// off, and holds up no other object; what triggers it meanwhile becomes one run with it.
	// The zero value sets no bound.
	KeyRate Rate

	// Priority says which keys go first when there is no room for all that are due. It is
	// called for each trigger, must be quick, and must not call the controller. A run has the
	// highest priority of the triggers that were merged into it; the lower ones still get every ninth
	// run. Nil is [DefaultPriority].
	Priority func(Reason) Priority

	// SyncTimeout is how long the first reconcile waits for the first lists of the related
	// kinds, once the controller's own objects are known; 0 is 30s, a negative number does not
	// wait. What is missing then, or later, the log says every minute. A kind that comes later, because its CRD is not installed or its list is
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
	defaultOwnWrites      = 10 * time.Second
	defaultLoopInterval   = 10 * time.Second
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
	c.setDefaults()
	if c.SyncTimeout == 0 {
		c.SyncTimeout = defaultSyncTimeout
	}
	if c.OwnWrites == 0 {
		c.OwnWrites = defaultOwnWrites
	}
	if c.LoopInterval == 0 {
		c.LoopInterval = defaultLoopInterval
	}
	if c.Priority == nil {
		c.Priority = DefaultPriority
	}
	if c.Logger == nil {
		c.Logger = endpoint.Client().Logger()
	}
	c.Logger = c.Logger.With(slog.String("controller", c.Name))
	if c.Watch.Logger == nil {
		c.Watch.Logger = c.Logger
	}
	return c, c.validate()
}

// setDefaults fills in what a [Runner] has as well.
func (o *Options) setDefaults() {
	if o.Concurrency == 0 {
		o.Concurrency = defaultConcurrency
	}
	if o.Concurrency < 0 {
		o.Concurrency = unlimited
	}
	if o.DebounceLimit == 0 {
		o.DebounceLimit = min(o.Debounce, horizon) * defaultDebounceFactor
	}
	if o.StopTimeout == 0 {
		o.StopTimeout = defaultStopTimeout
	}
	o.Backoff = o.Backoff.withDefaults()
}

func (o *Options) validate() error {
	switch {
	case o.Debounce < 0:
		return fmt.Errorf("Options.Debounce is %s; it has to be 0 (none) or more", o.Debounce)
	case o.DebounceLimit < o.Debounce:
		return fmt.Errorf("Options.DebounceLimit is %s, which is less than Debounce %s", o.DebounceLimit, o.Debounce)
	case o.Resync < 0:
		return fmt.Errorf("Options.Resync is %s; it has to be 0 (never) or more", o.Resync)
	}
	if err := o.Rate.validate("Rate"); err != nil {
		return err
	}
	if err := o.KeyRate.validate("KeyRate"); err != nil {
		return err
	}
	return o.Backoff.validate()
}
