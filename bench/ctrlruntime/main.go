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
	switch args.Scenario {
	case "reconcile":
		runReconcile(args, meter, newManager(args))
	case "read":
		runRead(args, meter, newManager(args))
	case "unary":
		runUnary(args, meter)
	default:
		panic("controller-runtime has no scenario " + args.Scenario)
	}
}

// newConfig leaves the choice of the format to controller-runtime, which takes protobuf for
// built-in kinds, unless it is to be JSON.
func newConfig(args measure.Args) *rest.Config {
	config := &rest.Config{Host: args.Server, QPS: -1}
	if args.Format == "json" {
		config.ContentType, config.AcceptContentTypes = args.MediaType(), args.MediaType()
	}
	return config
}

func newManager(args measure.Args) ctrl.Manager {
	manager, err := ctrl.NewManager(newConfig(args), ctrl.Options{
		Scheme:  newScheme(),
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
