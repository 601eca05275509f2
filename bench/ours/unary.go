package main

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/bench/internal/measure"
	"github.com/go-kube/kube/k8s/core"
)

// runUnary makes requests for single pods.
func runUnary(args measure.Args, meter *measure.Meter, client *kube.Client) {
	ctx, kind := context.Background(), core.Pods
	if args.Format == "json" {
		kind = jsonPods
	}
	meter.End("start", 1, nil)
	args.Calls(func(_ int, namespace, name string) error {
		_, err := client.Namespaced(kind, namespace).Get(ctx, name)
		return err
	})
	meter.End("get", int64(args.Events), nil)
	args.Calls(func(i int, namespace, name string) error {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: measure.CallLabels(i)}}
		_, err := client.Namespaced(kind, namespace).Apply(ctx, pod, "bench", nil)
		return err
	})
	meter.End("apply", int64(args.Events), nil)
}
