package main

import (
	"context"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/bench/internal/measure"
	"github.com/go-kube/kube/runtime/reflector"
)

// follow runs r, and returns when its changes have told of all objects. done is closed when the
// marked object has come.
func follow[K any](args measure.Args, r *reflector.Reflector[K]) (events *int64, done <-chan struct{}) {
	events = new(int64)
	known := 0
	all, marked := make(chan struct{}), make(chan struct{})
	go func() { measure.Check(r.Run(context.Background())) }()
	go func() {
		for change := range r.Changes(context.Background()) {
			if change.Initial {
				if known++; known == args.Objects {
					close(all)
				}
				continue
			}
			*events++
			if _, ok := change.Object.Label(measure.DoneLabel); ok {
				close(marked)
			}
		}
	}()
	<-all
	return events, marked
}

func runCache[K any](args measure.Args, meter *measure.Meter, api kube.API[K]) {
	r := reflector.New(api, nil)
	events, done := follow(args, r)
	meter.End("sync", int64(args.Objects), nil)
	if args.Scenario == "relist" {
		args.Expire()
		<-done
		meter.End("relist", int64(args.Objects), nil)
	} else {
		args.StartEvents()
		<-done
		meter.End("events", *events, nil)
	}
	_ = r.Store().Len() // the store is in memory to the end
}
