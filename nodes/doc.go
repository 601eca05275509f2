// Package nodes takes nodes out of service and back: cordon, uncordon and drain, as kubectl does
// them.
//
//	package main
//
//	import (
//		"context"
//		"fmt"
//		"log"
//
//		"github.com/go-kube/kube"
//		"github.com/go-kube/kube/nodes"
//	)
//
//	func main() {
//		client, err := kube.Default()
//		if err != nil {
//			log.Fatal(err)
//		}
//		err = nodes.Drain(context.Background(), client, "worker-1", &nodes.DrainOptions{
//			IgnoreDaemonSets: true,
//			Progress:         func(e nodes.Event) { fmt.Println(e) },
//		})
//		if err != nil {
//			log.Fatal(err)
//		}
//	}
package nodes
