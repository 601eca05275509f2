package kubetest

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/go-kube/kube"
)

// Script is an API server that has no objects, and answers what a test has written down: for
// tests of single requests, where [Server] would be too true to life. Start one with
// [StartScript]. Its methods are safe for concurrent use.
type Script struct {
	t       testing.TB
	serving serving

	mu       sync.Mutex
	expected []*Expectation
	down     chan struct{} // closed in the end
	handling gate
}

// StartScript starts a server that expects nothing yet. When the test ends, every request that
// was expected and did not come is an error.
func StartScript(t testing.TB) *Script {
	t.Helper()
	s := &Script{t: t, down: make(chan struct{})}
	s.serving.handler = s
	t.Cleanup(func() {
		s.serving.close()
		close(s.down)
		s.handling.close()
		s.serving.wait()
		s.checkMet()
	})
	return s
}

// Config returns a new configuration of a client that sends every request once: a test that is
// not about retries should see each. Its connections stay in memory.
func (s *Script) Config() *kube.Config {
	cfg := s.serving.config()
	cfg.DisableRetry = true
	return cfg
}

// Client returns a client with [Script.Config], the same one each time. It is closed when the
// test ends.
func (s *Script) Client() *kube.Client { return s.serving.sharedClient(s.Config()) }

// Expectation is a request that a script expects, and its answer.
type Expectation struct {
	script *Script
	spec   string
	method string
	path   string
	query  url.Values

	// guarded by script.mu
	answer http.HandlerFunc
	body   func(body []byte) error
	left   int // how often it still answers; negative is for ever
	served int
	after  []*Expectation
}

// Expect says that a request will come: "METHOD /path?query". Each query parameter that is
// named has to have that value, one that is named without a value may not be there, and all
// others do not matter. Expectations are met in any order, the oldest first among those that
// a request meets, unless [Expectation.After] says otherwise. Each is for one request, unless
// [Expectation.Times] or [Expectation.Always] says otherwise, and counts from the moment when
// it has an answer: [Expectation.Answer] or one of its siblings comes last.
func (s *Script) Expect(request string) *Expectation {
	s.t.Helper()
	method, target, ok := strings.Cut(request, " ")
	u, err := url.Parse(target)
	if !ok || err != nil || !strings.HasPrefix(target, "/") {
		s.t.Fatalf("kubetest: %q is not of the form METHOD /path?query", request)
	}
	e := &Expectation{script: s, spec: request, method: method, path: u.EscapedPath(), query: u.Query(), left: 1}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expected = append(s.expected, e)
	return e
}

func (e *Expectation) set(change func()) *Expectation {
	e.script.mu.Lock()
	defer e.script.mu.Unlock()
	change()
	return e
}

// Times makes it expect n requests.
func (e *Expectation) Times(n int) *Expectation { return e.set(func() { e.left = n }) }

// Always makes it answer any number of requests, none included.
func (e *Expectation) Always() *Expectation { return e.Times(-1) }

// After makes it be met only after each of others has been met at least once.
func (e *Expectation) After(others ...*Expectation) *Expectation {
	return e.set(func() { e.after = append(e.after, others...) })
}

// Body has check look at the body of the request. What it says is wrong fails the test.
func (e *Expectation) Body(check func(body []byte) error) *Expectation {
	return e.set(func() { e.body = check })
}

// Served returns how many requests it has answered.
func (e *Expectation) Served() (n int) {
	e.set(func() { n = e.served })
	return n
}

// Answer answers with h.
func (e *Expectation) Answer(h http.HandlerFunc) *Expectation {
	return e.set(func() { e.answer = h })
}

// Object answers with an object, in the encoding that the client prefers: a pointer to a type
// of k8s.io/api, or anything else that has apiVersion and kind set.
func (e *Expectation) Object(code int, obj runtime.Object) *Expectation {
	return e.Answer(func(w http.ResponseWriter, r *http.Request) { e.script.write(w, r, code, obj) })
}

// Status answers with a Status that says failure. retryAfter, if it is not zero, becomes a
// Retry-After header, rounded up to seconds.
func (e *Expectation) Status(code int, reason metav1.StatusReason, message string, retryAfter time.Duration) *Expectation {
	status := &metav1.Status{Status: metav1.StatusFailure, Code: int32(code), Reason: reason, Message: message}
	return e.Answer(func(w http.ResponseWriter, r *http.Request) {
		if retryAfter > 0 {
			w.Header().Set("Retry-After", fmt.Sprint(int64((retryAfter+time.Second-1)/time.Second)))
		}
		e.script.write(w, r, code, status)
	})
}

// List answers with a list of items at a resource version; next is the continue token, empty
// on the last page. The items are of one kind, whose name the list has with List behind it.
func (e *Expectation) List(resourceVersion, next string, items ...runtime.Object) *Expectation {
	return e.Answer(func(w http.ResponseWriter, r *http.Request) {
		data, m, err := encodeItems(r, metav1.ListMeta{ResourceVersion: resourceVersion, Continue: next}, items)
		e.script.send(w, m, http.StatusOK, data, err)
	})
}

// Watch answers with a watch that the test drives.
func (e *Expectation) Watch() *ScriptWatch {
	w := &ScriptWatch{script: e.script, more: make(chan struct{}, 1)}
	e.Answer(w.serve)
	return w
}

// ServeHTTP implements [http.Handler].
func (s *Script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !s.handling.enter() {
		return
	}
	defer s.handling.leave()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client is gone
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	e := s.find(r)
	if e == nil {
		s.t.Errorf("kubetest: unexpected request %s %s%s", r.Method, r.URL.RequestURI(), s.nearest(r))
		s.write(w, r, http.StatusNotImplemented, &metav1.Status{
			Status: metav1.StatusFailure, Code: http.StatusNotImplemented, Message: "the test does not expect this request",
		})
		return
	}
	if e.body != nil {
		if err := e.body(body); err != nil {
			s.t.Errorf("kubetest: the body of %s %s: %v", r.Method, r.URL.RequestURI(), err)
		}
	}
	e.answer(w, r)
}

// find returns the expectation that a request meets, and counts it.
func (s *Script) find(r *http.Request) *Expectation {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.expected {
		if e.answer == nil || e.left == 0 || !e.due() || e.mismatch(r) != "" {
			continue
		}
		e.served++
		if e.left > 0 {
			e.left--
		}
		return e
	}
	return nil
}

// due reports whether what has to come before has come. The caller holds script.mu.
func (e *Expectation) due() bool {
	return !slices.ContainsFunc(e.after, func(other *Expectation) bool { return other.served == 0 })
}

// mismatch says in what a request differs from the expectation.
func (e *Expectation) mismatch(r *http.Request) string {
	switch {
	case e.method != r.Method:
		return "method"
	case e.path != r.URL.EscapedPath():
		return "path"
	}
	query := r.URL.Query()
	for name, want := range e.query {
		if query.Get(name) != want[0] {
			return fmt.Sprintf("query parameter %s is %q, expected is %q", name, query.Get(name), want[0])
		}
	}
	return ""
}

// nearest says which expectation a request misses closely, and why.
func (s *Script) nearest(r *http.Request) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.expected {
		if e.method != r.Method || e.path != r.URL.EscapedPath() {
			continue
		}
		why := e.mismatch(r)
		switch {
		case why != "":
		case e.answer == nil:
			why = "it has no answer"
		case e.left == 0:
			why = "it has been met as often as it may be"
		default:
			why = "what it comes after has not come"
		}
		return fmt.Sprintf("; it does not meet %q: %s", e.spec, why)
	}
	return ""
}

// checkMet fails the test for each expectation that was not met.
func (s *Script) checkMet() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.expected {
		switch {
		case e.answer == nil:
			s.t.Errorf("kubetest: the expected request %q has no answer", e.spec)
		case e.left > 0:
			s.t.Errorf("kubetest: the expected request %q did not come (%d more expected)", e.spec, e.left)
		}
	}
}

// write answers with an object.
func (s *Script) write(w http.ResponseWriter, r *http.Request, code int, obj runtime.Object) {
	data, m, err := encodeFor(r, obj)
	s.send(w, m, code, data, err)
}

func (s *Script) send(w http.ResponseWriter, m media, code int, data []byte, err error) {
	if err != nil {
		s.t.Errorf("kubetest: encode an answer: %v", err)
		code, data = http.StatusInternalServerError, nil
	}
	w.Header().Set("Content-Type", m.format.String())
	w.WriteHeader(code)
	w.Write(data)
}
