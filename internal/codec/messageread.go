package codec

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"reflect"
	"time"
	"unsafe"

	apiresource "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// textChunk is how much memory is taken at a time for short strings, and so how much a string
	// that is kept alone keeps at most.
	textChunk = 512
	// longText is the length from which on a string has memory of its own.
	longText = 128
	// deepest is how far messages may be nested. Those of Kubernetes' API are a dozen deep, and
	// schemas, which hold themselves, some dozen.
	deepest = 5000
)

// messageReader reads messages into structs. It reads what the decoders that are generated for
// the types read, into the same values, but for the memory of strings: those that are short share
// chunks of it.
//
// Values are written by their addresses. That holds for named types too, as they are laid out in
// memory as the types are that they are made of.
type messageReader struct {
	chunk   []byte // what is left for strings
	depth   int
	entries int // how many entries the map will have that is made next
}

// decodeMessage reads data into v, an addressable struct that is new.
func decodeMessage(data []byte, v reflect.Value) error {
	m, err := messageOf(v.Type())
	if err != nil {
		return err
	}
	for v.Type() != m.typ {
		v = v.Field(0)
	}
	var r messageReader
	return r.message(m, v.Addr().UnsafePointer(), data[:len(data):len(data)])
}

// message reads data into the struct at p.
func (r *messageReader) message(m *message, p unsafe.Pointer, data []byte) error {
	if r.depth++; r.depth > deepest {
		return errDepth
	}
	for at := 0; at < len(data); {
		start := at
		tag, err := uint64(data[at]), error(nil)
		if at++; tag >= 0x80 {
			if tag, at, err = varint(data, start); err != nil {
				return err
			}
		}
		number, kind := uint32(tag>>3), int(tag&7)
		if number >= uint32(len(m.fields)) || m.fields[number].form == fieldNone || kind == wireEndGroup {
			if at, err = unknown(data, start); err != nil {
				return err
			}
			continue
		}
		f := &m.fields[number]
		to := unsafe.Add(p, f.offset)
		if kind != wireBytes {
			if at, err = f.fixed(to, data, at, kind); err != nil {
				return inField(f, err)
			}
			continue
		}
		from, end := at+1, 0
		if at < len(data) && data[at] < 0x80 {
			end = from + int(data[at])
		}
		if end == 0 || end > len(data) {
			if from, end, err = extent(data, at); err != nil {
				return inField(f, err)
			}
		}
		body := data[from:end]
		at = end
		switch {
		case f.plain:
			*(*string)(to) = r.text(body)
			continue
		case f.list:
			if list := (*sliceHeader)(to); list.len == list.cap && f.form > fieldInt64 {
				reflect.NewAt(f.typ, to).Elem().Grow(1 + ahead(data, start, at))
			}
		case f.isMap:
			if *(*unsafe.Pointer)(to) == nil {
				r.entries = 1 + ahead(data, start, at)
			}
		}
		if f.form == fieldMessage {
			err = r.message(f.sub, f.place(to), body)
		} else {
			err = r.bytes(f, to, body)
		}
		if err != nil {
			return inField(f, err)
		}
	}
	r.depth--
	return nil
}

// fixed reads a value at at that is a number.
func (f *messageField) fixed(p unsafe.Pointer, data []byte, at, kind int) (int, error) {
	switch {
	case kind == wireVarint:
		v, end, err := varint(data, at)
		if err == nil {
			err = f.number(p, v)
		}
		return end, err
	case kind != wire64 || f.form != fieldFloat64:
		return 0, wrongKind(kind)
	case len(data)-at < 8:
		return 0, io.ErrUnexpectedEOF
	}
	v := math.Float64frombits(binary.LittleEndian.Uint64(data[at:]))
	if f.ptr {
		*(**float64)(p) = &v
	} else {
		*(*float64)(p) = v
	}
	return at + 8, nil
}

// number sets a field to a number.
func (f *messageField) number(p unsafe.Pointer, v uint64) error {
	switch f.form {
	case fieldBool:
		setNumber(f, p, v != 0)
	case fieldInt32:
		setNumber(f, p, int32(v))
	case fieldInt64:
		setNumber(f, p, int64(v))
	default:
		return wrongKind(wireVarint)
	}
	return nil
}

func setNumber[T bool | int32 | int64](f *messageField, p unsafe.Pointer, v T) {
	switch {
	case f.ptr:
		to := new(T)
		*to = v
		*(**T)(p) = to
	case f.list:
		*(*[]T)(p) = append(*(*[]T)(p), v)
	default:
		*(*T)(p) = v
	}
}

// bytes reads a value that is a piece of bytes into the field at p. A list has room for it.
func (r *messageReader) bytes(f *messageField, p unsafe.Pointer, body []byte) error {
	switch {
	case f.list:
		return r.element(f, p, body)
	case f.ptr && f.form == fieldString:
		s := r.text(body)
		*(**string)(p) = &s
		return nil
	case f.ptr:
		p = f.place(p)
	}
	return r.value(f, p, body)
}

// element reads an element of a list that is no message.
func (r *messageReader) element(f *messageField, p unsafe.Pointer, body []byte) error {
	if f.form <= fieldInt64 {
		return f.packed(p, body)
	}
	return r.value(f, f.place(p), body)
}

// place returns where a value goes: the field at p itself, what it points to, or another element of it.
func (f *messageField) place(p unsafe.Pointer) unsafe.Pointer {
	switch {
	case f.list:
		list := (*sliceHeader)(p)
		list.len++
		return unsafe.Add(list.data, uintptr(list.len-1)*uintptr(f.size))
	case f.ptr:
		to := (*unsafe.Pointer)(p)
		if *to == nil {
			*to = reflect.New(f.elem).UnsafePointer()
		}
		return *to
	}
	return p
}

// sliceHeader is a slice of any type.
type sliceHeader struct {
	data     unsafe.Pointer
	len, cap int
}

// value reads one value into p.
func (r *messageReader) value(f *messageField, p unsafe.Pointer, body []byte) error {
	switch f.form {
	case fieldString:
		*(*string)(p) = r.text(body)
		return nil
	case fieldTime:
		return readTime((*metav1.Time)(p), body)
	case fieldQuantity:
		return r.quantity((*apiresource.Quantity)(p), body)
	case fieldMicroTime:
		return (*metav1.MicroTime)(p).Unmarshal(body)
	case fieldBytes:
		*(*[]byte)(p) = append([]byte{}, body...)
		return nil
	case fieldList:
		return r.strings((*[]string)(p), body)
	case fieldStringMap, fieldBytesMap, fieldQuantityMap, fieldMap:
		return r.entry(f, p, body)
	}
	return wrongKind(wireBytes)
}

// text returns b as a string.
func (r *messageReader) text(b []byte) string {
	switch n := len(b); {
	case n == 0:
		return ""
	case n >= longText:
		return string(b)
	case n > len(r.chunk):
		// No more than the rest of the message, which reaches as far as the capacity.
		r.chunk = make([]byte, min(textChunk, cap(b)))
		fallthrough
	default:
		copy(r.chunk, b)
		s := unsafe.String(&r.chunk[0], n)
		r.chunk = r.chunk[n:]
		return s
	}
}

// packed reads a list of numbers that are written as one value.
func (f *messageField) packed(p unsafe.Pointer, body []byte) error {
	for at := 0; at < len(body); {
		v, end, err := varint(body, at)
		if err != nil {
			return err
		}
		if err := f.number(p, v); err != nil {
			return err
		}
		at = end
	}
	return nil
}

// The tags of the parts of a time.
const secondsTag, nanosTag = 1 << 3, 2 << 3

// readTime reads a time, which has no more than seconds in Kubernetes' API.
func readTime(t *metav1.Time, body []byte) error {
	if len(body) > 1 && body[0] == secondsTag {
		if v, at, err := varint(body, 1); err == nil && (at == len(body) || at == len(body)-2 && body[at] == nanosTag && body[at+1] == 0) {
			t.Time = time.Unix(int64(v), 0).Local()
			return nil
		}
	}
	return t.Unmarshal(body)
}

func (r *messageReader) quantity(q *apiresource.Quantity, body []byte) (err error) {
	if len(body) > 1 && body[0] == 1<<3|wireBytes && int(body[1]) == len(body)-2 && body[1] < 0x80 {
		*q, err = apiresource.ParseQuantity(r.text(body[2:]))
		return err
	}
	return q.Unmarshal(body)
}

// strings reads a message that holds strings alone.
func (r *messageReader) strings(list *[]string, body []byte) error {
	if *list == nil {
		*list = []string{}
	}
	return pieces(body, 1, func(_ int, b []byte) { *list = append(*list, r.text(b)) })
}

// entry reads an entry of the map at p.
func (r *messageReader) entry(f *messageField, p unsafe.Pointer, body []byte) error {
	key, body, before, ok, err := keyAndValue(body)
	if err != nil {
		return fmt.Errorf("an entry of the map: %w", err)
	}
	for _, value := range before {
		if err := r.discard(f, value); err != nil {
			return err
		}
	}
	switch f.form {
	case fieldStringMap:
		makeMap[string](r, p)[r.text(key)] = r.text(body)
	case fieldBytesMap:
		makeMap[[]byte](r, p)[r.text(key)] = append([]byte{}, body...)
	case fieldQuantityMap:
		var q apiresource.Quantity
		if ok {
			if err := r.quantity(&q, body); err != nil {
				return err
			}
		}
		makeMap[apiresource.Quantity](r, p)[r.text(key)] = q
	default:
		return r.anyEntry(f, reflect.NewAt(f.typ, p).Elem(), key, body, ok)
	}
	return nil
}

// discard reads a value of an entry behind which there is another one: it has to be right too.
func (r *messageReader) discard(f *messageField, body []byte) error {
	switch f.form {
	case fieldQuantityMap:
		return r.quantity(new(apiresource.Quantity), body)
	case fieldMap:
		return r.entryValue(f.value, reflect.New(f.value.elem).UnsafePointer(), body, true)
	}
	return nil
}

// makeMap returns the map at p.
func makeMap[V any](r *messageReader, p unsafe.Pointer) map[string]V {
	m := (*map[string]V)(p)
	if *m == nil {
		*m = make(map[string]V, r.entries)
	}
	return *m
}

// anyEntry is an entry of a map whose values can be anything.
func (r *messageReader) anyEntry(f *messageField, m reflect.Value, key, body []byte, ok bool) error {
	if m.IsNil() {
		m.Set(reflect.MakeMapWithSize(f.typ, r.entries))
	}
	value := reflect.New(f.value.elem)
	if err := r.entryValue(f.value, value.UnsafePointer(), body, ok); err != nil {
		return err
	}
	k := reflect.New(f.typ.Key()).Elem()
	k.SetString(r.text(key))
	m.SetMapIndex(k, value.Elem())
	return nil
}

// entryValue reads the value of an entry into p.
func (r *messageReader) entryValue(f *messageField, p unsafe.Pointer, body []byte, ok bool) (err error) {
	switch {
	case f.form == fieldMessage:
		err = r.message(f.sub, p, body)
	case ok || f.form == fieldList:
		err = r.value(f, p, body)
	}
	if err != nil {
		return inField(f, err)
	}
	return nil
}
