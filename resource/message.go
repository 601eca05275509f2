package resource

import (
	"fmt"

	"github.com/go-kube/kube/internal/wire"
)

// Unmarshal decodes a protobuf message into the new value that into points to. The descriptor
// of a built-in kind names the decoder of its Go type in one, as a function literal around
// [UnmarshalInto].
//
// It is not found through an interface, since a call through an interface makes the linker keep
// the decoders of all types of k8s.io/api that a program contains, of which it uses a tenth; and it
// is a plain function and not a generic one, since a variable that holds a descriptor is
// static data then, which the linker drops where it is not used.
type Unmarshal func(data []byte, into any) error

// UnmarshalInto calls unmarshal, a type's generated decoder, on into, which has to point to
// that type.
func UnmarshalInto[K any](unmarshal func(*K, []byte) error, data []byte, into any) error {
	obj, ok := into.(*K)
	if !ok {
		return fmt.Errorf("decode protobuf: the descriptor is of %T, and the value to decode into is a %T", obj, into)
	}
	if err := unmarshal(obj, data); err != nil {
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
