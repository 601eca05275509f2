package watcher

import (
	"context"
	"iter"
	"sync/atomic"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/resource"
)

// Watcher watches the objects of one kind. Make one with [New].
type Watcher[K any] struct{ engine *Engine }

// New returns a watcher of what api spans: one namespace or all. No request is made before
// [Watcher.Events] is ranged over. Options that are not valid are reported there.
func New[K any](api kube.API[K], opts *Options) *Watcher[K] {
	return &Watcher[K]{NewEngine(api.Endpoint(), opts)}
}

// Events yields snapshots and the changes after them, and ends when ctx does. Failures are not
// items: the watcher waits and goes on by itself, from where it was if it can, with a new
// snapshot otherwise. [Options.OnError], the log and [Watcher.State] tell of them.
//
// The requests are made by the goroutine that ranges: while the loop body runs nothing is
// read. Breaking the loop closes the connection. The sequence can be ranged over again, which
// starts with a snapshot, and by several goroutines, each of which has a watch of its own;
// State is that of the last one to start.
//
// When the options are not valid the sequence ends at once, and OnError, the log and State say
// what is wrong; nothing else but ctx ends it.
func (w *Watcher[K]) Events(ctx context.Context) iter.Seq[Event[K]] {
	return func(yield func(Event[K]) bool) {
		for raw := range w.engine.Events(ctx) {
			if raw.Type == Bookmark {
				continue
			}
			event := Event[K]{Type: raw.Type, ResourceVersion: raw.ResourceVersion}
			if raw.Object != nil {
				event.Object = resource.AsLazy[K](raw.Object)
			}
			if !yield(event) {
				return
			}
		}
	}
}

// State returns what the watcher is doing. It is safe for concurrent use.
func (w *Watcher[K]) State() State { return w.engine.State() }

// Engine is the untyped inside of a [Watcher], on which caches and controllers stand. Make one
// with [NewEngine].
type Engine struct {
	endpoint kube.Endpoint
	given    func(ctx context.Context) iter.Seq[RawEvent] // that stand in place of a server's; nil mostly
	opts     Options
	invalid  error
	latest   atomic.Pointer[status] // of the loop that started last
}

// NewEngine returns the engine of a watcher of what endpoint spans.
func NewEngine(endpoint kube.Endpoint, opts *Options) *Engine {
	e := &Engine{endpoint: endpoint}
	e.opts, e.invalid = opts.prepared(endpoint)
	e.latest.Store(e.newStatus())
	return e
}

func (e *Engine) newStatus() *status {
	return &status{log: e.opts.Logger, resource: e.endpoint.Descriptor().GroupResource().String()}
}

// Err returns what is wrong with the options, or nil.
func (e *Engine) Err() error { return e.invalid }

// State returns what the engine is doing. It is safe for concurrent use.
func (e *Engine) State() State { return e.latest.Load().current() }

// Events is [Watcher.Events] without types, and with [Bookmark] events.
func (e *Engine) Events(ctx context.Context) iter.Seq[RawEvent] {
	return func(yield func(RawEvent) bool) {
		r := &run{
			Engine: e, status: e.newStatus(), ctx: kube.WithoutRetry(ctx), yield: yield,
			backoff:     backoff{min: e.opts.MinBackoff, max: e.opts.MaxBackoff},
			kindBackoff: backoff{min: e.opts.MinBackoff, max: min(e.opts.MaxBackoff, maxKindBackoff)},
		}
		e.latest.Store(r.status)
		defer r.enter(Idle)
		if e.invalid != nil {
			r.hopeless("watch cannot begin", e.invalid)
			r.report(e.invalid)
			return
		}
		if e.given != nil {
			r.relay(ctx)
			return
		}
		for next := state((*run).snapshot); next != nil && !r.over(); {
			next = next(r)
		}
	}
}
