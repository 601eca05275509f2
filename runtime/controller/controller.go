package controller

import (
	"context"
	"fmt"
	"iter"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/resource"
	"github.com/go-kube/kube/runtime/reflector"
)

// Controller runs a reconciler for each object of kind K whenever something changes that the
// object's state depends on. Make one with [New], say what else it depends on, and call Run.
//
// The methods that register something are for one goroutine, before Run; afterwards they
// panic. The others are safe for concurrent use.
type Controller[K any] struct {
	engine  *engine
	objects *reflector.Reflector[K]
}

// New returns a controller of the objects that api spans. For each of them reconcile is called
// when the controller starts, when the object changes, and when anything else triggers it; never
// twice at a time for one object, and never for one that is gone. It gets a copy of its own,
// as new as the cache is when the call begins.
//
// What reconcile has to do is make the world as the object says, whatever state it finds: it is
// not told what changed, since several changes become one call. It returns what should happen
// next, see [Action]; with an error it is called again after a backoff. A panic is such an error.
//
// ctx outlives the end of the context of Run by [Options.StopTimeout]. [ReasonFrom] and
// [AttemptFrom] read from it why the call is made.
//
// opts, which may be nil, are copied; options that are not valid are an error of Run.
func New[K any](api kube.API[K], reconcile func(ctx context.Context, obj *K) (Action, error), opts *Options) *Controller[K] {
	need(reconcile != nil, "New")
	e := newEngine(api.Endpoint(), opts)
	return newController(e, reflector.New(api, &reflector.Options{
		Watch: e.opts.Watch, Namespaces: e.ownNamespaces(), Share: !e.opts.OwnWatch,
	}), reconcile)
}

func newController[K any](e *engine, objects *reflector.Reflector[K], reconcile func(context.Context, *K) (Action, error)) *Controller[K] {
	e.cache = typedCache[K]{objects}
	e.decode = func(raw *resource.Raw) (any, error) {
		obj, err := resource.AsLazy[K](raw).Decode()
		if err != nil {
			return metadataOnly[K](raw), &DecodeError{err}
		}
		return obj, nil
	}
	e.reconcile = func(ctx context.Context, obj any) (Action, error) { return reconcile(ctx, obj.(*K)) }
	return &Controller[K]{e, objects}
}

// Owns triggers an object when one that it owns is created, changed or deleted, or gets another
// owner. An owner is who stands in metadata.ownerReferences with the group and the kind of
// the controller's objects, in any version of the group, and with the uid of the object: the
// owned objects of an earlier object of the same name trigger nothing.
//
// Only metadata is watched, and of that only what is needed of owned objects is kept: objects
// of the kind that nobody here owns take no memory. Where other controllers of the program want
// the same, or have the whole objects, one watch and one store serve all of them: see [reflector.Feed].
func (c *Controller[K]) Owns[O any](api kube.API[O]) *Source {
	return c.engine.relate("Owns", api.Endpoint().Metadata(), c.owners)
}

// owners returns the owners of an object that are the controller's.
func (c *Controller[K]) owners(raw *resource.Raw) (owners []target, err error) {
	kind := c.engine.endpoint.Descriptor()
	for _, reference := range raw.OwnerReferences() {
		if ref, ok := resource.OwnerRef[K](kind, reference, raw.Namespace()); ok {
			owners = append(owners, target{objectKey(ref), hashUID(reference.UID)})
		}
	}
	return owners, nil
}

// Watches triggers the objects that find names for an object of another kind, when that is
// created, changed or deleted. What find named for the object before is triggered as well: an
// object that stops to refer to another is told.
//
// find must not block: it is called by the watch. Objects of the other kind that do not
// decode are reported, to the log and to OnError of [Source.WatchOptions], and trigger what they
// triggered before. Where find needs no more than metadata, watch that alone:
//
//	ctl.Watches(client.All(core.Secrets.Metadata()), func(m *resource.Metadata[corev1.Secret]) []resource.Ref[WebApp] { … })
func (c *Controller[K]) Watches[O any](api kube.API[O], find func(obj *O) []resource.Ref[K]) *Source {
	need(find != nil, "Watches")
	return c.engine.relate("Watches", api.Endpoint(), found(c, find))
}

// found returns what asks find about an object.
func found[K, O any](c *Controller[K], find func(*O) []resource.Ref[K]) func(*resource.Raw) ([]target, error) {
	return func(raw *resource.Raw) ([]target, error) {
		obj, err := resource.AsLazy[O](raw).Decode()
		if err != nil {
			return nil, &DecodeError{err}
		}
		refs := find(obj)
		targets := make([]target, len(refs))
		for i, ref := range refs {
			targets[i] = target{key: c.engine.normal(objectKey(ref))}
		}
		return targets, nil
	}
}

// ReconcileOn triggers the objects that a sequence yields refs of. f is called by Run, and the
// sequence ranged over until it ends; it has to end when ctx does, since Run waits for it. A
// ref of an object that does not exist triggers nothing.
func (c *Controller[K]) ReconcileOn(f func(ctx context.Context) iter.Seq[resource.Ref[K]]) {
	need(f != nil, "ReconcileOn")
	c.engine.follow("ReconcileOn", func(ctx context.Context) {
		for ref := range f(ctx) {
			c.engine.trigger(c.engine.normal(objectKey(ref)), Reason{Kind: Custom})
		}
	})
}

// ReconcileAllOn triggers every object each time a sequence yields something, whatever it is:
// a change of the program's configuration, say. f and its sequence are used as in
// [Controller.ReconcileOn]; [reflector.Reflector.Changes] has the right form.
func (c *Controller[K]) ReconcileAllOn[T any](f func(ctx context.Context) iter.Seq[T]) {
	need(f != nil, "ReconcileAllOn")
	c.engine.follow("ReconcileAllOn", func(ctx context.Context) {
		for range f(ctx) {
			c.engine.triggerAll(Reason{Kind: Everything})
		}
	})
}

// OnDeleted has f called when an object is gone, with the last state that was seen of it. It is
// called once for each object that was seen, never while the reconciler runs for the same name, and before
// the reconciler is called for an object made again under that name. An object that is gone
// while no controller runs is not noticed: what has to be undone in any case needs [Finalize].
// A panic of f is logged.
func (c *Controller[K]) OnDeleted(f func(ctx context.Context, last resource.Lazy[K])) {
	need(f != nil, "OnDeleted")
	c.engine.configure("OnDeleted", func() {
		c.engine.onDeleted = func(ctx context.Context, raw *resource.Raw) { f(ctx, resource.AsLazy[K](raw)) }
	})
}

// OnError has f decide what follows a failed reconcile, in place of the rule: retry with
// backoff, or after the time that [After] beside the error said; do not retry a [Terminal]
// error or a [*DecodeError]. f returns [Retry] for the backoff, [After] for a time of its own,
// and [Await] not to retry. It may take its time and make requests: the key counts as running
// until f returns.
//
// attempt is 1 for the first failure, and counts failures since the last success. obj is what
// the reconciler was called with, changed as it left it. For a [*DecodeError] it has the
// metadata alone. A panic of f is logged, and the rule decides.
func (c *Controller[K]) OnError(f func(ctx context.Context, obj *K, err error, attempt int) Action) {
	need(f != nil, "OnError")
	c.engine.configure("OnError", func() {
		c.engine.onError = func(ctx context.Context, obj any, err error, attempt int) Action {
			return f(ctx, obj.(*K), err, attempt)
		}
	})
}

// Filter holds back changes of the controller's own objects that p does not pass. Other
// triggers are not affected. Called again, it replaces the predicate.
func (c *Controller[K]) Filter(p Predicate) {
	c.engine.configure("Filter", func() { c.engine.filter = newFilter(p) })
}

// Modify has f change every object before it is cached, to drop what the reconciler does not
// read. See [reflector.Reflector.Modify].
func (c *Controller[K]) Modify(f func(obj *K)) {
	need(f != nil, "Modify")
	c.engine.configure("Modify", func() { c.objects.Modify(f) })
}

// Index adds an index to the store of the controller's objects.
func (c *Controller[K]) Index(x *reflector.Index[K]) {
	c.engine.configure("Index", func() { c.objects.Index(x) })
}

// Store returns the cache of the controller's own objects.
func (c *Controller[K]) Store() reflector.Store[K] { return c.objects.Store() }

// Hold makes the controller a warm standby: Run fills the caches and gathers triggers, and no
// reconcile starts before f has returned, which is called once the caches are full. f waits until
// this process may work, as its leader say, and returns a context that lasts as long as it may.
// When that ends no reconcile starts, the contexts of those that run end with its cause, and f is
// called again; the caches stay as they are. A context that is made from ctx, or ctx itself, ends
// with it; that is the end of Run, and running reconciles get [Options.StopTimeout] as always.
//
// f has to return when ctx ends. An error that it returns otherwise is an error of Run.
func (c *Controller[K]) Hold(f func(ctx context.Context) (term context.Context, err error)) {
	need(f != nil, "Hold")
	c.engine.configure("Hold", func() { c.engine.hold = f })
}

// Pause lets no reconcile start until [Controller.Resume] is called. Those that run go on,
// caches stay up to date and triggers are gathered, one run per object. It can be called
// before Run as well.
func (c *Controller[K]) Pause() { c.engine.pause(true) }

// Resume undoes [Controller.Pause].
func (c *Controller[K]) Resume() { c.engine.pause(false) }

// Queue returns the keys that wait for a run, are due or run, in the order of their times: what
// the controller is busy with, for a debug page or a test. It takes time and memory for
// each of them.
func (c *Controller[K]) Queue() []QueueItem[K] {
	var items []QueueItem[K]
	for _, p := range c.engine.queue() {
		items = append(items, QueueItem[K]{
			Ref: resource.Ref[K](p.key), Running: p.running, Planned: p.planned, At: p.at,
			Reason: p.reason, Priority: p.priority, Failures: p.failures,
		})
	}
	return items
}

// Run reconciles until ctx ends. No reconcile starts after that; Run returns nil when those
// that run have ended, and [ErrStopTimeout] when they had to be told to by
// [Options.StopTimeout]. It returns after everything that it started has ended.
//
// Other than that it fails only at once: when options are not valid, and when it was called
// before. Whatever goes wrong with the server is waited for and recovered from; [Controller.State]
// and [Controller.Ready] tell of it.
func (c *Controller[K]) Run(ctx context.Context) error {
	if err := c.engine.run(ctx); err != nil {
		return fmt.Errorf("controller %s: %w", c.engine.opts.Name, err)
	}
	return nil
}

// State returns what the watches are doing: that of the controller's own objects first, then
// those of the related kinds in the order of their registration.
func (c *Controller[K]) State() []SourceState { return c.engine.state() }

// Ready returns nil while the controller reconciles and all of its watches are well, and says
// what is wrong otherwise. It is meant for readiness probes. That the controller is paused, or
// stands by (see [Controller.Hold]), is nothing wrong.
func (c *Controller[K]) Ready() error { return c.engine.readiness() }

// Stats returns what the controller has done and has to do, for metrics.
func (c *Controller[K]) Stats() Stats { return c.engine.stats() }

// need panics when a function was left out: that is a mistake of the program, and known where
// the mistake is.
func need(given bool, method string) {
	if !given {
		panic(fmt.Sprintf("controller: %s was called with a nil function", method))
	}
}
