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
	// apiVersion: apiextensions.k8s.io/v1
	// kind: CustomResourceDefinition
	// metadata:
	//   name: webapps.example.com
	// spec:
	//   group: example.com
	//   names:
	//     kind: WebApp
	//     listKind: WebAppList
	//     plural: webapps
	//     shortNames:
	//     - wa
	//     singular: webapp
	//   scope: Namespaced
	//   versions:
	//   - additionalPrinterColumns:
	//     - jsonPath: .status.ready
	//       name: Ready
	//       type: boolean
	//     - jsonPath: .metadata.creationTimestamp
	//       name: Age
	//       type: date
	//     name: v1
	//     schema:
	//       openAPIV3Schema:
	//         description: WebApp is a container image that serves.
	//         properties:
	//           apiVersion:
	//             type: string
	//           kind:
	//             type: string
	//           metadata:
	//             type: object
	//           spec:
	//             description: WebAppSpec is what the user asks for.
	//             properties:
	//               image:
	//                 description: Image is the container image to run.
	//                 minLength: 1
	//                 type: string
	//               replicas:
	//                 default: 1
	//                 description: Replicas is how many copies run.
	//                 format: int32
	//                 maximum: 100
	//                 minimum: 0
	//                 type: integer
	//             required:
	//             - image
	//             type: object
	//           status:
	//             description: WebAppStatus is what the operator saw.
	//             properties:
	//               availableReplicas:
	//                 format: int32
	//                 type: integer
	//               ready:
	//                 type: boolean
	//             required:
	//             - availableReplicas
	//             - ready
	//             type: object
	//         required:
	//         - spec
	//         type: object
	//     served: true
	//     storage: true
	//     subresources:
	//       scale:
	//         specReplicasPath: .spec.replicas
	//         statusReplicasPath: .status.availableReplicas
	//       status: {}
}
