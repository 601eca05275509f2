package otel_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/k8s/apps"
	"github.com/go-kube/kube/k8s/core"
	kubeotel "github.com/go-kube/kube/observe/otel"
	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
	appsv1 "k8s.io/api/apps/v1"
)

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

func answer(code int, body string) *http.Response {
	return &http.Response{StatusCode: code, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body))}
}

type lab struct {
	spans    *tracetest.SpanRecorder
	provider *sdktrace.TracerProvider
	client   *kube.Client
}

func newLab(t *testing.T, server roundTripper) *lab {
	t.Helper()
	l := &lab{spans: tracetest.NewSpanRecorder()}
	l.provider = sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(l.spans))
	var err error
	l.client, err = kube.NewClient(&kube.Config{
		Server:    "https://cluster.example",
		Transport: server,
		Wrap:      []func(http.RoundTripper) http.RoundTripper{kubeotel.Middleware(&kubeotel.Options{TracerProvider: l.provider})},
	})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func (l *lab) only(t *testing.T) sdktrace.ReadOnlySpan {
	t.Helper()
	ended := l.spans.Ended()
	if len(ended) != 1 {
		t.Fatalf("%d spans ended, want 1", len(ended))
	}
	return ended[0]
}

func values(s sdktrace.ReadOnlySpan) map[attribute.Key]any {
	m := map[attribute.Key]any{}
	for _, a := range s.Attributes() {
		m[a.Key] = a.Value.AsInterface()
	}
	return m
}

const refused = `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404,"message":"no"}`

func TestSpans(t *testing.T) {
	for _, test := range []struct {
		name   string
		call   func(ctx context.Context, c *kube.Client) error
		answer *http.Response
		span   string
		want   map[attribute.Key]any
		status sdktrace.Status
	}{
		{"get", func(ctx context.Context, c *kube.Client) error {
			_, err := c.Namespaced(core.Pods, "ns").Get(ctx, "p")
			return err
		}, answer(200, `{}`), "get pods", map[attribute.Key]any{
			"http.request.method": "GET", "server.address": "cluster.example", "http.response.status_code": int64(200),
			"kube.verb": "get", "kube.resource": "pods", "kube.version": "v1", "kube.name": "p", "k8s.namespace.name": "ns", "kube.attempts": int64(1),
		}, sdktrace.Status{}},
		{"status", func(ctx context.Context, c *kube.Client) error {
			d := &appsv1.Deployment{}
			d.Name = "d"
			_, err := c.Namespaced(apps.Deployments, "ns").Status().Replace(ctx, d, nil)
			return err
		}, answer(404, refused), "update deployments.apps/status", map[attribute.Key]any{
			"http.request.method": "PUT", "server.address": "cluster.example", "http.response.status_code": int64(404), "error.type": "404",
			"kube.verb": "update", "kube.resource": "deployments.apps", "kube.version": "v1", "kube.subresource": "status",
			"kube.name": "d", "k8s.namespace.name": "ns", "kube.attempts": int64(1),
		}, sdktrace.Status{Code: codes.Error, Description: "Not Found"}},
		{"any path", func(ctx context.Context, c *kube.Client) error {
			_, err := c.Send(ctx, kube.Request{Path: "/metrics?secret=1"})
			return err
		}, answer(200, ``), "GET", map[attribute.Key]any{
			"http.request.method": "GET", "server.address": "cluster.example", "http.response.status_code": int64(200), "url.path": "/metrics",
		}, sdktrace.Status{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var header string
			l := newLab(t, func(req *http.Request) (*http.Response, error) {
				header = req.Header.Get("Traceparent")
				return test.answer, nil
			})
			ctx, parent := l.provider.Tracer("test").Start(t.Context(), "caller")
			if err := test.call(ctx, l.client); (err != nil) != (test.status.Code == codes.Error) {
				t.Error(err)
			}
			span := l.only(t)
			if span.Name() != test.span || span.SpanKind() != trace.SpanKindClient || span.Status() != test.status {
				t.Errorf("%s %s %v", span.Name(), span.SpanKind(), span.Status())
			}
			if span.Parent().SpanID() != parent.SpanContext().SpanID() {
				t.Error("the span is no child of the caller's")
			}
			if !strings.Contains(header, span.SpanContext().SpanID().String()) {
				t.Errorf("the server is told of %q", header)
			}
			if diff := cmp.Diff(test.want, values(span)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAttemptsAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		l := newLab(t, func(req *http.Request) (*http.Response, error) {
			if n++; n < 3 {
				return answer(503, ``), nil
			}
			return answer(200, `{}`), nil
		})
		if _, err := l.client.Namespaced(core.Pods, "ns").Get(t.Context(), "p"); err != nil {
			t.Fatal(err)
		}
		if got := values(l.only(t))[kubeotel.Attempts]; got != int64(3) {
			t.Errorf("%v attempts, want 3", got)
		}
	})
}

func TestLostConnection(t *testing.T) {
	l := newLab(t, func(req *http.Request) (*http.Response, error) { return nil, errors.New("lost") })
	if _, err := l.client.Namespaced(core.Pods, "ns").Get(t.Context(), "p"); err == nil {
		t.Fatal("no error")
	}
	span := l.only(t)
	if want := (sdktrace.Status{Code: codes.Error, Description: "lost"}); span.Status() != want || values(span)[kubeotel.ErrorType] == nil || len(span.Events()) != 1 {
		t.Errorf("%v %v %v", span.Status(), span.Attributes(), span.Events())
	}
}

// TestBodiesAreOfTheSpan: a span lasts until the body has come, and knows when it broke.
func TestBodiesAreOfTheSpan(t *testing.T) {
	r, w := io.Pipe()
	l := newLab(t, func(req *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Header: http.Header{}, Body: r}, nil
	})
	resp, err := l.client.Open(t.Context(), kube.Request{Path: "/stream"})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(l.spans.Ended()); n != 0 {
		t.Fatalf("%d spans ended before the body", n)
	}
	w.CloseWithError(errors.New("broken"))
	if _, err := io.ReadAll(resp.Body); err == nil {
		t.Error("no error")
	}
	resp.Body.Close()
	if got := l.only(t).Status().Description; got != "broken" {
		t.Errorf("status is %q", got)
	}
}

func TestWatchesEndWithTheirBeginning(t *testing.T) {
	r, w := io.Pipe()
	l := newLab(t, func(req *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"application/json"}}, Body: r}, nil
	})
	stream, err := l.client.Namespaced(core.Pods, "ns").Endpoint().OpenWatch(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	if span := l.only(t); span.Name() != "watch pods" || span.Status().Code != codes.Unset {
		t.Errorf("%s %v", span.Name(), span.Status())
	}
	w.Close()
}

// TestUpgradesCanBeWritten: the body of an upgraded connection is a connection.
func TestUpgradesCanBeWritten(t *testing.T) {
	type conn struct{ io.ReadWriteCloser }
	l := newLab(t, func(req *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 101, Header: http.Header{}, Body: conn{}}, nil
	})
	resp, err := l.client.Open(t.Context(), kube.Request{Path: "/upgrade"})
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := resp.Body.(io.Writer); !ok {
		t.Error("the body cannot be written to")
	}
	l.only(t)
}

func TestNothingIsChanged(t *testing.T) {
	l := newLab(t, func(req *http.Request) (*http.Response, error) { return answer(200, `{}`), nil })
	req, err := l.client.NewRequest(t.Context(), kube.Request{Path: "/version"})
	if err != nil {
		t.Fatal(err)
	}
	resp, err := l.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if req.Header.Get("Traceparent") != "" {
		t.Error("the caller's request was changed")
	}
}

// TestGlobalProvider: a provider that is set after the client was made counts too.
func TestGlobalProvider(t *testing.T) {
	client, err := kube.NewClient(&kube.Config{
		Server:    "https://cluster.example",
		Transport: roundTripper(func(req *http.Request) (*http.Response, error) { return answer(200, `{}`), nil }),
		Wrap:      []func(http.RoundTripper) http.RoundTripper{kubeotel.Middleware(nil)},
	})
	if err != nil {
		t.Fatal(err)
	}
	spans := tracetest.NewSpanRecorder()
	otel.SetTracerProvider(sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans)))
	if _, err := client.Namespaced(core.Pods, "ns").Get(t.Context(), "p"); err != nil {
		t.Fatal(err)
	}
	if len(spans.Ended()) != 1 {
		t.Errorf("%d spans", len(spans.Ended()))
	}
}
