package kubetest_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/k8s/apps"
	"github.com/go-kube/kube/k8s/core"
	"github.com/go-kube/kube/kubetest"
	"github.com/go-kube/kube/runtime/controller"
)

// dayOperator makes a Deployment of each ConfigMap and looks at it again every ten minutes.
type dayOperator struct {
	client *kube.Client
	runs   atomic.Int64
}

func (o *dayOperator) reconcile(ctx context.Context, cm *corev1.ConfigMap) (controller.Action, error) {
	o.runs.Add(1)
	deployments := o.client.Namespaced(apps.Deployments, cm.Namespace)
	_, ok, err := deployments.Lookup(ctx, cm.Name)
	if err == nil && !ok {
		_, err = deployments.Create(ctx, deploymentOf(cm), nil)
	}
	return controller.After(10 * time.Minute), err
}

// TestDay is a day of an operator, with resyncs and three crashes of the server. It takes a
// moment.
func TestDay(t *testing.T) {
	start := time.Now()
	synctest.Test(t, func(t *testing.T) {
		srv := kubetest.Start(t, nil)
		o := &dayOperator{client: srv.Client()}
		ctl := controller.New(srv.Client().All(core.ConfigMaps), o.reconcile, nil)
		ctl.Owns(srv.Client().All(apps.Deployments))
		srv.Go(ctl.Run)
		maps := srv.Client().Namespaced(core.ConfigMaps, "default")
		for n := range 3 {
			cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("day-%d", n)}, Data: map[string]string{"image": "nginx"}}
			if _, err := maps.Create(t.Context(), cm, nil); err != nil {
				t.Fatal(err)
			}
		}
		for range 3 {
			time.Sleep(6 * time.Hour)
			srv.Stop()
			time.Sleep(time.Minute)
			srv.Restart()
		}
		time.Sleep(6 * time.Hour)
		deployments := srv.Client().Namespaced(apps.Deployments, "default")
		if err := deployments.Delete(t.Context(), "day-1", nil); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if list, err := deployments.List(t.Context(), nil); err != nil || len(list.Items) != 3 {
			t.Errorf("after a day: %v, %v; want 3 Deployments", list, err)
		}
		if want, runs := int64(3*24*6), o.runs.Load(); runs < want*9/10 {
			t.Errorf("%d reconciles in a day, want about %d", runs, want)
		}
	})
	t.Logf("a day took %s", time.Since(start).Round(time.Millisecond))
}
