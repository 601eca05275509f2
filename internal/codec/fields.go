package codec

import (
	"cmp"
	"encoding/json/jsontext"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// field is a struct field as encoding/json sees it: a member of a JSON object.
type field struct {
	name   string
	prefix string // the quoted name and a colon
	index  []int  // how to reach it, through embedded structs
	typ    reflect.Type
	tagged bool

	omitEmpty, omitZero, quoted bool
}

// of returns the field's value in v, and false where an embedded pointer on the way is nil.
func (f *field) of(v reflect.Value) (reflect.Value, bool) {
	for i, index := range f.index {
		if i > 0 && v.Kind() == reflect.Pointer {
			if v.IsNil() {
				return v, false
			}
			v = v.Elem()
		}
		v = v.Field(index)
	}
	return v, true
}

// structFields are the members of the JSON object that a struct becomes, in their order.
type structFields struct {
	list   []field
	byName map[string]*field
	// rest is the field of a map or of raw JSON whose members are promoted (`json:",embed"`),
	// if there is one.
	rest *field
}

// names returns the members' names.
func (s *structFields) names() []string {
	names := make([]string, len(s.list))
	for i := range s.list {
		names[i] = s.list[i].name
	}
	return names
}

var fieldsCache sync.Map // of reflect.Type to *structFields

// fieldsOf returns the fields of struct type t.
func fieldsOf(t reflect.Type) *structFields {
	if known, ok := fieldsCache.Load(t); ok {
		return known.(*structFields)
	}
	found, _ := fieldsCache.LoadOrStore(t, findFields(t))
	return found.(*structFields)
}

// findFields lists the fields of t and of the structs that it embeds, breadth first, and
// keeps for each name the one that encoding/json keeps: the shallowest, then the tagged one,
// and none where that leaves several.
func findFields(t reflect.Type) *structFields {
	walk := fieldWalk{queue: []embedded{{typ: t, visit: true}}, seen: map[reflect.Type]bool{t: true}}
	for len(walk.queue) > 0 {
		next := walk.queue[0]
		walk.queue = walk.queue[1:]
		for i := range next.typ.NumField() {
			walk.add(next, i)
		}
	}
	all := dominant(walk.found)
	slices.SortFunc(all, func(a, b *field) int { return slices.Compare(a.index, b.index) })
	s := &structFields{list: make([]field, len(all)), byName: make(map[string]*field, len(all)), rest: walk.rest}
	for i, f := range all {
		s.list[i] = *f
		s.byName[f.name] = &s.list[i]
	}
	return s
}

// embedded is a struct whose fields are to be listed.
type embedded struct {
	typ   reflect.Type
	index []int
	visit bool // whether structs embedded in it are followed: a type is entered once only
}

type fieldWalk struct {
	queue []embedded
	seen  map[reflect.Type]bool
	found []*field // pointers: each type that is sorted costs its own copy of the sort in every binary
	rest  *field
}

// add lists field i of parent, or queues it where its own fields are promoted.
func (w *fieldWalk) add(parent embedded, i int) {
	sf := parent.typ.Field(i)
	tag := sf.Tag.Get("json")
	if tag == "-" || !sf.IsExported() && !sf.Anonymous {
		return
	}
	f := field{typ: sf.Type, index: append(slices.Clone(parent.index), i)}
	embed := f.readTag(sf, tag)
	inner := sf.Type
	if inner.Kind() == reflect.Pointer && inner.Name() == "" {
		inner = inner.Elem()
	}
	switch {
	case embed && inner.Kind() == reflect.Struct:
		if parent.visit {
			w.queue = append(w.queue, embedded{inner, f.index, !w.seen[inner]})
		}
		w.seen[inner] = true
	case embed && !sf.Anonymous && (inner == rawValueType || inner.Kind() == reflect.Map && inner.Key().Kind() == reflect.String):
		if w.rest == nil {
			w.rest = &f
		}
	case sf.IsExported() || sf.Anonymous && inner.Kind() == reflect.Struct:
		w.found = append(w.found, &f)
	}
}

var rawValueType = reflect.TypeFor[jsontext.Value]()

// readTag sets what the json tag says, and reports whether the field's own members are
// promoted to the struct around it.
func (f *field) readTag(sf reflect.StructField, tag string) (embed bool) {
	name, options, _ := strings.Cut(tag, ",")
	f.name, f.tagged = name, name != ""
	if !f.tagged {
		f.name = sf.Name
	}
	quoted, _ := jsontext.AppendQuote(nil, f.name)
	f.prefix = string(quoted) + ":"
	embed = sf.Anonymous
	for option := range strings.SplitSeq(options, ",") {
		switch option {
		case "omitempty":
			f.omitEmpty = true
		case "omitzero":
			f.omitZero = true
		case "string":
			f.quoted = true
		case "embed":
			embed = true
		}
	}
	return embed && !f.tagged
}

// dominant keeps, of the fields that share a name, the one that counts.
func dominant(all []*field) []*field {
	slices.SortStableFunc(all, func(a, b *field) int {
		return cmp.Or(strings.Compare(a.name, b.name), cmp.Compare(len(a.index), len(b.index)), untagged(a)-untagged(b))
	})
	var kept []*field
	for len(all) > 0 {
		n := 1
		for n < len(all) && all[n].name == all[0].name {
			n++
		}
		if n == 1 || len(all[0].index) != len(all[1].index) || all[0].tagged != all[1].tagged {
			kept = append(kept, all[0])
		}
		all = all[n:]
	}
	return kept
}

func untagged(f *field) int {
	if f.tagged {
		return 0
	}
	return 1
}
