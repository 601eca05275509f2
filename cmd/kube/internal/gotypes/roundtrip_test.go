package gotypes

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	api "github.com/go-kube/kube/cmd/kube/internal/gotypes/generated"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// definitionsOf returns the definitions of the golden files, of which package generated was made.
func definitionsOf(t *testing.T) (defs []*apiextensionsv1.CustomResourceDefinition) {
	t.Helper()
	for _, name := range []string{"unions", "webapp"} {
		archive, err := txtar.ParseFile("testdata/" + name + ".txtar")
		if err != nil {
			t.Fatal(err)
		}
		def := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.Unmarshal(archive.Files[0].Data, def); err != nil {
			t.Fatal(err)
		}
		defs = append(defs, def)
	}
	return defs
}

// TestGenerated keeps package generated up to date.
func TestGenerated(t *testing.T) {
	result, err := Generate(definitionsOf(t), &Options{Package: "generated", Version: "v1"})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range result.Files {
		name := filepath.Join("generated", f.Name)
		if *update {
			if err := os.WriteFile(name, f.Text, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		have, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(have), string(f.Text)); diff != "" {
			t.Errorf("%s: go test -update writes it again\n%s", name, diff)
		}
	}
}

// TestDerived derives the definitions from the types, and has them back.
func TestDerived(t *testing.T) {
	derive := []func() (*apiextensionsv1.CustomResourceDefinition, error){api.PolicyCRD, api.WebAppCRD}
	for i, want := range definitionsOf(t) {
		got, err := derive[i]()
		if err != nil {
			t.Fatal(err)
		}
		version := want.Spec.Versions[len(want.Spec.Versions)-1] // v1
		sortRequired(version.Schema.OpenAPIV3Schema)
		if diff := cmp.Diff(tree(t, version), tree(t, got.Spec.Versions[0])); diff != "" {
			t.Errorf("%s: %s", want.Name, diff)
		}
		if diff := cmp.Diff(want.Spec.Names, got.Spec.Names) + cmp.Diff(want.Spec.Scope, got.Spec.Scope); diff != "" {
			t.Errorf("%s: %s", want.Name, diff)
		}
	}
}

func tree(t *testing.T, v any) map[string]any {
	t.Helper()
	out, err := treeOf(v)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestObjects decodes and encodes: nothing is lost, and nothing comes in.
func TestObjects(t *testing.T) {
	for name, c := range map[string]struct {
		into any
		text string
	}{
		"webapp": {&api.WebApp{}, `{"apiVersion":"example.com/v1","kind":"WebApp","metadata":{"name":"a"},"spec":{
			"anything":[1,null],"config":{"b":{}},"image":"c","limits":{"cpu":"1"},"name":"","password":{"key":"d"},"paused":false,
			"ports":[{"port":80},{"port":"http","hosts":[]}],"pullPolicy":"Always","replicas":0,"started":"2026-01-02T03:04:05Z"},
			"status":{"replicas":0,"conditions":[]}}`},
		"bare webapp": {&api.WebApp{}, `{"apiVersion":"example.com/v1","kind":"WebApp","metadata":{"name":"a"},"spec":{"image":"c","name":"web","ports":[]}}`},
		"policy": {&api.Policy{}, `{"apiVersion":"example.com/v1","kind":"Policy","metadata":{"name":"a"},"spec":{
			"http":{"url":"","http-url":"b","httpUrl":"c"},"nothing":{},"odd":{"a\"b":"c"},"open":{"a":"b","c":{"d":[]}},"rules":[{"rules":"e"},{}]}}`},
		"empty policy": {&api.Policy{}, `{"metadata":{},"spec":{}}`},
	} {
		t.Run(name, func(t *testing.T) {
			if err := json.Unmarshal([]byte(c.text), c.into); err != nil {
				t.Fatal(err)
			}
			var want map[string]any
			if err := json.Unmarshal([]byte(c.text), &want); err != nil {
				t.Fatal(err)
			}
			raw, err := json.Marshal(c.into)
			if err != nil {
				t.Fatal(err)
			}
			var got map[string]any
			if err := json.Unmarshal(raw, &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
