// Command webapp is an operator: it runs a Deployment for each WebApp and reports how many
// copies serve. It installs its CustomResourceDefinition by itself.
package main

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/crd"
	"github.com/go-kube/kube/k8s/apps"
	"github.com/go-kube/kube/runtime/controller"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// manager owns the fields that this operator applies.
const manager = "webapp-operator"

type operator struct {
	client *kube.Client
	logger *slog.Logger
}

// apply makes the Deployment and the status of app as they should be.
func (o *operator) apply(ctx context.Context, app *WebApp) (controller.Action, error) {
	deployments := o.client.Namespaced(apps.Deployments, app.Namespace)
	deployment, err := deployments.Apply(ctx, o.deployment(app), manager, nil)
	if err != nil {
		return controller.Await(), err
	}
	status := WebAppStatus{
		AvailableReplicas: deployment.Status.AvailableReplicas,
		Ready:             deployment.Status.AvailableReplicas >= app.Spec.Replicas,
	}
	_, err = o.client.Namespaced(WebApps, app.Namespace).Status().Apply(ctx, app.WithStatus(status), manager, nil)
	return controller.After(5 * time.Minute), err
}

// deployment is what should run for app: only what is set here is owned.
func (o *operator) deployment(app *WebApp) *appsv1.Deployment {
	labels := map[string]string{"app": app.Name}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: app.Name, OwnerReferences: []metav1.OwnerReference{WebApps.ControllerOwner(app)}},
		Spec: appsv1.DeploymentSpec{
			Replicas: &app.Spec.Replicas,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: app.Spec.Image}}},
			},
		},
	}
}

// cleanup runs before app goes: the place to release what lives outside the cluster. The
// Deployment needs nothing here, Kubernetes collects it by its owner reference.
func (o *operator) cleanup(ctx context.Context, app *WebApp) (controller.Action, error) {
	o.logger.Info("cleaned up", "namespace", app.Namespace, "name", app.Name)
	return controller.Await(), nil
}

func newController(client *kube.Client, logger *slog.Logger) *controller.Controller[WebApp] {
	o := &operator{client, logger}
	webapps := client.All(WebApps)
	ctl := controller.New(webapps, controller.Finalize(webapps, "webapp.example.com/cleanup", o.apply, o.cleanup),
		&controller.Options{Logger: logger})
	ctl.Owns(client.All(apps.Deployments))
	return ctl
}

func run(ctx context.Context, logger *slog.Logger) error {
	client, err := kube.Default()
	if err != nil {
		return err
	}
	definition, err := WebAppCRD()
	if err != nil {
		return err
	}
	if err := crd.Install(ctx, client, manager, definition); err != nil {
		return err
	}
	return newController(client, logger).Run(ctx)
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	logger := slog.New(slog.NewTextHandler(os.Stderr, nil))
	if err := run(ctx, logger); err != nil {
		logger.Error("webapp-operator stopped", "error", err)
		os.Exit(1)
	}
}
