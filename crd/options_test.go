package crd_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/go-kube/kube/crd"
	kube "github.com/go-kube/kube/resource"
)

// Range has a rule of its own.
type Range struct {
	Min int32 `json:"min"`
	Max int32 `json:"max"`
}

// Rules says that a range is not empty.
func (Range) Rules() []apiextensionsv1.ValidationRule {
	return []apiextensionsv1.ValidationRule{{Rule: "self.min <= self.max", Message: "min is above max", FieldPath: ".min"}}
}

// Target is a union.
type Target struct {
	_    struct{} `schema:"exactlyOneOf=http|exec"`
	HTTP *string  `json:"http,omitempty"`
	Exec *string  `json:"exec,omitempty"`
}

// RuledSpec has rules on itself, a type and fields.
type RuledSpec struct {
	Range  Range            `json:"range"`
	Target Target           `json:"target"`
	Name   string           `json:"name,omitempty" schema:"immutable"`
	Even   int32            `json:"even" schema:"rule='self % 2 == 0'|'it''s odd',rule='self > 0'"`
	Hosts  []string         `json:"hosts,omitempty"`
	Extra  map[string]Range `json:"extra,omitempty"`
}

func ruled(t *testing.T, o *crd.Options) (*apiextensionsv1.CustomResourceDefinition, error) {
	t.Helper()
	return crd.For(define[kube.Object[RuledSpec, struct{}]]("Ruled"), o)
}

func TestOptionsGolden(t *testing.T) {
	_, err := ruled(t, &crd.Options{
		Rules: []apiextensionsv1.ValidationRule{{Rule: "self.metadata.name == self.spec.name", Message: "the name differs", Reason: new(apiextensionsv1.FieldValueForbidden)}},
		Fields: map[string]string{
			".spec.hosts":       "maxItems=4,listType=set,required",
			".spec.hosts[]":     "format=hostname",
			".spec.extra{}.min": "minimum=3,optional",
			".spec.even":        "selectable",
		},
	})
	if err == nil || !strings.Contains(err.Error(), `"selectable" is not a word`) {
		t.Errorf("got %v", err)
	}
	def, err := ruled(t, &crd.Options{
		Rules: []apiextensionsv1.ValidationRule{{Rule: "self.metadata.name == self.spec.name", Message: "the name differs", Reason: new(apiextensionsv1.FieldValueForbidden)}},
		Fields: map[string]string{
			".spec.hosts":       "maxItems=4,listType=set,required",
			".spec.hosts[]":     "format=hostname",
			".spec.extra{}.min": "minimum=3,optional",
		},
		SelectableFields:   []string{".spec.name", ".spec.range.min"},
		Deprecated:         true,
		DeprecationWarning: "use v2",
		Unserved:           true,
		Conversion:         &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.NoneConverter},
	})
	golden(t, "options", def, err)
}

func TestBadOptions(t *testing.T) {
	for want, o := range map[string]*crd.Options{
		`Options.Rules[0]: a rule needs an expression`:                              {Rules: []apiextensionsv1.ValidationRule{{}}},
		`Options.Rules[0]: rule "x": optionalOldSelf is for rules that use oldSelf`: {Rules: []apiextensionsv1.ValidationRule{{Rule: "x", OptionalOldSelf: new(true)}}},
		`there is no field "host"; did you mean "hosts"?`:                           {Fields: map[string]string{".spec.host": "minItems=1"}},
		`there is no {} in array`:                                                   {Fields: map[string]string{".spec.hosts{}": "minLength=1"}},
		`a path begins with a dot`:                                                  {Fields: map[string]string{"spec": "nullable"}},
		`"minLength" has no meaning for array; did you mean "minItems"?`:            {Fields: map[string]string{".spec.hosts": "minLength=1"}},
		`.spec.range is of type object, and has to be a string, integer or boolean`: {SelectableFields: []string{".spec.range"}},
		`".spec.name" stands twice`:                                                 {SelectableFields: []string{".spec.name", ".spec.name"}},
		`has to be the path of a field in the schema, outside of metadata`:          {SelectableFields: []string{".metadata.name"}},
		`there are 9, and the API server takes 8`:                                   {SelectableFields: strings.Split(strings.Repeat(".spec.name ", 9), " ")[:9]},
		`it is for versions with Options.Deprecated`:                                {DeprecationWarning: "x"},
		`has to be one line of at most 256 bytes`:                                   {Deprecated: true, DeprecationWarning: "x\ny"},
		`the strategy Webhook needs a webhook`:                                      {Conversion: &apiextensionsv1.CustomResourceConversion{Strategy: "Webhook"}},
		`the strategy is None or Webhook, and not "webhook"`:                        {Conversion: &apiextensionsv1.CustomResourceConversion{Strategy: "webhook"}},
		`Options.NoSchema: it excludes Options.Schema`:                              {NoSchema: true, Schema: &apiextensionsv1.JSONSchemaProps{}},
		`whose type is object, and not "string"`:                                    {Schema: &apiextensionsv1.JSONSchemaProps{Type: "string"}},
		`Options.Schema.spec: a node needs a type`:                                  {Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"spec": {}}}},
		`Options.MaxSize: the definition has`:                                       {MaxSize: 100},
		`Options.MaxDescription: -2`:                                                {MaxDescription: -2},
		`Options.Markers: it has to come from ReadMarkers`:                          {Markers: &crd.Markers{}},
	} {
		if _, err := ruled(t, o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// Emptied has a rule about a field that it lacks.
type Emptied struct {
	A string `json:"a"`
}

func (Emptied) Rules() []apiextensionsv1.ValidationRule {
	return []apiextensionsv1.ValidationRule{{Rule: "has(self.b)", FieldPath: ".b"}}
}

func TestBadRules(t *testing.T) {
	_, err := crd.For(define[kube.Object[Emptied, struct{}]]("Emptied"), nil)
	if err == nil || !strings.Contains(err.Error(), `Emptied.Rules(): rule "has(self.b)": fieldPath: the path .b leads nowhere`) {
		t.Errorf("got %v", err)
	}
	type twice struct {
		_ struct{} `schema:"exactlyOneOf=a|a"`
		A *string  `json:"a,omitempty"`
	}
	_, err = crd.For(define[kube.Object[twice, struct{}]]("Twice"), nil)
	if err == nil || !strings.Contains(err.Error(), `names the field "a" twice`) {
		t.Errorf("got %v", err)
	}
}

func TestNoSchema(t *testing.T) {
	def, err := ruled(t, &crd.Options{NoSchema: true})
	if err != nil {
		t.Fatal(err)
	}
	root := def.Spec.Versions[0].Schema.OpenAPIV3Schema
	if root.XPreserveUnknownFields == nil || root.Type != "object" || len(root.Properties) > 0 {
		t.Errorf("got %+v", root)
	}
}

func TestGivenSchema(t *testing.T) {
	given := &apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"status": {Type: "object"}}}
	def, err := ruled(t, &crd.Options{Schema: given})
	if err != nil {
		t.Fatal(err)
	}
	v := def.Spec.Versions[0]
	if v.Subresources == nil || v.Subresources.Status == nil || v.Schema.OpenAPIV3Schema == given {
		t.Errorf("got %+v", v)
	}
}

// TestMaxSize drops deep descriptions, and keeps those above.
func TestMaxSize(t *testing.T) {
	full, err := crd.For(define[kube.Object[NestedSpec, struct{}]]("Nested"), &crd.Options{Source: goldenSource})
	if err != nil {
		t.Fatal(err)
	}
	limit := size(t, full) - 100
	got, err := crd.For(define[kube.Object[NestedSpec, struct{}]]("Nested"), &crd.Options{Source: goldenSource, MaxSize: limit})
	if err != nil {
		t.Fatal(err)
	}
	spec := got.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
	if size(t, got) > limit || spec.Description == "" {
		t.Errorf("%d bytes of %d; the spec says %q", size(t, got), limit, spec.Description)
	}
}

// TestShrink drops as much in each version of a definition.
func TestShrink(t *testing.T) {
	at := func(version string) *apiextensionsv1.CustomResourceDefinition {
		kind := kube.DefineNamespaced[kube.Object[NestedSpec, struct{}]](kube.Info{Group: "example.com", Version: version, Kind: "Nested"})
		def, err := crd.For(kind, &crd.Options{Source: goldenSource})
		if err != nil {
			t.Fatal(err)
		}
		return def
	}
	def, err := crd.Merge("v1", at("v1"), at("v2"))
	if err != nil {
		t.Fatal(err)
	}
	limit := size(t, def) - 100
	if err := crd.Shrink(def, limit); err != nil {
		t.Fatal(err)
	}
	one, other := def.Spec.Versions[0].Schema.OpenAPIV3Schema, def.Spec.Versions[1].Schema.OpenAPIV3Schema
	if diff := cmp.Diff(one, other); diff != "" || size(t, def) > limit || one.Properties["spec"].Description == "" {
		t.Errorf("%d bytes of %d; the versions differ:\n%s", size(t, def), limit, diff)
	}
	if err := crd.Shrink(def, 100); err == nil || !strings.Contains(err.Error(), "without any description, and may have 100") {
		t.Errorf("got %v", err)
	}
}

func TestMaxDescription(t *testing.T) {
	for limit, want := range map[int]string{-1: "", 20: "Text is a string.", 10: "Text is a..."} {
		def, err := crd.For(define[kube.Object[ScalarsSpec, struct{}]]("Scalars"), &crd.Options{Source: goldenSource, MaxDescription: limit})
		if err != nil {
			t.Fatal(err)
		}
		if got := def.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"].Properties["text"].Description; got != want {
			t.Errorf("%d: got %q, want %q", limit, got, want)
		}
	}
}

func size(t *testing.T, def *apiextensionsv1.CustomResourceDefinition) int {
	t.Helper()
	clean := def.DeepCopy()
	raw, err := json.Marshal(map[string]any{"apiVersion": clean.APIVersion, "kind": clean.Kind, "metadata": clean.ObjectMeta, "spec": clean.Spec})
	if err != nil {
		t.Fatal(err)
	}
	return len(raw)
}
