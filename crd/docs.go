package crd

import (
	"fmt"
	"go/ast"
	"io/fs"
	"maps"
	"path"
	"reflect"
	"strings"

	"github.com/go-kube/kube/internal/apidoc"
)

// docs is the doc comments of Go source, found again by reflect.Type. A type is the one that
// the source declares when package name, type name and fields agree: two packages called v1
// with a Container each are told apart.
type docs struct {
	packages []*sourcePackage
	// bound remembers which source a package path turned out to be.
	bound map[string]*sourcePackage
	// others describes types that no source declares: Options.Docs, or nil.
	others func(reflect.Type) map[string]string
}

// sourcePackage is the types declared in one directory.
type sourcePackage struct {
	name  string
	types map[string]*typeDoc
}

// readDocs parses every Go file in source.
func readDocs(source fs.FS, others func(reflect.Type) map[string]string) (docs, error) {
	d := docs{bound: map[string]*sourcePackage{}, others: others}
	if source == nil {
		return d, nil
	}
	files := 0
	err := fs.WalkDir(source, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || path.Ext(name) != ".go" {
			return err
		}
		files++
		return d.readFile(source, name)
	})
	if err == nil && files == 0 {
		err = fmt.Errorf("there is no Go file in it")
	}
	return d, err
}

func (d *docs) readFile(source fs.FS, name string) error {
	text, err := fs.ReadFile(source, name)
	if err != nil {
		return err
	}
	packageName, types, err := readSource(name, text)
	if err != nil {
		return err
	}
	maps.Copy(d.packageOf(path.Dir(name)+":"+packageName).types, types)
	return nil
}

// packageOf returns the package of a directory. A directory holds a second one where it has
// tests from outside.
func (d *docs) packageOf(dirAndName string) *sourcePackage {
	for _, p := range d.packages {
		if p.name == dirAndName {
			return p
		}
	}
	p := &sourcePackage{name: dirAndName, types: map[string]*typeDoc{}}
	d.packages = append(d.packages, p)
	return p
}

// ofType returns the description of a type, or nothing.
func (d *docs) ofType(t reflect.Type) string {
	if found := d.find(t); found != nil {
		return description(found.comment)
	}
	return d.other(t, "")
}

// ofField returns the description of a field, or nothing.
func (d *docs) ofField(f field) string {
	if found := d.find(f.owner); found != nil {
		return description(found.fields[f.declared.Name])
	}
	return d.other(f.owner, f.name)
}

func (d *docs) other(t reflect.Type, name string) string {
	if d.others == nil {
		return ""
	}
	return d.others(t)[name]
}

// find returns the declaration of t, or nil.
func (d *docs) find(t reflect.Type) *typeDoc {
	if t.Name() == "" || t.PkgPath() == "" {
		return nil
	}
	if bound := d.bound[t.PkgPath()]; bound != nil {
		return bound.types[typeName(t)]
	}
	if t.Kind() != reflect.Struct {
		return nil // nothing tells it from a type of the same name elsewhere
	}
	packageName, _, _ := strings.Cut(t.String(), ".")
	for _, p := range d.packages {
		declared := p.types[typeName(t)]
		if declared != nil && strings.HasSuffix(p.name, ":"+packageName) && declared.has(t) {
			d.bound[t.PkgPath()] = p
			return declared
		}
	}
	return nil
}

// has reports whether the declared struct has just the fields of t.
func (d *typeDoc) has(t reflect.Type) bool {
	for f := range t.Fields() {
		if _, ok := d.fields[f.Name]; !ok {
			return false
		}
	}
	return d.fields != nil && len(d.fields) == t.NumField()
}

// named returns the description of the type called name in the package that declares beside,
// for aliases, which reflection does not know.
func (d *docs) named(name string, beside reflect.Type) string {
	if bound := d.bound[beside.PkgPath()]; bound != nil && bound.types[name] != nil {
		return description(bound.types[name].comment)
	}
	return ""
}

// description is the part of a doc comment that is for readers of the API.
func description(comment *ast.CommentGroup) string { return apidoc.Description(comment.Text()) }

// SwaggerDoc returns the descriptions that types of k8s.io/api and apimachinery carry, by the
// JSON names of their fields and "" for the type, or nil for a type without any. It is meant
// for [Options.Docs].
func SwaggerDoc(t reflect.Type) map[string]string {
	carrier, ok := reflect.TypeAssert[interface{ SwaggerDoc() map[string]string }](reflect.New(t))
	if !ok {
		return nil
	}
	return carrier.SwaggerDoc()
}
