package gotypes

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

var update = flag.Bool("update", false, "write the files that the tests compare with")

// TestGolden compares what is made of the definitions in each archive with the other files in it.
func TestGolden(t *testing.T) {
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	for _, name := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			isInput := func(f txtar.File) bool { return strings.HasSuffix(f.Name, ".yaml") }
			input := slices.DeleteFunc(slices.Clone(archive.Files), func(f txtar.File) bool { return !isInput(f) })
			got := txtar.Archive{Comment: archive.Comment, Files: append(input, generated(t, input)...)}
			if *update {
				if err := os.WriteFile(name, txtar.Format(&got), 0o666); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(string(txtar.Format(archive)), string(txtar.Format(&got))); diff != "" {
				t.Errorf("%s: go test -update writes it again\n%s", name, diff)
			}
		})
	}
}

// generated returns the files for definitions, and what was said of them.
func generated(t *testing.T, input []txtar.File) (files []txtar.File) {
	t.Helper()
	var defs []*apiextensionsv1.CustomResourceDefinition
	for _, f := range input {
		def := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.UnmarshalStrict(f.Data, def); err != nil {
			t.Fatalf("%s: %v", f.Name, err)
		}
		defs = append(defs, def)
	}
	result, err := Generate(defs, nil)
	if err != nil {
		return []txtar.File{{Name: "error", Data: []byte(err.Error() + "\n")}}
	}
	var remains strings.Builder
	for _, f := range result.Files {
		if filepath.Base(f.Name) != "doc.go" {
			files = append(files, txtar.File{Name: f.Name, Data: f.Text})
		}
		if filepath.Ext(f.Name) == ".go" {
			checkGo(t, result.Files, filepath.Dir(f.Name))
		}
	}
	for _, k := range result.Kinds {
		for _, r := range k.Remains {
			remains.WriteString(k.File + ": " + r.String() + "\n")
		}
		for _, n := range k.Notes {
			remains.WriteString(k.File + ": " + n + "\n")
		}
	}
	if remains.Len() > 0 {
		files = append(files, txtar.File{Name: "report", Data: []byte(remains.String())})
	}
	return files
}

// TestStable generates twice.
func TestStable(t *testing.T) {
	archive, err := txtar.ParseFile("testdata/webapp.txtar")
	if err != nil {
		t.Fatal(err)
	}
	input := archive.Files[:1]
	first := generated(t, input)
	for range 5 {
		if diff := cmp.Diff(first, generated(t, input)); diff != "" {
			t.Fatal(diff)
		}
	}
}
