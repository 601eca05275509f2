package kubetest_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/k8s/apps"
	"github.com/go-kube/kube/k8s/core"
	"github.com/go-kube/kube/kubetest"
	"github.com/go-kube/kube/runtime/controller"
)

// deploymentOf is the Deployment that a controller makes of a ConfigMap.
func deploymentOf(cm *corev1.ConfigMap) *appsv1.Deployment {
	labels := map[string]string{"app": cm.Name}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: cm.Name, Namespace: cm.Namespace, OwnerReferences: []metav1.OwnerReference{core.ConfigMaps.ControllerOwner(cm)}},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: cm.Data["image"]}}},
			},
		},
	}
}

// TestController runs a controller in a bubble: what it owns is made, and made again.
func TestController(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		srv := kubetest.Start(t, nil)
		maps := srv.Client().All(core.ConfigMaps)
		deployments := srv.Client().Namespaced(apps.Deployments, "default")
		reconcile := func(ctx context.Context, cm *corev1.ConfigMap) (controller.Action, error) {
			_, ok, err := deployments.Lookup(ctx, cm.Name)
			if err == nil && !ok {
				_, err = deployments.Create(ctx, deploymentOf(cm), nil)
			}
			return controller.Await(), err
		}
		ctl := controller.New(maps, reconcile, nil)
		ctl.Owns(srv.Client().All(apps.Deployments))
		srv.Go(ctl.Run)
		synctest.Wait()

		cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "hello"}, Data: map[string]string{"image": "nginx:1.27"}}
		if _, err := maps.Create(ctx, cm, nil); err != nil {
			t.Fatal(err)
		}
		settle()
		first, err := deployments.Get(ctx, "hello")
		if err != nil {
			t.Fatal(err)
		}
		if err := deployments.Delete(ctx, "hello", &kube.DeleteOptions{Propagation: kube.PropagationBackground}); err != nil {
			t.Fatal(err)
		}
		settle()
		second, err := deployments.Get(ctx, "hello")
		if err != nil {
			t.Fatal(err)
		}
		if first.UID == second.UID {
			t.Error("the Deployment was not deleted")
		}
	})
}

// settle lets everything in the bubble happen that happens within a second.
func settle() {
	time.Sleep(time.Second)
	synctest.Wait()
}
