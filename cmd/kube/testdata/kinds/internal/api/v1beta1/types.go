// Package v1beta1 is internal, and has a kind that is not right.
package v1beta1

import "github.com/go-kube/kube/resource"

// BadSpec has an unknown word.
type BadSpec struct {
	Text string `json:"text" schema:"maxLenght=3"`
	Rule string `json:"rule" schema:"rule='self.x == 1'"`
}

// Bads is its descriptor.
var Bads = resource.DefineNamespaced[resource.Object[BadSpec, struct{}]](resource.Info{Group: "example.com", Version: "v1beta1", Kind: "Bad"})
