package codec

import (
	"bytes"
	jsonv1 "encoding/json"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// Error says in plain words why a value could not be encoded or decoded. It unwraps to the
// error of encoding/json or of the type's own method.
type Error struct {
	// Action is what failed: encode or decode.
	Action string
	// Type is the Go type of the whole value.
	Type reflect.Type
	// Pointer is where in the JSON it failed, as a JSON pointer (RFC 6901); empty where it is
	// the whole value, or not known.
	Pointer string

	why string
	err error
}

// Error returns the whole sentence: what was done, where it failed and why.
func (e *Error) Error() string {
	where := ""
	if e.Pointer != "" {
		where = " at " + e.Pointer
	}
	return fmt.Sprintf("%s %s%s: %s", e.Action, typeName(e.Type), where, e.why)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.err }

// explainDecode is explain for an error of reading data, which it quotes where it can.
func explainDecode(t reflect.Type, data []byte, err error) error {
	if semantic, ok := errors.AsType[*json.SemanticError](err); ok && len(semantic.JSONValue) == 0 {
		if value := scalarAt(data, semantic.ByteOffset); value.Kind() == semantic.JSONKind {
			semantic.JSONValue = value
		}
	}
	return explain("decode", t, err)
}

// scalarAt returns the string, number or boolean at an offset of data.
func scalarAt(data []byte, offset int64) jsontext.Value {
	if offset < 0 || offset >= int64(len(data)) {
		return nil
	}
	dec := jsontext.NewDecoder(bytes.NewReader(data[offset:]))
	switch dec.PeekKind() {
	case '"', '0', 't', 'f':
		value, _ := dec.ReadValue()
		return value
	}
	return nil
}

// explain turns an error of encoding/json, of either version, into an [Error].
func explain(action string, t reflect.Type, err error) error {
	e := &Error{Action: action, Type: t, why: err.Error(), err: err}
	for e.Type != nil && e.Type.Kind() == reflect.Pointer {
		e.Type = e.Type.Elem()
	}
	if semantic, ok := errors.AsType[*json.SemanticError](err); ok {
		e.Pointer, e.why = string(semantic.JSONPointer), mismatch(action, semantic)
	}
	if old, ok := errors.AsType[*jsonv1.UnmarshalTypeError](err); ok {
		e.why = fmt.Sprintf("a JSON %s does not fit Go type %s", old.Value, typeName(old.Type))
		if old.Field != "" {
			e.Pointer = "/" + strings.ReplaceAll(old.Field, ".", "/")
		}
	}
	if syntax, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		e.Pointer = string(syntax.JSONPointer)
		e.why = fmt.Sprintf("invalid JSON after byte %d: %v", syntax.ByteOffset, syntax.Err)
	}
	return e
}

// mismatch says why a value and a Go type do not go together.
func mismatch(action string, err *json.SemanticError) string {
	why := ""
	if err.Err != nil {
		why = ": " + err.Err.Error()
	}
	if action == "encode" || err.JSONKind == jsontext.KindInvalid {
		return fmt.Sprintf("Go type %s has no JSON form here%s", typeName(err.GoType), why)
	}
	return fmt.Sprintf("%s does not fit Go type %s%s", describe(err), typeName(err.GoType), why)
}

// describe names the value that did not fit, and quotes it unless it is long or may be a
// secret, which in Kubernetes are []byte.
func describe(err *json.SemanticError) string {
	text := kindName(err.JSONKind)
	secret := err.GoType != nil && err.GoType.Kind() == reflect.Slice
	if len(err.JSONValue) == 0 || len(err.JSONValue) > 100 || secret {
		return text
	}
	return text + " " + string(err.JSONValue)
}

// kindName returns a word for the kind of a JSON value, with its article.
func kindName(kind jsontext.Kind) string {
	switch kind {
	case 'n':
		return "a JSON null"
	case 't', 'f':
		return "a JSON boolean"
	case '"':
		return "a JSON string"
	case '0':
		return "a JSON number"
	case '{', '}':
		return "a JSON object"
	case '[', ']':
		return "a JSON array"
	}
	return "a JSON value"
}

// typeName returns the name of t with short package names, also inside type arguments.
func typeName(t reflect.Type) string {
	if t == nil {
		return "nil"
	}
	name := t.String()
	for {
		slash := strings.LastIndexByte(name, '/')
		if slash < 0 {
			return name
		}
		start := strings.LastIndexAny(name[:slash], "[], *") + 1
		name = name[:start] + name[slash+1:]
	}
}
