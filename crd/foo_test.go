package crd_test

import (
	"embed"
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/go-kube/kube/crd"
	kube "github.com/go-kube/kube/resource"
)

// The shapes of kube-rs' own tests of derived definitions, in Go.

//go:embed foo_test.go
var fooSource embed.FS

// FooSpec has every shape.
type FooSpec struct {
	_ struct{} `schema:"rule='!has(self.minimum) || self.nonNullable != \"\"'|'a type has a rule'"`

	NonNullable            string  `json:"nonNullable"`
	NonNullableWithDefault string  `json:"nonNullableWithDefault" schema:"default='default value'"`
	NullableSkipped        *string `json:"nullableSkipped,omitempty" schema:"nullable"`
	Nullable               *string `json:"nullable" schema:"nullable"`
	NullableWithDefault    *string `json:"nullableWithDefault" schema:"nullable,default='default value'"`
	// Timestamp is a time.
	Timestamp time.Time `json:"timestamp"`
	// Complex is one of three.
	Complex  FooUnion  `json:"complex"`
	Untagged FooPerson `json:"untagged"`
	Minimum  []string  `json:"minimum,omitempty" schema:"minItems=1"`
	Set      []string  `json:"set" schema:"listType=set"`
	Keyed    []Port    `json:"keyed" schema:"listType=map,listMapKey=name"`
	Merged   FooMerged `json:"merged" schema:"mapType=atomic"`

	Enum         FooEnum  `json:"enum"`
	OptionalEnum *FooEnum `json:"optionalEnum,omitempty"`
	// OptionalDocumented has words of its own.
	OptionalDocumented *FooEnum `json:"optionalDocumented,omitempty"`

	Flattened FooFlattened        `json:"flattened" schema:"preserveUnknownFields"`
	Port      intstr.IntOrString  `json:"port"`
	OptPort   *intstr.IntOrString `json:"optPort,omitempty"`
	OptUnion  *FooUnion           `json:"optUnion,omitempty"`
	Ruled     string              `json:"ruled" schema:"rule='self != \"illegal\"'|'the string is illegal'"`
	Replicas  int32               `json:"replicas,omitempty"`
}

// FooUnion is one of its fields.
type FooUnion struct {
	_ struct{} `schema:"oneOf=int|text|empty"`

	// Int is a number.
	Int *int32 `json:"int,omitempty"`
	// Text is a struct.
	Text *FooText `json:"text,omitempty"`
	// Empty has nothing.
	Empty *struct{} `json:"empty,omitempty"`
}

// FooText is a variant with fields.
type FooText struct {
	Value string  `json:"value"`
	Inner FooEnum `json:"inner,omitempty"`
}

// FooPerson is one of two shapes that share a field.
type FooPerson struct {
	Name   string `json:"name,omitempty"`
	Age    *int32 `json:"age,omitempty"`
	Gender string `json:"gender,omitempty"`
}

// OpenAPISchema says which fields go together.
func (FooPerson) OpenAPISchema() apiextensionsv1.JSONSchemaProps {
	return apiextensionsv1.JSONSchemaProps{
		Type: "object",
		Properties: map[string]apiextensionsv1.JSONSchemaProps{
			"name":   {Type: "string"},
			"age":    {Type: "integer", Format: "int32"},
			"gender": {Type: "string"},
		},
		AnyOf: []apiextensionsv1.JSONSchemaProps{{Required: []string{"name", "age"}}, {Required: []string{"name", "gender"}}, {}},
	}
}

// FooMerged is replaced as a whole.
type FooMerged struct {
	Part string `json:"part"`
}

// FooFlattened keeps what it does not know.
type FooFlattened struct {
	Known string `json:"known,omitempty"`
}

// FooEnum is a choice.
type FooEnum string

// Enum returns the choices in their order.
func (FooEnum) Enum() []FooEnum { return []FooEnum{"C", "D", "A", "B"} }

// FooStatus is what is seen.
type FooStatus struct {
	Replicas int32 `json:"replicas"`
}

type Foo = kube.Object[FooSpec, FooStatus]

var foos = kube.DefineNamespaced[Foo](kube.Info{
	Group: "clux.dev", Version: "v1", Kind: "Foo", ShortNames: []string{"fo", "f"}, Categories: []string{"clux"},
})

func fooDefinition(t *testing.T) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	def, err := crd.For(foos, &crd.Options{
		Source:             fooSource,
		Columns:            []crd.Column{{Name: "Spec", Type: "string", Description: "The name of the foo", JSONPath: ".spec.nonNullable"}},
		Scale:              &crd.Scale{SpecReplicasPath: ".spec.replicas", StatusReplicasPath: ".status.replicas"},
		SelectableFields:   []string{".spec.nonNullable", ".spec.enum"},
		Rules:              []apiextensionsv1.ValidationRule{{Rule: "self.metadata.name == 'singleton'", Message: "there can be one"}},
		Unserved:           true,
		Deprecated:         true,
		DeprecationWarning: "clux.dev/v1 is deprecated",
		Labels:             map[string]string{"clux.dev": "cluxingv1"},
		Annotations:        map[string]string{"clux.dev/x": "y"},
		Fields:             map[string]string{".spec": "title=Foo"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return def
}

func TestFooGolden(t *testing.T) {
	golden(t, "foo", fooDefinition(t), nil)
}

// TestFooNames checks what the descriptor says beside the definition.
func TestFooNames(t *testing.T) {
	d, def := foos.Descriptor(), fooDefinition(t)
	if d.Kind != "Foo" || d.APIVersion() != "clux.dev/v1" || d.Plural != "foos" || def.Name != "foos.clux.dev" {
		t.Errorf("got %v and %s", d, def.Name)
	}
	if diff := cmp.Diff([]string{"fo", "f"}, def.Spec.Names.ShortNames); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestFooJSON checks what Go writes of an object: skipped fields are absent, others null.
func TestFooJSON(t *testing.T) {
	foo := kube.New(foos, "bar", FooSpec{NonNullable: "asdf", Timestamp: time.Unix(0, 0).UTC(), Complex: FooUnion{Int: new(int32(23))}, Enum: "A"})
	foo.Labels = map[string]string{"clux.dev": "cluxingv1"}
	got, err := json.Marshal(foo)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"kind":"Foo","apiVersion":"clux.dev/v1","metadata":{"name":"bar","labels":{"clux.dev":"cluxingv1"}},"spec":{` +
		`"nonNullable":"asdf","nonNullableWithDefault":"","nullable":null,"nullableWithDefault":null,"timestamp":"1970-01-01T00:00:00Z",` +
		`"complex":{"int":23},"untagged":{},"set":null,"keyed":null,"merged":{"part":""},"enum":"A","flattened":{},"port":0,"ruled":""}}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestUnionSpec derives a kind whose whole spec is a union, and one that is an enum.
func TestUnionSpec(t *testing.T) {
	def, err := crd.For(define[kube.Object[FooUnion, struct{}]]("Union"), nil)
	if err != nil || len(def.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"].OneOf) != 3 {
		t.Errorf("got %+v, %v", def, err)
	}
	def, err = crd.For(define[kube.Object[FooEnum, struct{}]]("Choice"), nil)
	if err != nil || len(def.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"].Enum) != 4 {
		t.Errorf("got %+v, %v", def, err)
	}
}

// Mixed, Retyped and Redescribed are kube-rs' enums that no structural schema can say.
type (
	Mixed       struct{}
	Retyped     struct{}
	Redescribed struct{}
)

func (Mixed) OpenAPISchema() apiextensionsv1.JSONSchemaProps {
	return apiextensionsv1.JSONSchemaProps{Type: "object", OneOf: []apiextensionsv1.JSONSchemaProps{{Type: "string"}, {Required: []string{"a"}}}}
}

func (Retyped) OpenAPISchema() apiextensionsv1.JSONSchemaProps {
	return apiextensionsv1.JSONSchemaProps{
		Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"a": {Type: "string"}},
		AnyOf: []apiextensionsv1.JSONSchemaProps{{Properties: map[string]apiextensionsv1.JSONSchemaProps{"a": {Type: "integer"}}}},
	}
}

func (Redescribed) OpenAPISchema() apiextensionsv1.JSONSchemaProps {
	return apiextensionsv1.JSONSchemaProps{
		Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"a": {Type: "string", Description: "One."}},
		AnyOf: []apiextensionsv1.JSONSchemaProps{{Properties: map[string]apiextensionsv1.JSONSchemaProps{"a": {Description: "Another."}}}},
	}
}

func TestImpossibleUnions(t *testing.T) {
	type Spec struct {
		A Mixed       `json:"a"`
		B Retyped     `json:"b"`
		C Redescribed `json:"c"`
		D struct {
			Inner Mixed `json:"inner"`
		} `json:"d"`
	}
	same(t, faults[Spec](t),
		`Mixed.OpenAPISchema(): oneOf[0] has a type: say it outside`,
		`Redescribed.OpenAPISchema(): anyOf[0] field "a": has a title, description, default or nullable: say it outside`,
		`Retyped.OpenAPISchema(): anyOf[0] field "a": has a type: say it outside`,
	)
}
