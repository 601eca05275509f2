package kubetest

import (
	"bytes"
	"encoding/binary"
	"encoding/json/jsontext"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/go-kube/kube/internal/codec"
)

// form is one of the encodings that are kept with an object.
type form uint8

const (
	wholeJSON form = iota
	wholeProtobuf
	metadataJSON
	metadataProtobuf
	forms
)

// formOf returns the form that elements of an answer have.
func formOf(m media) form {
	f := wholeJSON
	if m.metadataOnly() {
		f = metadataJSON
	}
	if m.format == formatProtobuf {
		f++
	}
	return f
}

// element returns o as it stands in a list, or in an envelope. Of built-in kinds that is
// without apiVersion and kind.
func (k *kind) element(o *object, f form) ([]byte, error) {
	if k.load != nil && f < metadataJSON {
		return encodeForm(k.convert(o), f) // the object keeps the encodings of its own version
	}
	return o.encoded(f, func() ([]byte, error) { return encodeForm(o.content, f) })
}

func encodeForm(content runtime.Object, f form) ([]byte, error) {
	switch f {
	case wholeJSON:
		return codec.EncodeJSON(content)
	case wholeProtobuf:
		return marshal(content)
	case metadataJSON:
		return codec.EncodeJSON(partial(content))
	case metadataProtobuf:
		return marshal(partial(content))
	}
	return nil, errNoForm
}

// partial returns the metadata of obj as an object, without apiVersion and kind.
func partial(obj runtime.Object) *metav1.PartialObjectMetadata {
	p := meta.AsPartialObjectMetadata(accessor(obj))
	p.TypeMeta = metav1.TypeMeta{}
	return p
}

// marshal returns a protobuf message without an envelope.
func marshal(obj any) ([]byte, error) {
	m, ok := obj.(interface{ Marshal() ([]byte, error) })
	if !ok {
		return nil, fmt.Errorf("a %T has no protobuf form", obj)
	}
	return m.Marshal()
}

// envelope wraps a message as the API server does: four magic bytes and a runtime.Unknown.
func envelope(gvk schema.GroupVersionKind, message []byte) ([]byte, error) {
	apiVersion, kind := gvk.ToAPIVersionAndKind()
	u := runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: apiVersion, Kind: kind}, Raw: message}
	data := make([]byte, len(protobufMagic)+u.Size())
	copy(data, protobufMagic)
	_, err := u.MarshalTo(data[len(protobufMagic):])
	return data, err
}

const protobufMagic = "k8s\x00"

// withTypeMeta returns a JSON object with apiVersion and kind in front.
func withTypeMeta(gvk schema.GroupVersionKind, element []byte) []byte {
	apiVersion, kind := gvk.ToAPIVersionAndKind()
	data := make([]byte, 0, len(element)+len(apiVersion)+len(kind)+32)
	data = append(data, `{"kind":"`...)
	data = append(data, kind...)
	data = append(data, `","apiVersion":"`...)
	data = append(data, apiVersion...)
	data = append(data, '"')
	if len(element) > 2 {
		data = append(data, ',')
	}
	return append(data, element[1:]...)
}

// document returns o as the whole body of an answer, in the version of k.
func (k *kind) document(o *object, m media) ([]byte, error) {
	gvk := k.GroupVersionKind()
	if m.metadataOnly() {
		gvk = schema.GroupVersionKind{Group: metav1.GroupName, Version: m.asVersion, Kind: asMetadata}
	}
	data, err := k.element(o, formOf(m))
	if err != nil {
		return nil, err
	}
	if m.format == formatProtobuf {
		return envelope(gvk, data)
	}
	if !k.custom || m.metadataOnly() {
		data = withTypeMeta(gvk, data)
	}
	return m.finish(data)
}

// finish makes JSON what m wants. It may change data.
func (m media) finish(data []byte) ([]byte, error) {
	switch {
	case m.format == formatYAML:
		return yaml.JSONToYAML(data)
	case m.pretty:
		value := jsontext.Value(bytes.Clone(data))
		if err := value.Indent(jsontext.WithIndent("  ")); err != nil {
			return nil, err
		}
		return append(value, '\n'), nil
	}
	return append(data[:len(data):len(data)], '\n'), nil
}

// encodeBody returns obj, which is no stored object, as the whole body of an answer. It writes
// apiVersion and kind into obj.
func encodeBody(obj runtime.Object, gvk schema.GroupVersionKind, m media) ([]byte, error) {
	if m.format == formatProtobuf {
		apiVersion, kind := gvk.ToAPIVersionAndKind()
		return codec.EncodeProtobuf(obj, apiVersion, kind)
	}
	setTypeMeta(obj, gvk)
	data, err := codec.EncodeJSON(obj)
	if err != nil {
		return nil, err
	}
	return m.finish(data)
}

// listOf is a list of objects of a kind, as it is sent.
type listOf struct {
	kind  *kind
	meta  metav1.ListMeta
	items []*object
}

// encode returns the list as the whole body of an answer.
func (l *listOf) encode(m media) ([]byte, error) {
	gvk := l.kind.groupVersion().WithKind(l.kind.list)
	if m.metadataOnly() {
		gvk = schema.GroupVersionKind{Group: metav1.GroupName, Version: m.asVersion, Kind: asMetadataList}
	}
	if m.format == formatProtobuf {
		return l.encodeProtobuf(gvk, formOf(m))
	}
	data, err := l.encodeJSON(gvk, m)
	if err != nil {
		return nil, err
	}
	return m.finish(data)
}

func (l *listOf) encodeProtobuf(gvk schema.GroupVersionKind, f form) ([]byte, error) {
	meta, err := l.meta.Marshal()
	if err != nil {
		return nil, err
	}
	message := appendMessage(nil, 1, meta)
	for _, o := range l.items {
		item, err := l.kind.element(o, f)
		if err != nil {
			return nil, err
		}
		message = appendMessage(message, 2, item)
	}
	return envelope(gvk, message)
}

// appendMessage appends a field whose value is a message.
func appendMessage(b []byte, number byte, message []byte) []byte {
	b = binary.AppendUvarint(append(b, number<<3|2), uint64(len(message)))
	return append(b, message...)
}

// encodeJSON has the order of members that a real server has: lists of custom resources are
// maps there, and sorted.
func (l *listOf) encodeJSON(gvk schema.GroupVersionKind, m media) ([]byte, error) {
	items, err := l.itemsJSON(m)
	if err != nil {
		return nil, err
	}
	meta, err := l.metaJSON(m)
	if err != nil {
		return nil, err
	}
	apiVersion, kind := gvk.ToAPIVersionAndKind()
	if l.kind.custom && !m.metadataOnly() {
		return fmt.Appendf(nil, `{"apiVersion":%q,"items":%s,"kind":%q,"metadata":%s}`, apiVersion, items, kind, meta), nil
	}
	return fmt.Appendf(nil, `{"kind":%q,"apiVersion":%q,"metadata":%s,"items":%s}`, kind, apiVersion, meta, items), nil
}

func (l *listOf) metaJSON(m media) ([]byte, error) {
	if !l.kind.custom || m.metadataOnly() {
		return codec.EncodeJSON(&l.meta)
	}
	fields := map[string]any{"continue": l.meta.Continue, "resourceVersion": l.meta.ResourceVersion}
	if l.meta.RemainingItemCount != nil {
		fields["remainingItemCount"] = *l.meta.RemainingItemCount
	}
	return codec.EncodeJSON(fields)
}

func (l *listOf) itemsJSON(m media) ([]byte, error) {
	items := []byte{'['}
	for i, o := range l.items {
		item, err := l.kind.element(o, formOf(m))
		if err != nil {
			return nil, err
		}
		if i > 0 {
			items = append(items, ',')
		}
		if m.metadataOnly() {
			item = withTypeMeta(schema.GroupVersionKind{Group: metav1.GroupName, Version: m.asVersion, Kind: asMetadata}, item)
		}
		items = append(items, item...)
	}
	return append(items, ']'), nil
}
