// Package types generates Go types for the custom resource definitions of published projects with kube
// types, compiles and vets them, derives the definitions from them again, and decodes and encodes
// objects with them.
//
// KUBE_TYPES_ONLY, parts of names with commas between them, chooses projects, and KUBE_TYPES_DIR is where
// the types are kept to be looked at:
//
//	KUBE_TYPES_ONLY=kueue,istio KUBE_TYPES_DIR=/tmp/types go test -v .
package types

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/go-kube/kube/internal/crdtest"
)

// corpus is the folder with definitions of real projects, beside that of this project:
// <project>/<plural>.<group>.yaml, and objects in <project>/examples.
const corpus = "../../../shared/crds"

// modules are published modules with definitions in them.
var modules = []struct{ module, files string }{
	{"sigs.k8s.io/cluster-api@v1.14.2", "{core,bootstrap/kubeadm,controlplane/kubeadm}/config/crd/bases/*.yaml"},
	{"sigs.k8s.io/gateway-api@v1.6.3", "config/crd/experimental/*.yaml"},
	{"github.com/cert-manager/cert-manager@v1.21.2", "deploy/crds/*.yaml"},
	{"sigs.k8s.io/kueue@v0.17.0", "config/components/crd/bases/*.yaml"},
	{"go.universe.tf/metallb@v0.16.2", "config/crd/bases/*.yaml"},
	{"github.com/fluxcd/source-controller@v1.10.1", "config/crd/bases/*.yaml"},
	{"github.com/kubernetes-csi/external-snapshotter/client/v8@v8.7.0", "config/crd/*.yaml"},
	{"sigs.k8s.io/network-policy-api@v0.3.0", "config/crd/experimental/policy*.yaml"},
	{"github.com/vmware-tanzu/velero@v1.18.3", "config/crd/*/bases/*.yaml"},
}

// project is a set of definitions with objects of their kinds.
type project struct {
	name        string
	files       []string
	definitions []*apiextensionsv1.CustomResourceDefinition
	objects     []object
}

// object is an object as JSON.
type object struct {
	file, apiVersion, kind string
	text                   string
}

// row is a line of the table.
type row struct {
	project                                string
	versions, equal, exact, objects, whole int
	types                                  int
	reasons                                []string
}

func TestPublishedDefinitions(t *testing.T) {
	if testing.Short() {
		t.Skip("it compiles the types of some hundred kinds")
	}
	projects := append(fromModules(t), fromCorpus(t)...)
	if only := os.Getenv("KUBE_TYPES_ONLY"); only != "" {
		isPart := func(p *project) func(string) bool {
			return func(part string) bool { return strings.Contains(p.name, part) }
		}
		projects = slices.DeleteFunc(projects, func(p *project) bool { return !slices.ContainsFunc(strings.Split(only, ","), isPart(p)) })
	}
	dir := os.Getenv("KUBE_TYPES_DIR")
	if dir == "" {
		dir = t.TempDir()
	}
	w := newWorkspace(t, dir)
	for _, p := range projects {
		w.generate(t, p)
	}
	w.writeProgram(t)
	answers := w.ask(t, projects)
	var table strings.Builder
	fmt.Fprintf(&table, "%-40s %8s %6s %7s %8s %8s %6s  %s\n", "project", "versions", "equal", "by tags", "types", "objects", "whole", "different")
	total := row{project: "all"}
	for _, p := range projects {
		t.Run(p.name, func(t *testing.T) {
			r := p.judge(t, w, answers)
			r.write(&table)
			total.add(r)
		})
	}
	total.write(&table)
	t.Log("\n" + table.String())
	t.Log("said in other words by types of Kubernetes, and how often: ", tolerated)
	w.run(t, "go", "vet", "./...")
}

func (r row) write(to *strings.Builder) {
	fmt.Fprintf(to, "%-40s %8d %6d %7d %8d %8d %6d  %s\n", r.project, r.versions, r.equal, r.exact, r.types, r.objects, r.whole, strings.Join(r.reasons, "; "))
}

func (r *row) add(other row) {
	r.versions += other.versions
	r.equal += other.equal
	r.exact += other.exact
	r.objects += other.objects
	r.whole += other.whole
	r.types += other.types
}

// fromModules reads the definitions that modules ship.
func fromModules(t *testing.T) (list []*project) {
	for _, m := range modules {
		p, dir := &project{name: m.module}, crdtest.Module(t, m.module)
		for _, pattern := range alternatives(m.files) {
			p.read(t, filepath.Join(dir, filepath.FromSlash(pattern)))
		}
		list = append(list, p)
	}
	return list
}

// alternatives expands one {a,b}.
func alternatives(pattern string) (list []string) {
	before, rest, ok := strings.Cut(pattern, "{")
	if !ok {
		return []string{pattern}
	}
	inside, after, _ := strings.Cut(rest, "}")
	for part := range strings.SplitSeq(inside, ",") {
		list = append(list, before+part+after)
	}
	return list
}

// fromCorpus reads the projects of the corpus.
func fromCorpus(t *testing.T) (list []*project) {
	folders, err := filepath.Glob(filepath.Join(corpus, "*", "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if len(folders) == 0 {
		t.Logf("there are no custom resource definitions in %s: published modules are all that is tried", corpus)
	}
	names := map[string]bool{}
	for _, f := range folders {
		names[filepath.Base(filepath.Dir(f))] = true
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		p := &project{name: name}
		p.read(t, filepath.Join(corpus, name, "*.yaml"))
		p.readObjects(t, filepath.Join(corpus, name, "examples", "*.yaml"))
		list = append(list, p)
	}
	return list
}

func (p *project) read(t *testing.T, pattern string) {
	for _, file := range crdtest.Files(t, pattern) {
		if found := crdtest.Read(t, file); len(found) > 0 {
			p.definitions = append(p.definitions, found...)
			p.files = append(p.files, file)
		}
	}
}

func (p *project) readObjects(t *testing.T, pattern string) {
	files, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := yaml.YAMLToJSON(text)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		o := object{file: filepath.Base(file), text: string(raw)}
		var head struct{ APIVersion, Kind string }
		if err := json.Unmarshal(raw, &head); err != nil {
			t.Fatal(err)
		}
		o.apiVersion, o.kind = head.APIVersion, head.Kind
		p.objects = append(p.objects, o)
	}
}

// key names a version of a definition of a project.
func (p *project) key(name, version string) string { return p.name + " " + name + " " + version }

// workspace is a module with generated packages.
type workspace struct {
	dir, kube string
	// packages are the folders with packages, by their number.
	packages []string
	entries  []string
	types    map[string]int // by project
	// exact are the keys of versions that need no patch.
	exact map[string]bool
}

func newWorkspace(t *testing.T, dir string) *workspace {
	w := &workspace{dir: dir, kube: filepath.Join(dir, "kube"), types: map[string]int{}, exact: map[string]bool{}}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	module, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	sums, err := os.ReadFile("go.sum")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(string(module), "=> ../..", "=> "+root, 1)
	text = strings.Replace(text, "kube/test/types", "kube/test/types/generated", 1)
	w.writeFile(t, "go.mod", []byte(text))
	w.writeFile(t, "go.sum", sums)
	build := exec.Command("go", "build", "-o", w.kube, ".")
	build.Dir = filepath.Join(root, "cmd", "kube")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return w
}

func (w *workspace) writeFile(t *testing.T, name string, text []byte) {
	t.Helper()
	name = filepath.Join(w.dir, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, text, 0o666); err != nil {
		t.Fatal(err)
	}
}

// run runs a command in the workspace.
func (w *workspace) run(t *testing.T, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = w.dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		text := string(out)
		if len(text) > 20_000 {
			text = text[:20_000]
		}
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, text)
	}
	return string(out)
}

var notFolder = regexp.MustCompile(`[^a-z0-9]+`)

func (w *workspace) generate(t *testing.T, p *project) {
	folder := "p" + notFolder.ReplaceAllString(p.name, "")
	files := make([]string, len(p.files))
	for i, f := range p.files {
		abs, err := filepath.Abs(f)
		if err != nil {
			t.Fatal(err)
		}
		files[i] = abs
	}
	args := []string{"types", "-o", folder}
	for _, f := range files {
		args = append(args, "-f", f)
	}
	out := w.run(t, w.kube, args...)
	if testing.Verbose() {
		t.Logf("%s\n%s", p.name, out)
	}
	err := filepath.WalkDir(filepath.Join(w.dir, folder), func(file string, e os.DirEntry, err error) error {
		if err == nil && filepath.Ext(file) == ".go" {
			w.find(t, p, file)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

var (
	fromName    = regexp.MustCompile(`(?m)^// Code generated by kube types from (\S+)\. DO NOT EDIT\.$`)
	kindOf      = regexp.MustCompile(`(?m)^var (\w+) = resource\.Define`)
	versionOf   = regexp.MustCompile(`Version: "(\w+)"`)
	functionOf  = regexp.MustCompile(`(?m)^func (\w+)\(\) \(\*apiextensionsv1\.CustomResourceDefinition, error\)`)
	declaration = regexp.MustCompile(`(?m)^type `)
)

// find reads what a generated file declares.
func (w *workspace) find(t *testing.T, p *project, file string) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	name := fromName.FindSubmatch(text)
	if name == nil {
		return // the comment of the package
	}
	folder, err := filepath.Rel(w.dir, filepath.Dir(file))
	if err != nil {
		t.Fatal(err)
	}
	i := slices.Index(w.packages, folder)
	if i < 0 {
		i = len(w.packages)
		w.packages = append(w.packages, folder)
	}
	key := p.key(string(name[1]), string(versionOf.FindSubmatch(text)[1]))
	_, err = os.Stat(strings.TrimSuffix(file, ".go") + ".patch.json")
	w.exact[key] = err != nil
	w.types[p.name] += len(declaration.FindAll(text, -1))
	w.entries = append(w.entries, fmt.Sprintf("%q: of(p%d.%s, p%d.%s),",
		key, i, kindOf.FindSubmatch(text)[1], i, functionOf.FindSubmatch(text)[1]))
}

// writeProgram writes the program that uses all packages.
func (w *workspace) writeProgram(t *testing.T) {
	main, err := os.ReadFile("testdata/main.go.txt")
	if err != nil {
		t.Fatal(err)
	}
	w.writeFile(t, "main.go", main)
	var out bytes.Buffer
	fmt.Fprintf(&out, "package main\n\nimport (\n")
	for i, folder := range w.packages {
		fmt.Fprintf(&out, "\tp%d \"github.com/go-kube/kube/test/types/generated/%s\"\n", i, filepath.ToSlash(folder))
	}
	fmt.Fprintf(&out, ")\n\nvar entries = map[string]entry{\n\t%s\n}\n", strings.Join(w.entries, "\n\t"))
	w.writeFile(t, "entries.go", out.Bytes())
}

type question struct {
	Key     string
	Objects []string
}

type answer struct {
	Key        string
	Version    *apiextensionsv1.CustomResourceDefinitionVersion
	Names      apiextensionsv1.CustomResourceDefinitionNames
	Scope      string
	Error      string
	Objects    []string
	ObjectErrs []string
}

// ask runs the program.
func (w *workspace) ask(t *testing.T, projects []*project) map[string]answer {
	var questions []question
	for _, p := range projects {
		for _, def := range p.definitions {
			for _, v := range def.Spec.Versions {
				q := question{Key: p.key(def.Name, v.Name)}
				for _, o := range p.objectsOf(def, v.Name) {
					q.Objects = append(q.Objects, o.text)
				}
				questions = append(questions, q)
			}
		}
	}
	in, err := json.Marshal(questions)
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(w.dir, "roundtrip")
	w.run(t, "go", "build", "-gcflags=./...=-N -l", "-ldflags=-s -w", "-o", program, ".") // it runs once
	cmd := exec.Command(program)
	cmd.Stdin = bytes.NewReader(in)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var answers []answer
	if err := json.Unmarshal(out, &answers); err != nil {
		t.Fatal(err)
	}
	byKey := map[string]answer{}
	for _, a := range answers {
		byKey[a.Key] = a
	}
	return byKey
}

func (p *project) objectsOf(def *apiextensionsv1.CustomResourceDefinition, version string) (list []object) {
	for _, o := range p.objects {
		if o.kind == def.Spec.Names.Kind && o.apiVersion == def.Spec.Group+"/"+version {
			list = append(list, o)
		}
	}
	return list
}

// judge compares what was derived and encoded with what it was made of.
func (p *project) judge(t *testing.T, w *workspace, answers map[string]answer) row {
	r := row{project: p.name, types: w.types[p.name]}
	for _, def := range p.definitions {
		for i := range def.Spec.Versions {
			v := &def.Spec.Versions[i]
			r.versions++
			a := answers[p.key(def.Name, v.Name)]
			if a.Error != "" {
				t.Errorf("%s, version %s: %s", def.Name, v.Name, a.Error)
				r.reasons = append(r.reasons, def.Name+" "+v.Name+": not derived")
			} else if diff := compareVersions(def, v, a); len(diff) > 0 {
				t.Errorf("%s, version %s:\n%s", def.Name, v.Name, strings.Join(diff[:min(len(diff), 20)], "\n"))
				r.reasons = append(r.reasons, def.Name+" "+v.Name+": different")
			} else {
				r.equal++
			}
			if w.exact[p.key(def.Name, v.Name)] {
				r.exact++
			}
			for i, o := range p.objectsOf(def, v.Name) {
				r.objects++
				if len(a.ObjectErrs) > i && a.ObjectErrs[i] != "" {
					t.Errorf("%s: %s", o.file, a.ObjectErrs[i])
					continue
				}
				if diff := compareObjects(o.text, a.Objects[i]); len(diff) > 0 {
					t.Errorf("%s:\n%s", o.file, strings.Join(diff, "\n"))
					continue
				}
				r.whole++
			}
		}
	}
	if n := len(p.objects); n != r.objects {
		t.Errorf("%d objects are of no kind here", n-r.objects)
	}
	return r
}
