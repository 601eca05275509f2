package reflector

import (
	"context"
	"iter"

	"github.com/go-kube/kube/resource"
)

// Store reads what a [Reflector] has gathered. It is a small value and safe for concurrent
// use; the zero Store is not usable. All reads are from memory, and never see half of a
// snapshot.
type Store[K any] struct{ from *source }

// Get returns the object that ref names: a private copy that the caller may change, decoded
// for this call (with [Options.Decoded] it is the shared object, which nobody may change). It
// fails with [ErrAbsent], with [ErrNotReady] before the first snapshot, and with the decoder's
// error for an object that does not decode.
//
// A ref of a cluster-scoped kind may have a namespace, which does not count.
func (s Store[K]) Get(ref resource.Ref[K]) (*K, error) {
	c, ok := s.from.now().get(ref.Namespace, ref.Name)
	if !ok {
		return nil, s.from.now().missing(ref.Namespace, ref.Name)
	}
	if c.extra != nil {
		if object, ok := c.extra.object.(*K); ok {
			return object, nil
		}
	}
	return resource.AsLazy[K](c.raw).Decode()
}

// Lazy returns the object that ref names without decoding it; ok is false if it is not there.
func (s Store[K]) Lazy(ref resource.Ref[K]) (lazy resource.Lazy[K], ok bool) {
	c, ok := s.from.now().get(ref.Namespace, ref.Name)
	return resource.AsLazy[K](c.raw), ok
}

// All yields the objects as they were together at one moment, in no particular order, without
// decoding them. The loop body may use the store.
func (s Store[K]) All() iter.Seq[resource.Lazy[K]] {
	return func(yield func(resource.Lazy[K]) bool) {
		lazies[K](s.from.now().all())(yield)
	}
}

func lazies[K any](raws []*resource.Raw) iter.Seq[resource.Lazy[K]] {
	return func(yield func(resource.Lazy[K]) bool) {
		for _, raw := range raws {
			if !yield(resource.AsLazy[K](raw)) {
				return
			}
		}
	}
}

// Len returns the number of objects.
func (s Store[K]) Len() int { return s.from.now().stats().Objects }

// Ready reports whether the first snapshot is complete. A ready store stays ready: while the
// server is away it shows what was known last.
func (s Store[K]) Ready() bool { return s.from.now().isReady() }

// WaitReady waits for the first snapshot. When ctx ends first, the error has its cause and
// the last failure of the watch, such as "list secrets in namespace x: forbidden", and matches
// both with errors.Is. It fails with [ErrStopped] when the reflector ends first.
func (s Store[K]) WaitReady(ctx context.Context) error { return s.from.waitReady(ctx) }

// WaitFor waits until the store has seen resourceVersion, which is that of an object that was
// read or written, or something later: then what the caller knows is in the store.
// It fails when ctx or the reflector ends first (see [Store.WaitReady]), and for a version
// that is no number. Versions of one kind are ordered numbers (KEP-5504).
//
// A store of several namespaces has to see it in each of them, and in one where nothing
// happens that takes up to a minute: [Store.WaitForIn] does not.
func (s Store[K]) WaitFor(ctx context.Context, resourceVersion string) error {
	if err := checkVersion(resourceVersion); err != nil {
		return err
	}
	return s.from.waitVersion(ctx, everywhere, resourceVersion)
}

// WaitForIn is [Store.WaitFor] for the objects of one namespace. A namespace that the store does not
// keep is waited for as well.
func (s Store[K]) WaitForIn(ctx context.Context, namespace, resourceVersion string) error {
	if err := checkVersion(resourceVersion); err != nil {
		return err
	}
	return s.from.waitVersion(ctx, namespace, resourceVersion)
}

// WaitReadyIn waits until the store has all objects of a namespace: one that joins a store of
// several namespaces while that runs, or is to join it. Its errors are those of [Store.WaitReady].
func (s Store[K]) WaitReadyIn(ctx context.Context, namespace string) error {
	return s.from.waitVersion(ctx, namespace, "")
}

// VersionIn returns the resource version that the store has seen of a namespace; it is empty while
// ReadyIn is false.
func (s Store[K]) VersionIn(namespace string) string { return s.from.now().versionIn(namespace) }

// ReadyIn reports whether the store has all objects of a namespace. It is false for one that the store does
// not keep.
func (s Store[K]) ReadyIn(namespace string) bool { return s.from.now().readyIn(namespace) }

// Stats is what a store holds.
type Stats struct {
	// Objects is the number of objects, Bytes the memory that they take, indexes and decoded
	// forms not included.
	Objects int
	Bytes   int64
	// ResourceVersion is what the store has seen of the server.
	ResourceVersion string
	// Subscribers is the number of loops over Changes, Pending the number of changes that the
	// slowest of them has not taken yet.
	Subscribers, Pending int
}

// Stats returns what the store holds, for metrics.
func (s Store[K]) Stats() Stats { return s.from.now().stats() }
