package apitest

import (
	"bytes"
	"io"
	"log"
	"net/http"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/go-kube/kube"
)

// Server is a scripted API server. Start one with [Start].
type Server struct {
	t        testing.TB
	protobuf bool
	http2    bool
	fallback http.Handler
	network  *Network
	server   *http.Server
	handlers sync.WaitGroup

	mu       sync.Mutex
	expected []*Expectation
	requests []Request
	client   *kube.Client
}

// Options changes how a server answers.
type Options struct {
	// HTTP2 makes connections HTTP/2 without TLS; they are HTTP/1.1 otherwise.
	HTTP2 bool
	// Protobuf encodes lists and watch events as protobuf where the client asks for it.
	Protobuf bool
	// Handler answers the requests that no expectation matches. Without it they fail the test.
	Handler http.Handler
}

// Request is a request that came.
type Request struct {
	Time         time.Time
	Method, Path string
	Query        url.Values
	Header       http.Header
	Body         []byte
}

// Start starts a server that stops when the test ends. opts may be nil.
func Start(t testing.TB, opts *Options) *Server {
	t.Helper()
	if opts == nil {
		opts = &Options{}
	}
	s := &Server{t: t, protobuf: opts.Protobuf, http2: opts.HTTP2, fallback: opts.Handler, network: newNetwork()}
	s.server = &http.Server{Handler: s, Protocols: protocols(opts.HTTP2), ErrorLog: log.New(io.Discard, "", 0)}
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		s.server.Serve(s.network)
	}()
	t.Cleanup(func() {
		s.server.Close()
		s.network.Cut()
		s.handlers.Wait()
		<-stopped
		if s.client != nil {
			s.client.Close()
		}
		s.checkMet()
	})
	return s
}

func protocols(http2 bool) *http.Protocols {
	p := new(http.Protocols)
	p.SetHTTP1(!http2)
	p.SetUnencryptedHTTP2(http2)
	return p
}

// Network returns the network, on which connections can be cut and refused.
func (s *Server) Network() *Network { return s.network }

// Requests returns the requests that came so far, in order.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.handlers.Add(1)
	defer s.handlers.Done()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client is gone
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	s.handler(r, body).ServeHTTP(w, r)
}

// handler records r and returns who answers it.
func (s *Server) handler(r *http.Request, body []byte) http.Handler {
	s.mu.Lock()
	defer s.mu.Unlock()
	query := r.URL.Query()
	s.requests = append(s.requests, Request{time.Now(), r.Method, r.URL.EscapedPath(), query, r.Header.Clone(), body})
	for _, e := range s.expected {
		if e.matches(r, query) {
			e.served++
			if e.left > 0 {
				e.left--
			}
			return e.reply
		}
	}
	if s.fallback != nil {
		return s.fallback
	}
	s.t.Errorf("apitest: unexpected request %s %s", r.Method, r.URL.RequestURI())
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusNotImplemented, mustJSON(failure(http.StatusNotImplemented, "", "apitest: unexpected request")))
	})
}

// checkMet fails the test for each expectation that was not met.
func (s *Server) checkMet() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.expected {
		switch {
		case e.reply == nil:
			s.t.Errorf("apitest: the expectation %q has no answer", e.spec)
		case e.left > 0:
			s.t.Errorf("apitest: the request %q did not come (%d more expected)", e.spec, e.left)
		}
	}
}
