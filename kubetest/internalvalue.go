package kubetest

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// internalValue is a value in a message of a validation. A real server validates its internal types,
// whose fields have no names for JSON, and shows them as Go calls them.
type internalValue struct{ value any }

// MarshalJSON implements json.Marshaler.
func (v internalValue) MarshalJSON() ([]byte, error) {
	return appendInternal(nil, reflect.ValueOf(v.value))
}

// showInternal has the messages of errors show values as a real server does.
func showInternal(errs field.ErrorList) {
	for _, err := range errs {
		if t := reflect.TypeOf(err.BadValue); t != nil && hasInternal(t) {
			err.BadValue = internalValue{err.BadValue}
		}
	}
}

// hasInternal reports whether values of a type are internal ones in a real server.
func hasInternal(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		return hasInternal(t.Elem())
	}
	return t.Kind() == reflect.Struct && strings.HasPrefix(t.PkgPath(), "k8s.io/api/")
}

func appendInternal(to []byte, v reflect.Value) ([]byte, error) {
	if !v.IsValid() || !hasInternal(v.Type()) && v.Kind() != reflect.Interface {
		return appendPlain(to, v)
	}
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return append(to, "null"...), nil
		}
		return appendInternal(to, v.Elem())
	case reflect.Slice:
		if v.IsNil() {
			return append(to, "null"...), nil
		}
		to = append(to, '[')
		for i := range v.Len() {
			if i > 0 {
				to = append(to, ',')
			}
			var err error
			if to, err = appendInternal(to, v.Index(i)); err != nil {
				return nil, err
			}
		}
		return append(to, ']'), nil
	case reflect.Struct:
		to, err := appendFields(append(to, '{'), v)
		return append(to, '}'), err
	}
	return appendPlain(to, v)
}

// appendFields writes the fields of a struct, with those of embedded ones among them.
func appendFields(to []byte, v reflect.Value) ([]byte, error) {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		var err error
		switch {
		case f.Name == "TypeMeta":
			continue
		case f.Anonymous && hasInternal(f.Type):
			to, err = appendFields(to, v.Field(i))
		case f.Anonymous: // ObjectMeta, which has names for JSON
			to, err = appendInlined(to, v.Field(i))
		default:
			to = append(comma(to), fmt.Sprintf("%q:", f.Name)...)
			to, err = appendInternal(to, v.Field(i))
		}
		if err != nil {
			return nil, err
		}
	}
	return to, nil
}

func appendInlined(to []byte, v reflect.Value) ([]byte, error) {
	data, err := json.Marshal(v.Interface())
	if err != nil || string(data) == "{}" {
		return to, err
	}
	return append(comma(to), data[1:len(data)-1]...), nil
}

func appendPlain(to []byte, v reflect.Value) ([]byte, error) {
	if !v.IsValid() {
		return append(to, "null"...), nil
	}
	data, err := json.Marshal(v.Interface())
	return append(to, data...), err
}

// comma separates what comes next from a member before it.
func comma(to []byte) []byte {
	if slices.Contains([]byte("{["), to[len(to)-1]) {
		return to
	}
	return append(to, ',')
}
