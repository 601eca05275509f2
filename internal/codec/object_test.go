package codec

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

type pointedType struct {
	*metav1.TypeMeta `json:",inline"`
	Name             string `json:"name"`
}

func TestEncodeObject(t *testing.T) {
	shared := &metav1.TypeMeta{Kind: "Old"}
	tests := []struct {
		name string
		obj  any
		want string
	}{
		{"without a type", &webApp{ObjectMeta: named}, `{"kind":"K","apiVersion":"g/v1","metadata":{"name":"x"},"spec":{"image":"","replicas":0}}`},
		{"with another type", &corev1.Namespace{TypeMeta: metav1.TypeMeta{Kind: "Other", APIVersion: "v2"}, ObjectMeta: named}, `{"kind":"K","apiVersion":"g/v1","metadata":{"name":"x"},"spec":{},"status":{}}`},
		{"with the right type", &corev1.Namespace{TypeMeta: metav1.TypeMeta{Kind: "K", APIVersion: "g/v1"}}, `{"kind":"K","apiVersion":"g/v1","metadata":{},"spec":{},"status":{}}`},
		{"managedFields are kept", &oddMeta{Metadata: &metav1.ObjectMeta{ManagedFields: []metav1.ManagedFieldsEntry{{}}}}, `{"kind":"K","apiVersion":"g/v1","metadata":{"managedFields":[{}]}}`},
		{"by value", corev1.Namespace{}, `{"kind":"K","apiVersion":"g/v1","metadata":{},"spec":{},"status":{}}`},
		{"unstructured", &unstructured.Unstructured{Object: map[string]any{"kind": "Other", "spec": map[string]any{}}}, `{"apiVersion":"g/v1","kind":"K","spec":{}}`},
		{"unstructured of nothing", &unstructured.Unstructured{}, `{"apiVersion":"g/v1","kind":"K"}`},
		{"a map", map[string]int{"a": 1}, `{"a":1,"apiVersion":"g/v1","kind":"K"}`},
		{"a type behind a pointer", &pointedType{shared, "x"}, `{"apiVersion":"g/v1","kind":"K","name":"x"}`},
		{"an apply configuration", &applyConfiguration{}, `{"always":false,"apiVersion":"g/v1","kind":"K"}`},
		{"a type that writes itself", ownJSON{"x"}, `{"apiVersion":"g/v1","kind":"K","metadata":{"name":"x"},"zero":0}`},
		{"raw JSON", json.RawMessage(`{"kind":null,"a":1.50}`), `{"a":1.50,"apiVersion":"g/v1","kind":"K"}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			before := mustEncode(t, test.obj)
			got, err := EncodeObject(test.obj, "g/v1", "K")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, string(got)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if after := mustEncode(t, test.obj); before != after {
				t.Errorf("the object was changed (-before +after):\n%s", cmp.Diff(before, after))
			}
		})
	}
}

func TestEncodeObjectRefuses(t *testing.T) {
	tests := []struct {
		name string
		obj  any
		want string
	}{
		{"nil", nil, "there is no object, only nil"},
		{"a nil pointer", (*corev1.Pod)(nil), "the *v1.Pod is nil"},
		{"a number", 5, "encode g/v1 K: an object is needed, and a int is written as something else"},
		{"a function", map[string]any{"f": func() {}}, "at /f: Go type func() has no JSON form"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			data, err := EncodeObject(test.obj, "g/v1", "K")
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %s, %v; want an error with %q", data, err, test.want)
			}
		})
	}
}
