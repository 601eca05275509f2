package otel_test

import (
	"context"
	"fmt"
	"net/http"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/k8s/core"
	kubeotel "github.com/go-kube/kube/observe/otel"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
)

func ExampleMiddleware() {
	spans := tracetest.NewInMemoryExporter()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans))
	client, err := kube.NewClient(&kube.Config{
		Server: "https://cluster.example",
		Transport: roundTripper(func(req *http.Request) (*http.Response, error) {
			return answer(200, `{"metadata":{"name":"front"}}`), nil
		}),
		Wrap: []func(http.RoundTripper) http.RoundTripper{
			kubeotel.Middleware(&kubeotel.Options{TracerProvider: provider}),
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, span := provider.Tracer("example").Start(context.Background(), "reconcile")
	if _, err := client.Namespaced(core.Pods, "web").Get(ctx, "front"); err != nil {
		fmt.Println(err)
	}
	span.End()
	for _, s := range spans.GetSpans() {
		fmt.Println(s.Name, s.Parent.IsValid())
	}
	// Output:
	// get pods true
	// reconcile false
}
