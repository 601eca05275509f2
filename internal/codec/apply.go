package codec

import (
	"encoding/json/v2"
	"reflect"
)

// isNil reports whether obj is nil or a nil pointer.
func isNil(obj any) bool {
	v := reflect.ValueOf(obj)
	return !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil()
}

// EncodeApply returns obj as a sparse JSON body for server-side apply.
func EncodeApply(obj any, apiVersion, kind string, zero []string) ([]byte, error) {
	data, err := json.Marshal(obj, encodeOptions, json.OmitZeroStructFields(true))
	if err != nil {
		return nil, err
	}
	var fields map[string]any
	if err := DecodeJSON(data, &fields); err != nil {
		return nil, err
	}
	fields["apiVersion"], fields["kind"] = apiVersion, kind
	return EncodeJSON(fields)
}
