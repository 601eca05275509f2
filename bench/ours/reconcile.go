package main

import (
	"context"
	"sync/atomic"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/bench/internal/measure"
	"github.com/go-kube/kube/resource"
	"github.com/go-kube/kube/runtime/controller"
)

func runReconcile[K any, P resource.ObjectPtr[K]](args measure.Args, meter *measure.Meter, api kube.API[K]) {
	var count atomic.Int64
	var latencies measure.Latencies
	all, done := make(chan struct{}), make(chan struct{})
	ctl := controller.New(api, func(_ context.Context, obj *K) (controller.Action, error) {
		if args.Rate > 0 {
			latencies.AddSince(P(obj).GetAnnotations())
		}
		if args.Reconciled(count.Add(1)) {
			close(all)
		}
		if P(obj).GetLabels()[measure.DoneLabel] != "" {
			close(done)
		}
		return controller.Await(), nil
	}, &controller.Options{Concurrency: args.Workers})
	go func() { measure.Check(ctl.Run(context.Background())) }()
	<-all
	meter.End("start", count.Load(), nil)
	args.StartEvents()
	<-done
	meter.End("events", count.Load()-int64(args.Objects), &latencies)
}
