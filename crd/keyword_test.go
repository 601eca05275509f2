package crd

import (
	"reflect"
	"slices"
	"testing"
)

// TestKeywordsAreAll checks that there is a word for all that a structural schema can say, other
// than what follows from the Go type and what the API server refuses.
func TestKeywordsAreAll(t *testing.T) {
	derived := []string{"Properties", "AdditionalProperties", "Items", "Required"}
	bySchema := []string{"AllOf", "AnyOf", "Not"} // in OpenAPISchema and Options.Refine; oneOf has a word
	refused := []string{"ID", "Schema", "Ref", "Definitions", "PatternProperties", "Dependencies", "AdditionalItems"}

	var s props
	said := map[string]bool{}
	for i := range keywords {
		k := &keywords[i]
		w := word{name: k.name, raw: "1", values: []value{{text: "1"}, {text: "2"}}}
		if k.name == "exclusiveMinimum" || k.flag != nil || k.flagPtr != nil {
			w.values = nil
		} else if k.rule == nil && k.members == nil {
			w.values = w.values[:1]
		}
		if k.choice != nil {
			w.values[0].text = k.choices[0]
		}
		if k.docs != nil {
			w.values[0].text = "https://example.com"
		}
		if k.name == "immutable" || k.presence != asTagged {
			w.values = nil
		}
		before := *s.DeepCopy()
		if err := k.apply(&s, w); err != nil {
			t.Errorf("%s: %v", k.name, err)
		}
		for name := range changed(before, s) {
			said[name] = true
		}
	}
	for f := range reflect.TypeFor[props]().Fields() {
		if !said[f.Name] && !slices.Contains(slices.Concat(derived, bySchema, refused), f.Name) {
			t.Errorf("no word sets %s", f.Name)
		}
	}
}

// changed returns the names of the members that differ.
func changed(a, b props) map[string]bool {
	names := map[string]bool{}
	x, y := reflect.ValueOf(a), reflect.ValueOf(b)
	for i := range x.NumField() {
		if !reflect.DeepEqual(x.Field(i).Interface(), y.Field(i).Interface()) {
			names[x.Type().Field(i).Name] = true
		}
	}
	return names
}
