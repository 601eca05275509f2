package resource

import (
	"fmt"

	"github.com/go-kube/kube/internal/codec"
	"github.com/go-kube/kube/internal/wire"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Unmarshal decodes a protobuf message into the new value that into points to. The descriptor
// of a built-in kind has the one of its Go type, [UnmarshalMessage].
type Unmarshal func(data []byte, into any) error

// MessagePtr is what a pointer to a Go type with a protobuf form has: a generated decoder.
type MessagePtr[K any] interface {
	*K
	Unmarshal(data []byte) error
}

// UnmarshalMessage decodes data, a protobuf message, into the new value that into points to: it is
// the [Unmarshal] of type K. Callers name K; P follows from it. Where into is no *K, but an
// unstructured.Unstructured or another type that reads the JSON of a K, such as one of [Partial], it gets what the
// server would have sent as JSON, less the fields that K does not have: a message does not name them. A
// type with a protobuf form of its own is an error.
//
// It reads what the generated decoder of K reads, by the protobuf tags of its fields, and does not
// call it: a program then contains none of those of k8s.io/api. Short strings of one object share
// memory, in pieces of 512 bytes: whoever keeps one of them for long and not the object, clones it
// (strings.Clone).
func UnmarshalMessage[K any, P MessagePtr[K]](data []byte, into any) error {
	if obj, ok := into.(*K); ok {
		return codec.DecodeProtobuf(data, obj)
	}
	return unmarshalAs(data, new(K), into)
}

// unmarshalAs decodes data into the new value obj, and what that is in JSON into the value that into points to.
func unmarshalAs(data []byte, obj, into any) error {
	if codec.SupportsProtobuf(into) {
		return fmt.Errorf("decode protobuf: the descriptor is of %T, and the value to decode into is a %T", obj, into)
	}
	if err := codec.DecodeProtobuf(data, obj); err != nil {
		return err
	}
	text, err := codec.EncodeJSON(obj)
	if err != nil {
		return err
	}
	if err := codec.DecodeJSON(text, into); err != nil {
		return err
	}
	if u, ok := into.(*unstructured.Unstructured); ok {
		nameClaims(u)
	}
	return nil
}

// nameClaims sets apiVersion and kind of the claims in a StatefulSet: these are the only objects of Kubernetes within
// others, and messages are without both. The server sets them in all versions.
func nameClaims(u *unstructured.Unstructured) {
	spec, _ := u.Object["spec"].(map[string]any)
	claims, _ := spec["volumeClaimTemplates"].([]any)
	for _, claim := range claims {
		if claim, ok := claim.(map[string]any); ok {
			claim["apiVersion"], claim["kind"] = "v1", "PersistentVolumeClaim"
		}
	}
}

// DecodeProtobuf decodes data, a protobuf message without an envelope, into the new value
// that into points to, an object of the kind that d describes.
func (d *Descriptor) DecodeProtobuf(data []byte, into any) error {
	if m, ok := into.(interface{ unmarshalMetadata(data []byte) error }); ok {
		return m.unmarshalMetadata(data)
	}
	if d.MetadataOnly {
		return unmarshalAs(data, new(metav1.PartialObjectMetadata), into)
	}
	return d.unmarshal.decode(d.Kind, data, into)
}

func (u Unmarshal) decode(kind string, data []byte, into any) error {
	if u == nil {
		return fmt.Errorf("decode protobuf: the descriptor of %s has no decoder of it; kinds that are not built in are %s", kind, wire.MediaTypeJSON)
	}
	return u(data, into)
}
