package kubetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Server is an API server in memory. Make one with [Start] or [NewServer]. Its methods are
// safe for concurrent use.
type Server struct {
	options    *Options
	store      *store
	kinds      registry
	discovered atomic.Pointer[discovery]
	documents  atomic.Pointer[openAPI]
	handling   gate
	life       *lifecycle
	system     map[*object]bool // what exists without being given; not changed after the start
	recorder   recorder
	faults     faults
	serving    serving
	t          testing.TB // of Start; nil otherwise

	ctx  context.Context // of what Go runs
	stop context.CancelFunc
	runs sync.WaitGroup

	mu    sync.Mutex
	going chan struct{} // closed when the server goes down
}

const (
	// historyLimit is how many changes of each kind are remembered, and historyAge for how long.
	historyLimit = 10_000
	historyAge   = 5 * time.Minute
)

// NewServer returns a server that serves what opts say; opts may be nil. It is an
// [http.Handler], to be served in any way, and can be reached in memory (see [Server.Config]).
// Close it in the end.
func NewServer(opts *Options) (*Server, error) {
	s := &Server{options: opts.complete(), system: map[*object]bool{}, store: newStore(historyLimit, historyAge), going: make(chan struct{})}
	if err := s.options.checkRuntimeConfig(); err != nil {
		return nil, fmt.Errorf("kubetest: %w", err)
	}
	s.serving.handler = s
	s.recorder.logger = s.options.Logger
	s.ctx, s.stop = context.WithCancel(context.Background())
	s.life = newLifecycle(s)
	s.kinds.current.Store(newCatalog(nil))
	s.kinds.change(func([]*kind) []*kind { return s.builtins() })
	if err := s.preload(); err != nil {
		s.Close()
		return nil, fmt.Errorf("kubetest: %w", err)
	}
	return s, nil
}

// Start starts a server that ends with the test; opts may be nil. Options that do not work end
// the test.
//
// In a bubble of testing/synctest everything that the server does is part of the bubble, as
// long as neither [Server.URL] nor [Server.Kubeconfig] is used, which need a real network.
func Start(t testing.TB, opts *Options) *Server {
	t.Helper()
	opts = opts.reportingTo(func(text string) { t.Error(text) })
	s, err := NewServer(opts)
	if err != nil {
		t.Fatal(err)
	}
	s.t = t
	t.Cleanup(s.Close)
	return s
}

// testing returns the test that the server was started for. Calling method without one is a
// mistake of the program.
func (s *Server) testing(method string) testing.TB {
	if s.t == nil {
		panic("kubetest: Server." + method + " needs a server that was started for a test; use Listen or ListenTLS")
	}
	return s.t
}

// Close ends everything: first what [Server.Go] runs, then the connections and the requests
// that are being answered. It returns when all of them have ended. Closing twice does nothing.
func (s *Server) Close() {
	s.stop()
	s.runs.Wait()
	s.serving.close()
	s.interrupt()
	s.handling.close()
	s.serving.wait()
}

// Go runs f until the test ends, before the server is closed: then its context ends, and f has
// to return. An error that f returns fails the test, unless it only says that the context has
// ended.
func (s *Server) Go(f func(ctx context.Context) error) {
	t := s.testing("Go")
	s.runs.Go(func() {
		err := f(s.ctx)
		if err != nil && (s.ctx.Err() == nil || !errors.Is(err, context.Canceled)) {
			t.Errorf("kubetest: Server.Go: %v", err)
		}
	})
}

// gate counts what is inside, and keeps everything out once it is closed.
type gate struct {
	mu     sync.Mutex
	closed bool
	inside sync.WaitGroup
}

func (g *gate) enter() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.closed {
		g.inside.Add(1)
	}
	return !g.closed
}

func (g *gate) leave() { g.inside.Done() }

// close waits until nothing is inside.
func (g *gate) close() {
	g.mu.Lock()
	g.closed = true
	g.mu.Unlock()
	g.inside.Wait()
}
