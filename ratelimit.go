package kube

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"sync"
	"time"
)

// RateLimit returns a middleware for [Config.Wrap] that lets perSecond requests begin each second,
// and burst of them at once after a pause. Requests over the limit wait for their turn, in the
// order in which they came. One whose deadline comes before its turn fails at once; one that is
// cancelled while it waits keeps its turn from the others.
//
// No client limits its rate without being told: API servers protect themselves, fairer than
// clients can (see https://kubernetes.io/docs/concepts/cluster-administration/flow-control/). A
// repetition of a request, see [RetryInfo], waits by its own rules and is not counted. Clients
// whose Config has the same middleware share its limit.
func RateLimit(perSecond float64, burst int) (func(http.RoundTripper) http.RoundTripper, error) {
	interval := float64(time.Second) / perSecond
	switch {
	case !(perSecond > 0) || math.IsInf(perSecond, 1):
		return nil, fmt.Errorf("kube: RateLimit of %v requests per second; it has to be more than none, and finite", perSecond)
	case burst < 1:
		return nil, fmt.Errorf("kube: RateLimit with a burst of %d; it has to be 1 at least", burst)
	case interval*float64(burst) > math.MaxInt64/2:
		return nil, fmt.Errorf("kube: RateLimit of %v requests per second with a burst of %d is more than can be counted", perSecond, burst)
	}
	l := &rateLimit{interval: time.Duration(interval)}
	l.slack = time.Duration(burst-1) * l.interval
	return func(next http.RoundTripper) http.RoundTripper { return &limitedTransport{next, l} }, nil
}

// rateLimit says when a request may begin.
type rateLimit struct {
	interval, slack time.Duration
	mu              sync.Mutex
	// free is when the next request could begin if none were allowed to be early.
	free time.Time
}

// reserve takes a turn, and returns how long it is until then. A turn that comes after deadline,
// if there is one, is not taken.
func (l *rateLimit) reserve(now, deadline time.Time) (wait time.Duration, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	free := l.free
	if free.Before(now) {
		free = now
	}
	wait = max(free.Add(-l.slack).Sub(now), 0)
	if !deadline.IsZero() && now.Add(wait).After(deadline) {
		return wait, false
	}
	l.free = free.Add(l.interval)
	return wait, true
}

type limitedTransport struct {
	next  http.RoundTripper
	limit *rateLimit
}

// RoundTrip implements [http.RoundTripper].
func (t *limitedTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := t.limit.wait(req.Context()); err != nil {
		if req.Body != nil {
			req.Body.Close()
		}
		return nil, err
	}
	return t.next.RoundTrip(req)
}

func (l *rateLimit) wait(ctx context.Context) error {
	deadline, _ := ctx.Deadline()
	wait, ok := l.reserve(time.Now(), deadline)
	switch {
	case !ok:
		return fmt.Errorf("kube: the turn of this request by RateLimit is in %s, after its deadline: %w", wait, context.DeadlineExceeded)
	case wait == 0:
		return nil
	}
	if err := sleep(ctx, wait); err != nil {
		return fmt.Errorf("%w while waiting %s for RateLimit", err, wait)
	}
	return nil
}
