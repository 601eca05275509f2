package kubetest

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"
)

// Request is a request that a server got.
type Request struct {
	// Time is when it came.
	Time time.Time
	// Method, Path, Query, Header and Body are what was sent. The body of a request that
	// has none, or one that is too large for a server, is nil.
	Method string
	Path   string
	Query  url.Values
	Header http.Header
	Body   []byte
	// Verb is Kubernetes' verb: get, list, watch, create, update, patch, delete or
	// deletecollection. It is empty, as all that follows, where the path is not about objects.
	Verb string
	// Group, Version, Resource, Namespace, Name and Subresource are what the path says.
	Group, Version, Resource string
	Namespace, Name          string
	Subresource              string
	// Code is the HTTP status of the answer, 0 while there is none. It is the code that the
	// server meant where a fault lost the answer.
	Code int
}

// maxRecorded is how many requests a server remembers.
const maxRecorded = 10_000

// recorder remembers requests.
type recorder struct {
	logger *slog.Logger

	mu       sync.Mutex
	requests []*Request
}

// Requests returns the requests that came so far, oldest first; of more than 10000, the last
// ones. They are copies as far as the fields go; what they point to must not be changed.
func (s *Server) Requests() []Request {
	s.recorder.mu.Lock()
	defer s.recorder.mu.Unlock()
	requests := make([]Request, len(s.recorder.requests))
	for i, r := range s.recorder.requests {
		requests[i] = *r
	}
	return requests
}

// ForgetRequests makes [Server.Requests] start anew.
func (s *Server) ForgetRequests() {
	s.recorder.mu.Lock()
	defer s.recorder.mu.Unlock()
	s.recorder.requests = nil
}

// record records a request. done has to be called when it has been answered to the writer.
func (rq *request) record(w http.ResponseWriter) (writer http.ResponseWriter, done func()) {
	c := &rq.server.recorder
	rq.recorded = newRecord(rq)
	c.add(rq.recorded)
	cw := &codeWriter{ResponseWriter: w, note: func(code int) { c.note(rq.recorded, code) }}
	return cw, func() { c.log(rq.recorded, cw.code) }
}

// newRecord describes a request. It reads the body, and puts another one with the same content
// in its place.
func newRecord(rq *request) *Request {
	r := rq.http
	rec := &Request{
		Time: time.Now(), Method: r.Method, Path: r.URL.Path, Query: rq.query, Header: r.Header.Clone(), Body: peekBody(r),
		Group: rq.group, Version: rq.version, Resource: rq.resource,
		Namespace: rq.namespace, Name: rq.name, Subresource: rq.subresource,
	}
	if rq.resource != "" {
		rec.Verb = rq.verb
	}
	if watch, err := strconv.ParseBool(rq.query.Get("watch")); err == nil && watch && rq.verb == verbList {
		rec.Verb = verbWatch
	}
	return rec
}

func (c *recorder) add(rec *Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.requests) >= maxRecorded {
		c.requests = append([]*Request(nil), c.requests[maxRecorded/10:]...)
	}
	c.requests = append(c.requests, rec)
}

func peekBody(r *http.Request) []byte {
	if r.Body == nil || r.Body == http.NoBody {
		return nil
	}
	data, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	rest := io.Reader(r.Body)
	if err != nil {
		rest = errorReader{err}
	}
	r.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(data), rest), r.Body}
	if err != nil || len(data) == 0 || len(data) > maxBody {
		return nil
	}
	return data
}

// errorReader fails.
type errorReader struct{ err error }

func (r errorReader) Read([]byte) (int, error) { return 0, r.err }

// note keeps the code of an answer.
func (c *recorder) note(rec *Request, code int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	rec.Code = code
}

func (c *recorder) log(rec *Request, code int) {
	c.logger.Info("request", "method", rec.Method, "path", rec.Path, "query", rec.Query.Encode(),
		"code", code, "duration", time.Since(rec.Time), "client", rec.Header.Get("User-Agent"))
}

// codeWriter notes the code of an answer.
type codeWriter struct {
	http.ResponseWriter
	code int
	note func(code int)
}

// WriteHeader implements http.ResponseWriter.
func (w *codeWriter) WriteHeader(code int) {
	if w.code == 0 {
		w.code = code
		w.note(code)
	}
	w.ResponseWriter.WriteHeader(code)
}

// Write implements http.ResponseWriter.
func (w *codeWriter) Write(data []byte) (int, error) {
	if w.code == 0 {
		w.WriteHeader(http.StatusOK)
	}
	return w.ResponseWriter.Write(data)
}

// Unwrap lets http.ResponseController find what the writer can do.
func (w *codeWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
