package codec

import (
	"errors"
	"fmt"
	"maps"
	"reflect"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// EncodeObject returns obj as [EncodeJSON] does, with apiVersion and kind as given, whatever
// obj holds. A server needs both in the body of a custom resource, and the objects that users
// write rarely have them. obj is not changed.
func EncodeObject(obj any, apiVersion, kind string) ([]byte, error) {
	obj, err := addressable(obj)
	if err != nil {
		return nil, fmt.Errorf("encode %s %s: %w", apiVersion, kind, err)
	}
	if u, ok := obj.(*unstructured.Unstructured); ok {
		return EncodeJSON(&unstructured.Unstructured{Object: typedMap(u.Object, apiVersion, kind)})
	}
	if typed, ok := typedCopy(obj, apiVersion, kind); ok {
		return EncodeJSON(typed)
	}
	return encodeAsIs(obj, apiVersion, kind, false)
}

// addressable returns a pointer to the object that obj is or points to, so that methods with a
// pointer receiver count in both cases.
func addressable(obj any) (any, error) {
	v := reflect.ValueOf(obj)
	if !v.IsValid() {
		return nil, errors.New("there is no object, only nil")
	}
	for v.Kind() == reflect.Pointer && v.Elem().Kind() == reflect.Pointer {
		v = v.Elem()
	}
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return nil, fmt.Errorf("there is no object: the *%s is nil", typeName(v.Type().Elem()))
		}
		return v.Interface(), nil
	}
	p := reflect.New(v.Type())
	p.Elem().Set(v)
	return p.Interface(), nil
}

func typedMap(object map[string]any, apiVersion, kind string) map[string]any {
	if object["apiVersion"] == apiVersion && object["kind"] == kind {
		return object
	}
	typed := make(map[string]any, len(object)+2)
	maps.Copy(typed, object)
	typed["apiVersion"], typed["kind"] = apiVersion, kind
	return typed
}

// typedCopy returns obj, or a shallow copy of it, with apiVersion and kind set. It does so for
// pointers to structs that have both as strings, which is nearly every object there is.
func typedCopy(obj any, apiVersion, kind string) (any, bool) {
	p := reflect.ValueOf(obj)
	if shapeOf(p.Elem().Type()).form != formStruct {
		return nil, false
	}
	v, k := textField(p.Elem().Type(), "apiVersion"), textField(p.Elem().Type(), "kind")
	if v == nil || k == nil {
		return nil, false
	}
	if p.Elem().FieldByIndex(v).String() == apiVersion && p.Elem().FieldByIndex(k).String() == kind {
		return obj, true
	}
	shallow := reflect.New(p.Elem().Type())
	shallow.Elem().Set(p.Elem())
	shallow.Elem().FieldByIndex(v).SetString(apiVersion)
	shallow.Elem().FieldByIndex(k).SetString(kind)
	return shallow.Interface(), true
}

// textField returns the index of t's field of that JSON name, if it is a string that is part
// of t itself, not behind an embedded pointer that a copy of t would share.
func textField(t reflect.Type, name string) []int {
	f := fieldsOf(t).byName[name]
	if f == nil || f.typ.Kind() != reflect.String {
		return nil
	}
	for _, index := range f.index {
		if t.Kind() != reflect.Struct {
			return nil
		}
		t = t.Field(index).Type
	}
	return f.index
}
