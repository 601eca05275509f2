package main

import (
	"context"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/go-kube/kube/bench/internal/measure"
	"github.com/go-kube/kube/bench/internal/webapp"
)

// newScheme knows the built-in kinds and the custom resource.
func newScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	measure.Check(clientgoscheme.AddToScheme(scheme))
	scheme.AddKnownTypes(webapp.GroupVersion, &webapp.WebApp{})
	scheme.AddKnownTypeWithName(webapp.GroupVersion.WithKind("WebAppList"), &webapp.List{})
	metav1.AddToGroupVersion(scheme, webapp.GroupVersion)
	return scheme
}

// newObject returns an empty object of a kind.
func newObject(kind string) client.Object {
	switch kind {
	case "pods":
		return &corev1.Pod{}
	case "secrets":
		return &corev1.Secret{}
	case "webapps":
		return &webapp.WebApp{}
	default:
		panic("no kind " + kind)
	}
}

func runReconcile(args measure.Args, meter *measure.Meter, manager ctrl.Manager) {
	reader := manager.GetClient()
	var count atomic.Int64
	var latencies measure.Latencies
	all, done := make(chan struct{}), make(chan struct{})
	err := ctrl.NewControllerManagedBy(manager).For(newObject(args.Kind)).
		WithOptions(controller.Options{MaxConcurrentReconciles: args.Workers}).
		Complete(reconcile.Func(func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
			obj := newObject(args.Kind)
			if err := reader.Get(ctx, request.NamespacedName, obj); err != nil {
				return reconcile.Result{}, client.IgnoreNotFound(err)
			}
			if args.Rate > 0 {
				latencies.AddSince(obj.GetAnnotations())
			}
			if args.Reconciled(count.Add(1)) {
				close(all)
			}
			if obj.GetLabels()[measure.DoneLabel] != "" {
				close(done)
			}
			return reconcile.Result{}, nil
		}))
	measure.Check(err)
	start(manager)
	<-all
	meter.End("start", count.Load(), nil)
	args.StartEvents()
	<-done
	meter.End("events", count.Load()-int64(args.Objects), &latencies)
}
