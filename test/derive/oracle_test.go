package derive

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-tools/pkg/crd"
	crdmarkers "sigs.k8s.io/controller-tools/pkg/crd/markers"
	"sigs.k8s.io/controller-tools/pkg/loader"
	"sigs.k8s.io/controller-tools/pkg/markers"
)

// oracle is what controller-gen makes of some packages.
type oracle struct {
	definitions map[schema.GroupKind]*apiextensionsv1.CustomResourceDefinition
	versions    map[string]schema.GroupVersion // by import path
}

// runControllerGen makes the definitions of all kinds in patterns, of the modules in modfile,
// where it is not empty.
func runControllerGen(t *testing.T, modfile string, patterns []string, embeddedMeta bool) *oracle {
	t.Helper()
	roots, err := loader.LoadRootsWithConfig(&packages.Config{BuildFlags: modfileFlag(modfile)}, patterns...)
	if err != nil {
		t.Fatal(err)
	}
	registry := &markers.Registry{}
	if err := crdmarkers.Register(registry); err != nil {
		t.Fatal(err)
	}
	parser := &crd.Parser{
		Collector:                  &markers.Collector{Registry: registry},
		Checker:                    &loader.TypeChecker{NodeFilters: []loader.NodeFilter{crd.Generator{}.CheckFilter()}},
		AllowDangerousTypes:        true,
		GenerateEmbeddedObjectMeta: embeddedMeta,
		IgnoreUnexportedFields:     true,
	}
	crd.AddKnownTypes(parser)
	out := &oracle{map[schema.GroupKind]*apiextensionsv1.CustomResourceDefinition{}, map[string]schema.GroupVersion{}}
	for _, root := range roots {
		parser.NeedPackage(root)
		out.versions[root.PkgPath] = parser.GroupVersions[root]
	}
	metav1 := crd.FindMetav1(roots)
	for _, kind := range crd.FindKubeKinds(parser, metav1) {
		parser.NeedCRDFor(kind, nil)
		def, ok := parser.CustomResourceDefinitions[kind]
		if !ok {
			continue
		}
		crd.FixTopLevelMetadata(def)
		out.definitions[kind] = &def
	}
	for _, root := range roots {
		for _, err := range root.Errors {
			t.Logf("controller-gen: %s: %v", root.PkgPath, err)
		}
	}
	return out
}

// modfileFlag is the flag of go commands that use another file of modules.
func modfileFlag(modfile string) []string {
	if modfile == "" {
		return nil
	}
	return []string{"-modfile=" + modfile}
}

// moduleDirs returns the directories of all modules that this test is made of, and that of the
// standard library.
func moduleDirs(t *testing.T, modfile string) (dirs []string) {
	t.Helper()
	args := append(append([]string{"list"}, modfileFlag(modfile)...), "-deps", "-test", "-f", "{{with .Module}}{{.Dir}}{{end}}", ".")
	list, err := exec.Command("go", args...).Output()
	if err != nil {
		t.Fatal(err)
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	for dir := range strings.Lines(string(list)) {
		if dir = strings.TrimSpace(dir); dir != "" && !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	return append(dirs, fmt.Sprintf("%s/src", strings.TrimSpace(string(root))))
}
