package reflector

import (
	"context"
	"iter"

	"github.com/go-kube/kube/resource"
)

// Change is a change of one object, or of several that happened to it since it was told last.
type Change[K any] struct {
	// Object is the object as the store has it now; its last state when it is gone.
	Object resource.Lazy[K]
	// Deleted reports that the object is gone.
	Deleted bool
	// Initial reports that the object was there when the loop began, or came with the first
	// snapshot of the store: nothing happened to it.
	Initial bool
}

// Ref returns the ref of the object. Its name shares the memory of the object: clone it
// (strings.Clone) where the ref is to outlive the object.
func (c Change[K]) Ref() resource.Ref[K] { return c.Object.Ref() }

// Changes yields the objects that are in the store, and from then on what happens to them,
// until ctx or the reflector ends. It may be called before Run and at any time after; each
// loop over it is a subscription of its own, and begins with the present state.
//
// The store is always as new as the change that was yielded, or newer. Several changes of one
// object become one while the loop body runs, so a slow loop gets the latest state, holds up
// nobody, and costs memory for the objects that changed, not for each change. When an object
// was deleted and created again under the same name, its deletion comes first (with the old
// uid), then the new object. An object can be yielded as deleted that never was before: it
// came and went while the loop body ran.
func (r *Reflector[K]) Changes(ctx context.Context) iter.Seq[Change[K]] {
	return func(yield func(Change[K]) bool) {
		for raw, n := range r.from.changes(ctx) {
			change := Change[K]{
				Object:  resource.AsLazy[K](raw),
				Deleted: n == isDeleted,
				Initial: n == isInitial,
			}
			if !yield(change) {
				return
			}
		}
	}
}

// changes is Changes without types.
func (c *cache) changes(ctx context.Context) iter.Seq2[*resource.Raw, news] {
	return func(yield func(*resource.Raw, news) bool) {
		s := newSubscriber()
		c.enlist(s)
		defer s.leave()
		for ctx.Err() == nil {
			raw, n, ok := s.take()
			if ok {
				if !yield(raw, n) {
					return
				}
				continue
			}
			if !s.waitFor(ctx) {
				return
			}
		}
	}
}

// enlist has s be told of what is in c and what happens to it.
func (c *cache) enlist(s *subscriber) {
	c = c.lock()
	defer c.mu.Unlock()
	s.home.Store(c)
	if c.begun {
		s.start(c)
	}
	c.subscribers[s] = struct{}{}
}

// leave undoes enlist.
func (s *subscriber) leave() {
	c := s.home.Load().lock()
	defer c.mu.Unlock()
	delete(c.subscribers, s)
}

// take returns the next thing to tell.
func (s *subscriber) take() (*resource.Raw, news, bool) {
	c := s.home.Load().lockToRead()
	defer c.mu.RUnlock()
	return s.next()
}

// waitFor waits until there may be something to tell s; it returns false when there will be
// nothing more.
func (s *subscriber) waitFor(ctx context.Context) bool {
	select {
	case <-s.wake:
		return true
	default:
	}
	c := s.home.Load()
	select {
	case <-s.wake:
		return true
	case <-c.stopped:
		return c.next.Load() != nil || s.len() > 0
	case <-ctx.Done():
		return false
	}
}
