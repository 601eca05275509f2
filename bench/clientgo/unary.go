package main

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1 "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/go-kube/kube/bench/internal/measure"
)

// runUnary makes requests for single pods.
func runUnary(args measure.Args, meter *measure.Meter, clientset *kubernetes.Clientset) {
	ctx := context.Background()
	meter.End("start", 1, nil)
	args.Calls(func(_ int, namespace, name string) error {
		_, err := clientset.CoreV1().Pods(namespace).Get(ctx, name, metav1.GetOptions{})
		return err
	})
	meter.End("get", int64(args.Events), nil)
	args.Calls(func(i int, namespace, name string) error {
		pod := corev1.Pod(name, namespace).WithLabels(measure.CallLabels(i))
		_, err := clientset.CoreV1().Pods(namespace).Apply(ctx, pod, metav1.ApplyOptions{FieldManager: "bench", Force: true})
		return err
	})
	meter.End("apply", int64(args.Events), nil)
}
