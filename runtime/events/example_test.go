package events_test

import (
	"fmt"

	"github.com/go-kube/kube/k8s/core"
	"github.com/go-kube/kube/runtime/events"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func ExampleAbout() {
	ref := events.About(core.Pods, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web-0"}})
	fmt.Println(ref.APIVersion, ref.Kind, ref.Namespace, ref.Name)
	// Output: v1 Pod default web-0
}
