package kubetest_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
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
	"github.com/go-kube/kube/resource"
	"github.com/go-kube/kube/runtime/controller"
)

// warnings collects what a controller warns of.
type warnings struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

// Write implements io.Writer.
func (w *warnings) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.buf.Write(p)
}

func (w *warnings) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.buf.String()
}

func (w *warnings) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelWarn}))
}

// Two controllers want a Deployment to have different replicas. Both say so, and who the other is: also the one
// that takes its time between the event and the write, which the other has written before whenever it writes.
func TestTwoControllersThatContestAField(t *testing.T) {
	for name, takes := range map[string][2]time.Duration{
		"equally fast":       {time.Millisecond, time.Millisecond + 7*time.Microsecond},
		"the first is slow":  {40*time.Millisecond + 7*time.Microsecond, time.Millisecond},
		"the second is slow": {time.Millisecond, 40*time.Millisecond + 7*time.Microsecond},
	} {
		t.Run(name, func(t *testing.T) { synctest.Test(t, func(t *testing.T) { contestField(t, takes) }) })
	}
}

func contestField(t *testing.T, takes [2]time.Duration) {
	srv := kubetest.Start(t, nil)
	maps := srv.Client().All(core.ConfigMaps)
	var said [2]warnings
	for i, manager := range []string{"web-operator", "scaler"} {
		reconcile := func(ctx context.Context, cm *corev1.ConfigMap) (controller.Action, error) {
			if cm.Name != "hello" {
				return controller.Await(), nil
			}
			time.Sleep(takes[i])
			d := deploymentOf(cm)
			d.Spec.Replicas = new(int32(3 + i))
			_, err := srv.Client().Namespaced(apps.Deployments, "default").Apply(ctx, d, manager, nil)
			return controller.Await(), err
		}
		ctl := controller.New(maps, reconcile, &controller.Options{Name: manager, Logger: said[i].logger()})
		ctl.Owns(srv.Client().All(apps.Deployments))
		srv.Go(ctl.Run)
	}
	synctest.Wait()
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "hello"}, Data: map[string]string{"image": "nginx:1.27"}}
	if _, err := maps.Create(t.Context(), cm, nil); err != nil {
		t.Fatal(err)
	}
	time.Sleep(2 * time.Minute)
	for i, other := range []string{"scaler", "web-operator"} {
		text := said[i].String()
		if strings.Count(text, "over and over") != 1 {
			t.Errorf("%q, which is up against %s, want one report", text, other)
		}
		for _, want := range []string{`written="[Deployment default/hello]"`, "fields=[.spec.replicas]", "managers=[" + other + "]"} {
			if !strings.Contains(text, want) {
				t.Errorf("report %q, want %s in it", text, want)
			}
		}
	}
	generation := func() int64 {
		d, err := srv.Client().Namespaced(apps.Deployments, "default").Get(t.Context(), "hello")
		if err != nil {
			t.Fatal(err)
		}
		return d.Generation
	}
	before := generation()
	time.Sleep(10 * time.Minute)
	if n := generation() - before; before > 80 || n < 60 || n > 2*60+2 {
		t.Errorf("%d changes in two minutes and %d in the ten after, want at most one of each every 10s", before, n)
	}
}

// While runs of equals wait for what the other side writes, a change of anything else runs the reconcilers at once.
func TestWhoStepsAsideHoldsUpNothingElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := kubetest.Start(t, nil)
		maps := srv.Client().Namespaced(core.ConfigMaps, "default")
		var runs [2]atomic.Int64
		for i, manager := range []string{"web-operator", "scaler"} {
			ctl := controller.New(maps, func(ctx context.Context, cm *corev1.ConfigMap) (controller.Action, error) {
				if cm.Name != "hello" {
					return controller.Await(), nil
				}
				runs[i].Add(1)
				time.Sleep(time.Millisecond + time.Duration(7*i)*time.Microsecond)
				d := deploymentOf(cm)
				d.Spec.Replicas = new(int32(3 + i))
				_, err := srv.Client().Namespaced(apps.Deployments, "default").Apply(ctx, d, manager, nil)
				return controller.Await(), err
			}, &controller.Options{Name: manager})
			ctl.Owns(srv.Client().All(apps.Deployments))
			srv.Go(ctl.Run)
		}
		synctest.Wait()
		cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "hello"}, Data: map[string]string{"image": "nginx:1.27"}}
		if _, err := maps.Create(t.Context(), cm, nil); err != nil {
			t.Fatal(err)
		}
		time.Sleep(500 * time.Millisecond)
		before := [2]int64{runs[0].Load(), runs[1].Load()}
		time.Sleep(100 * time.Millisecond)
		if now := [2]int64{runs[0].Load(), runs[1].Load()}; now != before || now[0] > 40 {
			t.Fatalf("%d runs, and %d in 100ms more; want both to wait", before, now)
		}
		if _, err := maps.Patch(t.Context(), "hello", kube.MergePatch(map[string]any{"data": map[string]any{"image": "nginx:1.28"}}), nil); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Millisecond)
		if now := [2]int64{runs[0].Load(), runs[1].Load()}; now[0] == before[0] || now[1] == before[1] {
			t.Errorf("10ms after a change of the owner there are %d runs, want more than %d of each", now, before)
		}
	})
}

// A change that only managedFields show looks as if somebody else wrote in between. It is a loop all the same.
func TestAFieldManagerOfANewNameEachTimeIsALoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := kubetest.Start(t, nil)
		var said warnings
		var runs atomic.Int64
		deployments := srv.Client().Namespaced(apps.Deployments, "default")
		ctl := controller.New(srv.Client().Namespaced(core.ConfigMaps, "default"), func(ctx context.Context, cm *corev1.ConfigMap) (controller.Action, error) {
			if cm.Name != "hello" {
				return controller.Await(), nil
			}
			_, err := deployments.Apply(ctx, deploymentOf(cm), fmt.Sprint("web-", runs.Add(1)), nil)
			return controller.Await(), err
		}, &controller.Options{Logger: said.logger()})
		ctl.Owns(deployments)
		srv.Go(ctl.Run)
		synctest.Wait()
		cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "hello"}, Data: map[string]string{"image": "nginx:1.27"}}
		if _, err := srv.Client().All(core.ConfigMaps).Create(t.Context(), cm, nil); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		text := said.String()
		if strings.Count(text, "over and over") != 1 || !strings.Contains(text, "because of what its reconciler writes,") {
			t.Errorf("the log has %q, want one report", text)
		}
		if n := runs.Load(); n > 30 {
			t.Errorf("%d runs in a minute, want some twenty at once and then one every 10s", n)
		}
	})
}

// The garbage collector deletes what names an owner that is gone: a reconciler whose cache still has the owner
// makes it again.
func TestAChildThatTheGarbageCollectorDeletes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := kubetest.Start(t, nil)
		var said warnings
		var created atomic.Int64
		secrets := srv.Client().Namespaced(core.Secrets, "default")
		reconcile := func(ctx context.Context, cm *corev1.ConfigMap) (controller.Action, error) {
			if cm.Name != "hello" {
				return controller.Await(), nil
			}
			_, found, err := secrets.Lookup(ctx, "hello")
			if err != nil || found {
				return controller.Await(), err
			}
			created.Add(1)
			gone := core.ConfigMaps.ControllerOwner(cm)
			gone.UID = "of-an-earlier-one"
			_, err = secrets.Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
				Name: "hello", OwnerReferences: []metav1.OwnerReference{gone},
			}}, nil)
			return controller.Await(), err
		}
		ctl := controller.New(srv.Client().All(core.ConfigMaps), reconcile, &controller.Options{Logger: said.logger()})
		ctl.Watches(srv.Client().All(core.Secrets), func(s *corev1.Secret) []resource.Ref[corev1.ConfigMap] {
			return []resource.Ref[corev1.ConfigMap]{{Namespace: s.Namespace, Name: s.Name}}
		})
		srv.Go(ctl.Run)
		synctest.Wait()
		cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "hello"}}
		if _, err := srv.Client().All(core.ConfigMaps).Create(t.Context(), cm, nil); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		text := said.String()
		if strings.Count(text, "over and over") != 1 || !strings.Contains(text, `written="[Secret default/hello]"`) || !strings.Contains(text, "undone=[deleted]") {
			t.Errorf("the log has %q, want one report of the Secret that is deleted", text)
		}
		created.Store(0)
		time.Sleep(10 * time.Minute)
		if n := created.Load(); n < 20 || n > 61 {
			t.Errorf("created %d times in ten minutes, want at most once every 10s", n)
		}
	})
}

// A rollout changes a Deployment's status often. A controller that applies it each time is not in a loop.
func TestARolloutIsNoLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := kubetest.Start(t, nil)
		var said warnings
		deployments := srv.Client().Namespaced(apps.Deployments, "default")
		var last atomic.Int32
		reconcile := func(ctx context.Context, cm *corev1.ConfigMap) (controller.Action, error) {
			if cm.Name != "hello" {
				return controller.Await(), nil
			}
			d, err := deployments.Apply(ctx, deploymentOf(cm), "web-operator", nil)
			if err != nil {
				return controller.Await(), err
			}
			last.Store(d.Status.ReadyReplicas)
			_, err = srv.Client().Namespaced(core.ConfigMaps, "default").Patch(ctx, cm.Name, kube.MergePatch(map[string]any{
				"metadata": map[string]any{"annotations": map[string]any{"ready": string(rune('a' + d.Status.ReadyReplicas%26))}},
			}), nil)
			return controller.Await(), err
		}
		ctl := controller.New(srv.Client().All(core.ConfigMaps), reconcile, &controller.Options{Logger: said.logger()})
		ctl.Owns(srv.Client().All(apps.Deployments))
		srv.Go(ctl.Run)
		synctest.Wait()
		cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "hello"}, Data: map[string]string{"image": "nginx:1.27"}}
		if _, err := srv.Client().All(core.ConfigMaps).Create(t.Context(), cm, nil); err != nil {
			t.Fatal(err)
		}
		settle()
		for n := range int32(150) {
			_, err := deployments.Status().Patch(t.Context(), "hello", kube.MergePatch(map[string]any{"status": appsv1.DeploymentStatus{Replicas: n + 1, ReadyReplicas: n + 1}}), nil)
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(100 * time.Millisecond)
			synctest.Wait()
			if last.Load() != n+1 {
				t.Fatalf("after 100ms the reconciler has seen %d ready replicas, want %d", last.Load(), n+1)
			}
		}
		if text := said.String(); text != "" || ctl.Stats().Looping > 0 {
			t.Errorf("warnings %q, Looping = %d", text, ctl.Stats().Looping)
		}
	})
}
