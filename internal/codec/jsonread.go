package codec

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"math/bits"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
	"unsafe"

	apiresource "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// deepestJSON is how deep values may be nested for jsonReader.
const deepestJSON = 200

// jsonReader reads JSON into new values, in half the time of encoding/json. It knows what
// servers write: where data is anything else, be it broken or only odd (a member twice, half a
// surrogate), it gives up, and encoding/json reads everything once more and decides.
// So there is one place that explains errors, and one that knows all rules.
//
// Like messageReader it writes by addresses.
type jsonReader struct {
	data  []byte
	at    int
	depth int
	texts messageReader // for the memory of strings
	plain []byte        // reused: a string without its escapes
}

// readJSON reads data into v, which is addressable and zero. When it is not ok, v has a part of it.
func readJSON(data []byte, v reflect.Value) (ok bool) {
	t := jsonTypeOf(v.Type())
	if t.form == jsonOther {
		return false
	}
	r := jsonReader{data: data[:len(data):len(data)]}
	r.space()
	if !r.value(t, v.Addr().UnsafePointer()) {
		return false
	}
	r.space()
	return r.at == len(data)
}

// value reads the value that begins at at into p.
func (r *jsonReader) value(t *jsonType, p unsafe.Pointer) bool {
	if r.at >= len(r.data) {
		return false
	}
	if r.data[r.at] == 'n' && t.form != jsonOther {
		return r.word("null") // p is zero
	}
	switch t.form {
	case jsonString:
		s, ok := r.text()
		*(*string)(p) = s
		return ok
	case jsonBool:
		return r.bool((*bool)(p))
	case jsonInt, jsonUint, jsonFloat:
		return r.number(t, p)
	case jsonStruct:
		return r.object(t, p)
	case jsonPointer:
		to := reflect.New(t.elem.typ).UnsafePointer()
		*(*unsafe.Pointer)(p) = to
		return r.value(t.elem, to)
	case jsonSlice:
		return r.list(t, p)
	case jsonStringMap:
		return readJSONMap(r, (*map[string]string)(p), (*jsonReader).textInto)
	case jsonQuantityMap:
		return readJSONMap(r, (*map[string]apiresource.Quantity)(p), (*jsonReader).quantity)
	case jsonMap:
		return r.anyMap(reflect.NewAt(t.typ, p).Elem(), t)
	case jsonTime:
		return r.time((*metav1.Time)(p))
	case jsonQuantity:
		return r.quantity((*apiresource.Quantity)(p))
	case jsonIntOrString:
		return r.intOrString((*intstr.IntOrString)(p))
	case jsonBytes:
		return r.bytes((*[]byte)(p))
	}
	return r.other(t, p)
}

// other has encoding/json read a value.
func (r *jsonReader) other(t *jsonType, p unsafe.Pointer) bool {
	from := r.at
	if !r.skip() {
		return false
	}
	return json.Unmarshal(r.data[from:r.at], reflect.NewAt(t.typ, p).Interface(), traitsOf(t.typ).options()) == nil
}

func (r *jsonReader) object(t *jsonType, p unsafe.Pointer) bool {
	var seen [mostJSONFields / 64]uint64
	next := 0
	for more := r.open('{', '}'); more; more = r.more('}') {
		name, ok := r.name()
		if !ok {
			return false
		}
		n := t.find(name, next)
		if n < 0 {
			if !r.skip() {
				return false
			}
			continue
		}
		if seen[n/64]&(1<<(n%64)) != 0 {
			return false
		}
		seen[n/64] |= 1 << (n % 64)
		f := &t.fields[n]
		if !r.value(f.typ, unsafe.Add(p, f.offset)) {
			return false
		}
		next = n + 1
	}
	return r.closed()
}

// find returns which field has a name, or -1. Names come in the order of the fields, as a rule: next is
// where to look first.
func (t *jsonType) find(name []byte, next int) int {
	for i := next; i < len(t.fields); i++ {
		if t.fields[i].name == string(name) {
			return i
		}
	}
	for i := range t.fields[:next] {
		if t.fields[i].name == string(name) {
			return i
		}
	}
	return -1
}

func (r *jsonReader) list(t *jsonType, p unsafe.Pointer) bool {
	list := (*sliceHeader)(p)
	*(*[]struct{})(p) = []struct{}{} // empty, not nil
	for more := r.open('[', ']'); more; more = r.more(']') {
		if list.len == list.cap {
			room := 1 // as many lists have
			if list.cap > 0 {
				room = r.ahead()
			}
			reflect.NewAt(t.typ, p).Elem().Grow(room)
		}
		list.len++
		if !r.value(t.elem, unsafe.Add(list.data, uintptr(list.len-1)*t.elem.size)) {
			return false
		}
	}
	return r.closed()
}

// readJSONMap reads a map whose values have a Go type with the memory layout of V, to which read sets them.
func readJSONMap[V any](r *jsonReader, into *map[string]V, read func(*jsonReader, *V) bool) bool {
	m := map[string]V{}
	for more := r.open('{', '}'); more; more = r.more('}') {
		name, ok := r.name()
		if !ok || r.at >= len(r.data) {
			return false
		}
		key := r.texts.text(name)
		var value V
		if r.data[r.at] == 'n' {
			ok = r.word("null")
		} else {
			ok = read(r, &value)
		}
		if !ok {
			return false
		}
		m[key] = value
	}
	*into = m
	return r.closed()
}

func (r *jsonReader) textInto(s *string) (ok bool) {
	*s, ok = r.text()
	return ok
}

func (r *jsonReader) anyMap(into reflect.Value, t *jsonType) bool {
	m := reflect.MakeMap(t.typ)
	key, value := reflect.New(t.typ.Key()).Elem(), reflect.New(t.elem.typ)
	for more := r.open('{', '}'); more; more = r.more('}') {
		name, ok := r.name()
		if !ok {
			return false
		}
		key.SetString(r.texts.text(name))
		value.Elem().SetZero()
		if m.MapIndex(key).IsValid() || !r.value(t.elem, value.UnsafePointer()) {
			return false
		}
		m.SetMapIndex(key, value.Elem())
	}
	into.Set(m)
	return r.closed()
}

// name reads the name of a member and the colon behind it. It is valid until the next string is read.
func (r *jsonReader) name() (name []byte, ok bool) {
	if name, ok = r.string(); !ok {
		return nil, false
	}
	r.space()
	if r.at >= len(r.data) || r.data[r.at] != ':' {
		return nil, false
	}
	r.at++
	r.space()
	return name, true
}

// text reads a string into memory of its own.
func (r *jsonReader) text() (string, bool) {
	b, ok := r.string()
	return r.texts.text(b), ok
}

// string reads a string. It is valid until the next one is read.
func (r *jsonReader) string() (s []byte, ok bool) {
	from := r.at + 1
	end, simple := r.stringEnd()
	if end < 0 {
		return nil, false
	}
	r.at = end + 1
	if s = r.data[from:end]; simple {
		return s, true
	}
	var err error
	r.plain, err = jsontext.AppendUnquote(r.plain[:0], r.data[from-1:end+1])
	return r.plain, err == nil
}

// stringEnd returns where the string that begins at at ends: at its last quote. A simple string has no
// escapes, and nothing that is not valid UTF-8. What is no string ends below zero.
func (r *jsonReader) stringEnd() (end int, simple bool) {
	if r.at >= len(r.data) || r.data[r.at] != '"' {
		return -1, false
	}
	ascii := true
	at := r.at + 1
	for {
		at += plainBytes(r.data[at:])
		if at >= len(r.data) {
			return -1, false
		}
		switch c := r.data[at]; {
		case c == '"':
			return at, ascii || utf8.Valid(r.data[r.at+1:at])
		case c == '\\':
			return r.escapedEnd(at), false
		case c < ' ':
			return -1, false
		default:
			ascii = false
			at++
		}
	}
}

// escapedEnd is stringEnd for a string with an escape at at.
func (r *jsonReader) escapedEnd(at int) int {
	for ; at < len(r.data); at++ {
		switch c := r.data[at]; {
		case c == '"':
			return at
		case c == '\\':
			at++
		case c < ' ':
			return -1
		}
	}
	return -1
}

// plainBytes counts the bytes that b begins with that stand for themselves in a string, and are ASCII.
func plainBytes(b []byte) (n int) {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	for ; len(b)-n >= 8; n += 8 {
		w := binary.LittleEndian.Uint64(b[n:])
		quote, escape := w^(ones*'"'), w^(ones*'\\')
		// The high bit of a byte is set when it is high, a control character, a quote or a backslash.
		// A borrow out of such a byte can set those of later ones.
		if special := (w | (w - ones*' ') | (quote - ones) | (escape - ones)) & highs; special != 0 {
			return n + bits.TrailingZeros64(special)/8
		}
	}
	for n < len(b) && b[n] >= ' ' && b[n] < utf8.RuneSelf && b[n] != '"' && b[n] != '\\' {
		n++
	}
	return n
}

func (r *jsonReader) bool(b *bool) bool {
	if r.data[r.at] == 't' {
		*b = true
		return r.word("true")
	}
	return r.word("false")
}

// word reads a word that has to be there.
func (r *jsonReader) word(w string) bool {
	if len(r.data)-r.at < len(w) || string(r.data[r.at:r.at+len(w)]) != w {
		return false
	}
	r.at += len(w)
	return true
}

// number reads a number into a value of that kind.
func (r *jsonReader) number(t *jsonType, p unsafe.Pointer) bool {
	from := r.at
	whole, ok := r.numberEnd()
	if !ok || !whole && t.form != jsonFloat {
		return false
	}
	text := textOf(r.data[from:r.at])
	width := int(t.size) * 8
	switch t.form {
	case jsonInt:
		n, err := strconv.ParseInt(text, 10, width)
		setInt(p, t.size, uint64(n))
		return err == nil && text != "-0"
	case jsonUint:
		n, err := strconv.ParseUint(text, 10, width)
		setInt(p, t.size, n)
		return err == nil
	}
	n, err := strconv.ParseFloat(text, width)
	if t.size == 4 {
		*(*float32)(p) = float32(n)
	} else {
		*(*float64)(p) = n
	}
	return err == nil
}

// setInt sets an integer of so many bytes.
func setInt(p unsafe.Pointer, size uintptr, n uint64) {
	switch size {
	case 1:
		*(*uint8)(p) = uint8(n)
	case 2:
		*(*uint16)(p) = uint16(n)
	case 4:
		*(*uint32)(p) = uint32(n)
	default:
		*(*uint64)(p) = n
	}
}

// textOf returns b as a string for functions that do not keep it.
func textOf(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// time reads what Time.UnmarshalJSON reads.
func (r *jsonReader) time(t *metav1.Time) bool {
	b, ok := r.string()
	if !ok {
		return false
	}
	at, err := time.Parse(time.RFC3339, textOf(b))
	t.Time = at.Local()
	return err == nil
}

func (r *jsonReader) intOrString(v *intstr.IntOrString) (ok bool) {
	if r.data[r.at] == '"' {
		v.Type = intstr.String
		v.StrVal, ok = r.text()
		return ok
	}
	return r.number(int32Type, unsafe.Pointer(&v.IntVal))
}

var int32Type = &jsonType{form: jsonInt, size: 4}

func (r *jsonReader) quantity(q *apiresource.Quantity) bool {
	if r.data[r.at] != '"' {
		from := r.at
		return r.skip() && q.UnmarshalJSON(r.data[from:r.at]) == nil
	}
	from := r.at + 1
	end, simple := r.stringEnd()
	if !simple {
		return false
	}
	r.at = end + 1
	parsed, err := apiresource.ParseQuantity(strings.TrimSpace(r.texts.text(r.data[from:end])))
	*q = parsed
	return err == nil
}

func (r *jsonReader) bytes(into *[]byte) bool {
	from := r.at + 1
	end, simple := r.stringEnd()
	if !simple {
		return false
	}
	r.at = end + 1
	b := r.data[from:end]
	*into = make([]byte, base64.StdEncoding.DecodedLen(len(b)))
	n, err := base64.StdEncoding.Decode(*into, b)
	*into = (*into)[:n]
	return err == nil
}
