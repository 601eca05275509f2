// Package wait_test waits for what a real API server and kubetest do.
package wait_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/k8s/apiextensions"
	"github.com/go-kube/kube/k8s/batch"
	"github.com/go-kube/kube/k8s/core"
	"github.com/go-kube/kube/runtime/wait"
	"github.com/go-kube/kube/runtime/watcher"
	"github.com/go-kube/kube/test/apiserver"
	"github.com/go-kube/kube/test/servers"
)

func TestMain(m *testing.M) { servers.Main(m) }

// connect returns a client and a namespace, and a context that ends in time for a test that fails.
func connect(t *testing.T) (context.Context, *kube.Client, string) {
	t.Helper()
	server := servers.Shared(t)
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	t.Cleanup(cancel)
	return ctx, apiserver.NewClient(t, server), server.NewNamespace(t)
}

func TestDeleteWaitsForFinalizers(t *testing.T) {
	ctx, client, ns := connect(t)
	maps := client.Namespaced(core.ConfigMaps, ns)
	made, err := maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "m", Finalizers: []string{"example.com/x"}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	released := make(chan error, 1)
	go func() {
		for lazy, present := range watcher.Object(ctx, maps, "m", nil) {
			if present && lazy.DeletionTimestamp() != nil {
				_, err := maps.Patch(ctx, "m", kube.MergePatch(map[string]any{"metadata": map[string]any{"finalizers": nil}}), nil)
				released <- err
				return
			}
		}
		released <- errors.New("the deletion was not seen")
	}()
	if err := wait.Delete(ctx, maps, "m", nil); err != nil {
		t.Fatal(err)
	}
	if err := <-released; err != nil {
		t.Fatal(err)
	}
	if _, ok, err := maps.Lookup(ctx, "m"); ok || err != nil {
		t.Errorf("%s is there after waiting for its deletion, %v", made.Name, err)
	}
}

// One that takes the place of the object is not waited for.
func TestDeleteToleratesASuccessor(t *testing.T) {
	ctx, client, ns := connect(t)
	maps := client.Namespaced(core.ConfigMaps, ns)
	obj := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "m"}}
	first, err := maps.Create(ctx, obj, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := maps.Delete(ctx, "m", nil); err != nil {
		t.Fatal(err)
	}
	if _, err := maps.Create(ctx, obj, nil); err != nil {
		t.Fatal(err)
	}
	if got, err := wait.For(ctx, maps, "m", wait.Deleted[corev1.ConfigMap](first.UID)); err != nil || got.UID == first.UID {
		t.Errorf("%v, %v; want the successor", got, err)
	}
}

func gadget(plural, kind string) *apiextensionsv1.CustomResourceDefinition {
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: plural + ".wait.example.com"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "wait.example.com", Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: plural, Singular: strings.TrimSuffix(plural, "s"), Kind: kind, ListKind: kind + "List"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object"}},
			}},
		},
	}
}

// A definition is established, and another with the kind of the first never will be.
func TestEstablished(t *testing.T) {
	ctx, client, _ := connect(t)
	definitions := client.All(apiextensions.CustomResourceDefinitions)
	for i, plural := range []string{"gadgets", "gizmos"} {
		def, err := definitions.Create(ctx, gadget(plural, "Gadget"), nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := wait.Delete(context.Background(), definitions, def.Name, nil); err != nil {
				t.Error(err)
			}
		})
		_, err = wait.For(ctx, definitions, def.Name, wait.Established())
		if i == 0 && err != nil {
			t.Error(err)
		}
		if i == 1 && (!errors.Is(err, wait.ErrFailed) || !strings.Contains(err.Error(), "names are not accepted")) {
			t.Errorf("error %v, want one about the names", err)
		}
	}
}

// A job that fails ends the waiting for its completion; what was combined with it can still hold.
func TestAJobFails(t *testing.T) {
	ctx, client, ns := connect(t)
	jobs := client.Namespaced(batch.Jobs, ns)
	_, err := jobs.Create(ctx, &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: "j"},
		Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "c", Image: "none"}},
		}}},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	result := make(chan error, 1)
	go func() {
		_, err := wait.For(ctx, jobs, "j", wait.JobComplete())
		result <- err
	}()
	now := metav1.Now().Rfc3339Copy()
	condition := func(kind batchv1.JobConditionType) map[string]any {
		return map[string]any{"type": kind, "status": "True", "reason": "BackoffLimitExceeded", "message": "too often", "lastTransitionTime": now, "lastProbeTime": now}
	}
	_, err = jobs.Status().Patch(ctx, "j", kube.MergePatch(map[string]any{"status": map[string]any{
		"startTime": now, "conditions": []any{condition(batchv1.JobFailureTarget), condition(batchv1.JobFailed)},
	}}), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := <-result; !errors.Is(err, wait.ErrFailed) || !strings.Contains(err.Error(), "the job has failed: BackoffLimitExceeded: too often") {
		t.Errorf("error %v, want the failure with its reason", err)
	}
	if _, err := wait.For(ctx, jobs, "j", wait.Or(wait.JobComplete(), wait.Exists[batchv1.Job]())); err != nil {
		t.Errorf("error %v of a combination that holds", err)
	}
	if _, err := wait.For(ctx, jobs, "j", wait.Not(wait.JobComplete())); err != nil {
		t.Errorf("error %v of the opposite", err)
	}
}
