package cel

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// table is a file of testdata: a kind, and objects to judge. The file beside it that ends in
// .golden has the verdicts.
type table struct {
	Rules        apiextensionsv1.ValidationRules `json:"rules"`
	Spec, Status *apiextensionsv1.JSONSchemaProps
	Scale        *apiextensionsv1.CustomResourceSubresourceScale `json:"scale"`
	Pairs        []pair                                          `json:"pairs"`

	name string
}

// pair is an object that is created, or that takes the place of another one, Old: with ToStatus
// by the status subresource.
type pair struct {
	Object   map[string]any `json:"object"`
	Old      map[string]any `json:"old"`
	ToStatus bool           `json:"status"`
}

const group, version, loose = "pairs.example.com", "v1", "loose"

func readTable(t *testing.T, file string) *table {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	out := &table{name: strings.TrimSuffix(filepath.Base(file), ".yaml")}
	if err := yaml.UnmarshalStrict(text, out); err != nil {
		t.Fatal(err)
	}
	return out
}

func (tab *table) kind() string { return strings.ToUpper(tab.name[:1]) + tab.name[1:] }

// definition has the version under test, and one that takes anything, by which objects get there
// that the other would refuse.
func (tab *table) definition() *apiextensionsv1.CustomResourceDefinition {
	root := &apiextensionsv1.JSONSchemaProps{Type: "object", XValidations: tab.Rules, Properties: map[string]apiextensionsv1.JSONSchemaProps{"spec": *tab.Spec}}
	subresources := &apiextensionsv1.CustomResourceSubresources{Scale: tab.Scale}
	if tab.Status != nil {
		root.Properties["status"] = *tab.Status
		subresources.Status = &apiextensionsv1.CustomResourceSubresourceStatus{}
	}
	anything := &apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: new(true)}
	def := &apiextensionsv1.CustomResourceDefinition{}
	def.APIVersion, def.Kind = apiextensionsv1.SchemeGroupVersion.String(), "CustomResourceDefinition"
	def.Name = tab.name + "." + group
	def.Spec = apiextensionsv1.CustomResourceDefinitionSpec{
		Group: group,
		Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: tab.name, Singular: tab.name, Kind: tab.kind(), ListKind: tab.kind() + "List"},
		Scope: apiextensionsv1.ClusterScoped,
		Versions: []apiextensionsv1.CustomResourceDefinitionVersion{
			{Name: version, Served: true, Storage: true, Subresources: subresources, Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: root}},
			{Name: loose, Served: true, Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: anything}},
		},
	}
	return def
}

// String describes a pair on a line.
func (p pair) String() string {
	out := compact(p.Object)
	switch {
	case p.ToStatus:
		out = compact(p.Old) + " status " + out
	case p.Old != nil:
		out = compact(p.Old) + " -> " + out
	}
	return out
}

func compact(v any) string {
	text, err := marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// named returns an object of a version as JSON, with a name if it has none.
func (tab *table) named(object map[string]any, version, name string) ([]byte, error) {
	full := map[string]any{"apiVersion": group + "/" + version, "kind": tab.kind(), "metadata": map[string]any{"name": name}}
	for key, value := range object {
		if key == "metadata" {
			if own, ok := value.(map[string]any); ok && own["name"] != nil {
				full[key] = value
				continue
			}
			return nil, fmt.Errorf("the metadata of a pair is for a name: %v", value)
		}
		full[key] = value
	}
	return marshal(full)
}
