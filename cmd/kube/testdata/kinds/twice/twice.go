// Package twice has two functions for one definition.
package twice

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/go-kube/kube/crd"
	"github.com/go-kube/kube/resource"
)

type spec struct {
	Text string `json:"text"`
}

var kind = resource.DefineNamespaced[resource.Object[spec, struct{}]](resource.Info{Group: "example.com", Version: "v1", Kind: "Brush"})

// First is one.
func First() (*apiextensionsv1.CustomResourceDefinition, error) { return crd.For(kind, nil) }

// All is the other.
func All() ([]*apiextensionsv1.CustomResourceDefinition, error) {
	def, err := crd.For(kind, &crd.Options{Deprecated: true})
	return []*apiextensionsv1.CustomResourceDefinition{def}, err
}
