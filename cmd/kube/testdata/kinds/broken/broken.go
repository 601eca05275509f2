// Package broken does not build.
package broken

import apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

// Definition does not compile.
func Definition() *apiextensionsv1.CustomResourceDefinition { return missing }
