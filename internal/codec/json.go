package codec

import (
	jsonv1 "encoding/json"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// encodeOptions are what encoding/json uses, spelled out where the bytes depend on it:
// sorted map keys, null for nil slices and maps, and the escapes for HTML and JavaScript
// that the API server writes too.
var encodeOptions = json.JoinOptions(
	jsonv1.DefaultOptionsV1(),
	json.Deterministic(true),
	jsontext.EscapeForHTML(true),
	jsontext.EscapeForJS(true),
)

// locateOptions encode to the same bytes, but an error says where it happened.
var locateOptions = json.JoinOptions(encodeOptions, jsonv1.ReportErrorsWithLegacySemantics(false))

// EncodeJSON returns obj as Kubernetes' JSON: byte for byte what the API server's serializer
// writes, without the newline at the end. obj is a pointer to an object, or any other value
// that encoding/json takes. apiVersion and kind are written as obj holds them; see
// [EncodeObject] to set them.
func EncodeJSON(obj any) ([]byte, error) {
	// Its MarshalJSON gives the same bytes, but encodes twice.
	if u, ok := obj.(*unstructured.Unstructured); ok && u != nil {
		return encode(u.Object, obj)
	}
	return encode(obj, obj)
}

// encode returns the JSON of v, which stands for obj in errors.
func encode(v, obj any) ([]byte, error) {
	data, err := marshal(v)
	if err != nil {
		return nil, explain("encode", reflect.TypeOf(obj), err)
	}
	return data, nil
}

func marshal(v any) ([]byte, error) {
	data, err := json.Marshal(v, encodeOptions)
	if err == nil {
		return data, nil
	}
	// The errors of encoding/json do not say where, so a failure is worth a second try.
	if _, located := json.Marshal(v, locateOptions); located != nil {
		err = located
	}
	return nil, err
}

// DecodeJSON reads Kubernetes' JSON into the value that into points to, as encoding/json does,
// with the two differences of the API machinery (sigs.k8s.io/json): names match by case, and a
// number goes into an interface value as int64 where it is one, as float64 otherwise. Unknown
// fields are ignored, and of duplicate ones the last counts: newer servers send fields that
// older types do not have. An unstructured.Unstructured may lack a kind.
//
// After an error the value may hold a part of the data. The error names the JSON pointer, the
// Go type and what is wrong.
func DecodeJSON(data []byte, into any) error {
	t, err := target(into)
	if err != nil {
		return fmt.Errorf("decode JSON: %w", err)
	}
	if u, ok := into.(*unstructured.Unstructured); ok {
		return decodeUnstructured(data, u)
	}
	v := reflect.ValueOf(into).Elem()
	if v.IsZero() {
		if readJSON(data, v) {
			return nil
		}
		v.SetZero()
	}
	if err := json.Unmarshal(data, into, traitsOf(t).options()); err != nil {
		return explainDecode(t, data, err)
	}
	return nil
}

// target returns the type of the value that into points to.
func target(into any) (reflect.Type, error) {
	t := reflect.TypeOf(into)
	switch {
	case t == nil:
		return nil, fmt.Errorf("there is nothing to decode into: a pointer is needed, not nil")
	case t.Kind() != reflect.Pointer:
		return nil, fmt.Errorf("a pointer to decode into is needed, not a %s", typeName(t))
	case isNil(into):
		return nil, fmt.Errorf("the *%s to decode into is nil", typeName(t.Elem()))
	}
	return t.Elem(), nil
}

// isNil reports whether obj is nil or a nil pointer.
func isNil(obj any) bool {
	v := reflect.ValueOf(obj)
	return !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil()
}
