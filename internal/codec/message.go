package codec

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	apiresource "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// fieldForm is how a field of a message is written and what holds it.
type fieldForm uint8

const (
	fieldNone fieldForm = iota // there is no such field

	// Written as a number.
	fieldBool
	fieldInt32
	fieldInt64
	fieldFloat64

	// Written as a piece of bytes.
	fieldString
	fieldBytes
	fieldMessage
	fieldTime
	fieldMicroTime
	fieldQuantity
	fieldList // a message that has nothing but strings, numbered 1, and is a []string

	// A map is written as a list of messages with the fields 1 and 2.
	fieldMap
	fieldStringMap
	fieldBytesMap
	fieldQuantityMap
)

// message is how a Go struct is read from protobuf, as the tags of its fields say.
type message struct {
	typ    reflect.Type
	fields []messageField // by number; those that do not exist have fieldNone
}

// messageField is a field of a message. What every value needs stands together, and is small.
type messageField struct {
	form  fieldForm // of one value
	list  bool      // there can be many values, in a slice
	ptr   bool      // the value is behind a pointer
	plain bool      // it is a string, and nothing else
	isMap bool

	offset uint32   // in the struct
	size   uint32   // of a value
	sub    *message // of fieldMessage
	*fieldTypes
}

// fieldTypes is what is looked at more rarely.
type fieldTypes struct {
	name string // in the message
	typ  reflect.Type
	// elem is the type of the value: what typ is a slice of, points to, or is itself.
	elem  reflect.Type
	value *messageField // of fieldMap: how values are read
}

// found is the plan for a type, or why there is none.
type found struct {
	message *message
	err     error
}

var messages typeCache[found]

// messageOf returns how t, a struct, is read.
func messageOf(t reflect.Type) (*message, error) {
	f := messages.get(t, func(t reflect.Type) found {
		if !isMessage(reflect.PointerTo(t)) {
			return found{err: errNoMessage}
		}
		m, err := planner{}.message(t)
		return found{m, err}
	})
	return f.message, f.err
}

var errNoMessage = errors.New("the type has no protobuf form; ask the server for JSON")

// planner makes the plans of a type and of all that it holds, which may be itself.
type planner map[reflect.Type]*message

func (p planner) message(t reflect.Type) (*message, error) {
	if m := p[t]; m != nil {
		return m, nil
	}
	if inner, ok := onlyEmbeds(t); ok {
		return p.message(inner) // at the same address
	}
	m := &message{typ: t}
	p[t] = m
	for i := range t.NumField() {
		if err := p.add(m, t.Field(i)); err != nil {
			return nil, fmt.Errorf("field %s of Go type %s has no protobuf form here: %w", t.Field(i).Name, typeName(t), err)
		}
	}
	return m, nil
}

// onlyEmbeds reports whether t is a struct that has nothing but another one embedded, of which it
// takes the form.
func onlyEmbeds(t reflect.Type) (reflect.Type, bool) {
	if t.NumField() != 1 || !t.Field(0).Anonymous || t.Field(0).Type.Kind() != reflect.Struct {
		return nil, false
	}
	_, tagged := t.Field(0).Tag.Lookup("protobuf")
	return t.Field(0).Type, !tagged
}

// mostFields bounds the numbers of fields, which index a slice.
const mostFields = 1 << 12

func (p planner) add(m *message, f reflect.StructField) error {
	tag, ok := f.Tag.Lookup("protobuf")
	if !ok || tag == "-" {
		return nil // apiVersion and kind, and what exists in Go alone
	}
	parts := strings.Split(tag, ",")
	number := 0
	if len(parts) > 1 {
		number, _ = strconv.Atoi(parts[1])
	}
	if number < 1 || number > mostFields {
		return fmt.Errorf("its tag %q has no number from 1 to %d", tag, mostFields)
	}
	field := messageField{offset: uint32(f.Offset), fieldTypes: &fieldTypes{name: f.Name, typ: f.Type, elem: f.Type}}
	for _, part := range parts {
		if name, ok := strings.CutPrefix(part, "name="); ok {
			field.name = name
		}
	}
	switch {
	case f.Type.Kind() == reflect.Pointer:
		field.ptr, field.elem = true, f.Type.Elem()
	case f.Type.Kind() == reflect.Slice && !oneValue(f.Type):
		field.list, field.elem = true, f.Type.Elem()
	}
	if err := p.value(&field); err != nil {
		return err
	}
	field.size = uint32(field.elem.Size())
	field.plain = field.form == fieldString && !field.list && !field.ptr
	field.isMap = f.Type.Kind() == reflect.Map
	if missing := number + 1 - len(m.fields); missing > 0 {
		m.fields = append(m.fields, make([]messageField, missing)...)
	}
	m.fields[number] = field
	return nil
}

// oneValue reports whether a slice is written as one value: bytes are, and so is a []string that has a
// name, which is a message of its own. What tags say about repetition is not always true.
func oneValue(t reflect.Type) bool {
	return t.Elem().Kind() == reflect.Uint8 || t.Elem().Kind() == reflect.String && t.Name() != ""
}

// value finds out how values of field are written.
func (p planner) value(field *messageField) (err error) {
	switch t := field.elem; t.Kind() {
	case reflect.Bool:
		field.form = fieldBool
	case reflect.Int32:
		field.form = fieldInt32
	case reflect.Int64:
		field.form = fieldInt64
	case reflect.Float64:
		field.form = fieldFloat64
	case reflect.String:
		field.form = fieldString
	case reflect.Slice:
		return sliceValue(field)
	case reflect.Struct:
		return p.structValue(field)
	case reflect.Map:
		return p.mapValue(field)
	default:
		return fmt.Errorf("there is none for Go type %s", typeName(t))
	}
	if field.list && field.form == fieldFloat64 {
		return fmt.Errorf("there is none for lists of %s", typeName(field.elem))
	}
	return nil
}

func sliceValue(field *messageField) error {
	switch t := field.elem; {
	case field.list || field.ptr || !oneValue(t):
		return fmt.Errorf("there is none for Go type %s", typeName(field.typ))
	case t.Elem().Kind() == reflect.Uint8:
		field.form = fieldBytes
	default:
		field.form = fieldList
	}
	return nil
}

func (p planner) structValue(field *messageField) (err error) {
	switch field.elem {
	case reflect.TypeFor[metav1.Time]():
		field.form = fieldTime
	case reflect.TypeFor[metav1.MicroTime]():
		field.form = fieldMicroTime
	case reflect.TypeFor[apiresource.Quantity]():
		field.form = fieldQuantity
	default:
		field.form = fieldMessage
		if field.sub, err = p.message(field.elem); err == nil && field.sub.typ != field.elem {
			err = fmt.Errorf("%s does nothing but embed another message", typeName(field.elem))
		}
	}
	return err
}

func (p planner) mapValue(field *messageField) error {
	t := field.elem
	if t.Key().Kind() != reflect.String || field.list || field.ptr {
		return fmt.Errorf("there is none for Go type %s", typeName(t))
	}
	switch value := t.Elem(); {
	case value.Kind() == reflect.String:
		field.form = fieldStringMap
	case value.Kind() == reflect.Slice && value.Elem().Kind() == reflect.Uint8:
		field.form = fieldBytesMap
	case value == reflect.TypeFor[apiresource.Quantity]():
		field.form = fieldQuantityMap
	case value.Kind() == reflect.Struct || value.Kind() == reflect.Slice:
		field.form = fieldMap
		field.value = &messageField{fieldTypes: &fieldTypes{name: "value", typ: value, elem: value}}
		return p.value(field.value)
	default:
		return fmt.Errorf("there is none for Go type %s", typeName(t))
	}
	return nil
}
