package crd_test

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/go-kube/kube/crd"
)

// Strayed is a kind with markers that have no effect.
type Strayed struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Names             []string `json:"names"`
}

const strayedSource = `package crd_test

// +kubebuilder:printcolum:name=A,type=string,JSONPath=.names
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:storageverson
// +kubebuilder:docs-gen:collapse=Apache
// +k8s:anything=goes
type Strayed struct {
	metav1.TypeMeta
	metav1.ObjectMeta

	// +kubebuilder:validation:MaxItem=3
	// +kubebuilder:validation:items:MaxLenght=3
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:OneOf=a
	// +optional
	Names []string
}
`

// TestStrayMarkers has markers that nobody reads told once, with the one that was meant.
func TestStrayMarkers(t *testing.T) {
	var told []string
	warn := func(err error) {
		if _, ok := errors.AsType[*crd.FieldError](err); !ok {
			t.Errorf("%v is no FieldError", err)
		}
		told = append(told, strings.Replace(err.Error(), "this is no marker of controller-gen, and has no effect", "stray", 1))
	}
	markers, err := crd.ReadMarkers(&crd.MarkerOptions{Warn: warn}, fstest.MapFS{"strayed.go": {Data: []byte(strayedSource)}})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := crd.For(define[Strayed]("Strayed"), &crd.Options{Markers: markers}); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{
		`Strayed.Names: +kubebuilder:validation:MaxItem=3: stray; did you mean "MaxItems"?`,
		`Strayed.Names: +kubebuilder:validation:items:MaxLenght=3: stray; did you mean "MaxLength"?`,
		`Strayed.Names: +kubebuilder:validation:OneOf=a: stray`,
		`Strayed: +kubebuilder:printcolum:name=A,type=string,JSONPath=.names: stray; did you mean "printcolumn"?`,
		`Strayed: +kubebuilder:storageverson: stray; did you mean "storageversion"?`,
	}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
