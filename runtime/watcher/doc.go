// Package watcher has the watch that survives. A [Watcher] tells what exists and what happens
// to it, for as long as its context lasts, whatever happens to the connection, the server and
// the resource version in between:
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
//		"github.com/go-kube/kube/runtime/watcher"
//	)
//
//	func main() {
//		client, err := kube.Default()
//		if err != nil {
//			log.Fatal(err)
//		}
//		w := watcher.New(client.All(core.Pods), &watcher.Options{
//			Labels:  "app=web",
//			OnError: func(err error) { log.Print(err) },
//		})
//		for event := range w.Events(context.Background()) {
//			switch event.Type {
//			case watcher.InitApply, watcher.Apply:
//				fmt.Println("there is", event.Object.Ref())
//			case watcher.Delete:
//				fmt.Println("gone is", event.Object.Ref())
//			}
//		}
//	}
//
// # Snapshots
//
// A watcher begins with a snapshot: [Init], an [InitApply] for each object, [InitDone]. Then
// it yields each change: [Apply], [Delete]. When it has lost track, because it was away for
// longer than the server remembers, another snapshot follows; what was known and is not in it
// is gone. A program that keeps objects gathers a snapshot beside what it has, and swaps the
// two at InitDone: package reflector does that. Objects come undecoded, so that one that is
// broken is a matter of the code that decodes it, and stops nothing.
//
// # Recovery
//
// Failures are not events. A watcher tries again after 800 ms, then after twice that, and so
// on up to 30 s, each with up to 100% added at random; it starts over after 120 s of health. A
// Retry-After of the server counts when it is longer.
//
//   - A watch that the server ends in order, which it is asked to do every 290 s, is resumed at
//     once; one that breaks is resumed after a delay; one that is silent for 295 s is taken
//     for dead. The version to resume from comes from events and bookmarks.
//   - A version that is too old (410, as an answer or as an event, by code or reason), that is
//     refused three times in a row for reasons of its own, or that leads to watches that end
//     at once, is given up for a new snapshot. A server that is away or busy is no such reason.
//   - A snapshot that breaks half way starts over with Init. Only a page of a list, which is of
//     one state with those before it, is asked for again alone.
//   - A kind that the server does not know yet is waited for, quietly, with delays of up to 20 s.
//
// [Options.OnError] hears of each failure, the log of each new kind of failure and of its end,
// and [Watcher.State] says how things are, for readiness probes.
//
// A watcher is of use alone; package stream has operators over its events, package reflector keeps them.
//
// See https://kubernetes.io/docs/reference/using-api/api-concepts/#efficient-detection-of-changes
package watcher
