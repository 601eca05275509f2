package main

import (
	"embed"

	"github.com/go-kube/kube/crd"
	"github.com/go-kube/kube/resource"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// WebAppSpec is what the user asks for.
type WebAppSpec struct {
	// Image is the container image to run.
	Image string `json:"image" schema:"minLength=1"`
	// Replicas is how many copies run.
	Replicas int32 `json:"replicas" schema:"minimum=0,maximum=100"`
}

// WebAppStatus is what the operator saw.
type WebAppStatus struct {
	// AvailableReplicas is how many copies serve.
	AvailableReplicas int32 `json:"availableReplicas"`
	// Ready is true when as many copies serve as were asked for.
	Ready bool `json:"ready"`
}

// WebApp is a web application: an image, so many times.
type WebApp = resource.Object[WebAppSpec, WebAppStatus]

// WebApps describes the kind.
var WebApps = resource.DefineNamespaced[WebApp](resource.Info{
	Group: "example.com", Version: "v1", Kind: "WebApp", ShortNames: []string{"wa"},
})

//go:embed types.go
var source embed.FS

// WebAppCRD derives the CustomResourceDefinition from the types above.
func WebAppCRD() (*apiextensionsv1.CustomResourceDefinition, error) {
	return crd.For(WebApps, &crd.Options{
		Source: source,
		Columns: []crd.Column{
			{Name: "Replicas", Type: "integer", JSONPath: ".spec.replicas"},
			{Name: "Ready", Type: "boolean", JSONPath: ".status.ready"},
		},
	})
}
