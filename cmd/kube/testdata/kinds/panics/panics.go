// Package panics panics.
package panics

import apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

// Definition panics.
func Definition() *apiextensionsv1.CustomResourceDefinition { panic("out of order") }

// Definitions returns a nil.
func Definitions() []*apiextensionsv1.CustomResourceDefinition {
	return []*apiextensionsv1.CustomResourceDefinition{nil}
}
