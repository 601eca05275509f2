package fieldtypes

import (
	"encoding/json/v2"

	smd "sigs.k8s.io/structured-merge-diff/v6/schema"
)

// The types of this file are those of structured-merge-diff's schema, with short names in JSON.

type atom struct {
	Scalar *smd.Scalar `json:"s,omitzero"`
	List   *list       `json:"l,omitzero"`
	Map    *object     `json:"m,omitzero"`
}

type list struct {
	Element      ref                     `json:"e"`
	Relationship smd.ElementRelationship `json:"r,omitzero"`
	Keys         []string                `json:"k,omitzero"`
}

type object struct {
	Fields       []member                `json:"f,omitzero"`
	Element      ref                     `json:"e,omitzero"`
	Relationship smd.ElementRelationship `json:"r,omitzero"`
}

type member struct {
	Name    string `json:"n"`
	Type    ref    `json:"t"`
	Default any    `json:"d,omitzero"`
}

type ref struct {
	Named        *string                  `json:"n,omitzero"`
	Scalar       *smd.Scalar              `json:"s,omitzero"`
	List         *list                    `json:"l,omitzero"`
	Map          *object                  `json:"m,omitzero"`
	Relationship *smd.ElementRelationship `json:"r,omitzero"`
	Nullable     bool                     `json:"z,omitzero"`
}

// Pack returns a type as the JSON that stands in the lines of [Parse].
func Pack(a smd.Atom) ([]byte, error) { return json.Marshal(pack(a), json.Deterministic(true)) }

func pack(a smd.Atom) atom {
	return atom{Scalar: a.Scalar, List: packList(a.List), Map: packMap(a.Map)}
}

func packList(l *smd.List) *list {
	if l == nil {
		return nil
	}
	return &list{Element: packRef(l.ElementType), Relationship: l.ElementRelationship, Keys: l.Keys}
}

func packMap(m *smd.Map) *object {
	if m == nil {
		return nil
	}
	o := &object{Element: packRef(m.ElementType), Relationship: m.ElementRelationship}
	for _, f := range m.Fields {
		o.Fields = append(o.Fields, member{Name: f.Name, Type: packRef(f.Type), Default: f.Default})
	}
	return o
}

func packRef(r smd.TypeRef) ref {
	return ref{
		Named: r.NamedType, Scalar: r.Inlined.Scalar, List: packList(r.Inlined.List), Map: packMap(r.Inlined.Map),
		Relationship: r.ElementRelationship, Nullable: r.Nullable,
	}
}

func (a atom) unpack() smd.Atom {
	return smd.Atom{Scalar: a.Scalar, List: a.List.unpack(), Map: a.Map.unpack()}
}

func (l *list) unpack() *smd.List {
	if l == nil {
		return nil
	}
	return &smd.List{ElementType: l.Element.unpack(), ElementRelationship: l.Relationship, Keys: l.Keys}
}

func (o *object) unpack() *smd.Map {
	if o == nil {
		return nil
	}
	m := &smd.Map{ElementType: o.Element.unpack(), ElementRelationship: o.Relationship}
	for _, f := range o.Fields {
		m.Fields = append(m.Fields, smd.StructField{Name: f.Name, Type: f.Type.unpack(), Default: f.Default})
	}
	return m
}

func (r ref) unpack() smd.TypeRef {
	return smd.TypeRef{
		NamedType: r.Named, Inlined: atom{r.Scalar, r.List, r.Map}.unpack(),
		ElementRelationship: r.Relationship, Nullable: r.Nullable,
	}
}
