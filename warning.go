package kube

import (
	"log/slog"
	"net/http"
	"sync"

	utilnet "k8s.io/apimachinery/pkg/util/net"
)

// Warning is what an API server has to say beside its answer: a deprecated API that is used, a
// field that it does not know, a policy that will refuse this one day. See
// https://kubernetes.io/blog/2020/09/03/warnings/
type Warning struct {
	// Code is 299, "miscellaneous persistent warning", the only one that API servers send.
	Code int
	// Agent is who warns; usually "-", for unnamed.
	Agent string
	// Text is for humans to read.
	Text string
	// Request is the request that was warned about; zero for [Client.Do].
	Request RequestInfo
}

// warningTransport hands the warnings of responses to a function.
type warningTransport struct {
	next   http.RoundTripper
	handle func(Warning)
}

// RoundTrip implements [http.RoundTripper].
func (t *warningTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := t.next.RoundTrip(req)
	if err != nil {
		return resp, err
	}
	if headers := resp.Header["Warning"]; len(headers) > 0 {
		// What cannot be parsed is no warning, and the rest is still worth having.
		warnings, _ := utilnet.ParseWarningHeaders(headers)
		info, _ := RequestInfoFrom(req.Context())
		for _, w := range warnings {
			if w.Code == 299 && w.Text != "" {
				t.handle(Warning{Code: w.Code, Agent: w.Agent, Text: w.Text, Request: info})
			}
		}
	}
	return resp, nil
}

func warningHandler(c *Config) func(Warning) {
	if c.OnWarning != nil {
		return c.OnWarning
	}
	l := &warningLog{logger: c.Logger, seen: map[string]bool{}}
	return l.log
}

// mostWarnings bounds the memory of warningLog; a server that has more to say than this is
// repeated rather than remembered.
const mostWarnings = 1000

// warningLog logs each text once.
type warningLog struct {
	logger *slog.Logger
	mu     sync.Mutex
	seen   map[string]bool
}

func (l *warningLog) log(w Warning) {
	l.mu.Lock()
	known := l.seen[w.Text]
	if !known && len(l.seen) >= mostWarnings {
		clear(l.seen)
	}
	l.seen[w.Text] = true
	l.mu.Unlock()
	if !known {
		l.logger.Warn("kube: the API server warns", slog.String("warning", w.Text),
			slog.String("verb", w.Request.Verb), slog.String("resource", w.Request.Resource))
	}
}
