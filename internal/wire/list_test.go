package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

var formats = []Format{JSON, Protobuf}

// readers tear a body in different ways.
var readers = map[string]func(io.Reader) io.Reader{
	"whole":    func(r io.Reader) io.Reader { return r },
	"halves":   iotest.HalfReader,
	"bytes":    iotest.OneByteReader,
	"data+eof": iotest.DataErrReader,
}

func collect(t testing.TB, r io.Reader, format Format, opts *Options) (ListMeta, []Object) {
	t.Helper()
	var objects []Object
	meta, err := ReadList(r, format, opts, func(o Object) error {
		objects = append(objects, o)
		return nil
	})
	if err != nil {
		t.Fatalf("ReadList: %v", err)
	}
	return meta, objects
}

// metaOf rebuilds an ObjectMeta from what an object tells.
func metaOf(o *Object) metav1.ObjectMeta {
	m := metav1.ObjectMeta{
		Name: o.Name(), Namespace: o.Namespace(), UID: types.UID(o.UID()),
		ResourceVersion: o.ResourceVersion(), Generation: o.Generation(), CreationTimestamp: metav1.NewTime(o.CreationTime()),
	}
	if t, ok := o.DeletionTime(); ok {
		m.DeletionTimestamp = new(metav1.NewTime(t))
	}
	o.EachLabel(func(k, v string) bool {
		metav1.SetMetaDataLabel(&m, k, v)
		return true
	})
	o.EachAnnotation(func(k, v string) bool {
		metav1.SetMetaDataAnnotation(&m, k, v)
		return true
	})
	o.EachOwner(func(r OwnerReference) bool {
		m.OwnerReferences = append(m.OwnerReferences, metav1.OwnerReference{
			APIVersion: r.APIVersion, Kind: r.Kind, Name: r.Name, UID: types.UID(r.UID),
			Controller: r.Controller.Pointer(), BlockOwnerDeletion: r.BlockOwnerDeletion.Pointer(),
		})
		return true
	})
	o.EachFinalizer(func(f string) bool {
		m.Finalizers = append(m.Finalizers, f)
		return true
	})
	return m
}

// routed is the part of an ObjectMeta that an object has to tell.
func routed(m metav1.ObjectMeta) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Name: m.Name, Namespace: m.Namespace, UID: m.UID, ResourceVersion: m.ResourceVersion, Generation: m.Generation,
		CreationTimestamp: m.CreationTimestamp, DeletionTimestamp: m.DeletionTimestamp, Labels: m.Labels, Annotations: m.Annotations,
		OwnerReferences: m.OwnerReferences, Finalizers: m.Finalizers,
	}
}

func TestReadList(t *testing.T) {
	list := podList(30)
	now := metav1.Now().Rfc3339Copy()
	list.Items[3].DeletionTimestamp = &now
	list.Items[3].Finalizers = []string{"a.example.com/x", "b.example.com/y"}
	list.Items[4].Labels, list.Items[4].Annotations, list.Items[4].OwnerReferences = nil, nil, nil
	list.Items[5].Generation = 1 << 40
	list.Items[6].Annotations = map[string]string{lastApplied: "{}"}
	for _, format := range formats {
		for name, tear := range readers {
			t.Run(format.String()+"/"+name, func(t *testing.T) {
				meta, objects := collect(t, tear(bytes.NewReader(listBody(format, list))), format, nil)
				want := ListMeta{APIVersion: "v1", Kind: "PodList", ResourceVersion: "42", Continue: "next", RemainingItemCount: new(int64(7))}
				if diff := cmp.Diff(want, meta); diff != "" {
					t.Errorf("list metadata (-want +got):\n%s", diff)
				}
				if len(objects) != len(list.Items) {
					t.Fatalf("%d objects, want %d", len(objects), len(list.Items))
				}
				for i := range objects {
					checkPod(t, &objects[i], list.Items[i].DeepCopy())
				}
			})
		}
	}
}

// checkPod compares an object with the pod that it was, less what is left out.
func checkPod(t *testing.T, o *Object, want *corev1.Pod) {
	t.Helper()
	if err := o.Err(); err != nil {
		t.Errorf("%s: %v", want.Name, err)
	}
	want.ManagedFields = nil
	delete(want.Annotations, lastApplied)
	if len(want.Annotations) == 0 {
		want.Annotations = nil
	}
	if diff := cmp.Diff(routed(want.ObjectMeta), metaOf(o)); diff != "" {
		t.Errorf("routing metadata of %s (-want +got):\n%s", want.Name, diff)
	}
	if o.Format() == Protobuf {
		want.TypeMeta = metav1.TypeMeta{}
	}
	if diff := cmp.Diff(want, decodePod(t, o)); diff != "" {
		t.Errorf("decoded %s (-want +got):\n%s", want.Name, diff)
	}
}

// TestKeptBytes: what is kept is byte for byte what the server would have sent had the parts
// that are left out not been there.
func TestKeptBytes(t *testing.T) {
	full := makePod(1)
	full.Annotations[lastApplied] = `{"kind":"Pod"}`
	lean := full.DeepCopy()
	lean.ManagedFields = nil
	delete(lean.Annotations, lastApplied)
	onlyApplied := full.DeepCopy()
	onlyApplied.Annotations = map[string]string{lastApplied: "{}"}
	bare := lean.DeepCopy()
	bare.Annotations = nil
	withFields := lean.DeepCopy()
	withFields.ManagedFields = full.ManagedFields
	withApplied := lean.DeepCopy()
	withApplied.Annotations[lastApplied] = full.Annotations[lastApplied]

	tests := []struct {
		name string
		in   *corev1.Pod
		opts *Options
		want *corev1.Pod
	}{
		{"both left out", full, nil, lean},
		{"nothing to leave out", lean, nil, lean},
		{"no annotation remains", onlyApplied, nil, bare},
		{"fields kept", full, &Options{KeepManagedFields: true}, withFields},
		{"annotation kept", full, &Options{KeepLastApplied: true}, withApplied},
		{"both kept", full, &Options{KeepManagedFields: true, KeepLastApplied: true}, full},
	}
	for _, format := range formats {
		for _, test := range tests {
			t.Run(format.String()+"/"+test.name, func(t *testing.T) {
				o, err := ReadObject(encodePod(format, test.in), format, test.opts)
				if err != nil || o.Err() != nil {
					t.Fatal(err, o.Err())
				}
				if want := encodePod(format, test.want); !bytes.Equal(o.Bytes(), want) {
					t.Errorf("got  %q\nwant %q", o.Bytes(), want)
				}
				if diff := cmp.Diff(routed(test.want.ObjectMeta), metaOf(&o)); diff != "" {
					t.Errorf("routing metadata (-want +got):\n%s", diff)
				}
			})
		}
	}
}

// TestReadListJSON reads lists whose members are in every order, and what else may vary.
func TestReadListJSON(t *testing.T) {
	pod := func(name string) string { return `{"metadata":{"name":"` + name + `"}}` }
	long := strings.Repeat("x", 3*windowSize)
	tests := []struct {
		name, body string
		want       []string // names
		version    string
	}{
		{"usual order", `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"5"},"items":[` + pod("a") + `,` + pod("b") + `]}`, []string{"a", "b"}, "5"},
		{"reverse order", `{"items":[` + pod("a") + `],"metadata":{"resourceVersion":"5"},"apiVersion":"v1","kind":"PodList"}`, []string{"a"}, "5"},
		{"white space", " \n{ \"items\" :\t[ " + pod("a") + " , " + pod("b") + " ] , \"metadata\" : { \"resourceVersion\" : \"5\" } }\r\n ", []string{"a", "b"}, "5"},
		{"no items", `{"kind":"PodList","metadata":{"resourceVersion":"5"},"items":[]}`, nil, "5"},
		{"null items", `{"kind":"PodList","metadata":{"resourceVersion":"5"},"items":null}`, nil, "5"},
		{"null metadata", `{"kind":"PodList","metadata":null,"items":[` + pod("a") + `]}`, []string{"a"}, ""},
		{"no metadata", `{"items":[` + pod("a") + `]}`, []string{"a"}, ""},
		{"kind that is no List", `{"kind":"Herd","metadata":{"resourceVersion":"5"},"items":[` + pod("a") + `]}`, []string{"a"}, "5"},
		{"unknown members", `{"x":{"items":[1,{"]":"}"}]},"kind":"PodList","y":-1.5e+3,"items":[` + pod("a") + `],"z":null,"w":[true,false]}`, []string{"a"}, ""},
		{"escaped names", `{"\u006bind":"PodList","m\u0065tadata":{"resourc\u0065Version":"\u0035"},"\u0069tems":[{"metad\u0061ta":{"n\u0061me":"\u0061"}}]}`, []string{"a"}, "5"},
		{"brackets in strings", `{"items":[{"a":"]}\\\"{[","metadata":{"name":"a","x":"}\\"},"b":["\"]}"]},` + pod("b") + `]}`, []string{"a", "b"}, ""},
		{"metadata behind the rest", `{"items":[{"spec":{"metadata":{"name":"no"}},"metadata":{"name":"a"}}]}`, []string{"a"}, ""},
		{"objects beyond the buffer", `{"items":[{"data":"` + long + `","metadata":{"name":"a"}},{"metadata":{"name":"b","annotations":{"x":"` + long + `"}}}]}`, []string{"a", "b"}, ""},
	}
	for _, test := range tests {
		for name, tear := range readers {
			t.Run(test.name+"/"+name, func(t *testing.T) {
				meta, objects := collect(t, tear(strings.NewReader(test.body)), JSON, nil)
				var names []string
				for i := range objects {
					if err := objects[i].Err(); err != nil {
						t.Errorf("object %d: %v", i, err)
					}
					names = append(names, objects[i].Name())
				}
				if diff := cmp.Diff(test.want, names); diff != "" {
					t.Errorf("names (-want +got):\n%s", diff)
				}
				if meta.ResourceVersion != test.version {
					t.Errorf("resource version %q, want %q", meta.ResourceVersion, test.version)
				}
			})
		}
	}
}

func TestListMetadata(t *testing.T) {
	want := ListMeta{
		APIVersion: "v1", Kind: "PodList", ResourceVersion: "5", Continue: `a"b`,
		RemainingItemCount: new(int64(3)), ShardSelector: "hash=1",
	}
	list := metav1.PartialObjectMetadataList{ListMeta: metav1.ListMeta{
		ResourceVersion: "5", Continue: `a"b`, RemainingItemCount: new(int64(3)),
		ShardInfo: &metav1.ShardInfo{Selector: "hash=1"},
	}}
	bodies := map[Format][]byte{
		Protobuf: wrap("v1", "PodList", must(list.Marshal())),
		JSON: []byte(`{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"5","continue":"a\"b",` +
			`"remainingItemCount":3,"shardInfo":{"selector":"hash=1"},"other":{}},"items":[]}`),
	}
	for _, format := range formats {
		meta, _ := collect(t, bytes.NewReader(bodies[format]), format, nil)
		if diff := cmp.Diff(want, meta); diff != "" {
			t.Errorf("%s (-want +got):\n%s", format, diff)
		}
	}
}

// TestReadListFails: broken framing ends the list, and the error says what it is.
func TestReadListFails(t *testing.T) {
	item := `{"metadata":{"name":"a"}}`
	tests := []struct {
		name   string
		format Format
		body   string
		want   string
	}{
		{"empty", JSON, "", "wire: reading the start of a list: unexpected EOF"},
		{"not an object", JSON, "[]", `wire: reading the start of a list: invalid JSON: '[' where "{" belongs, at byte 0`},
		{"HTML", JSON, "<html>", `wire: reading the start of a list: invalid JSON: '<' where "{" belongs, at byte 0`},
		{"items are an object", JSON, `{"kind":"PodList","items":{}}`, "wire: reading the items of PodList: items is an object, not an array"},
		{"no items", JSON, `{"kind":"PodList","metadata":{}}`, "wire: reading the members of PodList: there are no items"},
		{"no comma between items", JSON, `{"items":[` + item + item + `]}`, `wire: reading item 1 of a list: invalid JSON: '{' where "," belongs, at byte 35`},
		{"comma before the end", JSON, `{"items":[` + item + `,]}`, `wire: reading item 1 of a list: invalid JSON: ']' where "value" belongs, at byte 36`},
		{"text behind the list", JSON, `{"items":[]}x`, `wire: reading the end of a list: invalid JSON: 'x' where "end" belongs, at byte 12`},
		{"remaining count", JSON, `{"metadata":{"remainingItemCount":1.5},"items":[]}`, "wire: reading metadata of a list: remainingItemCount is 1.5, not an integer of 64 bits"},
		{"version is a number", JSON, `{"metadata":{"resourceVersion":5},"items":[]}`, "wire: reading metadata of a list: resourceVersion is a number, not a string"},
		{"kind is a number", JSON, `{"kind":5,"items":[]}`, "wire: reading kind of a list: it is a number, not a string"},
		{"item is a word", JSON, `{"items":[nil]}`, `wire: reading item 0 of a list: invalid JSON: 'n' where "value" belongs, at byte 10`},
		{"empty", Protobuf, "", "wire: reading the start of a list: unexpected EOF"},
		{"JSON in place of protobuf", Protobuf, `{"kind":"PodList"}`, `wire: reading the start of a list: not a Kubernetes protobuf body: it starts with "{\"ki" and not with "k8s\x00"`},
		{"nothing in the envelope", Protobuf, magic, "wire: reading the envelope of a list: unexpected EOF"},
		{"field 0", Protobuf, magic + "\x02\x00", "wire: reading the envelope of a list: invalid protobuf: field number 0 at byte 5"},
		{"item beyond the list", Protobuf, string(wrap("v1", "PodList", []byte("\x12\x7f\x0a"))), "wire: reading item 0 of PodList: invalid protobuf: field 2 has 127 bytes, which is more than is left of the list"},
		{"item is a varint", Protobuf, string(wrap("v1", "PodList", []byte("\x10\x01"))), "wire: reading item 0 of PodList: invalid protobuf: field 2 has wire type 0"},
		{"compressed", Protobuf, string(append(wrap("v1", "PodList", nil), "\x1a\x04gzip"...)), `wire: reading the envelope of PodList: content encoding "gzip" is not supported`},
	}
	for _, test := range tests {
		t.Run(test.format.String()+"/"+test.name, func(t *testing.T) {
			_, err := ReadList(strings.NewReader(test.body), test.format, nil, func(Object) error { return nil })
			if err == nil || err.Error() != test.want {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
		})
	}
}

// TestReadListCutOff: a body that ends early is never taken for a whole one, wherever it ends.
func TestReadListCutOff(t *testing.T) {
	for _, format := range formats {
		body := listBody(format, podList(2))
		for n := range body {
			_, err := ReadList(bytes.NewReader(body[:n]), format, nil, func(Object) error { return nil })
			if !errors.Is(err, io.ErrUnexpectedEOF) {
				// Protobuf has no end mark: with the envelope's last two fields missing, which are
				// empty, nothing is missing.
				if format == Protobuf && err == nil && len(body)-n <= 4 && bytes.Equal(body[n:], []byte("\x1a\x00\x22\x00")[4-(len(body)-n):]) {
					continue
				}
				t.Fatalf("%s cut at byte %d of %d: %v", format, n, len(body), err)
			}
		}
	}
}

func TestReadListReadError(t *testing.T) {
	broken := errors.New("connection reset")
	for _, format := range formats {
		body := listBody(format, podList(2))
		for _, n := range []int{0, 3, 10, 60, len(body) / 2, len(body)} {
			r := io.MultiReader(bytes.NewReader(body[:n]), iotest.ErrReader(broken))
			if _, err := ReadList(r, format, nil, func(Object) error { return nil }); !errors.Is(err, broken) {
				t.Errorf("%s, after %d bytes: %v, want %v", format, n, err, broken)
			}
		}
	}
}

// TestReadListWrappedEOF: the end of something else is not the end of the body.
func TestReadListWrappedEOF(t *testing.T) {
	wrapped := fmt.Errorf("proxy: %w", io.EOF)
	body := `{"items":[]}`
	_, err := ReadList(io.MultiReader(strings.NewReader(body), iotest.ErrReader(wrapped)), JSON, nil, nil)
	if want := "wire: reading the end of a list: unexpected EOF: proxy: EOF"; err == nil || err.Error() != want || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

func TestReadListVisitError(t *testing.T) {
	stop := errors.New("stop")
	for _, format := range formats {
		seen := 0
		_, err := ReadList(bytes.NewReader(listBody(format, podList(5))), format, nil, func(Object) error {
			if seen++; seen == 3 {
				return stop
			}
			return nil
		})
		if !errors.Is(err, stop) || seen != 3 {
			t.Errorf("%s: %v after %d objects, want %v after 3", format, err, seen, stop)
		}
	}
}

func TestReadListLimit(t *testing.T) {
	for _, format := range formats {
		list := podList(3)
		list.Items[1].Annotations["big"] = strings.Repeat("x", 100_000)
		body := listBody(format, list)
		for _, limit := range []int64{50_000, 100_500} {
			seen := 0
			_, err := ReadList(bytes.NewReader(body), format, &Options{MaxObjectBytes: limit}, func(Object) error {
				seen++
				return nil
			})
			var tooLarge *TooLargeError
			if !errors.As(err, &tooLarge) || tooLarge.Limit != limit || seen != 1 {
				t.Errorf("%s, limit %d: %v after %d objects", format, limit, err, seen)
			}
		}
		if _, objects := collect(t, bytes.NewReader(body), format, &Options{MaxObjectBytes: 110_000}); len(objects) != 3 {
			t.Errorf("%s: %d objects", format, len(objects))
		}
		for _, limit := range []int64{-1, 1 << 32} {
			if _, err := ReadList(bytes.NewReader(body), format, &Options{MaxObjectBytes: limit}, nil); err == nil {
				t.Errorf("MaxObjectBytes %d is accepted", limit)
			}
		}
	}
}

// TestReadListStatus: a Status, or any object that is not a list, is handed over as it is.
func TestReadListStatus(t *testing.T) {
	status := &metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: "Failure", Message: "too old", Reason: metav1.StatusReasonExpired, Code: 410}
	text := string(must(json.Marshal(status)))
	message := must(status.Marshal())
	tests := []struct {
		name   string
		format Format
		body   string
		want   StatusError
	}{
		{"usual", JSON, text, StatusError{JSON, "Status", []byte(text)}},
		{"white space", JSON, "\n" + text + "\n", StatusError{JSON, "Status", []byte(text)}},
		{"kind last", JSON, `{"code":410,"metadata":{},"kind":"Status"}`, StatusError{JSON, "Status", []byte(`{"code":410,"metadata":{},"kind":"Status"}`)}},
		{"single object", JSON, `{"kind":"Pod","metadata":{}}`, StatusError{JSON, "Pod", []byte(`{"kind":"Pod","metadata":{}}`)}},
		{"no kind", JSON, `{"paths":[]}`, StatusError{JSON, "", []byte(`{"paths":[]}`)}},
		{"usual", Protobuf, string(wrap("v1", "Status", message)), StatusError{Protobuf, "Status", message}},
		{"raw first", Protobuf, string(reversed("v1", "Status", message)), StatusError{Protobuf, "Status", message}},
		{"single object", Protobuf, string(wrap("v1", "Pod", []byte{})), StatusError{Protobuf, "Pod", []byte{}}},
	}
	for _, test := range tests {
		for name, tear := range readers {
			t.Run(test.format.String()+"/"+test.name+"/"+name, func(t *testing.T) {
				_, err := ReadList(tear(strings.NewReader(test.body)), test.format, nil, func(Object) error {
					t.Error("an object was handed over")
					return nil
				})
				var got *StatusError
				if !errors.As(err, &got) {
					t.Fatalf("error %v, want a StatusError", err)
				}
				if diff := cmp.Diff(&test.want, got); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		}
	}
}

// TestReadListProtobuf reads envelopes and lists as no server writes them and protobuf allows.
func TestReadListProtobuf(t *testing.T) {
	list := podList(2)
	message := must(list.Marshal())
	group := "\x7b\x08\x01\x12\x01x\x7b\x7c\x7c" // field 15: {1: 1, 2: "x", 15: {}}
	unknown := "\x78\x05" + "\x79abcdefgh" + "\x7a\x03xyz" + "\x7dabcd" + group
	meta := must(list.ListMeta.Marshal())
	items := message[2+len(meta):]
	tests := []struct{ name, body string }{
		{"raw first", string(reversed("v1", "PodList", message))},
		{"no type", string(wrap("", "", message))},
		{"unknown fields in the envelope", magic + unknown + string(wrap("v1", "PodList", message)[len(magic):]) + unknown},
		{"unknown fields in the list", string(wrap("v1", "PodList", []byte(unknown+string(message)+unknown)))},
		{"metadata last", string(wrap("v1", "PodList", append(items, message[:2+len(meta)]...)))},
	}
	for _, test := range tests {
		for name, tear := range readers {
			t.Run(test.name+"/"+name, func(t *testing.T) {
				meta, objects := collect(t, tear(strings.NewReader(test.body)), Protobuf, nil)
				if len(objects) != 2 || meta.ResourceVersion != "42" {
					t.Fatalf("%d objects, %+v", len(objects), meta)
				}
				for i := range objects {
					checkPod(t, &objects[i], list.Items[i].DeepCopy())
				}
			})
		}
	}
}

// reversed is an envelope whose fields are in the opposite order.
func reversed(apiVersion, kind string, message []byte) []byte {
	typ := runtime.TypeMeta{APIVersion: apiVersion, Kind: kind}
	return appendField(appendField([]byte(magic), unknownRaw, message), unknownType, must(typ.Marshal()))
}
