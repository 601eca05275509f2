package otel

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"

	"github.com/go-kube/kube"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// scope is the name under which spans are made.
const scope = "github.com/go-kube/kube/observe/otel"

// The attributes of a span. Those of HTTP and of namespaces have the names of OpenTelemetry's
// semantic conventions, which have none for the rest.
const (
	// Verb is the API verb as RBAC names it.
	Verb = attribute.Key("kube.verb")
	// Resource is plural.group, or the plural alone in the core group.
	Resource = attribute.Key("kube.resource")
	// Version is the version of the API group.
	Version = attribute.Key("kube.version")
	// Subresource is left out for the object itself.
	Subresource = attribute.Key("kube.subresource")
	// Name is the object's, left out for requests on a collection.
	Name = attribute.Key("kube.name")
	// Attempts is how often the request was sent: 1 without a retry.
	Attempts = attribute.Key("kube.attempts")
	// Namespace is left out for cluster-scoped kinds and for requests over all namespaces.
	Namespace = attribute.Key("k8s.namespace.name")
	// Method is the HTTP method.
	Method = attribute.Key("http.request.method")
	// Status is the HTTP status of the last answer, left out if there was none.
	Status = attribute.Key("http.response.status_code")
	// Server is the host of the API server.
	Server = attribute.Key("server.address")
	// Path is set for requests of [kube.Client.Do] only, which have no verb and resource.
	Path = attribute.Key("url.path")
	// ErrorType is the HTTP status as text, or the Go type of the error, when the request failed.
	ErrorType = attribute.Key("error.type")
)

// Options are for [Middleware].
type Options struct {
	// TracerProvider makes the spans. Nil is the global one, as it is when a request is made.
	TracerProvider trace.TracerProvider
	// Propagator writes the span into the header of the request. Nil is W3C trace context
	// (traceparent), which is what API servers read.
	Propagator propagation.TextMapPropagator
}

// Middleware returns a middleware for [kube.Config.Wrap] that makes a span for each request, around
// its retries: a child of the span in the request's context, named by verb and resource, such as
// "get pods" or "update deployments.apps/status".
//
// A span ends when the body of the answer has been read or closed. That of a watch and of an
// upgraded connection ends when the stream has begun: it may go on for hours, and its failures are
// not the request's. An answer of 400 and more, and a request without an answer, is a failure of
// the span. No header, query or body is recorded. The middleware is safe for concurrent use.
func Middleware(opts *Options) func(http.RoundTripper) http.RoundTripper {
	var o Options
	if opts != nil {
		o = *opts
	}
	if o.Propagator == nil {
		o.Propagator = propagation.TraceContext{}
	}
	return func(next http.RoundTripper) http.RoundTripper { return &transport{next: next, Options: o} }
}

type transport struct {
	Options
	next http.RoundTripper
}

func (t *transport) tracer() trace.Tracer {
	if t.TracerProvider != nil {
		return t.TracerProvider.Tracer(scope)
	}
	return otel.GetTracerProvider().Tracer(scope)
}

// RoundTrip implements [http.RoundTripper].
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	info, known := kube.RequestInfoFrom(req.Context())
	ctx, span := t.tracer().Start(req.Context(), spanName(req, info, known), trace.WithSpanKind(trace.SpanKindClient))
	if span.IsRecording() {
		span.SetAttributes(attributes(req, info, known)...)
	}
	traced := req.WithContext(ctx)
	traced.Header = req.Header.Clone()
	if traced.Header == nil {
		traced.Header = http.Header{}
	}
	t.Propagator.Inject(ctx, propagation.HeaderCarrier(traced.Header))
	resp, err := t.next.RoundTrip(traced)
	if sent, ok := kube.RequestInfoFrom(ctx); ok {
		span.SetAttributes(Attempts.Int(sent.Attempts))
	}
	if err != nil {
		fail(span, err)
		span.End()
		return resp, err
	}
	answered(span, resp.StatusCode)
	if info.Verb == "watch" || resp.StatusCode == http.StatusSwitchingProtocols || resp.Body == nil {
		span.End()
		return resp, nil
	}
	resp.Body = &body{ReadCloser: resp.Body, span: span}
	return resp, nil
}

// spanName has few different values, as span names should.
func spanName(req *http.Request, info kube.RequestInfo, known bool) string {
	if !known {
		return method(req)
	}
	name := info.Verb + " " + resourceOf(info)
	if info.Subresource != "" {
		name += "/" + info.Subresource
	}
	return name
}

func method(req *http.Request) string {
	if req.Method == "" {
		return http.MethodGet
	}
	return req.Method
}

func resourceOf(info kube.RequestInfo) string {
	if info.Group == "" {
		return info.Resource
	}
	return info.Resource + "." + info.Group
}

func attributes(req *http.Request, info kube.RequestInfo, known bool) []attribute.KeyValue {
	all := []attribute.KeyValue{Method.String(method(req)), Server.String(req.URL.Hostname())}
	if !known {
		return append(all, Path.String(req.URL.Path))
	}
	all = append(all, Verb.String(info.Verb), Resource.String(resourceOf(info)), Version.String(info.Version))
	for _, a := range []attribute.KeyValue{Subresource.String(info.Subresource), Namespace.String(info.Namespace), Name.String(info.Name)} {
		if a.Value.AsString() != "" {
			all = append(all, a)
		}
	}
	return all
}

func answered(span trace.Span, status int) {
	span.SetAttributes(Status.Int(status))
	if status >= http.StatusBadRequest {
		span.SetAttributes(ErrorType.String(strconv.Itoa(status)))
		span.SetStatus(codes.Error, http.StatusText(status))
	}
}

func fail(span trace.Span, err error) {
	span.RecordError(err)
	span.SetAttributes(ErrorType.String(fmt.Sprintf("%T", err)))
	span.SetStatus(codes.Error, err.Error())
}

// body ends the span with the body of the answer.
type body struct {
	io.ReadCloser
	span trace.Span
	once sync.Once
}

// Read implements [io.Reader].
func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil {
		b.end(err)
	}
	return n, err
}

// Close implements [io.Closer].
func (b *body) Close() error {
	err := b.ReadCloser.Close()
	b.end(nil)
	return err
}

func (b *body) end(err error) {
	b.once.Do(func() {
		if err != nil && !errors.Is(err, io.EOF) {
			fail(b.span, err)
		}
		b.span.End()
	})
}
