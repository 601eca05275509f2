package apiregistration_test

import (
	"encoding/json/v2"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/go-kube/kube/k8s/apiregistration"
)

// schema is the part of an OpenAPI schema that says what a Go struct has to look like.
type schema struct {
	Properties map[string]schema `json:"properties"`
	Required   []string          `json:"required"`
	Type       string            `json:"type"`
	Format     string            `json:"format"`
	Items      *schema           `json:"items"`
	AllOf      []schema          `json:"allOf"`
	Ref        string            `json:"$ref"`
}

func TestTypesHaveTheFieldsOfKubernetes(t *testing.T) {
	data, err := os.ReadFile("testdata/schemas.json")
	if err != nil {
		t.Fatal(err)
	}
	var want map[string]schema
	if err := json.Unmarshal(data, &want); err != nil {
		t.Fatal(err)
	}
	delete(want, "APIService")     // a resource.Object
	delete(want, "APIServiceList") // lists are generic
	got := map[string]map[string]string{}
	for name, typ := range map[string]reflect.Type{
		"APIServiceSpec":      reflect.TypeFor[apiregistration.APIServiceSpec](),
		"APIServiceStatus":    reflect.TypeFor[apiregistration.APIServiceStatus](),
		"APIServiceCondition": reflect.TypeFor[apiregistration.APIServiceCondition](),
		"ServiceReference":    reflect.TypeFor[apiregistration.ServiceReference](),
	} {
		got[name] = fieldsOf(typ)
	}
	fields := map[string]map[string]string{}
	for name, s := range want {
		fields[name] = s.fields()
	}
	if diff := cmp.Diff(fields, got); diff != "" {
		t.Errorf("fields (-Kubernetes +ours):\n%s", diff)
	}
}

// fields returns the type of each property, and whether it is required.
func (s schema) fields() map[string]string {
	out := map[string]string{}
	for name, p := range s.Properties {
		out[name] = p.typeName()
		if slices.Contains(s.Required, name) {
			out[name] += " required"
		}
	}
	return out
}

func (s schema) typeName() string {
	switch {
	case s.Items != nil:
		return "[]" + s.Items.typeName()
	case len(s.AllOf) == 1:
		return s.AllOf[0].typeName()
	case s.Ref != "":
		return s.Ref[strings.LastIndexByte(s.Ref, '.')+1:]
	case s.Format != "":
		return s.Format
	default:
		return s.Type
	}
}

// fieldsOf returns the same of a Go struct.
func fieldsOf(t reflect.Type) map[string]string {
	out := map[string]string{}
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		out[name] = goTypeName(f.Type)
		if !strings.Contains(options, "omitempty") {
			out[name] += " required"
		}
	}
	return out
}

func goTypeName(t reflect.Type) string {
	switch {
	case t == reflect.TypeFor[[]byte]():
		return "byte"
	case t.Kind() == reflect.Slice:
		return "[]" + goTypeName(t.Elem())
	case t.Kind() == reflect.Pointer:
		return goTypeName(t.Elem())
	case t.Kind() == reflect.String:
		return "string"
	case t.Kind() == reflect.Bool:
		return "boolean"
	default:
		return t.Name()
	}
}
