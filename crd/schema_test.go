package crd_test

import (
	"encoding/json"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// Self is recursive over a list, and Left and Right over each other.
type Self struct {
	Children []Self `json:"children"`
}
type Left struct {
	Right *Right `json:"right"`
}
type Right struct {
	Left map[string]Left `json:"left"`
}

// Marshals, NoValues, BadValues, BadSchema and Stringer are types that cannot be derived.
type (
	Marshals  struct{}
	NoValues  string
	BadValues int32
	BadSchema struct{}
	Stringer  interface{ String() string }
)

func (*Marshals) MarshalJSON() ([]byte, error) { return nil, nil }
func (NoValues) Enum() []NoValues              { return nil }
func (BadValues) Enum() []BadValues            { return []BadValues{1, 1} }
func (BadSchema) MarshalJSON() ([]byte, error) { return nil, nil }

func (BadSchema) OpenAPISchema() apiextensionsv1.JSONSchemaProps {
	typed := apiextensionsv1.JSONSchemaProps{Type: "string"}
	items := func(s apiextensionsv1.JSONSchemaProps) *apiextensionsv1.JSONSchemaPropsOrArray {
		return &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &s}
	}
	ref := "#/definitions/x"
	return apiextensionsv1.JSONSchemaProps{
		Type: "object",
		Properties: map[string]apiextensionsv1.JSONSchemaProps{
			"untyped":    {},
			"mistyped":   {Type: "text"},
			"ref":        {Type: "object", Ref: &ref},
			"unique":     {Type: "array", UniqueItems: true},
			"itemless":   {Type: "array"},
			"misfit":     {Type: "integer", MinLength: new(int64(1))},
			"false":      {Type: "object", XPreserveUnknownFields: new(false)},
			"both":       {XIntOrString: true, XPreserveUnknownFields: new(true)},
			"list":       {Type: "array", Items: items(apiextensionsv1.JSONSchemaProps{})},
			"map":        {Type: "object", AdditionalProperties: &apiextensionsv1.JSONSchemaPropsOrBool{Schema: &apiextensionsv1.JSONSchemaProps{}}},
			"fields":     {Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"a": typed}, AdditionalProperties: &apiextensionsv1.JSONSchemaPropsOrBool{Schema: &typed}},
			"default":    {Type: "string", Default: &apiextensionsv1.JSON{Raw: []byte("1")}},
			"id":         {Type: "string", ID: "x"},
			"schema":     {Type: "string", Schema: "x"},
			"defs":       {Type: "string", Definitions: apiextensionsv1.JSONSchemaDefinitions{"a": typed}},
			"patterns":   {Type: "object", PatternProperties: map[string]apiextensionsv1.JSONSchemaProps{"a": typed}},
			"dependent":  {Type: "object", Dependencies: apiextensionsv1.JSONSchemaDependencies{}},
			"additional": {Type: "array", AdditionalItems: &apiextensionsv1.JSONSchemaPropsOrBool{}},
		},
		AllOf: []apiextensionsv1.JSONSchemaProps{typed},
		AnyOf: []apiextensionsv1.JSONSchemaProps{{Required: []string{"ref"}}, {Properties: map[string]apiextensionsv1.JSONSchemaProps{"reff": {}}}},
		OneOf: []apiextensionsv1.JSONSchemaProps{{Title: "x"}, {Properties: map[string]apiextensionsv1.JSONSchemaProps{"ref": {Not: &apiextensionsv1.JSONSchemaProps{Nullable: true}}}}},
		Not:   &apiextensionsv1.JSONSchemaProps{XListType: new("set"), AnyOf: []apiextensionsv1.JSONSchemaProps{{XPreserveUnknownFields: new(true)}}},
	}
}

func TestTypeErrors(t *testing.T) {
	type Inline struct {
		Name string `json:"name"`
	}
	type Spec struct {
		A        chan int         `json:"a"`
		B        func()           `json:"b"`
		C        complex128       `json:"c"`
		D        map[int32]string `json:"d"`
		E        Stringer         `json:"e"`
		F        Self             `json:"f"`
		G        Left             `json:"g"`
		H        []Marshals       `json:"h"`
		I        string
		J        string    `json:",omitempty"`
		K        Inline    `json:"k,inline"`
		L        int64     `json:"l,string"`
		M        string    `json:"-" schema:"minLength=1"`
		n        string    `schema:"minLength=1"`
		O        NoValues  `json:"o"`
		P        BadValues `json:"p"`
		HTTPPort int32
		Inline   `schema:"minProperties=1"`
	}
	_ = Spec{}.n
	got := faults[Spec](t)
	same(t, got,
		`BadValues.Enum(): enum: 1 stands twice`,
		`NoValues.Enum(): returns no values`,
		`Right.Left{}: Left contains itself (Left → Right → Left), and the schema of a CRD cannot be recursive; end it with schema:"type=object,preserveUnknownFields"`,
		`Self.Children[]: Self contains itself (Self → Self), and the schema of a CRD cannot be recursive; end it with schema:"type=object,preserveUnknownFields"`,
		`Spec.A: chan int has no JSON that a schema could describe; leave the field out with json:"-", or use another type`,
		`Spec.B: func() has no JSON that a schema could describe; leave the field out with json:"-", or use another type`,
		`Spec.C: complex128 has no JSON that a schema could describe; leave the field out with json:"-", or use another type`,
		`Spec.D: the keys of map[int32]string are not strings, and JSON knows no others; use a string type, or a list with listType=map`,
		`Spec.E: crd_test.Stringer has no JSON that a schema could describe; leave the field out with json:"-", or use another type`,
		`Spec.HTTPPort: has no JSON name; name it as in json:"httpPort", or leave it out with json:"-"`,
		`Spec.H[]: crd_test.Marshals writes its own JSON, which reflection cannot see; give it a method OpenAPISchema() apiextensionsv1.JSONSchemaProps, or say what the JSON is in the field's tag, as in schema:"type=string"`,
		`Spec.I: has no JSON name; name it as in json:"i", or leave it out with json:"-"`,
		`Spec.Inline: has a schema tag, but it is embedded: constrain the fields in Inline`,
		`Spec.J: has no JSON name; name it as in json:"j", or leave it out with json:"-"`,
		`Spec.K: the json option "inline" works on embedded structs without a name only`,
		`Spec.L: the json option "string" hides the type from the schema; use a string field`,
		`Spec.M: has a schema tag, but json:"-" leaves it out`,
		`Spec.n: has a schema tag, but it is not exported, so that JSON does not have it`,
	)
}

func TestGivenSchemaErrors(t *testing.T) {
	type Spec struct {
		A BadSchema `json:"a"`
		B BadSchema `json:"b"`
	}
	same(t, faults[Spec](t),
		`BadSchema.OpenAPISchema(): allOf[0] has a type: say it outside`,
		`BadSchema.OpenAPISchema(): anyOf[1] names the field "reff", which is not a property outside; did you mean "ref"?`,
		`BadSchema.OpenAPISchema(): not has merge rules or validation rules: say them outside`,
		`BadSchema.OpenAPISchema(): oneOf[0] has a title, description, default or nullable: say it outside`,
		`BadSchema.OpenAPISchema(): oneOf[1] field "ref": not has a title, description, default or nullable: say it outside`,
		`BadSchema.OpenAPISchema().additional: the API server refuses additionalItems in the schema of a CRD`,
		`BadSchema.OpenAPISchema().both: x-kubernetes-int-or-string and x-kubernetes-preserve-unknown-fields exclude each other`,
		`BadSchema.OpenAPISchema().default: default: 1 is of type integer, and the schema wants string`,
		`BadSchema.OpenAPISchema().defs: the API server refuses definitions in the schema of a CRD`,
		`BadSchema.OpenAPISchema().dependent: the API server refuses dependencies in the schema of a CRD`,
		`BadSchema.OpenAPISchema().false: x-kubernetes-preserve-unknown-fields is true or unset, never false`,
		`BadSchema.OpenAPISchema().fields: properties and additionalProperties exclude each other`,
		`BadSchema.OpenAPISchema().id: the API server refuses id in the schema of a CRD`,
		`BadSchema.OpenAPISchema().itemless: an array needs items with one schema`,
		`BadSchema.OpenAPISchema().list.items: a node needs a type, x-kubernetes-int-or-string or x-kubernetes-preserve-unknown-fields`,
		`BadSchema.OpenAPISchema().map.additionalProperties: a node needs a type, x-kubernetes-int-or-string or x-kubernetes-preserve-unknown-fields`,
		`BadSchema.OpenAPISchema().misfit: "minLength" has no meaning for integer; did you mean "minimum"?`,
		`BadSchema.OpenAPISchema().mistyped: "text" is not a type; it is one of string, integer, number, boolean, array, object`,
		`BadSchema.OpenAPISchema().patterns: the API server refuses patternProperties in the schema of a CRD`,
		`BadSchema.OpenAPISchema().ref: the API server refuses $ref in the schema of a CRD`,
		`BadSchema.OpenAPISchema().schema: the API server refuses $schema in the schema of a CRD`,
		`BadSchema.OpenAPISchema().unique: the API server refuses uniqueItems; use x-kubernetes-list-type: set`,
		`BadSchema.OpenAPISchema().untyped: a node needs a type, x-kubernetes-int-or-string or x-kubernetes-preserve-unknown-fields`,
	)
}

// Choice has a schema of its own with every junctor.
type Choice struct{ text string }

func (c Choice) MarshalJSON() ([]byte, error) { return json.Marshal(c.text) }

func (Choice) OpenAPISchema() apiextensionsv1.JSONSchemaProps {
	pattern := func(p string) apiextensionsv1.JSONSchemaProps { return apiextensionsv1.JSONSchemaProps{Pattern: p} }
	not := pattern("z")
	return apiextensionsv1.JSONSchemaProps{
		Type:  "string",
		AllOf: []apiextensionsv1.JSONSchemaProps{pattern("^[a-z]*$"), {MinLength: new(int64(2))}},
		AnyOf: []apiextensionsv1.JSONSchemaProps{pattern("^a"), pattern("^b")},
		OneOf: []apiextensionsv1.JSONSchemaProps{pattern("c"), pattern("d")},
		Not:   &not,
	}
}

// Member is one of two fields, said by a junctor over properties.
type Member struct{}

func (Member) MarshalJSON() ([]byte, error) { return []byte("{}"), nil }

func (*Member) OpenAPISchema() apiextensionsv1.JSONSchemaProps {
	text := apiextensionsv1.JSONSchemaProps{Type: "string"}
	return apiextensionsv1.JSONSchemaProps{
		Type:       "object",
		Properties: map[string]apiextensionsv1.JSONSchemaProps{"a": text, "b": text},
		OneOf: []apiextensionsv1.JSONSchemaProps{
			{Required: []string{"a"}, Properties: map[string]apiextensionsv1.JSONSchemaProps{"a": {MinLength: new(int64(2))}}},
			{Required: []string{"b"}},
		},
	}
}

func TestJunctors(t *testing.T) {
	type Spec struct {
		A Choice `json:"a" schema:"default=ac"`
		B Choice `json:"b" schema:"default=c"`
		C Choice `json:"c" schema:"default=AC"`
		D Choice `json:"d" schema:"default=xc"`
		E Choice `json:"e" schema:"default=acd"`
		F Choice `json:"f" schema:"default=ax"`
		G Choice `json:"g" schema:"default=acz"`
		H Member `json:"h" schema:"default='{\"a\":\"xx\"}'"`
		I Member `json:"i" schema:"default='{\"a\":\"x\"}'"`
		J Member `json:"j" schema:"default='{\"a\":\"xx\",\"b\":\"\"}'"`
		K Member `json:"k" schema:"default='{\"b\":\"\",\"c\":\"\"}'"`
	}
	same(t, faults[Spec](t),
		`Spec.B: default: "c" is below minLength 2: it has 1`,
		`Spec.C: default: "AC" does not match the pattern ^[a-z]*$`,
		`Spec.D: default: "xc" fits none of the schema's anyOf`,
		`Spec.E: default: "acd" fits 2 of the schema's oneOf`,
		`Spec.F: default: "ax" fits 0 of the schema's oneOf`,
		`Spec.G: default: "acz" fits the schema's not`,
		`Spec.I: default: {"a":"x"} fits 0 of the schema's oneOf`,
		`Spec.J: default: {"a":"xx","b":""} fits 2 of the schema's oneOf`,
		`Spec.K: default: c: the schema has no such field`,
	)
}
