// Package stream has operators over sequences of events: what a watcher yields becomes what a program has a use
// for, and several sequences become one. Sequences are plain iterators; a step that is missing here is a function
// with a loop in it. A controller that also reconciles what the annotation of a node names:
//
//	nodes := watcher.New(client.All(core.Nodes.Metadata()), nil)
//	ctl.ReconcileOn(func(ctx context.Context) iter.Seq[resource.Ref[WebApp]] {
//		events := stream.Touched(nodes.Events(ctx))
//		return stream.Map(events, func(event watcher.Event[resource.Metadata[corev1.Node]]) resource.Ref[WebApp] {
//			name, _ := event.Object.Annotation("example.com/webapp")
//			return resource.Ref[WebApp]{Namespace: "default", Name: name}
//		})
//	})
//
// # Events and objects
//
// [watcher.Watcher.Events] tells of snapshots and of changes. [Applied] takes the objects out of it that exist, [Touched]
// makes changes of it alone, those that happened while nobody was looking included, and [Modify] changes the objects on
// their way. [Snapshot] goes the other way: it makes events of objects, for a reflector that is filled by
// the program (reflector.FromEvents). What a predicate does not pass controller.Predicate.Filter holds back.
//
// # Goroutines, order and memory
//
// Nothing happens before a sequence is ranged over, and each loop starts anew. All functions but [Merge] run in the
// goroutine of the loop and keep nothing, but for Touched, which says what it keeps. While the body of a loop runs nothing
// is read, so that a watch whose consumer takes minutes falls behind; the changes of a reflector
// (reflector.Reflector.Changes) do not. Sequences end when those end that they are made from, and those of a watcher
// with its context.
package stream
