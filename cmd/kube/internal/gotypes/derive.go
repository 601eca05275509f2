package gotypes

import (
	"encoding/json"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// What package crd will derive from the types is followed here, so that the difference between
// that and the schema can be written beside the types.

// derived returns the schema of a node, and the words that its tag needs for it.
func (b *builder) derived(n *node) (p props, list []string) {
	switch n.form {
	case formList:
		item, inner := b.derived(n.elem)
		p = props{Type: "array", Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &item}}
		list = below("items", inner)
	case formMap:
		value, inner := b.derived(n.elem)
		p = props{Type: "object", AdditionalProperties: &apiextensionsv1.JSONSchemaPropsOrBool{Allows: true, Schema: &value}}
		list = below("additionalProperties", inner)
	case formEnum:
		p = props{Type: "string", Description: typeComment(n.decl.description)}
		for _, v := range n.decl.values {
			p.Enum = append(p.Enum, rawText(v.value))
		}
	case formStruct:
		p = *b.declared(n.decl).DeepCopy()
	default:
		p = *n.base.DeepCopy()
	}
	if b.refused[n.path] {
		return p, list
	}
	w := &wording{from: n.schema, to: &p}
	if n.form == formStruct {
		w.use()
	} else {
		w.node()
	}
	return p, append(w.list, list...)
}

func below(step string, list []string) []string {
	out := slices.Clone(list)
	for i := range out {
		out[i] = step + "." + out[i]
	}
	return out
}

func rawText(text string) apiextensionsv1.JSON {
	raw, err := json.Marshal(text)
	if err != nil {
		raw = []byte(`""`) // a string has JSON, always
	}
	return apiextensionsv1.JSON{Raw: raw}
}

// declared returns the schema of a struct type, and notes what its declaration needs.
func (b *builder) declared(d *decl) *props {
	if d.derived != nil {
		return d.derived
	}
	p := &props{Type: "object", Properties: map[string]props{}, Description: typeComment(d.description)}
	for _, f := range d.fields {
		field, list := b.derived(f.node)
		if comment := fieldComment(f.node.schema.Description); comment != "" {
			field.Description = comment
		}
		if f.required && (f.isPointer() || f.omits()) {
			list = append(list, "required")
		}
		if f.required {
			p.Required = append(p.Required, f.json)
		}
		f.words = list
		p.Properties[f.json] = field
	}
	slices.Sort(p.Required)
	if d.open {
		p.XPreserveUnknownFields = new(true)
	}
	if !b.refused[d.path] {
		b.sayType(d, p)
	}
	d.derived = p
	return p
}

// sayType says what is about the struct itself.
func (b *builder) sayType(d *decl, p *props) {
	w := &wording{from: d.schema, to: p}
	w.text("title", d.schema.Title, &p.Title)
	w.object()
	w.oneOf()
	list, rules := rulesOfType(d.schema)
	if len(rules) > 0 && slices.ContainsFunc(d.fields, func(f *field) bool { return f.name == "Rules" }) {
		rules = nil // a type cannot have both
	}
	d.words, d.rules = append(w.list, list...), rules
	p.XValidations = slices.Concat(d.schema.XValidations[:len(list)], apiextensionsv1.ValidationRules(rules))
	if len(p.XValidations) == 0 {
		p.XValidations = nil
	}
}
