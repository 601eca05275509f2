package wire

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

type marshaler interface{ Marshal() ([]byte, error) }

// wrap puts a message into its envelope, with the magic in front.
func wrap(apiVersion, kind string, message []byte) []byte {
	u := runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: apiVersion, Kind: kind}, Raw: message}
	return append([]byte(magic), must(u.Marshal())...)
}

// podList returns n pods as a list.
func podList(n int) *corev1.PodList {
	count := int64(7)
	list := &corev1.PodList{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PodList"},
		ListMeta: metav1.ListMeta{ResourceVersion: "42", Continue: "next", RemainingItemCount: &count},
	}
	for i := range n {
		list.Items = append(list.Items, *makePod(i))
	}
	return list
}

// listBody encodes a list as a server does.
func listBody(format Format, list *corev1.PodList) []byte {
	if format == Protobuf {
		return wrap("v1", "PodList", must(list.Marshal()))
	}
	return must(json.Marshal(list))
}

// eventBody encodes an event as a server does.
func eventBody(format Format, word string, apiVersion, kind string, object marshaler) []byte {
	if format == Protobuf {
		event := metav1.WatchEvent{Type: word, Object: runtime.RawExtension{Raw: wrap(apiVersion, kind, must(object.Marshal()))}}
		data := must(event.Marshal())
		return append(binary.BigEndian.AppendUint32(nil, uint32(len(data))), data...)
	}
	var b bytes.Buffer
	b.WriteString(`{"type":"` + word + `","object":`)
	b.Write(must(json.Marshal(object)))
	b.WriteString("}\n")
	return b.Bytes()
}

// decodePod decodes an object by the generated code, or by encoding/json.
func decodePod(t testing.TB, o *Object) *corev1.Pod {
	t.Helper()
	pod := new(corev1.Pod)
	var err error
	if o.Format() == Protobuf {
		err = pod.Unmarshal(o.Bytes())
	} else {
		err = json.Unmarshal(o.Bytes(), pod)
	}
	if err != nil {
		t.Fatalf("decode %s: %v", o.Name(), err)
	}
	return pod
}

// encodePod encodes a pod as it stands in a list.
func encodePod(format Format, pod *corev1.Pod) []byte {
	if format == Protobuf {
		return must(pod.Marshal())
	}
	return must(json.Marshal(pod))
}
