package resource

import (
	"fmt"

	"github.com/go-kube/kube/internal/codec"
	"github.com/go-kube/kube/internal/wire"
)

// Unmarshal decodes a protobuf message into the new value that into points to. The descriptor
// of a built-in kind has the one of its Go type, [UnmarshalMessage].
type Unmarshal func(data []byte, into any) error

// MessagePtr is what a pointer to a Go type with a protobuf form has: a generated decoder.
type MessagePtr[K any] interface {
	*K
	Unmarshal(data []byte) error
}

// UnmarshalMessage decodes data, a protobuf message, into the new K that into points to: it is
// the [Unmarshal] of type K. Callers name K; P follows from it. Another type of into is an
// error.
//
// It reads what the generated decoder of K reads, by the protobuf tags of its fields, and does not
// call it: a program then contains none of those of k8s.io/api. Short strings of one object share
// memory, in pieces of 512 bytes: whoever keeps one of them for long and not the object, clones it
// (strings.Clone).
func UnmarshalMessage[K any, P MessagePtr[K]](data []byte, into any) error {
	obj, ok := into.(*K)
	if !ok {
		return fmt.Errorf("decode protobuf: the descriptor is of %T, and the value to decode into is a %T", obj, into)
	}
	return codec.DecodeProtobuf(data, obj)
}

// DecodeProtobuf decodes data, a protobuf message without an envelope, into the new value
// that into points to, an object of the kind that d describes.
func (d *Descriptor) DecodeProtobuf(data []byte, into any) error {
	if m, ok := into.(interface{ unmarshalMetadata(data []byte) error }); ok {
		return m.unmarshalMetadata(data)
	}
	return d.unmarshal.decode(d.Kind, data, into)
}

func (u Unmarshal) decode(kind string, data []byte, into any) error {
	if u == nil {
		return fmt.Errorf("decode protobuf: the descriptor of %s has no decoder of it; kinds that are not built in are %s", kind, wire.MediaTypeJSON)
	}
	return u(data, into)
}
