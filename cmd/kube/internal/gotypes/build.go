package gotypes

import (
	"encoding/json"
	"slices"
	"strings"
)

// builder turns the schema of one version of a kind into nodes and declarations.
type builder struct {
	*generator
	// decls are the declarations in the order in which they are found, those of the outer levels
	// first; known finds one by its step and schema.
	decls []*decl
	found map[string]*decl
	// refused are the paths of nodes that package crd would refuse as they are.
	refused map[string]bool
	names   namespace
	kind    string
}

func (b *builder) leaf(s *props, path, expr string) *node {
	keepsNil := expr == "[]byte" || expr == "json.RawMessage"
	base := b.leafs[expr]
	return &node{schema: s, path: path, expr: expr, base: *base.DeepCopy(), keepsNil: keepsNil}
}

// node returns what s becomes as a part of parent called step.
func (b *builder) node(s *props, path string, parent *decl, step string) *node {
	switch {
	case s.XIntOrString && s.Pattern == b.leafs["apiresource.Quantity"].Pattern:
		return b.leaf(s, path, "apiresource.Quantity")
	case s.XIntOrString:
		return b.leaf(s, path, "intstr.IntOrString")
	case s.Type == "string":
		return b.text(s, path, parent, step)
	case s.Type == "integer" && (s.Format == "int32" || s.Format == "int64"):
		return b.leaf(s, path, s.Format)
	case s.Type == "integer":
		return b.leaf(s, path, "int")
	case s.Type == "number":
		return b.leaf(s, path, "float64")
	case s.Type == "boolean":
		return b.leaf(s, path, "bool")
	case s.Type == "array" && s.Items != nil && s.Items.Schema != nil:
		return &node{schema: s, path: path, form: formList, elem: b.node(s.Items.Schema, path+".items", parent, singular(step))}
	case s.Type == "object":
		return b.object(s, path, parent, step)
	}
	return b.leaf(s, path, "json.RawMessage")
}

func (b *builder) text(s *props, path string, parent *decl, step string) *node {
	switch {
	case len(s.Enum) > 0:
		if values, ok := texts(s); ok {
			return b.enum(s, values, path, parent, step)
		}
	case s.Format == "date-time":
		return b.leaf(s, path, "metav1.Time")
	case s.Format == "byte":
		return b.leaf(s, path, "[]byte")
	}
	return b.leaf(s, path, "string")
}

// texts returns the values of an enum of strings.
func texts(s *props) (list []string, ok bool) {
	for _, e := range s.Enum {
		var v *string
		if err := json.Unmarshal(e.Raw, &v); err != nil || v == nil {
			return nil, false
		}
		if slices.Contains(list, *v) {
			return nil, false
		}
		list = append(list, *v)
	}
	return list, true
}

func (b *builder) enum(s *props, values []string, path string, parent *decl, step string) *node {
	d := b.declare("enum "+step+" "+strings.Join(values, "\x00"), s, path, parent, step)
	if d.values == nil {
		for _, v := range values {
			d.values = append(d.values, enumValue{value: v})
		}
	}
	return &node{schema: s, path: path, form: formEnum, decl: d}
}

func (b *builder) object(s *props, path string, parent *decl, step string) *node {
	switch {
	case len(s.Properties) > 0:
		return b.fields(s, path, parent, step)
	case s.AdditionalProperties != nil:
		values := s.AdditionalProperties.Schema
		if values == nil {
			values = &props{XPreserveUnknownFields: new(true)}
		}
		return &node{schema: s, path: path, form: formMap, elem: b.node(values, path+".additionalProperties", parent, singular(step))}
	case s.XPreserveUnknownFields != nil:
		return b.leaf(s, path, "runtime.RawExtension")
	}
	return b.leaf(s, path, "struct{}")
}

// fields returns the type of an object with fields: one that Kubernetes has, or one of its own.
func (b *builder) fields(s *props, path string, parent *decl, step string) *node {
	if known := b.know(s, step); known != nil {
		return b.leaf(s, path, known.expr)
	}
	if slices.ContainsFunc(keysOf(s.Properties), func(name string) bool { return !isTagName(name) }) {
		return b.leaf(s, path, "runtime.RawExtension") // no struct can have such a field
	}
	return &node{schema: s, path: path, form: formStruct, decl: b.declare("struct "+step+" "+structKey(s), s, path, parent, step)}
}

// isTagName reports whether a json tag can hold the name of a field.
func isTagName(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		letter := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
		return !letter && !strings.ContainsRune("!#$%&()*+-./:;<=>?@[]^_{|}~", r)
	})
}

// structKey tells struct types apart. What stands with the field that has the type does not count.
func structKey(s *props) string {
	c := *s
	c.Description, c.Nullable, c.Default, c.Example = "", false, nil, nil
	raw, err := json.Marshal(c)
	if err != nil {
		return c.String()
	}
	return string(raw)
}

// declare returns the declaration of a type: a new one, or the one that is the same and used by the
// same name elsewhere.
func (b *builder) declare(key string, s *props, path string, parent *decl, step string) *decl {
	if d := b.found[key]; d != nil {
		d.shared = true
		if d.description == "" {
			d.description = s.Description
		}
		return d
	}
	d := &decl{schema: s, path: path, parent: parent, step: step, description: s.Description}
	b.found[key] = d
	b.decls = append(b.decls, d)
	return d
}

// fill gives structs their fields, which brings up more declarations.
func (b *builder) fill() {
	for i := 0; i < len(b.decls); i++ {
		if d := b.decls[i]; d.values == nil {
			b.fillStruct(d)
		}
	}
}

func (b *builder) fillStruct(d *decl) {
	names := namespace{"TypeMeta": true, "ObjectMeta": true}
	d.open = d.schema.XPreserveUnknownFields != nil
	for _, name := range keysOf(d.schema.Properties) {
		if d.parent == nil && slices.Contains([]string{"apiVersion", "kind", "metadata"}, name) {
			continue
		}
		p := d.schema.Properties[name]
		d.fields = append(d.fields, &field{
			json: name, name: names.take(goName(name)), required: slices.Contains(d.schema.Required, name),
			node: b.node(&p, d.path+"."+name, d, name),
		})
	}
	if d.open {
		d.rest = names.take("Rest", "Unknown")
	}
}

// nameTypes names the declarations, those of the outer levels first.
func (b *builder) nameTypes() {
	for _, d := range b.decls {
		if d.parent == nil {
			d.name = b.kind
			continue
		}
		step := goName(d.step)
		candidates := []string{d.parent.prefix(b.kind) + step, d.parent.name + step}
		if d.shared {
			candidates = append([]string{b.kind + step}, candidates...)
		}
		d.name = b.names.take(candidates...)
		for i := range d.values {
			v := &d.values[i]
			v.name = b.names.take(d.name + valueName(v.value))
		}
	}
}

// prefix is what the names of the types inside begin with: spec says nothing that the kind does not.
func (d *decl) prefix(kind string) string {
	if d.parent != nil && d.parent.parent == nil && d.step == "spec" {
		return kind
	}
	return d.name
}

func valueName(value string) string {
	if value == "" {
		return "Empty"
	}
	name := goName(value)
	if rest, ok := strings.CutPrefix(name, "X"); ok && rest != "" && '0' <= rest[0] && rest[0] <= '9' {
		return rest
	}
	return name
}
