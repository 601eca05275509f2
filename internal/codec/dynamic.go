package codec

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"hash/maphash"
	"reflect"
	"strconv"
	"sync"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// interfaceNumbers decodes interface values as the API machinery does.
var interfaceNumbers = json.UnmarshalFromFunc(func(dec *jsontext.Decoder, v *any) error {
	// encoding/json follows a pointer that is there already, and so does the default.
	if rv := reflect.ValueOf(*v); rv.Kind() == reflect.Pointer && !rv.IsNil() {
		return errors.ErrUnsupported
	}
	value, err := readDynamic(dec)
	*v = value
	return err
})

// dynamicObject decodes an object of unknown shape.
type dynamicObject map[string]any

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (o *dynamicObject) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if kind := dec.PeekKind(); kind != '{' && kind != jsontext.KindInvalid {
		return &json.SemanticError{JSONKind: kind, GoType: reflect.TypeFor[unstructured.Unstructured](), Err: errors.New("an object is needed")}
	}
	value, err := readDynamic(dec)
	if err != nil {
		return err
	}
	*o = value.(map[string]any)
	return nil
}

// decodeUnstructured replaces u's content by the object in data.
func decodeUnstructured(data []byte, u *unstructured.Unstructured) error {
	var object dynamicObject
	if err := json.Unmarshal(data, &object, decodeOptions); err != nil {
		return explainDecode(reflect.TypeFor[unstructured.Unstructured](), data, err)
	}
	u.Object = object
	return nil
}

// dynamicReader reads values whose type only the data knows.
type dynamicReader struct {
	dec     *jsontext.Decoder
	strings stringCache
}

// readers keeps the caches of readers that are not in use: names and short texts are much the
// same in every object.
var readers = sync.Pool{New: func() any { return new(dynamicReader) }}

func readDynamic(dec *jsontext.Decoder) (any, error) {
	r := readers.Get().(*dynamicReader)
	r.dec = dec
	value, err := r.value()
	r.dec = nil
	readers.Put(r)
	return value, err
}

func (r *dynamicReader) value() (any, error) {
	switch r.dec.PeekKind() {
	case '{':
		return r.object()
	case '[':
		return r.array()
	case '"':
		return r.text()
	case '0':
		raw, err := r.dec.ReadValue()
		if err != nil {
			return nil, err
		}
		return r.number(string(raw))
	}
	token, err := r.dec.ReadToken()
	if err != nil || token.Kind() == 'n' {
		return nil, err
	}
	return token.Bool(), nil
}

func (r *dynamicReader) object() (any, error) {
	if _, err := r.dec.ReadToken(); err != nil {
		return nil, err
	}
	object := make(map[string]any)
	for r.dec.PeekKind() != '}' {
		name, err := r.text()
		if err != nil {
			return nil, err
		}
		if object[name], err = r.value(); err != nil {
			return nil, err
		}
	}
	_, err := r.dec.ReadToken()
	return object, err
}

func (r *dynamicReader) array() (any, error) {
	if _, err := r.dec.ReadToken(); err != nil {
		return nil, err
	}
	items := []any{}
	for r.dec.PeekKind() != ']' {
		item, err := r.value()
		if err != nil {
			return nil, err
		}
		items = append(items, item)
	}
	_, err := r.dec.ReadToken()
	return items, err
}

func (r *dynamicReader) text() (string, error) {
	raw, err := r.dec.ReadValue()
	if err != nil {
		return "", err
	}
	inner := raw[1 : len(raw)-1]
	for _, c := range inner {
		if c == '\\' || c >= utf8.RuneSelf {
			text, _ := jsontext.AppendUnquote(nil, raw) // invalid UTF-8 becomes U+FFFD, as in encoding/json
			return string(text), nil
		}
	}
	return r.strings.get(inner), nil
}

// number keeps what fits as an int64 and makes a float64 of the rest, by the rule of
// sigs.k8s.io/json.
func (r *dynamicReader) number(s string) (any, error) {
	if i, err := strconv.ParseInt(s, 10, 64); err == nil {
		return i, nil
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return nil, &json.SemanticError{
			JSONPointer: r.dec.StackPointer(), JSONKind: '0', JSONValue: jsontext.Value(s),
			GoType: reflect.TypeFor[float64](), Err: strconv.ErrRange,
		}
	}
	return f, nil
}

// stringCache saves the memory of strings that repeat. A string that falls into the place of
// another replaces it.
type stringCache [256]string

var stringSeed = maphash.MakeSeed()

func (c *stringCache) get(b []byte) string {
	if len(b) == 0 || len(b) > 64 {
		return string(b)
	}
	place := &c[maphash.Bytes(stringSeed, b)%uint64(len(c))]
	if *place != string(b) {
		*place = string(b)
	}
	return *place
}
