package gotypes

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"testing"
)

// stubs are what generated code uses of the packages that it imports.
var stubs = map[string]string{
	"embed":                  `package embed; type FS struct{}`,
	"encoding/json":          `package json; type RawMessage []byte`,
	"encoding/json/jsontext": `package jsontext; type Value []byte`,
	"github.com/go-kube/kube/resource": `package resource
		type Info struct { Group, Version, Kind, Plural, Singular string; ShortNames, Categories []string }
		type Object[Spec, Status any] struct { Spec Spec; Status *Status }
		type Namespaced[K any] struct{}
		type Cluster[K any] struct{}
		func DefineNamespaced[K any](Info) (k Namespaced[K]) { return k }
		func DefineCluster[K any](Info) (k Cluster[K]) { return k }`,
	"github.com/go-kube/kube/crd": `package crd
		import ( "embed"; apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1" )
		type Column struct { Name, Type, JSONPath, Description, Format string; Priority int32 }
		type Scale struct { SpecReplicasPath, StatusReplicasPath, LabelSelectorPath string }
		type Options struct {
			Source embed.FS; Fields, Annotations map[string]string; Columns []Column; Scale *Scale; Rules []apiextensionsv1.ValidationRule
			SelectableFields []string; Deprecated, Unserved bool; DeprecationWarning string; Refine func()
		}
		func MergePatch([]byte) func() { return nil }
		func For(any, *Options) (*apiextensionsv1.CustomResourceDefinition, error) { return nil, nil }`,
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1": `package v1
		type CustomResourceDefinition struct{}
		type FieldValueErrorReason string
		type ValidationRule struct { Rule, Message, MessageExpression, FieldPath string; Reason *FieldValueErrorReason; OptionalOldSelf *bool }`,
	"k8s.io/apimachinery/pkg/runtime":      `package runtime; type RawExtension struct{}`,
	"k8s.io/apimachinery/pkg/util/intstr":  `package intstr; type IntOrString struct{}`,
	"k8s.io/apimachinery/pkg/api/resource": `package resource; type Quantity struct{}`,
}

func init() {
	for alias, path := range imports { // the types of Kubernetes that shapes name
		if stubs[path] != "" {
			continue
		}
		text := "package v1\n"
		known, err := knownTypes()
		if err != nil {
			panic(err)
		}
		for expr := range known.leafs {
			if before, name, ok := cutDot(expr); ok && before == alias {
				text += "type " + name + " struct{}\n"
			}
		}
		if alias == "metav1" {
			text += "type TypeMeta struct{}\n"
		}
		stubs[path] = text
	}
}

func cutDot(expr string) (before, after string, ok bool) {
	for i := range expr {
		if expr[i] == '.' {
			return expr[:i], expr[i+1:], true
		}
	}
	return "", "", false
}

// stubImporter imports packages from their stubs.
type stubImporter struct {
	set  *token.FileSet
	done map[string]*types.Package
}

func (s *stubImporter) Import(path string) (*types.Package, error) {
	if p := s.done[path]; p != nil {
		return p, nil
	}
	text, ok := stubs[path]
	if !ok {
		return nil, fmt.Errorf("there is no stub of %s", path)
	}
	file, err := parser.ParseFile(s.set, path, text, 0)
	if err != nil {
		return nil, err
	}
	p, err := (&types.Config{Importer: s}).Check(path, s.set, []*ast.File{file}, nil)
	s.done[path] = p
	return p, err
}

// checkGo checks that the Go files of a folder are a package without errors.
func checkGo(t *testing.T, files []File, folder string) {
	t.Helper()
	set := token.NewFileSet()
	var parsed []*ast.File
	for _, f := range files {
		if filepath.Ext(f.Name) != ".go" || filepath.Dir(f.Name) != folder {
			continue
		}
		file, err := parser.ParseFile(set, f.Name, f.Text, parser.ParseComments)
		if err != nil {
			t.Fatalf("%v\n%s", err, f.Text)
		}
		parsed = append(parsed, file)
	}
	config := types.Config{Importer: &stubImporter{set, map[string]*types.Package{}}, GoVersion: "go1.27"}
	if _, err := config.Check("p", set, parsed, nil); err != nil {
		for _, f := range files {
			t.Logf("-- %s --\n%s", f.Name, f.Text)
		}
		t.Fatal(err)
	}
}
