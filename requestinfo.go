package kube

import (
	"context"
	"sync/atomic"
)

// RequestInfo says what a request asks of the API server, in Kubernetes' words rather than
// HTTP's. Every request of a [Client] carries one in its context, so that a middleware (see
// [Config.Wrap]) can name a span, label a metric or record which permissions a program uses,
// without taking the URL apart.
type RequestInfo struct {
	// Verb is the API verb as RBAC names it: get, list, watch, create, update, patch,
	// delete or deletecollection.
	Verb string
	// Group, Version and Resource name the kind by its path: "", "v1", "pods". The core group
	// is the empty string.
	Group, Version, Resource string
	// Subresource is "status", "scale", "eviction", …; empty for the object itself.
	Subresource string
	// Namespace is empty for cluster-scoped kinds and for requests over all namespaces.
	Namespace string
	// Name is empty for requests on a collection.
	Name string
	// Attempts is how often the request has been sent when the info was read: 1 after an
	// answer that came without a retry. A middleware of [Config.Wrap] stands outside of the
	// retries, and reads the total when the round trip has returned.
	Attempts int
}

// RequestInfoFrom returns what the request that ctx belongs to is about; ok is false for a
// context that does not come from a request of a [Client], and for [Client.Do].
func RequestInfoFrom(ctx context.Context) (info RequestInfo, ok bool) {
	c := requestContextFrom(ctx)
	if c == nil {
		return RequestInfo{}, false
	}
	info = c.info
	info.Attempts = int(c.attempts.Load())
	return info, true
}

// requestContext is a context that carries a RequestInfo and counts the attempts made for it:
// one allocation where context.WithValue and a pointer would be two.
type requestContext struct {
	context.Context
	info     RequestInfo
	attempts atomic.Int32
}

type requestInfoKey struct{}

// Value implements context.Context.
func (c *requestContext) Value(key any) any {
	if key == (requestInfoKey{}) {
		return c
	}
	return c.Context.Value(key)
}

// withRequestInfo returns a context for one request, however often it is sent.
func withRequestInfo(ctx context.Context, info RequestInfo) context.Context {
	return &requestContext{Context: ctx, info: info}
}

func requestContextFrom(ctx context.Context) *requestContext {
	c, _ := ctx.Value(requestInfoKey{}).(*requestContext)
	return c
}
