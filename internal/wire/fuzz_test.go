package wire

import (
	"bytes"
	jsonv1 "encoding/json"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"fmt"
	"io"
	"maps"
	"regexp"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// reference is how Kubernetes' JSON is decoded, but for duplicate names and invalid UTF-8,
// which are not compared.
var reference = json.JoinOptions(
	jsonv1.DefaultOptionsV1(),
	json.MatchCaseInsensitiveNames(false),
	jsontext.AllowDuplicateNames(false),
	jsontext.AllowInvalidUTF8(false),
)

// referenceMeta is the part of an ObjectMeta that is looked at.
type referenceMeta struct {
	Name              string                  `json:"name"`
	Namespace         string                  `json:"namespace"`
	UID               string                  `json:"uid"`
	ResourceVersion   string                  `json:"resourceVersion"`
	Generation        int64                   `json:"generation"`
	CreationTimestamp metav1.Time             `json:"creationTimestamp"`
	DeletionTimestamp *metav1.Time            `json:"deletionTimestamp"`
	Labels            map[string]string       `json:"labels"`
	Annotations       map[string]string       `json:"annotations"`
	OwnerReferences   []metav1.OwnerReference `json:"ownerReferences"`
	Finalizers        []string                `json:"finalizers"`
}

func (m *referenceMeta) objectMeta() metav1.ObjectMeta {
	annotations := maps.Clone(m.Annotations)
	delete(annotations, lastApplied)
	return metav1.ObjectMeta{
		Name: m.Name, Namespace: m.Namespace, UID: types.UID(m.UID), ResourceVersion: m.ResourceVersion, Generation: m.Generation,
		CreationTimestamp: m.CreationTimestamp, DeletionTimestamp: m.DeletionTimestamp, Labels: m.Labels, Annotations: annotations,
		OwnerReferences: m.OwnerReferences, Finalizers: m.Finalizers,
	}
}

// seedPod is a pod with everything in its metadata and little else: small inputs fuzz well.
func seedPod() *corev1.Pod {
	now := metav1.Unix(1700000000, 0)
	pod := &corev1.Pod{ObjectMeta: makePod(1).ObjectMeta}
	pod.Annotations = map[string]string{lastApplied: `{"kind":"Pod"}`, "a": "b"}
	pod.DeletionTimestamp, pod.Finalizers, pod.Generation = &now, []string{"a/b"}, 7
	pod.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "x", FieldsV1: metav1.NewFieldsV1(`{"k:{\"a\":\"b\"}":{}}`)}}
	return pod
}

// seedList is a list of two of them.
func seedList() *corev1.PodList {
	list := podList(0)
	list.Items = []corev1.Pod{*seedPod(), {ObjectMeta: metav1.ObjectMeta{Name: "second"}}}
	return list
}

// seedObjects are objects in JSON that a fuzzer starts from.
func seedObjects() [][]byte {
	return [][]byte{
		encodePod(JSON, seedPod()),
		[]byte(`{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"annotations":{"` + lastApplied + `":"{}"},"labels":{"a\u0062":null},"managedFields":[{"a":"]\"}"}],"name":"x","generation":-3}}`),
		[]byte(` { "spec" : [ 1 , -2.5e+10 , true , null , "\\\"" ] , "metadata" : { "name" : "\ud83d\ude00" , "ownerReferences" : [ { "controller" : false } , null ] , "finalizers":["a",null] } } `),
		[]byte(`{"metadata":{"labels":5}}`), []byte(`{"metadata":null}`), []byte(`[]`), []byte(`{}`), []byte(`"x"`), []byte(`-0.1e5`),
		[]byte(`{"metadata":{"name":"a","creationTimestamp":"2026-01-01T00:00:00.5+02:00","deletionTimestamp":null,"unknown":{"x":[{}]}}}`),
	}
}

// FuzzObjectJSON compares with encoding/json: what that takes is taken, with the same metadata
// and the same rest; where the metadata does not fit, so it says.
func FuzzObjectJSON(f *testing.F) {
	for _, seed := range seedObjects() {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		o, err := ReadObject(data, JSON, nil)
		if err == nil {
			checkAccess(t, &o)
		}
		var any any
		if json.Unmarshal(data, &any, reference) != nil {
			return // broken outside of metadata may be good enough here, and is not compared
		}
		if err != nil {
			t.Fatalf("valid JSON is refused: %v", err)
		}
		compareJSON(t, &o, data, any)
	})
}

func compareJSON(t *testing.T, o *Object, data []byte, whole any) {
	t.Helper()
	var want struct {
		Metadata *referenceMeta `json:"metadata"`
	}
	err := json.Unmarshal(data, &want, reference)
	if _, ok := whole.(map[string]any); !ok || err != nil || want.Metadata == nil || want.Metadata.Name == "" {
		if o.Err() == nil {
			t.Fatalf("the object has no error; encoding/json says %v", err)
		}
		return
	}
	if o.Err() != nil {
		t.Fatalf("%v; encoding/json takes it", o.Err())
	}
	if diff := cmp.Diff(want.Metadata.objectMeta(), metaOf(o), cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("metadata (-want +got):\n%s", diff)
	}
	var kept any
	if err := json.Unmarshal(o.Bytes(), &kept, reference); err != nil {
		t.Fatalf("what is kept is not JSON: %v\n%s", err, o.Bytes())
	}
	if diff := cmp.Diff(leaveOut(whole), kept); diff != "" {
		t.Fatalf("what is kept (-want +got):\n%s", diff)
	}
}

// leaveOut removes what is not kept from a decoded object.
func leaveOut(object any) any {
	meta := object.(map[string]any)["metadata"].(map[string]any)
	delete(meta, "managedFields")
	annotations, _ := meta["annotations"].(map[string]any)
	if _, ok := annotations[lastApplied]; ok {
		delete(annotations, lastApplied)
		if len(annotations) == 0 {
			delete(meta, "annotations")
		}
	}
	return object
}

// checkAccess asks an object, which may be broken, for everything.
func checkAccess(t *testing.T, o *Object) {
	t.Helper()
	if namespace, name := o.Namespace(), o.Name(); !o.IsNamed(namespace, name) || o.IsNamed(namespace+"x", name) || o.IsNamed(namespace, name+"x") {
		t.Errorf("IsNamed is wrong about %q, %q", namespace, name)
	}
	_ = metaOf(o)
	if o.Size() != len(o.Bytes()) {
		t.Errorf("size %d of %d bytes", o.Size(), len(o.Bytes()))
	}
}

// FuzzObjectProtobuf compares with the generated code: what that takes is taken, with the
// same metadata, and what is kept decodes to the same.
func FuzzObjectProtobuf(f *testing.F) {
	pod := seedPod()
	f.Add(must(pod.Marshal()))
	meta := must(pod.ObjectMeta.Marshal())
	f.Add(appendField(appendField(appendField(nil, 1, meta), 2, nil), 1, meta))
	f.Add([]byte("\x0a\x09\x0a\x01a\x7b\x08\x01\x7c\x40\x01"))
	f.Add([]byte("\x0a\x0c\x0a\x01a\x62\x07\x08\x01b\x10\x01c\x18\x01"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if HasEnvelope(data) {
			return
		}
		o, err := ReadObject(data, Protobuf, nil)
		if err != nil {
			t.Fatalf("a bare message is refused: %v", err)
		}
		checkAccess(t, &o)
		var want metav1.PartialObjectMetadata
		if want.Unmarshal(data) != nil {
			return
		}
		if want.Name == "" {
			if o.Err() == nil {
				t.Fatal("no error of an object without a name")
			}
			return
		}
		compareProtobuf(t, &o, &want)
	})
}

// inEntry is how damage is reported that the generated code does not see in the entries of maps:
// a key or a value that reaches beyond the entry, and fields without a number.
var inEntry = regexp.MustCompile(`^invalid protobuf: (broken varint at|field number -?\d+ at|field \d+ at byte \d+ (has|is cut off))`)

func compareProtobuf(t *testing.T, o *Object, want *metav1.PartialObjectMetadata) {
	t.Helper()
	if err := o.Err(); err != nil {
		if inEntry.MatchString(err.Error()) {
			return
		}
		t.Fatalf("%v; the generated code takes it", err)
	}
	want.ManagedFields = nil
	delete(want.Annotations, lastApplied)
	if diff := cmp.Diff(routed(want.ObjectMeta), metaOf(o), cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("metadata (-want +got):\n%s", diff)
	}
	var kept metav1.PartialObjectMetadata
	if err := kept.Unmarshal(o.Bytes()); err != nil {
		t.Fatalf("what is kept does not decode: %v", err)
	}
	if diff := cmp.Diff(want, &kept, cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("what is kept (-want +got):\n%s", diff)
	}
}

// result is everything that a list or a watch gives, to be compared.
type result struct {
	List    ListMeta
	Objects []string
	Err     string
	objects []Object
}

func (r *result) add(word string, o Object) {
	r.objects = append(r.objects, o)
	r.Objects = append(r.Objects, fmt.Sprintf("%s %v %q", word, o.Err(), o.Bytes()))
}

func listOf(r io.Reader, format Format) (got result) {
	meta, err := ReadList(r, format, &Options{MaxObjectBytes: 1 << 20}, func(o Object) error {
		got.add("item", o)
		return nil
	})
	got.List, got.Err = meta, fmt.Sprint(err)
	return got
}

func watchOf(t *testing.T, r io.Reader, format Format) (got result) {
	w := newReader(t, r, format, &Options{MaxObjectBytes: 1 << 20})
	for {
		event, err := w.Next()
		if err != nil {
			got.Err = err.Error()
			return got
		}
		got.add(fmt.Sprint(event.Type, event.InitialEventsEnd, event.Status), event.Object)
	}
}

// sameTorn checks that it does not matter in which pieces a body arrives.
func sameTorn(t *testing.T, data []byte, read func(io.Reader) result) result {
	t.Helper()
	whole := read(bytes.NewReader(data))
	for i := range whole.objects {
		checkAccess(t, &whole.objects[i])
	}
	torn := map[string]io.Reader{"halves": iotest.HalfReader(bytes.NewReader(data)), "bytes": iotest.OneByteReader(bytes.NewReader(data))}
	for name, r := range torn {
		got := read(r)
		if diff := cmp.Diff(whole, got, cmpopts.IgnoreUnexported(result{})); diff != "" {
			t.Fatalf("in %s (-whole +torn):\n%s", name, diff)
		}
	}
	return whole
}

func FuzzListJSON(f *testing.F) {
	f.Add(listBody(JSON, seedList()))
	for _, seed := range seedObjects() {
		f.Add(fmt.Appendf(nil, `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"5","remainingItemCount":1},"items":[%s,%s]}`, seed, seed))
		f.Add(fmt.Appendf(nil, ` {"items" : [ %s ] , "kind":"x","metadata":{"continue":"\"","shardInfo":{"selector":"s"}}} `, seed))
	}
	f.Add([]byte(`{"kind":"Status","code":410}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		got := sameTorn(t, data, func(r io.Reader) result { return listOf(r, JSON) })
		var want struct {
			Items *[]jsontext.Value `json:"items"`
		}
		if json.Unmarshal(data, &want, reference) != nil || want.Items == nil || got.Err != "<nil>" {
			return
		}
		if len(*want.Items) != len(got.objects) {
			t.Fatalf("%d objects, encoding/json finds %d", len(got.objects), len(*want.Items))
		}
		for i, item := range *want.Items {
			var whole any
			if err := json.Unmarshal(item, &whole, reference); err != nil {
				t.Fatal(err)
			}
			compareJSON(t, &got.objects[i], item, whole)
		}
	})
}

// FuzzListJSONAccepts: a list whose own members have the right types is taken, whatever is in it.
func FuzzListJSONAccepts(f *testing.F) {
	f.Add([]byte(`{"a":[]}`), []byte(`"5"`), []byte(`{"metadata":{"name":"a"}}`))
	f.Add([]byte(`null`), []byte(`null`), []byte(` 5 `))
	f.Fuzz(func(t *testing.T, other, version, item []byte) {
		body := fmt.Appendf(nil, `{"other":%s,"metadata":{"resourceVersion":%s},"items":[%s,%s]}`, other, version, item, item)
		var want struct {
			Metadata struct {
				ResourceVersion string `json:"resourceVersion"`
			} `json:"metadata"`
			Items []jsontext.Value `json:"items"`
		}
		if json.Unmarshal(body, &want, reference) != nil {
			return
		}
		got := listOf(bytes.NewReader(body), JSON)
		if got.Err != "<nil>" || len(got.objects) != len(want.Items) || got.List.ResourceVersion != want.Metadata.ResourceVersion {
			t.Fatalf("%s: %d objects, version %q, want %d and %q\n%s", got.Err, len(got.objects), got.List.ResourceVersion, len(want.Items), want.Metadata.ResourceVersion, body)
		}
	})
}

func FuzzListProtobuf(f *testing.F) {
	message := must(seedList().Marshal())
	f.Add(wrap("v1", "PodList", message))
	f.Add(reversed("v1", "PodList", message))
	f.Add(wrap("", "", message))
	f.Add(wrap("v1", "Status", must(tooOld().Marshal())))
	f.Add(wrap("v1", "PodList", []byte("\x12\x05\x0a\x03\x0a\x01a\x7b\x08\x01\x7c\x12\x00\x0a\x06\x12\x01a\x1a\x01b")))
	f.Fuzz(func(t *testing.T, data []byte) {
		got := sameTorn(t, data, func(r io.Reader) result { return listOf(r, Protobuf) })
		var envelope runtime.Unknown
		var want metav1.PartialObjectMetadataList
		if !HasEnvelope(data) || envelope.Unmarshal(data[len(magic):]) != nil || want.Unmarshal(envelope.Raw) != nil || got.Err != "<nil>" {
			return
		}
		if len(want.Items) != len(got.objects) {
			t.Fatalf("%d objects, the generated code finds %d", len(got.objects), len(want.Items))
		}
		if want.Continue != got.List.Continue || want.ResourceVersion != got.List.ResourceVersion {
			t.Fatalf("list metadata %+v, the generated code finds %+v", got.List, want.ListMeta)
		}
		for i := range want.Items {
			if want.Items[i].Name != "" {
				compareProtobuf(t, &got.objects[i], &want.Items[i])
			} else if got.objects[i].Err() == nil {
				t.Fatal("no error of an object without a name")
			}
		}
	})
}

func FuzzWatchJSON(f *testing.F) {
	f.Add(stream(JSON, seedPod()))
	for _, seed := range seedObjects() {
		f.Add(fmt.Appendf(nil, `{"type":"ADDED","object":%s}%s{"object":%s,"type":"BOOKMARK"}`, seed, "\n", seed))
	}
	f.Add(must(json.Marshal(tooOld())))
	f.Fuzz(func(t *testing.T, data []byte) {
		got := sameTorn(t, data, func(r io.Reader) result { return watchOf(t, r, JSON) })
		decoder := jsontext.NewDecoder(bytes.NewReader(data), reference)
		for i := range got.objects {
			var want struct {
				Type   string         `json:"type"`
				Object jsontext.Value `json:"object"`
			}
			var whole any
			if json.UnmarshalDecode(decoder, &want, reference) != nil || json.Unmarshal(want.Object, &whole, reference) != nil {
				return
			}
			if want.Type == "ADDED" || want.Type == "MODIFIED" || want.Type == "DELETED" {
				compareJSON(t, &got.objects[i], want.Object, whole)
			}
		}
	})
}

func FuzzWatchProtobuf(f *testing.F) {
	f.Add(stream(Protobuf, seedPod()))
	f.Add([]byte("\x00\x00\x00\x02\x08\x01"))
	f.Fuzz(func(t *testing.T, data []byte) {
		sameTorn(t, data, func(r io.Reader) result { return watchOf(t, r, Protobuf) })
	})
}

// FuzzSkipValue: the scanner finds the end of a valid value where encoding/json does, and never
// takes a value for more than it is.
func FuzzSkipValue(f *testing.F) {
	for _, seed := range seedObjects() {
		f.Add(seed, []byte(","))
	}
	f.Add([]byte(`"\\\\\""`), []byte(`"`))
	f.Add([]byte(`1.5E-3`), []byte(`]`))
	f.Fuzz(func(t *testing.T, value, behind []byte) {
		if !jsontext.Value(value).IsValid(reference) {
			return
		}
		value = bytes.TrimSpace(value)
		if len(behind) > 0 && !bytes.ContainsAny(behind[:1], ",]}: \t\n\r") {
			return // it may belong to a number
		}
		for _, tear := range readers {
			w := newWindow(tear(io.MultiReader(bytes.NewReader(value), bytes.NewReader(behind))), &Options{MaxObjectBytes: 1 << 20})
			kind, start, end, err := w.skipValue()
			if err != nil || start != 0 || end != len(value) {
				t.Fatalf("%d:%d, %v, want 0:%d", start, end, err, len(value))
			}
			if want := byte(jsontext.Value(value).Kind()); kind != want {
				t.Fatalf("kind %c, want %c", kind, want)
			}
		}
	})
}

// FuzzUnquote compares with encoding/json.
func FuzzUnquote(f *testing.F) {
	f.Add(`a\u0062\n\\\"\ud83d\ude00`)
	f.Add(`\ud83d`)
	f.Fuzz(func(t *testing.T, text string) {
		var want string
		err := json.Unmarshal([]byte(`"`+text+`"`), &want, jsontext.AllowInvalidUTF8(true))
		if !validString(text) {
			unquote(text)
			if json.Unmarshal([]byte(`"`+text+`"`), &want) == nil {
				t.Fatalf("%q is refused", text)
			}
			return
		}
		if got := unquote(text); err != nil || got != want {
			t.Fatalf("%q, want %q, %v", got, want, err)
		}
	})
}
