package reflector

import (
	"context"
	"iter"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/go-kube/kube/resource"
	"github.com/go-kube/kube/runtime/watcher"
)

// source is where a reflector and its stores find their cache. Without [Options.Share] that is
// always the reflector's own. With it, who runs decides: the cache is known for good once run
// has begun, which those who wait wait for first, and until then the own one stands in, which is
// empty.
type source struct {
	own     *cache // what Index and Modify configure
	cache   atomic.Pointer[cache]
	share   bool
	onError func(error)  // the user's; nil if there is none
	log     *slog.Logger // the user's; nil where nothing is shared

	joint  atomic.Pointer[joint] // that the own cache is of; nil when it is not shared
	chosen chan struct{}         // closed when the cache is known for good; nil without share
	life   context.Context       // ends with run; nil without share
	end    context.CancelCauseFunc

	telling chan struct{} // holds a token while one who shares is told something
	left    bool          // nothing is to be told any more; guarded by telling
}

func newSource(share bool) *source {
	s := &source{share: share, telling: make(chan struct{}, 1)}
	if share {
		s.chosen = make(chan struct{})
		s.life, s.end = context.WithCancelCause(context.Background())
	}
	return s
}

// now returns the cache to read.
func (s *source) now() *cache { return s.cache.Load().now() }

// run fills the cache, alone or with others, until ctx ends.
func (s *source) run(ctx context.Context) error {
	if !s.share {
		return s.own.run(ctx)
	}
	if err := s.own.start(); err != nil {
		return err
	}
	defer s.end(ErrStopped)
	if err := s.own.err(); err != nil {
		close(s.chosen)
		s.own.stop()
		return err
	}
	if s.own.alone() {
		close(s.chosen)
		defer s.own.stop()
		s.own.fill(ctx)
		return nil
	}
	j := s.join(ctx)
	s.cache.Store(j.cache)
	close(s.chosen)
	<-ctx.Done()
	s.leave(jointsOf(s.own.engine), j)
	return nil
}

// alone reports whether the cache keeps what others of the same kind do not.
func (c *cache) alone() bool { return c.needed() || len(c.indexed) > 0 }

// found waits until the cache is known. The context that it returns ends with ctx and with the
// reflector, and has to be canceled.
func (s *source) found(parent context.Context) (*cache, context.Context, context.CancelFunc) {
	if !s.share {
		return s.own, parent, func() {}
	}
	ctx, cancel := context.WithCancelCause(parent)
	stop := context.AfterFunc(s.life, func() { cancel(context.Cause(s.life)) })
	select {
	case <-s.chosen:
	case <-ctx.Done():
	}
	return s.now(), ctx, func() { stop(); cancel(nil) }
}

func (s *source) waitReady(ctx context.Context) error {
	c, ctx, stop := s.found(ctx)
	defer stop()
	return c.waitReady(ctx)
}

func (s *source) waitVersion(ctx context.Context, namespace, version string) error {
	c, ctx, stop := s.found(ctx)
	defer stop()
	return c.waitVersion(ctx, namespace, version)
}

func (s *source) events(ctx context.Context, patience time.Duration) iter.Seq[watcher.RawEvent] {
	return func(yield func(watcher.RawEvent) bool) {
		c, ctx, stop := s.found(ctx)
		defer stop()
		c.events(ctx, patience)(yield)
	}
}

func (s *source) changes(ctx context.Context) iter.Seq2[*resource.Raw, news] {
	return func(yield func(*resource.Raw, news) bool) {
		c, ctx, stop := s.found(ctx)
		defer stop()
		c.changes(ctx)(yield)
	}
}
