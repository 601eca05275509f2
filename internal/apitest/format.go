package apitest

import (
	"encoding/binary"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

const (
	mediaJSON     = "application/json"
	mediaProtobuf = "application/vnd.kubernetes.protobuf"
)

// format is how bodies are encoded.
type format string

// format returns the encoding of the answer to r.
func (s *Server) format(r *http.Request) format {
	if s.protobuf && strings.Contains(r.Header.Get("Accept"), mediaProtobuf) {
		return mediaProtobuf
	}
	return mediaJSON
}

func (f format) watchType() string {
	if f == mediaProtobuf {
		return mediaProtobuf + ";stream=watch"
	}
	return mediaJSON
}

func (f format) writeList(w http.ResponseWriter, resourceVersion, next string, items []any) {
	meta := metav1.ListMeta{ResourceVersion: resourceVersion, Continue: next}
	w.Header().Set("Content-Type", string(f))
	if f == mediaProtobuf {
		w.Write(envelope("v1", "List", protobufList(meta, items)))
		return
	}
	encoded := make([]json.RawMessage, len(items))
	for i, item := range items {
		encoded[i] = mustJSON(item)
	}
	w.Write(mustJSON(map[string]any{"kind": "List", "apiVersion": "v1", "metadata": meta, "items": encoded}))
}

func (f format) writeEvent(w http.ResponseWriter, eventType string, object any) {
	if f != mediaProtobuf {
		w.Write(append(mustJSON(map[string]any{"type": eventType, "object": json.RawMessage(mustJSON(object))}), '\n'))
		return
	}
	event := metav1.WatchEvent{Type: eventType, Object: runtime.RawExtension{Raw: envelope("v1", kindOf(object), marshal(object))}}
	data := marshal(&event)
	w.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(data))), data...))
}

func kindOf(object any) string {
	if _, ok := object.(*metav1.Status); ok {
		return "Status"
	}
	return "Object"
}

// envelope wraps a protobuf message as the API server does: four magic bytes and a
// runtime.Unknown.
func envelope(apiVersion, kind string, message []byte) []byte {
	u := runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: apiVersion, Kind: kind}, Raw: message}
	return append([]byte("k8s\x00"), marshal(&u)...)
}

// protobufList encodes what all lists have in common: metadata is field 1, items are field 2.
func protobufList(meta metav1.ListMeta, items []any) []byte {
	list := appendField(nil, 1, marshal(&meta))
	for _, item := range items {
		list = appendField(list, 2, marshal(item))
	}
	return list
}

func appendField(b []byte, number byte, message []byte) []byte {
	b = binary.AppendUvarint(append(b, number<<3|2), uint64(len(message)))
	return append(b, message...)
}

func marshal(object any) []byte {
	data, err := object.(interface{ Marshal() ([]byte, error) }).Marshal()
	if err != nil {
		panic("apitest: " + err.Error())
	}
	return data
}

func seconds(d time.Duration) string { return strconv.Itoa(int(d / time.Second)) }
