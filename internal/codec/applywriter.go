package codec

import (
	"encoding"
	"encoding/json/jsontext"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// maxDepth is how deep values may be nested, which is also the limit of encoding/json.
const maxDepth = 10000

var errTooDeep = errors.New("nested too deep; does the value contain itself?")

// applyWriter writes the sparse JSON of one object.
type applyWriter struct {
	buf []byte
	// sparse leaves out every zero field; otherwise the tags are asked.
	sparse bool
	// inMetadata is set while the metadata of the object itself is entered.
	inMetadata bool
	depth      int
}

// root writes the object itself, whose apiVersion and kind are given.
func (w *applyWriter) root(v reflect.Value, apiVersion, kind string) error {
	s := shapeOf(v.Type()).load()
	w.buf = append(w.buf, `{"apiVersion":`...)
	w.text(apiVersion)
	w.buf = append(w.buf, `,"kind":`...)
	w.text(kind)
	w.buf = append(w.buf, ',')
	for i := range s.members {
		m := &s.members[i]
		if m.name == "apiVersion" || m.name == "kind" {
			continue
		}
		w.inMetadata = m.name == "metadata"
		if err := w.member(m, v); err != nil {
			return err
		}
	}
	return w.end(s, v)
}

// object writes a struct.
func (w *applyWriter) object(s *shape, v reflect.Value) error {
	metadata := w.inMetadata
	w.inMetadata = false
	w.buf = append(w.buf, '{')
	for i := range s.members {
		m := &s.members[i]
		if metadata && m.name == "managedFields" {
			continue
		}
		if err := w.member(m, v); err != nil {
			return err
		}
	}
	return w.end(s, v)
}

// end writes the promoted members of a map, if s has such a field, and the closing brace.
func (w *applyWriter) end(s *shape, v reflect.Value) error {
	if s.rest != nil {
		if err := w.promote(s.rest, v); err != nil {
			return err
		}
	}
	w.closeWith('}')
	return nil
}

// closeWith puts c in place of the comma after the last member or element.
func (w *applyWriter) closeWith(c byte) {
	if last := len(w.buf) - 1; w.buf[last] == ',' {
		w.buf[last] = c
		return
	}
	w.buf = append(w.buf, c)
}

// member writes one field of v and a comma, unless it says nothing.
func (w *applyWriter) member(m *member, v reflect.Value) error {
	value, ok := m.of(v)
	if !ok || w.omits(m, value) {
		return nil
	}
	start := len(w.buf)
	w.buf = append(w.buf, m.prefix...)
	content := len(w.buf)
	if err := w.value(m.shape, value); err != nil {
		return within(m.name, err)
	}
	if w.saysNothing(m.shape, content) {
		w.buf = w.buf[:start]
		return nil
	}
	if m.quoted {
		w.quote(m.shape, content)
	}
	w.buf = append(w.buf, ',')
	return nil
}

// omits decides by the field's tag and its value, before it is written.
func (w *applyWriter) omits(m *member, v reflect.Value) bool {
	switch m.shape.typ.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return true
		}
	case reflect.Slice, reflect.Map:
		if v.IsNil() || m.omitEmpty && v.Len() == 0 {
			return true
		}
	case reflect.Array:
		if m.omitEmpty && v.Len() == 0 || (w.sparse || m.omitZero) && v.IsZero() {
			return true
		}
	case reflect.Struct:
		if v.IsZero() {
			return true
		}
	default:
		if (w.sparse || m.omitEmpty || m.omitZero) && v.IsZero() {
			return true
		}
	}
	return m.zeroer && reportsZero(v)
}

// saysNothing reports whether what was written from start on would only make the manager own
// a field without saying what it should be: a struct without a member, or null.
func (w *applyWriter) saysNothing(s *shape, start int) bool {
	written := w.buf[start:]
	return s.form == formStruct && string(written) == "{}" || string(written) == "null"
}

// reportsZero asks v's IsZero method. v is not nil.
func reportsZero(v reflect.Value) bool {
	if inner := v; v.Kind() == reflect.Interface {
		if inner = v.Elem(); inner.Kind() == reflect.Pointer && inner.IsNil() {
			return true
		}
	}
	if z, ok := v.Interface().(interface{ IsZero() bool }); ok {
		return z.IsZero()
	}
	if !v.CanAddr() {
		p := reflect.New(v.Type())
		p.Elem().Set(v)
		v = p.Elem()
	}
	return v.Addr().Interface().(interface{ IsZero() bool }).IsZero()
}

// quote makes a string of the scalar written from start on, for `json:",string"`.
func (w *applyWriter) quote(s *shape, start int) {
	if s.form == formPointer {
		s = s.load().elem
	}
	switch {
	case s.form == formString, s.form == formBool, s.form == formInt, s.form == formUint,
		s.typ.Kind() == reflect.Float32, s.typ.Kind() == reflect.Float64:
		scalar := string(w.buf[start:])
		w.buf = w.buf[:start]
		w.text(scalar)
	}
}

// value writes any value, zero or not.
func (w *applyWriter) value(s *shape, v reflect.Value) error {
	switch s.form {
	case formString:
		w.text(v.String())
	case formBool:
		w.buf = strconv.AppendBool(w.buf, v.Bool())
	case formInt:
		w.buf = strconv.AppendInt(w.buf, v.Int(), 10)
	case formUint:
		w.buf = strconv.AppendUint(w.buf, v.Uint(), 10)
	case formOther:
		return w.other(v)
	default:
		return w.composite(s.load(), v)
	}
	return nil
}

func (w *applyWriter) composite(s *shape, v reflect.Value) error {
	if w.depth++; w.depth > maxDepth {
		return errTooDeep
	}
	defer func() { w.depth-- }()
	switch s.form {
	case formStruct:
		return w.object(s, v)
	case formArray:
		return w.array(s, v)
	}
	if v.IsNil() {
		w.buf = append(w.buf, "null"...)
		return nil
	}
	switch s.form {
	case formPointer:
		return w.value(s.elem, v.Elem())
	case formSlice:
		return w.array(s, v)
	default:
		return w.mapping(s, v)
	}
}

func (w *applyWriter) array(s *shape, v reflect.Value) error {
	w.buf = append(w.buf, '[')
	for i := range v.Len() {
		if err := w.value(s.elem, v.Index(i)); err != nil {
			return within(strconv.Itoa(i), err)
		}
		w.buf = append(w.buf, ',')
	}
	w.closeWith(']')
	return nil
}

// mapping writes a map, in the order of its keys.
func (w *applyWriter) mapping(s *shape, v reflect.Value) error {
	type entry struct {
		key   string
		value reflect.Value
	}
	entries := make([]*entry, 0, v.Len())
	for it := v.MapRange(); it.Next(); {
		key, err := keyText(it.Key())
		if err != nil {
			return err
		}
		entries = append(entries, &entry{key, it.Value()})
	}
	slices.SortFunc(entries, func(a, b *entry) int { return strings.Compare(a.key, b.key) })
	w.buf = append(w.buf, '{')
	for _, e := range entries {
		w.text(e.key)
		w.buf = append(w.buf, ':')
		if err := w.value(s.elem, e.value); err != nil {
			return within(e.key, err)
		}
		w.buf = append(w.buf, ',')
	}
	w.closeWith('}')
	return nil
}

// keyText returns the member name for a map key, by the rules of encoding/json.
func keyText(key reflect.Value) (string, error) {
	if key.Kind() == reflect.String {
		return key.String(), nil
	}
	if m, ok := key.Interface().(encoding.TextMarshaler); ok {
		text, err := m.MarshalText()
		return string(text), err
	}
	switch {
	case key.CanInt():
		return strconv.FormatInt(key.Int(), 10), nil
	case key.CanUint():
		return strconv.FormatUint(key.Uint(), 10), nil
	}
	return "", fmt.Errorf("a map key of Go type %s has no JSON form", typeName(key.Type()))
}

// promote writes the members of a field that stands for the rest of the object.
func (w *applyWriter) promote(f *field, v reflect.Value) error {
	value, ok := f.of(v)
	if !ok {
		return nil
	}
	data, err := marshal(value.Interface())
	if err != nil {
		return within(f.name, err)
	}
	if inner := strings.TrimSuffix(strings.TrimPrefix(string(data), "{"), "}"); inner != "" && inner != "null" {
		w.buf = append(append(w.buf, inner...), ',')
	}
	return nil
}

// other leaves a value to encoding/json. A pointer is handed over where there is one, since
// methods may need it.
func (w *applyWriter) other(v reflect.Value) error {
	value := v.Interface
	if v.CanAddr() {
		value = v.Addr().Interface
	}
	data, err := marshal(value())
	w.buf = append(w.buf, data...)
	return err
}

// text writes a JSON string. Invalid UTF-8 becomes U+FFFD, as in encoding/json.
func (w *applyWriter) text(s string) {
	w.buf, _ = jsontext.AppendQuote(w.buf, s)
}

// locatedError is an error with the names and indexes that lead to it, innermost first.
type locatedError struct {
	path []string
	err  error
}

func (e *locatedError) Error() string { return e.err.Error() }
func (e *locatedError) Unwrap() error { return e.err }

// pointer returns the path as a JSON pointer.
func (e *locatedError) pointer() jsontext.Pointer {
	var p jsontext.Pointer
	for _, name := range slices.Backward(e.path) {
		p = p.AppendToken(name)
	}
	return p
}

// within adds name to the path of err.
func within(name string, err error) error {
	located, ok := err.(*locatedError)
	if !ok {
		located = &locatedError{err: err}
	}
	located.path = append(located.path, name)
	return located
}
