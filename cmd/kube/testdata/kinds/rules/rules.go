// Package rules has a rule that the API server refuses.
package rules

import "github.com/go-kube/kube/resource"

// Spec has no field missing.
type Spec struct {
	Text string `json:"text" schema:"rule='self.missing == 1'"`
}

// Rules is its descriptor.
var Rules = resource.DefineNamespaced[resource.Object[Spec, struct{}]](resource.Info{Group: "example.com", Version: "v1", Kind: "Rule"})
