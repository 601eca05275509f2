package gotypes

import (
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// props is a node of a schema.
type props = apiextensionsv1.JSONSchemaProps

// form is what a node of a schema becomes in Go.
type form uint8

const (
	formLeaf   form = iota // a type that is written by its name: string, metav1.Time
	formList               // a slice
	formMap                // a map with keys of type string
	formStruct             // a struct type of its own
	formEnum               // a string type with constants
)

// node is a node of a schema with the Go type that it becomes.
type node struct {
	schema *props
	// path is where the node is, as package crd names it in errors: .spec.hosts.items.
	path string
	form form
	// expr is the Go type of a leaf, base what package crd derives from it.
	expr string
	base props
	// keepsNil says that the Go type of a leaf tells nothing from its zero value, as slices do.
	keepsNil bool
	elem     *node
	decl     *decl
}

// decl is a type that is declared: a struct or an enum.
type decl struct {
	name   string
	schema *props
	path   string
	// parent and step say where the type is used first: in which type, and under which name.
	parent *decl
	step   string
	// shared says that it is used in more than one place, by the same name.
	shared bool
	fields []*field
	values []enumValue
	// description is what the comment of the type says.
	description string
	// words and rules are what the type says beside its fields, derived what comes of it all.
	words   []string
	derived *props
	rules   []apiextensionsv1.ValidationRule
	// open says that the struct has a field for members without a field.
	open bool
	// rest is the name of that field.
	rest string
}

type enumValue struct{ name, value string }

// field is a field of a struct.
type field struct {
	json, name string
	node       *node
	required   bool
	// words are those of its schema tag.
	words []string
}

// isRequired reports whether objects always have the field: one with a default may be left
// out by whoever writes them.
func (f *field) isRequired() bool { return f.required && f.node.schema.Default == nil }

// omits reports whether the zero value is left out of JSON.
func (f *field) omits() bool { return !f.isRequired() }

// isPointer reports whether the field is a pointer: absence has to differ from the zero value,
// which the schema may take.
func (f *field) isPointer() bool {
	n := f.node
	switch {
	case n.form == formList, n.form == formMap, n.form == formLeaf && n.keepsNil:
		return false
	case f.isRequired():
		return n.schema.Nullable
	case n.schema.Nullable, n.form == formStruct:
		return true
	}
	return !refusesZero(n)
}

// refusesZero reports whether the schema lets no zero value in, which can then stand for absence.
func refusesZero(n *node) bool {
	s := n.schema
	switch {
	case n.form == formEnum:
		return !slices.ContainsFunc(n.decl.values, func(v enumValue) bool { return v.value == "" })
	case n.expr == "string":
		return s.MinLength != nil && *s.MinLength > 0
	case s.Type == "integer" || s.Type == "number":
		return s.Minimum != nil && (*s.Minimum > 0 || *s.Minimum == 0 && s.ExclusiveMinimum)
	}
	return false
}

// typeOf returns the Go type of a field.
func (f *field) typeOf() string {
	if f.isPointer() {
		return "*" + f.node.goType()
	}
	return f.node.goType()
}

func (n *node) goType() string {
	switch n.form {
	case formList:
		return "[]" + n.elem.elementType()
	case formMap:
		return "map[string]" + n.elem.elementType()
	case formStruct, formEnum:
		return n.decl.name
	}
	return n.expr
}

// elementType is the type as an element of a list or map, where null has to be kept.
func (n *node) elementType() string {
	if n.schema.Nullable && n.form != formList && n.form != formMap && !n.keepsNil {
		return "*" + n.goType()
	}
	return n.goType()
}

func keysOf[V any](m map[string]V) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
