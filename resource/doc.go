// Package resource says what a kind is: descriptors, typed references, object types, owner
// references, selectors, and objects that are still the bytes the server sent. It is the
// ground that the other packages of kube stand on, and all that a package of API types has to
// import. There is no scheme and no registration: a kind is a variable.
//
//	package main
//
//	import (
//		"fmt"
//
//		"github.com/go-kube/kube/resource"
//	)
//
//	// WebAppSpec is what the user asks for.
//	type WebAppSpec struct {
//		Image    string `json:"image"`
//		Replicas int32  `json:"replicas"`
//	}
//
//	// WebAppStatus is what the operator saw.
//	type WebAppStatus struct {
//		Ready bool `json:"ready"`
//	}
//
//	// WebApp is a custom resource.
//	type WebApp = resource.Object[WebAppSpec, WebAppStatus]
//
//	// WebApps describes its kind.
//	var WebApps = resource.DefineNamespaced[WebApp](resource.Info{
//		Group: "example.com", Version: "v1", Kind: "WebApp", ShortNames: []string{"wa"},
//	})
//
//	func main() {
//		app := resource.New(WebApps, "hello", WebAppSpec{Image: "nginx:1.27", Replicas: 3})
//		app.Namespace = "default"
//		fmt.Println(app.APIVersion, app.Kind, resource.RefTo(app)) // example.com/v1 WebApp default/hello
//		fmt.Println(WebApps.Descriptor())                          // webapps.v1.example.com
//	}
//
// With a client, the same variable is what is listed and watched:
// client.Namespaced(WebApps, "default"). The kinds of Kubernetes itself are described in the
// packages below k8s/.
//
// # Kinds
//
// [DefineNamespaced] and [DefineCluster] tie a Go type to a kind. The scope is part of the
// type, so a cluster-scoped kind in a namespace does not compile. The Go type is any struct
// with the accessors of metav1.ObjectMeta; [Object] makes one of a spec and a status. Of both,
// Metadata() describes the same kind without spec and status. [Dynamic] describes a kind that
// is known at run time only. [Partial] and [PartialCluster] describe a kind by a Go type with fewer
// fields. [Subresource] and [Connection] describe what is below an object.
//
// # Objects
//
// [Ref] names an object, and carries its kind in its type. [OwnerRef] makes one of an owner
// reference, and ControllerOwner of a kind the other way round. [Raw] and [Lazy] are objects
// that are not decoded yet.
//
// # Selectors and versions
//
// [Selector] and [FieldSelector] have the API server's grammar and meaning. [CompareVersions]
// is Kubernetes' priority of versions.
package resource
