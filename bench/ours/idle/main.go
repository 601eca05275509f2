// Command idle is the smallest operator: a controller of one custom resource, which reaches its
// cluster as programs do.
package main

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/bench/internal/webapp"
	"github.com/go-kube/kube/resource"
	"github.com/go-kube/kube/runtime/controller"
)

var webApps = resource.DefineNamespaced[webapp.WebApp](resource.Info{Group: "example.com", Version: "v1", Kind: "WebApp"})

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		slog.Error("operator", "error", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	client, err := kube.Default()
	if err != nil {
		return err
	}
	return controller.New(client.All(webApps), reconcile, nil).Run(ctx)
}

func reconcile(_ context.Context, app *webapp.WebApp) (controller.Action, error) {
	slog.Info("reconciled", "namespace", app.Namespace, "name", app.Name)
	return controller.Await(), nil
}
