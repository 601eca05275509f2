package controller_test

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/go-kube/kube/crd"
	"github.com/go-kube/kube/k8s/apiextensions"
	"github.com/go-kube/kube/k8s/core"
	"github.com/go-kube/kube/resource"
	"github.com/go-kube/kube/runtime/controller"
	"github.com/go-kube/kube/test/servers"
)

type realm = resource.Object[struct{}, struct{}]

// One kind in two versions, and not in namespaces.
var (
	realms   = resource.DefineCluster[realm](resource.Info{Group: "owners.example.com", Version: "v1", Kind: "Realm"})
	oldRealm = resource.DefineCluster[realm](resource.Info{Group: "owners.example.com", Version: "v1beta1", Kind: "Realm"})
)

func realmDefinition() *apiextensionsv1.CustomResourceDefinition {
	def := &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "realms.owners.example.com"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "owners.example.com", Scope: apiextensionsv1.ClusterScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "realms", Singular: "realm", Kind: "Realm", ListKind: "RealmList"},
		},
	}
	for _, version := range []string{"v1", "v1beta1"} {
		def.Spec.Versions = append(def.Spec.Versions, apiextensionsv1.CustomResourceDefinitionVersion{
			Name: version, Served: true, Storage: version == "v1",
			Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object"}},
		})
	}
	return def
}

// Objects in two namespaces have two owners that are in none, and name one of them by a version that
// the controller does not use. Each owner is reconciled when one of them comes, and when it goes.
func TestOwnersOfAllSorts(t *testing.T) {
	server := servers.Shared(t)
	client := connect(t, server)
	t.Cleanup(func() {
		if err := client.All(apiextensions.CustomResourceDefinitions).Delete(context.Background(), "realms.owners.example.com", nil); err != nil {
			t.Error(err)
		}
	})
	if err := crd.Install(t.Context(), client, "test", realmDefinition()); err != nil {
		t.Fatal(err)
	}
	a := create(t, client.All(realms), &realm{ObjectMeta: metav1.ObjectMeta{Name: "a"}})
	b := create(t, client.All(realms), &realm{ObjectMeta: metav1.ObjectMeta{Name: "b"}})

	runs := make(chan string, 100)
	ctl := controller.New(client.All(realms), func(ctx context.Context, r *realm) (controller.Action, error) {
		switch reason := controller.ReasonFrom(ctx); reason.Kind {
		case controller.Related:
			runs <- r.Name + " for " + reason.Name
		case controller.Found:
			runs <- r.Name + " found"
		}
		return controller.Await(), nil
	}, nil)
	ctl.Owns(client.All(core.ConfigMaps))
	run(t, ctl)
	wantRuns(t, runs, "a found", "b found") // the related objects are known then

	for i, ns := range []string{server.NewNamespace(t), server.NewNamespace(t)} {
		maps := client.Namespaced(core.ConfigMaps, ns)
		name := []string{"first", "second"}[i]
		create(t, maps, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, OwnerReferences: []metav1.OwnerReference{
			oldRealm.Owner(a), realms.ControllerOwner(b),
		}}})
		wantRuns(t, runs, "a for "+name, "b for "+name)
		if err := maps.Delete(t.Context(), name, nil); err != nil {
			t.Fatal(err)
		}
		wantRuns(t, runs, "a for "+name, "b for "+name)
	}
}

// wantRuns waits until each of want has come once.
func wantRuns(t *testing.T, runs <-chan string, want ...string) {
	t.Helper()
	missing := map[string]bool{}
	for _, run := range want {
		missing[run] = true
	}
	late := time.After(time.Minute)
	for len(missing) > 0 {
		select {
		case run := <-runs:
			if !missing[run] {
				t.Errorf("run of %s, want those of %v", run, missing)
			}
			delete(missing, run)
		case <-late:
			t.Fatalf("no runs of %v", missing)
		}
	}
}
