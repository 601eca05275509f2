// Package crdtest reads definitions that projects have published, and compares them, for tests.
package crdtest

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// Module downloads a module, as path@version, and returns where it is.
func Module(t testing.TB, module string) string {
	t.Helper()
	answer, err := exec.Command("go", "mod", "download", "-json", module).Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", module, err, answer)
	}
	var downloaded struct{ Dir string }
	if err := json.Unmarshal(answer, &downloaded); err != nil {
		t.Fatal(err)
	}
	return downloaded.Dir
}

// Files returns the files that match a pattern of [filepath.Glob], one at least.
func Files(t testing.TB, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("no files are %s: %v", pattern, err)
	}
	return files
}

// Read returns the definitions in a YAML file. Other documents are passed over.
func Read(t testing.TB, file string) (defs []*apiextensionsv1.CustomResourceDefinition) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for document := range strings.SplitSeq(string(text), "\n---\n") {
		def := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.Unmarshal([]byte(document), def); err == nil && def.Kind == "CustomResourceDefinition" {
			defs = append(defs, def)
		}
	}
	return defs
}

// Differences lists the paths at which two decoded JSON documents differ. path is theirs.
func Differences(path string, want, got any) (out []string) {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			break
		}
		for _, k := range Keys(w, g) {
			out = append(out, Differences(path+"."+k, w[k], g[k])...)
		}
		return out
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			break
		}
		for i := range w {
			out = append(out, Differences(fmt.Sprintf("%s[%d]", path, i), w[i], g[i])...)
		}
		return out
	}
	if !reflect.DeepEqual(want, got) {
		out = append(out, fmt.Sprintf("%s: want %s, got %s", path, clip(want), clip(got)))
	}
	return out
}

// Keys returns the keys of two objects, sorted and each once.
func Keys(a, b map[string]any) []string {
	all := maps.Clone(a)
	if all == nil {
		all = map[string]any{}
	}
	maps.Copy(all, b)
	return slices.Sorted(maps.Keys(all))
}

// clip writes a value as JSON, and cuts what is long.
func clip(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	if len(raw) > 300 {
		return string(raw[:300]) + "…"
	}
	return string(raw)
}
