package resource_test

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/go-kube/kube/k8s/core"
	"github.com/go-kube/kube/resource"
)

// WebAppSpec is what the user asks for.
type WebAppSpec struct {
	Image    string `json:"image"`
	Replicas int32  `json:"replicas"`
}

// WebAppStatus is what the operator saw.
type WebAppStatus struct {
	Ready bool `json:"ready"`
}

// WebApp is a custom resource.
type WebApp = resource.Object[WebAppSpec, WebAppStatus]

// WebApps describes its kind.
var WebApps = resource.DefineNamespaced[WebApp](resource.Info{
	Group: "example.com", Version: "v1", Kind: "WebApp", ShortNames: []string{"wa"},
})

// The program of the package documentation.
func Example() {
	app := resource.New(WebApps, "hello", WebAppSpec{Image: "nginx:1.27", Replicas: 3})
	app.Namespace = "default"
	fmt.Println(app.APIVersion, app.Kind, resource.RefTo(app))
	fmt.Println(WebApps.Descriptor())
	// Output:
	// example.com/v1 WebApp default/hello
	// webapps.v1.example.com
}

func ExampleObject_WithStatus() {
	app := resource.New(WebApps, "hello", WebAppSpec{Image: "nginx:1.27", Replicas: 3})
	status := app.WithStatus(WebAppStatus{Ready: true}) // for an apply to the status subresource
	fmt.Println(status.Kind, status.Name, status.Status.Ready, status.Spec.Image == "")
	// Output: WebApp hello true true
}

func ExampleNamespaced_ControllerOwner() {
	app := resource.New(WebApps, "hello", WebAppSpec{Image: "nginx:1.27"})
	app.Namespace, app.UID = "default", "5f2b"
	secret := corev1.Secret{ObjectMeta: metav1.ObjectMeta{
		Namespace:       "default",
		Name:            "hello-token",
		OwnerReferences: []metav1.OwnerReference{WebApps.ControllerOwner(app)},
	}}
	owner := secret.OwnerReferences[0]
	fmt.Println(owner.APIVersion, owner.Kind, owner.Name, owner.UID, *owner.Controller)
	// Output: example.com/v1 WebApp hello 5f2b true
}

func ExampleOwnerRef() {
	reference := metav1.OwnerReference{APIVersion: "v1", Kind: "Node", Name: "node-1"}
	ref, ok := resource.OwnerRef[corev1.Node](core.Nodes.Descriptor(), reference, "kube-system")
	fmt.Println(ref, ok) // nodes have no namespace
	// Output: node-1 true
}

func ExampleDynamic() {
	info := resource.Info{Group: "example.com", Version: "v1", Kind: "Policy"} // from configuration
	if err := info.Validate(); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(resource.Dynamic(info, resource.ClusterScoped).Descriptor())
	// Output: policies.v1.example.com
}

func ExampleParseSelector() {
	selector, err := resource.ParseSelector("app = web, tier in (front, back), !canary")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(selector)
	fmt.Println(selector.Matches(map[string]string{"app": "web", "tier": "back"}))

	_, err = resource.ParseSelector("app=web,tier in front")
	fmt.Println(err)
	// Output:
	// app=web,!canary,tier in (back,front)
	// true
	// label selector "app=web,tier in front": column 17: found "front", want '('
}

func ExampleSelectorOf() {
	selector, err := resource.SelectorOf(&metav1.LabelSelector{
		MatchLabels:      map[string]string{"app": "web"},
		MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "canary", Operator: metav1.LabelSelectorOpDoesNotExist}},
	})
	fmt.Println(selector, err)
	// Output: app=web,!canary <nil>
}

func ExampleParseFieldSelector() {
	selector, err := resource.ParseFieldSelector("spec.nodeName=node-1,status.phase!=Succeeded")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(selector.Matches(map[string]string{"spec.nodeName": "node-1", "status.phase": "Running"}))
	// Output: true
}

func ExampleCompareVersions() {
	versions := []string{"v1beta1", "v2alpha1", "v1", "v10", "v2"}
	slices.SortFunc(versions, resource.CompareVersions)
	fmt.Println(versions)
	fmt.Println(slices.MinFunc(versions, resource.CompareVersions)) // the one to use
	// Output:
	// [v10 v2 v1 v1beta1 v2alpha1]
	// v10
}

func ExampleDefineSubresource() {
	restart := resource.DefineSubresource[WebApp, WebApp]("restart", resource.Info{Group: "example.com", Version: "v1", Kind: "WebApp"})
	fmt.Println(restart.Descriptor().Name, restart.Descriptor().Body.APIVersion())
	fmt.Println(core.PodEviction.Descriptor().Name, core.PodEviction.Descriptor().Body.APIVersion())
	// Output:
	// restart example.com/v1
	// eviction policy/v1
}
