// Package pods does what a pod can do beyond being an object: logs, exec, attach, port forwarding
// and copying files.
//
//	package main
//
//	import (
//		"context"
//		"errors"
//		"fmt"
//		"log"
//		"os"
//
//		"github.com/go-kube/kube"
//		"github.com/go-kube/kube/k8s/core"
//		"github.com/go-kube/kube/pods"
//	)
//
//	func main() {
//		client, err := kube.Default()
//		if err != nil {
//			log.Fatal(err)
//		}
//		api := client.Namespaced(core.Pods, "default")
//		opts := &pods.ExecOptions{Streams: pods.Streams{Stdout: os.Stdout, Stderr: os.Stderr}}
//		err = pods.Exec(context.Background(), api, "web-0", []string{"ls", "/data"}, opts)
//		if exit, ok := errors.AsType[*pods.ExitError](err); ok {
//			fmt.Println("ls ended with", exit.Code)
//		} else if err != nil {
//			log.Fatal(err)
//		}
//	}
//
// [FollowLogs] goes on where a connection broke, [FollowAllLogs] does for all containers of a pod at
// once, [Forward] makes a connection for each that is accepted, [CopyTo] and [CopyFrom] keep modes
// and links. [Kubelet] asks a node itself, with no API server between.
//
// Everything but logs goes over websockets (v5.channel.k8s.io, else v4) of their own HTTP/1.1
// connection, with the client's credentials, proxies and middleware. The package is the only one
// of this module that links a websocket library.
package pods
