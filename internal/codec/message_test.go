package codec

import (
	"bytes"
	"errors"
	"io"
	"math"
	"math/rand"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// generated is what the types of Kubernetes have.
type generated interface {
	Marshal() ([]byte, error)
	Unmarshal(data []byte) error
}

// messagesForTests are full of all the forms that fields have.
func messagesForTests() []generated {
	claim := &resourcev1.ResourceSlice{Spec: resourcev1.ResourceSliceSpec{Devices: []resourcev1.Device{{
		Name: "gpu", Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{"a": {IntValue: new(int64(1))}, "b": {BoolValues: []bool{true, false}}},
	}}}}
	request := &certificatesv1.CertificateSigningRequest{Spec: certificatesv1.CertificateSigningRequestSpec{
		Request: []byte("request"), Extra: map[string]certificatesv1.ExtraValue{"x": {"1", "2"}, "empty": {}}, ExpirationSeconds: new(int32(600)),
	}}
	schema := &apiextensionsv1.JSONSchemaProps{
		Maximum: new(2.5), MaxLength: new(int64(3)), Enum: []apiextensionsv1.JSON{{Raw: []byte("1")}},
		Properties: map[string]apiextensionsv1.JSONSchemaProps{"a": {Type: "string"}}, Not: &apiextensionsv1.JSONSchemaProps{Type: "array"},
	}
	resources := &metav1.APIResourceList{APIResources: []metav1.APIResource{{Name: "pods", Verbs: metav1.Verbs{"get", "list"}}, {Verbs: metav1.Verbs{}}}}
	secret := &corev1.Secret{Data: map[string][]byte{"a": []byte("b"), "empty": {}}, StringData: map[string]string{"": "no key"}, Immutable: new(true)}
	return []generated{testPod(), claim, request, schema, resources, secret}
}

func newGenerated(m generated) generated {
	return reflect.New(reflect.TypeOf(m).Elem()).Interface().(generated)
}

// likeGenerated decodes data with both decoders, which have to agree, but for maps: of an entry the
// generated decoder reads on behind its end. It reports whether data is valid.
func likeGenerated(t *testing.T, data []byte, of generated) bool {
	t.Helper()
	want, got := newGenerated(of), newGenerated(of)
	wantErr, gotErr := want.Unmarshal(data), DecodeProtobuf(data, got)
	if wantErr == nil && gotErr != nil && strings.Contains(gotErr.Error(), "an entry of the map") {
		return false
	}
	if (wantErr == nil) != (gotErr == nil) {
		t.Fatalf("%T from %x: the generated decoder says %v, ours says %v", of, data, wantErr, gotErr)
	}
	if wantErr == nil && !sameMessage(t, data, want, got) {
		t.Fatalf("%T from %x (-generated +ours):\n%s", of, data, cmp.Diff(want, got))
	}
	return wantErr == nil
}

// sameMessage compares want, which was decoded from data, with got. One that holds a NaN equals nothing,
// not even what is decoded from the same data: then it is told by what it is written as.
func sameMessage(t *testing.T, data []byte, want, got generated) bool {
	t.Helper()
	if reflect.DeepEqual(want, got) {
		return true
	}
	again := newGenerated(want)
	if err := again.Unmarshal(data); err != nil {
		t.Fatal(err)
	}
	if reflect.DeepEqual(want, again) {
		return false
	}
	wantData, err := want.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	gotData, err := got.Marshal()
	return err == nil && bytes.Equal(wantData, gotData)
}

// TestBrokenMessagesAreReadAsGenerated changes messages at random. Whatever the generated decoder
// reads of them is read, and what it refuses is refused.
func TestBrokenMessagesAreReadAsGenerated(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	for _, m := range messagesForTests() {
		data, err := m.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		valid, all := 0, 100*rounds()
		for range all {
			if likeGenerated(t, mutate(random, data), m) {
				valid++
			}
		}
		if valid == 0 || valid == all {
			t.Errorf("%T: %d of %d changed messages are valid; both are wanted", m, valid, all)
		}
	}
}

// mutate returns data with some bytes changed, taken out, put in or repeated.
func mutate(random *rand.Rand, data []byte) []byte {
	data = append([]byte{}, data...)
	for range 1 + random.Intn(2) {
		if len(data) == 0 {
			break
		}
		switch at := random.Intn(len(data)); random.Intn(5) {
		case 0:
			data[at] = byte(random.Intn(256))
		case 1:
			data[at] ^= 1 << random.Intn(8)
		case 2:
			data = data[:at]
		case 3:
			data = append(data[:at:at], append([]byte{byte(random.Intn(256))}, data[at:]...)...)
		case 4:
			data = append(data, data[at:]...)
		}
	}
	return data
}

func FuzzDecodeProtobuf(f *testing.F) {
	for i, m := range messagesForTests() {
		data, err := m.Marshal()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, i)
	}
	f.Add([]byte(notANumber), 3)
	for _, extra := range extrasForTests {
		f.Add([]byte(extra), 2)
	}
	f.Fuzz(func(t *testing.T, data []byte, i int) {
		all := messagesForTests()
		if i >= 0 && i < len(all) {
			likeGenerated(t, data, all[i])
		}
	})
}

// notANumber is a schema whose minimum is not a number.
const notANumber = "\x59\x0a\x00\x12\x00\x22\x00\xf8\xff"

func TestNotANumberIsRead(t *testing.T) {
	if !likeGenerated(t, []byte(notANumber), &apiextensionsv1.JSONSchemaProps{}) {
		t.Error("it is refused")
	}
	if sameMessage(t, []byte(notANumber), &apiextensionsv1.JSONSchemaProps{Minimum: new(math.NaN())}, &apiextensionsv1.JSONSchemaProps{Minimum: new(1.0)}) {
		t.Error("NaN is 1")
	}
}

// extrasForTests are requests with an entry of extra, whose value is a list in a message: one of two values
// the first of which is broken, one the other way round, and lists with fields that are not known.
var extrasForTests = map[string]string{
	"the first value is broken": "\x12\x0d\x32\x0b\x0a\x01k\x12\x02\x0a\x02\x12\x02\x0a\x00",
	"the last value is broken":  "\x12\x0d\x32\x0b\x0a\x01k\x12\x02\x0a\x00\x12\x02\x0a\x02",
	"a number as field 2":       "\x12\x09\x32\x07\x0a\x01k\x12\x02\x10\x01",
	"a number as field 1":       "\x12\x09\x32\x07\x0a\x01k\x12\x02\x08\x01",
	"bytes as field 2":          "\x12\x09\x32\x07\x0a\x01k\x12\x02\x12\x00",
	"a group":                   "\x12\x0a\x32\x08\x0a\x01k\x12\x03\x13\x14\x0a",
	"two values":                "\x12\x0d\x32\x0b\x0a\x01k\x12\x02\x0a\x00\x12\x02\x0a\x00",
}

func TestExtrasAreReadAsGenerated(t *testing.T) {
	read := 0
	for _, data := range extrasForTests {
		if likeGenerated(t, []byte(data), &certificatesv1.CertificateSigningRequest{}) {
			read++
		}
	}
	if read != 3 {
		t.Errorf("%d are valid, want 3: two values and those with a field 2", read)
	}
}

// TestOddMessages are valid, and not as servers write them.
func TestOddMessages(t *testing.T) {
	for name, data := range map[string]string{
		"nothing":                      "",
		"a message in two parts":       "\x0a\x03\x0a\x01a\x0a\x03\x1a\x01b",
		"unknown fields":               "\x0a\x03\x0a\x01a\xf8\x06\x01\xfd\x06abcd\xf9\x06abcdefgh\xfa\x06\x01x",
		"an unknown group":             "\xfb\x06\x0b\x08\x01\x0c\xfc\x06\x0a\x03\x0a\x01a",
		"an entry without a value":     "\x12\x03\x0a\x01k",
		"an entry without a key":       "\x12\x03\x12\x01v",
		"an entry the other way round": "\x12\x06\x12\x01v\x0a\x01k",
		"an entry with more":           "\x12\x08\x0a\x01k\x12\x01v\x18\x05",
		"a key twice":                  "\x12\x06\x0a\x01k\x12\x01v\x12\x06\x0a\x01k\x12\x01w",
		"a long form of a length":      "\x12\x88\x00\x0a\x01k\x12\x82\x00vw",
	} {
		t.Run(name, func(t *testing.T) {
			if !likeGenerated(t, []byte(data), &corev1.ConfigMap{}) {
				t.Error("it is refused")
			}
		})
	}
}

// TestPackedLists: lists of numbers in one piece, as proto3 writes them.
func TestPackedLists(t *testing.T) {
	for _, data := range []string{"\x22\x03\x01\x02\x03", "\x20\x01\x20\x02", "\x20\x01\x22\x02\x02\x03", "\x22\x00", "\x22\x01\x80"} {
		likeGenerated(t, []byte(data), &corev1.PodSecurityContext{})
	}
}

// TestDeepMessages: a message without an end must not take the stack of the program with it.
func TestDeepMessages(t *testing.T) {
	nested := func(depth int) []byte {
		schema := &apiextensionsv1.JSONSchemaProps{Type: "leaf"}
		for range depth {
			schema = &apiextensionsv1.JSONSchemaProps{Not: schema}
		}
		data, err := schema.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	if err := DecodeProtobuf(nested(100), &apiextensionsv1.JSONSchemaProps{}); err != nil {
		t.Errorf("100 deep: %v", err)
	}
	if err := DecodeProtobuf(nested(deepest), &apiextensionsv1.JSONSchemaProps{}); !errors.Is(err, errDepth) {
		t.Errorf("%d deep: %v", deepest, err)
	}
}

// TestMessageErrorSaysWhere: an error has the path of the field.
func TestMessageErrorSaysWhere(t *testing.T) {
	data, err := (&corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "app"}}}}).Marshal()
	if err != nil {
		t.Fatal(err)
	}
	at := strings.Index(string(data), "app")
	data[at-1] = 100 // the length of the name
	err = DecodeProtobuf(data, &corev1.Pod{})
	if want := "decode v1.Pod: field spec.containers.name: unexpected EOF"; err == nil || err.Error() != want || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

// untagged are types that look like messages at first.
type (
	noNumber struct {
		Name string `protobuf:"bytes,name=name"`
	}
	odd struct {
		C chan int `protobuf:"bytes,1,opt,name=c"`
	}
	oddMap struct {
		M map[int32]string `protobuf:"bytes,1,rep,name=m"`
	}
	holdsOdd struct {
		Inner []odd `protobuf:"bytes,2,rep,name=inner"`
	}
)

func TestTypesWithoutAForm(t *testing.T) {
	for _, test := range []struct {
		into any
		want string
	}{
		{&noNumber{}, `field Name of Go type codec.noNumber has no protobuf form here: its tag "bytes,name=name" has no number from 1 to 4096`},
		{&odd{}, `field C of Go type codec.odd has no protobuf form here: there is none for Go type chan int`},
		{&oddMap{}, `there is none for Go type map[int32]string`},
		{&holdsOdd{}, `field Inner of Go type codec.holdsOdd has no protobuf form here: field C of Go type codec.odd`},
	} {
		for range 2 { // the second time it is known
			if err := DecodeProtobuf(nil, test.into); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%T: error is %v, it lacks %q", test.into, err, test.want)
			}
		}
	}
}

func TestAliasIsDecoded(t *testing.T) {
	data, err := (&corev1.ConfigMap{Data: map[string]string{"k": "v"}}).Marshal()
	if err != nil {
		t.Fatal(err)
	}
	var got alias
	if err := DecodeProtobuf(data, &got); err != nil || got.Data["k"] != "v" {
		t.Errorf("got %v, %v", got.Data, err)
	}
}

// TestDecodedIsACopy: what was decoded shares no memory with the message.
func TestDecodedIsACopy(t *testing.T) {
	for _, m := range messagesForTests() {
		data, err := m.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		got := newGenerated(m)
		if err := DecodeProtobuf(data, got); err != nil {
			t.Fatal(err)
		}
		clear(data)
		want := newGenerated(m)
		again, err := m.Marshal()
		if err == nil {
			err = want.Unmarshal(again)
		}
		if err != nil || !reflect.DeepEqual(want, got) {
			t.Errorf("%T has changed with the message: %v\n%s", m, err, cmp.Diff(want, got))
		}
	}
}

// TestStringsHaveTheirOwnMemory: a string that is kept alone keeps little else in memory.
func TestStringsHaveTheirOwnMemory(t *testing.T) {
	data, err := (&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "name"}, Data: map[string]string{"k": strings.Repeat("x", 1<<20)}}).Marshal()
	if err != nil {
		t.Fatal(err)
	}
	const n = 16
	kept := make([]string, n)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i := range kept {
		var m corev1.ConfigMap
		if err := DecodeProtobuf(data, &m); err != nil {
			t.Fatal(err)
		}
		kept[i] = m.Name
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > n<<18 {
		t.Errorf("%d names keep %d bytes", n, grown)
	}
	runtime.KeepAlive(kept)
	runtime.KeepAlive(data)
}

// TestMessageFieldIsSmall: a field is looked up for each value, and has to be in the processor's cache.
func TestMessageFieldIsSmall(t *testing.T) {
	if size := unsafe.Sizeof(messageField{}); size > 32 {
		t.Errorf("%d bytes", size)
	}
}
