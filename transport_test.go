package kube

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// roundTripFunc makes a RoundTripper of a function.
type roundTripFunc func(*http.Request) (*http.Response, error)

func (f roundTripFunc) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// answer makes a response.
func answer(req *http.Request, status int, headers ...string) *http.Response {
	h := http.Header{}
	for i := 0; i < len(headers); i += 2 {
		h.Add(headers[i], headers[i+1])
	}
	return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(strings.NewReader("{}")), Request: req}
}

// pipes is a network in memory: a listener whose connections are pipes.
type pipes struct {
	incoming chan net.Conn
	closed   chan struct{}
	once     sync.Once
}

func newPipes() *pipes {
	return &pipes{incoming: make(chan net.Conn), closed: make(chan struct{})}
}

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case p.incoming <- server:
		return client, nil
	case <-p.closed:
		return nil, refused()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func refused() error { return &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.incoming:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func (p *pipes) Addr() net.Addr { return pipeAddr{} }

type pipeAddr struct{}

func (pipeAddr) Network() string { return "pipe" }
func (pipeAddr) String() string  { return "pipe" }

// serve runs handler on p for the time of the test, over HTTP/1.1 and unencrypted HTTP/2.
func (p *pipes) serve(t *testing.T, handler http.HandlerFunc) {
	t.Helper()
	srv := &http.Server{Handler: handler, Protocols: new(http.Protocols), ErrorLog: slog.NewLogLogger(slog.DiscardHandler, 0)}
	srv.Protocols.SetHTTP1(true)
	srv.Protocols.SetUnencryptedHTTP2(true)
	done := make(chan struct{})
	go func() {
		defer close(done)
		srv.Serve(p)
	}()
	t.Cleanup(func() {
		srv.Close()
		<-done
	})
}

func http2Only() *http.Protocols {
	p := new(http.Protocols)
	p.SetUnencryptedHTTP2(true)
	return p
}

// testTransport makes a transport that is closed with the test.
func testTransport(t *testing.T, c *Config) *transport {
	t.Helper()
	if c.Server == "" {
		c.Server = "http://server.example.com"
	}
	tr, err := newTransport(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tr.close)
	return tr
}

// do sends a request and returns status and body.
func do(t *testing.T, tr *transport, req *http.Request) (int, string) {
	t.Helper()
	resp, err := tr.unary.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

func newRequest(t *testing.T, tr *transport, method, path, body string) *http.Request {
	t.Helper()
	var r io.Reader
	if body != "" {
		r = strings.NewReader(body)
	}
	req, err := http.NewRequestWithContext(t.Context(), method, tr.baseURL.JoinPath(path).String(), r)
	if err != nil {
		t.Fatal(err)
	}
	return req
}

func TestProtocols(t *testing.T) {
	for _, test := range []struct {
		name      string
		protocols *http.Protocols
		want      string
	}{
		{"default is HTTP/1.1 without TLS", nil, "HTTP/1.1"},
		{"unencrypted HTTP/2 on request", http2Only(), "HTTP/2.0"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPipes()
				p.serve(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, r.Proto) })
				tr := testTransport(t, &Config{Dial: p.dial, Protocols: test.protocols})
				if _, got := do(t, tr, newRequest(t, tr, "GET", "/api", "")); got != test.want {
					t.Errorf("protocol = %s, want %s", got, test.want)
				}
			})
		})
	}
}

// A connection whose other end went silent is found by a ping: 30 s without a frame, 15 s
// without an answer.
func TestPingFindsDeadConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPipes()
		p.serve(t, func(w http.ResponseWriter, r *http.Request) {
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		})
		var silent silence
		tr := testTransport(t, &Config{Protocols: http2Only(), DisableRetry: true, Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
			c, err := p.dial(ctx, network, address)
			if err != nil {
				return nil, err
			}
			return &silencedConn{Conn: c, silence: &silent}, nil
		}})
		resp, err := tr.unary.RoundTrip(newRequest(t, tr, "GET", "/api/v1/pods", ""))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		synctest.Wait()
		silent.begin()
		start := time.Now()
		_, err = resp.Body.Read(make([]byte, 1))
		if took := time.Since(start); err == nil || took < 15*time.Second || took > 46*time.Second {
			t.Errorf("read failed after %s with %v, want within 45 s", took, err)
		}
		silent.end()
	})
}

// silence makes connections swallow what is written to them, as a path that lost its NAT entry does.
type silence struct {
	mu sync.Mutex
	on bool
}

func (s *silence) begin() { s.set(true) }
func (s *silence) end()   { s.set(false) }

func (s *silence) set(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.on = on
}

func (s *silence) holds() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.on
}

type silencedConn struct {
	net.Conn
	*silence
}

func (c *silencedConn) Write(b []byte) (int, error) {
	if c.holds() {
		return len(b), nil
	}
	return c.Conn.Write(b)
}

func TestCompression(t *testing.T) {
	for _, test := range []struct {
		name  string
		off   bool
		watch bool
		want  string
	}{
		{"asked for", false, false, "gzip"},
		{"off", true, false, ""},
		{"never for a watch", false, true, "identity"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPipes()
				p.serve(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, r.Header.Get("Accept-Encoding")) })
				tr := testTransport(t, &Config{Dial: p.dial, DisableCompression: test.off})
				req := newRequest(t, tr, "GET", "/api/v1/pods", "")
				if test.watch {
					req = req.WithContext(withRequestInfo(req.Context(), RequestInfo{Verb: "watch"}))
				}
				if _, got := do(t, tr, req); got != test.want {
					t.Errorf("Accept-Encoding = %q, want %q", got, test.want)
				}
			})
		})
	}
}

// The order of the layers: user's middleware, retry, credentials, warnings, connections.
func TestLayers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log []string
		note := func(s string) { log = append(log, s) }
		wrap := func(name string) func(http.RoundTripper) http.RoundTripper {
			return func(next http.RoundTripper) http.RoundTripper {
				return roundTripFunc(func(req *http.Request) (*http.Response, error) {
					note(name + " in, authorized " + yesNo(req.Header.Get("Authorization") != ""))
					resp, err := next.RoundTrip(req)
					info, _ := RequestInfoFrom(req.Context())
					note(name + " out after " + strings.Repeat("I", info.Attempts) + " attempts at " + info.Resource)
					return resp, err
				})
			}
		}
		calls := 0
		tr := testTransport(t, &Config{
			BearerToken: "secret",
			Wrap:        []func(http.RoundTripper) http.RoundTripper{wrap("first"), wrap("second")},
			OnWarning:   func(w Warning) { note("warning: " + w.Text) },
			OnRetry:     func(RetryInfo) { note("retry") },
			Transport: roundTripFunc(func(req *http.Request) (*http.Response, error) {
				note("sent, authorized " + yesNo(req.Header.Get("Authorization") == "Bearer secret"))
				if calls++; calls == 1 {
					return answer(req, 429), nil
				}
				return answer(req, 200, "Warning", `299 - "careful"`), nil
			}),
		})
		req := newRequest(t, tr, "GET", "/api/v1/pods", "")
		do(t, tr, req.WithContext(withRequestInfo(req.Context(), RequestInfo{Verb: "list", Version: "v1", Resource: "pods"})))
		want := []string{
			"first in, authorized no", "second in, authorized no",
			"sent, authorized yes", "retry", "sent, authorized yes", "warning: careful",
			"second out after II attempts at pods", "first out after II attempts at pods",
		}
		if diff := cmp.Diff(want, log); diff != "" {
			t.Error(diff)
		}
	})
}

func yesNo(b bool) string { return map[bool]string{true: "yes", false: "no"}[b] }

// RoundTrippers must not change the requests that they are given.
func TestRequestIsNotChanged(t *testing.T) {
	tr := testTransport(t, &Config{BearerToken: "secret", Impersonate: Impersonation{User: "u"}, Transport: roundTripFunc(
		func(req *http.Request) (*http.Response, error) { return answer(req, 200), nil })})
	req := newRequest(t, tr, "GET", "/api", "")
	req.Header.Set("Accept", "application/json")
	do(t, tr, req)
	if diff := cmp.Diff(http.Header{"Accept": {"application/json"}}, req.Header); diff != "" {
		t.Errorf("headers of the caller's request changed:\n%s", diff)
	}
}

func TestRequestInfoFrom(t *testing.T) {
	if _, ok := RequestInfoFrom(t.Context()); ok {
		t.Error("a context of nothing has request info")
	}
	want := RequestInfo{Verb: "get", Group: "apps", Version: "v1", Resource: "deployments", Subresource: "status", Namespace: "ns", Name: "web"}
	ctx, cancel := context.WithTimeout(withRequestInfo(t.Context(), want), time.Minute)
	defer cancel()
	if got, ok := RequestInfoFrom(ctx); !ok || got != want {
		t.Errorf("info = %+v, %t", got, ok)
	}
	requestContextFrom(ctx).attempts.Add(2)
	want.Attempts = 2
	if got, _ := RequestInfoFrom(ctx); got != want {
		t.Errorf("info = %+v", got)
	}
}

// A request context must not cost a goroutine when a context is derived from it.
func TestRequestContextIsCheap(t *testing.T) {
	parent, cancel := context.WithCancel(t.Context())
	ctx := withRequestInfo(parent, RequestInfo{})
	child, stop := context.WithCancel(ctx)
	defer stop()
	cancel()
	if !errors.Is(child.Err(), context.Canceled) {
		t.Error("the cancellation does not reach the child at once")
	}
}

// logged collects what a logger writes, without times.
func logged() (*slog.Logger, *bytes.Buffer) {
	var b bytes.Buffer
	return slog.New(slog.NewTextHandler(&lockedWriter{w: &b}, &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}})), &b
}

type lockedWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lockedWriter) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(b)
}
