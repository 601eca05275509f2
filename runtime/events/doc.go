// Package events tells people what a controller did: it writes events.k8s.io/v1 Events, which kubectl
// describe shows below the object that they are about.
//
// A whole program, which leaves a word at a Node:
//
//	package main
//
//	import (
//		"context"
//		"log"
//
//		"github.com/go-kube/kube"
//		"github.com/go-kube/kube/k8s/core"
//		"github.com/go-kube/kube/runtime/events"
//	)
//
//	func main() {
//		ctx := context.Background()
//		client, err := kube.Default()
//		if err != nil {
//			log.Fatal(err)
//		}
//		node, err := client.All(core.Nodes).Get(ctx, "node-1")
//		if err != nil {
//			log.Fatal(err)
//		}
//		recorder := events.NewRecorder(client, "example.com/greeter", nil)
//		err = recorder.Publish(ctx, events.About(core.Nodes, node), events.Event{
//			Reason: "Greeted", Action: "Greeting", Note: "Hello, node",
//		})
//		if err != nil {
//			log.Fatal(err)
//		}
//	}
//
// What happens again within six minutes becomes one Event with a count, so that a controller
// that says the same in each run does not fill the cluster with Events. Nor does one that says
// something else each time: from the eleventh note on there is one Event that has the latest.
//
// The identity of the program needs the verbs create and patch on events.events.k8s.io, and
// patch on events of the core group for the note of that last Event.
// See https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/event-v1/
package events
