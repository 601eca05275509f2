package codec

import (
	jsonv1 "encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kjson "sigs.k8s.io/json"
)

// oddities has what the tables below decode.
type oddities struct {
	Name    string            `json:"name"`
	Number  int8              `json:"number"`
	Quoted  int               `json:"quoted,string"`
	Data    []byte            `json:"data"`
	List    []string          `json:"list"`
	Map     map[string]string `json:"map"`
	Array   [2]int            `json:"array"`
	Any     any               `json:"any"`
	Pointer *pool             `json:"pointer"`
	Wait    time.Duration     `json:"wait"`
	Time    metav1.Time       `json:"time"`
	Mode    mode              `json:"mode"`
	Modes   map[mode]int      `json:"modes"`
	Pool    pool              `json:"pool"`
}

func TestDecodeJSONSemantics(t *testing.T) {
	tests := []struct {
		name, data string
		want       oddities
	}{
		{"names match by case", `{"Name":"a","NAME":"b"}`, oddities{}},
		{"unknown fields are ignored", `{"new":{"deep":[1]},"name":"a"}`, oddities{Name: "a"}},
		{"the last duplicate counts", `{"name":"a","name":"b"}`, oddities{Name: "b"}},
		{"duplicate structs are merged", `{"pool":{"name":"a"},"pool":{"size":2}}`, oddities{Pool: pool{"a", 2}}},
		{"null leaves a scalar alone", `{"name":"a","name":null,"number":1,"number":null}`, oddities{Name: "a", Number: 1}},
		{"null unsets what can be nil", `{"list":["a"],"list":null,"map":{"a":"b"},"map":null,"any":1,"any":null,"pointer":{},"pointer":null}`, oddities{}},
		{"empty and absent are told apart", `{"list":[],"map":{},"data":""}`, oddities{List: []string{}, Map: map[string]string{}, Data: []byte{}}},
		{"bytes are base64", `{"data":"/w=="}`, oddities{Data: []byte{255}}},
		{"bytes may be in lines", `{"data":"/w\r\n=="}`, oddities{Data: []byte{255}}},
		{"invalid UTF-8 is replaced", "{\"name\":\"a\xffb\",\"any\":\"\xff\",\"map\":{\"\xff\":\"\xff\"}}", oddities{Name: "a\ufffdb", Any: "\ufffd", Map: map[string]string{"\ufffd": "\ufffd"}}},
		{"lone surrogates are replaced", `{"name":"\ud800","any":"\ud800x"}`, oddities{Name: "\ufffd", Any: "\ufffdx"}},
		{"arrays may be short or long", `{"array":[1,2,3]}`, oddities{Array: [2]int{1, 2}}},
		{"integers stay integers", `{"any":[1,-9223372036854775808,9223372036854775807]}`, oddities{Any: []any{int64(1), int64(math.MinInt64), int64(math.MaxInt64)}}},
		{"the rest are floats", `{"any":[1.0,1e3,9223372036854775808,-0.5]}`, oddities{Any: []any{1.0, 1000.0, 9223372036854775808.0, -0.5}}},
		{"interfaces inside of interfaces", `{"any":{"a":[{"b":1,"b":2}],"c":null,"d":true}}`, oddities{Any: map[string]any{"a": []any{map[string]any{"b": int64(2)}}, "c": nil, "d": true}}},
		{"quoted numbers", `{"quoted":"12"}`, oddities{Quoted: 12}},
		{"durations are nanoseconds", `{"wait":1000}`, oddities{Wait: time.Microsecond}},
		{"methods for text, also of keys", `{"mode":"on","modes":{"on":1,"off":2}}`, oddities{Mode: 1, Modes: map[mode]int{1: 1, 0: 2}}},
		{"blanks", " \t\r\n{ \"name\" : \"a\" } \n", oddities{Name: "a"}},
		{"null for the whole", `null`, oddities{}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var got, server oddities
			if err := DecodeJSON([]byte(test.data), &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if err := kjson.UnmarshalCaseSensitivePreserveInts([]byte(test.data), &server); err != nil {
				t.Fatalf("the server refuses it: %v", err)
			}
			if diff := cmp.Diff(server, got); diff != "" {
				t.Errorf("-server +got:\n%s", diff)
			}
		})
	}
}

// TestDecodeJSONTakesAnOwnedCopy: the caller may use the data again.
func TestDecodeJSONTakesAnOwnedCopy(t *testing.T) {
	data := []byte(`{"name":"abc","map":{"def":"ghi"},"any":{"jkl":"mno"},"data":"/w=="}`)
	var got oddities
	if err := DecodeJSON(data, &got); err != nil {
		t.Fatal(err)
	}
	var dynamic unstructured.Unstructured
	if err := DecodeJSON(data, &dynamic); err != nil {
		t.Fatal(err)
	}
	for i := range data {
		data[i] = 'x'
	}
	want := oddities{Name: "abc", Map: map[string]string{"def": "ghi"}, Any: map[string]any{"jkl": "mno"}, Data: []byte{255}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if dynamic.Object["name"] != "abc" {
		t.Errorf("the unstructured object changed: %v", dynamic.Object)
	}
}

func TestDecodeJSONKeepsPointersInInterfaces(t *testing.T) {
	inside := &pool{Name: "a"}
	got := oddities{Any: inside}
	if err := DecodeJSON([]byte(`{"any":{"size":2}}`), &got); err != nil {
		t.Fatal(err)
	}
	if got.Any != any(inside) || *inside != (pool{"a", 2}) {
		t.Errorf("got %v", got.Any)
	}
}

// tolerated has a tag that encoding/json tolerates and encoding/json/v2 refuses.
type tolerated struct {
	pool `json:",inline,omitempty"`
	A    string `json:"a"`
	Any  any    `json:"any"`
}

func TestMalformedTagsAreTolerated(t *testing.T) {
	checkTolerated(t, `{"name":"n","size":1,"a":"x","any":5}`, &tolerated{}, &tolerated{pool{"n", 1}, "x", int64(5)})
	sparse, err := EncodeApply(&tolerated{A: "x"}, "v1", "K", nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"apiVersion":"v1","kind":"K","name":"","a":"x"}`; string(sparse) != want {
		t.Errorf("sparse: want %s, got %s", want, sparse)
	}
	err = DecodeJSON([]byte(`{"name":"n","any":[1],"size":"x"}`), new(tolerated))
	if err == nil || !strings.Contains(err.Error(), "decode codec.tolerated at /size: a JSON string does not fit Go type int") {
		t.Errorf("got error %v", err)
	}
}

// TestConflictingTagsAreTolerated uses a type made at run time, since vet refuses its tags.
func TestConflictingTagsAreTolerated(t *testing.T) {
	text := reflect.TypeFor[string]()
	odd := reflect.StructOf([]reflect.StructField{
		{Name: "A", Type: text, Tag: `json:"a, omitempty"`},
		{Name: "B", Type: text, Tag: `json:"b"`},
		{Name: "C", Type: text, Tag: `json:"b"`},
	})
	want := reflect.New(odd)
	want.Elem().Field(0).SetString("x")
	checkTolerated(t, `{"a":"x","b":"y"}`, reflect.New(odd).Interface(), want.Interface())
	sparse, err := EncodeApply(want.Interface(), "v1", "K", nil)
	if want := `{"apiVersion":"v1","kind":"K","a":"x"}`; err != nil || string(sparse) != want {
		t.Errorf("sparse: want %s, got %s, %v", want, sparse, err)
	}
}

// checkTolerated decodes data into an empty value, and compares with want and the server.
func checkTolerated(t *testing.T, data string, into, want any) {
	t.Helper()
	if err := DecodeJSON([]byte(data), into); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(want, into) {
		t.Errorf("want %+v, got %+v", want, into)
	}
	server := reflect.New(reflect.TypeOf(into).Elem()).Interface()
	if err := kjson.UnmarshalCaseSensitivePreserveInts([]byte(data), server); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(server, into) {
		t.Errorf("server %+v, ours %+v", server, into)
	}
	encoded, err := jsonv1.Marshal(into)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(encoded), mustEncode(t, into)); diff != "" {
		t.Errorf("encoded differently (-server +ours):\n%s", diff)
	}
}

func TestDecodeJSONErrors(t *testing.T) {
	tests := []struct {
		name, data string
		into       any
		want       string
	}{
		{"wrong type", `{"spec":{"containers":[{"ports":[{"containerPort":"http"}]}]}}`, new(corev1.Pod),
			`decode v1.Pod at /spec/containers/0/ports/0/containerPort: a JSON string "http" does not fit Go type int32`},
		{"out of range", `{"number":300}`, new(oddities), `decode codec.oddities at /number: a JSON number 300 does not fit Go type int8: value out of range`},
		{"a fraction", `{"number":1.5}`, new(oddities), `at /number: a JSON number 1.5 does not fit Go type int8`},
		{"an object for a list", `{"list":{"a":1}}`, new(oddities), `at /list: a JSON object does not fit Go type []string`},
		{"a list for the whole", `[]`, new(corev1.Pod), `decode v1.Pod: a JSON array does not fit Go type v1.Pod`},
		{"in a map whose key has a slash", `{"metadata":{"labels":{"a/b":1}}}`, new(corev1.Pod), `at /metadata/labels/a~1b: a JSON number 1 does not fit Go type string`},
		{"a type with a method", `{"spec":{"containers":[{"resources":{"limits":{"cpu":"much"}}}]}}`, new(corev1.Pod),
			`at /spec/containers/0/resources/limits/cpu: a JSON string "much" does not fit Go type resource.Quantity: quantities must match`},
		{"a time", `{"time":"yesterday"}`, new(oddities), `at /time: a JSON string "yesterday" does not fit Go type v1.Time: parsing time "yesterday"`},
		{"bytes, which may be secret", `{"data":{"password":"hunter2!"}}`, new(corev1.Secret), `at /data/password: a JSON string does not fit Go type []uint8: illegal base64 data at input byte 7`},
		{"text of a secret", `{"stringData":{"password":{"hunter2":1}}}`, new(corev1.Secret), `at /stringData/password: a JSON object does not fit Go type string`},
		{"a number that no float holds", `{"any":{"deep":[1e999]}}`, new(oddities), `at /any/deep/0: a JSON number 1e999 does not fit Go type float64: value out of range`},
		{"syntax", `{"spec":{"containers":[}}`, new(corev1.Pod), `decode v1.Pod at /spec/containers/0: invalid JSON after byte 23: invalid character '}'`},
		{"cut off", `{"spec":{"nodeName":"x"`, new(corev1.Pod), `invalid JSON after byte 23: unexpected EOF`},
		{"nothing", ``, new(corev1.Pod), `invalid JSON after byte 0: unexpected EOF`},
		{"more than one value", `{} {}`, new(corev1.Pod), `invalid JSON after byte 3`},
		{"a generic type", `{"spec":1}`, new(object[webAppSpec, *corev1.PodStatus]), `decode codec.object[codec.webAppSpec,*v1.PodStatus] at /spec: a JSON number 1 does not fit Go type codec.webAppSpec`},
		{"unstructured: no object", `[]`, new(unstructured.Unstructured), `decode unstructured.Unstructured: a JSON array does not fit Go type unstructured.Unstructured: an object is needed`},
		{"unstructured: null", `null`, new(unstructured.Unstructured), `a JSON null does not fit Go type unstructured.Unstructured`},
		{"unstructured: a large number", `{"a":{"b":1e999}}`, new(unstructured.Unstructured), `decode unstructured.Unstructured at /a/b: a JSON number 1e999 does not fit Go type float64`},
		{"unstructured: syntax", `{"a":[1,]}`, new(unstructured.Unstructured), `decode unstructured.Unstructured at /a: invalid JSON after byte 7: invalid character ','`},
		{"unstructured: cut off", `{"a":`, new(unstructured.Unstructured), `unexpected EOF`},
		{"unstructured: more than one", `{}{}`, new(unstructured.Unstructured), `invalid JSON after byte 2`},
		{"into nil", `{}`, nil, `decode JSON: there is nothing to decode into`},
		{"into a nil pointer", `{}`, (*corev1.Pod)(nil), `decode JSON: the *v1.Pod to decode into is nil`},
		{"into a value", `{}`, corev1.Pod{}, `decode JSON: a pointer to decode into is needed, not a v1.Pod`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			err := DecodeJSON([]byte(test.data), test.into)
			if err == nil {
				t.Fatal("no error")
			}
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("error is  %s\nit lacks %s", err, test.want)
			}
			if strings.Contains(err.Error(), "hunter2") {
				t.Errorf("error tells a secret: %s", err)
			}
		})
	}
}

func TestEncodeJSONErrors(t *testing.T) {
	tests := []struct {
		name string
		obj  any
		want string
	}{
		{"a function", &oddities{Any: map[string]any{"f": func() {}}}, `encode codec.oddities at /any/f: Go type func() has no JSON form here`},
		{"not a number", &oddities{Any: []any{math.NaN()}}, `encode codec.oddities at /any/0: Go type float64 has no JSON form here: unsupported value: NaN`},
		{"a method that fails", &broken{Items: map[string][]unwritable{"k": {{}}}}, `encode codec.broken at /items/k/0: Go type codec.unwritable has no JSON form here: cannot be written`},
		{"an unstructured object", &unstructured.Unstructured{Object: map[string]any{"c": make(chan int)}}, `encode unstructured.Unstructured at /c: Go type chan int has no JSON form here`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			data, err := EncodeJSON(test.obj)
			if err == nil {
				t.Fatalf("no error, but %s", data)
			}
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("error is  %s\nit lacks %s", err, test.want)
			}
		})
	}
}

func TestEncodeJSONSemantics(t *testing.T) {
	tests := []struct {
		name string
		obj  any
		want string
	}{
		{"null for nil", &oddities{}, `{"name":"","number":0,"quoted":"0","data":null,"list":null,"map":null,"array":[0,0],"any":null,"pointer":null,"wait":0,"time":null,"mode":"off","modes":null,"pool":{"name":""}}`},
		{"HTML is escaped as the server does", map[string]string{"a": "<&>\u2028"}, `{"a":"\u003c\u0026\u003e\u2028"}`},
		{"sorted keys", map[string]int{"b": 1, "a": 2, "B": 3}, `{"B":3,"a":2,"b":1}`},
		{"floats", []any{1.0, 1e21, 0.000001, 1e-7, float32(0.1)}, `[1,1e+21,0.000001,1e-7,0.1]`},
		{"an unstructured object that is empty", &unstructured.Unstructured{}, `null`},
		{"a nil pointer", (*unstructured.Unstructured)(nil), `null`},
		{"nil", nil, `null`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, mustEncode(t, test.obj)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestUnstructuredItemsMayLackAKind(t *testing.T) {
	var list struct {
		Items []*unstructured.Unstructured `json:"items"`
	}
	if err := DecodeJSON([]byte(`{"items":[{"kind":"Pod"}]}`), &list); err != nil {
		t.Fatal(err)
	}
	var item unstructured.Unstructured
	if err := DecodeJSON([]byte(`{"metadata":{"name":"x","generation":5},"spec":{"ratio":0.5}}`), &item); err != nil {
		t.Fatal(err)
	}
	if item.GetName() != "x" || item.GetGeneration() != 5 || item.GetKind() != "" {
		t.Errorf("got %v", item.Object)
	}
}
