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

// Every mistake is reported at once, with the field and the word that was meant.
func ExampleFor_errors() {
	type QueueSpec struct {
		Name  string `json:"name" schema:"maxlength=63"`
		Size  int32  `json:"size" schema:"minLength=1"`
		Limit int32  `json:"limit" schema:"minimum=10,maximum=5"`
		Mode  string `json:"mode" schema:"enum=fifo|lifo,default=filo"`
	}
	_, err := crd.For(resource.DefineNamespaced[resource.Object[QueueSpec, struct{}]](resource.Info{
		Group: "example.com", Version: "v1", Kind: "Queue",
	}), nil)
	fmt.Println(err)
	// Output:
	// crd: queues.v1.example.com:
	// QueueSpec.Limit: minimum 10 is above maximum 5
	// QueueSpec.Mode: default: "filo" is not in the enum "fifo", "lifo"
	// QueueSpec.Name: "maxlength" is not a word of a schema tag; did you mean "maxLength"?
	// QueueSpec.Size: "minLength" has no meaning for integer; did you mean "minimum"?
}

// A type that writes its own JSON describes it; one with few values lists them.
func ExampleFor_methods() {
	type Spec struct {
		Ratio Percent `json:"ratio"`
		Phase Phase   `json:"phase" schema:"default=Pending"`
	}
	def, err := crd.For(resource.DefineCluster[resource.Object[Spec, struct{}]](resource.Info{
		Group: "example.com", Version: "v1", Kind: "Rollout",
	}), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	spec := def.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
	fmt.Println(spec.Properties["ratio"].Type, spec.Properties["ratio"].Pattern)
	for _, value := range spec.Properties["phase"].Enum {
		fmt.Println(string(value.Raw))
	}
	// Output:
	// string ^\d+%$
	// "Pending"
	// "Running"
}
