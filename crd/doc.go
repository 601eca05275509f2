// Package crd makes CustomResourceDefinitions from Go types, at run time: there is no
// generator to run and no YAML to keep in step.
//
// A whole program that installs a kind and creates an object of it:
//
//	package main
//
//	import (
//		"context"
//		"embed"
//		"log"
//
//		"github.com/go-kube/kube"
//		"github.com/go-kube/kube/crd"
//		"github.com/go-kube/kube/resource"
//	)
//
//	// WebAppSpec is what the user asks for.
//	type WebAppSpec struct {
//		// Image is the container image to run.
//		Image string `json:"image" schema:"minLength=1"`
//		// Replicas is how many copies run.
//		Replicas int32 `json:"replicas" schema:"minimum=0,maximum=100,default=1"`
//	}
//
//	// WebAppStatus is what the operator saw.
//	type WebAppStatus struct {
//		Ready bool `json:"ready"`
//	}
//
//	// WebApp is a container image that serves.
//	type WebApp = resource.Object[WebAppSpec, WebAppStatus]
//
//	var WebApps = resource.DefineNamespaced[WebApp](resource.Info{
//		Group: "example.com", Version: "v1", Kind: "WebApp", ShortNames: []string{"wa"},
//	})
//
//	//go:embed main.go
//	var source embed.FS
//
//	func main() {
//		ctx := context.Background()
//		client, err := kube.Default()
//		if err != nil {
//			log.Fatal(err)
//		}
//		definition, err := crd.For(WebApps, &crd.Options{Source: source})
//		if err != nil {
//			log.Fatal(err)
//		}
//		if err := crd.Install(ctx, client, "webapp-example", definition); err != nil {
//			log.Fatal(err)
//		}
//		hello := resource.New(WebApps, "hello", WebAppSpec{Image: "nginx:1.27", Replicas: 3})
//		if _, err := client.Namespaced(WebApps, "default").Apply(ctx, hello, "webapp-example", nil); err != nil {
//			log.Fatal(err)
//		}
//	}
//
// # From a Go type to a schema
//
// The schema describes the JSON that encoding/json makes of the type, and takes nothing that
// the type could not hold: an object with a number out of range would be stored, and then
// decode nowhere.
//
//   - A field is named by its json tag, and has to have one. Fields of embedded structs count as
//     the struct's own.
//   - A field is required, unless its json tag has omitempty or omitzero, it is a pointer, it
//     has a default, or it comes from a struct that is embedded by pointer. Go writes the zero
//     value of a field without omitempty, which no default replaces: give fields with a default
//     one of these options, or a pointer, where Go code creates the objects.
//   - string, bool and the integer types are string, boolean and integer; int32 and int64 have
//     their format, the other sizes have a minimum and maximum. Floats are numbers, which
//     Kubernetes' conventions advise against, since languages round them differently.
//   - Slices and arrays are arrays, []byte is a string of format byte. Maps, with keys that are
//     strings, are objects with additionalProperties.
//   - A field of a map or of raw JSON with the tag json:",embed" holds what has no field: unknown
//     fields are preserved.
//   - any, json.RawMessage and apiextensionsv1.JSON are any JSON. runtime.RawExtension and
//     unstructured.Unstructured are any object.
//   - time.Time, metav1.Time and MicroTime are strings of format date-time, metav1.Duration is a
//     string; time.Duration is an integer, nanoseconds, and best avoided.
//     resource.Quantity and intstr.IntOrString are an integer or a string. Types with MarshalText
//     are strings.
//   - metav1.ObjectMeta inside a spec has the fields that a user sets there: name, namespace,
//     labels, annotations and finalizers.
//   - metav1.Condition and metav1.LabelSelector have the constraints of their own markers. Of
//     other types of Kubernetes, such as a pod template, only the Go type and its json tags
//     count: their list types and defaults stand in comments, which are not part of a program.
//
// A type that writes its own JSON says what that is by a method, on the value or the pointer:
//
//	func (Percent) OpenAPISchema() apiextensionsv1.JSONSchemaProps
//
// and a named string or number lists its values by a method:
//
//	func (Phase) Enum() []Phase
//
// # The schema tag
//
// A field's schema tag has words with commas between them, as in
// schema:"minLength=1,pattern='^[a-z,]+$'". Words are those of OpenAPI, or of structural schemas
// where the longer name is given too:
//
//	minLength maxLength pattern                        strings
//	minimum maximum multipleOf                         numbers
//	exclusiveMinimum exclusiveMaximum                  numbers; on or off
//	minItems maxItems                                  arrays
//	minProperties maxProperties                        objects
//	format                                             strings and numbers; what the API server knows
//	enum=a|b                                           strings, numbers, booleans
//	default example                                    all; checked against everything else
//	title description                                  all
//	nullable                                           all but enums; on or off
//	required optional                                  fields, whatever the json tag says
//	listType=atomic|set|map                            arrays (x-kubernetes-list-type)
//	listMapKey=a|b                                     arrays (x-kubernetes-list-map-keys)
//	mapType=atomic|granular                            objects (x-kubernetes-map-type)
//	preserveUnknownFields                              objects, lists of them (x-kubernetes-preserve-unknown-fields)
//	embeddedResource                                   objects (x-kubernetes-embedded-resource)
//	type intOrString                                   in place of the Go type (x-kubernetes-int-or-string)
//	rule='expression'|'message'                        all but any JSON; may stand more than once (x-kubernetes-validations)
//	immutable                                          all but any JSON; once set, a field keeps its value
//	exactlyOneOf=a|b atMostOneOf=a|b atLeastOneOf=a|b  structs; fields of which so many have to be there
//	oneOf=a|b oneOfOrNone=a|b                          the same by oneOf, without rules of CEL
//	externalDocs='address'|'description'               all
//
// A word is about the field. With items. in front it is about the elements of its list, with
// additionalProperties. about the values of its map: schema:"maxItems=8,items.maxLength=63". These
// can be chained. Words about a struct itself stand in the tag of a field of it that is called _:
//
//	type Probe struct {
//		_    struct{}  `schema:"exactlyOneOf=http|exec"`
//		HTTP *HTTPGet  `json:"http,omitempty"`
//		Exec *ExecCall `json:"exec,omitempty"`
//	}
//
// The same words constrain parts of types that cannot have tags, by their path: Options.Fields.
//
// A value ends at the next comma. One that holds a comma stands in single quotes, and a single
// quote inside of them is written twice. In enum and listMapKey a bar separates values; a value
// that holds a bar is quoted. Since the tag is inside of a Go string, a backslash in it is
// written twice, and a double quote has a backslash in front. The value of a default, example
// or enum is the text itself for a string, and JSON for anything else; where an integer and a
// string will do, 80 is the integer and '80' the string.
//
// An unknown word, a word that means nothing for the type, a bound above its counterpart, a
// default that its own constraints refuse, a list key that is not required: each is an error
// that names the Go field, and all errors of a kind are reported at once. The API server is to
// have nothing left to refuse.
//
// # Validation rules
//
// Rules over several fields are expressions of CEL. A rule about the whole object is in
// Options.Rules, one about a type in a method of the type, and a short one in a tag:
//
//	func (Range) Rules() []apiextensionsv1.ValidationRule
//
// They are compiled by the API server, and before that by package cel in the module
// github.com/go-kube/kube/crd/cel, which has the server's libraries.
//
// # Packages with markers
//
// Types with marker comments (+kubebuilder:validation:MaxLength=63) work unchanged: [ReadMarkers]
// reads their source, and the definition is the one that controller-gen makes of it.
// [MarkerOptions].Warn is told of markers that are misspelt.
//
// # Files
//
// [YAML] writes definitions for a repository. The command kube crd ./api/... does that for the kinds of
// Go packages: those that functions return as definitions, those with descriptors, and those that
// markers declare ([MarkedKinds]). With -check it tells, for CI, whether files are up to date; kube
// crd diff tells by [Compare] what a change breaks.
//
// # What no tag says
//
// Options.Refine changes the version that comes out, in Go or by a [MergePatch]: the command kube types,
// which writes Go types for a definition that somebody else has made, says with it what Go types and
// tags cannot.
//
// # Several versions
//
// [Merge] makes one definition of those of a kind's versions. Options.Schema and Options.NoSchema
// are for kinds whose schema is written by hand, or that have none.
package crd
