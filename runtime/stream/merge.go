package stream

import (
	"context"
	"fmt"
	"iter"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// Merge yields the items of several sequences as they come, until all of them have ended. The items of one keep
// their order; between two there is none. Each of sources is called with a context made from ctx, and its sequence
// ranged over by a goroutine of its own, which is one item ahead at most: while the loop body runs, the
// others wait. When the loop ends, that context does too, so that the sequences end, and all goroutines have ended
// before the loop is left. A sequence has to end when its context does, as those of a watcher and of a
// reflector do: their methods Events and Changes are such sources. A panic in one of them is one of the loop.
//
// Merge objects or changes ([Applied], [Touched]) and not the events of watchers: of two snapshots at a time nobody
// can tell which one an InitDone ends. A store of several namespaces is reflector.Options.Namespaces.
func Merge[T any](ctx context.Context, sources ...func(context.Context) iter.Seq[T]) iter.Seq[T] {
	return func(yield func(T) bool) {
		if len(sources) == 0 {
			return
		}
		ctx, stop := context.WithCancel(ctx)
		m := &merger[T]{items: make(chan T), stop: stop}
		m.left.Store(int64(len(sources)))
		defer m.end()
		for _, source := range sources {
			m.running.Go(func() { m.follow(ctx, source) })
		}
		m.pass(ctx, yield)
	}
}

// merger is one loop over merged sequences.
type merger[T any] struct {
	items   chan T
	stop    context.CancelFunc // ends the loop
	running sync.WaitGroup
	left    atomic.Int64 // sources that have not ended
	failure atomic.Pointer[SourceError]
}

// end stops the sources, and waits until they have ended.
func (m *merger[T]) end() {
	m.stop()
	m.running.Wait()
	if failure := m.failure.Load(); failure != nil {
		panic(failure)
	}
}

// SourceError is what the loop over merged sequences panics with when one of them did.
type SourceError struct {
	// Value is what panic was called with, Stack the stack of the goroutine at the panic.
	Value any
	Stack []byte
}

// Error returns the value of the panic and the stack.
func (e *SourceError) Error() string {
	return fmt.Sprintf("panic in a merged sequence: %v\n\n%s", e.Value, e.Stack)
}

// Unwrap returns the value of the panic where it is an error, and nil otherwise.
func (e *SourceError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// follow hands over the items of a source.
func (m *merger[T]) follow(ctx context.Context, source func(context.Context) iter.Seq[T]) {
	defer func() {
		if value := recover(); value != nil {
			m.failure.CompareAndSwap(nil, &SourceError{value, debug.Stack()})
			m.stop()
		}
		if m.left.Add(-1) == 0 {
			m.stop()
		}
	}()
	for item := range source(ctx) {
		select {
		case m.items <- item:
		case <-ctx.Done():
			return
		}
	}
}

// pass yields items until there are no more: every source has handed over its last item before the last of
// them stops the loop.
func (m *merger[T]) pass(ctx context.Context, yield func(T) bool) {
	for {
		select {
		case item := <-m.items:
			if !yield(item) {
				return
			}
		case <-ctx.Done():
			return
		}
	}
}
