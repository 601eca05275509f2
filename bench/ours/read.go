package main

import (
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/bench/internal/measure"
	"github.com/go-kube/kube/resource"
	"github.com/go-kube/kube/runtime/reflector"
)

// runRead reads from a store of bytes, where every Get is a copy, and then from one that keeps
// objects decoded, where all get the same.
func runRead[K any, P resource.ObjectPtr[K]](args measure.Args, meter *measure.Meter, api kube.API[K]) {
	plain := reflector.New(api, nil)
	follow(args, plain)
	var refs []resource.Ref[K]
	for obj := range plain.Store().All() {
		refs = append(refs, obj.Ref())
	}
	rounds := max(1, args.Events/args.Objects)
	meter.End("sync", int64(args.Objects), nil)
	eachOf(args, refs, plain.Store(), func(*K) {})
	meter.End("get, a copy", int64(args.Events), nil)
	for range rounds {
		for obj := range plain.Store().All() {
			_, err := obj.Decode()
			measure.Check(err)
		}
	}
	meter.End("list, copies", int64(rounds*args.Objects), nil)
	for range rounds {
		for obj := range plain.Store().All() {
			if _, ok := obj.Label("app"); !ok {
				panic("an object without a label")
			}
		}
	}
	meter.End("list, shared", int64(rounds*args.Objects), nil)
	decoded := reflector.New(api, &reflector.Options{Decoded: true})
	follow(args, decoded)
	meter.End("sync, Options.Decoded", int64(args.Objects), nil)
	eachOf(args, refs, decoded.Store(), func(*K) {})
	meter.End("get, shared", int64(args.Events), nil)
	eachOf(args, refs, decoded.Store(), func(obj *K) { any(obj).(runtime.Object).DeepCopyObject() })
	meter.End("get, a copy of the shared one", int64(args.Events), nil)
}

// eachOf reads args.Events objects, one after another.
func eachOf[K any](args measure.Args, refs []resource.Ref[K], store reflector.Store[K], use func(*K)) {
	for i := range args.Events {
		obj, err := store.Get(refs[i*7919%len(refs)])
		measure.Check(err)
		use(obj)
	}
}
