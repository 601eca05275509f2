package crd

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// markerSource finds the Go source of types. It reads a package when the first of its types
// is looked for, and keeps it.
type markerSource struct {
	mu      sync.Mutex
	modules []sourceModule
	// loose are sources without a go.mod, whose import path nobody says.
	loose    []fs.FS
	packages map[string]*markedPackage
	isRead   bool
	byShape  []*markedPackage
}

type sourceModule struct {
	path string
	fs   fs.FS
}

// markedPackage is the types of a package with their comments.
type markedPackage struct {
	name  string
	types map[string]*markedType
	// markers are those about the package.
	markers []string
	// constants are the string constants by the name of their type, for enums.
	constants map[string][]string
	path      string
}

// markedType is a declared type.
type markedType struct {
	pkg     *markedPackage
	file    *ast.File
	expr    ast.Expr
	doc     string
	markers []string
	// isAlias says that it is another name of a type, as in type A = B.
	isAlias bool
	// fields are those of a struct by name; embedded ones go by their type. nil elsewhere.
	fields map[string]*markedField
}

type markedField struct {
	doc     string
	markers []string
}

func newMarkerSource(sources []fs.FS) (*markerSource, error) {
	s := &markerSource{packages: map[string]*markedPackage{}}
	for i, source := range sources {
		if source == nil {
			return nil, fmt.Errorf("source %d is nil", i)
		}
		text, err := fs.ReadFile(source, "go.mod")
		switch {
		case errors.Is(err, fs.ErrNotExist):
			s.loose = append(s.loose, source)
			continue
		case err != nil:
			return nil, err
		}
		modulePath := moduleOf(text)
		if modulePath == "" {
			return nil, fmt.Errorf("source %d: its go.mod has no module line", i)
		}
		s.modules = append(s.modules, sourceModule{modulePath, source})
	}
	slices.SortStableFunc(s.modules, func(a, b sourceModule) int { return len(b.path) - len(a.path) })
	return s, nil
}

// moduleOf returns the path in the module line of a go.mod.
func moduleOf(text []byte) string {
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(lines.Text()), "module "); ok {
			rest, _, _ = strings.Cut(rest, "//")
			return strings.Trim(strings.TrimSpace(rest), "\"`")
		}
	}
	return ""
}

// typeOf returns the declaration of t, or nil where no source has it.
func (s *markerSource) typeOf(t reflect.Type) (*markedType, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	pkg, err := s.packageAt(t.PkgPath())
	if err != nil {
		return nil, err
	}
	if pkg == nil {
		if pkg, err = s.packageLike(t); pkg == nil || err != nil {
			return nil, err
		}
	}
	return pkg.types[typeName(t)], nil
}

// named returns a type by the import path and name of a declaration, or nil.
func (s *markerSource) named(importPath, name string) (*markedType, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	pkg, err := s.packageAt(importPath)
	if pkg == nil || err != nil {
		return nil, err
	}
	return pkg.types[name], nil
}

func (s *markerSource) packageAt(importPath string) (*markedPackage, error) {
	if pkg, ok := s.packages[importPath]; ok {
		return pkg, nil
	}
	for _, m := range s.modules {
		dir, ok := m.dirOf(importPath)
		if !ok {
			continue
		}
		pkg, err := readMarkedPackage(m.fs, dir, importPath)
		if err != nil {
			return nil, err
		}
		if pkg != nil {
			s.packages[importPath] = pkg
			return pkg, nil
		}
	}
	return nil, nil
}

// dirOf returns the directory of a package in the module. The standard library's module is
// called std, which is no part of its import paths.
func (m sourceModule) dirOf(importPath string) (dir string, ok bool) {
	first, _, _ := strings.Cut(importPath, "/")
	switch {
	case m.path == "std":
		return importPath, !strings.Contains(first, ".")
	case importPath == m.path:
		return ".", true
	}
	return strings.CutPrefix(importPath, m.path+"/")
}

// packageLike finds the package of t in sources without a go.mod, by its name and the fields
// of t.
func (s *markerSource) packageLike(t reflect.Type) (*markedPackage, error) {
	if err := s.readLoose(); err != nil {
		return nil, err
	}
	name, _, _ := strings.Cut(t.String(), ".")
	for _, pkg := range s.byShape {
		declared := pkg.types[typeName(t)]
		if declared != nil && pkg.name == name && declared.has(t) {
			s.packages[t.PkgPath()] = pkg
			return pkg, nil
		}
	}
	return nil, nil
}

func (t *markedType) has(r reflect.Type) bool {
	if r.Kind() != reflect.Struct {
		return false
	}
	for f := range r.Fields() {
		if _, ok := t.fields[f.Name]; !ok {
			return false
		}
	}
	return len(t.fields) == r.NumField()
}

func (s *markerSource) readLoose() error {
	if s.isRead {
		return nil
	}
	for _, source := range s.loose {
		err := fs.WalkDir(source, ".", func(name string, entry fs.DirEntry, err error) error {
			if err != nil || !entry.IsDir() {
				return err
			}
			pkg, err := readMarkedPackage(source, name, "")
			if pkg != nil {
				s.byShape = append(s.byShape, pkg)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	s.isRead = true
	return nil
}

// readMarkedPackage reads the Go files of a directory, without tests. It returns nil where
// there are none.
func readMarkedPackage(source fs.FS, dir, importPath string) (*markedPackage, error) {
	entries, err := fs.ReadDir(source, dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	p := &markedPackage{types: map[string]*markedType{}, constants: map[string][]string{}, path: importPath}
	files := token.NewFileSet()
	for _, entry := range entries {
		name := entry.Name()
		isTest := strings.HasSuffix(name, "_test.go") && importPath != ""
		if entry.IsDir() || path.Ext(name) != ".go" || isTest {
			continue
		}
		text, err := fs.ReadFile(source, path.Join(dir, name))
		if err != nil {
			return nil, err
		}
		file, err := parser.ParseFile(files, name, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		(&fileReader{pkg: p, files: files, file: file}).read()
	}
	if p.name == "" {
		return nil, nil
	}
	return p, nil
}

// fileReader tells which comments of a file belong to which declaration: its doc comment, and
// of the comments that stand free before it the last one. What is left is about the package.
type fileReader struct {
	pkg   *markedPackage
	files *token.FileSet
	file  *ast.File
}

func (r *fileReader) read() {
	r.pkg.name = r.file.Name.Name
	r.pkg.markers = append(r.pkg.markers, r.free(token.NoPos, r.file.Package)...)
	end := r.file.Name.End()
	for _, decl := range r.file.Decls {
		r.declaration(decl, end)
		end = decl.End()
	}
	r.pkg.markers = append(r.pkg.markers, r.free(end, r.file.FileEnd)...)
}

// groups returns the comments between two positions, but not one behind a line of code.
func (r *fileReader) groups(from, to token.Pos) (groups []*ast.CommentGroup) {
	first, _ := slices.BinarySearchFunc(r.file.Comments, from, func(g *ast.CommentGroup, at token.Pos) int { return int(g.Pos() - at) })
	for _, g := range r.file.Comments[first:] {
		if g.Pos() >= to {
			break
		}
		if !from.IsValid() || r.files.PositionFor(from, false).Line != r.files.PositionFor(g.Pos(), false).Line {
			groups = append(groups, g)
		}
	}
	return groups
}

func (r *fileReader) free(from, to token.Pos) (markers []string) {
	for _, g := range r.groups(from, to) {
		markers = append(markers, markersIn(g)...)
	}
	return markers
}

// before returns the markers that stand free before a node: the last comment's, and those of
// the others.
func (r *fileReader) before(from token.Pos, doc *ast.CommentGroup, at token.Pos) (closest, others []string) {
	if doc != nil {
		at = doc.Pos()
	}
	groups := r.groups(from, at)
	for i, g := range groups {
		if i == len(groups)-1 {
			return markersIn(g), others
		}
		others = append(others, markersIn(g)...)
	}
	return nil, others
}

func (r *fileReader) declaration(decl ast.Decl, from token.Pos) {
	general, ok := decl.(*ast.GenDecl)
	if !ok {
		f := decl.(*ast.FuncDecl)
		closest, others := r.before(from, f.Doc, f.Pos())
		r.pkg.markers = append(append(r.pkg.markers, others...), closest...)
		return
	}
	closest, others := r.before(from, general.Doc, general.Pos())
	r.pkg.markers = append(r.pkg.markers, others...)
	if general.Tok != token.TYPE || general.Lparen.IsValid() {
		r.pkg.markers = append(r.pkg.markers, closest...)
		closest = nil
	}
	end := general.Lparen
	for _, spec := range general.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			doc := spec.Doc
			if general.Lparen.IsValid() {
				closest, _ = r.before(end, doc, spec.Pos())
			} else if doc == nil {
				doc = general.Doc
			}
			r.typeSpec(spec, doc, closest)
		case *ast.ValueSpec:
			r.constant(general, spec)
		}
		end = spec.End()
	}
}

func (r *fileReader) typeSpec(spec *ast.TypeSpec, doc *ast.CommentGroup, free []string) {
	t := &markedType{pkg: r.pkg, file: r.file, expr: spec.Type, doc: apiDoc(doc), isAlias: spec.Assign.IsValid()}
	for _, m := range free {
		if slices.Contains(packageMarkers, markerName(m)) {
			r.pkg.markers = append(r.pkg.markers, m)
		} else {
			t.markers = append(t.markers, m)
		}
	}
	t.markers = append(t.markers, markersIn(doc)...)
	if structure, ok := spec.Type.(*ast.StructType); ok {
		t.fields = map[string]*markedField{}
		end := structure.Fields.Opening
		for _, f := range structure.Fields.List {
			closest, _ := r.before(end, f.Doc, f.Pos())
			field := &markedField{doc: apiDoc(f.Doc), markers: append(closest, markersIn(f.Doc)...)}
			for _, name := range namesOf(f) {
				t.fields[name] = field
			}
			end = f.End()
		}
	}
	r.pkg.types[spec.Name.Name] = t
}

// packageMarkers are about the package where they stand free.
var packageMarkers = []string{"kubebuilder:validation:Optional", "kubebuilder:validation:Required", "kubebuilder:skip", "groupName", "versionName"}

func markerName(text string) string {
	name, _, _ := splitMarker(text)
	return name
}

func namesOf(f *ast.Field) (names []string) {
	for _, name := range f.Names {
		names = append(names, name.Name)
	}
	if names == nil {
		_, name := typeNamed(f.Type)
		names = append(names, name)
	}
	return names
}

// typeNamed returns the name that a type expression refers to and its package, as in the
// source.
func typeNamed(expr ast.Expr) (qualifier, name string) {
	switch e := expr.(type) {
	case *ast.Ident:
		return "", e.Name
	case *ast.StarExpr:
		return typeNamed(e.X)
	case *ast.ParenExpr:
		return typeNamed(e.X)
	case *ast.IndexExpr:
		return typeNamed(e.X)
	case *ast.IndexListExpr:
		return typeNamed(e.X)
	case *ast.SelectorExpr:
		if x, ok := e.X.(*ast.Ident); ok {
			return x.Name, e.Sel.Name
		}
	}
	return "", ""
}

func (r *fileReader) constant(decl *ast.GenDecl, spec *ast.ValueSpec) {
	_, name := typeNamed(spec.Type)
	if decl.Tok != token.CONST || name == "" {
		return
	}
	for _, value := range spec.Values {
		literal, ok := value.(*ast.BasicLit)
		if !ok || literal.Kind != token.STRING {
			continue
		}
		if text, err := strconv.Unquote(literal.Value); err == nil {
			r.pkg.constants[name] = append(r.pkg.constants[name], text)
		}
	}
}

// markersIn returns the markers of a comment: lines that begin with // and +.
func markersIn(comment *ast.CommentGroup) (markers []string) {
	if comment == nil {
		return nil
	}
	for _, c := range comment.List {
		if isMarker(c.Text) {
			markers = append(markers, strings.TrimSpace(c.Text[2:]))
		}
	}
	return markers
}

func isMarker(text string) bool {
	return strings.HasPrefix(text, "//") && strings.HasPrefix(strings.TrimSpace(text[2:]), "+")
}

// apiDoc is the description that controller-gen makes of a comment: without markers and TODO
// lines, and up to a line of dashes.
func apiDoc(comment *ast.CommentGroup) string {
	if comment == nil {
		return ""
	}
	var plain ast.CommentGroup
	isBlock := false
	for _, c := range comment.List {
		if !isMarker(c.Text) {
			plain.List = append(plain.List, c)
			isBlock = isBlock || strings.HasPrefix(c.Text, "/*")
		}
	}
	var out []string
	inCode := false
	for line := range strings.SplitSeq(strings.TrimSuffix(plain.Text(), "\n"), "\n") {
		if isBlock {
			line = strings.TrimSpace(line)
		}
		if strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~") {
			inCode = !inCode
		}
		if !inCode && strings.HasPrefix(line, "TODO") {
			continue
		}
		if !inCode && strings.HasPrefix(line, "---") {
			break
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}

// importPathOf resolves the name of an import in a file.
func importPathOf(file *ast.File, qualifier string) string {
	for _, spec := range file.Imports {
		importPath, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue
		}
		if spec.Name != nil && spec.Name.Name == qualifier || spec.Name == nil && path.Base(importPath) == qualifier {
			return importPath
		}
	}
	return ""
}
