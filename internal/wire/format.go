package wire

import (
	"fmt"
	"math"
	"strings"
)

// Format is how objects are encoded.
type Format uint8

const (
	// JSON is application/json.
	JSON Format = iota
	// Protobuf is application/vnd.kubernetes.protobuf. Watch frames are length-delimited.
	Protobuf
)

// Media types of the formats, without parameters.
const (
	MediaTypeJSON     = "application/json"
	MediaTypeProtobuf = "application/vnd.kubernetes.protobuf"
)

// String returns json or protobuf.
func (f Format) String() string {
	if f == Protobuf {
		return "protobuf"
	}
	return "json"
}

// MediaType returns the media type of f without parameters.
func (f Format) MediaType() string {
	if f == Protobuf {
		return MediaTypeProtobuf
	}
	return MediaTypeJSON
}

// FormatOf returns the format that a Content-Type header names; parameters such as
// charset or stream=watch are ignored.
func FormatOf(contentType string) (Format, error) {
	media, _, _ := strings.Cut(contentType, ";")
	switch media = strings.TrimSpace(media); {
	case strings.EqualFold(media, MediaTypeJSON):
		return JSON, nil
	case strings.EqualFold(media, MediaTypeProtobuf):
		return Protobuf, nil
	default:
		return JSON, fmt.Errorf("content type %q is neither %s nor %s", contentType, MediaTypeJSON, MediaTypeProtobuf)
	}
}

// DefaultMaxObjectBytes is the size limit of one object: 64 MiB. The API server accepts
// requests of 3 MiB and etcd stores 1.5 MiB by default, and client-go reads watch frames of
// up to 16 MiB, so nothing real comes near it; a corrupt length is caught before it eats the
// memory of the process.
const DefaultMaxObjectBytes = 64 << 20

// Options change how bodies are read. A nil *Options means the defaults.
type Options struct {
	// KeepManagedFields keeps metadata.managedFields, which is left out otherwise.
	KeepManagedFields bool
	// KeepLastApplied keeps the annotation kubectl.kubernetes.io/last-applied-configuration,
	// which is left out otherwise.
	KeepLastApplied bool
	// MaxObjectBytes is the most bytes that one object may have, or in a list what stands
	// beside the objects. 0 means DefaultMaxObjectBytes; it cannot exceed 4 GiB, since offsets
	// into an object are 32 bits.
	MaxObjectBytes int64
	// Transient has objects share the memory of the buffer that is read into: an object is valid
	// until the function that it was handed to returns, or Next is called again. What is to
	// outlive that has to be cloned or packed. For whoever keeps few of the objects, this spares the
	// copies of the others.
	Transient bool
}

func (o *Options) withDefaults() (Options, error) {
	var opts Options
	if o != nil {
		opts = *o
	}
	if opts.MaxObjectBytes == 0 {
		opts.MaxObjectBytes = DefaultMaxObjectBytes
	}
	if opts.MaxObjectBytes < 0 || opts.MaxObjectBytes > math.MaxUint32 {
		return opts, fmt.Errorf("wire: MaxObjectBytes is %d: it has to be between 1 and %d, or 0 for the default", opts.MaxObjectBytes, int64(math.MaxUint32))
	}
	return opts, nil
}
