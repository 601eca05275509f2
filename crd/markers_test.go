// Markers about the package stand before its clause.
//
// +kubebuilder:validation:Required
package crd_test

import (
	"embed"
	"strings"
	"testing"
	"testing/fstest"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/go-kube/kube/crd"
	kube "github.com/go-kube/kube/resource"
)

//go:embed markers_test.go
var markersSource embed.FS

// Shade is how bright it is.
// +k8s:enum
type Shade string

const (
	Light Shade = "light"
	Dark  Shade = "dark"
)

// Name is a name.
// +kubebuilder:validation:MaxLength=63
type Name string

// HostName is a name with more to it.
// +kubebuilder:validation:Pattern=`^[a-z.]+$`
type HostName Name

// MarkedChoice has one of two.
// +kubebuilder:validation:ExactlyOneOf=left;right
type MarkedChoice struct {
	// +optional
	Left *string `json:"left,omitempty"`
	// +optional
	Right *string `json:"right,omitempty"`
}

// InlineFields are part of the spec.
type InlineFields struct {
	// Owner is whose it is.
	Owner string `json:"owner"`
}

// MarkedSpec has markers.
type MarkedSpec struct {
	InlineFields `json:",inline"`

	// Shade is described here.
	//
	// +kubebuilder:default=dark
	Shade Shade `json:"shade,omitempty"`

	// +kubebuilder:validation:MaxLength=10
	Host HostName `json:"host"`

	// Names are free markers' example.

	// +listType=set
	// +kubebuilder:validation:items:MinLength=1
	Names []string `json:"names"`

	// +kubebuilder:validation:Schemaless
	// +kubebuilder:pruning:PreserveUnknownFields
	Anything metav1.ObjectMeta `json:"anything,omitempty"`

	// +k8s:immutable
	// +optional
	Fixed string `json:"fixed,omitempty"`

	// +required
	Choice MarkedChoice `json:"choice,omitempty"`

	Limit int8 `json:"limit" schema:"maximum=5"`
}

// MarkedStatus is empty.
type MarkedStatus struct{}

// Marked is a kind with markers.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.limit,statuspath=.status.replicas,selectorpath=.status.selector
// +kubebuilder:resource:path=markeds,singular=marked,scope=Namespaced,shortName={mk,mks},categories=all
// +kubebuilder:printcolumn:name="Shade",type=string,JSONPath=`.spec.shade`,description="how bright",format=byte,priority=1
// +kubebuilder:selectablefield:JSONPath=.spec.shade
// +kubebuilder:deprecatedversion:warning="use v2"
// +kubebuilder:unservedversion
// +kubebuilder:storageversion
// +kubebuilder:metadata:labels="team=a",annotations={"x=1","y=a=b"}
// +kubebuilder:externalDocs:url="https://example.com"
// +kubebuilder:title=Marked
type Marked struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   MarkedSpec   `json:"spec"`
	Status MarkedStatus `json:"status,omitempty"`
}

var markeds = kube.DefineNamespaced[Marked](kube.Info{Group: "example.com", Version: "v1", Kind: "Marked"})

func markedDefinition(t *testing.T, source embed.FS) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	markers, err := crd.ReadMarkers(nil, source)
	if err != nil {
		t.Fatal(err)
	}
	def, err := crd.For(markeds, &crd.Options{Markers: markers})
	if err != nil {
		t.Fatal(err)
	}
	return def
}

func TestMarkersGolden(t *testing.T) {
	golden(t, "markers", markedDefinition(t, markersSource), nil)
}

// unsourced has a field whose package no source declares.
type unsourced struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              apiextensionsv1.CustomResourceColumnDefinition `json:"spec"`
}

func TestMarkersNeedSource(t *testing.T) {
	kind := kube.DefineNamespaced[unsourced](kube.Info{Group: "example.com", Version: "v1", Kind: "Unsourced"})
	markers, err := crd.ReadMarkers(nil, markersSource)
	if err != nil {
		t.Fatal(err)
	}
	_, err = crd.For(kind, &crd.Options{Markers: markers})
	if err == nil || !strings.Contains(err.Error(), "add the root of its module") {
		t.Errorf("got %v", err)
	}
}

func TestMarkersDisagree(t *testing.T) {
	cluster := kube.DefineCluster[Marked](kube.Info{Group: "example.com", Version: "v1", Kind: "Marked"})
	markers, err := crd.ReadMarkers(nil, markersSource)
	if err != nil {
		t.Fatal(err)
	}
	_, err = crd.For(cluster, &crd.Options{Markers: markers})
	want := `scope=Namespaced differs from "Cluster" in the kind's descriptor`
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestReadMarkersFails(t *testing.T) {
	for name, source := range map[string]fstest.MapFS{
		"no module line": {"go.mod": {Data: []byte("go 1.27\n")}},
	} {
		if _, err := crd.ReadMarkers(nil, source); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("got %v, want %s", err, name)
		}
	}
	if _, err := crd.ReadMarkers(nil, nil); err == nil || !strings.Contains(err.Error(), "source 0 is nil") {
		t.Errorf("got %v", err)
	}
}

// TestModuleSource finds types by the path in a go.mod, metadata with its fields on demand.
func TestModuleSource(t *testing.T) {
	type spec struct {
		Template metav1.ObjectMeta `json:"template"`
	}
	type holder struct {
		metav1.TypeMeta   `json:",inline"`
		metav1.ObjectMeta `json:"metadata,omitempty"`
		Spec              spec `json:"spec"`
	}
	source := fstest.MapFS{
		"go.mod": {Data: []byte("module github.com/go-kube/kube // the module\n")},
		"crd_test/types.go": {Data: []byte(`package crd_test
type holder struct { Spec spec }
type spec struct {
	// Template is metadata.
	// +optional
	Template metav1.ObjectMeta
}`)},
	}
	markers, err := crd.ReadMarkers(&crd.MarkerOptions{EmbeddedObjectMeta: true}, source)
	if err != nil {
		t.Fatal(err)
	}
	def, err := crd.For(define[holder]("Holder"), &crd.Options{Markers: markers})
	if err != nil {
		t.Fatal(err)
	}
	got := def.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
	template := got.Properties["template"]
	if len(got.Required) > 0 || template.Description != "Template is metadata." || template.Properties["labels"].Type != "object" {
		t.Errorf("got %+v", got)
	}
}
