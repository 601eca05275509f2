package crd

import (
	"errors"
	"strings"
	"testing"

	"github.com/go-kube/kube/resource"
	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

type refineSpec struct {
	A *string `json:"a,omitzero" schema:"maxLength=3"`
	B *string `json:"b,omitzero"`
}

var refined = resource.DefineNamespaced[resource.Object[refineSpec, struct{}]](resource.Info{Group: "example.com", Version: "v1", Kind: "Refined"})

func TestMergePatch(t *testing.T) {
	patch := `{"schema":{"openAPIV3Schema":{"properties":{"spec":{
		"oneOf":[{"required":["a"]},{"required":["b"]}],
		"properties":{"a":{"maxLength":null,"maximum":9007199254740993},"c":{"type":"boolean"}}}}}},
		"subresources":{"status":{}}}`
	def, err := For(refined, &Options{Refine: MergePatch([]byte(patch))})
	if err != nil {
		t.Fatal(err)
	}
	v := def.Spec.Versions[0]
	want := props{
		Type:  "object",
		OneOf: []props{{Required: []string{"a"}}, {Required: []string{"b"}}},
		Properties: map[string]props{
			"a": {Type: "string", Maximum: new(float64(9007199254740993))}, "b": {Type: "string"}, "c": {Type: "boolean"},
		},
	}
	if diff := cmp.Diff(want, v.Schema.OpenAPIV3Schema.Properties["spec"]); diff != "" {
		t.Error(diff)
	}
	if v.Subresources == nil || v.Subresources.Status == nil || v.Name != "v1" || !v.Storage {
		t.Errorf("the version is %+v", v)
	}
}

// Descriptions are cut after a patch, which may bring some.
func TestRefineThenCut(t *testing.T) {
	patch := `{"schema":{"openAPIV3Schema":{"properties":{"spec":{"description":"One. Two."}}}}}`
	def, err := For(refined, &Options{Refine: MergePatch([]byte(patch)), MaxDescription: 5})
	if err != nil {
		t.Fatal(err)
	}
	if got := def.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"].Description; got != "One." {
		t.Errorf("the description is %q", got)
	}
}

func TestRefineFails(t *testing.T) {
	for name, c := range map[string]struct {
		refine func(*apiextensionsv1.CustomResourceDefinitionVersion) error
		want   string
	}{
		"no JSON":    {MergePatch([]byte(`{`)), "the merge patch: "},
		"no object":  {MergePatch([]byte(`[]`)), "the merge patch: "},
		"no version": {MergePatch([]byte(`{"served":"yes"}`)), "the merge patch leaves no version of a definition: "},
		"no schema":  {MergePatch([]byte(`{"schema":null}`)), "it left no schema"},
		"its own":    {func(*apiextensionsv1.CustomResourceDefinitionVersion) error { return errors.New("not today") }, "Options.Refine: not today"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := For(refined, &Options{Refine: c.refine})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error is %v, and has to contain %q", err, c.want)
			}
		})
	}
}

// A field for the members without a field keeps unknown fields, as encoding/json does.
func TestFallbackField(t *testing.T) {
	type spec struct {
		A    string         `json:"a"`
		Rest map[string]any `json:",embed"`
	}
	kind := resource.DefineNamespaced[resource.Object[spec, struct{}]](resource.Info{Group: "example.com", Version: "v1", Kind: "Open"})
	def, err := For(kind, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := props{Type: "object", Required: []string{"a"}, Properties: map[string]props{"a": {Type: "string"}}, XPreserveUnknownFields: new(true)}
	if diff := cmp.Diff(want, def.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]); diff != "" {
		t.Error(diff)
	}
}
