// Package controller runs a reconciler: a function that makes the world as an object says,
// called for each object whenever something changes that it depends on.
//
// A whole program, which labels every namespace:
//
//	package main
//
//	import (
//		"context"
//		"log/slog"
//		"os"
//		"os/signal"
//		"syscall"
//
//		"github.com/go-kube/kube"
//		"github.com/go-kube/kube/k8s/core"
//		"github.com/go-kube/kube/runtime/controller"
//		corev1 "k8s.io/api/core/v1"
//		metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
//	)
//
//	func main() {
//		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
//		defer stop()
//		if err := run(ctx); err != nil {
//			slog.Error("labels", "error", err)
//			os.Exit(1)
//		}
//	}
//
//	func run(ctx context.Context) error {
//		client, err := kube.Default()
//		if err != nil {
//			return err
//		}
//		namespaces := client.All(core.Namespaces)
//		reconcile := func(ctx context.Context, ns *corev1.Namespace) (controller.Action, error) {
//			_, err := namespaces.Apply(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
//				Name: ns.Name, Labels: map[string]string{"example.com/name": ns.Name},
//			}}, "labels", nil)
//			return controller.Await(), err // an error is tried again with backoff
//		}
//		ctl := controller.New(namespaces, reconcile, nil)
//		ctl.Filter(controller.Or(controller.Generation(), controller.Labels()))
//		return ctl.Run(ctx)
//	}
//
// # What triggers a reconcile
//
// Every object is reconciled when the controller starts, and when it is created or changed.
// [Controller.Owns] adds the objects that it owns, [Controller.Watches] those of other kinds
// that concern it, [Controller.ReconcileOn] and [Controller.ReconcileAllOn] whatever a program
// can tell by itself. The reconciler asks for a later run with [After]. A [Predicate] holds back
// changes that do not matter, by their metadata.
//
// Triggers of one object that come before its reconcile begins are one reconcile. While it runs
// they wait, and are one more afterwards. Objects whose turn has come are served in the order in
// which it came.
//
// # What can be relied upon
//
//   - An object is never reconciled twice at a time. Up to [Options.Concurrency] different ones are.
//   - The reconciler sees the newest state that the cache has, as a copy of its own.
//   - Nothing is reconciled before all objects are known, and the related kinds too unless they
//     take longer than [Options.SyncTimeout]. From then on no change of either is missed, also
//     while the server is away: what vanished meanwhile triggers too.
//   - An error is retried with a backoff that counts failures of that object, and a success
//     resets. [Terminal] errors are not. [Controller.OnError] replaces the rule.
//   - A panic is an error of the object that it happened for. An object that does not decode is
//     reported, and concerns no other.
//   - When the context of Run ends no reconcile starts. Those that run keep their own context for
//     [Options.StopTimeout].
//
// That an object is deleted triggers no reconcile: there is nothing left to reconcile with.
// What has to be undone then needs a finalizer, which [Finalize] takes care of; for what is only
// in the program's memory there is [Controller.OnDeleted].
//
// # Own writes
//
// A cache lags behind the server, by milliseconds or by seconds. A reconciler that is called before
// its cache shows what its last call wrote would act on the past: count from an old number,
// create a second child. So the controller remembers what is written with the context that a
// reconciler is called with, and does not call it again for that object before the watches of
// the controller have shown it: see [Options.OwnWrites]. This holds for the controller's own
// objects and for the kinds of [Controller.Owns] and [Controller.Watches]; a reconciler that reads
// children from a cache shares the reflector with the controller ([Controller.OwnsFrom]).
// Writes of others can still come in between, and are conflicts as ever.
//
// A reconciler that writes something new each time, such as the time of day, triggers itself
// forever; one whose writes somebody else undoes goes on as long as the other does. The controller notices, says which
// field it is and who the other is, and slows it down: see [Options.LoopInterval]. [Applier] leaves out the applies that would change nothing.
//
// # Several namespaces
//
// [Options.Namespaces] has a controller be of some namespaces: of a set that the program changes as it runs, or
// of those with certain labels. Related kinds follow; what is cluster-scoped stays so. A namespace that
// may not be read is named, by the log and by [Controller.Ready].
//
// # Several controllers and processes
//
// Controllers of one client that ask for the same share one watch by themselves, of their own kinds and
// of related ones: see [Options.OwnWatch]. [NewFrom], [Controller.OwnsFrom] and
// [Controller.WatchesFrom] take a reflector, whose store the program reads as well. [Controller.Hold] makes a
// warm standby, whose caches are full when it becomes the leader. [Controller.Pause] stops the
// work for a while, and [Controller.Queue] shows what there is to do. [Runner] is the queue and the workers
// alone, for keys of any kind.
package controller
