package kube

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// script answers requests one after the other, the last answer for ever.
type script struct {
	steps  []func(*http.Request) (*http.Response, error)
	times  []time.Duration // since the first request
	bodies []string
	start  time.Time
}

func (s *script) RoundTrip(req *http.Request) (*http.Response, error) {
	if s.start.IsZero() {
		s.start = time.Now()
	}
	n := len(s.times)
	s.times = append(s.times, time.Since(s.start))
	body := ""
	if req.Body != nil {
		b, _ := io.ReadAll(req.Body)
		req.Body.Close()
		body = string(b)
	}
	s.bodies = append(s.bodies, body)
	return s.steps[min(n, len(s.steps)-1)](req)
}

func status(code int, headers ...string) func(*http.Request) (*http.Response, error) {
	return func(req *http.Request) (*http.Response, error) {
		sent(req)
		return answer(req, code, headers...), nil
	}
}

// sent tells who traces req that it was written, as net/http does.
func sent(req *http.Request) {
	if trace := httptrace.ContextClientTrace(req.Context()); trace != nil && trace.WroteHeaders != nil {
		trace.WroteHeaders()
	}
}

// unsent fails before anything is sent, lost after.
func unsent(err error) func(*http.Request) (*http.Response, error) {
	return func(*http.Request) (*http.Response, error) { return nil, err }
}

func lost(err error) func(*http.Request) (*http.Response, error) {
	return func(req *http.Request) (*http.Response, error) {
		sent(req)
		return nil, err
	}
}

type step = func(*http.Request) (*http.Response, error)

// TestRetryTable says for each kind of failure which requests are repeated.
func TestRetryTable(t *testing.T) {
	reset := &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}
	type request struct{ method, path, contentType string }
	requests := []struct {
		name string
		request
		repeatable bool
	}{
		{"get", request{"GET", "/api/v1/pods", ""}, true},
		{"apply", request{"PATCH", "/api/v1/pods/a", "application/apply-patch+yaml"}, true},
		{"apply as CBOR", request{"PATCH", "/api/v1/pods/a", "application/apply-patch+cbor"}, true},
		{"dry run", request{"POST", "/api/v1/pods?dryRun=All", ""}, true},
		{"create", request{"POST", "/api/v1/pods", ""}, false},
		{"replace", request{"PUT", "/api/v1/pods/a", ""}, false},
		{"delete", request{"DELETE", "/api/v1/pods/a", ""}, false},
		{"merge patch", request{"PATCH", "/api/v1/pods/a", "application/merge-patch+json"}, false},
	}
	const never, safe, always = "never", "if repeatable", "always"
	for _, failure := range []struct {
		name string
		step
		when string
	}{
		{"429", status(429), always},
		{"503", status(503), safe},
		{"504", status(504), safe},
		{"502", status(502), safe},
		{"500", status(500), never},
		{"500 with Retry-After", status(500, "Retry-After", "0"), safe},
		{"404", status(404), never},
		{"409", status(409), never},
		{"connection refused", unsent(refused()), always},
		{"unknown host", unsent(&net.OpError{Op: "dial", Err: &net.DNSError{IsNotFound: true}}), never},
		{"name server busy", unsent(&net.OpError{Op: "dial", Err: &net.DNSError{IsTemporary: true}}), always},
		{"connection closed during the handshake", unsent(io.EOF), always},
		{"certificate of an unknown authority", unsent(x509.UnknownAuthorityError{}), never},
		{"HTTP/2 graceful shutdown", lost(errors.New("http2: Transport received Server's graceful shutdown GOAWAY")), always},
		{"HTTP/2 ping not answered", lost(errors.New("http2: client connection lost")), safe},
		{"connection reset after sending", lost(reset), safe},
		{"end of file after sending", lost(io.ErrUnexpectedEOF), safe},
		{"anything else", lost(errors.New("net/http: invalid header")), never},
	} {
		for _, r := range requests {
			t.Run(failure.name+"/"+r.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := &script{steps: []step{failure.step, status(200)}}
					tr := testTransport(t, &Config{Transport: s})
					req := newRequest(t, tr, r.method, "", "")
					req.URL = must(req.URL.Parse(r.path))
					if r.contentType != "" {
						req.Header.Set("Content-Type", r.contentType)
					}
					resp, err := tr.unary.RoundTrip(req)
					wantRetry := failure.when == always || failure.when == safe && r.repeatable
					if got := len(s.times) == 2; got != wantRetry {
						t.Errorf("repeated = %t, want %t (%v, %v)", got, wantRetry, resp, err)
					}
					if resp != nil {
						resp.Body.Close()
					}
				})
			})
		}
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// What cannot be sent again is not, and its failure tells whether something was sent.
func TestNothingSent(t *testing.T) {
	for _, test := range []struct {
		name string
		step
		method string
		want   bool
	}{
		{"refused", unsent(refused()), "POST", true},
		{"refused, read", unsent(refused()), "GET", true},
		{"handshake cut", unsent(io.EOF), "POST", true},
		{"sent and lost", lost(io.EOF), "POST", false},
		{"sent and lost, read", lost(io.EOF), "GET", false},
		{"not a passing failure", unsent(x509.UnknownAuthorityError{}), "POST", false},
		{"HTTP/2 shutdown", lost(errors.New("http2: Transport received Server's graceful shutdown GOAWAY")), "POST", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := &script{steps: []step{test.step}}
			tr := testTransport(t, &Config{Transport: s, DisableRetry: true})
			_, err := tr.unary.RoundTrip(newRequest(t, tr, test.method, "/api", ""))
			if got := nothingSent(fmt.Errorf("wrapped: %w", err)); got != test.want {
				t.Errorf("nothingSent(%v) = %t, want %t", err, got, test.want)
			}
			if len(s.times) != 1 {
				t.Errorf("%d attempts with DisableRetry", len(s.times))
			}
		})
	}
	if nothingSent(nil) || nothingSent(refused()) {
		t.Error("an error of unknown origin says nothing about what was sent")
	}
}

func TestBackoff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{steps: []step{unsent(refused())}}
		tr := testTransport(t, &Config{Transport: s})
		_, err := tr.unary.RoundTrip(newRequest(t, tr, "POST", "/api", ""))
		if !errors.Is(err, syscall.ECONNREFUSED) || !nothingSent(err) {
			t.Errorf("error = %v", err)
		}
		if len(s.times) != 11 {
			t.Fatalf("%d attempts, want 1 and 10 retries", len(s.times))
		}
		for i := 1; i < len(s.times); i++ {
			longest := min(5*time.Millisecond<<(i-1), time.Second)
			if got := s.times[i] - s.times[i-1]; got < longest/2 || got > longest {
				t.Errorf("wait %d = %s, want between %s and %s", i, got, longest/2, longest)
			}
		}
	})
}

func TestBackoffVaries(t *testing.T) {
	seen := map[time.Duration]bool{}
	for range 20 {
		seen[delayBefore(9, nil)] = true
	}
	if len(seen) < 10 {
		t.Errorf("20 delays have %d different values", len(seen))
	}
}

func TestRetryAfter(t *testing.T) {
	for _, test := range []struct {
		name     string
		value    func() string
		min, max time.Duration
	}{
		{"seconds", func() string { return "7" }, 7 * time.Second, 8 * time.Second},
		{"date", func() string { return time.Now().Add(9 * time.Second).UTC().Format(http.TimeFormat) }, 8 * time.Second, 10 * time.Second},
		{"shorter than the backoff", func() string { return "0" }, 2 * time.Millisecond, 5 * time.Millisecond},
		{"in the past", func() string { return "Fri, 01 Jan 1999 00:00:00 GMT" }, 2 * time.Millisecond, 5 * time.Millisecond},
		{"nonsense", func() string { return "soon" }, 2 * time.Millisecond, 5 * time.Millisecond},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &script{steps: []step{func(req *http.Request) (*http.Response, error) {
					return answer(req, 429, "Retry-After", test.value()), nil
				}, status(200)}}
				tr := testTransport(t, &Config{Transport: s})
				if code, _ := do(t, tr, newRequest(t, tr, "POST", "/api", "")); code != 200 {
					t.Errorf("status = %d", code)
				}
				if got := s.times[1]; got < test.min || got > test.max {
					t.Errorf("waited %s, want %s to %s", got, test.min, test.max)
				}
			})
		})
	}
}

func TestParseRetryAfter(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for value, want := range map[string]struct {
		d  time.Duration
		ok bool
	}{
		"":                              {0, false},
		"1":                             {time.Second, true},
		" 30 ":                          {30 * time.Second, true},
		"-5":                            {0, true},
		"9223372036854775807":           {9223372036 * time.Second, true},
		"1.5":                           {0, false},
		"Fri, 02 Jan 2026 03:05:05 GMT": {time.Minute, true},
		"Fri, 02 Jan 2026 03:04:04 GMT": {0, true},
		"tomorrow":                      {0, false},
	} {
		if d, ok := parseRetryAfter(http.Header{"Retry-After": {value}}, now); d != want.d || ok != want.ok {
			t.Errorf("parseRetryAfter(%q) = %s, %t; want %s, %t", value, d, ok, want.d, want.ok)
		}
	}
	if _, ok := parseRetryAfter(http.Header{}, now); ok {
		t.Error("no header says something")
	}
}

// A wait that would pass the deadline is not begun: the answer is there, and the caller gets it
// while there is time to use it.
func TestDeadlineBoundsRetries(t *testing.T) {
	for _, test := range []struct {
		name    string
		timeout time.Duration // of the context
		config  time.Duration // Config.Timeout
		after   string
		want    time.Duration // when the answer comes
		sent    int
	}{
		{"context", 10 * time.Second, 0, "11", 0, 1},
		{"context, on the second wait", 10 * time.Second, 0, "6", 6 * time.Second, 2},
		{"no deadline: Config.Timeout", 0, 20 * time.Second, "30", 0, 1},
		{"no deadline: 60 s", 0, 0, "25", 50 * time.Second, 3},
		{"no bound", 0, -1, "50", 500 * time.Second, 11},
		{"longer than a minute is never waited", 2 * time.Hour, 0, "3600", 0, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &script{steps: []step{status(429, "Retry-After", test.after)}}
				tr := testTransport(t, &Config{Transport: s, Timeout: test.config})
				req := newRequest(t, tr, "GET", "/api", "")
				if test.timeout > 0 {
					ctx, cancel := context.WithTimeout(t.Context(), test.timeout)
					defer cancel()
					req = req.WithContext(ctx)
				}
				start := time.Now()
				code, body := do(t, tr, req)
				if code != 429 || body != "{}" {
					t.Errorf("answer = %d %s, want the server's", code, body)
				}
				if took := time.Since(start); took < test.want || took > test.want+4*time.Second {
					t.Errorf("answered after %s, want %s", took, test.want)
				}
				if len(s.times) != test.sent {
					t.Errorf("%d attempts, want %d", len(s.times), test.sent)
				}
			})
		})
	}
}

func TestCancelDuringWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{steps: []step{status(429, "Retry-After", "30")}}
		tr := testTransport(t, &Config{Transport: s})
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(3*time.Second, cancel)
		start := time.Now()
		_, err := tr.unary.RoundTrip(newRequest(t, tr, "GET", "/api", "").WithContext(ctx))
		if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "429 Too Many Requests") {
			t.Errorf("error = %v, want the cancellation and what was waited for", err)
		}
		if took := time.Since(start); took != 3*time.Second {
			t.Errorf("returned after %s", took)
		}
	})
}

func TestBodyIsReplayed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{steps: []step{status(429), status(429), status(201)}}
		tr := testTransport(t, &Config{Transport: s})
		if code, _ := do(t, tr, newRequest(t, tr, "POST", "/api", "the body")); code != 201 {
			t.Errorf("status = %d", code)
		}
		if want := []string{"the body", "the body", "the body"}; !slices.Equal(s.bodies, want) {
			t.Errorf("bodies = %q", s.bodies)
		}
	})
}

func TestBodyThatCannotBeReplayed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{steps: []step{status(429), status(201)}}
		tr := testTransport(t, &Config{Transport: s})
		req := newRequest(t, tr, "POST", "/api", "")
		req.Body = io.NopCloser(strings.NewReader("once"))
		if code, _ := do(t, tr, req); code != 429 || len(s.times) != 1 {
			t.Errorf("status %d after %d attempts, want the 429", code, len(s.times))
		}
	})
}

// The answers that are given up are read and closed, else their connections would be lost.
func TestDiscardedBodiesAreClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var bodies []*closable
		refuse := func(req *http.Request) (*http.Response, error) {
			b := &closable{Reader: strings.NewReader("busy")}
			bodies = append(bodies, b)
			resp := answer(req, 429)
			resp.Body = b
			return resp, nil
		}
		tr := testTransport(t, &Config{Transport: &script{steps: []step{refuse, refuse, status(200)}}})
		do(t, tr, newRequest(t, tr, "GET", "/api", ""))
		for i, b := range bodies {
			if rest, _ := io.ReadAll(b.Reader); !b.closed || len(rest) > 0 {
				t.Errorf("body %d: closed %t, %d bytes unread", i, b.closed, len(rest))
			}
		}
	})
}

type closable struct {
	io.Reader
	closed bool
}

func (c *closable) Close() error {
	c.closed = true
	return nil
}

// A disruption budget answers an eviction with 429: the caller has to know, and decides.
func TestEvictionIsNotRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{steps: []step{status(429, "Retry-After", "10"), status(201)}}
		tr := testTransport(t, &Config{Transport: s})
		if code, _ := do(t, tr, newRequest(t, tr, "POST", "/api/v1/namespaces/a/pods/b/eviction", "")); code != 429 {
			t.Errorf("status = %d", code)
		}
	})
}

func TestMaxRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{steps: []step{status(503)}}
		tr := testTransport(t, &Config{Transport: s, MaxRetries: 3})
		if code, _ := do(t, tr, newRequest(t, tr, "GET", "/api", "")); code != 503 || len(s.times) != 4 {
			t.Errorf("status %d after %d attempts, want 503 after 4", code, len(s.times))
		}
	})
}

func TestRetriesAreSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		logger, log := logged()
		var seen []RetryInfo
		s := &script{steps: []step{status(429, "Retry-After", "2"), unsent(refused()), status(503), status(503), status(200)}}
		tr := testTransport(t, &Config{Transport: s, Logger: logger, OnRetry: func(i RetryInfo) { seen = append(seen, i) }})
		req := newRequest(t, tr, "GET", "/api/v1/pods", "")
		do(t, tr, req.WithContext(withRequestInfo(req.Context(), RequestInfo{Verb: "list", Resource: "pods"})))
		if len(seen) != 4 {
			t.Fatalf("%d retries seen, want 4", len(seen))
		}
		for i, r := range seen {
			if r.Attempt != i+1 || r.Request.Attempts != i+1 || r.Request.Resource != "pods" || r.Path != "/api/v1/pods" || r.Delay <= 0 {
				t.Errorf("retry %d: %+v", i, r)
			}
		}
		if seen[0].Status != 429 || seen[0].Delay < 2*time.Second || seen[1].Err == nil || seen[1].Status != 0 {
			t.Errorf("retries: %+v", seen)
		}
		lines := strings.Split(strings.TrimSpace(log.String()), "\n")
		if len(lines) != 4 || !strings.Contains(lines[0], "level=DEBUG") || !strings.Contains(lines[2], "level=WARN") ||
			!strings.Contains(lines[2], "request.status=503") || !strings.Contains(lines[1], "connection refused") {
			t.Errorf("log:\n%s", log)
		}
	})
}

// Over real connections: a server that goes away while a request is under way.
func TestLostConnection(t *testing.T) {
	for _, test := range []struct {
		name, method string
		protocols    *http.Protocols
		want         bool // repeated
	}{
		{"HTTP/1.1 get", "GET", nil, true},
		{"HTTP/1.1 create", "POST", nil, false},
		{"HTTP/2 get", "GET", http2Only(), true},
		{"HTTP/2 create", "POST", http2Only(), false},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPipes()
				var conns []net.Conn
				requests := 0
				p.serve(t, func(w http.ResponseWriter, r *http.Request) {
					if requests++; requests == 1 {
						conns[0].Close()
						<-r.Context().Done()
						return
					}
					w.WriteHeader(200)
				})
				tr := testTransport(t, &Config{Protocols: test.protocols, Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
					c, err := p.dial(ctx, network, address)
					conns = append(conns, c)
					return c, err
				}})
				resp, err := tr.unary.RoundTrip(newRequest(t, tr, test.method, "/api", ""))
				if resp != nil {
					resp.Body.Close()
				}
				if (err == nil) != test.want || (requests == 2) != test.want {
					t.Errorf("%d requests, error %v; want repeated %t", requests, err, test.want)
				}
				if err != nil && nothingSent(err) {
					t.Errorf("%v is said to have sent nothing", err)
				}
			})
		})
	}
}

// A server that is not there for a second and a half is not noticed, even by a create: the
// default number of retries waits 1.6 seconds at the least, 3.3 at the most.
func TestServerComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPipes()
		created := 0
		p.serve(t, func(w http.ResponseWriter, r *http.Request) { created++ })
		start := time.Now()
		tr := testTransport(t, &Config{Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
			if time.Since(start) < 1500*time.Millisecond {
				return nil, refused()
			}
			return p.dial(ctx, network, address)
		}})
		if code, _ := do(t, tr, newRequest(t, tr, "POST", "/api", "body")); code != 200 || created != 1 {
			t.Errorf("status %d, created %d times", code, created)
		}
	})
}

// HTTP/2: a server that shuts down gracefully finishes what it took, and the rest goes elsewhere.
func TestHTTP2StreamErrorShape(t *testing.T) {
	// net/http converts its own error to a type of the same shape; if that ever ends, this fails.
	synctest.Test(t, func(t *testing.T) {
		p := newPipes()
		p.serve(t, func(w http.ResponseWriter, r *http.Request) { panic(http.ErrAbortHandler) })
		tr := testTransport(t, &Config{Dial: p.dial, Protocols: http2Only(), DisableRetry: true})
		_, err := tr.unary.RoundTrip(newRequest(t, tr, "GET", "/api", ""))
		stream, ok := errors.AsType[http2StreamError](err)
		if !ok || stream.Code != http2InternalError {
			t.Errorf("error = %#v (%t)", err, ok)
		}
	})
}
