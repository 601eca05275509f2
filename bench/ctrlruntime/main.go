// Command ctrlruntime is the controller-runtime peer: a manager with a controller whose
// reconciler reads its object. It has the best settings that controller-runtime offers:
// protobuf where the kind has it, no limit of requests, managedFields dropped by a transform,
// and no deep copies of what is read from the cache, which the reconciler must not change then.
package main

import (
	"context"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/go-kube/kube/bench/internal/measure"
)

func main() {
	args := measure.Parse()
	meter := measure.NewMeter(args)
	ctrl.SetLogger(logr.Discard())
	manager := newManager(args)
	switch args.Scenario {
	case "reconcile":
		runReconcile(args, meter, manager)
	default:
		panic("controller-runtime has no scenario " + args.Scenario)
	}
}

func newManager(args measure.Args) ctrl.Manager {
	config := &rest.Config{Host: args.Server, QPS: -1, ContentConfig: rest.ContentConfig{
		ContentType: args.MediaType(), AcceptContentTypes: args.MediaType(),
	}}
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Metrics: metricsserver.Options{BindAddress: "0"},
		Cache:   cache.Options{DefaultTransform: cache.TransformStripManagedFields(), DefaultUnsafeDisableDeepCopy: new(true)},
	})
	measure.Check(err)
	return manager
}

// start runs manager until the program ends.
func start(manager ctrl.Manager) {
	go func() { measure.Check(manager.Start(context.Background())) }()
}
