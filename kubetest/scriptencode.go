package kubetest

import (
	"errors"
	"fmt"
	"net/http"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/go-kube/kube/internal/codec"
	"github.com/go-kube/kube/k8s/all"
)

// mediaFor returns the encoding of an object that a client gets: what it prefers, as far as
// the object has it.
func mediaFor(r *http.Request, obj runtime.Object) media {
	m, err := negotiate(r, nil)
	if err != nil {
		m = media{}
	}
	m.as = "" // objects are sent as the test has them
	if m.format == formatProtobuf && !codec.SupportsProtobuf(obj) {
		m.format = formatJSON
	}
	return m
}

// encodeFor encodes an object as the client that sent r wants it.
func encodeFor(r *http.Request, obj runtime.Object) ([]byte, media, error) {
	m := mediaFor(r, obj)
	gvk, err := kindOf(obj)
	if err != nil {
		return nil, m, err
	}
	data, err := encodeBody(obj.DeepCopyObject(), gvk, m)
	return data, m, err
}

// encodeItems encodes a list of objects of one kind.
func encodeItems(r *http.Request, meta metav1.ListMeta, items []runtime.Object) ([]byte, media, error) {
	if len(items) == 0 {
		return encodeFor(r, &metav1.PartialObjectMetadataList{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "List"}, ListMeta: meta, Items: []metav1.PartialObjectMetadata{},
		})
	}
	m := mediaFor(r, items[0])
	gvk, err := kindOf(items[0])
	if err != nil {
		return nil, m, err
	}
	list := gvk.GroupVersion().WithKind(gvk.Kind + "List")
	message, err := encodeListMeta(m, meta)
	if err != nil {
		return nil, m, err
	}
	var elements []byte
	for _, item := range items {
		element, err := encodeElement(m, item)
		if err != nil {
			return nil, m, err
		}
		elements = appendElement(m, elements, element)
	}
	if m.format == formatProtobuf {
		data, err := envelope(list, append(message, elements...))
		return data, m, err
	}
	apiVersion, kind := list.ToAPIVersionAndKind()
	data, err := m.finish(fmt.Appendf(nil, `{"kind":%q,"apiVersion":%q,"metadata":%s,"items":[%s]}`, kind, apiVersion, message, elements))
	return data, m, err
}

func encodeListMeta(m media, meta metav1.ListMeta) ([]byte, error) {
	if m.format != formatProtobuf {
		return codec.EncodeJSON(&meta)
	}
	data, err := meta.Marshal()
	return appendMessage(nil, 1, data), err
}

func encodeElement(m media, item runtime.Object) ([]byte, error) {
	if m.format == formatProtobuf {
		return marshal(item)
	}
	return codec.EncodeJSON(item)
}

func appendElement(m media, elements, element []byte) []byte {
	switch {
	case m.format == formatProtobuf:
		return appendMessage(elements, 2, element)
	case len(elements) > 0:
		elements = append(elements, ',')
	}
	return append(elements, element...)
}

// kindOf returns what kind an object is: what it says, or what its type is.
func kindOf(obj runtime.Object) (schema.GroupVersionKind, error) {
	if obj == nil {
		return schema.GroupVersionKind{}, errors.New("the object is nil")
	}
	if gvk := obj.GetObjectKind().GroupVersionKind(); gvk.Kind != "" {
		return gvk, nil
	}
	if _, ok := obj.(*metav1.Status); ok {
		return statusKind, nil
	}
	for _, k := range all.Kinds() {
		if reflect.TypeOf(k.New()) == reflect.TypeOf(obj) {
			return k.Descriptor.GroupVersionKind(), nil
		}
	}
	return schema.GroupVersionKind{}, fmt.Errorf("a %T does not say what kind it is: set apiVersion and kind", obj)
}
