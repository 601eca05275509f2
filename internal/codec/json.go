package codec

import (
	jsonv1 "encoding/json"
	"encoding/json/jsontext"
	"encoding/json/v2"
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

// decodeOptions are what encoding/json uses, but names have to match by case, and the first
// error ends the decoding and knows where it is.
var decodeOptions = json.JoinOptions(
	jsonv1.DefaultOptionsV1(),
	json.MatchCaseInsensitiveNames(false),
	jsonv1.ReportErrorsWithLegacySemantics(false),
)

// EncodeJSON returns obj as Kubernetes' JSON: the bytes that the API server would write,
// without the newline at the end. obj is a pointer to an object, or any value that
// encoding/json takes.
func EncodeJSON(obj any) ([]byte, error) {
	return json.Marshal(obj, encodeOptions)
}

// DecodeJSON reads Kubernetes' JSON into the value that into points to.
func DecodeJSON(data []byte, into any) error {
	return json.Unmarshal(data, into, decodeOptions)
}
