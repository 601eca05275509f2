// Command idle is the smallest operator: a controller of one custom resource, which reaches its
// cluster as programs do.
package main

import (
	"context"
	"log/slog"
	"os"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/go-kube/kube/bench/internal/webapp"
)

func main() {
	ctrl.SetLogger(logr.FromSlogHandler(slog.Default().Handler()))
	if err := run(ctrl.SetupSignalHandler()); err != nil {
		slog.Error("operator", "error", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	config, err := ctrl.GetConfig()
	if err != nil {
		return err
	}
	scheme := runtime.NewScheme()
	scheme.AddKnownTypes(webapp.GroupVersion, &webapp.WebApp{})
	scheme.AddKnownTypeWithName(webapp.GroupVersion.WithKind("WebAppList"), &webapp.List{})
	metav1.AddToGroupVersion(scheme, webapp.GroupVersion)
	manager, err := ctrl.NewManager(config, ctrl.Options{Scheme: scheme, Metrics: metricsserver.Options{BindAddress: "0"}})
	if err != nil {
		return err
	}
	reader := manager.GetClient()
	err = ctrl.NewControllerManagedBy(manager).For(&webapp.WebApp{}).Complete(reconcile.Func(func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
		var app webapp.WebApp
		if err := reader.Get(ctx, request.NamespacedName, &app); err != nil {
			return reconcile.Result{}, client.IgnoreNotFound(err)
		}
		slog.Info("reconciled", "namespace", app.Namespace, "name", app.Name)
		return reconcile.Result{}, nil
	}))
	if err != nil {
		return err
	}
	return manager.Start(ctx)
}
