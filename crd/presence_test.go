package crd_test

import (
	"embed"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/go-kube/kube/crd"
	kube "github.com/go-kube/kube/resource"
)

//go:embed presence_test.go
var presenceSource embed.FS

// Presence has every way in which markers say that a field is there.
type Presence struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec PresenceSpec `json:"spec"`
}

// PresenceSpec has a field for each way.
type PresenceSpec struct {
	Plain     string  `json:"plain"`
	OmitEmpty string  `json:"omitEmpty,omitempty"`
	OmitZero  string  `json:"omitZero,omitzero"`
	Pointer   *string `json:"pointer"`

	// +kubebuilder:validation:Optional
	LongOptional string `json:"longOptional"`
	// +optional
	ShortOptional string `json:"shortOptional"`
	// +k8s:optional
	NewOptional string `json:"newOptional"`

	// +kubebuilder:validation:Required
	LongRequired string `json:"longRequired,omitempty"`
	// +required
	ShortRequired string `json:"shortRequired,omitempty"`
	// +k8s:required
	NewRequired string `json:"newRequired,omitempty"`

	// +kubebuilder:validation:Required
	// +optional
	Both string `json:"both"`
	// +required
	// +optional
	Neither string `json:"neither"`
	// +kubebuilder:default=x
	Default string `json:"default"`

	// +kubebuilder:validation:Schemaless
	// +kubebuilder:pruning:PreserveUnknownFields
	Schemaless chan int `json:"schemaless,omitempty"`

	Constant PresenceConstant `json:"constant,omitempty"`
}

// PresenceConstant lists its constants.
// +k8s:enum
type PresenceConstant string

const (
	PresenceB PresenceConstant = "b"
	PresenceA PresenceConstant = "a"
)

func presenceSpec(t *testing.T, source fs.FS) apiextensionsv1.JSONSchemaProps {
	t.Helper()
	markers, err := crd.ReadMarkers(nil, source)
	if err != nil {
		t.Fatal(err)
	}
	def, err := crd.For(kube.DefineNamespaced[Presence](kube.Info{Group: "example.com", Version: "v1", Kind: "Presence"}), &crd.Options{Markers: markers})
	if err != nil {
		t.Fatal(err)
	}
	return def.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
}

// optionalSource is the same source in a package whose fields are optional.
func optionalSource(t *testing.T, marker string) fs.FS {
	t.Helper()
	text, err := presenceSource.ReadFile("presence_test.go")
	if err != nil {
		t.Fatal(err)
	}
	return fstest.MapFS{"presence_test.go": {Data: append([]byte(marker+"\n\n"), text...)}}
}

func TestPresence(t *testing.T) {
	spec := presenceSpec(t, presenceSource)
	// A pointer and a default make nothing optional for controller-gen, other than for tags.
	want := []string{"plain", "pointer", "longRequired", "shortRequired", "newRequired", "both", "default"}
	less := cmp.Transformer("set", func(list []string) map[string]bool {
		set := map[string]bool{}
		for _, s := range list {
			set[s] = true
		}
		return set
	})
	if diff := cmp.Diff(want, spec.Required, less); diff != "" {
		t.Errorf("required (-want +got):\n%s", diff)
	}
	if low := spec.Properties["newRequired"].MinLength; low == nil || *low != 1 {
		t.Error("+k8s:required lets a string be empty")
	}
	if s := spec.Properties["schemaless"]; s.Type != "" || s.XPreserveUnknownFields == nil {
		t.Errorf("got %+v", s)
	}
	if s := spec.Properties["constant"]; len(s.Enum) != 2 || string(s.Enum[0].Raw) != `"a"` {
		t.Errorf("got %+v", s)
	}

	want = []string{"longRequired", "shortRequired", "newRequired", "both"}
	if diff := cmp.Diff(want, presenceSpec(t, optionalSource(t, "// +kubebuilder:validation:Optional")).Required, less); diff != "" {
		t.Errorf("required in an optional package (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(spec.Required, presenceSpec(t, optionalSource(t, "// +kubebuilder:validation:Required")).Required, less); diff != "" {
		t.Errorf("required in a required package (-want +got):\n%s", diff)
	}
}

// TestEnumOfField checks that a marker about types is refused above a field, as by controller-gen.
func TestEnumOfField(t *testing.T) {
	text, err := presenceSource.ReadFile("presence_test.go")
	if err != nil {
		t.Fatal(err)
	}
	moved := strings.Replace(string(text), "Constant PresenceConstant `", "// +k8s:enum\nConstant PresenceConstant `", 1)
	markers, err := crd.ReadMarkers(nil, fstest.MapFS{"presence_test.go": {Data: []byte(moved)}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = crd.For(kube.DefineNamespaced[Presence](kube.Info{Group: "example.com", Version: "v1", Kind: "Presence"}), &crd.Options{Markers: markers})
	want := "PresenceSpec.Constant: +k8s:enum is about a type: write it above the declaration of PresenceConstant"
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}

// TestApprovedByMarker checks that a group of the community may have its annotation from a marker.
func TestApprovedByMarker(t *testing.T) {
	const want = "belongs to the Kubernetes community"
	kind := kube.DefineNamespaced[Presence](kube.Info{Group: "x.k8s.io", Version: "v1", Kind: "Presence"})
	text, err := presenceSource.ReadFile("presence_test.go")
	if err != nil {
		t.Fatal(err)
	}
	marked := strings.Replace(string(text), "\ntype Presence struct", "\n// +kubebuilder:metadata:annotations=api-approved.kubernetes.io=https://example.com/1\ntype Presence struct", 1)
	for source, approved := range map[string]bool{string(text): false, marked: true} {
		markers, err := crd.ReadMarkers(nil, fstest.MapFS{"presence_test.go": {Data: []byte(source)}})
		if err != nil {
			t.Fatal(err)
		}
		_, err = crd.For(kind, &crd.Options{Markers: markers})
		if approved && err != nil || !approved && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("approved by a marker: %v, got %v", approved, err)
		}
	}
}
