package codec

import (
	"encoding/json/v2"
	"math/rand"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// reads decodes data with the reader alone.
func reads[T any](data string) (value T, ok bool) {
	ok = readJSON([]byte(data), reflect.ValueOf(&value).Elem())
	return value, ok
}

// likeEncodingJSON compares what the reader reads with what encoding/json does. It reports whether
// the reader took data at all.
func likeEncodingJSON[T any](t *testing.T, data []byte) bool {
	t.Helper()
	got, ok := reads[T](string(data))
	if !ok {
		return false
	}
	var want T
	if err := json.Unmarshal(data, &want, traitsOf(reflect.TypeFor[T]()).options()); err != nil {
		t.Fatalf("%T: the reader takes %q, and encoding/json says: %v", want, data, err)
	}
	if !reflect.DeepEqual(want, got) {
		t.Fatalf("%T of %q (-encoding/json +ours):\n%s", want, data, cmp.Diff(want, got))
	}
	return true
}

// TestWhatServersWriteIsRead: encoding/json is for the rest.
func TestWhatServersWriteIsRead(t *testing.T) {
	eachObject(t, func(t *testing.T, gvk schema.GroupVersionKind, obj runtime.Object) {
		data, err := EncodeJSON(obj)
		if err != nil {
			t.Fatal(err)
		}
		got := newOf(obj)
		if !readJSON(data, reflect.ValueOf(got).Elem()) {
			t.Fatalf("it is left to encoding/json: %s", data)
		}
		want := newOf(obj)
		if err := json.Unmarshal(data, want, traitsOf(reflect.TypeOf(want).Elem()).options()); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(want, got) {
			t.Fatalf("read differently (-encoding/json +ours):\n%s", cmp.Diff(want, got))
		}
	})
}

func TestReadJSON(t *testing.T) {
	for _, test := range []struct {
		name, data string
		ok         bool // it is not left to encoding/json
	}{
		{"what is usual", `{"name":"a","number":-5,"data":"/w==","list":["a","b"],"map":{"a":"b"},"pointer":{"name":"x","size":1},"pool":{}}`, true},
		{"white space", " { \"name\" :\t\"a\" ,\r\n\"list\" : [ \"a\" , \"b\" ] , \"map\" : { } } ", true},
		{"nulls", `{"name":null,"list":null,"map":null,"pointer":null,"pool":null,"time":null,"number":null,"data":null,"any":null}`, true},
		{"empty", `{"name":"","list":[],"map":{},"data":"","pool":{}}`, true},
		{"escapes", `{"name":"\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00","map":{"\u0061":"\n"},"n\u0061me":"again"}`, false},
		{"escapes, once", `{"n\u0061me":"\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00","map":{"\u0061":"\n"}}`, true},
		{"what is not ASCII", `{"name":"naïve ☃ 😀","map":{"ü":"ü"}}`, true},
		{"what is unknown", `{"x":{"a":[1,-0.5e+3,true,false,null,"\u0000",{}]},"name":"a","X":[[]]}`, true},
		{"interfaces", `{"any":{"a":[1,2.5,"x",null]}}`, true},
		{"types with methods", `{"time":"2026-01-01T00:00:00+02:00","mode":"on","modes":{"on":1}}`, true},
		{"a quoted number", `{"quoted":"5"}`, false},
		{"a long string", `{"name":"` + strings.Repeat("x", 5000) + `"}`, true},
		{"a member twice", `{"name":"a","name":"b"}`, false},
		{"an unknown member twice", `{"x":1,"x":2}`, true},
		{"null in a list", `{"list":["a",null]}`, true},
		{"null in a map", `{"map":{"a":null}}`, true},
		{"a key twice, of strings", `{"map":{"a":"1","a":"2"}}`, true},
		{"invalid UTF-8", "{\"name\":\"\xff\"}", false},
		{"a lone surrogate", `{"name":"\ud800"}`, false},
		{"a control character", "{\"name\":\"\n\"}", false},
		{"a control character after eight", "{\"name\":\"12345678\x1f\"}", false},
		{"minus zero", `{"number":-0}`, false},
		{"a fraction for an integer", `{"number":1.0}`, false},
		{"too large a number", `{"number":128}`, false},
		{"bytes in lines", `{"data":"/w\r\n=="}`, false},
		{"bytes as a list", `{"data":[1]}`, false},
		{"another type", `{"name":5}`, false},
		{"a leading zero", `{"x":01}`, false},
		{"half a number", `{"x":1.}`, false},
		{"half an exponent", `{"x":1e}`, false},
		{"a sign alone", `{"x":-}`, false},
		{"half a word", `{"x":tru}`, false},
		{"a broken escape in what is unknown", `{"x":"\q"}`, false},
		{"a broken name in what is unknown", `{"x":{"\u00g0":1}}`, false},
		{"a comma too many", `{"list":["a",]}`, false},
		{"a comma too many in an object", `{"name":"a",}`, false},
		{"no comma", `{"name":"a" "list":[]}`, false},
		{"no colon", `{"name" "a"}`, false},
		{"no value", `{"name":}`, false},
		{"no end", `{"name":"a"`, false},
		{"no end of a string", `{"name":"a`, false},
		{"no end of an escape", `{"name":"a\`, false},
		{"brackets that do not fit", `{"x":[}]}`, false},
		{"more behind it", `{} {}`, false},
		{"deep", `{"x":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `}`, true},
		{"too deep", `{"x":` + strings.Repeat("[", 300) + strings.Repeat("]", 300) + `}`, false},
		{"null", `null`, true},
		{"nothing", ``, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			// The array of oddities, and what is written as a string, are not for the reader.
			type readable struct {
				Name    string            `json:"name"`
				Number  int8              `json:"number"`
				Quoted  int               `json:"quoted"`
				Data    []byte            `json:"data"`
				List    []string          `json:"list"`
				Map     map[string]string `json:"map"`
				Any     any               `json:"any"`
				Pointer *pool             `json:"pointer"`
				Time    metav1.Time       `json:"time"`
				Mode    mode              `json:"mode"`
				Modes   map[mode]int      `json:"modes"`
				Pool    pool              `json:"pool"`
			}
			if got := likeEncodingJSON[readable](t, []byte(test.data)); got != test.ok {
				t.Errorf("it was read: %v, want %v", got, test.ok)
			}
			likeServer[readable](t, []byte(test.data))
		})
	}
}

// TestReadJSONLeavesTypes: structs with more to them than the reader knows go to encoding/json, alone or
// within others.
func TestReadJSONLeavesTypes(t *testing.T) {
	type quoted struct {
		N int `json:"n,string"`
	}
	type embedsPointer struct {
		*pool
		A string
	}
	type folds struct {
		A string `json:"a,case:ignore"`
	}
	type holder struct {
		Quoted quoted
		Folds  folds
		Array  [2]int
		Name   string
	}
	if _, ok := reads[quoted](`{"n":"5"}`); ok {
		t.Error("a quoted number was read")
	}
	if _, ok := reads[embedsPointer](`{"A":"x"}`); ok {
		t.Error("an embedded pointer was read")
	}
	if _, ok := reads[tolerated](`{"a":"x"}`); ok {
		t.Error("a type that encoding/json/v2 refuses was read")
	}
	got, ok := reads[holder](`{"Quoted":{"n":"5"},"Folds":{"A":"x"},"Array":[1,2],"Name":"y"}`)
	if want := (holder{quoted{5}, folds{"x"}, [2]int{1, 2}, "y"}); !ok || got != want {
		t.Errorf("got %v, %v, want %v", got, ok, want)
	}
}

// TestReadJSONOfRandomData compares the two on JSON that nearly fits, and on JSON that is broken.
func TestReadJSONOfRandomData(t *testing.T) {
	g := &generator{Rand: rand.New(rand.NewSource(6))}
	read, all := 0, 0
	compare := func(data []byte) {
		for _, took := range []bool{
			likeEncodingJSON[gadget](t, data), likeEncodingJSON[oddities](t, data), likeEncodingJSON[corev1.Pod](t, data),
			likeEncodingJSON[apiextensionsv1.CustomResourceDefinition](t, data),
		} {
			if all++; took {
				read++
			}
		}
	}
	for range 50 * rounds() {
		for _, typ := range []reflect.Type{reflect.TypeFor[gadget](), reflect.TypeFor[corev1.Pod](), reflect.TypeFor[oddities]()} {
			data := g.of(typ)
			compare(data)
			compare(mutate(g.Rand, data))
		}
	}
	if read < all/20 || read > all*19/20 {
		t.Errorf("%d of %d were read; both cases are wanted", read, all)
	}
}

// TestDecodeJSONMerges: what is in a value stays where the data does not say otherwise.
func TestDecodeJSONMerges(t *testing.T) {
	got := oddities{Name: "old", Pool: pool{"p", 1}}
	if err := DecodeJSON([]byte(`{"pool":{"size":2}}`), &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(oddities{Name: "old", Pool: pool{"p", 2}}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func FuzzReadJSON(f *testing.F) {
	f.Add([]byte(mustEncode(f, testPod())))
	f.Add([]byte(mustEncode(f, &gadget{})))
	f.Add([]byte(`{"name":"\ud800","number":-0,"quoted":"07","data":"Zm9v","list":["a"],"map":{"a":"1","a":"2"},"any":{"a":[1e5,-1,1.0,null]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		likeEncodingJSON[oddities](t, data)
		likeEncodingJSON[corev1.Pod](t, data)
		likeEncodingJSON[gadget](t, data)
		likeEncodingJSON[metav1.Condition](t, data)
		likeEncodingJSON[map[string]pool](t, data)
		likeEncodingJSON[[]map[string]string](t, data)
	})
}
