// Package otel makes a span of OpenTelemetry for each request of a [kube.Client], a child of the
// one in the caller's context, and tells the API server of it, which can trace its own part
// (https://kubernetes.io/docs/concepts/cluster-administration/system-traces/).
//
//	package main
//
//	import (
//		"context"
//		"fmt"
//		"log"
//		"net/http"
//
//		"github.com/go-kube/kube"
//		"github.com/go-kube/kube/k8s/core"
//		kubeotel "github.com/go-kube/kube/observe/otel"
//		sdktrace "go.opentelemetry.io/otel/sdk/trace"
//	)
//
//	func main() {
//		ctx := context.Background()
//		provider := sdktrace.NewTracerProvider() // with an exporter of your choice
//		defer provider.Shutdown(ctx)
//
//		cfg, err := kube.InferConfig()
//		if err != nil {
//			log.Fatal(err)
//		}
//		cfg.Wrap = []func(http.RoundTripper) http.RoundTripper{
//			kubeotel.Middleware(&kubeotel.Options{TracerProvider: provider}),
//		}
//		client, err := kube.NewClient(cfg)
//		if err != nil {
//			log.Fatal(err)
//		}
//		pods, err := client.DefaultNamespace(core.Pods).List(ctx, nil) // a span "list pods"
//		if err != nil {
//			log.Fatal(err)
//		}
//		fmt.Println(len(pods.Items))
//	}
//
// It is a module of its own, so that programs without tracing do not depend on OpenTelemetry.
package otel
