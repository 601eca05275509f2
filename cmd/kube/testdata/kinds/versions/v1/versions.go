// Package v1 has one of two versions.
package v1

import "github.com/go-kube/kube/resource"

// Spec is what is wanted.
type Spec struct {
	Text string `json:"text"`
}

// Pens is set by its type.
var Pens resource.Namespaced[resource.Object[Spec, struct{}]] = define()

func define() resource.Namespaced[resource.Object[Spec, struct{}]] {
	return resource.DefineNamespaced[resource.Object[Spec, struct{}]](resource.Info{Group: "example.com", Version: "v1", Kind: "Pen"})
}
