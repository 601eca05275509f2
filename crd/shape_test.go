package crd_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/go-kube/kube/crd"
	kube "github.com/go-kube/kube/resource"
)

// Inner is embedded, named and aliased.
type Inner struct {
	A string `json:"a,omitempty"`
}

type (
	aliased        = Inner
	aliasedPair    = Pair[string, aliased]
	listOf[T any]  = []T
	keyed[V any]   map[Key]V
	recursiveAlias = struct {
		Next *Inner `json:"next,omitempty"`
	}
)

// TestShapesOfTypes derives the ways of writing a type that are not a struct with fields, and
// checks that the schema is what encoding/json writes.
func TestShapesOfTypes(t *testing.T) {
	text := apiextensionsv1.JSONSchemaProps{Type: "string"}
	inner := apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"a": text}}
	object := func(name string, s apiextensionsv1.JSONSchemaProps) apiextensionsv1.JSONSchemaProps {
		return apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{name: s}}
	}
	mapOf := func(s apiextensionsv1.JSONSchemaProps) apiextensionsv1.JSONSchemaProps {
		return apiextensionsv1.JSONSchemaProps{Type: "object", AdditionalProperties: &apiextensionsv1.JSONSchemaPropsOrBool{Allows: true, Schema: &s}}
	}
	for name, test := range map[string]struct {
		spec any
		want apiextensionsv1.JSONSchemaProps
		def  func() (*apiextensionsv1.CustomResourceDefinition, error)
	}{
		"embedded inline": shape(struct{ Inner }{Inner{"x"}}, inner),
		"embedded with a name": shape(struct {
			Inner `json:"inner,omitzero"`
		}{Inner{"x"}}, object("inner", inner)),
		"embedded by pointer": shape(struct{ *Inner }{&Inner{"x"}}, inner),
		"alias": shape(struct {
			X aliased `json:"x,omitzero"`
		}{aliased{"x"}}, object("x", inner)),
		"alias of a generic type": shape(struct {
			X aliasedPair `json:"x,omitzero"`
		}{aliasedPair{First: "x"}}, object("x", apiextensionsv1.JSONSchemaProps{
			Type: "object", Required: []string{"first"}, Properties: map[string]apiextensionsv1.JSONSchemaProps{"first": text, "second": inner}})),
		"generic alias": shape(struct {
			X listOf[Inner] `json:"x,omitempty"`
		}{listOf[Inner]{{"x"}}}, object("x", apiextensionsv1.JSONSchemaProps{Type: "array", Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &inner}})),
		"generic map with typed keys": shape(struct {
			X keyed[Inner] `json:"x,omitempty"`
		}{keyed[Inner]{"k": {"x"}}}, object("x", mapOf(inner))),
		"alias of a struct without a name": shape(struct {
			X recursiveAlias `json:"x,omitzero"`
		}{recursiveAlias{&Inner{"x"}}}, object("x", object("next", inner))),
		"time and duration": shape(struct {
			X *metav1.Time      `json:"x,omitempty"`
			Y *metav1.Duration  `json:"y,omitempty"`
			Z time.Duration     `json:"z,omitempty"`
			R json.RawMessage   `json:"r,omitempty"`
			M map[string][]byte `json:"m,omitempty"`
		}{}, apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{
			"x": {Type: "string", Format: "date-time"}, "y": text, "z": {Type: "integer", Format: "int64"}, "r": {XPreserveUnknownFields: new(true)},
			"m": mapOf(apiextensionsv1.JSONSchemaProps{Type: "string", Format: "byte"})}}),
	} {
		t.Run(name, func(t *testing.T) {
			def, err := test.def()
			if err != nil {
				t.Fatal(err)
			}
			got := def.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			raw, err := json.Marshal(test.spec)
			if err != nil {
				t.Fatal(err)
			}
			var written map[string]any
			if err := json.Unmarshal(raw, &written); err != nil {
				t.Fatal(err)
			}
			for key := range written {
				if _, ok := got.Properties[key]; !ok {
					t.Errorf("Go writes %q, which the schema lacks", key)
				}
			}
		})
	}
}

// shape is a case whose spec is of type S.
func shape[S any](spec S, want apiextensionsv1.JSONSchemaProps) (c struct {
	spec any
	want apiextensionsv1.JSONSchemaProps
	def  func() (*apiextensionsv1.CustomResourceDefinition, error)
}) {
	c.spec, c.want = spec, want
	c.def = func() (*apiextensionsv1.CustomResourceDefinition, error) {
		return crd.For(define[kube.Object[S, struct{}]]("Shape"), nil)
	}
	return c
}
