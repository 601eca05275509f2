package resource_test

import (
	"fmt"

	"github.com/go-kube/kube/resource"
)

// A Lazy answers questions about metadata from the bytes, and decodes when the rest is asked for.
func ExampleLazy() {
	raw, err := resource.ParseRaw(WebApps.Descriptor(), []byte(`{
		"metadata": {"namespace": "default", "name": "hello", "generation": 2, "labels": {"team": "red"}},
		"spec": {"image": "nginx:1.27", "replicas": 3}
	}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	lazy := resource.AsLazy[WebApp](raw)
	team, _ := lazy.Label("team")
	fmt.Println(lazy.Ref(), lazy.Generation(), team)

	app, err := lazy.Decode()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(app.APIVersion, app.Kind, app.Spec.Image, app.Spec.Replicas)
	app.Spec.Replicas = 5 // a copy of our own: the next Decode gives 3 again
	// Output:
	// default/hello 2 red
	// example.com/v1 WebApp nginx:1.27 3
}

// An object that does not decode says which one it is.
func ExampleLazy_Decode_error() {
	raw, err := resource.ParseRaw(WebApps.Descriptor(), []byte(`{
		"metadata": {"namespace": "default", "name": "hello"}, "spec": {"replicas": "three"}
	}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = resource.AsLazy[WebApp](raw).Decode()
	fmt.Println(err)
	// Output:
	// decode WebApp default/hello: decode resource.Object[resource_test.WebAppSpec,resource_test.WebAppStatus] at /spec/replicas: a JSON string "three" does not fit Go type int32
}
