package resource

import (
	"encoding"
	"encoding/json/v2"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Partial describes the kind that of describes, with a Go type of the caller's that has fewer
// fields: those that a program reads, of a kind whose whole is large.
//
//	// AppConfig is a ConfigMap of which only two fields matter.
//	type AppConfig struct {
//		metav1.TypeMeta   `json:",inline"`
//		metav1.ObjectMeta `json:"metadata,omitempty"`
//
//		Data      map[string]string `json:"data,omitempty"`
//		Immutable *bool             `json:"immutable,omitempty"`
//	}
//
//	var AppConfigs = resource.Partial[AppConfig](core.ConfigMaps)
//
// Requests go to the same paths. Objects travel as JSON, since the protobuf decoder is that of the
// whole type; the server sends them whole, and what K has no field for is passed over. A cache
// keeps what the server sends: a Modify function of its reflector, which may do nothing, has it
// keep the fields of K alone.
//
// Apply and Patch write the fields that they name, and leave the others alone. Under Apply the
// json tags of K rule, as in custom resources: a field without omitempty or omitzero is always
// sent. Create sends what K has. Replace would remove the fields that K lacks, and is an error, of
// the status too.
//
// Each field of K has to be one of the whole type, by its JSON name, with a Go type that reads
// the same JSON. Using the descriptor panics where one is not, and names all of them. Types that
// read their JSON by a method of their own are taken on trust.
func Partial[K any, P ObjectPtr[K], B any](of Namespaced[B]) Namespaced[K] {
	return Namespaced[K]{partialOf[K, B](of.d)}
}

// PartialCluster is [Partial] for cluster-scoped kinds.
func PartialCluster[K any, P ObjectPtr[K], B any](of Cluster[B]) Cluster[K] {
	return Cluster[K]{partialOf[K, B](of.d)}
}

func partialOf[K, B any](base *definition) *definition {
	return &definition{scope: base.scope, partial: func() Descriptor {
		if err := comparePartial(reflect.TypeFor[K](), reflect.TypeFor[B]()); err != nil {
			panic(fmt.Sprintf("resource: %s is no part of %s:\n%v", reflect.TypeFor[K](), reflect.TypeFor[B](), err))
		}
		d := base.completed().whole
		d.Partial, d.Protobuf, d.unmarshal = true, false, nil
		return d
	}}
}

// comparePartial reports which fields of part read other JSON than whole writes.
func comparePartial(part, whole reflect.Type) error {
	c := &partialCheck{seen: map[[2]reflect.Type]bool{}}
	if part.Kind() != reflect.Struct {
		return fmt.Errorf("%s is not a struct", part)
	}
	c.compare(part.Name(), part, whole)
	return errors.Join(c.errs...)
}

// partialCheck compares two types by the JSON that they read.
type partialCheck struct {
	seen map[[2]reflect.Type]bool
	errs []error
}

func (c *partialCheck) compare(at string, part, whole reflect.Type) {
	part, whole = pointee(part), pointee(whole)
	pair := [2]reflect.Type{part, whole}
	isAny := part.Kind() == reflect.Interface && part.NumMethod() == 0 || whole.Kind() == reflect.Interface
	if part == whole || c.seen[pair] || isAny || readsItself(part) || readsItself(whole) {
		return
	}
	c.seen[pair] = true
	a, b := jsonShape(part), jsonShape(whole)
	switch {
	case part.Kind() == reflect.Struct && whole.Kind() == reflect.Struct:
		c.compareFields(at, part, whole)
	case part.Kind() == reflect.Struct && whole.Kind() == reflect.Map:
		for _, f := range jsonFields(part, nil) {
			c.compare(at+"."+f.field, f.typ, whole.Elem())
		}
	case a != b || a == "":
		c.errs = append(c.errs, fmt.Errorf("%s is a %s, and %s reads other JSON", at, part, whole))
	case a == "list" || a == "map":
		c.compare(at+"[]", part.Elem(), whole.Elem())
	}
}

func (c *partialCheck) compareFields(at string, part, whole reflect.Type) {
	known := jsonFields(whole, nil)
	for _, f := range jsonFields(part, nil) {
		i := slices.IndexFunc(known, func(k jsonField) bool { return k.name == f.name })
		if i < 0 {
			var names []string
			for _, k := range known {
				names = append(names, k.name)
			}
			slices.Sort(names)
			c.errs = append(c.errs, fmt.Errorf("%s.%s: %s has no field %q in JSON, only %s", at, f.field, whole, f.name, strings.Join(names, ", ")))
			continue
		}
		c.compare(at+"."+f.field, f.typ, known[i].typ)
	}
}

// jsonField is a field of a struct as encoding/json sees it.
type jsonField struct {
	name, field string
	typ         reflect.Type
}

// jsonFields returns the fields of a struct and of those embedded in it. open are the structs that
// it is embedded in.
func jsonFields(t reflect.Type, open []reflect.Type) (fields []jsonField) {
	if slices.Contains(open, t) {
		return nil
	}
	for f := range t.Fields() {
		tag := f.Tag.Get("json")
		name, _, _ := strings.Cut(tag, ",")
		inner := pointee(f.Type)
		switch {
		case tag == "-":
		case f.Anonymous && name == "" && inner.Kind() == reflect.Struct:
			fields = append(fields, jsonFields(inner, append(open, t))...)
		case !f.IsExported():
		case name == "":
			fields = append(fields, jsonField{f.Name, f.Name, f.Type})
		default:
			fields = append(fields, jsonField{name, f.Name, f.Type})
		}
	}
	return fields
}

func pointee(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

// jsonShape names what JSON a type has by its kind, or nothing where encoding/json has none for it.
func jsonShape(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "boolean"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "integer"
	case reflect.Float32, reflect.Float64:
		return "number"
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 {
			return "string" // of base64
		}
		return "list"
	case reflect.Map:
		return "map"
	case reflect.Struct:
		return "struct"
	}
	return ""
}

// readsItself reports whether a type has a method that reads its JSON or text.
func readsItself(t reflect.Type) bool {
	pointer := reflect.PointerTo(t)
	return pointer.Implements(reflect.TypeFor[json.Unmarshaler]()) ||
		pointer.Implements(reflect.TypeFor[json.UnmarshalerFrom]()) ||
		pointer.Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}
