package crd_test

import (
	"embed"
	"fmt"

	"github.com/go-kube/kube/crd"
	"github.com/go-kube/kube/resource"
)

// WebAppSpec is what the user asks for.
type WebAppSpec struct {
	// Image is the container image to run.
	Image string `json:"image" schema:"minLength=1"`
	// Replicas is how many copies run.
	Replicas int32 `json:"replicas" schema:"minimum=0,maximum=100,default=1"`
}

// WebAppStatus is what the operator saw.
type WebAppStatus struct {
	AvailableReplicas int32 `json:"availableReplicas"`
	Ready             bool  `json:"ready"`
}

// WebApp is a container image that serves.
type WebApp = resource.Object[WebAppSpec, WebAppStatus]

var WebApps = resource.DefineNamespaced[WebApp](resource.Info{
	Group: "example.com", Version: "v1", Kind: "WebApp", ShortNames: []string{"wa"},
})

//go:embed example_test.go
var source embed.FS

func ExampleFor() {
	def, err := crd.For(WebApps, &crd.Options{
		Source: source,
		Columns: []crd.Column{
			{Name: "Ready", Type: "boolean", JSONPath: ".status.ready"},
			{Name: "Age", Type: "date", JSONPath: ".metadata.creationTimestamp"},
		},
		Scale: &crd.Scale{SpecReplicasPath: ".spec.replicas", StatusReplicasPath: ".status.availableReplicas"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	manifest, err := crd.YAML(def)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(string(manifest))
	// Output:
}
