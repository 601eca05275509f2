package main

import (
	"github.com/go-kube/kube"
	"github.com/go-kube/kube/bench/internal/measure"
	"github.com/go-kube/kube/resource"
	"github.com/go-kube/kube/runtime/reflector"
)

// runRead reads from a store of bytes, where every Get is a copy, and from one that keeps
// objects decoded, where all get the same.
func runRead[K any, P resource.ObjectPtr[K]](args measure.Args, meter *measure.Meter, api kube.API[K]) {
	plain, decoded := reflector.New(api, nil), reflector.New(api, &reflector.Options{Decoded: true})
	follow(args, plain)
	follow(args, decoded)
	var refs []resource.Ref[K]
	for obj := range plain.Store().All() {
		refs = append(refs, obj.Ref())
	}
	rounds := max(1, args.Events/args.Objects)
	meter.End("sync", int64(args.Objects), nil)
	for _, phase := range []struct {
		name  string
		store reflector.Store[K]
	}{{"get, a copy", plain.Store()}, {"get, shared", decoded.Store()}} {
		for i := range args.Events {
			_, err := phase.store.Get(refs[i*7919%len(refs)])
			measure.Check(err)
		}
		meter.End(phase.name, int64(args.Events), nil)
	}
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
}
