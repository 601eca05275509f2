package resource

import (
	"fmt"

	"github.com/go-kube/kube/internal/wire"
)

// Unmarshal decodes a protobuf message into the new value that into points to. The descriptor
// of a built-in kind has the one of its Go type, [UnmarshalMessage].
//
// It is not found through an interface, since a call through an interface makes the linker keep
// the decoders of all types of k8s.io/api that a program contains, of which it uses a tenth.
type Unmarshal func(data []byte, into any) error

// MessagePtr is what a pointer to a Go type with a protobuf form has: a generated decoder.
type MessagePtr[K any] interface {
	*K
	Unmarshal(data []byte) error
}

// UnmarshalMessage decodes data, a protobuf message, into the new K that into points to: it is
// the [Unmarshal] of type K. Callers name K; P follows from it. Another type of into is an
// error.
func UnmarshalMessage[K any, P MessagePtr[K]](data []byte, into any) error {
	obj, ok := into.(*K)
	if !ok {
		return fmt.Errorf("decode protobuf: the descriptor is of %T, and the value to decode into is a %T", obj, into)
	}
	if err := P(obj).Unmarshal(data); err != nil {
		return fmt.Errorf("decode protobuf into %T: %w", into, err)
	}
	return nil
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
