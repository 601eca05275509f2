package codec

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kjson "sigs.k8s.io/json"
)

func TestDecodeStrict(t *testing.T) {
	tests := []struct {
		name, data string
		into       any
		want       string // empty: no error
	}{
		{"all known", `{"apiVersion":"v1","spec":{"containers":[{"name":"a"}]},"status":null}`, new(corev1.Pod), ``},
		{"all that is wrong", `{"spce":{},"spec":{"containers":[{"name":"a","image":"x","imge":"y","image":"z"}],"x":[{"y":1,"y":2}]}}`, new(corev1.Pod),
			`decode v1.Pod: unknown field "spce" (did you mean "spec"?), unknown field "spec.containers[0].imge" (did you mean "image"?), duplicate field "spec.containers[0].image", unknown field "spec.x"`},
		{"another case", `{"Spec":{}}`, new(corev1.Pod), `unknown field "Spec" (did you mean "spec"?)`},
		{"keys of maps", `{"metadata":{"labels":{"a":"1","b":"2","a":"3"}}}`, new(corev1.Pod), `duplicate field "metadata.labels.a"`},
		{"inside of what decodes itself", `{"spec":{"extension":{"any":1},"raw":{"b":1,"b":2}}}`, new(gadget), ``},
		{"inside of interfaces", `{"spec":{"values":[{"b":1,"b":2}]}}`, new(gadget), `duplicate field "spec.values[0].b"`},
		{"promoted, ignored and renamed fields", `{"spec":{"owner":"o","region":"r","named":{"title":"t"},"-":"d","Untagged":"u"}}`, new(gadget), ``},
		{"fields for the rest", `{"spec":{"rest":{"a":1,"b":2}}}`, new(holder), ``},
		{"an ignored field", `{"spec":{"Hidden":"h","common":{}}}`, new(gadget), `unknown field "spec.Hidden", unknown field "spec.common" (did you mean "comment"?)`},
		{"unstructured", `{"kind":"K","spec":{"a":1,"a":2}}`, new(unstructured.Unstructured), `decode unstructured.Unstructured: duplicate field "spec.a"`},
		{"named once each", `{"a":{},"a":{},"a":{}}`, new(map[string]any), `decode map[string]interface {}: duplicate field "a"`},
		{"does not fit at all", `{"spec":1}`, new(corev1.Pod), `a JSON number 1 does not fit`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			err := DecodeStrict([]byte(test.data), test.into)
			if test.want == "" && err != nil {
				t.Fatal(err)
			}
			if test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("error is  %v\nit lacks %s", err, test.want)
			}
			if err != nil && strings.Count(err.Error(), " field ") != strings.Count(test.want, " field ") {
				t.Errorf("error has more than %s: %v", test.want, err)
			}
		})
	}
}

func TestDecodeStrictDecodesToo(t *testing.T) {
	var got corev1.Pod
	if err := DecodeStrict([]byte(`{"spec":{"nodeName":"n","x":1}}`), &got); err == nil {
		t.Fatal("no error")
	}
	if got.Spec.NodeName != "n" {
		t.Errorf("got %v", got.Spec)
	}
}

func TestDecodeStrictNamesSome(t *testing.T) {
	var data strings.Builder
	for i := range 300 {
		fmt.Fprintf(&data, `%s"unknown%d":1`, map[bool]string{true: "{", false: ","}[i == 0], i)
	}
	data.WriteByte('}')
	err := DecodeStrict([]byte(data.String()), new(corev1.Pod))
	if err == nil || strings.Count(err.Error(), "unknown field") != maxProblems {
		t.Errorf("got %v", err)
	}
}

// TestDecodeStrictIsThatOfTheServer breaks random objects of every kind.
func TestDecodeStrictIsThatOfTheServer(t *testing.T) {
	eachObject(t, func(t *testing.T, gvk schema.GroupVersionKind, obj runtime.Object) {
		data := mustEncode(t, obj)
		if err := DecodeStrict([]byte(data), newOf(obj)); err != nil {
			t.Fatal(err)
		}
		broken := insertMembers(data, "metadata", `"nam":"x","labels":{"a":"b","a":"c"}`)
		broken = insertMembers(broken, "spec", `"speck":{"a":1,"a":2}`)
		server, err := kjson.UnmarshalStrict([]byte(broken), newOf(obj))
		if err != nil {
			t.Fatal(err)
		}
		check := strictProblems(t, broken, newOf(obj))
		want := []string{}
		for _, err := range server {
			want = append(want, err.Error())
		}
		if diff := cmp.Diff(want, check); diff != "" {
			t.Errorf("-server +ours:\n%s\nin %s", diff, broken)
		}
	})
}

// insertMembers adds members to the first object of that name in data, if there is one.
func insertMembers(data, name, members string) string {
	before, after, found := strings.Cut(data, `"`+name+`":{`)
	if !found {
		return data
	}
	if !strings.HasPrefix(after, "}") {
		members += ","
	}
	return before + `"` + name + `":{` + members + after
}

// strictProblems returns what DecodeStrict finds, without its suggestions.
func strictProblems(t *testing.T, data string, into any) []string {
	t.Helper()
	problems := []string{}
	err := DecodeStrict([]byte(data), into)
	if err == nil {
		return problems
	}
	_, list, _ := strings.Cut(err.Error(), ": ")
	for problem := range strings.SplitSeq(list, ", ") {
		problem, _, _ = strings.Cut(problem, " (did")
		problems = append(problems, problem)
	}
	if !reflect.DeepEqual(err.(*Error).Type, reflect.TypeOf(into).Elem()) {
		t.Errorf("error is about %v", err.(*Error).Type)
	}
	return problems
}
