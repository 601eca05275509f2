package kubetest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Match says which requests a fault is for. The zero value is for all.
type Match struct {
	// Verbs are Kubernetes' verbs: get, list, watch, create, update, patch, delete and
	// deletecollection. Empty is every verb, and requests that are not about objects, too.
	Verbs []string
	// Resource is the plural name of a kind, with its group or without: "pods",
	// "deployments.apps". Empty is every one.
	Resource string
	// Subresource is a subresource such as "status"; empty is every one, and none.
	Subresource string
	// Namespace and Name are those of the object; empty is every one.
	Namespace, Name string
	// If decides about requests that the other fields do not rule out, unless it is nil.
	If func(Request) bool
	// Times is how often the fault happens; zero is until it is removed. What is counted are
	// requests, or the events of watches for actions on events.
	Times int
}

func (m *Match) covers(r *Request) bool {
	switch {
	case len(m.Verbs) > 0 && !slices.Contains(m.Verbs, r.Verb):
		return false
	case m.Resource != "" && m.Resource != r.Resource && m.Resource != strings.TrimSuffix(r.Resource+"."+r.Group, "."):
		return false
	case m.Subresource != "" && m.Subresource != r.Subresource:
		return false
	case m.Namespace != "" && m.Namespace != r.Namespace:
		return false
	case m.Name != "" && m.Name != r.Name:
		return false
	}
	return m.If == nil || m.If(*r)
}

// Action is what goes wrong. Functions of this package make them: [Refuse], [Cut], [Lose],
// [Delay], [Conflict] and [Stale] for requests, [CutAfter], [Drop], [Duplicate], [Reorder] and
// [DelayEvents] for the events of watches. The zero value does nothing.
type Action struct {
	request func(rq *request) error // before the request is looked at
	lose    bool
	lag     uint64
	cut     bool
	event   eventFault
}

// Fault is something that goes wrong, from [Server.Fault].
type Fault struct {
	server *Server
	match  Match
	action Action

	// guarded by server.faults.mu
	count   int
	removed bool
}

// faults are the faults of a server.
type faults struct {
	mu      sync.Mutex
	list    []*Fault
	streams map[*watchStream]struct{}
}

// Fault makes something go wrong with the requests that match, from now on and until it has
// happened as often as match says, or is removed. Where several faults match a request, all
// of them happen, in the order in which they were made, until one of them ends the request.
// Faults of watches and their events concern the watches that are open, too.
func (s *Server) Fault(match Match, action Action) *Fault {
	match.Verbs = slices.Clone(match.Verbs)
	f := &Fault{server: s, match: match, action: action}
	s.faults.mu.Lock()
	defer s.faults.mu.Unlock()
	s.faults.list = append(s.faults.list, f)
	if action.cut {
		for stream := range s.faults.streams {
			if f.hits(stream.rq.recorded) {
				stream.cut()
			}
		}
	}
	return f
}

// Remove ends the fault.
func (f *Fault) Remove() {
	f.server.faults.mu.Lock()
	defer f.server.faults.mu.Unlock()
	f.removed = true
	f.server.faults.tidy()
}

// Count returns how often the fault has happened.
func (f *Fault) Count() int {
	f.server.faults.mu.Lock()
	defer f.server.faults.mu.Unlock()
	return f.count
}

// hits reports whether the fault happens to a request, and counts it then. The caller holds
// faults.mu.
func (f *Fault) hits(r *Request) bool {
	if f.over() || !f.match.covers(r) {
		return false
	}
	f.count++
	return true
}

func (f *Fault) over() bool {
	return f.removed || f.match.Times > 0 && f.count >= f.match.Times
}

// tidy forgets the faults that are over. The caller holds mu.
func (l *faults) tidy() { l.list = slices.DeleteFunc(l.list, (*Fault).over) }

// of returns the actions for a request that are not about events.
func (l *faults) of(r *Request) []Action {
	l.mu.Lock()
	defer l.mu.Unlock()
	var actions []Action
	for _, f := range l.list {
		if f.action.event == nil && f.hits(r) {
			actions = append(actions, f.action)
		}
	}
	l.tidy()
	return actions
}

// suffer has happen to a request what the faults say. It returns the writer to answer to, and
// the error to answer with in place of everything else.
func (rq *request) suffer(w http.ResponseWriter) (http.ResponseWriter, error) {
	for _, a := range rq.server.faults.of(rq.recorded) {
		rq.lag = max(rq.lag, a.lag)
		if a.lose {
			w = &lostAnswer{ResponseWriter: w, header: http.Header{}}
		}
		if a.cut {
			panic(http.ErrAbortHandler)
		}
		if a.request == nil {
			continue
		}
		if err := a.request(rq); err != nil {
			return w, err
		}
	}
	return w, nil
}

// lostAnswer takes an answer, and brings it nowhere.
type lostAnswer struct {
	http.ResponseWriter
	header http.Header
}

// Header implements http.ResponseWriter.
func (l *lostAnswer) Header() http.Header { return l.header }

// Write implements http.ResponseWriter.
func (l *lostAnswer) Write(data []byte) (int, error) { return len(data), nil }

// WriteHeader implements http.ResponseWriter. It only notes the code.
func (l *lostAnswer) WriteHeader(code int) {
	if c, ok := l.ResponseWriter.(*codeWriter); ok && c.code == 0 {
		c.code = code
		c.note(code)
	}
}

// Flush implements http.Flusher.
func (l *lostAnswer) Flush() {}

// lose cuts the connection.
func (l *lostAnswer) lose() { panic(http.ErrAbortHandler) }

// Cut cuts the connection: before the request is looked at, so nothing has happened; and of
// watches that are open, at once.
func Cut() Action { return Action{cut: true} }

// Lose does what is asked, and cuts the connection in place of an answer.
func Lose() Action { return Action{lose: true} }

// Delay waits before the request is looked at.
func Delay(d time.Duration) Action {
	return Action{request: func(rq *request) error {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
			return nil
		case <-rq.ctx.Done():
			return rq.ctx.Err()
		case <-rq.server.down():
			return errDown
		}
	}}
}

// Refuse answers with a Status: an HTTP status code such as 410, 429 or 500, a reason such as
// metav1.StatusReasonExpired, and a message. A message that is empty is made up. retryAfter, if
// it is not zero, is sent along, rounded up to seconds.
func Refuse(code int, reason metav1.StatusReason, message string, retryAfter time.Duration) Action {
	if message == "" {
		message = fmt.Sprintf("refused by a fault of the test: %s", http.StatusText(code))
	}
	status := metav1.Status{Status: metav1.StatusFailure, Code: int32(code), Reason: reason, Message: message}
	if retryAfter > 0 {
		status.Details = &metav1.StatusDetails{RetryAfterSeconds: int32((retryAfter + time.Second - 1) / time.Second)}
	}
	return Action{request: func(*request) error { return &statusError{status} }}
}

// Conflict answers a write with 409, as if somebody else had just changed the object.
func Conflict() Action {
	return Action{request: func(rq *request) error {
		if rq.kind == nil {
			return nil
		}
		switch rq.verb {
		case verbUpdate, verbPatch, verbDelete, verbCreate:
			return rq.outdated()
		}
		return nil
	}}
}

// Stale answers as a server does that is behind by a number of changes, of whatever objects: gets and
// lists with a resourceVersion that allows it ("0", or not older than a version that is old
// enough) show what was, and watches do not tell yet what has changed since. Reads without a
// resourceVersion are never stale, as they are not with a real server. It goes back no
// further than what the server remembers.
func Stale(changes int) Action { return Action{lag: uint64(max(changes, 0))} }
