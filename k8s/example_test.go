package k8s_test

import (
	"fmt"

	"github.com/go-kube/kube/k8s/all"
	"github.com/go-kube/kube/k8s/apps"
	"github.com/go-kube/kube/k8s/autoscaling"
	"github.com/go-kube/kube/k8s/core"
)

func Example() {
	fmt.Println(core.Pods.Descriptor(), core.Pods.Descriptor().ShortNames)
	fmt.Println(core.PodEviction.Descriptor().Body.Kind)
	fmt.Println(apps.Deployments.Descriptor(), apps.Deployments.Descriptor().Scope)
	fmt.Println(autoscaling.HorizontalPodAutoscalers.Descriptor())
	// Output:
	// pods.v1 [po]
	// Eviction
	// deployments.v1.apps Namespaced
	// horizontalpodautoscalers.v2.autoscaling
}

func Example_all() {
	for _, kind := range all.Kinds() {
		if kind.Descriptor.Group == "batch" {
			fmt.Printf("%s %T\n", kind.Descriptor, kind.New())
		}
	}
	// Output:
	// cronjobs.v1.batch *v1.CronJob
	// jobs.v1.batch *v1.Job
}
