package kube

import "context"

// WithoutRetry returns a context whose requests are sent once, whatever [Config.MaxRetries]
// says: for callers that have their own way of trying again, as watchers do.
func WithoutRetry(ctx context.Context) context.Context {
	return context.WithValue(ctx, withoutRetryKey{}, true)
}

type withoutRetryKey struct{}

// triesOnce reports whether requests with ctx are sent once.
func triesOnce(ctx context.Context) bool { return ctx.Value(withoutRetryKey{}) != nil }
