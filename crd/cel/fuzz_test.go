package cel_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/yaml"

	"github.com/go-kube/kube/crd"
	"github.com/go-kube/kube/crd/cel"
	"github.com/go-kube/kube/resource"
)

// fuzzedSpec has a field of each kind of type, whose words are fuzzed.
type fuzzedSpec struct {
	Text    string                `json:"text,omitempty"`
	Integer int32                 `json:"integer,omitempty"`
	Number  float64               `json:"number,omitempty"`
	Flag    bool                  `json:"flag,omitempty"`
	List    []string              `json:"list,omitempty"`
	Items   []fuzzedItem          `json:"items,omitempty"`
	Map     map[string][]int64    `json:"map,omitempty"`
	Object  fuzzedItem            `json:"object,omitzero"`
	Either  intstr.IntOrString    `json:"either,omitzero"`
	Any     *apiextensionsv1.JSON `json:"any,omitempty"`
}

type fuzzedItem struct {
	Name   string  `json:"name"`
	Number *int32  `json:"number,omitempty"`
	Note   *string `json:"note,omitempty"`
}

var fuzzedPaths = []string{
	".spec", ".spec.text", ".spec.integer", ".spec.number", ".spec.flag", ".spec.list", ".spec.list[]", ".spec.items", ".spec.items[]",
	".spec.items[].name", ".spec.map", ".spec.map{}", ".spec.map{}[]", ".spec.object", ".spec.either", ".spec.any",
}

// FuzzTagsAgainstServer checks that the API server takes what For makes without an error,
// whatever the words and the type they are about. Expressions are the server's to judge.
func FuzzTagsAgainstServer(f *testing.F) {
	for i, tag := range []string{
		"minLength=1,maxLength=2,pattern='^[a-z]*$',default=a", "minimum=1,exclusiveMinimum,maximum=9,multipleOf=2", "enum=a|b,default=a",
		"listType=map,listMapKey=name", "listType=set,items.minLength=2,default='[\"aa\"]'", "preserveUnknownFields,embeddedResource",
		"exactlyOneOf=number|note", "oneOf=number|note", "oneOfOrNone=number|note", "atLeastOneOf=number|note", "nullable,default='null'",
		"mapType=atomic,minProperties=1", "intOrString,default=80", "type=object,preserveUnknownFields", "format=date-time,example='2026-01-01T00:00:00Z'",
		"immutable", "externalDocs='https://example.com'|'x'", "title=a,description=b", "type=array,items.type=string", "required", "uniqueItems",
	} {
		for path := range fuzzedPaths {
			if path%5 == i%5 {
				f.Add(path, tag)
			}
		}
	}
	kind := resource.DefineNamespaced[resource.Object[fuzzedSpec, struct{}]](resource.Info{Group: "example.com", Version: "v1", Kind: "Fuzzed"})
	f.Fuzz(func(t *testing.T, path int, tag string) {
		if strings.Contains(tag, "rule") || strings.Contains(tag, "x-kubernetes-validations") {
			return
		}
		at := fuzzedPaths[uint(path)%uint(len(fuzzedPaths))]
		def, err := crd.For(kind, &crd.Options{Fields: map[string]string{at: tag}})
		if err != nil {
			return
		}
		if err := cel.Check(context.Background(), def); err != nil && !strings.Contains(err.Error(), "estimated rule cost") {
			t.Errorf("%s: %q gave no error, and the API server says: %v", at, tag, err)
		}
	})
}

// FuzzDefinition reads definitions that are not right: whatever is in one, it is judged and
// compared without a panic, and one that is found right can validate objects.
func FuzzDefinition(f *testing.F) {
	for _, schema := range []string{
		`{type: object}`, `{type: object, properties: {spec: {type: string, default: 1}}}`, `{type: array}`, `{$ref: x}`,
		`{type: object, x-kubernetes-validations: [{rule: self.x}]}`, `{type: object, properties: {a: {x-kubernetes-int-or-string: true}}, oneOf: [{required: [a]}]}`,
		`{type: object, additionalProperties: {type: array, items: {type: string}, x-kubernetes-list-type: set}}`, `{type: object, properties: {a: {type: object, additionalProperties: false}}}`,
		`{type: object, properties: {a: null, metadata: {type: object, properties: {name: {maxLength: 3}}}}}`, `null`,
	} {
		f.Add(`{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: xs.example.com}, spec: {group: example.com, scope: Namespaced, ` +
			`names: {plural: xs, singular: x, kind: X, listKind: XList}, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: ` + schema + `}}]}}`)
	}
	f.Fuzz(func(t *testing.T, text string) {
		def := &apiextensionsv1.CustomResourceDefinition{}
		if yaml.Unmarshal([]byte(text), def) != nil {
			return
		}
		crd.Compare(def, def)
		ctx := context.Background()
		if cel.Check(ctx, def) != nil {
			return
		}
		if changes := crd.Compare(def, def.DeepCopy()); len(changes) > 0 {
			t.Errorf("a definition differs from itself: %v", changes)
		}
		for _, v := range def.Spec.Versions {
			validator, err := cel.New(def, v.Name)
			if err != nil {
				t.Fatalf("%s: Check takes what New refuses: %v", v.Name, err)
			}
			object, err := json.Marshal(map[string]any{"apiVersion": def.Spec.Group + "/" + v.Name, "kind": def.Spec.Names.Kind, "spec": 1, "a": "b"})
			if err != nil {
				t.Fatal(err)
			}
			_ = validator.Validate(ctx, object) // right or wrong
			_ = validator.ValidateUpdate(ctx, object, object)
			_, _ = validator.Default(object)
		}
	})
}
