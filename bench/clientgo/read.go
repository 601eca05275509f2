package main

import (
	"github.com/go-kube/kube/bench/internal/measure"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
)

// runRead reads from the informer's store. It hands out its own objects: who wants to change one
// has to copy it.
func runRead(args measure.Args, meter *measure.Meter, informer cache.SharedIndexInformer) {
	follow(args, informer)
	store := informer.GetStore()
	keys := store.ListKeys()
	rounds := max(1, args.Events/args.Objects)
	get := func(i int) any {
		obj, ok, err := store.GetByKey(keys[i*7919%len(keys)])
		measure.Check(err)
		if !ok {
			panic("an object is missing")
		}
		return obj
	}
	meter.End("sync", int64(args.Objects), nil)
	for i := range args.Events {
		get(i).(runtime.Object).DeepCopyObject()
	}
	meter.End("get, a copy", int64(args.Events), nil)
	for i := range args.Events {
		get(i)
	}
	meter.End("get, shared", int64(args.Events), nil)
	for range rounds {
		for _, obj := range store.List() {
			obj.(runtime.Object).DeepCopyObject()
		}
	}
	meter.End("list, copies", int64(rounds*args.Objects), nil)
	for range rounds {
		for _, obj := range store.List() {
			if _, ok := obj.(metav1.Object).GetLabels()["app"]; !ok {
				panic("an object without a label")
			}
		}
	}
	meter.End("list, shared", int64(rounds*args.Objects), nil)
}
