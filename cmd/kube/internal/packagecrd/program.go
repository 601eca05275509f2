package packagecrd

import (
	"bytes"
	"context"
	"encoding/json/v2"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"text/template"
)

// programText is the program that derives the definitions: it writes a report with an answer for
// each origin, in their order, into the file of its first argument. The others are the directories of
// modules.
var programText = template.Must(template.New("").Parse(`package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/go-kube/kube/crd"
	"github.com/go-kube/kube/resource"
{{range .Packages}}
	{{.Qualifier}} {{printf "%q" .ImportPath}}{{end}}
)

type definition = apiextensionsv1.CustomResourceDefinition

type answer struct {
	Definitions      []*definition
	Error            string
	Kind, Descriptor string
}

// kindError is an error about a descriptor.
type kindError struct {
	error
	kind, descriptor string
}

var (
	answers  []answer
	warnings []string
	sources  []fs.FS
	markers  *crd.Markers
)

func main() {
	for _, dir := range os.Args[2:] {
		sources = append(sources, os.DirFS(dir))
	}
	var err error
	warn := func(err error) { warnings = append(warnings, err.Error()) }
	markers, err = crd.ReadMarkers(&crd.MarkerOptions{EmbeddedObjectMeta: {{.EmbeddedObjectMeta}}, Warn: warn}, sources...)
	check(err)
{{range .Calls}}	ask(func() ([]*definition, error) { {{.}} })
{{end}}	raw, err := json.Marshal(map[string]any{"Answers": answers, "Warnings": warnings})
	check(err)
	check(os.WriteFile(os.Args[1], raw, 0o600))
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// ask keeps what a function says.
func ask(of func() ([]*definition, error)) {
	a := answer{}
	defer func() {
		if fault := recover(); fault != nil {
			a.Error = fmt.Sprint("panic: ", fault)
		}
		answers = append(answers, a)
	}()
	defs, err := of()
	a.Definitions = defs
	if err != nil {
		a.Definitions, a.Error = nil, err.Error()
		var k *kindError
		if errors.As(err, &k) {
			a.Kind, a.Descriptor = k.kind, k.descriptor
		}
	}
}

func one(def *definition, err error) ([]*definition, error) { return []*definition{def}, err }

func derive[K any](kind resource.Kind[K], dir string) ([]*definition, error) {
	opts := &crd.Options{Markers: markers, MaxDescription: {{.MaxDescription}}}
	if dir != "" {
		opts.Markers, opts.Source = nil, os.DirFS(dir)
	}
	def, err := crd.For(kind, opts)
	if err != nil {
		d := kind.Descriptor()
		return nil, &kindError{err, d.Plural + "." + d.Group, d.String()}
	}
	return one(def, nil)
}

var _ = derive[struct{}]
`))

// program is what the text is made of.
type program struct {
	EmbeddedObjectMeta bool
	MaxDescription     int
	Packages           []struct{ Qualifier, ImportPath string }
	Calls              []string
}

func newProgram(o Options, origins []origin) *program {
	p := &program{EmbeddedObjectMeta: o.EmbeddedObjectMeta, MaxDescription: o.MaxDescription}
	qualifiers := map[string]string{}
	for _, from := range origins {
		importPath := from.pkg.ImportPath
		if qualifiers[importPath] == "" {
			qualifiers[importPath] = fmt.Sprintf("p%d", len(qualifiers))
			p.Packages = append(p.Packages, struct{ Qualifier, ImportPath string }{qualifiers[importPath], importPath})
		}
		p.Calls = append(p.Calls, from.call(qualifiers[importPath]))
	}
	return p
}

// call is the Go statement that answers for an origin.
func (o origin) call(qualifier string) string {
	name := qualifier + "." + o.name
	switch {
	case o.kind == byType:
		return fmt.Sprintf(`return derive(%s, "")`, define(o.marked, qualifier))
	case o.kind == byVariable && o.hasMarkers:
		return fmt.Sprintf(`return derive(%s, "")`, name)
	case o.kind == byVariable:
		return fmt.Sprintf(`return derive(%s, %q)`, name, o.pkg.Dir)
	case o.isList && o.fails:
		return fmt.Sprintf("return %s()", name)
	case o.isList:
		return fmt.Sprintf("return %s(), nil", name)
	case o.fails:
		return fmt.Sprintf("return one(%s())", name)
	}
	return fmt.Sprintf("return one(%s(), nil)", name)
}

// derive builds the program and asks it.
func derive(ctx context.Context, g *goCommand, o Options, packages []goPackage, origins []origin) (answers []answer, err error) {
	temporary, err := os.MkdirTemp("", "kube-crd-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temporary)) }()
	b := &build{goCommand: g, options: o, temporary: temporary}
	if err := b.prepare(ctx, packages, origins); err != nil {
		return nil, err
	}
	binary := filepath.Join(temporary, "definitions")
	if _, err := b.run(ctx, append(append([]string{"build"}, b.flags...), "-o", binary, b.importPath)...); err != nil {
		return nil, fmt.Errorf("building the packages with %s: %w", kubeModule, err)
	}
	dirs, err := b.moduleDirs(ctx, b.flags, b.importPath)
	if err != nil {
		return nil, err
	}
	out, err := b.ask(ctx, binary, dirs)
	if err != nil {
		return nil, err
	}
	var report struct {
		Answers  []answer
		Warnings []string
	}
	if err := json.Unmarshal(out, &report); err != nil || len(report.Answers) != len(origins) {
		return nil, fmt.Errorf("reading the definitions: %d answers for %d kinds: %w", len(report.Answers), len(origins), err)
	}
	for _, text := range report.Warnings {
		o.Warn("%s", text)
	}
	return report.Answers, nil
}

// ask runs the program where the packages are, with their modules and the standard library.
func (b *build) ask(ctx context.Context, binary string, dirs []string) ([]byte, error) {
	root, err := b.run(ctx, "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	file := filepath.Join(b.temporary, "answers.json")
	args := append([]string{file}, append(dirs, filepath.Join(strings.TrimSpace(string(root)), "src"))...)
	command := exec.CommandContext(ctx, binary, args...)
	command.Dir = b.dir
	log, err := command.CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("running the packages: %w\n%s", err, bytes.TrimSpace(log))
	}
	if len(log) > 0 {
		b.options.Warn("the packages print: %s", bytes.TrimSpace(log))
	}
	return os.ReadFile(file)
}

// build is the program as the go command sees it.
type build struct {
	*goCommand
	options   Options
	temporary string
	// flags has it see what the module does not have, importPath is the program's.
	flags      []string
	importPath string
}

// prepare writes the program and lays it into the module, below the first package of the main
// module: code there may import internal packages.
func (b *build) prepare(ctx context.Context, packages []goPackage, origins []origin) error {
	var text bytes.Buffer
	if err := programText.Execute(&text, newProgram(b.options, origins)); err != nil {
		return err
	}
	source := filepath.Join(b.temporary, "main.go")
	if err := os.WriteFile(source, text.Bytes(), 0o600); err != nil {
		return err
	}
	if err := b.requireKube(ctx); err != nil {
		return err
	}
	dir, importPath, err := b.place(ctx, packages)
	if err != nil {
		return err
	}
	const name = "zz_kube_crd"
	b.importPath = path.Join(importPath, name)
	overlay := map[string]map[string]string{"Replace": {filepath.Join(dir, name, "main.go"): source}}
	raw, err := json.Marshal(overlay)
	if err != nil {
		return err
	}
	overlayFile := filepath.Join(b.temporary, "overlay.json")
	b.flags = append(b.flags, "-overlay="+overlayFile)
	return os.WriteFile(overlayFile, raw, 0o600)
}

// place returns where the program goes.
func (b *build) place(ctx context.Context, packages []goPackage) (dir, importPath string, err error) {
	for _, p := range packages {
		if p.Module.Main {
			return p.Dir, p.ImportPath, nil
		}
	}
	out, err := b.run(ctx, "list", "-m", "-f", "{{.Dir}}\n{{.Path}}")
	if err != nil {
		return "", "", err
	}
	dir, importPath, _ = strings.Cut(strings.TrimSpace(string(out)), "\n")
	return dir, importPath, nil
}

// requireKube gives the build a go.mod of its own, which requires what deriving needs. A
// workspace has to have it already, since the go command takes no other go.mod there.
func (b *build) requireKube(ctx context.Context) error {
	out, err := b.run(ctx, "env", "-json", "GOMOD", "GOWORK")
	if err != nil {
		return err
	}
	var env struct{ GOMOD, GOWORK string }
	if err := json.Unmarshal(out, &env); err != nil {
		return fmt.Errorf("reading what go env says: %w", err)
	}
	if env.GOWORK != "" && env.GOWORK != "off" {
		return nil
	}
	text, err := os.ReadFile(env.GOMOD)
	if err != nil {
		return err
	}
	goMod := filepath.Join(b.temporary, "go.mod")
	if err := os.WriteFile(goMod, text, 0o600); err != nil {
		return err
	}
	sums, err := os.ReadFile(strings.TrimSuffix(env.GOMOD, ".mod") + ".sum")
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := os.WriteFile(filepath.Join(b.temporary, "go.sum"), sums, 0o600); err != nil {
		return err
	}
	b.flags = append(b.flags, "-modfile="+goMod, "-mod=mod")
	return b.addRequirement(ctx, goMod)
}

func (b *build) addRequirement(ctx context.Context, goMod string) error {
	_, err := b.run(ctx, "list", "-m", kubeModule)
	if err == nil || !strings.Contains(err.Error(), "not a known dependency") {
		return err
	}
	version := b.options.Kube
	edits := []string{"mod", "edit"}
	switch {
	case version == "":
		return fmt.Errorf("the module does not require %s, and this command was built without a version of it: say which one by -kube VERSION, or -kube DIRECTORY of its source", kubeModule)
	case !strings.HasPrefix(version, "v"):
		dir, err := filepath.Abs(version)
		if err != nil {
			return err
		}
		edits = append(edits, "-replace="+kubeModule+"="+dir)
		version = "v0.0.0"
	}
	b.options.Warn("the module does not require %s: its kinds are derived as if it required %s", kubeModule, b.options.Kube)
	_, err = b.run(ctx, append(edits, "-require="+kubeModule+"@"+version, goMod)...)
	return err
}
