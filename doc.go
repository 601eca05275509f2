// Package kube is a client of the Kubernetes API: typed for every kind, without schemes, REST
// mappers or generated clientsets.
//
//	package main
//
//	import (
//		"context"
//		"errors"
//		"fmt"
//		"log"
//
//		"github.com/go-kube/kube"
//		"github.com/go-kube/kube/k8s/core"
//	)
//
//	func main() {
//		ctx := context.Background()
//		client, err := kube.Default() // kubeconfig, else the pod's service account
//		if err != nil {
//			log.Fatal(err)
//		}
//		for pod, err := range client.All(core.Pods).Each(ctx, &kube.ListOptions{Labels: "app=web"}) {
//			if err != nil {
//				log.Fatal(err)
//			}
//			fmt.Println(pod.Namespace, pod.Name, pod.Status.Phase)
//		}
//		_, err = client.Namespaced(core.ConfigMaps, "default").Get(ctx, "settings")
//		if errors.Is(err, kube.ErrNotFound) {
//			fmt.Println("there are no settings yet")
//		}
//	}
//
// # Where to and who
//
// [Default] and [InferConfig] look where kubectl looks, then for the service account of a pod.
// A [Config] can also be written by hand, or taken from a kubeconfig by [ConfigFromKubeconfig].
// Tokens, certificates and the output of plugins are renewed while the client is in use; nothing
// has to be made anew. A [Client] is safe for concurrent use; one per cluster and identity is enough.
//
// # Objects
//
// A kind is a variable: core.Pods of package k8s/core, or one's own, made with
// resource.DefineNamespaced. [Client.Namespaced], [Client.DefaultNamespace] and [Client.All] turn it into
// an [API], a small value whose methods are the verbs: [API.Get], [API.Lookup], [API.List], [API.Each],
// [API.Create], [API.Replace], [API.Patch], [API.Apply], [API.Delete], [API.DeleteCollection] and
// [API.Watch]. [API.Status], [API.Scale] and [API.Sub] lead below an object. A cluster-scoped kind in a
// namespace does not compile. core.Pods.Metadata() is the same kind without spec and status, and
// resource.Dynamic a kind that is known at run time only.
//
// [API.Apply] is server-side apply of a plain struct: what is not set in it is not sent, and not owned.
//
// [API.Watch] is one connection, which ends. Programs that follow objects want package runtime/watcher,
// runtime/reflector or runtime/controller, which stand on this one.
//
// # When something goes wrong
//
// Errors of the server are *[Error]: they say what was asked, and wrap the Status of the server, so that
// errors.Is(err, [ErrNotFound]) and apierrors.IsNotFound(err) both hold. [CanRetry] says whether the
// same request may work later.
//
// What can be sent again without doing anything twice is sent again; [RetryInfo] has the rules. Every
// request ends: with its context, or after [Config.Timeout], 60 seconds by default.
//
// The surprise: [API.Apply] takes fields over from other managers, as a controller has to;
// kubectl stops with a conflict there, and so does an apply with [ApplyOptions].FailOnConflict.
package kube
