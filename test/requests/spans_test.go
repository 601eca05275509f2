package requests_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/k8s/core"
	kubeotel "github.com/go-kube/kube/observe/otel"
	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
)

// traced is cfg with spans of its requests.
func traced(cfg *kube.Config) (*sdktrace.TracerProvider, *tracetest.SpanRecorder) {
	spans := tracetest.NewSpanRecorder()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans))
	cfg.Wrap = append(cfg.Wrap, kubeotel.Middleware(&kubeotel.Options{TracerProvider: provider}))
	return provider, spans
}

func attribution(span sdktrace.ReadOnlySpan) map[attribute.Key]any {
	all := map[attribute.Key]any{}
	for _, a := range span.Attributes() {
		all[a.Key] = a.Value.AsInterface()
	}
	return all
}

// TestSpans has the requests of a caller be children of its span.
func TestSpans(t *testing.T) {
	w := connect(t)
	ns := w.NewNamespace(t)
	w.allow(t, "traced")
	cfg := w.user(t, "traced")
	provider, spans := traced(cfg)
	client := newClient(t, cfg)
	ctx, parent := provider.Tracer("test").Start(t.Context(), "reconcile")
	api := client.Namespaced(core.ConfigMaps, ns)
	created := must[*corev1.ConfigMap](t)(api.Create(ctx, configMap("c"), nil))
	if err := api.Delete(ctx, "none", nil); err == nil {
		t.Error("what is not there was deleted")
	}
	for event, err := range api.Watch(ctx, &kube.WatchOptions{ResourceVersion: "0"}) {
		if err != nil || event.Type == kube.Bookmark {
			t.Fatal(event, err)
		}
		if spans.Ended()[len(spans.Ended())-1].Name() != "watch configmaps" {
			t.Error("the span of the watch has not ended with its beginning")
		}
		if event.Object.Name() == created.Name {
			break
		}
	}
	must[[]byte](t)(client.Send(ctx, kube.Request{Path: "/version"}))
	parent.End()

	server := strings.TrimPrefix(w.URL(), "https://")
	host, _, _ := strings.Cut(server, ":")
	object := func(verb, method string, status int64, more map[attribute.Key]any) map[attribute.Key]any {
		all := map[attribute.Key]any{
			kubeotel.Verb: verb, kubeotel.Resource: "configmaps", kubeotel.Version: "v1", kubeotel.Namespace: ns,
			kubeotel.Method: method, kubeotel.Status: status, kubeotel.Attempts: int64(1), kubeotel.Server: host,
		}
		for k, v := range more {
			all[k] = v
		}
		return all
	}
	want := []struct {
		name   string
		failed bool
		values map[attribute.Key]any
	}{
		{"create configmaps", false, object("create", http.MethodPost, 201, nil)},
		{"delete configmaps", true, object("delete", http.MethodDelete, 404, map[attribute.Key]any{kubeotel.Name: "none", kubeotel.ErrorType: "404"})},
		{"watch configmaps", false, object("watch", http.MethodGet, 200, nil)},
		{"GET", false, map[attribute.Key]any{kubeotel.Path: "/version", kubeotel.Method: "GET", kubeotel.Status: int64(200), kubeotel.Server: host}},
	}
	ended := spans.Ended()
	if len(ended) != len(want)+1 {
		t.Fatalf("%d spans, want %d and the caller's", len(ended), len(want))
	}
	for i, want := range want {
		got := ended[i]
		if got.Name() != want.name || got.Parent().SpanID() != parent.SpanContext().SpanID() || got.SpanContext().TraceID() != parent.SpanContext().TraceID() {
			t.Errorf("span %q of %s, want %q of the caller's", got.Name(), got.Parent().SpanID(), want.name)
		}
		if failed := got.Status().Code == codes.Error; failed != want.failed {
			t.Errorf("%s: failed is %t", want.name, failed)
		}
		if diff := cmp.Diff(want.values, attribution(got)); diff != "" {
			t.Errorf("%s: %s", want.name, diff)
		}
	}
}

// TestSpansCountAttempts has a server that is asked for too much refuse some of it for a while.
func TestSpansCountAttempts(t *testing.T) {
	w := connect(t)
	ns := w.NewNamespace(t)
	user := "traced-crowd-" + ns // the limit stays
	w.allow(t, user)
	w.limit(t, user)
	w.webhook(t, ns, func(*admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
		<-time.After(50 * time.Millisecond) // what takes a seat for longer
		return &admissionv1.AdmissionResponse{Allowed: true}
	})
	cfg := w.user(t, user)
	_, spans := traced(cfg)
	api := newClient(t, cfg).Namespaced(core.ConfigMaps, ns)
	eventually(t, "a request that is repeated", func() bool {
		for _, err := range crowd(func(i int) error {
			_, err := api.Create(t.Context(), configMap(fmt.Sprint("c-", i)), &kube.CreateOptions{DryRun: true})
			return err
		}) {
			if err != nil {
				t.Error(err)
			}
		}
		return slices.ContainsFunc(spans.Ended(), func(span sdktrace.ReadOnlySpan) bool {
			values := attribution(span)
			n, _ := values[kubeotel.Attempts].(int64)
			return n > 1 && values[kubeotel.Status] == int64(201) && span.Status().Code != codes.Error
		})
	})
}
