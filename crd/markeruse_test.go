package crd

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

const kb = "+kubebuilder:validation:"

// markerCase is a marker on the smallest schema on which it means something, and what it adds.
type markerCase struct {
	marker, on, want string
	about            subject
}

// markerCases has every marker about fields and types: TestReferenceMarkers sees to that.
var markerCases = []markerCase{
	{kb + `Maximum=-1.5`, `{"type":"number"}`, `"maximum":-1.5`, aboutField},
	{kb + `Minimum=3`, `{"type":"integer"}`, `"minimum":3`, aboutType},
	{`+k8s:minimum=3 # not less`, `{"type":"integer"}`, `"minimum":3`, aboutField},
	{`+k8s:maximum=3`, `{"type":"integer"}`, `"maximum":3`, aboutField},
	{kb + `ExclusiveMaximum=true`, `{"type":"integer","maximum":1}`, `"exclusiveMaximum":true`, aboutField},
	{kb + `ExclusiveMinimum=true`, `{"type":"integer","minimum":1}`, `"exclusiveMinimum":true`, aboutField},
	{kb + `MultipleOf=0.5`, `{"type":"number"}`, `"multipleOf":0.5`, aboutField},
	{kb + `MinProperties=1`, `{"type":"object"}`, `"minProperties":1`, aboutType},
	{kb + `MaxProperties=1`, `{"type":"object"}`, `"maxProperties":1`, aboutField},
	{kb + `MaxLength=63`, `{"type":"string"}`, `"maxLength":63`, aboutField},
	{kb + `MinLength=1`, `{"type":"string"}`, `"minLength":1`, aboutField},
	{kb + "Pattern=`^[a-z,;]+$`", `{"type":"string"}`, `"pattern":"^[a-z,;]+$"`, aboutField},
	{kb + `Pattern=^[a-z]+$`, `{"type":"string"}`, `"pattern":"^[a-z]+$"`, aboutField},
	{kb + `MaxItems=2`, `{"type":"array"}`, `"maxItems":2`, aboutField},
	{`+k8s:maxItems=2`, `{"type":"array"}`, `"maxItems":2`, aboutField},
	{kb + `MinItems=2`, `{"type":"array"}`, `"minItems":2`, aboutField},
	{kb + `UniqueItems=true`, `{"type":"array"}`, `"uniqueItems":true`, aboutField},
	{kb + `Enum=a;"b c";d`, `{"type":"string"}`, `"enum":["a","b c","d"]`, aboutType},
	{kb + `Enum={1,2}`, `{"type":"integer"}`, `"enum":[1,2]`, aboutField},
	{kb + `Format=date-time`, `{"type":"string"}`, `"format":"date-time"`, aboutField},
	{kb + `Type=string`, `{}`, `"type":"string"`, aboutField},
	{kb + `XPreserveUnknownFields`, `{"type":"object"}`, `"x-kubernetes-preserve-unknown-fields":true`, aboutField},
	{`+kubebuilder:pruning:PreserveUnknownFields`, `{"type":"object"}`, `"x-kubernetes-preserve-unknown-fields":true`, aboutType},
	{`+kubebuilder:pruning:PreserveUnknownFields`, `{"type":"array"}`, `"x-kubernetes-preserve-unknown-fields":true`, aboutField},
	{kb + `XEmbeddedResource`, `{"type":"object"}`, `"x-kubernetes-embedded-resource":true`, aboutField},
	{kb + `EmbeddedResource`, `{"type":"object"}`, `"x-kubernetes-embedded-resource":true`, aboutField},
	{kb + `XIntOrString`, `{}`, `"x-kubernetes-int-or-string":true`, aboutField},
	{kb + `XValidation:rule="self > 0",message="has, to be; above 0"`, `{"type":"integer"}`, `"x-kubernetes-validations":[{"rule":"self > 0","message":"has, to be; above 0"}]`, aboutField},
	{kb + `XValidation:rule="!has(oldSelf.a)",messageExpression="'x'",reason=FieldValueForbidden,fieldPath=".a",optionalOldSelf=true`, `{"type":"object"}`,
		`"x-kubernetes-validations":[{"rule":"!has(oldSelf.a)","messageExpression":"'x'","reason":"FieldValueForbidden","fieldPath":".a","optionalOldSelf":true}]`, aboutType},
	{kb + `ExactlyOneOf=a;b`, `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}}}`, `"x-kubernetes-validations":[{"rule":"(has(self.a)?1:0)+(has(self.b)?1:0) == 1","message":"exactly one of the fields in [a b] must be set"}]`, aboutType},
	{kb + `AtMostOneOf=a;b`, `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}}}`, `"x-kubernetes-validations":[{"rule":"(has(self.a)?1:0)+(has(self.b)?1:0) <= 1","message":"at most one of the fields in [a b] may be set"}]`, aboutType},
	{kb + `AtLeastOneOf=a;b`, `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}}}`, `"x-kubernetes-validations":[{"rule":"has(self.a)||has(self.b)","message":"at least one of the fields in [a b] must be set"}]`, aboutType},
	{`+k8s:immutable`, `{"type":"string"}`, `"x-kubernetes-validations":[{"rule":"self == oldSelf","message":"field is immutable"}]`, aboutField},
	{`+nullable`, `{"type":"string"}`, `"nullable":true`, aboutField},
	{`+kubebuilder:default=Always`, `{"type":"string"}`, `"default":"Always"`, aboutField},
	{`+kubebuilder:default={a: 1, b: {x, y}, c: {d: true}}`, `{"type":"object"}`, `"default":{"a":1,"b":["x","y"],"c":{"d":true}}`, aboutField},
	{`+kubebuilder:default={}`, `{"type":"array"}`, `"default":[]`, aboutField},
	{`+kubebuilder:default=100Mi`, `{"x-kubernetes-int-or-string":true}`, `"default":"100Mi"`, aboutField},
	{`+default={"a":[1]}`, `{"type":"object"}`, `"default":{"a":[1]}`, aboutField},
	{`+default=ref(DefaultPort)`, `{"type":"integer"}`, ``, aboutField},
	{`+kubebuilder:example=-7`, `{"type":"integer"}`, `"example":-7`, aboutField},
	{`+kubebuilder:title="A title"`, `{"type":"integer"}`, `"title":"A title"`, aboutType},
	{`+kubebuilder:externalDocs:url="https://example.com/x",description="more"`, `{"type":"integer"}`, `"externalDocs":{"url":"https://example.com/x","description":"more"}`, aboutType},
	{`+listType=set`, `{"type":"array"}`, `"x-kubernetes-list-type":"set"`, aboutField},
	{`+k8s:listType=atomic`, `{"type":"array"}`, `"x-kubernetes-list-type":"atomic"`, aboutType},
	{`+listMapKey=name`, `{"type":"array","x-kubernetes-list-type":"map"}`, `"x-kubernetes-list-map-keys":["name"]`, aboutField},
	{`+k8s:listMapKey=name`, `{"type":"array","x-kubernetes-list-type":"map"}`, `"x-kubernetes-list-map-keys":["name"]`, aboutField},
	{`+mapType=atomic`, `{"type":"object"}`, `"x-kubernetes-map-type":"atomic"`, aboutField},
	{`+structType=atomic`, `{"type":"object"}`, `"x-kubernetes-map-type":"atomic"`, aboutType},
	{`+k8s:required`, `{"type":"string"}`, `"minLength":1`, aboutField},
	{`+k8s:required`, `{"type":"array"}`, `"minItems":1`, aboutField},
	{`+k8s:required`, `{"type":"object"}`, `"minProperties":1`, aboutField},
	{`+k8s:deepcopy-gen=true`, `{"type":"object"}`, ``, aboutType},
	{`+nullable`, `{"type":"object"}`, ``, aboutType},
	{kb + `ExactlyOneOf=a;b`, `{"type":"object"}`, ``, aboutField},
}

func TestEachMarker(t *testing.T) {
	for _, test := range markerCases {
		t.Run(test.marker, func(t *testing.T) {
			got, errs := applyMarker(t, test.marker, test.on, test.about)
			if len(errs) > 0 {
				t.Fatal(errs)
			}
			var want props
			if err := json.Unmarshal([]byte(merged(test.on, test.want)), &want); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// merged adds members to a JSON object.
func merged(object, members string) string {
	if members == "" {
		return object
	}
	inside := strings.TrimSuffix(strings.TrimPrefix(object, "{"), "}") // members never repeat
	return "{" + strings.Trim(inside+","+members, ",") + "}"
}

func applyMarker(t *testing.T, marker, on string, about subject) (props, []*FieldError) {
	t.Helper()
	var s props
	if err := json.Unmarshal([]byte(on), &s); err != nil {
		t.Fatal(err)
	}
	m := &marking{builder: &builder{}, raw: map[string]*props{}}
	m.applyUses(&s, m.usesOf([]string{marker}, "T.F", about), "T.F")
	return s, m.bad.list
}

// TestItemsMarkers checks that each validation marker works on the items of a list, other than
// those about a field or a type itself.
func TestItemsMarkers(t *testing.T) {
	tried := 0
	for _, test := range markerCases {
		name, isValidation := strings.CutPrefix(test.marker, kb)
		if !isValidation || strings.Contains(name, "OneOf=") || strings.HasPrefix(name, "EmbeddedResource") || strings.HasPrefix(name, "Optional") || strings.HasPrefix(name, "Required") {
			continue
		}
		tried++
		got, errs := applyMarker(t, kb+"items:"+name, `{"type":"array","items":`+test.on+`}`, test.about)
		var want props
		if err := json.Unmarshal([]byte(merged(test.on, test.want)), &want); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(&want, got.Items.Schema); diff != "" || len(errs) > 0 {
			t.Errorf("items:%s (-want +got):\n%s\n%v", name, diff, errs)
		}
	}
	if tried < 20 {
		t.Errorf("only %d markers were tried", tried)
	}
	got, errs := applyMarker(t, `+kubebuilder:validation:items:MaxLength=3`, `{"type":"array","items":{"type":"string"}}`, aboutField)
	if len(errs) > 0 || got.Items.Schema.MaxLength == nil || *got.Items.Schema.MaxLength != 3 {
		t.Errorf("got %+v, %v", got.Items.Schema, errs)
	}
	got, errs = applyMarker(t, `+kubebuilder:validation:items:XValidation:rule="self != ''"`, `{"type":"array","items":{"type":"string"}}`, aboutType)
	if len(errs) > 0 || len(got.Items.Schema.XValidations) != 1 {
		t.Errorf("got %+v, %v", got.Items.Schema, errs)
	}
}

func TestBadMarkers(t *testing.T) {
	for _, test := range []struct {
		marker, on, want string
		about            subject
	}{
		{kb + `Maximum=ten`, `{"type":"integer"}`, `expected a number, and found "ten"`, aboutField},
		{kb + `Maximum=10`, `{"type":"string"}`, `"maximum" has no meaning for string; did you mean "maxLength"?`, aboutField},
		{kb + `MaxLength`, `{"type":"string"}`, `needs a value`, aboutField},
		{kb + `MaxLength=1,2`, `{"type":"string"}`, `",2" is too much`, aboutField},
		{kb + `XValidation:rul="self > 0"`, `{"type":"integer"}`, `has no argument "rul"; did you mean "rule"?`, aboutField},
		{kb + `XValidation:message="self > 0"`, `{"type":"integer"}`, `needs the argument "rule"`, aboutField},
		{kb + `XValidation:rule="self > 0",reason=FieldValueForbiden`, `{"type":"integer"}`, `did you mean "FieldValueForbidden"?`, aboutField},
		{kb + `ExclusiveMinimum=yes`, `{"type":"integer"}`, `expected true or false, and found "yes"`, aboutField},
		{kb + `items:MaxLength=1`, `{"type":"string"}`, `is for a list`, aboutField},
		{`+listType=sets`, `{"type":"array"}`, `did you mean "set"?`, aboutField},
		{`+default={a: 1}`, `{"type":"object"}`, `needs JSON, and has "{a: 1}"`, aboutField},
		{`+kubebuilder:externalDocs:url="here"`, `{"type":"object"}`, `invalid URI`, aboutField},
		{kb + `ExactlyOneOf=a;b`, `{"type":"object","properties":{"a":{"type":"string"},"c":{"type":"string"}}}`, `names the field "b", which is not there`, aboutType},
		{kb + `ExactlyOneOf=a`, `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`, `a member of a union has to be optional`, aboutType},
		{kb + `Enum=` + strings.Repeat("{", 30000), `{"type":"object"}`, `lists and maps are nested more than 100 deep`, aboutField},
		{`+kubebuilder:default=` + strings.Repeat("{a:", 101) + "1" + strings.Repeat("}", 101), `{"type":"object"}`, `lists and maps are nested more than 100 deep`, aboutField},
		{kb + `XValidation:rule=` + strings.Repeat("{", 30000), `{"type":"object"}`, `lists and maps are nested more than 100 deep`, aboutField},
		{`+nullable=true`, `{"type":"object"}`, `"true" is too much`, aboutField},
	} {
		_, errs := applyMarker(t, test.marker, test.on, test.about)
		if !slices.ContainsFunc(errs, func(e *FieldError) bool { return strings.Contains(e.Error(), test.want) }) {
			t.Errorf("%s: got %v, want an error with %s", test.marker, errs, test.want)
		}
	}
}

// FuzzMarker looks for panics and for values that are not JSON.
func FuzzMarker(f *testing.F) {
	for _, seed := range []string{
		`+kubebuilder:validation:Enum=a;b`, `+kubebuilder:default={a: {b, "c"}}`, `+kubebuilder:default={`, `+default=[1]`,
		`+kubebuilder:validation:XValidation:rule="x",message=y`, `+kubebuilder:validation:Pattern=^[,`, `+kubebuilder:validation:Enum={1,"a"`, `+kubebuilder:example='x`,
		`+kubebuilder:default=` + strings.Repeat("{", 3000), `+kubebuilder:default=` + strings.Repeat("{a:", 90) + strings.Repeat("}", 90),
		"+default={\"a\":1,\"a\":2}", "+kubebuilder:default={a: \"\\xff\", a: 1e400}", "+kubebuilder:validation:Enum=-0.0;0x1p-2;017",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, marker string) {
		u, ok, err := useOf(marker, aboutField)
		if !ok || err != nil || u.word.skip {
			return
		}
		s := props{Type: "object"}
		if err := u.apply(&s, u.word); err != nil {
			return
		}
		for _, j := range append([]*apiextensionsv1.JSON{s.Default, s.Example}, pointers(s.Enum)...) {
			if j != nil && !jsontext.Value(j.Raw).IsValid() {
				t.Errorf("%s: %s is no JSON", marker, j.Raw)
			}
		}
	})
}

func pointers(list []apiextensionsv1.JSON) (out []*apiextensionsv1.JSON) {
	for i := range list {
		out = append(out, &list[i])
	}
	return out
}
