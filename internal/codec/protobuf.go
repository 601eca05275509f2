package codec

import (
	"bytes"
	"fmt"
	"reflect"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
)

// magic opens every protobuf body of the Kubernetes API. What follows is a runtime.Unknown
// that holds the kind and the message.
var magic = []byte("k8s\x00")

// marshaler is what generated types have: the size is known before anything is written.
type marshaler interface {
	Size() int
	MarshalTo(data []byte) (int, error)
	MarshalToSizedBuffer(data []byte) (int, error)
}

// SupportsProtobuf reports whether [EncodeProtobuf] can encode obj: whether its type has the
// generated methods. Types of custom resources have none.
func SupportsProtobuf(obj any) bool {
	_, ok := obj.(marshaler)
	return ok && isMessage(reflect.TypeOf(obj))
}

// EncodeProtobuf returns obj as a protobuf body: the magic bytes, then a runtime.Unknown with
// apiVersion, kind and the message. The result is allocated once, at its exact size. obj's own
// apiVersion and kind are no part of the message and are not looked at.
func EncodeProtobuf(obj any, apiVersion, kind string) ([]byte, error) {
	obj, err := addressable(obj)
	if err != nil {
		return nil, fmt.Errorf("encode %s %s as protobuf: %w", apiVersion, kind, err)
	}
	if !SupportsProtobuf(obj) {
		return nil, fmt.Errorf("encode %s %s as protobuf: a %s has no protobuf form; send JSON", apiVersion, kind, typeName(reflect.TypeOf(obj).Elem()))
	}
	m := obj.(marshaler)
	envelope := runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: apiVersion, Kind: kind}}
	size := uint64(m.Size())
	data := make([]byte, len(magic)+envelope.Size()+1+varintSize(size)+int(size))
	copy(data, magic)
	n, err := envelope.NestedMarshalTo(data[len(magic):], m, size)
	if err != nil {
		return nil, fmt.Errorf("encode %s %s as protobuf: %w", apiVersion, kind, err)
	}
	return data[:len(magic)+n], nil
}

var messageCache sync.Map // of reflect.Type to bool

// isMessage reports whether the protobuf methods that p, a pointer to a struct, has are for
// the whole of it. A struct that embeds one with such methods gets them too, and they know
// nothing of its own fields, which then have no protobuf tag.
func isMessage(p reflect.Type) bool {
	if known, ok := messageCache.Load(p); ok {
		return known.(bool)
	}
	whole := p.Kind() == reflect.Pointer && p.Elem().Kind() == reflect.Struct
	for i := 0; whole && i < p.Elem().NumField(); i++ {
		f := p.Elem().Field(i)
		_, tagged := f.Tag.Lookup("protobuf")
		whole = tagged || f.Anonymous || !f.IsExported() || f.Tag.Get("json") == "-"
	}
	messageCache.Store(p, whole)
	return whole
}

// varintSize returns how many bytes protobuf needs for n.
func varintSize(n uint64) int {
	size := 1
	for ; n >= 0x80; n >>= 7 {
		size++
	}
	return size
}

// DecodeProtobuf reads a bare protobuf message, one without magic bytes and envelope, into the
// value that into points to, whose earlier content is lost. The message carries no apiVersion
// and no kind, so neither is set.
//
// It reads what the generated decoder of the type reads, by the tags of the fields. Short strings
// share memory: one that is kept alone keeps [textChunk] bytes at most.
func DecodeProtobuf(data []byte, into any) error {
	t, err := target(into)
	if err != nil {
		return fmt.Errorf("decode protobuf: %w", err)
	}
	v := reflect.ValueOf(into).Elem()
	v.SetZero()
	err = decodeMessage(data, v)
	if err != nil && bytes.HasPrefix(data, magic) {
		err = fmt.Errorf("the data is a whole body with its envelope, not a bare message: %w", err)
	}
	if err != nil {
		return &Error{Action: "decode", Type: t, why: err.Error(), err: err}
	}
	return nil
}
