// Package k8s stands above the descriptors of the kinds that Kubernetes serves by itself. It
// has none: they are in a package per API group, so that a program links the groups that it
// names. Variables are called after the resource, types are those of k8s.io/api:
//
//	package main
//
//	import (
//		"context"
//		"fmt"
//		"log"
//
//		"github.com/go-kube/kube"
//		"github.com/go-kube/kube/k8s/core"
//	)
//
//	func main() {
//		client, err := kube.Default()
//		if err != nil {
//			log.Fatal(err)
//		}
//		for pod, err := range client.All(core.Pods).Each(context.Background(), nil) {
//			if err != nil {
//				log.Fatal(err)
//			}
//			fmt.Println(pod.Namespace, pod.Name, pod.Status.Phase)
//		}
//	}
//
// A group's package has the version that the API server prefers. Other served versions are
// one level below and carry the same package name: to use autoscaling/v1 instead of v2,
// import k8s/autoscaling/v1 instead of k8s/autoscaling. Packages are called after the first
// label of the group, with two exceptions: resource.k8s.io is k8s/dra, since package resource
// is kube's own, and internal.apiserver.k8s.io is k8s/apiserverinternal.
//
// # Subresources
//
// A subresource is a variable next to its kind: core.PodEviction, core.PodBinding,
// core.ServiceAccountToken. Those that are connections (log, exec, attach, portforward, proxy)
// are [resource.Connection] values, whose options travel in the query. status and scale have no
// variable: the client's Status and Scale methods reach them, and Info.Subresources names them.
//
// # Where they come from
//
// Everything is generated from the discovery documents in the Kubernetes release that belongs
// to the required version of k8s.io/api, and covers what an API server with every API enabled
// serves. A kind in an alpha version needs --runtime-config there. APIServices are the one
// kind whose type is not Kubernetes' own, see [apiregistration.APIService]. The descriptors
// are static data, and the linker drops those that a program does not use.
//
// Package [github.com/go-kube/kube/k8s/all] lists every descriptor.
//
// [apiregistration.APIService]: https://pkg.go.dev/github.com/go-kube/kube/k8s/apiregistration#APIService
// [resource.Connection]: https://pkg.go.dev/github.com/go-kube/kube/resource#Connection
package k8s

//go:generate go run ./internal/gen
