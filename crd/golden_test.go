package crd_test

import (
	"embed"
	"encoding/json"
	"flag"
	"net/netip"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/go-kube/kube/crd"
	kube "github.com/go-kube/kube/resource"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

//go:embed golden_test.go
var goldenSource embed.FS

// ScalarsSpec has every kind of scalar.
type ScalarsSpec struct {
	// Text is a string.
	// It has a second line.
	//
	// And a second paragraph.
	//
	// +kubebuilder:validation:MaxLength=5
	// TODO(someone): not for readers
	// ---
	// Nor is this.
	Text     string        `json:"text"`
	Flag     bool          `json:"flag"`
	Int      int           `json:"int"`
	Int8     int8          `json:"int8"`
	Int16    int16         `json:"int16"`
	Int32    int32         `json:"int32"`
	Int64    int64         `json:"int64"`
	Uint     uint          `json:"uint"`
	Uint8    uint8         `json:"uint8"`
	Uint16   uint16        `json:"uint16"`
	Uint32   uint32        `json:"uint32"`
	Uint64   uint64        `json:"uint64"`
	Float32  float32       `json:"float32"`
	Float64  float64       `json:"float64"`
	Bytes    []byte        `json:"bytes"`
	Nanos    time.Duration `json:"nanos"`
	Address  netip.Addr    `json:"address"`
	Ignored  string        `json:"-"`
	internal string
}

// WellKnownSpec has every type whose JSON does not follow from its fields.
type WellKnownSpec struct {
	StdTime      time.Time                 `json:"stdTime"`
	Time         metav1.Time               `json:"time"`
	MicroTime    metav1.MicroTime          `json:"microTime"`
	Duration     metav1.Duration           `json:"duration"`
	Quantity     resource.Quantity         `json:"quantity"`
	IntOrString  intstr.IntOrString        `json:"intOrString"`
	RawExtension runtime.RawExtension      `json:"rawExtension"`
	Embedded     runtime.RawExtension      `json:"embedded" schema:"embeddedResource"`
	Unstructured unstructured.Unstructured `json:"unstructured"`
	Metadata     metav1.ObjectMeta         `json:"metadata"`
	JSON         apiextensionsv1.JSON      `json:"json"`
	RawMessage   json.RawMessage           `json:"rawMessage"`
	Any          any                       `json:"any"`
	Fields       metav1.FieldsV1           `json:"fields"`
	Selector     metav1.LabelSelector      `json:"selector"`
	Conditions   []metav1.Condition        `json:"conditions" schema:"listType=map,listMapKey=type"`
}

// OptionalSpec has every way to be optional.
type OptionalSpec struct {
	OmitEmpty       string              `json:"omitEmpty,omitempty"`
	OmitZero        string              `json:"omitZero,omitzero"`
	Pointer         *string             `json:"pointer,omitempty"`
	Null            *string             `json:"null"`
	Default         string              `json:"default" schema:"default=x"`
	ByWord          string              `json:"byWord" schema:"optional"`
	RequiredPointer *resource.Quantity  `json:"requiredPointer,omitempty" schema:"required"`
	RequiredDefault string              `json:"requiredDefault" schema:"required,default=''"`
	NullableText    string              `json:"nullableText" schema:"nullable"`
	List            []string            `json:"list"`
	Map             map[string]string   `json:"map"`
	PointerIntStr   *intstr.IntOrString `json:"pointerIntStr"`
}

// Common is embedded.
type Common struct {
	// Owner is whose it is.
	Owner string `json:"owner"`
	// Shadowed is not seen.
	Shadowed int32 `json:"shadowed"`
}

// Extra is embedded by pointer.
type Extra struct {
	// Note is absent with the struct that holds it.
	Note string `json:"note"`
}

// Port is a port.
type Port struct {
	// Name tells ports apart.
	Name string `json:"name" schema:"maxLength=63"`
	// Number is the port.
	Number int32 `json:"number" schema:"minimum=1,maximum=65535"`
}

// Phase is a named string with its values.
type Phase string

// Enum returns the phases.
func (Phase) Enum() []Phase { return []Phase{"Pending", "Running"} }

// Level is a named integer with its values.
type Level int32

// Enum returns the levels.
func (*Level) Enum() []Level { return []Level{1, 2, 4} }

// Protobuf has the method that protobuf's enums have, which is not ours.
type Protobuf int32

// Enum returns a pointer.
func (p Protobuf) Enum() *Protobuf { return &p }

// Percent says its own schema.
type Percent struct{ value int }

// MarshalJSON writes 5%.
func (p Percent) MarshalJSON() ([]byte, error) { return json.Marshal(p.value) }

// OpenAPISchema describes what MarshalJSON writes.
func (Percent) OpenAPISchema() apiextensionsv1.JSONSchemaProps {
	return apiextensionsv1.JSONSchemaProps{
		Type: "string", Pattern: `^\d+%$`,
		OneOf: []apiextensionsv1.JSONSchemaProps{{MinLength: new(int64(2))}, {MaxLength: new(int64(1))}},
	}
}

// Key is a map key.
type Key string

// Pair is generic.
type Pair[A, B any] struct {
	// First is the first.
	First A `json:"first"`
	// Second is the second.
	Second *B `json:"second,omitempty"`
}

// NestedSpec has types inside types.
type NestedSpec struct {
	Common `json:",inline"`
	*Extra
	Shadowed string `json:"shadowed"`
	// Port is described by its field.
	Port      Port               `json:"port"`
	Bare      Port               `json:"bare"`
	Pointer   *Port              `json:"pointer,omitempty"`
	Ports     []Port             `json:"ports,omitempty" schema:"listType=map,listMapKey=name,maxItems=8"`
	Twofold   []Port             `json:"twofold,omitempty" schema:"listType=map,listMapKey=name|number"`
	Set       []string           `json:"set,omitempty" schema:"listType=set,items.minLength=1"`
	Pointers  []*Port            `json:"pointers,omitempty"`
	Matrix    [][]float64        `json:"matrix,omitempty" schema:"items.items.minimum=0"`
	Array     [3]string          `json:"array"`
	Map       map[string]string  `json:"map,omitempty" schema:"mapType=atomic,additionalProperties.maxLength=9"`
	MapOfMap  map[Key][]Port     `json:"mapOfMap,omitempty"`
	Anything  map[string]any     `json:"anything,omitempty"`
	Phase     Phase              `json:"phase" schema:"default=Pending"`
	Phases    []Phase            `json:"phases,omitempty"`
	Level     Level              `json:"level,omitempty"`
	Protobuf  Protobuf           `json:"protobuf,omitempty"`
	Percent   Percent            `json:"percent,omitempty" schema:"maxLength=4"`
	Generic   Pair[string, Port] `json:"generic"`
	Open      Port               `json:"open" schema:"preserveUnknownFields"`
	Anonymous struct {
		// Inner has no type to belong to.
		Inner string `json:"inner"`
	} `json:"anonymous"`
	Tree     *Tree    `json:"tree,omitempty" schema:"type=object,preserveUnknownFields"`
	Custom   Custom   `json:"custom" schema:"type=string,format=duration"`
	Either   Custom   `json:"either" schema:"intOrString,default=80"`
	Customs  Custom   `json:"customs" schema:"type=array,items.type=integer,items.minimum=1"`
	Requests []Custom `json:"requests" schema:"items.type=string"`
}

// Tree is recursive.
type Tree struct {
	Children []Tree `json:"children"`
}

// Custom writes its own JSON.
type Custom struct{}

// MarshalJSON writes nothing of note.
func (Custom) MarshalJSON() ([]byte, error) { return []byte("0"), nil }

// KeywordsSpec uses every word.
type KeywordsSpec struct {
	Text     string               `json:"text" schema:"minLength=1,maxLength=10,pattern='^[a-z,|'']+$',format=hostname,title='A title',description='From the tag, not ''the'' comment.',example=abc,default=abc"`
	Bare     string               `json:"bare" schema:"pattern=^(a|b=c)$"`
	Escaped  string               `json:"escaped" schema:"pattern='^\\d{1,3}\"$'"`
	Choice   string               `json:"choice" schema:"enum=a|'b,c'|'d|e'|''"`
	Integer  int64                `json:"integer" schema:" minimum=-5 , maximum = 20, exclusiveMinimum, exclusiveMaximum=true, multipleOf=5, enum=5|10, default=10"`
	Number   float64              `json:"number" schema:"minimum=0.5,maximum=1e3,format=double,example=1.5"`
	Boolean  bool                 `json:"boolean" schema:"default=true,enum=true"`
	Either   intstr.IntOrString   `json:"either" schema:"default=80,enum=80|'80'|http"`
	Nothing  *string              `json:"nothing,omitempty" schema:"nullable,default='null',example=nothing"`
	List     []string             `json:"list" schema:"minItems=1,maxItems=3,x-kubernetes-list-type=set,default='[\"a\",\"b\"]'"`
	Keyed    []Port               `json:"keyed" schema:"x-kubernetes-list-type=map,x-kubernetes-list-map-keys=name,listMapKey=number"`
	Object   Port                 `json:"object" schema:"minProperties=1,maxProperties=2,x-kubernetes-map-type=granular,default='{\"name\":\"x\",\"number\":1}'"`
	Free     map[string]any       `json:"free" schema:"default='{\"any\":[1,null]}'"`
	Resource apiextensionsv1.JSON `json:"resource" schema:"default='[1]'"`
}

// TemplateSpec holds big types of Kubernetes.
type TemplateSpec struct {
	Template corev1.PodTemplateSpec   `json:"template"`
	Secret   corev1.SecretKeySelector `json:"secret"`
}

// Owned is written the way kubebuilder scaffolds it.
type Owned struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is wanted.
	Spec OwnedSpec `json:"spec,omitempty"`
	// Status is seen.
	Status OwnedStatus `json:"status"`
}

// OwnedSpec is what is wanted.
type OwnedSpec struct {
	Replicas *int32 `json:"replicas,omitempty"`
	Selector string `json:"selector,omitempty"`
}

// OwnedStatus is what is seen.
type OwnedStatus struct {
	Replicas   int32              `json:"replicas"`
	Conditions []metav1.Condition `json:"conditions,omitempty" schema:"listType=map,listMapKey=type"`
}

var _ = ScalarsSpec{}.internal // it is there to be left out

func define[K any, P kube.ObjectPtr[K]](kind string) kube.Namespaced[K] {
	return kube.DefineNamespaced[K, P](kube.Info{Group: "golden.example.com", Version: "v1", Kind: kind})
}

func golden(t *testing.T, name string, def *apiextensionsv1.CustomResourceDefinition, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	got, err := crd.YAML(def)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join("testdata", name+".yaml")
	if *update {
		if err := os.WriteFile(file, got, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}

func TestGolden(t *testing.T) {
	opts := &crd.Options{Source: goldenSource}
	t.Run("scalars", func(t *testing.T) {
		def, err := crd.For(define[kube.Object[ScalarsSpec, struct{}]]("Scalars"), opts)
		golden(t, "scalars", def, err)
	})
	t.Run("wellknown", func(t *testing.T) {
		def, err := crd.For(define[kube.Object[WellKnownSpec, struct{}]]("WellKnown"), opts)
		golden(t, "wellknown", def, err)
	})
	t.Run("optional", func(t *testing.T) {
		def, err := crd.For(define[kube.Object[OptionalSpec, struct{}]]("Optional"), opts)
		golden(t, "optional", def, err)
	})
	t.Run("nested", func(t *testing.T) {
		def, err := crd.For(define[kube.Object[NestedSpec, struct{}]]("Nested"), opts)
		golden(t, "nested", def, err)
	})
	t.Run("keywords", func(t *testing.T) {
		def, err := crd.For(define[kube.Object[KeywordsSpec, struct{}]]("Keywords"), opts)
		golden(t, "keywords", def, err)
	})
	t.Run("template", func(t *testing.T) {
		def, err := crd.For(define[kube.Object[TemplateSpec, struct{}]]("Template"), opts)
		golden(t, "template", def, err)
	})
	t.Run("owned", func(t *testing.T) {
		owned := kube.DefineCluster[Owned](kube.Info{
			Group: "golden.example.com", Version: "v1beta1", Kind: "Owned", Plural: "owned", Singular: "own",
			ShortNames: []string{"ow", "od"}, Categories: []string{"all", "golden"},
		})
		def, err := crd.For(owned, &crd.Options{
			Source: goldenSource,
			Docs:   crd.SwaggerDoc,
			Columns: []crd.Column{
				{Name: "Ready", Type: "string", JSONPath: `.status.conditions[?(@.type=="Ready")].status`, Description: "Whether it works."},
				{Name: "Replicas", Type: "integer", JSONPath: ".status.replicas", Format: "int32", Priority: 1},
				{Name: "Age", Type: "date", JSONPath: ".metadata.creationTimestamp"},
			},
			Scale:       &crd.Scale{SpecReplicasPath: ".spec.replicas", StatusReplicasPath: ".status.replicas", LabelSelectorPath: ".spec.selector"},
			Labels:      map[string]string{"app": "golden"},
			Annotations: map[string]string{"example.com/owner": "us"},
		})
		golden(t, "owned", def, err)
	})
}
