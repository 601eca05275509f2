package kube

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptrace"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

const (
	defaultMaxRetries = 10
	firstBackoff      = 5 * time.Millisecond
	lastBackoff       = time.Second
	// longestRetryAfter is how long a request may be held up because a server asks for it. What
	// asks for more is answered to the caller, who has to know.
	longestRetryAfter = time.Minute
	// loudAttempt is from which attempt on a retry is more than a hiccup.
	loudAttempt = 3
)

// RetryInfo describes an attempt that failed and will be repeated.
//
// A request is repeated, whatever its method, when the server did not begin with it: it answered
// 429, or the connection failed before the request was sent. It is repeated after 502, 503, 504,
// 500 with a Retry-After, and after a connection that was lost later, only when doing it twice is
// the same as doing it once: reads, server-side apply, and dry runs. Create, replace, delete and
// the other patches are not: what they did the first time would come back as a conflict, as
// "already exists" or "not found", and hide that the call had worked. An eviction is not repeated
// after 429 either, which there means that a disruption budget says no.
//
// The wait is what Retry-After asks for, or a backoff from 5 ms, doubling up to 1 s, if that is
// longer; both with jitter. A wait that would end after the context's deadline (after
// [Config.Timeout] if it has none) or that would take more than a minute is not begun: the
// last answer or error is returned at once.
type RetryInfo struct {
	// Request says what is being asked; zero for [Client.Do].
	Request RequestInfo
	// Method and Path are those of the HTTP request.
	Method, Path string
	// Attempt counts from 1: the attempt that failed.
	Attempt int
	// Status is the HTTP status of the answer; 0 if there was none, and then Err says why.
	Status int
	Err    error
	// Delay is the wait that follows.
	Delay time.Duration
}

// LogValue implements [slog.LogValuer].
func (i RetryInfo) LogValue() slog.Value {
	attrs := []slog.Attr{
		slog.String("method", i.Method), slog.String("path", i.Path),
		slog.Int("attempt", i.Attempt), slog.Duration("delay", i.Delay),
	}
	if i.Err != nil {
		return slog.GroupValue(append(attrs, slog.Any("error", i.Err))...)
	}
	return slog.GroupValue(append(attrs, slog.Int("status", i.Status))...)
}

// reason is why the attempt has to be repeated.
func (i RetryInfo) reason() string {
	if i.Err != nil {
		return i.Err.Error()
	}
	return fmt.Sprintf("%d %s", i.Status, http.StatusText(i.Status))
}

// retryTransport repeats requests, see [RetryInfo]. It also marks the errors of requests of
// which nothing was sent, for [CanRetry].
type retryTransport struct {
	next    http.RoundTripper
	max     int
	timeout time.Duration
	logger  *slog.Logger
	onRetry func(RetryInfo)
}

func newRetryTransport(c *Config, next http.RoundTripper) *retryTransport {
	return &retryTransport{next: next, max: c.MaxRetries, timeout: c.Timeout, logger: c.Logger, onRetry: c.OnRetry}
}

// RoundTrip implements [http.RoundTripper].
func (t *retryTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx := req.Context()
	info := requestContextFrom(ctx)
	deadline := t.deadline(ctx)
	for attempt := 1; ; attempt++ {
		if info != nil {
			info.attempts.Add(1)
		}
		resp, err := t.attempt(req)
		if !t.worthRetrying(req, resp, err, attempt) {
			return resp, err
		}
		delay := delayBefore(attempt, resp)
		if delay > longestRetryAfter+lastBackoff || !deadline.IsZero() && !time.Now().Add(delay).Before(deadline) {
			return resp, err
		}
		failed := failedAttempt(req, info, attempt, resp, err, delay)
		t.report(ctx, failed)
		discard(resp)
		if err := sleep(ctx, delay); err != nil {
			return nil, fmt.Errorf("%w while waiting to repeat the request after: %s", err, failed.reason())
		}
		if req, err = again(req); err != nil {
			return nil, err
		}
	}
}

// deadline is when the last attempt has to have begun; zero if never.
func (t *retryTransport) deadline(ctx context.Context) time.Time {
	if d, ok := ctx.Deadline(); ok {
		return d
	}
	if t.timeout > 0 {
		return time.Now().Add(t.timeout)
	}
	return time.Time{}
}

// attempt sends req once.
func (t *retryTransport) attempt(req *http.Request) (*http.Response, error) {
	if repeatable(req) {
		// It does not matter whether something was sent: no need to watch for it.
		resp, err := t.next.RoundTrip(req)
		if err != nil && req.Context().Err() == nil && neverSent(err) {
			err = &unsentError{err}
		}
		return resp, err
	}
	var sent atomic.Bool
	trace := &httptrace.ClientTrace{WroteHeaders: func() { sent.Store(true) }}
	resp, err := t.next.RoundTrip(req.WithContext(httptrace.WithClientTrace(req.Context(), trace)))
	if err != nil && req.Context().Err() == nil && lostConnection(err) && (!sent.Load() || neverSent(err)) {
		err = &unsentError{err}
	}
	return resp, err
}

func (t *retryTransport) worthRetrying(req *http.Request, resp *http.Response, err error, attempt int) bool {
	if attempt > t.max || !replayable(req) || req.Context().Err() != nil || triesOnce(req.Context()) {
		return false
	}
	if err != nil {
		return nothingSent(err) || repeatable(req) && lostConnection(err)
	}
	switch resp.StatusCode {
	case http.StatusTooManyRequests:
		return !isEviction(req)
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return repeatable(req)
	case http.StatusInternalServerError:
		return repeatable(req) && resp.Header.Get("Retry-After") != ""
	}
	return false
}

func (t *retryTransport) report(ctx context.Context, i RetryInfo) {
	level := slog.LevelDebug
	if i.Attempt >= loudAttempt {
		level = slog.LevelWarn
	}
	t.logger.LogAttrs(ctx, level, "kube: repeating a request", slog.Any("request", i))
	if t.onRetry != nil {
		t.onRetry(i)
	}
}

func failedAttempt(req *http.Request, info *requestContext, attempt int, resp *http.Response, err error, delay time.Duration) RetryInfo {
	i := RetryInfo{Method: req.Method, Path: req.URL.Path, Attempt: attempt, Err: err, Delay: delay}
	if info != nil {
		i.Request, _ = RequestInfoFrom(info)
	}
	if resp != nil {
		i.Status = resp.StatusCode
	}
	return i
}

// repeatable reports whether doing req twice is the same as doing it once.
func repeatable(req *http.Request) bool {
	switch req.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions, "":
		return true
	case http.MethodPatch:
		if strings.HasPrefix(req.Header.Get("Content-Type"), "application/apply-patch+") {
			return true
		}
	}
	return isDryRun(req)
}

func isDryRun(req *http.Request) bool {
	return strings.Contains(req.URL.RawQuery, "dryRun=") && req.URL.Query().Get("dryRun") == "All"
}

func isEviction(req *http.Request) bool {
	return req.Method == http.MethodPost && strings.HasSuffix(req.URL.Path, "/eviction")
}

// replayable reports whether the body can be sent a second time.
func replayable(req *http.Request) bool {
	return req.Body == nil || req.Body == http.NoBody || req.GetBody != nil
}

// again returns req with a fresh body.
func again(req *http.Request) (*http.Request, error) {
	if req.GetBody == nil {
		return req, nil
	}
	body, err := req.GetBody()
	if err != nil {
		return nil, fmt.Errorf("repeating the request: %w", err)
	}
	req = req.WithContext(req.Context())
	req.Body = body
	return req, nil
}

// delayBefore returns how long to wait after a failed attempt. Jitter keeps clients that failed
// together from coming back together: a backoff is cut by up to half, a Retry-After prolonged.
func delayBefore(attempt int, resp *http.Response) time.Duration {
	backoff := lastBackoff
	if shift := attempt - 1; shift < 8 {
		backoff = min(firstBackoff<<shift, lastBackoff)
	}
	jitter := rand.N(backoff/2 + 1)
	if resp != nil {
		if told, ok := parseRetryAfter(resp.Header, time.Now()); ok && told >= backoff-jitter {
			return told + jitter
		}
	}
	return backoff - jitter
}

// parseRetryAfter reads the Retry-After header, in seconds or as a date (RFC 9110, 10.2.3). A
// date in the past, or a negative number, says zero.
func parseRetryAfter(h http.Header, now time.Time) (d time.Duration, ok bool) {
	v := strings.TrimSpace(h.Get("Retry-After"))
	if v == "" {
		return 0, false
	}
	if seconds, err := strconv.ParseInt(v, 10, 64); err == nil {
		const most = int64(1<<63-1) / int64(time.Second)
		return time.Duration(min(max(seconds, 0), most)) * time.Second, true
	}
	if date, err := http.ParseTime(v); err == nil {
		return max(date.Sub(now), 0), true
	}
	return 0, false
}

// sleep waits, and returns the context's error if that ends first.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// unsentError marks the error of a request of which the server has seen nothing.
type unsentError struct{ err error }

func (e *unsentError) Error() string { return e.err.Error() }
func (e *unsentError) Unwrap() error { return e.err }

// nothingSent reports whether err is the passing failure of a connection over which the
// request was not sent: sending it again cannot do anything twice, and may well work.
func nothingSent(err error) bool {
	var e *unsentError
	return errors.As(err, &e)
}
