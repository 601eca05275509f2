package nodes_test

import (
	"context"
	"fmt"
	"time"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/nodes"
	corev1 "k8s.io/api/core/v1"
)

// oneNode returns a client of a cluster with one node and one pod on it.
func oneNode() *kube.Client {
	c := &cluster{pods: []*corev1.Pod{pod("web-0")}, ends: map[string]time.Time{"web-0": {}}}
	client, err := kube.NewClient(&kube.Config{Server: "https://cluster.example", Transport: c})
	if err != nil {
		panic(err)
	}
	return client
}

func ExampleDrain() {
	client := oneNode() // kube.Default(), outside of an example
	err := nodes.Drain(context.Background(), client, "worker-1", &nodes.DrainOptions{
		IgnoreDaemonSets: true,
		Timeout:          time.Minute,
		Progress:         func(e nodes.Event) { fmt.Println(e) },
		DryRun:           true,
	})
	fmt.Println(err)
	// Output:
	// evicting ns/web-0
	// <nil>
}

func ExampleCordon() {
	client := oneNode() // kube.Default(), outside of an example
	if err := nodes.Cordon(context.Background(), client, "worker-1"); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("no new pods on worker-1")
	if err := nodes.Uncordon(context.Background(), client, "worker-1"); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("new pods again")
	// Output:
	// no new pods on worker-1
	// new pods again
}
