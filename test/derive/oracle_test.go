package derive

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

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

// runControllerGen makes the definitions of all kinds in packages.
func runControllerGen(t *testing.T, packages []string, embeddedMeta bool, maxDescription *int) *oracle {
	t.Helper()
	roots, err := loader.LoadRoots(packages...)
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
		parser.NeedCRDFor(kind, maxDescription)
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

// moduleDirs returns the directories of all modules of the build, and that of the standard
// library.
func moduleDirs(t *testing.T) (dirs []string) {
	t.Helper()
	list, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "all").Output()
	if err != nil {
		t.Fatal(err)
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	for dir := range strings.Lines(string(list)) {
		if dir = strings.TrimSpace(dir); dir != "" {
			dirs = append(dirs, dir)
		}
	}
	return append(dirs, fmt.Sprintf("%s/src", strings.TrimSpace(string(root))))
}
