package codec

import (
	"encoding"
	jsonv1 "encoding/json"
	"encoding/json/v2"
	"reflect"
	"sync"
)

// form is how a Go type is written.
type form uint8

const (
	formOther  form = iota // by encoding/json: types with methods, interfaces, bytes, floats
	formString             // the rest by their kind
	formBool
	formInt
	formUint
	formPointer
	formSlice
	formArray
	formMap
	formStruct
)

// shape is what the writer of applies knows of a Go type. It is found once per type.
type shape struct {
	typ  reflect.Type
	form form

	// The rest is filled in by load.
	once    sync.Once
	elem    *shape   // of a pointer, slice, array or map
	members []member // of a struct
	rest    *field
}

// member is a field with the shape of its type.
type member struct {
	*field
	shape *shape
	// zeroer says that the type has an IsZero method, which `omitzero` asks.
	zeroer bool
}

var shapeCache sync.Map // of reflect.Type to *shape

// shapeOf returns the shape of t.
func shapeOf(t reflect.Type) *shape {
	if known, ok := shapeCache.Load(t); ok {
		return known.(*shape)
	}
	found, _ := shapeCache.LoadOrStore(t, &shape{typ: t, form: formOf(t)})
	return found.(*shape)
}

// load returns s with everything filled in. That is done at the first use and not by shapeOf,
// since types refer to themselves.
func (s *shape) load() *shape {
	s.once.Do(func() {
		switch s.form {
		case formPointer, formSlice, formArray, formMap:
			s.elem = shapeOf(s.typ.Elem())
		case formStruct:
			s.loadMembers()
		}
	})
	return s
}

func (s *shape) loadMembers() {
	fields := fieldsOf(s.typ)
	s.rest = fields.rest
	s.members = make([]member, len(fields.list))
	for i := range fields.list {
		f := &fields.list[i]
		s.members[i] = member{field: f, shape: shapeOf(f.typ), zeroer: f.omitZero && hasMethod(f.typ, isZeroer)}
	}
}

var (
	isZeroer        = reflect.TypeFor[interface{ IsZero() bool }]()
	jsonMarshaler   = reflect.TypeFor[jsonv1.Marshaler]()
	jsonMarshalerTo = reflect.TypeFor[json.MarshalerTo]()
	textMarshaler   = reflect.TypeFor[encoding.TextMarshaler]()
	textAppender    = reflect.TypeFor[encoding.TextAppender]()
)

func formOf(t reflect.Type) form {
	if t.Kind() == reflect.Pointer {
		return formPointer
	}
	if encodesItself(t) {
		return formOther
	}
	switch t.Kind() {
	case reflect.String:
		return formString
	case reflect.Bool:
		return formBool
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return formInt
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return formUint
	case reflect.Slice, reflect.Array:
		return formOfList(t)
	case reflect.Map:
		return formMap
	case reflect.Struct:
		return formStruct
	}
	return formOther
}

// formOfList leaves bytes to encoding/json, which writes them as base64.
func formOfList(t reflect.Type) form {
	switch {
	case t.Elem().Kind() == reflect.Uint8:
		return formOther
	case t.Kind() == reflect.Array:
		return formArray
	}
	return formSlice
}

// encodesItself reports whether t or a pointer to it has a method that writes JSON or text.
func encodesItself(t reflect.Type) bool {
	return hasMethod(t, jsonMarshaler) || hasMethod(t, jsonMarshalerTo) || hasMethod(t, textMarshaler) || hasMethod(t, textAppender)
}

// hasMethod reports whether t, or a pointer to it, implements iface.
func hasMethod(t, iface reflect.Type) bool {
	return t.Implements(iface) || t.Kind() != reflect.Interface && reflect.PointerTo(t).Implements(iface)
}
