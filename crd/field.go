package crd

import (
	"reflect"
	"strings"
)

// field is a field of a struct as encoding/json sees it.
type field struct {
	name string // in JSON
	at   string // in Go, as Type.Field
	typ  reflect.Type
	// owner is the struct that declares it, and declared its Go form.
	owner    reflect.Type
	declared reflect.StructField
	// optional says that JSON may lack it. A nil pointer without omitempty is written as null,
	// which the API server takes for absent.
	optional bool
}

// level is a struct whose fields are promoted to one depth.
type level struct {
	typ      reflect.Type
	at       string
	optional bool // reached through a pointer, which may be nil
}

// fieldsOf returns the fields of a struct by the rules of encoding/json: fields of embedded
// structs count as the struct's own, and of two with one name the shallower wins.
func (b *builder) fieldsOf(t reflect.Type, at string) []field {
	if t.Name() != "" {
		at = typeName(t)
	}
	var fields []field
	named := map[string]field{}
	seen := map[reflect.Type]bool{}
	for levels := []level{{typ: t, at: at}}; len(levels) > 0; {
		var deeper []level
		here := map[string]field{}
		for _, l := range levels {
			if seen[l.typ] {
				continue
			}
			seen[l.typ] = true
			for i := range l.typ.NumField() {
				f, embedded := b.readField(l, l.typ.Field(i))
				if embedded != nil {
					deeper = append(deeper, *embedded)
				}
				if _, shadowed := named[f.name]; f.name == "" || shadowed {
					continue
				}
				if other, ok := here[f.name]; ok {
					b.bad.add(f.at, "writes the same JSON name %q as %s, so that encoding/json writes neither", f.name, other.at)
					continue
				}
				here[f.name] = f
				fields = append(fields, f)
			}
		}
		for name, f := range here {
			named[name] = f
		}
		levels = deeper
	}
	return fields
}

// readField reads one field: it is a field of JSON, an embedded struct, or neither.
func (b *builder) readField(l level, sf reflect.StructField) (field, *level) {
	at := l.at + "." + sf.Name
	tag, tagged := sf.Tag.Lookup("json")
	name, options, _ := strings.Cut(tag, ",")
	_, constrained, tagErr := schemaTag(sf.Tag)
	unused := func(why string) (field, *level) {
		if constrained || tagErr != nil {
			b.bad.add(at, "has a schema tag, but %s", why)
		}
		return field{}, nil
	}
	inner := deref(sf.Type)
	switch {
	case sf.Name == "_":
		return field{}, nil // its tag is about the struct
	case tag == "-":
		return unused(`json:"-" leaves it out`)
	case sf.Anonymous && name == "" && inner.Kind() == reflect.Struct:
		embedded := &level{inner, typeName(inner), l.optional || sf.Type.Kind() == reflect.Pointer}
		unused("it is embedded: constrain the fields in " + typeName(inner))
		return field{}, embedded
	case isFallback(sf.Type, tag):
		return unused("it holds the members without a field: constrain the fields beside it")
	case !sf.IsExported():
		return unused("it is not exported, so that JSON does not have it")
	case !tagged || name == "":
		b.bad.add(at, "has no JSON name; name it as in json:%q, or leave it out with json:\"-\"", lowerCamel(sf.Name))
		return field{}, nil
	}
	f := field{name: name, at: at, typ: sf.Type, owner: l.typ, declared: sf}
	f.optional = l.optional || sf.Type.Kind() == reflect.Pointer
	b.readOptions(&f, strings.Split(options, ","))
	return f, nil
}

// readOptions reads what stands behind the name in a json tag.
func (b *builder) readOptions(f *field, options []string) {
	for _, option := range options {
		switch option {
		case "omitempty", "omitzero":
			f.optional = true
		case "inline", "embed":
			b.bad.add(f.at, "the json option %q works on embedded structs without a name only", option)
		case "string":
			b.bad.add(f.at, "the json option \"string\" hides the type from the schema; use a string field")
		}
	}
}

// isFallback reports whether a field holds the members of an object for which there is no field.
func isFallback(t reflect.Type, tag string) bool {
	return tag == ",embed" && (t.Kind() == reflect.Map || t.Kind() == reflect.Slice)
}

func deref(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}

// lowerCamel suggests a JSON name: HTTPPort becomes httpPort.
func lowerCamel(name string) string {
	upper := 0
	for upper < len(name) && 'A' <= name[upper] && name[upper] <= 'Z' {
		upper++
	}
	if upper > 1 && upper < len(name) {
		upper-- // the last capital begins the next word
	}
	return strings.ToLower(name[:upper]) + name[upper:]
}
