package reflector

import (
	"context"
	"log/slog"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/resource"
	"github.com/go-kube/kube/runtime/watcher"
)

// Reflector keeps a [Store] of one kind like the server. Make one with [New]. Its methods are
// safe for concurrent use; Index and Modify come before Run.
type Reflector[K any] struct{ from *source }

// Options changes how a reflector works.
type Options struct {
	// Watch says what is watched, and how. Its OnError is also called with a [*DecodeError] for
	// each version of an object that does not decode, where that is noticed.
	Watch watcher.Options
	// Namespaces has the store be of the objects in these namespaces, each of which is watched on its own:
	// that needs no more rights than a Role in each of them gives. The API has to be that of all
	// namespaces, client.All. nil is all that the API spans. A namespace joins the store when its
	// objects are listed: until then Get is [ErrNotReady] for them, and the store as a whole is ready when all
	// of its first namespaces are. When a namespace leaves the set, its objects leave the
	// store, and Changes yields them as deleted. OnError of Watch is called for each watch, and so
	// by several goroutines at once.
	Namespaces Namespaces
	// Decoded keeps every object decoded, beside its bytes. Get then returns the same pointer to
	// all callers, who must not change the object. It is for small sets that are read all
	// the time; otherwise decoding on demand is cheaper than the memory.
	Decoded bool
	// MaxBytes is how much memory the objects may take before that is reported, as a [*SizeError]
	// to the log and to OnError of Watch: while the first snapshot is read as well, so that it is
	// known which kind it was when a process runs out of memory. Nothing is dropped. Whenever the size
	// has doubled since, it is reported again. 0 is no limit; a negative number is an error of Run.
	MaxBytes int64
	// Share has the reflector use one watch and one copy of the objects together with all others
	// that run with Share, were made from the same client, and ask for the same: kind and version,
	// namespace or all, selectors, and ways to watch. The first to run starts the watch; those
	// that follow find what is there; the last whose Run ends stops it. Nothing else can be
	// told from a reflector of one's own: what one reader does, or does not do, holds up no other.
	// Readers of metadata use the watch of whole objects where there is one, and go over to it when it
	// comes later: then Changes goes on as after a list, with what has changed.
	// Every OnError is called, and every logger told; one that several have is told once.
	//
	// A reflector with an index, a Modify function or Decoded keeps more than the others have,
	// and has a watch of its own. Readers with different Go types of a kind share, and those that are
	// dynamic and those of metadata with them. Built-in kinds are read as protobuf once
	// a reader with their type runs before the first snapshot is complete; a store that holds them as
	// JSON by then stays with that, which takes more time and memory. What a dynamic reader gets of
	// a store of protobuf, [Dynamic] says.
	Share bool
}

// New returns a reflector of what api spans. opts, which may be nil, are copied; options that
// are not valid are an error of Run.
func New[K any](api kube.API[K], opts *Options) *Reflector[K] {
	return ForEndpoint[K](api.Endpoint(), opts)
}

// ForEndpoint is New for code that has the untyped inside of an API. The caller knows that the
// objects of endpoint decode into K.
func ForEndpoint[K any](endpoint kube.Endpoint, opts *Options) *Reflector[K] {
	var o Options
	if opts != nil {
		o = *opts
	}
	s := newSource(o.Share)
	if s.onError = o.Watch.OnError; o.Share {
		o.Watch.OnError = s.tellAll
		o.Watch.Logger = s.shareLog(loggerOf(&o.Watch, endpoint))
	}
	return newReflector[K](s, newWatchCache(endpoint, &o.Watch), &o)
}

// loggerOf returns the logger of a watch: that of the options, or the client's.
func loggerOf(opts *watcher.Options, endpoint kube.Endpoint) *slog.Logger {
	if opts.Logger != nil {
		return opts.Logger
	}
	return endpoint.Client().Logger()
}

// newReflector returns a reflector whose own cache is c.
func newReflector[K any](s *source, c *cache, o *Options) *Reflector[K] {
	c.keep, c.maxBytes = o.Decoded, o.MaxBytes
	c.onError, c.log = o.Watch.OnError, loggerOf(&o.Watch, c.engine.Endpoint())
	if o.Namespaces != nil {
		c.divide(o.Namespaces)
	}
	c.decode = func(raw *resource.Raw) (any, error) { return resource.AsLazy[K](raw).Decode() }
	s.own = c
	s.cache.Store(c)
	return &Reflector[K]{s}
}

// Index registers an index. It panics after Run was called.
func (r *Reflector[K]) Index(x *Index[K]) { r.from.own.addIndex(x.index) }

// Modify has f change every object before it is stored, to drop what nobody needs or to make
// it uniform. The object is decoded, changed and encoded again. f must not block, and must
// not change namespace, name and uid. Several functions run in the order of their
// registration. An object that does not decode is stored as it came. Modify panics after Run
// was called.
func (r *Reflector[K]) Modify(f func(*K)) {
	r.from.own.configure("Modify", func() {
		r.from.own.encode = resource.EncodeRaw
		r.from.own.modify = append(r.from.own.modify, func(object any) { f(object.(*K)) })
	})
}

// Run fills the store until ctx ends, and returns nil then. It fails at once when the options
// are not valid, and when it was called before. Everything else is recovered from, see
// [watcher.Watcher.Events].
func (r *Reflector[K]) Run(ctx context.Context) error { return r.from.run(ctx) }

// Store returns the store. It can be used at any time; before Run it is empty and not ready.
func (r *Reflector[K]) Store() Store[K] { return Store[K]{r.from} }

// State returns what the watch under the reflector is doing, for readiness probes. It is safe
// for concurrent use.
// For a store of several namespaces it is the state of the watch that is worst off.
func (r *Reflector[K]) State() watcher.State { return r.from.now().state() }

// NamespaceStates returns what the watch of each namespace is doing, for a store of several
// namespaces; nil for others.
func (r *Reflector[K]) NamespaceStates() map[string]watcher.State {
	return r.from.now().namespaceStates()
}
