package apiserver

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"
)

const (
	readyInterval = 50 * time.Millisecond
	// readyTimeout bounds the start of a server that runs but does not become ready.
	readyTimeout = 2 * time.Minute
)

// readyPaths answer 200 when the server is ready.
var readyPaths = []string{"/readyz", "/api/v1/namespaces/default"}

// waitReady returns when the server is ready. It gives up when the process ends, if it is not
// nil, or when the time is over.
func (s *Server) waitReady(ctx context.Context, p *process) error {
	ctx, cancel := context.WithTimeoutCause(ctx, readyTimeout, fmt.Errorf("it took longer than %v", readyTimeout))
	defer cancel()
	var ended chan struct{} // nil: never
	if p != nil {
		ended = p.ended
	}
	tick := time.NewTicker(readyInterval)
	defer tick.Stop()
	for {
		err := s.ready(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-ended:
			return p.failure(s.Logs())
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready: %w; last answer: %w", s.url, context.Cause(ctx), err)
		}
	}
}

func (s *Server) ready(ctx context.Context) error {
	for _, path := range readyPaths {
		if _, err := s.do(ctx, http.MethodGet, path, nil, http.StatusOK); err != nil {
			return err
		}
	}
	return nil
}

// do makes a request as the admin and returns the body of the answer.
func (s *Server) do(ctx context.Context, method, path string, body io.Reader, want int) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, s.url+path, body)
	if err != nil {
		return nil, err
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := s.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != want {
		return nil, fmt.Errorf("%s %s: %s\n%s", method, path, resp.Status, data)
	}
	return data, nil
}
