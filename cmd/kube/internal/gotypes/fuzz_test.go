package gotypes

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/tools/txtar"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// FuzzGenerate makes Go of any definition: either it compiles, or there is an error.
func FuzzGenerate(f *testing.F) {
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range archives {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			f.Fatal(err)
		}
		raw, err := yaml.YAMLToJSON(archive.Files[0].Data)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		def := &apiextensionsv1.CustomResourceDefinition{}
		if json.Unmarshal(raw, def) != nil {
			t.Skip()
		}
		result, err := Generate([]*apiextensionsv1.CustomResourceDefinition{def}, nil)
		if err != nil {
			return
		}
		var folders []string
		for _, file := range result.Files {
			folders = append(folders, filepath.Dir(file.Name))
		}
		slices.Sort(folders)
		for _, folder := range slices.Compact(folders) {
			checkGo(t, result.Files, folder)
		}
	})
}
