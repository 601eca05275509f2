// Package derive derives the definitions of published API modules from their unchanged source,
// and compares them with those that the projects ship and with what controller-gen makes of
// the same source.
package derive

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/go-kube/kube/crd"
	"github.com/go-kube/kube/resource"
)

type project struct {
	name     string
	packages []string
	// module and shipped say where the module has its YAML; empty where it has none.
	module, shipped string
	embeddedMeta    bool
	kinds           []kind
}

// kind is a version of a kind.
type kind struct {
	goType reflect.Type
	derive func(info resource.Info, scope resource.Scope, o *crd.Options) (*apiextensionsv1.CustomResourceDefinition, error)
}

func of[K any, P resource.ObjectPtr[K]]() kind {
	return kind{reflect.TypeFor[K](), func(info resource.Info, scope resource.Scope, o *crd.Options) (*apiextensionsv1.CustomResourceDefinition, error) {
		if scope == resource.ClusterScoped {
			return crd.For(resource.DefineCluster[K, P](info), o)
		}
		return crd.For(resource.DefineNamespaced[K, P](info), o)
	}}
}

// row is a line of the table.
type row struct {
	tried, equal, likeGenerator int
	reasons                     []string
}

func TestPublishedModules(t *testing.T) {
	var sources []fs.FS
	for _, dir := range moduleDirs(t) {
		sources = append(sources, os.DirFS(dir))
	}
	var table strings.Builder
	fmt.Fprintf(&table, "%-30s %5s %9s %9s  %s\n", "project", "kinds", "generator", "shipped", "different")
	for _, p := range projects {
		t.Run(p.name, func(t *testing.T) {
			r := p.compare(t, sources)
			shipped := "none"
			if p.shipped != "" {
				shipped = fmt.Sprint(r.equal)
			}
			fmt.Fprintf(&table, "%-30s %5d %9d %9s  %s\n", p.name, r.tried, r.likeGenerator, shipped, strings.Join(r.reasons, "; "))
		})
	}
	t.Log("\n" + table.String())
}

func (p project) compare(t *testing.T, sources []fs.FS) (r row) {
	markers, err := crd.ReadMarkers(&crd.MarkerOptions{EmbeddedObjectMeta: p.embeddedMeta}, sources...)
	if err != nil {
		t.Fatal(err)
	}
	generated := runControllerGen(t, p.packages, p.embeddedMeta, nil)
	shipped := p.readShipped(t)
	for of, want := range generated.definitions {
		r.tried++
		got, err := p.definition(generated, of, want, markers)
		if err != nil {
			t.Errorf("%s: %v", of, err)
			r.reasons = append(r.reasons, of.Kind+": not derived")
			continue
		}
		if diff := cmp.Diff(comparable(want), comparable(got)); diff != "" {
			t.Errorf("%s differs from controller-gen (-want +got):\n%s", of, clip(diff))
			r.reasons = append(r.reasons, of.Kind+": differs from controller-gen")
		} else {
			r.likeGenerator++
		}
		switch yaml := shipped[of]; {
		case p.shipped == "":
		case yaml == nil:
			r.reasons = append(r.reasons, of.Kind+": not shipped")
		default:
			if diff := cmp.Diff(comparable(yaml), comparable(got)); diff != "" {
				if testing.Verbose() {
					t.Logf("%s differs from the YAML shipped (-shipped +got):\n%s", of, clip(diff))
				}
				r.reasons = append(r.reasons, of.Kind+": shipped YAML differs")
			} else {
				r.equal++
			}
		}
	}
	return r
}

func clip(diff string) string {
	if len(diff) > 3000 {
		return diff[:3000] + "…"
	}
	return diff
}

// definition derives all versions of a kind, and merges them.
func (p project) definition(o *oracle, of schema.GroupKind, want *apiextensionsv1.CustomResourceDefinition, markers *crd.Markers) (*apiextensionsv1.CustomResourceDefinition, error) {
	scope := resource.NamespaceScoped
	if want.Spec.Scope == apiextensionsv1.ClusterScoped {
		scope = resource.ClusterScoped
	}
	stored := ""
	for _, v := range want.Spec.Versions {
		if v.Storage {
			stored = v.Name
		}
	}
	var defs []*apiextensionsv1.CustomResourceDefinition
	for _, k := range p.kinds {
		gv := o.versions[k.goType.PkgPath()]
		if k.goType.Name() != of.Kind || gv.Group != of.Group {
			continue
		}
		info := resource.Info{Group: gv.Group, Version: gv.Version, Kind: of.Kind, Plural: want.Spec.Names.Plural, Singular: want.Spec.Names.Singular}
		def, err := k.derive(info, scope, &crd.Options{Markers: markers, Annotations: approved})
		if err != nil {
			return nil, err
		}
		defs = append(defs, def)
	}
	return crd.Merge(stored, defs...)
}

// approved lets kinds of community groups through; it is not compared.
var approved = map[string]string{apiextensionsv1.KubeAPIApprovedAnnotation: "https://example.com/review"}

// comparable is what two definitions are compared by: everything but the metadata, which says
// what made them.
func comparable(def *apiextensionsv1.CustomResourceDefinition) any {
	raw, err := yaml.Marshal(def.Spec)
	if err != nil {
		return err
	}
	var out map[string]any
	if err := yaml.Unmarshal(raw, &out); err != nil {
		return err
	}
	return out
}

func (p project) readShipped(t *testing.T) map[schema.GroupKind]*apiextensionsv1.CustomResourceDefinition {
	if p.shipped == "" {
		return nil
	}
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", p.module).Output()
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(dir)), p.shipped))
	if err != nil || len(files) == 0 {
		t.Fatalf("no YAML in %s: %v", p.shipped, err)
	}
	out := map[schema.GroupKind]*apiextensionsv1.CustomResourceDefinition{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for document := range strings.SplitSeq(string(text), "\n---\n") {
			def := &apiextensionsv1.CustomResourceDefinition{}
			if err := yaml.Unmarshal([]byte(document), def); err == nil && def.Kind == "CustomResourceDefinition" {
				out[schema.GroupKind{Group: def.Spec.Group, Kind: def.Spec.Names.Kind}] = def
			}
		}
	}
	return out
}
