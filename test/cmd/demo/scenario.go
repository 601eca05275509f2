package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/k8s/apps"
	"github.com/go-kube/kube/resource"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// The demo is a user of the operator: it knows the kind by its API only.
type (
	spec struct {
		Image    string `json:"image"`
		Replicas int32  `json:"replicas"`
	}
	status struct {
		AvailableReplicas int32 `json:"availableReplicas"`
		Ready             bool  `json:"ready"`
	}
	webApp = resource.Object[spec, status]
)

var webApps = resource.DefineNamespaced[webApp](resource.Info{Group: "example.com", Version: "v1", Kind: "WebApp"})

const (
	name    = "hello"
	timeout = 60 * time.Second // of one step
)

type demo struct {
	*teller
	apps        kube.API[webApp]
	deployments kube.API[appsv1.Deployment]
	operator    *operator
	collects    bool      // whether the server removes what a deleted object owned
	uid         types.UID // of the Deployment, which must never change
}

func newDemo(t *teller, client *kube.Client, o *operator) *demo {
	return &demo{
		teller:      t,
		apps:        client.Namespaced(webApps, "default"),
		deployments: client.Namespaced(apps.Deployments, "default"),
		operator:    o,
	}
}

// play runs the steps in order and stops at the first that fails.
func (d *demo) play(ctx context.Context) (err error) {
	defer func() {
		if d.operator.process != nil {
			err = errors.Join(err, d.operator.kill())
		}
	}()
	steps := []func(context.Context) error{
		d.install, d.create, d.scale, d.heal, d.serve, d.refuse, d.crash, d.delete,
	}
	for _, step := range steps {
		bounded, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("nothing happened for %s", timeout))
		err := step(bounded)
		cancel()
		if err != nil {
			return fmt.Errorf("%w\n%s", err, d.operator.log())
		}
	}
	return nil
}

// install starts the operator, which installs its kind.
func (d *demo) install(ctx context.Context) error {
	d.say("starting the operator")
	if err := d.operator.start(); err != nil {
		return err
	}
	for {
		_, err := d.apps.List(ctx, nil)
		if err == nil {
			d.say("the operator installed webapps.example.com from its Go types")
			return nil
		}
		if !errors.Is(err, kube.ErrNotFound) {
			return err
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (d *demo) create(ctx context.Context) error {
	d.say("creating WebApp hello: nginx:1.27, 3 replicas")
	app, err := d.apps.Create(ctx, resource.New(webApps, name, spec{Image: "nginx:1.27", Replicas: 3}), nil)
	if err != nil {
		return err
	}
	deployment, err := await(ctx, d.deployments, func(*appsv1.Deployment) bool { return true })
	if err != nil {
		return err
	}
	if err := ownedBy(deployment, app); err != nil {
		return err
	}
	container := deployment.Spec.Template.Spec.Containers[0]
	if *deployment.Spec.Replicas != 3 || container.Image != "nginx:1.27" {
		return fmt.Errorf("the Deployment has %d replicas of %s; 3 of nginx:1.27 were asked for", *deployment.Spec.Replicas, container.Image)
	}
	d.uid = deployment.UID
	d.say("its Deployment appeared: 3 replicas of nginx:1.27, owned by WebApp hello")
	return nil
}

func ownedBy(deployment *appsv1.Deployment, app *webApp) error {
	for _, ref := range deployment.OwnerReferences {
		if ref.UID == app.UID && ref.Kind == "WebApp" && ref.Controller != nil && *ref.Controller {
			return nil
		}
	}
	return fmt.Errorf("the Deployment is not owned by WebApp %s: %v", app.Name, deployment.OwnerReferences)
}

func (d *demo) setReplicas(ctx context.Context, n int32) error {
	_, err := d.apps.Patch(ctx, name, kube.MergePatch(map[string]any{"spec": map[string]any{"replicas": n}}), nil)
	return err
}

func (d *demo) scale(ctx context.Context) error {
	d.say("asking for 5 replicas")
	if err := d.setReplicas(ctx, 5); err != nil {
		return err
	}
	if _, err := await(ctx, d.deployments, replicas(5)); err != nil {
		return err
	}
	d.say("the Deployment followed: 5 replicas")
	return nil
}

func replicas(n int32) func(*appsv1.Deployment) bool {
	return func(d *appsv1.Deployment) bool { return d.Spec.Replicas != nil && *d.Spec.Replicas == n }
}

// heal has somebody else change what the operator owns.
func (d *demo) heal(ctx context.Context) error {
	d.say("another manager, intruder, scales the Deployment to 1")
	one := int32(1)
	changed, err := d.deployments.Apply(ctx, &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       appsv1.DeploymentSpec{Replicas: &one},
	}, "intruder", nil)
	if err != nil {
		return err
	}
	healed, err := await(ctx, d.deployments, func(o *appsv1.Deployment) bool {
		return replicas(5)(o) && o.Generation > changed.Generation
	})
	if err != nil {
		return err
	}
	d.say("healed: 5 replicas again (generation %d to %d)", changed.Generation, healed.Generation)
	return nil
}

// serve plays the part of the kubelet and of the deployment controller, which do not run here.
func (d *demo) serve(ctx context.Context) error {
	d.say("playing the kubelet: all 5 copies serve")
	current, err := d.deployments.Get(ctx, name)
	if err != nil {
		return err
	}
	current.Status = appsv1.DeploymentStatus{
		ObservedGeneration: current.Generation,
		Replicas:           5, UpdatedReplicas: 5, ReadyReplicas: 5, AvailableReplicas: 5,
	}
	if _, err := d.deployments.Status().Replace(ctx, current, nil); err != nil {
		return err
	}
	app, err := await(ctx, d.apps, func(a *webApp) bool {
		return a.Status != nil && a.Status.AvailableReplicas == 5 && a.Status.Ready
	})
	if err != nil {
		return err
	}
	d.say("the WebApp's status shows it: availableReplicas %d, ready %t", app.Status.AvailableReplicas, app.Status.Ready)
	return nil
}

func (d *demo) refuse(ctx context.Context) error {
	d.say("creating a WebApp with replicas -1")
	_, err := d.apps.Create(ctx, resource.New(webApps, "broken", spec{Image: "nginx:1.27", Replicas: -1}), nil)
	if !errors.Is(err, kube.ErrInvalid) {
		return fmt.Errorf("a WebApp with replicas -1 was not refused as invalid: %v", err)
	}
	d.say("refused: %v", err)
	return nil
}

// crash kills the operator between its two writes, as near as that can be hit from outside.
func (d *demo) crash(ctx context.Context) error {
	d.say("asking for 7 replicas, and killing the operator when the Deployment has changed")
	if err := d.setReplicas(ctx, 7); err != nil {
		return err
	}
	if _, err := await(ctx, d.deployments, replicas(7)); err != nil {
		return err
	}
	if err := d.operator.kill(); err != nil {
		return err
	}
	app, err := d.apps.Get(ctx, name)
	if err != nil {
		return err
	}
	half := "the status was still of before"
	if !app.Status.Ready {
		half = "the status had just been written too"
	}
	d.say("killed; %s. Asking for 9 replicas while no operator runs", half)
	if err := d.setReplicas(ctx, 9); err != nil {
		return err
	}
	if err := d.operator.start(); err != nil {
		return err
	}
	return d.converged(ctx)
}

// converged checks that the new operator finished the work and made nothing twice.
func (d *demo) converged(ctx context.Context) error {
	deployment, err := await(ctx, d.deployments, replicas(9))
	if err != nil {
		return err
	}
	if _, err := await(ctx, d.apps, func(a *webApp) bool { return a.Status != nil && !a.Status.Ready }); err != nil {
		return err
	}
	all, err := d.deployments.List(ctx, nil)
	if err != nil {
		return err
	}
	if len(all.Items) != 1 || deployment.UID != d.uid {
		return fmt.Errorf("there are %d Deployments, and hello's uid went from %s to %s", len(all.Items), d.uid, deployment.UID)
	}
	d.say("a new operator converged: 9 replicas, not ready yet, still the one Deployment")
	return nil
}

// collected waits for the garbage collector, where there is one.
func (d *demo) collected(ctx context.Context) error {
	if !d.collects {
		d.say("the WebApp is gone (its Deployment is left to the garbage collector, which does not run here)")
		return nil
	}
	if err := gone(ctx, d.deployments); err != nil {
		return err
	}
	d.say("the WebApp is gone, and its Deployment with it")
	return nil
}

func (d *demo) delete(ctx context.Context) error {
	d.say("deleting WebApp hello")
	if err := d.apps.Delete(ctx, name, nil); err != nil {
		return err
	}
	line, err := d.operator.logged(ctx, "cleaned up", "name="+name)
	if err != nil {
		return err
	}
	d.say("the operator's cleanup ran: %s", line)
	if err := gone(ctx, d.apps); err != nil {
		return err
	}
	if err := d.collected(ctx); err != nil {
		return err
	}
	took, err := d.operator.stop()
	if err != nil {
		return err
	}
	d.say("the operator stopped within %s of being asked", took.Round(time.Millisecond))
	return nil
}
