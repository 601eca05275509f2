package codec

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// step is one part of a path: a field, or what stands in brackets behind it.
type step struct {
	field  string
	choice string // "*", an index, "key=value", or the key of a map
}

// String returns the step as it is written in a path.
func (s step) String() string {
	if s.field == "" {
		return "[" + s.choice + "]"
	}
	return s.field
}

// parsePath reads a path to a field of an object; see [EncodeApply] for the syntax.
func parsePath(path string) ([]step, error) {
	var steps []step
	rest := path
	for rest != "" {
		end := strings.IndexAny(rest, ".[")
		if end < 0 {
			end = len(rest)
		}
		if end == 0 {
			return nil, fmt.Errorf("a field name is missing before %q", rest)
		}
		steps = append(steps, step{field: rest[:end]})
		rest = rest[end:]
		for strings.HasPrefix(rest, "[") {
			choice, after, closed := strings.Cut(rest[1:], "]")
			if !closed || choice == "" {
				return nil, fmt.Errorf("%q needs a closing bracket with a key, an index or * before it", rest)
			}
			steps = append(steps, step{choice: choice})
			rest = after
		}
		if rest == "" {
			break
		}
		if rest[0] != '.' || len(rest) == 1 {
			return nil, fmt.Errorf("a point and a field name are needed, not %q", rest)
		}
		rest = rest[1:]
	}
	if len(steps) == 0 {
		return nil, fmt.Errorf("the path is empty")
	}
	return steps, nil
}

// addZeroes returns the sparse JSON of obj with the zero fields that paths name added to it.
func addZeroes(sparse []byte, obj reflect.Value, isSparse bool, paths []string) ([]byte, error) {
	var object map[string]any
	if err := DecodeJSON(sparse, &object); err != nil {
		return nil, err
	}
	for _, path := range paths {
		if err := (zeroer{sparse: isSparse}).add(object, obj, path); err != nil {
			return nil, fmt.Errorf("zero field %q of %s: %w", path, typeName(obj.Type()), err)
		}
	}
	return EncodeJSON(object)
}

// zeroer adds one zero field. It walks the JSON that was written and the Go value that it was
// written from side by side; the JSON lacks what was left out, and the Go value of what lies
// below a nil pointer is a zero value.
type zeroer struct {
	sparse bool
	// every is set where * has chosen, which may choose values that are set.
	every bool
}

// add sends the field that a path names.
func (z zeroer) add(object map[string]any, obj reflect.Value, path string) error {
	if path == "metadata.managedFields" || strings.HasPrefix(path, "metadata.managedFields[") {
		return errors.New("the server refuses an apply that has managedFields")
	}
	steps, err := parsePath(path)
	if err != nil {
		return err
	}
	return z.field(object, obj, steps)
}

// field follows steps, the first of which is a field of struct v, whose JSON is object.
func (z zeroer) field(object map[string]any, v reflect.Value, steps []step) error {
	name := steps[0].field
	f := fieldsOf(v.Type()).byName[name]
	if name == "" || f == nil {
		return unknownField(v.Type(), steps[0])
	}
	value, ok := f.of(v)
	if !ok {
		value = reflect.Zero(f.typ)
	}
	if len(steps) == 1 {
		return z.set(object, f, value)
	}
	value = pointedTo(value)
	child, err := z.descend(object[name], value, steps[1:])
	if err != nil {
		return err
	}
	object[name] = child
	return nil
}

// descend follows steps into v and returns its JSON, changed.
func (z zeroer) descend(node any, v reflect.Value, steps []step) (any, error) {
	name := steps[0].field
	switch shapeOf(v.Type()).form {
	case formStruct:
		object, ok := node.(map[string]any)
		if !ok {
			object = make(map[string]any)
		}
		return object, z.field(object, v, steps)
	case formSlice, formArray:
		if name != "" {
			return nil, fmt.Errorf("%s has no field %q; choose its elements with [key=value], [index] or [*]", typeName(v.Type()), name)
		}
		return node, z.elements(node, v, steps)
	case formMap:
		if name != "" {
			return nil, fmt.Errorf("%s has no field %q; choose its values with [key] or [*]", typeName(v.Type()), name)
		}
		return node, z.entries(node, v, steps)
	}
	return nil, fmt.Errorf("nothing inside of %s can be named", typeName(v.Type()))
}

// elements follows steps into the elements of a list that the first step chooses.
func (z zeroer) elements(node any, list reflect.Value, steps []step) error {
	z.every = z.every || steps[0].choice == "*"
	items, _ := node.([]any)
	found := false
	for i := range items {
		element := pointedTo(list.Index(i))
		chosen, err := chooses(steps[0].choice, i, element)
		if err != nil {
			return err
		}
		if !chosen {
			continue
		}
		found = true
		if len(steps) == 1 {
			continue // elements are sent, zero or not
		}
		if items[i], err = z.descend(items[i], element, steps[1:]); err != nil {
			return err
		}
	}
	if !found {
		return fmt.Errorf("no element of the list is [%s]; it has %d", steps[0].choice, len(items))
	}
	return nil
}

// chooses reports whether a choice means element i.
func chooses(choice string, i int, element reflect.Value) (bool, error) {
	if choice == "*" || choice == strconv.Itoa(i) {
		return true, nil
	}
	if !strings.Contains(choice, "=") {
		if _, err := strconv.ParseUint(choice, 10, 31); err != nil {
			return false, fmt.Errorf("[%s] is no index, no * and no key=value", choice)
		}
		return false, nil
	}
	for pair := range strings.SplitSeq(choice, ",") {
		name, want, _ := strings.Cut(pair, "=")
		if element.Kind() != reflect.Struct {
			return false, fmt.Errorf("[%s] needs elements with fields, not %s", choice, typeName(element.Type()))
		}
		f := fieldsOf(element.Type()).byName[name]
		if f == nil {
			return false, unknownField(element.Type(), step{field: name})
		}
		value, ok := f.of(element)
		if !ok || fmt.Sprint(pointedTo(value)) != want {
			return false, nil
		}
	}
	return true, nil
}

// entries follows steps into the values of a map that the first step chooses.
func (z zeroer) entries(node any, m reflect.Value, steps []step) error {
	z.every = z.every || steps[0].choice == "*"
	object, _ := node.(map[string]any)
	found := false
	for it := m.MapRange(); it.Next(); {
		key, err := keyText(it.Key())
		if err != nil {
			return err
		}
		if steps[0].choice != "*" && steps[0].choice != key {
			continue
		}
		found = true
		if len(steps) == 1 {
			continue // values of maps are sent, zero or not
		}
		if object[key], err = z.descend(object[key], pointedTo(it.Value()), steps[1:]); err != nil {
			return err
		}
	}
	if !found {
		return fmt.Errorf("the map has no key %q; what a map has is sent, zero or not", steps[0].choice)
	}
	return nil
}

// set sends the zero value of a field.
func (z zeroer) set(object map[string]any, f *field, v reflect.Value) error {
	v = pointedTo(v)
	_, sent := object[f.name]
	switch {
	case !isEmpty(v) && !z.every:
		return fmt.Errorf("it is set%s, which is sent anyway", shown(v))
	case !isEmpty(v) || sent:
		return nil
	}
	w, s := applyWriter{sparse: z.sparse}, shapeOf(v.Type())
	if err := w.value(s, notNil(v)); err != nil {
		return err
	}
	if f.quoted {
		w.quote(s, 0)
	}
	var node any
	if err := DecodeJSON(w.buf, &node); err != nil {
		return err
	}
	object[f.name] = node
	return nil
}

// notNil returns an empty list or map in place of a nil one, which would be null.
func notNil(v reflect.Value) reflect.Value {
	switch {
	case encodesItself(v.Type()):
		return v
	case v.Kind() == reflect.Slice:
		return reflect.MakeSlice(v.Type(), 0, 0)
	case v.Kind() == reflect.Map:
		return reflect.MakeMap(v.Type())
	}
	return v
}

// shown returns words for a value that is short and no text, which may be a secret.
func shown(v reflect.Value) string {
	switch {
	case v.Kind() == reflect.Bool, v.CanInt(), v.CanUint(), v.CanFloat():
		return fmt.Sprint(" to ", v)
	}
	return ""
}

// isEmpty reports whether v is zero, or a list or map without anything in it.
func isEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Slice, reflect.Map:
		return v.Len() == 0
	}
	return v.IsZero()
}

// pointedTo follows pointers; what a nil pointer points to is taken as the zero value.
func pointedTo(v reflect.Value) reflect.Value {
	for v.Kind() == reflect.Pointer {
		if v.IsNil() {
			v = reflect.Zero(v.Type().Elem())
			continue
		}
		v = v.Elem()
	}
	return v
}

func unknownField(t reflect.Type, s step) error {
	names := fieldsOf(t).names()
	if s.field == "" {
		return fmt.Errorf("%s is no list and no map: [%s] cannot follow it", typeName(t), s.choice)
	}
	if near := nearest(s.field, names); near != "" {
		return fmt.Errorf("%s has no field %q; did you mean %q?", typeName(t), s.field, near)
	}
	return fmt.Errorf("%s has no field %q, only %s", typeName(t), s.field, strings.Join(names, ", "))
}
