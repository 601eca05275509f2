// Package told has a kind that is wrong, for its descriptor as for its function.
package told

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/go-kube/kube/crd"
	"github.com/go-kube/kube/resource"
)

// Spec has a word that does not exist.
type Spec struct {
	Text string `json:"text" schema:"maxLenght=3"`
}

// Inks are described by InkCRD.
var Inks = resource.DefineNamespaced[resource.Object[Spec, struct{}]](resource.Info{Group: "example.com", Version: "v1", Kind: "Ink"})

// InkCRD fails.
func InkCRD() (*apiextensionsv1.CustomResourceDefinition, error) { return crd.For(Inks, nil) }
