// Package v1 has kinds with descriptors.
package v1

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/go-kube/kube/crd"
	"github.com/go-kube/kube/resource"
)

// ColorSpec is what a color is made of.
type ColorSpec struct {
	// Hue is the angle.
	Hue int32 `json:"hue" schema:"minimum=0,maximum=359"`
}

// Color is a color.
type Color = resource.Object[ColorSpec, struct{}]

// Colors has no function for its definition.
var Colors = resource.DefineCluster[Color](resource.Info{Group: "example.com", Version: "v1", Kind: "Color"})

// BrushSpec is a width.
type BrushSpec struct {
	Width int32 `json:"width"`
}

// Brush has a function for its definition.
type Brush = resource.Object[BrushSpec, struct{}]

// Brushes and BrushCRD are of one kind.
var Brushes = resource.DefineNamespaced[Brush](resource.Info{Group: "example.com", Version: "v1", Kind: "Brush"})

// part is a part of Brush.
type part struct {
	metav1.ObjectMeta `json:"metadata,omitempty"`
}

// Parts are brushes too, and make no definition.
var Parts resource.Namespaced[part] = resource.Partial[part](Brushes)

// BrushCRD is the definition of Brushes.
func BrushCRD() (*apiextensionsv1.CustomResourceDefinition, error) {
	return crd.For(Brushes, &crd.Options{Columns: []crd.Column{{Name: "Width", Type: "integer", JSONPath: ".spec.width"}}})
}
