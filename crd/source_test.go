package crd

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// byParser reads a file the way readSource does, with go/parser.
func byParser(text []byte) (packageName string, types map[string]*typeDoc, err error) {
	file, err := parser.ParseFile(token.NewFileSet(), "", text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return "", nil, err
	}
	types = map[string]*typeDoc{}
	for _, decl := range file.Decls {
		gen, ok := decl.(*ast.GenDecl)
		if !ok || gen.Tok != token.TYPE {
			continue
		}
		for _, spec := range gen.Specs {
			spec := spec.(*ast.TypeSpec)
			doc := spec.Doc
			if doc == nil && !gen.Lparen.IsValid() {
				doc = gen.Doc
			}
			types[spec.Name.Name] = &typeDoc{doc, fieldsByParser(spec.Type)}
		}
	}
	return file.Name.Name, types, nil
}

func fieldsByParser(t ast.Expr) map[string]*ast.CommentGroup {
	structure, ok := t.(*ast.StructType)
	if !ok {
		return nil
	}
	fields := map[string]*ast.CommentGroup{}
	for _, f := range structure.Fields.List {
		for _, name := range f.Names {
			fields[name.Name] = f.Doc
		}
		if len(f.Names) == 0 {
			fields[embeddedName(f.Type)] = f.Doc
		}
	}
	return fields
}

func embeddedName(t ast.Expr) string {
	switch t := t.(type) {
	case *ast.StarExpr:
		return embeddedName(t.X)
	case *ast.SelectorExpr:
		return t.Sel.Name
	case *ast.IndexExpr:
		return embeddedName(t.X)
	case *ast.IndexListExpr:
		return embeddedName(t.X)
	case *ast.Ident:
		return t.Name
	}
	return ""
}

// told is all that is said of types, for comparison.
func told(types map[string]*typeDoc) map[string]string {
	all := map[string]string{}
	for name, t := range types {
		all[name] = t.comment.Text()
		for field, comment := range t.fields {
			all[name+"."+field] = comment.Text()
		}
	}
	return all
}

// The reader says of real code what go/parser says.
func TestReadSource(t *testing.T) {
	dirs, err := exec.Command("go", "list", "-f", "{{.Dir}}", "k8s.io/api/core/v1", "k8s.io/apimachinery/pkg/apis/meta/v1",
		"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1", "go/ast", "net/http", "reflect", "encoding/json/v2", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	files := 0
	for _, dir := range strings.Fields(string(dirs)) {
		names, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			if strings.Contains(name, "generated") {
				continue // long, and all the same
			}
			files++
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			compare(t, name, text)
		}
	}
	if files < 200 {
		t.Errorf("only %d files were read", files)
	}
}

func compare(t *testing.T, name string, text []byte) {
	t.Helper()
	wantPackage, want, err := byParser(text)
	if err != nil {
		return
	}
	gotPackage, got, err := readSource(name, text)
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	if gotPackage != wantPackage {
		t.Errorf("%s: package %s, want %s", name, gotPackage, wantPackage)
	}
	for name, typ := range want {
		if typ.fields == nil && got[name] != nil {
			got[name].fields = nil // the reader does not tell [3]struct{…} from [T any] struct{…}
		}
	}
	if maps.Equal(told(want), told(got)) {
		return
	}
	if diff := cmp.Diff(told(want), told(got)); diff != "" {
		t.Errorf("%s (-go/parser +readSource):\n%s", name, diff)
	}
}

// FuzzReadSource checks that no file confuses the reader, and none makes it go on for ever.
func FuzzReadSource(f *testing.F) {
	for _, text := range []string{
		"package a", "package a\n\n// T is.\ntype T struct { A int }", "package a; type ( A[T any] struct { B, C int; *D; e.F[G]; H[I] ; J [3]K; L struct { M int } `n` } ; O = P )",
		"package a\nfunc (r *R) f() { type X struct{} }\nvar v = struct{ a int }{1}\n", "package a\ntype T struct {\n\tA int // of A\n\t// Of B.\n\tB int\n\n\t// Of none.\n\n\tC int\n\t/* Of D. */ D int\n}",
		"package a\ntype T struct {", "package a\ntype T", "package", "", "type T struct{}", "package a\n}", "package a\n// A\n// B\n\n// C\ntype T int // D\n", "package a\ntype T struct{ A int; }",
		"package a\nimport (\n\t\"b\" // c\n)\nconst (\n\tD = iota\n)\n", "package a\ntype A interface{ int | string; M() }", "package a\ntype F func(a struct{ B int }) struct{ C int }",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		readSource("a.go", []byte(text))
		if !strings.Contains(text, "//line") && !strings.Contains(text, "/*line") {
			compare(t, "a.go", []byte(text))
		}
	})
}
