package crd_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/go-kube/kube/crd"
	kube "github.com/go-kube/kube/resource"
)

// faults returns what For says of a spec, line by line, without the line that names the kind.
func faults[Spec any](t *testing.T) []string {
	t.Helper()
	return lines(crd.For(define[kube.Object[Spec, struct{}]]("Bad"), nil))
}

func lines(def *apiextensionsv1.CustomResourceDefinition, err error) []string {
	switch {
	case err == nil:
		return []string{"no error"}
	case def != nil:
		return []string{"a definition beside the error " + err.Error()}
	}
	return strings.Split(err.Error(), "\n")[1:]
}

func same(t *testing.T, got []string, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("errors (-want +got):\n%s", diff)
	}
}

func TestFieldError(t *testing.T) {
	type Spec struct {
		A int32 `json:"a" schema:"minimun=1"`
	}
	_, err := crd.For(define[kube.Object[Spec, struct{}]]("Bad"), nil)
	var field *crd.FieldError
	if !errors.As(err, &field) || field.Field != "Spec.A" || !strings.Contains(field.Unwrap().Error(), "minimun") {
		t.Errorf("errors.As gave %+v from %v", field, err)
	}
	if want := "crd: bads.v1.golden.example.com:\n"; !strings.HasPrefix(err.Error(), want) {
		t.Errorf("the error does not begin with %q: %v", want, err)
	}
}
