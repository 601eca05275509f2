package derive

import (
	"context"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/crd"
	"github.com/go-kube/kube/internal/crdtest"
	"github.com/go-kube/kube/k8s/apiextensions"
	"github.com/go-kube/kube/test/apiserver"
)

func TestMain(m *testing.M) { apiserver.Main(m) }

// accept has a real API server judge a definition: it takes it, keeps what was sent, serves the
// kind, and changes nothing when it is applied again.
func accept(t *testing.T, def *apiextensionsv1.CustomResourceDefinition) bool {
	t.Helper()
	client := apiserver.NewClient(t, apiserver.Shared(t), apiserver.NoWarnings(t))
	api := client.All(apiextensions.CustomResourceDefinitions)
	defer func() {
		if err := api.Delete(context.Background(), def.Name, nil); err != nil {
			t.Errorf("deleting %s: %v", def.Name, err)
		}
	}()
	if err := crd.Install(t.Context(), client, "test", def); err != nil {
		t.Error(err)
		return false
	}
	first, err := api.Get(t.Context(), def.Name)
	if err != nil {
		t.Fatal(err)
	}
	kept := first.DeepCopy()
	if def.Spec.Conversion == nil {
		kept.Spec.Conversion = nil // the server's default
	}
	if diff := crdtest.Differences("", comparable(def), comparable(kept)); len(diff) > 0 {
		t.Errorf("the server keeps something else of %s:\n%s", def.Name, strings.Join(diff, "\n"))
		return false
	}
	return unchanged(t, client, def)
}

// unchanged reports whether applying a definition again leaves it as it is. The server writes
// conditions into its status on its own, for a while; then the comparison is made again.
func unchanged(t *testing.T, client *kube.Client, def *apiextensionsv1.CustomResourceDefinition) bool {
	t.Helper()
	api := client.All(apiextensions.CustomResourceDefinitions)
	first, err := api.Get(t.Context(), def.Name)
	if err != nil {
		t.Fatal(err)
	}
	for {
		if err := crd.Install(t.Context(), client, "test", def); err != nil {
			t.Error(err)
			return false
		}
		second, err := api.Get(t.Context(), def.Name)
		switch {
		case err != nil:
			t.Fatal(err)
		case first.ResourceVersion == second.ResourceVersion:
			return true
		case first.Generation != second.Generation || equality.Semantic.DeepEqual(first.Status, second.Status):
			t.Errorf("applying %s again made version %s of version %s", def.Name, second.ResourceVersion, first.ResourceVersion)
			return false
		}
		first = second
	}
}
