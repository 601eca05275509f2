// Package derive derives the definitions of published API modules from their unchanged source,
// compares them with those that the projects ship and with what controller-gen makes of the same
// source, and has a real API server take them.
package derive

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/go-kube/kube/crd"
	"github.com/go-kube/kube/internal/crdtest"
	"github.com/go-kube/kube/resource"
)

// project is an API module that is derived from its source, with all kinds that controller-gen
// finds in it.
type project struct {
	name     string
	packages []string
	// module and shipped say in which module, with its version, the YAML is, and where in it;
	// empty where none is published.
	module  string
	shipped []string
	// modfile says with which modules the YAML shipped was made, where these are not those of
	// go.mod: a file beside it.
	modfile string
	// shippedStep is done with YAML shipped before it is compared, derivedStep with a derived
	// definition before it is compared with that: what note says.
	shippedStep, derivedStep func(*apiextensionsv1.CustomResourceDefinition)
	note                     string
	embeddedMeta             bool
	kinds                    []kind
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
	Tried, LikeGenerator, Shipped, Equal, Accepted int
	Different                                      []string
}

// modfileEnv names the file of modules of a run that compares with YAML shipped only, and
// rowEnv the file that its row is written to.
const modfileEnv, rowEnv = "KUBE_DERIVE_MODFILE", "KUBE_DERIVE_ROW"

func TestPublishedModules(t *testing.T) {
	modfile := os.Getenv(modfileEnv)
	var sources []fs.FS
	for _, dir := range moduleDirs(t, modfile) {
		sources = append(sources, os.DirFS(dir))
	}
	var table strings.Builder
	fmt.Fprintf(&table, "%-30s %5s %9s %7s %5s %8s  %s\n", "project", "kinds", "generator", "shipped", "equal", "accepted", "remarks")
	for _, p := range slices.Concat(pinned, others) {
		if modfile != "" && modfile != p.modfile {
			continue
		}
		t.Run(p.name, func(t *testing.T) {
			r := p.compare(t, sources, modfile)
			if modfile != p.modfile {
				there := p.inOtherModules(t)
				r.Shipped, r.Equal, r.Different = there.Shipped, there.Equal, append(r.Different, there.Different...)
			}
			if modfile != "" {
				r.write(t, os.Getenv(rowEnv))
			}
			slices.Sort(r.Different)
			remarks := append(r.Different, p.note)
			fmt.Fprintf(&table, "%-30s %5d %9d %7d %5d %8d  %s\n", p.name, r.Tried, r.LikeGenerator, r.Shipped, r.Equal, r.Accepted, strings.Join(remarks, "; "))
		})
	}
	t.Logf("generator: as controller-gen makes them; equal: to those shipped; accepted: by the server, and the same when applied again\n%s", &table)
}

// inOtherModules runs the test of a project with the modules of its YAML.
func (p project) inOtherModules(t *testing.T) (r row) {
	checkModfile(t, p.modfile)
	file := filepath.Join(t.TempDir(), "row")
	command := exec.CommandContext(t.Context(), "go", "test", "-modfile="+p.modfile, "-tags=pinned", "-run", "^TestPublishedModules$", "-count=1", ".")
	command.Env = append(os.Environ(), modfileEnv+"="+p.modfile, rowEnv+"="+file)
	if out, err := command.CombinedOutput(); err != nil {
		t.Errorf("with the modules of %s: %v\n%s", p.modfile, err, out)
		return r
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// checkModfile fails the test when a file of modules is not go.mod with one line more.
func checkModfile(t *testing.T, modfile string) {
	ours, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	others, err := os.ReadFile(modfile)
	if err != nil {
		t.Fatal(err)
	}
	rest, ok := strings.CutPrefix(string(others), string(ours))
	if lines := strings.Split(strings.TrimSpace(rest), "\n"); !ok || len(lines) != 1 || !strings.HasPrefix(lines[0], "replace k8s.io/api ") {
		t.Fatalf("%s has to be go.mod and a line that replaces k8s.io/api: copy go.mod and go.sum, add the line, and run go mod download -modfile=%[1]s k8s.io/api", modfile)
	}
}

func (r row) write(t *testing.T, file string) {
	raw, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, raw, 0o600); err != nil {
		t.Fatal(err)
	}
}

// compare derives all kinds of a project, and compares them with what controller-gen makes of
// them, and with YAML shipped in the run with its modules. In the run with our own, a server
// takes them.
func (p project) compare(t *testing.T, sources []fs.FS, modfile string) (r row) {
	markers, err := crd.ReadMarkers(&crd.MarkerOptions{EmbeddedObjectMeta: p.embeddedMeta}, sources...)
	if err != nil {
		t.Fatal(err)
	}
	generated := runControllerGen(t, modfile, p.packages, p.embeddedMeta)
	shipped := p.readShipped(t)
	for of, want := range generated.definitions {
		r.Tried++
		got, err := p.definition(generated, of, want, markers)
		if err != nil {
			t.Errorf("%s: %v", of, err)
			r.Different = append(r.Different, of.Kind+" is not derived")
			continue
		}
		if diff := crdtest.Differences("", comparable(want), comparable(got)); len(diff) > 0 {
			t.Errorf("%s differs from controller-gen:\n%s", of, strings.Join(diff, "\n"))
			r.Different = append(r.Different, of.Kind+" differs from controller-gen")
		} else {
			r.LikeGenerator++
		}
		if modfile == "" && accept(t, got) {
			r.Accepted++
		}
		if modfile == p.modfile && p.module != "" {
			p.compareShipped(t, &r, of, shipped[of], got)
		}
	}
	if len(p.kinds) == 0 || r.Tried == 0 {
		t.Error("there are no kinds")
	}
	return r
}

func (p project) compareShipped(t *testing.T, r *row, of schema.GroupKind, want, got *apiextensionsv1.CustomResourceDefinition) {
	if want == nil {
		r.Different = append(r.Different, of.Kind+" is not shipped")
		return
	}
	r.Shipped++
	if p.shippedStep != nil {
		p.shippedStep(want)
	}
	if p.derivedStep != nil {
		p.derivedStep(got)
	}
	if diff := crdtest.Differences("", comparable(want), comparable(got)); len(diff) > 0 {
		t.Errorf("%s differs from the YAML shipped:\n%s", of, strings.Join(diff, "\n"))
		r.Different = append(r.Different, of.Kind+" differs")
		return
	}
	r.Equal++
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
	oneStored(want, stored)
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
	if p.module == "" {
		return nil
	}
	out := map[schema.GroupKind]*apiextensionsv1.CustomResourceDefinition{}
	dir := crdtest.Module(t, p.module)
	for _, pattern := range p.shipped {
		for _, file := range crdtest.Files(t, filepath.Join(dir, pattern)) {
			for _, def := range crdtest.Read(t, file) {
				out[schema.GroupKind{Group: def.Spec.Group, Kind: def.Spec.Names.Kind}] = def
			}
		}
	}
	return out
}
