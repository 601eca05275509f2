package codec

import (
	"bytes"
	"fmt"

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
	return ok
}

// EncodeProtobuf returns obj as a protobuf body: the magic bytes, then a runtime.Unknown with
// apiVersion, kind and the message. The result is allocated once, at its exact size. obj's own
// TypeMeta is no part of the message and is not looked at.
func EncodeProtobuf(obj any, apiVersion, kind string) ([]byte, error) {
	m, ok := obj.(marshaler)
	if !ok {
		return nil, fmt.Errorf("encode %s %s as protobuf: %T has no protobuf methods; send it as JSON", apiVersion, kind, obj)
	}
	if isNil(obj) {
		return nil, fmt.Errorf("encode %s %s as protobuf: the %T is nil", apiVersion, kind, obj)
	}
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
func DecodeProtobuf(data []byte, into any) error {
	m, ok := into.(interface{ Unmarshal([]byte) error })
	if !ok {
		return fmt.Errorf("decode protobuf: %T has no protobuf methods; ask the server for JSON", into)
	}
	if isNil(into) {
		return fmt.Errorf("decode protobuf: the %T to decode into is nil", into)
	}
	if r, ok := into.(interface{ Reset() }); ok {
		r.Reset()
	}
	err := m.Unmarshal(data)
	if err != nil && bytes.HasPrefix(data, magic) {
		return fmt.Errorf("decode protobuf into %T: the data is a whole body with its envelope, not a bare message", into)
	}
	if err != nil {
		return fmt.Errorf("decode protobuf into %T: %w", into, err)
	}
	return nil
}
