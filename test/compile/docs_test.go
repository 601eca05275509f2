package compile

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestDocumentation compiles the programs that the documentation shows: those of the package
// comments, of README.md and of docs/.
func TestDocumentation(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	shown := packagePrograms(t, root)
	for _, pattern := range []string{"README.md", "docs/*.md"} {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			shown = append(shown, markdownPrograms(t, root, file)...)
		}
	}
	if len(shown) < 10 {
		t.Fatalf("only %d programs were found", len(shown))
	}
	for _, p := range shown {
		t.Run(p.name, func(t *testing.T) {
			if output, err := vet(t, root, p); err != nil {
				t.Errorf("%v\n%s\n%s", err, output, p.data)
			}
		})
	}
}

// vet checks a program with the requirements of the module that shows it; what shows a test, with
// those of kubetest.
func vet(t *testing.T, root string, p program) (output string, err error) {
	t.Helper()
	dir, base := filepath.Join(root, filepath.Dir(p.name)), "main.go"
	if strings.Contains(string(p.data), `"testing"`) {
		dir, base = filepath.Join(root, "kubetest"), "shown_test.go"
	}
	path := filepath.Join(t.TempDir(), base)
	if err := os.WriteFile(path, p.data, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "go", "vet", path)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// packagePrograms returns the whole programs in the package comments of the library, which are
// indented there and begin with a package clause.
func packagePrograms(t *testing.T, root string) (shown []program) {
	t.Helper()
	var files []string
	for _, pattern := range []string{"doc.go", "*/doc.go", "*/*/doc.go", "*/*/*/doc.go"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments|parser.PackageClauseOnly)
		if err != nil {
			t.Fatal(err)
		}
		name, _ := filepath.Rel(root, file)
		shown = append(shown, indented(name, parsed.Doc)...)
	}
	return shown
}

func indented(name string, doc *ast.CommentGroup) (shown []program) {
	var text []string
	for line := range strings.Lines(doc.Text() + "\nend\n") {
		switch {
		case strings.HasPrefix(line, "\t"), strings.TrimSpace(line) == "" && text != nil:
			text = append(text, strings.TrimPrefix(line, "\t"))
		default:
			if code := strings.Join(text, ""); strings.HasPrefix(code, "package ") {
				shown = append(shown, program{name, []byte(code)})
			}
			text = nil
		}
	}
	return shown
}

var goBlock = regexp.MustCompile("(?s)```go\n(.*?)```")

// markdownPrograms returns the blocks of Go in a file. A block that begins with no package clause
// gets one, and the imports that it uses; one without declarations becomes the body of a function.
func markdownPrograms(t *testing.T, root, file string) (shown []program) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	name, _ := filepath.Rel(root, file)
	for _, block := range goBlock.FindAllStringSubmatch(string(data), -1) {
		shown = append(shown, program{name, []byte(completed(block[1]))})
	}
	return shown
}

func completed(code string) string {
	if strings.HasPrefix(code, "package ") {
		return code
	}
	if !regexp.MustCompile(`(?m)^(func|type|var) `).MatchString(code) {
		end := "\nreturn nil\n}\n"
		if lines := strings.Split(strings.TrimSpace(code), "\n"); strings.HasPrefix(lines[len(lines)-1], "return ") {
			end = "}\n"
		}
		code = "func shown(ctx context.Context, client *kube.Client) error {\n" + code + end
	}
	if !strings.Contains(code, "func main()") {
		code += "\nfunc main() {}\n"
	}
	var imports strings.Builder
	for _, name := range slices.Sorted(maps.Keys(importPaths)) {
		if regexp.MustCompile(`\b` + name + `\.`).MatchString(code) {
			imports.WriteString("import " + name + ` "` + importPaths[name] + "\"\n")
		}
	}
	return "package main\n" + imports.String() + code
}

// importPaths are the packages whose names the documentation uses without saying where they are.
var importPaths = map[string]string{
	"context":         "context",
	"embed":           "embed",
	"errors":          "errors",
	"fmt":             "fmt",
	"http":            "net/http",
	"log":             "log",
	"os":              "os",
	"signal":          "os/signal",
	"slog":            "log/slog",
	"syscall":         "syscall",
	"synctest":        "testing/synctest",
	"testing":         "testing",
	"time":            "time",
	"apiextensionsv1": "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1",
	"appsv1":          "k8s.io/api/apps/v1",
	"corev1":          "k8s.io/api/core/v1",
	"metav1":          "k8s.io/apimachinery/pkg/apis/meta/v1",
	"unstructured":    "k8s.io/apimachinery/pkg/apis/meta/v1/unstructured",
	"apps":            "github.com/go-kube/kube/k8s/apps",
	"batch":           "github.com/go-kube/kube/k8s/batch",
	"controller":      "github.com/go-kube/kube/runtime/controller",
	"core":            "github.com/go-kube/kube/k8s/core",
	"crd":             "github.com/go-kube/kube/crd",
	"events":          "github.com/go-kube/kube/runtime/events",
	"kube":            "github.com/go-kube/kube",
	"kubeconfig":      "github.com/go-kube/kube/kubeconfig",
	"kubetest":        "github.com/go-kube/kube/kubetest",
	"nodes":           "github.com/go-kube/kube/nodes",
	"pods":            "github.com/go-kube/kube/pods",
	"reflector":       "github.com/go-kube/kube/runtime/reflector",
	"resource":        "github.com/go-kube/kube/resource",
	"wait":            "github.com/go-kube/kube/runtime/wait",
	"watcher":         "github.com/go-kube/kube/runtime/watcher",
}
