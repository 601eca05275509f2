// Package reflector keeps the objects of a kind in memory, like the server has them. A
// [Reflector] watches and fills a [Store], which everybody reads:
//
//	package main
//
//	import (
//		"context"
//		"fmt"
//		"log"
//		"os"
//		"os/signal"
//
//		corev1 "k8s.io/api/core/v1"
//
//		"github.com/go-kube/kube"
//		"github.com/go-kube/kube/k8s/core"
//		"github.com/go-kube/kube/runtime/reflector"
//	)
//
//	var byNode = reflector.NewIndex(func(p *corev1.Pod) []string { return []string{p.Spec.NodeName} })
//
//	func main() {
//		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
//		defer stop()
//		client, err := kube.Default()
//		if err != nil {
//			log.Fatal(err)
//		}
//		r := reflector.New(client.All(core.Pods), nil)
//		r.Index(byNode)
//		go r.Run(ctx)
//		if err := r.Store().WaitReady(ctx); err != nil {
//			log.Fatal(err)
//		}
//		for pod := range byNode.Lookup(r.Store(), "node-1") {
//			fmt.Println(pod.Ref())
//		}
//		for change := range r.Changes(ctx) {
//			fmt.Println(change.Ref(), "deleted:", change.Deleted)
//		}
//	}
//
// # What is kept
//
// Objects are kept as the bytes that the server sent, without managedFields and kubectl's
// last-applied annotation, and decoded for each [Store.Get]: the caller gets a copy of its
// own, and nobody can spoil the cache. A store of hundreds of objects also packs them: what an
// object has in common with others of its kind is kept once, which for pods leaves a quarter of
// the bytes, and costs two microseconds when an object comes and a fraction of one when it is
// read. [Reflector.Modify] drops what nobody needs; [Options.Decoded] trades memory for time.
//
// # What readers see
//
// Never half of a snapshot: what exists is gathered aside and swapped in when it is complete.
// When the watch has lost track and a new snapshot follows, it is compared with what is known:
// objects that did not change keep their bytes, and [Reflector.Changes] yields the difference,
// deletions included. While the server is away, the store shows what was known last;
// [Reflector.State] says so.
//
// # Several namespaces
//
// With [Options.Namespaces] a store has the objects of some namespaces, each watched on its own: a
// [NamespaceSet], which the program can change at any time, or a [NamespaceSelector], which goes by
// the labels of the namespaces. What joins is listed before [Store.ReadyIn] says that it is there;
// what leaves is deleted as far as readers can see. [Store.Get] tells an object that does not
// exist ([ErrAbsent]) from one in a namespace that the store does not keep ([ErrOutside]).
//
// # Objects from elsewhere
//
// [FromEvents] makes a reflector of any sequence of events: of files, of a test, or of a watcher whose events
// the program changes on their way (package stream).
//
// The store follows the server with a delay. [Store.WaitFor] waits until it has seen a
// resource version that the caller knows, such as that of its last write.
package reflector
