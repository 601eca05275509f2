package apitest

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Expectation is a request that the test expects, and its answer. It counts from the moment
// when it has an answer: [Expectation.Reply] or one of its siblings comes last.
type Expectation struct {
	server *Server
	spec   string
	method string
	path   string
	query  url.Values

	// guarded by server.mu
	reply  http.Handler
	left   int // how often it still answers; negative is for ever
	served int
	after  *Expectation
}

// Expect says that a request will come: "METHOD /path?query". Every query parameter that is
// named has to be there with that value, and an empty value says that it may not be there;
// others do not matter. Expectations match in any order, the oldest first among equals. Each
// is for one request, unless [Expectation.Times] or [Expectation.Always] says otherwise; one
// that was not met when the test ends fails it.
func (s *Server) Expect(spec string) *Expectation {
	s.t.Helper()
	method, target, ok := strings.Cut(spec, " ")
	u, err := url.Parse(target)
	if !ok || err != nil {
		s.t.Fatalf("apitest: %q is not of the form METHOD /path?query", spec)
	}
	e := &Expectation{server: s, spec: spec, method: method, path: u.EscapedPath(), query: u.Query(), left: 1}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expected = append(s.expected, e)
	return e
}

// Times makes it answer n requests.
func (e *Expectation) Times(n int) *Expectation { return e.set(func() { e.left = n }) }

// Always makes it answer any number of requests, none included.
func (e *Expectation) Always() *Expectation { return e.Times(-1) }

// After makes it match only after other has answered at least once.
func (e *Expectation) After(other *Expectation) *Expectation {
	return e.set(func() { e.after = other })
}

// Served returns how many requests it has answered.
func (e *Expectation) Served() (n int) {
	e.set(func() { n = e.served })
	return n
}

// Reply answers with h.
func (e *Expectation) Reply(h http.HandlerFunc) *Expectation {
	return e.set(func() { e.reply = h })
}

// JSON answers with body encoded as JSON; a string is sent as it is.
func (e *Expectation) JSON(code int, body any) *Expectation {
	data := mustJSON(body)
	return e.Reply(func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, code, data) })
}

// Status answers with a Status that says failure. retryAfter, when not zero, becomes a
// Retry-After header.
func (e *Expectation) Status(code int, reason metav1.StatusReason, message string, retryAfter time.Duration) *Expectation {
	data := mustJSON(failure(code, reason, message))
	return e.Reply(func(w http.ResponseWriter, _ *http.Request) {
		if retryAfter > 0 {
			w.Header().Set("Retry-After", seconds(retryAfter))
		}
		writeJSON(w, code, data)
	})
}

// List answers with a list of items at a resource version; next is the continue token, empty
// on the last page. Items are encoded as protobuf where the server was started so.
func (e *Expectation) List(resourceVersion, next string, items ...any) *Expectation {
	return e.Reply(func(w http.ResponseWriter, r *http.Request) {
		e.server.format(r).writeList(w, resourceVersion, next, items)
	})
}

// Watch answers with a watch that the test drives.
func (e *Expectation) Watch() *Watch {
	w := &Watch{server: e.server, more: make(chan struct{}, 1)}
	e.Reply(w.serve)
	return w
}

func (e *Expectation) set(change func()) *Expectation {
	e.server.mu.Lock()
	defer e.server.mu.Unlock()
	change()
	return e
}

// matches reports whether e answers r. The caller holds server.mu.
func (e *Expectation) matches(r *http.Request, query url.Values) bool {
	if e.reply == nil || e.left == 0 || e.method != r.Method || e.path != r.URL.EscapedPath() {
		return false
	}
	if e.after != nil && e.after.served == 0 {
		return false
	}
	for name, want := range e.query {
		if query.Get(name) != want[0] {
			return false
		}
	}
	return true
}

func failure(code int, reason metav1.StatusReason, message string) *metav1.Status {
	return &metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
		Status:   metav1.StatusFailure, Code: int32(code), Reason: reason, Message: message,
	}
}

func writeJSON(w http.ResponseWriter, code int, data []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	w.Write(data)
}

// mustJSON encodes v as the API server does, with encoding/json.
func mustJSON(v any) []byte {
	if s, ok := v.(string); ok {
		return []byte(s)
	}
	data, err := json.Marshal(v)
	if err != nil {
		panic("apitest: " + err.Error())
	}
	return data
}
