package crd_test

import (
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/go-kube/kube/crd"
	kube "github.com/go-kube/kube/resource"
)

// ColorSpec is a spec.
type ColorSpec struct {
	Color string `json:"color"`
}

func colorAt(t *testing.T, version string, o *crd.Options) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	def, err := crd.For(kube.DefineNamespaced[kube.Object[ColorSpec, struct{}]](kube.Info{Group: "example.com", Version: version, Kind: "Color"}), o)
	if err != nil {
		t.Fatal(err)
	}
	return def
}

func TestMerge(t *testing.T) {
	second := colorAt(t, "v2", &crd.Options{Labels: map[string]string{"a": "b"}})
	first := colorAt(t, "v1", &crd.Options{Unserved: true, Conversion: &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.NoneConverter}})
	got, err := crd.Merge("v1", second, first)
	if err != nil {
		t.Fatal(err)
	}
	v := got.Spec.Versions
	if len(v) != 2 || v[0].Name != "v1" || !v[0].Storage || v[0].Served || v[1].Storage || !v[1].Served {
		t.Errorf("got versions %+v", v)
	}
	if got.Spec.Conversion == nil || got.Labels["a"] != "b" {
		t.Errorf("got %+v", got)
	}
	if !second.Spec.Versions[0].Storage || second.Spec.Conversion != nil {
		t.Error("Merge changed what it was given")
	}
}

func TestMergeFails(t *testing.T) {
	def := func(change func(*apiextensionsv1.CustomResourceDefinition)) *apiextensionsv1.CustomResourceDefinition {
		d := colorAt(t, "v2", &crd.Options{Labels: map[string]string{"a": "b"}})
		d.Spec.Names.ShortNames = []string{"co"}
		d.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.NoneConverter}
		change(d)
		return d
	}
	one := def(func(d *apiextensionsv1.CustomResourceDefinition) { d.Spec.Versions[0].Name = "v1" })
	for name, test := range map[string]struct {
		stored string
		defs   []*apiextensionsv1.CustomResourceDefinition
		want   string
	}{
		"none":       {"v1", nil, "there are no definitions to merge"},
		"nil":        {"v1", []*apiextensionsv1.CustomResourceDefinition{nil}, "definition 0 is nil"},
		"no version": {"v1", []*apiextensionsv1.CustomResourceDefinition{def(func(d *apiextensionsv1.CustomResourceDefinition) { d.Spec.Versions = nil })}, "has no version"},
		"two in one": {"v1", []*apiextensionsv1.CustomResourceDefinition{def(func(d *apiextensionsv1.CustomResourceDefinition) {
			d.Spec.Versions = append(d.Spec.Versions, d.Spec.Versions...)
		})}, "has 2 versions"},
		"stored":      {"v3", []*apiextensionsv1.CustomResourceDefinition{one, def(func(*apiextensionsv1.CustomResourceDefinition) {})}, `there is no version "v3" to store; there are v1, v2`},
		"twice":       {"v1", []*apiextensionsv1.CustomResourceDefinition{one, one}, "version v1: it stands twice"},
		"group":       {"v1", []*apiextensionsv1.CustomResourceDefinition{one, def(func(d *apiextensionsv1.CustomResourceDefinition) { d.Spec.Group = "x.y" })}, `its group is "x.y", and that of version v1 is "example.com"`},
		"kind":        {"v1", []*apiextensionsv1.CustomResourceDefinition{one, def(func(d *apiextensionsv1.CustomResourceDefinition) { d.Spec.Names.Kind = "X" })}, `its kind is "X"`},
		"listKind":    {"v1", []*apiextensionsv1.CustomResourceDefinition{one, def(func(d *apiextensionsv1.CustomResourceDefinition) { d.Spec.Names.ListKind = "X" })}, `its listKind is "X"`},
		"plural":      {"v1", []*apiextensionsv1.CustomResourceDefinition{one, def(func(d *apiextensionsv1.CustomResourceDefinition) { d.Spec.Names.Plural = "x" })}, `its plural is "x"`},
		"singular":    {"v1", []*apiextensionsv1.CustomResourceDefinition{one, def(func(d *apiextensionsv1.CustomResourceDefinition) { d.Spec.Names.Singular = "x" })}, `its singular is "x"`},
		"scope":       {"v1", []*apiextensionsv1.CustomResourceDefinition{one, def(func(d *apiextensionsv1.CustomResourceDefinition) { d.Spec.Scope = "Cluster" })}, `its scope is "Cluster"`},
		"preserve":    {"v1", []*apiextensionsv1.CustomResourceDefinition{one, def(func(d *apiextensionsv1.CustomResourceDefinition) { d.Spec.PreserveUnknownFields = true })}, `its preserveUnknownFields is "true"`},
		"short names": {"v1", []*apiextensionsv1.CustomResourceDefinition{one, def(func(d *apiextensionsv1.CustomResourceDefinition) { d.Spec.Names.ShortNames = []string{"c"} })}, "its shortNames are c, and before they are co"},
		"conversion":  {"v1", []*apiextensionsv1.CustomResourceDefinition{one, def(func(d *apiextensionsv1.CustomResourceDefinition) { d.Spec.Conversion.Strategy = "Webhook" })}, "its conversion differs"},
		"label":       {"v1", []*apiextensionsv1.CustomResourceDefinition{one, def(func(d *apiextensionsv1.CustomResourceDefinition) { d.Labels["a"] = "c" })}, `its label a is "c", and before it is "b"`},
		"unserved":    {"v2", []*apiextensionsv1.CustomResourceDefinition{def(func(d *apiextensionsv1.CustomResourceDefinition) { d.Spec.Versions[0].Served = false })}, "none of the versions is served"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := crd.Merge(test.stored, test.defs...)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
}
