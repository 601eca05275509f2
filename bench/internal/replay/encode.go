package replay

import (
	"encoding/binary"
	"encoding/json"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	jsonType     = "application/json"
	protobufType = "application/vnd.kubernetes.protobuf"
)

// magic is what every protobuf body of the API machinery begins with.
const magic = "k8s\x00"

// mediaType is the Content-Type of an answer.
func (f Format) mediaType(watch bool) string {
	switch {
	case f == JSON:
		return jsonType
	case watch:
		return protobufType + ";stream=watch"
	default:
		return protobufType
	}
}

// bytesField appends a length-delimited field of a protobuf message.
func bytesField[T string | []byte](b []byte, number byte, data T) []byte {
	b = binary.AppendUvarint(append(b, number<<3|2), uint64(len(data)))
	return append(b, data...)
}

// sizeOf is the size of a length-delimited field whose number is below 16.
func sizeOf(length int) int {
	size := 2 + length
	for n := length; n >= 0x80; n >>= 7 {
		size++
	}
	return size
}

// typeMeta is the first field of runtime.Unknown.
func typeMeta(apiVersion, kind string) []byte {
	return bytesField(nil, 1, bytesField(bytesField(nil, 1, apiVersion), 2, kind))
}

// unknown appends the envelope of the API machinery (magic, runtime.Unknown) up to its content,
// of which only the length is said.
func unknown(b, typeMeta []byte, length int) []byte {
	b = append(append(b, magic...), typeMeta...)
	return binary.AppendUvarint(append(b, 2<<3|2), uint64(length))
}

// unknownSize is the size of an envelope with its content. After the content come two empty
// strings: contentEncoding and contentType, which the API server writes too.
func unknownSize(typeMeta []byte, length int) int {
	return len(magic) + len(typeMeta) + sizeOf(length) + len(unknownEnd)
}

const unknownEnd = "\x1a\x00\x22\x00"

// body appends an object as the answer to a GET.
func (o *Objects) body(b, item []byte) []byte {
	if o.format == JSON {
		return append(b, item...)
	}
	b = append(unknown(b, o.typeMeta, len(item)), item...)
	return append(b, unknownEnd...)
}

// event appends a frame of a watch, and returns where in it the object begins. typeMeta is that
// of the object.
func (o *Objects) event(b []byte, kind string, typeMeta, object []byte) ([]byte, int) {
	if o.format == JSON {
		b = append(append(append(b, `{"type":"`...), kind...), `","object":`...)
		at := len(b)
		return append(append(b, object...), "}\n"...), at
	}
	raw := unknownSize(typeMeta, len(object)) // what is in RawExtension.raw
	extension := sizeOf(raw)
	b = binary.BigEndian.AppendUint32(b, uint32(sizeOf(len(kind))+sizeOf(extension)))
	b = bytesField(b, 1, kind)
	b = binary.AppendUvarint(append(b, 2<<3|2), uint64(extension))
	b = binary.AppendUvarint(append(b, 1<<3|2), uint64(raw))
	b = unknown(b, typeMeta, len(object))
	at := len(b)
	return append(append(b, object...), unknownEnd...), at
}

// bookmark returns the object of a bookmark.
func (o *Objects) bookmark(version int64, initialEventsEnd bool) []byte {
	meta := metav1.ObjectMeta{ResourceVersion: strconv.FormatInt(version, 10)}
	if initialEventsEnd {
		meta.Annotations = map[string]string{metav1.InitialEventsAnnotationKey: "true"}
	}
	partial := metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: o.kind.APIVersion(), Kind: o.kind.Kind}, ObjectMeta: meta}
	if o.format == JSON {
		return must(json.Marshal(partial))
	}
	return must(partial.Marshal())
}

var statusMeta = typeMeta("v1", "Status")

// expired returns the Status of a watch whose version is too old, in the form that it has in
// the body of an event.
func (o *Objects) expired() []byte {
	status := metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
		Status:   metav1.StatusFailure, Reason: metav1.StatusReasonExpired, Code: 410,
		Message: "too old resource version: the benchmark says so",
	}
	if o.format == JSON {
		return must(json.Marshal(status))
	}
	return must(status.Marshal())
}

// list appends the answer to a LIST, whose items are at from and up to to.
func (o *Objects) list(b []byte, meta metav1.ListMeta, items [][]byte) []byte {
	kind := o.kind.Kind + "List"
	if o.format == JSON {
		b = append(b, `{"kind":"`+kind+`","apiVersion":"`+o.kind.APIVersion()+`","metadata":`...)
		b = append(append(b, must(json.Marshal(meta))...), `,"items":[`...)
		for i, item := range items {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(b, item...)
		}
		return append(b, "]}"...)
	}
	encoded := must(meta.Marshal())
	size := sizeOf(len(encoded))
	for _, item := range items {
		size += sizeOf(len(item))
	}
	b = unknown(b, typeMeta(o.kind.APIVersion(), kind), size)
	b = bytesField(b, 1, encoded)
	for _, item := range items {
		b = bytesField(b, 2, item)
	}
	return append(b, unknownEnd...)
}

// must is for encoders that cannot fail on what they are given here.
func must(b []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return b
}
