package packagecrd

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/go-kube/kube/crd"
	"github.com/go-kube/kube/resource"
)

const (
	kubeModule        = "github.com/go-kube/kube"
	resourcePackage   = kubeModule + "/resource"
	extensionsPackage = "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// origin is what declares a kind or its definition.
type origin struct {
	pkg  *goPackage
	kind originKind
	// name is that of the variable, the function or the type.
	name string
	// isList says that a function returns a slice, fails that it returns an error too.
	isList, fails bool
	// marked has the names of a kind that has no descriptor.
	marked crd.MarkedKind
	// stored says that this is the version to store.
	stored bool
	// hasMarkers says that the package's comments have markers that count.
	hasMarkers bool
}

type originKind uint8

const (
	byFunction originKind = iota
	byVariable
	byType
)

// String names the origin in Go, as path.Name.
func (o origin) String() string { return o.pkg.ImportPath + "." + o.name }

// find returns what declares kinds in packages, in the order of packages and files.
func find(packages []goPackage) (found []origin, err error) {
	for i := range packages {
		inPackage, err := findIn(&packages[i])
		if err != nil {
			return nil, err
		}
		found = append(found, inPackage...)
	}
	return found, nil
}

func findIn(pkg *goPackage) ([]origin, error) {
	kinds, err := crd.MarkedKinds(pkg.ImportPath, os.DirFS(pkg.Module.Dir))
	if err != nil {
		return nil, err
	}
	f := &finder{pkg: pkg, described: map[string]bool{}}
	for _, name := range pkg.GoFiles {
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(pkg.Dir, name), nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		f.file = file
		f.read()
	}
	for i := range f.found {
		f.found[i].hasMarkers = f.hasMarkers
	}
	for _, k := range kinds {
		if k.Skipped {
			continue
		}
		if f.described[k.Type] { // a descriptor names the same kind, and may say more
			f.mark(k)
			continue
		}
		f.found = append(f.found, origin{pkg: pkg, kind: byType, name: k.Type, marked: k, stored: k.Stored, hasMarkers: true})
	}
	return f.found, nil
}

// finder reads the files of a package.
type finder struct {
	pkg        *goPackage
	file       *ast.File
	found      []origin
	described  map[string]bool // types with a descriptor
	hasMarkers bool
}

func (f *finder) read() {
	for _, group := range f.file.Comments {
		for _, c := range group.List {
			text := strings.TrimSpace(strings.TrimPrefix(c.Text, "//"))
			f.hasMarkers = f.hasMarkers || strings.HasPrefix(text, "+kubebuilder:") || strings.HasPrefix(text, "+groupName=")
		}
	}
	for _, decl := range f.file.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			f.function(decl)
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				if spec, ok := spec.(*ast.ValueSpec); ok && decl.Tok == token.VAR {
					f.variable(spec)
				}
			}
		}
	}
}

// function finds exported functions without parameters that return one definition or several,
// and perhaps an error.
func (f *finder) function(decl *ast.FuncDecl) {
	t := decl.Type
	if !decl.Name.IsExported() || decl.Recv != nil || t.TypeParams != nil || t.Params.NumFields() > 0 || t.Results.NumFields() == 0 {
		return
	}
	results := t.Results.List
	o := origin{pkg: f.pkg, kind: byFunction, name: decl.Name.Name}
	first := results[0].Type
	if list, ok := first.(*ast.ArrayType); ok && list.Len == nil {
		o.isList = true
		first = list.Elt
	}
	pointer, ok := first.(*ast.StarExpr)
	if !ok || len(results[0].Names) > 1 || !f.isFrom(pointer.X, extensionsPackage, "CustomResourceDefinition") {
		return
	}
	switch len(results) {
	case 1:
	case 2:
		id, ok := results[1].Type.(*ast.Ident)
		if !ok || id.Name != "error" {
			return
		}
		o.fails = true
	default:
		return
	}
	f.found = append(f.found, o)
}

// variable finds descriptors: variables that are set by DefineNamespaced or DefineCluster, or
// have the type of what these return.
func (f *finder) variable(spec *ast.ValueSpec) {
	for i, name := range spec.Names {
		if !name.IsExported() {
			continue
		}
		var typeOf ast.Expr
		isPartial := false
		if call, ok := valueOf(spec, i).(*ast.CallExpr); ok {
			typeOf = f.argument(call.Fun, "DefineNamespaced", "DefineCluster")
			isPartial = f.argument(call.Fun, "Partial", "PartialCluster") != nil // of a kind that is defined elsewhere
		}
		if spec.Type != nil && !isPartial {
			typeOf = f.argument(spec.Type, "Namespaced", "Cluster")
		}
		if typeOf == nil {
			continue
		}
		if id, ok := typeOf.(*ast.Ident); ok {
			f.described[id.Name] = true
		}
		f.found = append(f.found, origin{pkg: f.pkg, kind: byVariable, name: name.Name, marked: crd.MarkedKind{Type: typeNameOf(typeOf)}})
	}
}

func valueOf(spec *ast.ValueSpec, i int) ast.Expr {
	if i < len(spec.Values) {
		return spec.Values[i]
	}
	return nil
}

func typeNameOf(expr ast.Expr) string {
	if id, ok := expr.(*ast.Ident); ok {
		return id.Name
	}
	return ""
}

// argument returns the first type argument of a generic name of package resource, or nil.
func (f *finder) argument(expr ast.Expr, names ...string) ast.Expr {
	generic, argument := expr, ast.Expr(nil)
	switch e := expr.(type) {
	case *ast.IndexExpr:
		generic, argument = e.X, e.Index
	case *ast.IndexListExpr:
		generic, argument = e.X, e.Indices[0]
	}
	for _, name := range names {
		if argument != nil && f.isFrom(generic, resourcePackage, name) {
			return argument
		}
	}
	return nil
}

// isFrom reports whether expr is package.name.
func (f *finder) isFrom(expr ast.Expr, importPath, name string) bool {
	selector, ok := expr.(*ast.SelectorExpr)
	if !ok || selector.Sel.Name != name {
		return false
	}
	qualifier, ok := selector.X.(*ast.Ident)
	return ok && f.imported(qualifier.Name) == importPath
}

func (f *finder) imported(qualifier string) string {
	for _, spec := range f.file.Imports {
		importPath, err := strconv.Unquote(spec.Path.Value)
		if err == nil && (spec.Name != nil && spec.Name.Name == qualifier || spec.Name == nil && path.Base(importPath) == qualifier) {
			return importPath
		}
	}
	return ""
}

// mark gives a descriptor what the markers of its type say beside the names.
func (f *finder) mark(k crd.MarkedKind) {
	for i := range f.found {
		if o := &f.found[i]; o.kind == byVariable && o.marked.Type == k.Type {
			o.stored = k.Stored
		}
	}
}

// define is the Go expression of a descriptor for a kind that has none.
func define(k crd.MarkedKind, qualifier string) string {
	function := "DefineNamespaced"
	if k.Scope == resource.ClusterScoped {
		function = "DefineCluster"
	}
	return fmt.Sprintf("resource.%s[%s.%s](resource.Info{Group: %q, Version: %q, Kind: %q, Plural: %q, Singular: %q, ShortNames: %#v, Categories: %#v})",
		function, qualifier, k.Type, k.Info.Group, k.Info.Version, k.Info.Kind, k.Info.Plural, k.Info.Singular, k.Info.ShortNames, k.Info.Categories)
}
