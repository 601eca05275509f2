package main

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/go-kube/kube/bench/internal/measure"
)

// runUnary makes requests for single pods.
func runUnary(args measure.Args, meter *measure.Meter) {
	ctx := context.Background()
	c, err := client.New(newConfig(args), client.Options{})
	measure.Check(err)
	meter.End("start", 1, nil)
	args.Calls(func(_ int, namespace, name string) error {
		return c.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, &corev1.Pod{})
	})
	meter.End("get", int64(args.Events), nil)
	args.Calls(func(i int, namespace, name string) error {
		pod := applycorev1.Pod(name, namespace).WithLabels(measure.CallLabels(i))
		return c.Apply(ctx, pod, client.FieldOwner("bench"), client.ForceOwnership)
	})
	meter.End("apply", int64(args.Events), nil)
}
