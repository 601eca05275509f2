package kube

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-kube/kube/kubeconfig"
)

const (
	// refreshMargin is how long before its end a credential is replaced.
	refreshMargin = time.Minute
	// refreshSpacing keeps a source whose credentials have ended already when they are handed
	// out, by its clock or ours, from being asked for every request.
	refreshSpacing = time.Second
)

// sourced is credentials that a function hands out.
type sourced struct {
	source kubeconfig.CredentialFunc
	logger *slog.Logger
	// tokenOnly says why certificates are of no use; empty where they are.
	tokenOnly string

	held atomic.Pointer[holding]

	mu     sync.Mutex // guards what follows, and replacing held
	flight *flight
}

// holding is a credential in use. It never changes.
type holding struct {
	identity
	credential *kubeconfig.Credential
	refreshAt  time.Time // zero: when the server refuses it
}

// flight is a call of the source. Whoever needs its result waits for done.
type flight struct {
	done chan struct{}
	err  error
}

func (s *sourced) current(ctx context.Context) (*identity, error) {
	h := s.held.Load()
	if h != nil && (h.refreshAt.IsZero() || time.Now().Before(h.refreshAt)) {
		return &h.identity, nil
	}
	if h != nil && h.good() && s.isFlying() {
		// One request waits for the next credential; those beside it use the one that is
		// good still.
		return &h.identity, nil
	}
	next, err := s.after(ctx, h)
	if err != nil && h != nil && h.good() {
		s.logger.Warn("kube: credentials cannot be refreshed, going on with the previous ones", slog.Any("error", err))
		return &h.identity, nil
	}
	if err != nil {
		return nil, err
	}
	return &next.identity, nil
}

func (s *sourced) renewed(ctx context.Context, used *identity) (*identity, error) {
	h := s.held.Load()
	if h == nil || &h.identity != used {
		return s.current(ctx)
	}
	next, err := s.after(ctx, h)
	if err != nil {
		return nil, err
	}
	if next.credential == h.credential {
		return nil, nil
	}
	return &next.identity, nil
}

func (h *holding) good() bool {
	return h.credential.Expires.IsZero() || time.Now().Before(h.credential.Expires)
}

func (s *sourced) isFlying() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.flight != nil
}

// after returns what follows old. All that ask at the same time wait for one call of the source.
func (s *sourced) after(ctx context.Context, old *holding) (*holding, error) {
	s.mu.Lock()
	if h := s.held.Load(); h != old {
		s.mu.Unlock()
		return h, nil
	}
	f := s.flight
	if f == nil {
		f = &flight{done: make(chan struct{})}
		s.flight = f
		go s.fly(context.WithoutCancel(ctx), f, old)
	}
	s.mu.Unlock()
	select {
	case <-f.done:
	case <-ctx.Done():
		return nil, fmt.Errorf("%w while waiting for credentials", context.Cause(ctx))
	}
	if f.err != nil {
		return nil, f.err
	}
	return s.held.Load(), nil
}

// fly calls the source. A login that a person has to click through takes longer than most
// requests may, so it does not end with the request that asked first.
func (s *sourced) fly(ctx context.Context, f *flight, old *holding) {
	var rejected *kubeconfig.Credential
	if old != nil {
		rejected = old.credential
	}
	next, err := s.ask(ctx, rejected)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		s.held.Store(next)
	}
	f.err, s.flight = err, nil
	close(f.done)
}

func (s *sourced) ask(ctx context.Context, rejected *kubeconfig.Credential) (next *holding, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("credentials: panic: %v", p)
		}
	}()
	c, err := s.source(ctx, rejected)
	if err != nil {
		return nil, fmt.Errorf("credentials: %w", err)
	}
	if c != nil && c.Warning != nil {
		s.logger.Warn("kube: credentials were handed out with a warning", slog.Any("error", c.Warning))
	}
	if next, err = hold(c, time.Now()); err == nil && next.header == "" && s.tokenOnly != "" {
		return nil, fmt.Errorf("credentials: a client certificate and no token was handed out, which cannot be used: %s", s.tokenOnly)
	}
	return next, err
}

func hold(c *kubeconfig.Credential, now time.Time) (*holding, error) {
	if c == nil || c.Token == "" && len(c.Certificate) == 0 {
		return nil, errors.New("credentials: Config.Credentials handed out neither a token nor a certificate")
	}
	h := &holding{credential: c, identity: identity{cert: c.Certificate, key: c.Key}}
	if c.Token != "" {
		if err := checkToken([]byte(c.Token)); err != nil {
			return nil, fmt.Errorf("credentials: the token %w", err)
		}
		h.header = "Bearer " + string(c.Token)
	}
	if !c.Expires.IsZero() {
		margin := min(refreshMargin, c.Expires.Sub(now)/5)
		h.refreshAt = c.Expires.Add(-margin)
		if earliest := now.Add(refreshSpacing); h.refreshAt.Before(earliest) {
			h.refreshAt = earliest
		}
	}
	return h, nil
}
