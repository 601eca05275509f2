// Package given has a kind whose definition only a function can tell.
package given

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/go-kube/kube/crd"
	"github.com/go-kube/kube/resource"
)

// Spec has no schema.
type Spec struct {
	Parts []Spec `json:"parts,omitempty"`
}

// Trees are described by TreeCRD.
var Trees = resource.DefineNamespaced[resource.Object[Spec, struct{}]](resource.Info{Group: "example.com", Version: "v1", Kind: "Tree"})

// TreeCRD takes any tree.
func TreeCRD() (*apiextensionsv1.CustomResourceDefinition, error) {
	return crd.For(Trees, &crd.Options{NoSchema: true})
}
