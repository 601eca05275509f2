package main

import (
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/k8s/apps"
	"github.com/go-kube/kube/kubetest"
	"github.com/go-kube/kube/resource"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// The operator's tests run against an API server in memory, in a bubble where time passes when
// everybody waits: a minute here takes some milliseconds.

// start runs the operator beside the WebApp hello, with three copies.
func start(t *testing.T) (*kubetest.Server, kube.API[WebApp]) {
	definition, err := WebAppCRD()
	if err != nil {
		t.Fatal(err)
	}
	srv := kubetest.Start(t, &kubetest.Options{CRDs: []*apiextensionsv1.CustomResourceDefinition{definition}})
	srv.Go(newController(srv.Client(), slog.New(slog.DiscardHandler)).Run)
	webapps := srv.Client().Namespaced(WebApps, "default")
	hello := resource.New(WebApps, "hello", WebAppSpec{Image: "nginx:1.27", Replicas: 3})
	if _, err := webapps.Create(t.Context(), hello, nil); err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Second)
	return srv, webapps
}

func TestDeploymentFollows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, webapps := start(t)
		deployments := srv.Client().Namespaced(apps.Deployments, "default")
		for _, replicas := range []int32{5, 0, 100} {
			patch := kube.MergePatch(map[string]any{"spec": map[string]any{"replicas": replicas}})
			app, err := webapps.Patch(t.Context(), "hello", patch, nil)
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
			d, err := deployments.Get(t.Context(), "hello")
			if err != nil {
				t.Fatal(err)
			}
			if *d.Spec.Replicas != replicas || len(d.OwnerReferences) != 1 || d.OwnerReferences[0].UID != app.UID {
				t.Errorf("%d replicas, owned by %v; want %d, owned by %s", *d.Spec.Replicas, d.OwnerReferences, replicas, app.UID)
			}
		}
	})
}

func TestDeploymentIsHealed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, _ := start(t)
		deployments := srv.Client().Namespaced(apps.Deployments, "default")
		scale := kube.MergePatch(map[string]any{"spec": map[string]any{"replicas": 1}})
		if _, err := deployments.Patch(t.Context(), "hello", scale, nil); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		if d, err := deployments.Get(t.Context(), "hello"); err != nil || *d.Spec.Replicas != 3 {
			t.Errorf("after somebody scaled it: %v, %v; want 3 replicas", d, err)
		}
		if err := deployments.Delete(t.Context(), "hello", nil); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		if _, ok, err := deployments.Lookup(t.Context(), "hello"); !ok {
			t.Errorf("after somebody deleted it, it is not there: %v", err)
		}
	})
}

func TestStatusFollows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, webapps := start(t)
		deployments := srv.Client().Namespaced(apps.Deployments, "default")
		for _, available := range []int32{3, 2} {
			d, err := deployments.Get(t.Context(), "hello")
			if err != nil {
				t.Fatal(err)
			}
			d.Status.Replicas, d.Status.ReadyReplicas, d.Status.AvailableReplicas = 3, available, available
			if _, err := deployments.Status().Replace(t.Context(), d, nil); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
			app, err := webapps.Get(t.Context(), "hello")
			if err != nil {
				t.Fatal(err)
			}
			if want := (WebAppStatus{AvailableReplicas: available, Ready: available == 3}); app.Status == nil || *app.Status != want {
				t.Errorf("status %+v, want %+v", app.Status, want)
			}
		}
	})
}

// The cleanup runs before the object goes, and the Deployment goes with it.
func TestDelete(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, webapps := start(t)
		app, err := webapps.Get(t.Context(), "hello")
		if err != nil || !slices.Equal(app.Finalizers, []string{"webapp.example.com/cleanup"}) {
			t.Fatalf("%v, %v; want the operator's finalizer", app, err)
		}
		if err := webapps.Delete(t.Context(), "hello", nil); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		if _, ok, err := webapps.Lookup(t.Context(), "hello"); ok || err != nil {
			t.Errorf("the WebApp is still there: %t, %v", ok, err)
		}
		if _, ok, err := srv.Client().Namespaced(apps.Deployments, "default").Lookup(t.Context(), "hello"); ok || err != nil {
			t.Errorf("the Deployment is still there: %t, %v", ok, err)
		}
	})
}

// A server that is gone for a minute is an outage of a minute, and no more.
func TestOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, webapps := start(t)
		srv.Stop()
		time.Sleep(time.Minute)
		srv.Restart()
		patch := kube.MergePatch(map[string]any{"spec": map[string]any{"replicas": 4}})
		if _, err := webapps.Patch(t.Context(), "hello", patch, nil); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if d, err := srv.Client().Namespaced(apps.Deployments, "default").Get(t.Context(), "hello"); err != nil || *d.Spec.Replicas != 4 {
			t.Errorf("a minute after the outage: %v, %v; want 4 replicas", d, err)
		}
	})
}

// What nobody could run is refused, in words that say why.
func TestRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, webapps := start(t)
		for _, test := range []struct {
			spec WebAppSpec
			want string
		}{
			{WebAppSpec{Image: "nginx:1.27", Replicas: -1}, "spec.replicas in body should be greater than or equal to 0"},
			{WebAppSpec{Image: "nginx:1.27", Replicas: 101}, "spec.replicas in body should be less than or equal to 100"},
			{WebAppSpec{Replicas: 1}, "spec.image in body should be at least 1 chars long"},
		} {
			_, err := webapps.Create(t.Context(), resource.New(WebApps, "refused", test.spec), nil)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%+v: %v, want %q", test.spec, err, test.want)
			}
		}
	})
}
