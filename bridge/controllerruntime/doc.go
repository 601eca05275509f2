// Package controllerruntime lets programs that are written with controller-runtime read from the
// stores of kube, so that they can move one controller at a time: both halves share one
// watch and one copy of the objects.
//
//	package main
//
//	import (
//		"context"
//		"fmt"
//		"log"
//
//		"github.com/go-kube/kube"
//		bridge "github.com/go-kube/kube/bridge/controllerruntime"
//		"github.com/go-kube/kube/k8s/core"
//		"github.com/go-kube/kube/runtime/reflector"
//		corev1 "k8s.io/api/core/v1"
//		ctrl "sigs.k8s.io/controller-runtime"
//		"sigs.k8s.io/controller-runtime/pkg/client"
//	)
//
//	var byNode = reflector.NewIndex(func(p *corev1.Pod) []string { return []string{p.Spec.NodeName} })
//
//	func main() {
//		ctx := ctrl.SetupSignalHandler()
//		modern, err := kube.Default()
//		if err != nil {
//			log.Fatal(err)
//		}
//		pods := reflector.New(modern.All(core.Pods), nil)
//		pods.Index(byNode)
//		go pods.Run(ctx)
//
//		reader := bridge.NewReader(nil)
//		reader.Add(pods, map[string]*reflector.Index[corev1.Pod]{"spec.nodeName": byNode})
//		c, err := client.New(ctrl.GetConfigOrDie(), client.Options{Cache: &client.CacheOptions{Reader: reader}})
//		if err != nil {
//			log.Fatal(err)
//		}
//		onNode(ctx, c)
//	}
//
//	func onNode(ctx context.Context, c client.Client) {
//		var list corev1.PodList
//		if err := c.List(ctx, &list, client.MatchingFields{"spec.nodeName": "node-1"}); err != nil {
//			log.Fatal(err)
//		}
//		for _, pod := range list.Items {
//			fmt.Println(pod.Namespace, pod.Name)
//		}
//	}
//
// With a manager, the function of manager.Options.NewClient is the place for it. Writes go where they
// went before; reads of kinds that were not added go to [Options.Fallback], such as the manager's own
// cache.
//
// # What differs from controller-runtime's cache
//
// Answers are those of its cache, to the words of "not found", with five exceptions. An object that
// is read is always a copy of its own: UnsafeDisableDeepCopy has no effect, and costs nothing to
// leave out. A resource version that a read asks for is waited for. One store answers for the
// typed, the unstructured and the metadata form of its kind. A list has the resource version of the store, and
// its continue token is empty when no limit has cut it short. And managedFields and kubectl's
// last-applied annotation are not there, since the stores of kube do not keep them: update objects
// that were read here by patch or apply, or with what a live read returned, where those have to stay.
//
// A Reader gives no events. A controller that moves to kube brings its own triggers; one that stays
// keeps the informers that trigger it, unless it is moved too.
package controllerruntime
