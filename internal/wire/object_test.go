package wire

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestObjectSize: an object costs its bytes and little more.
func TestObjectSize(t *testing.T) {
	if size := unsafe.Sizeof(Object{}); size > 120 {
		t.Errorf("an Object has %d bytes, more than 120", size)
	}
}

// TestListBrokenObjects: each broken object is an error of its own, has what could be read, and
// disturbs none of its neighbours.
func TestListBrokenObjects(t *testing.T) {
	tests := []struct{ object, want, name, namespace string }{
		{`null`, "it is null, not an object", "", ""},
		{`5`, "it is a number, not an object", "", ""},
		{`"text"`, "it is a string, not an object", "", ""},
		{`[{"metadata":{"name":"x"}}]`, "it is an array, not an object", "", ""},
		{`true`, "it is a boolean, not an object", "", ""},
		{`{}`, "the object has no metadata", "", ""},
		{`{"metadata":null}`, "the object has no metadata", "", ""},
		{`{"metadata":[]}`, "metadata is an array, not an object", "", ""},
		{`{"metadata":{}}`, "metadata.name is not set", "", ""},
		{`{"metadata":{"name":"","namespace":"n"}}`, "metadata.name is not set", "", "n"},
		{`{"metadata":{"name":null}}`, "metadata.name is not set", "", ""},
		{`{"metadata":{"name":"x","namespace":"n","labels":5}}`, "metadata.labels is a number, not an object", "x", "n"},
		{`{"metadata":{"labels":"a","name":"x","namespace":"n"}}`, "metadata.labels is a string, not an object", "x", "n"},
		{`{"metadata":{"labels":{"a":1},"name":"x"}}`, "metadata.labels has a value that is a number, not a string", "x", ""},
		{`{"metadata":{"labels":{"\q":"b"},"name":"x"}}`, `metadata.labels has an invalid name: "\\q"`, "x", ""},
		{`{"metadata":{"annotations":{"a":{}},"name":"x"}}`, "metadata.annotations has a value that is an object, not a string", "x", ""},
		{`{"metadata":{"name":5,"namespace":"n"}}`, "metadata.name is a number, not a string", "", "n"},
		{`{"metadata":{"name":"x","generation":1.5}}`, "metadata.generation is 1.5, not an integer of 64 bits", "x", ""},
		{`{"metadata":{"name":"x","generation":"1"}}`, "metadata.generation is a string, not a number", "x", ""},
		{`{"metadata":{"name":"x","generation":9223372036854775808}}`, "metadata.generation is 9223372036854775808, not an integer of 64 bits", "x", ""},
		{`{"metadata":{"name":"x","creationTimestamp":"soon"}}`, `metadata.creationTimestamp is "soon", not a time like 2006-01-02T15:04:05Z`, "x", ""},
		{`{"metadata":{"name":"x","deletionTimestamp":false}}`, `metadata.deletionTimestamp is a boolean, not a string`, "x", ""},
		{`{"metadata":{"name":"x","ownerReferences":{}}}`, "metadata.ownerReferences is an object, not an array", "x", ""},
		{`{"metadata":{"name":"x","ownerReferences":["a"]}}`, "metadata.ownerReferences has an element that is a string, not an object", "x", ""},
		{`{"metadata":{"name":"x","ownerReferences":[{"uid":1}]}}`, "metadata.ownerReferences has a uid that is a number, not a string", "x", ""},
		{`{"metadata":{"name":"x","ownerReferences":[{"controller":"yes"}]}}`, "metadata.ownerReferences has a controller that is a string, not a boolean", "x", ""},
		{`{"metadata":{"name":"x","finalizers":[1]}}`, "metadata.finalizers has an element that is a number, not a string", "x", ""},
		{`{"metadata":{"name":"x","name":"y"}}`, "metadata.name is there twice", "y", ""},
		{`{"metadata":{"name":"x"},"metadata":{"namespace":"n"}}`, "metadata is there twice", "x", "n"},
		{`{"metadata":{"name":"\x"}}`, `metadata.name is not a valid string: "\\x"`, "", ""},
		{"{\"metadata\":{\"name\":\"x\xff\",\"namespace\":\"n\"}}", `metadata.name is not a valid string: "x\xff"`, "", "n"},
		{"{\"metadata\":{\"name\":\"x\ny\"}}", `metadata.name is not a valid string: "x\ny"`, "", ""},
		{`{"metadata":{"name":"x","namespace":"n",}}`, `invalid JSON: '}' where "\"" belongs, at byte 81`, "x", "n"},
		{`{"metadata":{"managedFields":[],"name":"x" "namespace":"n"}}`, `invalid JSON: '"' where "," belongs, at byte 84`, "x", ""},
		{`{"metadata":{"name":"x","labels":{"a" "b"}}}`, `invalid JSON: '"' where ":" belongs, at byte 79`, "x", ""},
		{`{"metadata":{"name":"x","uid":tru}}`, `invalid JSON: 't' where "value" belongs, at byte 71`, "x", ""},
		{`{"metadata":{"name":"x"},"spec":` + strings.Repeat("[", maxDepth) + strings.Repeat("]", maxDepth) + `}`, "invalid JSON: nested 10000 levels deep, more than the limit of 10000", "x", ""},
	}
	for _, test := range tests {
		t.Run(test.want, func(t *testing.T) {
			for _, tear := range readers {
				body := `{"items":[{"metadata":{"name":"before"}},` + test.object + `,{"metadata":{"name":"behind"}}]}`
				_, objects := collect(t, tear(strings.NewReader(body)), JSON, nil)
				if len(objects) != 3 {
					t.Fatalf("%d objects", len(objects))
				}
				if objects[0].Err() != nil || objects[0].Name() != "before" || objects[2].Err() != nil || objects[2].Name() != "behind" {
					t.Errorf("the neighbours are %v and %v", objects[0].Err(), objects[2].Err())
				}
				o := &objects[1]
				if err := o.Err(); err == nil || err.Error() != test.want {
					t.Errorf("got  %v\nwant %s", err, test.want)
				}
				if o.Name() != test.name || o.Namespace() != test.namespace {
					t.Errorf("it is %s/%s, want %s/%s", o.Namespace(), o.Name(), test.namespace, test.name)
				}
				_ = metaOf(o)
			}
		})
	}
}

// TestBrokenObjectIsKeptWhole: of an object that cannot be read nothing is left out.
func TestBrokenObjectIsKeptWhole(t *testing.T) {
	text := `{"metadata":{"managedFields":[1],"name":"x","namespace":"n","labels":{"a":"b"},,}}`
	o, err := ReadObject([]byte(text), JSON, nil)
	if err != nil || o.Err() == nil {
		t.Fatal(err, o.Err())
	}
	if got := string(o.Bytes()); got != text {
		t.Errorf("bytes %s", got)
	}
	if a, _ := o.Label("a"); a != "b" || o.Name() != "x" || o.Namespace() != "n" {
		t.Errorf("%s/%s, a=%s", o.Namespace(), o.Name(), a)
	}
	whole := must(makePod(1).Marshal())
	whole = append(whole, 0x7a, 9) // a field that is cut off
	o, err = ReadObject(whole, Protobuf, nil)
	if err != nil || o.Err() == nil {
		t.Fatal(err, o.Err())
	}
	if !bytes.Equal(o.Bytes(), whole) {
		t.Error("the bytes of the protobuf object are not those that came")
	}
	if diff := cmp.Diff(routed(makePod(1).ObjectMeta), metaOf(&o)); diff != "" {
		t.Errorf("metadata (-want +got):\n%s", diff)
	}
}

// TestProtobufMetadata reads metadata where protobuf allows it and no encoder puts it.
func TestProtobufMetadata(t *testing.T) {
	pod := makePod(1)
	pod.Finalizers = []string{"a/b"}
	spec, status := appendField(nil, 2, must(pod.Spec.Marshal())), appendField(nil, 3, must(pod.Status.Marshal()))
	meta := must(pod.ObjectMeta.Marshal())
	first := metav1.ObjectMeta{Name: "x", ResourceVersion: "1", Labels: map[string]string{"app": "old", "more": "1"}, Finalizers: []string{"c/d"}}
	merged := pod.DeepCopy()
	merged.Labels["more"] = "1"
	merged.Finalizers = []string{"c/d", "a/b"}
	join := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

	var scattered []byte // every entry of a repeated field on its own, in turns
	for _, piece := range []metav1.ObjectMeta{
		{Labels: map[string]string{"a": "1"}}, {Finalizers: []string{"f/1"}}, {Annotations: map[string]string{"x": "1"}},
		{ManagedFields: pod.ManagedFields[:1]}, {Labels: map[string]string{"b": "2"}}, {Annotations: map[string]string{lastApplied: "{}"}},
		{Finalizers: []string{"f/2"}}, {OwnerReferences: pod.OwnerReferences}, {ManagedFields: pod.ManagedFields[1:]},
		{Annotations: map[string]string{"y": "2"}}, {OwnerReferences: []metav1.OwnerReference{{Kind: "Second"}}},
	} {
		scattered = append(scattered, must(piece.Marshal())...)
	}
	scattered = append(scattered, must((&metav1.ObjectMeta{Name: "s", Namespace: "n"}).Marshal())...)
	second := metav1.OwnerReference{Kind: "Second"}

	tests := []struct {
		name string
		body []byte
		want metav1.ObjectMeta
	}{
		{"metadata last", join(spec, status, appendField(nil, 1, meta)), pod.ObjectMeta},
		{"metadata between", join(spec, appendField(nil, 1, meta), status), pod.ObjectMeta},
		{"metadata twice", join(appendField(nil, 1, must(first.Marshal())), spec, appendField(nil, 1, meta), status), merged.ObjectMeta},
		{"fields in turns", appendField(nil, 1, scattered), metav1.ObjectMeta{
			Name: "s", Namespace: "n", Labels: map[string]string{"a": "1", "b": "2"}, Annotations: map[string]string{"x": "1", "y": "2"},
			Finalizers: []string{"f/1", "f/2"}, OwnerReferences: append(pod.OwnerReferences[:1:1], second),
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			o, err := ReadObject(test.body, Protobuf, nil)
			if err != nil || o.Err() != nil {
				t.Fatal(err, o.Err())
			}
			if diff := cmp.Diff(routed(test.want), metaOf(&o)); diff != "" {
				t.Errorf("metadata (-want +got):\n%s", diff)
			}
			decoded := decodePod(t, &o)
			if diff := cmp.Diff(routed(test.want), routed(decoded.ObjectMeta)); diff != "" || decoded.ManagedFields != nil {
				t.Errorf("decoded metadata (-want +got):\n%s", diff)
			}
		})
	}
}

// TestZeroTimes tells a time that is not set from one that is zero, as decoders do.
func TestZeroTimes(t *testing.T) {
	pod := makePod(1)
	pod.CreationTimestamp = metav1.Time{}
	pod.DeletionTimestamp = &metav1.Time{}
	o, err := ReadObject(must(pod.Marshal()), Protobuf, nil)
	if err != nil || o.Err() != nil {
		t.Fatal(err, o.Err())
	}
	if deletion, ok := o.DeletionTime(); !ok || !deletion.IsZero() || !o.CreationTime().IsZero() {
		t.Errorf("deletion %v %v, creation %v", deletion, ok, o.CreationTime())
	}
	pod.DeletionTimestamp = nil
	o, _ = ReadObject(must(pod.Marshal()), Protobuf, nil)
	if _, ok := o.DeletionTime(); ok {
		t.Error("a deletion time that is not there")
	}
	o, _ = ReadObject([]byte(`{"metadata":{"name":"a","creationTimestamp":null,"deletionTimestamp":null}}`), JSON, nil)
	if _, ok := o.DeletionTime(); ok || !o.CreationTime().Equal(time.Time{}) {
		t.Error("times out of null")
	}
}

// TestJSONEscapes reads strings whose text is not what they say.
func TestJSONEscapes(t *testing.T) {
	text := `{"metadata":{"name":"\u0061\u00e9\n","namespace":"\ud83d\ude00","uid":"\"\\\/","resourceVersion":"\u0035",` +
		`"labels":{"k\u0065y":"v\u0061lue","nothing":null},"annotations":{"a":"\b\f\r\t"},"finalizers":["\u0066",null],` +
		`"ownerReferences":[{"k\u0069nd":"\u004b","controller":true,"blockOwnerDeletion":null},null],"creationTimestamp":"2026-01-01T00:00:0\u0031Z"}}`
	o, err := ReadObject([]byte(text), JSON, nil)
	if err != nil || o.Err() != nil {
		t.Fatal(err, o.Err())
	}
	want := metav1.ObjectMeta{
		Name: "aé\n", Namespace: "😀", UID: `"\/`, ResourceVersion: "5",
		Labels: map[string]string{"key": "value", "nothing": ""}, Annotations: map[string]string{"a": "\b\f\r\t"},
		Finalizers: []string{"f", ""}, OwnerReferences: []metav1.OwnerReference{{Kind: "K", Controller: new(true)}, {}},
		CreationTimestamp: metav1.Date(2026, 1, 1, 0, 0, 1, 0, time.UTC),
	}
	if diff := cmp.Diff(want, metaOf(&o)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestCutsInEveryPlace leaves members out at the start, in the middle and at the end.
func TestCutsInEveryPlace(t *testing.T) {
	tests := []struct{ in, want string }{
		{`{"managedFields":[{}],"name":"a"}`, `{"name":"a"}`},
		{`{"name":"a","managedFields":[{}]}`, `{"name":"a"}`},
		{`{"name":"a","managedFields":[{}],"uid":"u"}`, `{"name":"a","uid":"u"}`},
		{`{"managedFields":[],"managedFields":[],"name":"a","managedFields":null,"managedFields":1}`, `{"name":"a"}`},
		{`{ "managedFields" : [ ] , "name" : "a" , "managedFields" : [ ] , "uid":"u" }`, `{ "name" : "a" , "uid":"u" }`},
		{`{"managedFields":[],"annotations":{"` + lastApplied + `":"{}"},"name":"a"}`, `{"name":"a"}`},
		{`{"name":"a","annotations":{"` + lastApplied + `":"{}"},"managedFields":[]}`, `{"name":"a"}`},
		{`{"annotations":{"` + lastApplied + `":"{}","b":"c"},"name":"a"}`, `{"annotations":{"b":"c"},"name":"a"}`},
		{`{"annotations":{"b":"c","` + lastApplied + `":"{}"},"name":"a"}`, `{"annotations":{"b":"c"},"name":"a"}`},
		{`{"annotations":{"b":"c","` + lastApplied + `":"{}","d":"e"},"name":"a"}`, `{"annotations":{"b":"c","d":"e"},"name":"a"}`},
		{`{"annotations":{},"name":"a"}`, `{"annotations":{},"name":"a"}`},
	}
	for _, test := range tests {
		o, err := ReadObject([]byte(`{"metadata":`+test.in+`,"spec":{"managedFields":1}}`), JSON, nil)
		if err != nil || o.Err() != nil {
			t.Fatal(test.in, err, o.Err())
		}
		if got, want := string(o.Bytes()), `{"metadata":`+test.want+`,"spec":{"managedFields":1}}`; got != want {
			t.Errorf("%s\ngot  %s\nwant %s", test.in, got, want)
		}
		if uid := o.UID(); o.Name() != "a" || strings.Contains(test.in, "uid") && uid != "u" {
			t.Errorf("%s: name %q, uid %q", test.in, o.Name(), uid)
		}
	}
}

func TestReadObjectFails(t *testing.T) {
	tests := []struct {
		format Format
		data   string
		want   string
	}{
		{JSON, "", "unexpected EOF"},
		{JSON, `{"metadata":{`, "unexpected EOF"},
		{JSON, `{"metadata":{"name":"a"}}{`, `invalid JSON: '{' where "end" belongs, at byte 25`},
		{Protobuf, magic + "\x0a\x05", "invalid protobuf: field 1 at byte 0 has 5 bytes, of which 0 are there"},
	}
	for _, test := range tests {
		_, err := ReadObject([]byte(test.data), test.format, nil)
		if err == nil || err.Error() != test.want {
			t.Errorf("%q:\ngot  %v\nwant %s", test.data, err, test.want)
		}
	}
	if _, err := ReadObject(make([]byte, 11), JSON, &Options{MaxObjectBytes: 10}); err == nil || !strings.Contains(err.Error(), "10 bytes") {
		t.Errorf("too large: %v", err)
	}
}

func TestSameBytes(t *testing.T) {
	for _, format := range formats {
		a := must(ReadObject(encodePod(format, makePod(1)), format, nil))
		b := must(ReadObject(encodePod(format, makePod(1)), format, nil))
		changed := makePod(1)
		changed.ResourceVersion = "2"
		c := must(ReadObject(encodePod(format, changed), format, nil))
		if !a.SameBytes(&b) || a.SameBytes(&c) {
			t.Errorf("%s: same %v, changed %v", format, a.SameBytes(&b), a.SameBytes(&c))
		}
	}
}

// TestAccessAllocates: what a store or a predicate asks an object for all the time costs no
// memory.
func TestAccessAllocates(t *testing.T) {
	for _, format := range formats {
		o := must(ReadObject(encodePod(format, makePod(1)), format, nil))
		n := testing.AllocsPerRun(100, func() {
			app, _ := o.Label("app")
			if o.Name() == "" || o.Namespace() == "" || o.UID() == "" || o.ResourceVersion() == "" || app != "web" {
				t.Fatal("metadata is missing")
			}
			o.EachOwner(func(r OwnerReference) bool { return r.Controller != True || t.Failed() })
			o.EachFinalizer(func(string) bool { return true })
			o.DeletionTime()
		})
		if n != 0 {
			t.Errorf("%s: %v allocations", format, n)
		}
	}
}

// TestInternerIsBounded: a watch that sees ever new namespaces does not collect them.
func TestInternerIsBounded(t *testing.T) {
	var names interner
	for i := range 10 * mostInterned {
		if got := names.intern(fmt.Appendf(nil, "ns-%d", i)).Value(); got != fmt.Sprintf("ns-%d", i) {
			t.Fatal(got)
		}
	}
	if len(names.known) > mostInterned {
		t.Errorf("%d names", len(names.known))
	}
	if a, b := names.intern([]byte("x")), names.intern([]byte("x")); a != b {
		t.Error("two handles of one name")
	}
}

// TestIsNamed: wherever the namespace stands, and in whatever words.
func TestIsNamed(t *testing.T) {
	long := strings.Repeat("n", 300)
	meta := func(fields ...string) []byte {
		var b []byte
		for i := 0; i < len(fields); i += 2 {
			b = appendField(b, map[string]uint64{"name": protoName, "generateName": 2, "namespace": protoNamespace, "managedFields": protoManaged}[fields[i]], []byte(fields[i+1]))
		}
		return appendField(nil, 1, b)
	}
	tests := []struct {
		what            string
		format          Format
		object          []byte
		namespace, name string
		inPlace         bool
	}{
		{"JSON", JSON, []byte(`{"metadata":{"name":"web","namespace":"prod"}}`), "prod", "web", true},
		{"JSON, apart", JSON, []byte(`{"metadata":{"name":"web","managedFields":[{}],"labels":{"a":"b"},"namespace":"prod"}}`), "prod", "web", true},
		{"JSON, before", JSON, []byte(`{"metadata":{"namespace":"prod","name":"web"}}`), "prod", "web", false},
		{"JSON, escaped", JSON, []byte(`{"metadata":{"name":"we\u0062","namespace":"pr\u006fd"}}`), "prod", "web", false},
		{"JSON, none", JSON, []byte(`{"metadata":{"name":"web"}}`), "", "web", false},
		{"JSON, empty", JSON, []byte(`{"metadata":{"name":"web","namespace":""}}`), "", "web", false},
		{"JSON, long", JSON, []byte(`{"metadata":{"name":"web","namespace":"` + long + `"}}`), long, "web", false},
		{"JSON, far", JSON, []byte(`{"metadata":{"name":"web","annotations":{"a":"` + strings.Repeat("x", 70_000) + `"},"namespace":"prod"}}`), "prod", "web", false},
		{"protobuf", Protobuf, meta("name", "web", "generateName", "we", "namespace", "prod"), "prod", "web", true},
		{"protobuf, cut", Protobuf, meta("managedFields", "", "name", "web", "managedFields", "", "namespace", "prod"), "prod", "web", true},
		{"protobuf, before", Protobuf, meta("namespace", "prod", "name", "web"), "prod", "web", false},
		{"protobuf, twice", Protobuf, meta("name", "web", "namespace", "first", "namespace", "prod"), "prod", "web", true},
		{"protobuf, name twice", Protobuf, meta("name", "first", "namespace", "prod", "name", "web"), "prod", "web", false},
		{"protobuf, none", Protobuf, meta("name", "web"), "", "web", false},
	}
	for _, test := range tests {
		t.Run(test.what, func(t *testing.T) {
			o, err := ReadObject(test.object, test.format, nil)
			if err != nil || o.Err() != nil {
				t.Fatal(err, o.Err())
			}
			for what, o := range map[string]Object{"read": o, "cloned": o.CloneTo(make([]byte, o.Size()))} {
				if inPlace := o.length > 0; inPlace != test.inPlace {
					t.Errorf("%s: in place: %t", what, inPlace)
				}
				for _, namespace := range []string{test.namespace, "", "pro", "prode", "first"} {
					for _, name := range []string{test.name, "", "we", "first"} {
						if got, want := o.IsNamed(namespace, name), namespace == test.namespace && name == test.name; got != want {
							t.Errorf("%s: IsNamed(%q, %q) is %t", what, namespace, name, got)
						}
					}
				}
			}
		})
	}
}
