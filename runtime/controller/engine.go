package controller

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/resource"
)

// engine is a [Controller] without types, so that its code exists once and not once per kind.
//
//	changes of own objects ──► filter ──┐
//	related objects ──► targets ────────┼──► runner ──► perform ──┐
//	sequences ──────────────────────────┘       ▲                 │
//	                                            └──── outcome ◄───┘
type engine struct {
	endpoint kube.Endpoint
	opts     Options
	invalid  error
	log      *slog.Logger

	cache     cache
	labels    string                                       // selector of the cache
	fields    string                                       // selector of the cache
	decode    func(raw *resource.Raw) (obj any, err error) // with an error: the metadata alone
	reconcile func(ctx context.Context, obj any) (Action, error)
	onError   func(ctx context.Context, obj any, err error, attempt int) Action // nil: the rule
	onDeleted func(ctx context.Context, raw *resource.Raw)                      // nil: nobody asks
	hold      func(ctx context.Context) (term context.Context, err error)       // nil: no need to wait
	filter    *filter
	sources   []*Source
	sequences []sequence

	mu      sync.Mutex
	started bool
	paused  bool
	term    context.Context               // of the runs that begin
	gone    map[objectKey][]*resource.Raw // deletions that OnDeleted was not told of yet

	runner  atomic.Pointer[runner[objectKey]] // nil before Run
	working atomic.Bool                       // from full caches to the stop
	writes  *tracker
	loops   *loopDetector
	paces   *keyPaces
	counts  counters
}

// sequence is a trigger that the user's code drives.
type sequence struct {
	name   string
	follow func(context.Context)
}

func newEngine(endpoint kube.Endpoint, opts *Options) *engine {
	e := &engine{endpoint: endpoint, filter: newFilter(Predicate{}), gone: map[objectKey][]*resource.Raw{}}
	e.opts, e.invalid = opts.prepared(endpoint)
	e.labels, e.fields = e.opts.Watch.Labels, e.opts.Watch.Fields
	e.log = e.opts.Logger
	e.paces = newKeyPaces(e.opts.KeyRate)
	e.loops = newLoopDetector(e.opts.LoopInterval, e.foundLoop)
	return e
}

// configure changes what was registered. That is possible before Run only.
func (e *engine) configure(what string, change func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.started {
		panic(fmt.Sprintf("controller: %s was called after Run of controller %s", what, e.opts.Name))
	}
	change()
}

func (e *engine) follow(name string, f func(context.Context)) {
	e.configure(name, func() { e.sequences = append(e.sequences, sequence{name, f}) })
}

// normal returns key as the kind has it: cluster-scoped objects have no namespace, whatever
// the one says who names them. Two keys for one object could run at the same time.
func (e *engine) normal(key objectKey) objectKey {
	if e.endpoint.Descriptor().Scope == resource.ClusterScoped {
		key.Namespace = ""
	}
	return key
}

func keyOf(raw *resource.Raw) objectKey { return objectKey{raw.Namespace(), raw.Name()} }

// owned returns key with memory of its own: the name of an object is a part of its bytes, and
// would keep them all in memory.
func (k objectKey) owned() objectKey { return objectKey{k.Namespace, strings.Clone(k.Name)} }

// run does what [Controller.Run] says.
func (e *engine) run(parent context.Context) error {
	if err := e.start(); err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(parent)
	defer cancel(nil)
	runs, cancelRuns := context.WithCancelCause(context.WithoutCancel(parent))
	defer cancelRuns(nil)

	r := e.newRunner()
	e.writes = e.newTracker()
	e.publish(r)
	tasks := e.startTasks(ctx, cancel)
	e.log.LogAttrs(ctx, slog.LevelInfo, "controller starting")
	if err := e.schedule(ctx, runs, r); err != nil {
		cancel(err)
	}
	err := e.stop(r, cancelRuns)
	cancel(nil)
	tasks.Wait()
	e.log.LogAttrs(ctx, slog.LevelInfo, "controller stopped")
	if cause := context.Cause(ctx); parent.Err() == nil && !errors.Is(cause, context.Canceled) {
		return cause
	}
	return err
}

func (e *engine) start() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.started {
		return errors.New("Run was called before; a controller runs once")
	}
	if e.invalid != nil {
		return e.invalid
	}
	for _, s := range e.sources {
		if err := s.feed.Err(); err != nil {
			return fmt.Errorf("related kind %s: %w", s.name, err)
		}
	}
	e.started = true
	return nil
}

// publish makes r known.
func (e *engine) publish(r *runner[objectKey]) {
	e.mu.Lock()
	defer e.mu.Unlock()
	r.paused = e.paused
	e.runner.Store(r)
}

func (e *engine) newRunner() *runner[objectKey] {
	keys := newScheduler[objectKey](e.opts.Debounce, e.opts.DebounceLimit)
	keys.own, keys.rank = objectKey.owned, e.opts.Priority
	r := newRunner(keys, e.opts.Concurrency, func(r *run[objectKey]) { e.perform(e.currentTerm(), r) })
	r.pace = newPace(e.opts.Rate)
	return r
}

// settling is how long a key waits that its own write was shown for: the change itself, which the
// watch hands on at about the same time, runs the key at once if it is one that triggers it, and
// both become one run.
const settling = 10 * time.Millisecond

// newTracker returns the tracker of the keys' own writes. The sources add their views.
func (e *engine) newTracker() *tracker {
	own := newView(e.endpoint, e.labels, e.fields, func(key objectKey) (uid uint64, ok bool) {
		raw, ok := e.cache.get(key)
		if !ok || raw.DeletionTimestamp() != nil {
			return 0, false
		}
		return hashUID(raw.UID()), true
	})
	own.version, own.parts = e.cache.version, e.cache.parts()
	t := newTracker(e.opts.OwnWrites, own, func(key objectKey, reason Reason) {
		e.runner.Load().schedule(key, settling, reason)
	})
	for _, s := range e.sources {
		t.views = append(t.views, s.newView())
	}
	return t
}

// startTasks starts everything that triggers. fail ends the controller.
func (e *engine) startTasks(ctx context.Context, fail context.CancelCauseFunc) *sync.WaitGroup {
	var tasks sync.WaitGroup
	tasks.Go(func() {
		if err := e.cache.run(ctx); err != nil {
			fail(err)
		}
	})
	tasks.Go(func() {
		for c := range e.cache.changes(ctx) {
			e.writes.noticed(e.writes.own)
			e.changed(c)
		}
	})
	if e.opts.OwnWrites > 0 {
		tasks.Go(func() { e.writes.follow(ctx, e.writes.own, e.cache.waitFor) })
	}
	for _, s := range e.sources {
		tasks.Go(func() { s.run(ctx) })
	}
	for _, s := range e.sequences {
		tasks.Go(func() { e.runSequence(ctx, s) })
	}
	tasks.Go(func() { e.remind(ctx) })
	return &tasks
}

func (e *engine) runSequence(ctx context.Context, s sequence) {
	err := contain(func() error {
		s.follow(ctx)
		return nil
	})
	if err != nil {
		e.log.LogAttrs(ctx, slog.LevelError, "sequence ended", append(errorAttrs(err), slog.String("sequence", s.name))...)
	}
}

// schedule opens the runner once enough is known of the world, and keeps it going until ctx
// ends.
func (e *engine) schedule(ctx, runs context.Context, r *runner[objectKey]) error {
	if err := e.cache.waitReady(ctx); err != nil {
		<-ctx.Done() // a cache ends before ctx only with an error, which ends ctx
		return nil
	}
	e.waitSources(ctx)
	if ctx.Err() != nil {
		return nil
	}
	e.working.Store(true)
	holding, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(errEnding)
	defer context.AfterFunc(ctx, func() { cancel(errEnding) })()
	for ctx.Err() == nil {
		term, err := e.nextTerm(holding)
		if err != nil {
			return err
		}
		e.serve(ctx, term, runs, r)
	}
	return nil
}

// waitSources waits for the first lists of the related kinds, but not too long.
func (e *engine) waitSources(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, e.opts.SyncTimeout)
	defer cancel()
	for _, s := range e.sources {
		select {
		case <-s.synced:
		case <-ctx.Done():
			s.late(ctx)
		}
	}
}

// stop ends the runner: no new run begins, and those that run get StopTimeout to end.
func (e *engine) stop(r *runner[objectKey], cancelRuns context.CancelCauseFunc) error {
	e.working.Store(false)
	return r.end(e.opts.StopTimeout, e.log, cancelRuns)
}

// changed takes in a change of the controller's own objects.
func (e *engine) changed(c change) {
	key := keyOf(c.raw)
	if c.deleted || c.raw.DeletionTimestamp() != nil {
		e.writes.ended(e.writes.own, key, hashUID(c.raw.UID()))
	}
	if c.deleted {
		e.deleted(key, c.raw)
		return
	}
	if !e.passes(e.filter, key, c.raw) {
		return
	}
	reason := Reason{Kind: Updated}
	if c.initial {
		reason.Kind = Found
	}
	e.triggerBy(key, reason, e.versionOf(c.raw))
}

// foundLoop reports a key that runs over and over.
func (e *engine) foundLoop(r loopReport) {
	attrs := []any{
		"kind", e.endpoint.Descriptor().Kind, "namespace", r.key.Namespace, "name", r.key.Name,
		"fields", r.fields, "interval", e.opts.LoopInterval, "written", r.written,
	}
	if r.kind == selfish {
		e.log.Warn("an object is reconciled over and over because of what its reconciler writes, slowing it down", attrs...)
		return
	}
	e.log.Warn("an object is reconciled over and over because what its reconciler writes is undone each time, slowing it down",
		append(attrs, "undone", r.how, "managers", r.by)...)
}

func (e *engine) deleted(key objectKey, last *resource.Raw) {
	e.filter.drop(key)
	r := e.runner.Load()
	r.forget(key)
	e.writes.forget(key)
	e.loops.forget(key)
	if e.onDeleted == nil {
		return
	}
	e.mu.Lock()
	e.gone[key.owned()] = append(e.gone[key], last)
	e.mu.Unlock()
	r.schedule(key, 0, Reason{Kind: Deleted})
}

// passes asks a filter. A panic of the user's function in it lets the change pass: a run too
// many does no harm.
func (e *engine) passes(f *filter, key objectKey, raw *resource.Raw) bool {
	passes := true
	err := contain(func() error {
		passes = f.pass(key, raw)
		return nil
	})
	if err != nil {
		e.log.LogAttrs(context.Background(), slog.LevelError, "predicate failed", append(errorAttrs(err), slog.String("object", raw.String()))...)
	}
	return passes
}

func (e *engine) trigger(key objectKey, reason Reason) {
	e.loops.other(key)
	e.runner.Load().trigger(key, reason)
}

// triggerBy is trigger for what a version of an object causes.
func (e *engine) triggerBy(key objectKey, reason Reason, by objectVersion) {
	e.loops.trigger(key, by)
	e.runner.Load().trigger(key, reason)
}

// triggerIn triggers the objects that something in a namespace may concern.
func (e *engine) triggerIn(namespace string, reason Reason) {
	everywhere := e.endpoint.Descriptor().Scope == resource.ClusterScoped
	for raw := range e.cache.all() {
		if everywhere || raw.Namespace() == namespace {
			e.trigger(keyOf(raw), reason)
		}
	}
}

func (e *engine) triggerAll(reason Reason) {
	for raw := range e.cache.all() {
		e.trigger(keyOf(raw), reason)
	}
}
