package kubetest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-kube/kube"
)

// Server is an API server in memory. Make one with [Start] or [NewServer]. Its methods are
// safe for concurrent use.
type Server struct {
	options    *Options
	store      *store
	kinds      registry
	discovered atomic.Pointer[discovery]
	handling   gate
	life       *lifecycle
	network    *network
	t          testing.TB // of Start; nil otherwise

	stop context.CancelFunc // ends what Go runs
	ctx  context.Context
	runs sync.WaitGroup // of Go

	mu      sync.Mutex
	serving []*http.Server
	serves  sync.WaitGroup // of serving
	client  *kube.Client
	closed  bool
}

const (
	// historyLimit is how many changes of each kind are remembered, and historyAge for how long.
	historyLimit = 10_000
	historyAge   = 5 * time.Minute
)

// NewServer returns a server that serves what opts say; opts may be nil. It is an
// [http.Handler], to be served in any way, and has a network in memory besides (see
// [Server.Config]). Close it in the end.
func NewServer(opts *Options) (*Server, error) {
	s := &Server{options: opts.complete(), store: newStore(historyLimit, historyAge), network: newNetwork()}
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
	s, err := NewServer(opts)
	if err != nil {
		t.Fatal(err)
	}
	s.t = t
	t.Cleanup(func() { s.Close() })
	return s
}

// Close ends everything: first what [Server.Go] runs, then the connections and the requests
// that are being answered. It returns when all of them have ended. Closing twice does nothing.
func (s *Server) Close() error {
	s.stop()
	s.runs.Wait()
	s.mu.Lock()
	serving, client := s.serving, s.client
	s.closed, s.serving, s.client = true, nil, nil
	s.mu.Unlock()
	if client != nil {
		client.Close()
	}
	for _, server := range serving {
		server.Close()
	}
	s.network.Close()
	s.network.cut()
	s.handling.close()
	s.serves.Wait()
	return nil
}

// Config returns a new configuration of a client. Its connections stay in memory.
func (s *Server) Config() *kube.Config {
	s.startNetwork()
	return &kube.Config{Server: "http://kubetest.invalid", Dial: s.network.DialContext}
}

// Client returns a client, the same one each time. It is closed with the server.
func (s *Server) Client() *kube.Client {
	config := s.Config()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.client == nil {
		client, err := kube.NewClient(config)
		if err != nil {
			panic("kubetest: " + err.Error()) // the configuration is ours
		}
		s.client = client
	}
	return s.client
}

// startNetwork has the network in memory answered, once.
func (s *Server) startNetwork() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.serving) == 0 || s.serving[0].Addr != memoryName {
		s.serving = append([]*http.Server{s.serveOn(s.network, memoryName)}, s.serving...)
	}
}

const memoryName = "memory"

// serveOn answers the connections of a listener until the server is closed. The caller holds mu.
func (s *Server) serveOn(l net.Listener, name string) *http.Server {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(true)
	protocols.SetUnencryptedHTTP2(true)
	server := &http.Server{Addr: name, Handler: s, Protocols: protocols, ErrorLog: log.New(io.Discard, "", 0)}
	s.serves.Go(func() { server.Serve(l) })
	return server
}

// Go runs f until the test ends, before the server is closed: then its context ends, and f has
// to return. An error that f returns fails the test, unless it only says that the context has
// ended.
func (s *Server) Go(f func(ctx context.Context) error) {
	s.runs.Go(func() {
		err := f(s.ctx)
		if err == nil || s.ctx.Err() != nil && errors.Is(err, context.Canceled) {
			return
		}
		if s.t != nil {
			s.t.Errorf("kubetest: Server.Go: %v", err)
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
