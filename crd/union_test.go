package crd

import (
	"strings"
	"testing"

	"github.com/go-kube/kube/resource"
	"github.com/google/go-cmp/cmp"
)

func specOf[Spec any](t *testing.T) (props, error) {
	t.Helper()
	kind := resource.DefineNamespaced[resource.Object[Spec, struct{}]](resource.Info{Group: "example.com", Version: "v1", Kind: "Union"})
	def, err := For(kind, nil)
	if err != nil {
		return props{}, err
	}
	return def.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"], nil
}

func has(name string) props { return props{Required: []string{name}} }

func TestOneOf(t *testing.T) {
	type one struct {
		_ struct{} `schema:"oneOf=a|b"`
		A *string  `json:"a,omitzero"`
		B *string  `json:"b,omitzero"`
	}
	got, err := specOf[one](t)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]props{has("a"), has("b")}, got.OneOf); diff != "" {
		t.Error(diff)
	}
}

func TestOneOfOrNone(t *testing.T) {
	type three struct {
		_ struct{} `schema:"oneOfOrNone=a|b,oneOf=c|d,oneOfOrNone=e"`
		A *string  `json:"a,omitzero"`
		B *string  `json:"b,omitzero"`
		C *string  `json:"c,omitzero"`
		D *string  `json:"d,omitzero"`
		E *string  `json:"e,omitzero"`
	}
	got, err := specOf[three](t)
	if err != nil {
		t.Fatal(err)
	}
	none := func(names ...string) (p props) {
		p.Not = &props{}
		for _, name := range names {
			p.Not.AnyOf = append(p.Not.AnyOf, has(name))
		}
		return p
	}
	want := []props{ // by the order of the words in the table
		{OneOf: []props{has("c"), has("d")}},
		{OneOf: []props{none("a", "b"), has("a"), has("b")}},
		{OneOf: []props{none("e"), has("e")}},
	}
	if diff := cmp.Diff(want, got.AllOf); diff != "" || got.OneOf != nil {
		t.Errorf("oneOf is %v, allOf: %s", got.OneOf, diff)
	}
}

func TestOneOfFails(t *testing.T) {
	type twice struct {
		_ struct{} `schema:"oneOf=a|a"`
		A *string  `json:"a,omitzero"`
	}
	type required struct {
		_ struct{} `schema:"oneOfOrNone=a"`
		A string   `json:"a"`
	}
	type absent struct {
		_   struct{} `schema:"oneOf=alph"`
		All *string  `json:"alpha,omitzero"`
	}
	type nested struct {
		_ struct{} `schema:"oneOf=a.b"`
		A *string  `json:"a,omitzero"`
	}
	for want, derive := range map[string]func(*testing.T) (props, error){
		`"oneOf" names the field "a" twice`: specOf[twice],
		`"oneOfOrNone" names the field "a", which is required; a member of a union has to be optional`: specOf[required],
		`"oneOf" names the field "alph", which is not there; did you mean "alpha"?`:                    specOf[absent],
		`"oneOf" names the field "a.b", which is not there`:                                            specOf[nested],
	} {
		if _, err := derive(t); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, and has to contain %s", err, want)
		}
	}
}
