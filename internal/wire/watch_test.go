package wire

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func newReader(t testing.TB, r io.Reader, format Format, opts *Options) *WatchReader {
	t.Helper()
	w, err := NewWatchReader(r, format, opts)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// events reads to the end of the stream, which has to be a clean one.
func events(t testing.TB, r io.Reader, format Format) []Event {
	t.Helper()
	w := newReader(t, r, format, nil)
	var all []Event
	for {
		event, err := w.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatalf("event %d: %v", len(all), err)
		}
		all = append(all, event)
	}
}

// bookmark returns what servers put into a bookmark.
func bookmark(version string, initial bool) *corev1.Pod {
	pod := &corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}}
	pod.ResourceVersion = version
	if initial {
		pod.Annotations = map[string]string{InitialEventsEnd: "true"}
	}
	return pod
}

func tooOld() *metav1.Status {
	return &metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
		Status:   "Failure", Message: "too old resource version", Reason: metav1.StatusReasonExpired, Code: 410,
	}
}

// stream is a watch with all that happens in one.
func stream(format Format, pods ...*corev1.Pod) []byte {
	var b []byte
	for i, pod := range pods {
		word := []string{"ADDED", "MODIFIED", "DELETED"}[i]
		b = append(b, eventBody(format, word, "v1", "Pod", pod)...)
	}
	b = append(b, eventBody(format, "BOOKMARK", "v1", "Pod", bookmark("77", true))...)
	b = append(b, eventBody(format, "BOOKMARK", "v1", "Pod", bookmark("78", false))...)
	return append(b, eventBody(format, "ERROR", "v1", "Status", tooOld())...)
}

func TestWatch(t *testing.T) {
	for _, format := range formats {
		for name, tear := range readers {
			t.Run(format.String()+"/"+name, func(t *testing.T) {
				all := events(t, tear(bytes.NewReader(stream(format, makePod(0), makePod(1), makePod(2)))), format)
				if len(all) != 6 {
					t.Fatalf("%d events, want 6", len(all))
				}
				for i, want := range []EventType{Added, Modified, Deleted, Bookmark, Bookmark, Failure} {
					if all[i].Type != want {
						t.Errorf("event %d is %s, want %s", i, all[i].Type, want)
					}
				}
				for i := range 3 {
					checkPod(t, &all[i].Object, makePod(i))
				}
				checkBookmark(t, all[3], "77", true)
				checkBookmark(t, all[4], "78", false)
				checkStatus(t, all[5])
			})
		}
	}
}

func checkBookmark(t *testing.T, e Event, version string, initial bool) {
	t.Helper()
	if err := e.Object.Err(); err != nil || e.Object.ResourceVersion() != version || e.InitialEventsEnd != initial {
		t.Errorf("bookmark %q, initial events end %v, %v; want %q, %v", e.Object.ResourceVersion(), e.InitialEventsEnd, err, version, initial)
	}
}

func checkStatus(t *testing.T, e Event) {
	t.Helper()
	if e.Status == nil || e.Status.Kind != "Status" {
		t.Fatalf("no status: %+v", e)
	}
	var got metav1.Status
	var err error
	if want := tooOld(); e.Status.Format == Protobuf {
		want.TypeMeta = metav1.TypeMeta{}
		err = got.Unmarshal(e.Status.Body)
		if diff := cmp.Diff(want, &got); diff != "" || err != nil {
			t.Errorf("status: %v (-want +got):\n%s", err, diff)
		}
		return
	}
	if err = json.Unmarshal(e.Status.Body, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(tooOld(), &got); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
}

// TestWatchJSON reads events as no server writes them and JSON allows.
func TestWatchJSON(t *testing.T) {
	object := `{"metadata":{"name":"a","managedFields":[{"x":"]"}],"resourceVersion":"5"}}`
	tests := []struct{ name, body string }{
		{"usual", `{"type":"ADDED","object":` + object + `}` + "\n"},
		{"object first", `{"object":` + object + `,"type":"ADDED"}`},
		{"white space", " {\n\"type\" : \"ADDED\" , \"object\" : " + object + " }\r\n\t"},
		{"unknown members", `{"a":[{}],"type":"ADDED","b":"}","object":` + object + `,"c":null}`},
		{"escaped names", `{"t\u0079pe":"\u0041DDED","o\u0062ject":` + object + `}`},
	}
	for _, test := range tests {
		for name, tear := range readers {
			t.Run(test.name+"/"+name, func(t *testing.T) {
				all := events(t, tear(strings.NewReader(test.body+test.body)), JSON)
				if len(all) != 2 {
					t.Fatalf("%d events, want 2", len(all))
				}
				for _, e := range all {
					if e.Type != Added || e.Object.Err() != nil || e.Object.Name() != "a" || e.Object.ResourceVersion() != "5" {
						t.Errorf("%s %q: %v", e.Type, e.Object.Name(), e.Object.Err())
					}
					if got, want := string(e.Object.Bytes()), `{"metadata":{"name":"a","resourceVersion":"5"}}`; got != want {
						t.Errorf("bytes %s, want %s", got, want)
					}
				}
			})
		}
	}
}

// TestWatchFailureKind: whatever the object of an ERROR event is, it is handed over.
func TestWatchFailureKind(t *testing.T) {
	for object, kind := range map[string]string{
		`{"kind":"St\u0061tus"}`: "Status", `{"kind":5}`: "", `{"kind":x}`: "", `{"kind":"Pod","metadata":{,}}`: "Pod", `null`: "", `{}`: "",
	} {
		all := events(t, strings.NewReader(`{"type":"ERROR","object":`+object+`}`), JSON)
		if len(all) != 1 || all[0].Status == nil || all[0].Status.Kind != kind || string(all[0].Status.Body) != object {
			t.Errorf("%s: %+v", object, all)
		}
	}
}

// TestWatchStatusAlone: a Status where an event should be is a failure too.
func TestWatchStatusAlone(t *testing.T) {
	all := events(t, bytes.NewReader(must(json.Marshal(tooOld()))), JSON)
	if len(all) != 1 || all[0].Type != Failure {
		t.Fatalf("events: %v", all)
	}
	checkStatus(t, all[0])
}

func TestWatchFails(t *testing.T) {
	frame := func(message string) string {
		return string(binary.BigEndian.AppendUint32(nil, uint32(len(message)))) + message
	}
	tests := []struct {
		name   string
		format Format
		body   string
		want   string
	}{
		{"not an object", JSON, "[]", `invalid JSON: '[' where "{" belongs, at byte 0`},
		{"no type", JSON, `{"object":{"metadata":{"name":"a"}}}`, `event type "" is none of ADDED, MODIFIED, DELETED, BOOKMARK, ERROR`},
		{"unknown type", JSON, `{"type":"MOVED","object":{}}`, `event type "MOVED" is none of ADDED, MODIFIED, DELETED, BOOKMARK, ERROR`},
		{"type is a number", JSON, `{"type":1}`, `type is a number, not a string`},
		{"no object", JSON, `{"type":"ADDED"}`, `an event of type ADDED without an object`},
		{"two objects", JSON, `{"type":"ADDED","object":{},"object":{}}`, `an event with two objects`},
		{"no type", Protobuf, frame(""), `event type "" is none of ADDED, MODIFIED, DELETED, BOOKMARK, ERROR`},
		{"unknown type", Protobuf, frame("\x0a\x05MOVED"), `event type "MOVED" is none of ADDED, MODIFIED, DELETED, BOOKMARK, ERROR`},
		{"no protobuf", Protobuf, frame("{}"), `invalid protobuf: field 15 at byte 0 is cut off`},
		{"type is a varint", Protobuf, frame("\x08\x01"), `invalid protobuf: field 1 has wire type 0`},
	}
	for _, test := range tests {
		t.Run(test.format.String()+"/"+test.name, func(t *testing.T) {
			w := newReader(t, strings.NewReader(test.body), test.format, nil)
			_, err := w.Next()
			if want := "wire: reading a watch event: " + test.want; err == nil || err.Error() != want {
				t.Errorf("got  %v\nwant %s", err, want)
			}
			if _, again := w.Next(); !errors.Is(again, err) {
				t.Errorf("the next call returns %v", again)
			}
		})
	}
}

// TestWatchCutOff: only between two events is the end a clean one.
func TestWatchCutOff(t *testing.T) {
	for _, format := range formats {
		first := eventBody(format, "ADDED", "v1", "Pod", makePod(0))
		body := append(first, eventBody(format, "BOOKMARK", "v1", "Pod", bookmark("5", false))...)
		for n := range len(body) + 1 {
			w := newReader(t, bytes.NewReader(body[:n]), format, nil)
			_, err := w.Next()
			if err == nil {
				_, err = w.Next()
			}
			if err == nil {
				_, err = w.Next()
			}
			clean := n == 0 || n == len(first) || n == len(body) ||
				format == JSON && (n == len(first)-1 || n == len(body)-1) // without the newline
			if clean && !errors.Is(err, io.EOF) || !clean && !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Fatalf("%s cut at byte %d of %d: %v", format, n, len(body), err)
			}
		}
	}
}

func TestWatchReadError(t *testing.T) {
	broken := errors.New("connection reset")
	for _, format := range formats {
		body := eventBody(format, "ADDED", "v1", "Pod", makePod(0))
		for _, n := range []int{0, 2, 100, len(body)} {
			w := newReader(t, io.MultiReader(bytes.NewReader(body[:n]), iotest.ErrReader(broken)), format, nil)
			_, err := w.Next()
			if n == len(body) && err == nil {
				_, err = w.Next()
			}
			if !errors.Is(err, broken) {
				t.Errorf("%s, after %d bytes: %v", format, n, err)
			}
		}
	}
}

func TestWatchLimit(t *testing.T) {
	for _, format := range formats {
		pod := makePod(0)
		pod.Annotations["big"] = strings.Repeat("x", 200_000)
		body := append(eventBody(format, "ADDED", "v1", "Pod", makePod(1)), eventBody(format, "ADDED", "v1", "Pod", pod)...)
		w := newReader(t, bytes.NewReader(body), format, &Options{MaxObjectBytes: 100_000})
		if _, err := w.Next(); err != nil {
			t.Fatal(err)
		}
		var tooLarge *TooLargeError
		if _, err := w.Next(); !errors.As(err, &tooLarge) {
			t.Errorf("%s: %v", format, err)
		}
	}
}

// TestWatchBrokenObject: the stream goes on behind an object that is broken.
func TestWatchBrokenObject(t *testing.T) {
	good := func(format Format) []byte { return eventBody(format, "ADDED", "v1", "Pod", makePod(1)) }
	frame := func(object []byte) []byte {
		message := appendField(appendField(nil, eventFieldType, []byte("ADDED")), eventFieldObject, appendField(nil, extensionRaw, object))
		return append(binary.BigEndian.AppendUint32(nil, uint32(len(message))), message...)
	}
	tests := []struct {
		name   string
		format Format
		body   []byte
		want   string
	}{
		{"null", JSON, []byte(`{"type":"ADDED","object":null}`), "it is null, not an object"},
		{"labels", JSON, []byte(`{"type":"ADDED","object":{"metadata":{"name":"a","labels":5}}}`), "metadata.labels is a number, not an object"},
		{"no envelope", Protobuf, frame([]byte("{}")), `not a Kubernetes protobuf body: it starts with "{}" and not with "k8s\x00"`},
		{"broken envelope", Protobuf, frame([]byte(magic + "\x12\x05a")), "invalid protobuf: field 2 at byte 0 has 5 bytes, of which 1 are there"},
		{"broken object", Protobuf, frame(wrap("v1", "Pod", []byte("\x0a\x05a"))), "invalid protobuf: field 1 at byte 0 has 5 bytes, of which 1 are there"},
		{"no metadata", Protobuf, frame(wrap("v1", "Pod", []byte("\x12\x00"))), "the object has no metadata"},
	}
	for _, test := range tests {
		t.Run(test.format.String()+"/"+test.name, func(t *testing.T) {
			all := events(t, io.MultiReader(bytes.NewReader(test.body), bytes.NewReader(good(test.format))), test.format)
			if len(all) != 2 {
				t.Fatalf("%d events", len(all))
			}
			if err := all[0].Object.Err(); err == nil || err.Error() != test.want {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
			checkPod(t, &all[1].Object, makePod(1))
		})
	}
}

// waiting is a reader that tells when it is waited on.
type waiting struct {
	io.Reader
	wait func()
}

func (r waiting) Read(b []byte) (int, error) {
	r.wait()
	return r.Reader.Read(b)
}

// TestWatchIdle: while a watch waits for the next event it holds no buffer.
func TestWatchIdle(t *testing.T) {
	for _, format := range formats {
		r, w := io.Pipe()
		watch := newReader(t, nil, format, nil)
		waits := 0
		watch.w.src.r = waiting{r, func() {
			if waits++; watch.w.buf != nil && watch.w.mark == len(watch.w.buf) {
				t.Errorf("%s: waits with a buffer of %d bytes", format, cap(watch.w.buf))
			}
		}}
		go func() {
			for range 3 {
				w.Write(eventBody(format, "ADDED", "v1", "Pod", makePod(1)))
			}
			w.Close()
		}()
		for range 3 {
			if _, err := watch.Next(); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := watch.Next(); !errors.Is(err, io.EOF) || waits < 4 {
			t.Errorf("%s: %v after %d reads", format, err, waits)
		}
	}
}

func TestEventTypeString(t *testing.T) {
	for typ, want := range map[EventType]string{0: "EventType(0)", Added: "ADDED", Failure: "ERROR", 9: "EventType(9)"} {
		if got := typ.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
