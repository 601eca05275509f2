package main

import (
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"
)

// handlerOf returns the handler of a server, with a line per request if the flags say so.
func handlerOf(server http.Handler, cfg *devConfig, log io.Writer) http.Handler {
	if !cfg.requests {
		return server
	}
	return &requestLog{server: server, out: log}
}

// requestLog writes a line for each request, when it has been answered. A watch has one more,
// when it begins.
type requestLog struct {
	server http.Handler
	mu     sync.Mutex
	out    io.Writer
}

func (l *requestLog) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	start := time.Now()
	if isWatch(r) {
		l.printf("%s %s begins (%s)\n", r.Method, r.URL.RequestURI(), r.UserAgent())
	}
	counted := &countedResponse{ResponseWriter: w, code: http.StatusOK}
	l.server.ServeHTTP(counted, r)
	l.printf("%s %s %d %d bytes %v (%s)\n", r.Method, r.URL.RequestURI(), counted.code, counted.bytes,
		time.Since(start).Round(10*time.Microsecond), r.UserAgent())
}

func isWatch(r *http.Request) bool {
	watch := r.URL.Query().Get("watch")
	return watch == "true" || watch == "1"
}

func (l *requestLog) printf(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintf(l.out, time.Now().Format("15:04:05.000 ")+format, args...)
}

// countedResponse knows what was answered.
type countedResponse struct {
	http.ResponseWriter
	code  int
	bytes int64
}

func (c *countedResponse) WriteHeader(code int) {
	c.code = code
	c.ResponseWriter.WriteHeader(code)
}

func (c *countedResponse) Write(data []byte) (int, error) {
	n, err := c.ResponseWriter.Write(data)
	c.bytes += int64(n)
	return n, err
}

// Unwrap gives http.ResponseController the connection.
func (c *countedResponse) Unwrap() http.ResponseWriter { return c.ResponseWriter }
