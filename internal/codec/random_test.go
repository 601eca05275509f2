package codec

import (
	"fmt"
	"math/rand"
	"reflect"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// TestRandomJSONIsReadAsByTheServer feeds both decoders JSON that nearly fits the types.
func TestRandomJSONIsReadAsByTheServer(t *testing.T) {
	g := &generator{Rand: rand.New(rand.NewSource(4))}
	for range 200 * rounds() {
		likeServer[oddities](t, g.of(reflect.TypeFor[oddities]()))
		likeServer[gadget](t, g.of(reflect.TypeFor[gadget]()))
		likeServer[tolerated](t, g.of(reflect.TypeFor[tolerated]()))
		likeServer[corev1.Pod](t, g.of(reflect.TypeFor[corev1.Pod]()))
		likeServer[apiextensionsv1.CustomResourceDefinition](t, g.of(reflect.TypeFor[apiextensionsv1.CustomResourceDefinition]()))
		likeServerUnstructured(t, g.of(reflect.TypeFor[gadget]()))
	}
	if g.good < g.all/10 || g.good > g.all*9/10 {
		t.Errorf("%d of %d values fit their types; both cases are wanted", g.good, g.all)
	}
}

// TestRandomJSONIsAppliedInFull decodes such JSON and encodes it for an apply.
func TestRandomJSONIsAppliedInFull(t *testing.T) {
	g := &generator{Rand: rand.New(rand.NewSource(5))}
	for range 100 * rounds() {
		sparseGivesBackAll[corev1.Pod](t, g.of(reflect.TypeFor[corev1.Pod]()))
		sparseGivesBackAll[gadget](t, g.of(reflect.TypeFor[gadget]()))
		sparseGivesBackAll[holder](t, g.of(reflect.TypeFor[holder]()))
	}
}

// generator makes JSON for a type, with a mistake here and there.
type generator struct {
	*rand.Rand
	mistakes  int // one value in so many is a mistake; 0 for none
	all, good int
}

func (g *generator) of(t reflect.Type) []byte {
	g.mistakes = []int{0, 200, 20}[g.Intn(3)]
	data := []byte(g.value(t, 0))
	g.all++
	if DecodeJSON(data, reflect.New(t).Interface()) == nil {
		g.good++
	}
	return data
}

var mistakes = []string{
	`null`, `true`, `false`, `0`, `-0`, `1`, `-1`, `1.0`, `1e2`, `1.5`, `300`, `4294967296`, `9223372036854775808`, `1e999`, `-9223372036854775808`,
	`""`, `"a"`, `"1"`, `" 1"`, `"1 "`, `"01"`, `"1.5"`, `"null"`, `"true"`, `"\"a\""`, `"\ud800"`, "\"\xff\"", `"2026-01-01T00:00:00Z"`, `"2026-01-01T0:00:00,5Z"`, `"1h"`, `"Zm9v"`, `"Zm9"`, `"on"`, `"100m"`,
	`[]`, `[1]`, `["a"]`, `[null]`, `[[]]`, `[{}]`, `[1,2,3,4,5]`, `{}`, `{"a":1}`, `{"a":1,"a":2}`, `{"1":{}}`, `{"on":1}`, `{"name":"x","size":1}`, `{"":null}`,
}

func (g *generator) value(t reflect.Type, depth int) string {
	if g.mistakes > 0 && g.Intn(g.mistakes) == 0 {
		return mistakes[g.Intn(len(mistakes))]
	}
	if special, ok := specialValues[t.String()]; ok {
		return special[g.Intn(len(special))]
	}
	switch t.Kind() {
	case reflect.Bool:
		return strconv.FormatBool(g.Intn(2) == 0)
	case reflect.String:
		return []string{`""`, `"a"`, `"1"`, `"\u00e9\n"`}[g.Intn(4)]
	case reflect.Pointer:
		return g.value(t.Elem(), depth)
	case reflect.Slice, reflect.Array:
		return g.list(t, depth)
	case reflect.Map:
		return g.members(t, []string{`a`, `b/c`, `1`, `-2`, `on`, `a`}, func(string) reflect.Type { return t.Elem() }, depth)
	case reflect.Struct:
		fields := fieldsOf(t)
		return g.members(t, append(fields.names(), "unknown", "Name"), func(name string) reflect.Type {
			if f := fields.byName[name]; f != nil {
				return f.typ
			}
			return reflect.TypeFor[any]()
		}, depth)
	case reflect.Interface:
		return mistakes[g.Intn(len(mistakes))]
	}
	return []string{`0`, `1`, `100`}[g.Intn(3)]
}

// specialValues are for types that are not written as their kind.
var specialValues = map[string][]string{
	"v1.Time": {`null`, `"2026-01-01T00:00:00Z"`}, "v1.MicroTime": {`null`, `"2026-01-01T00:00:00.000001Z"`}, "time.Time": {`"2026-01-01T00:00:00.5+01:00"`},
	"v1.Duration": {`"1h"`, `"0s"`}, "resource.Quantity": {`"0"`, `"100m"`, `5`, `"1Gi"`}, "intstr.IntOrString": {`0`, `5`, `""`, `"50%"`},
	"runtime.RawExtension": {`{}`, `{"a":[0]}`, `null`}, "v1.FieldsV1": {`{"f:a":{}}`}, "codec.mode": {`"on"`, `"off"`}, "[]uint8": {`""`, `"Zm9v"`, `null`},
	"json.RawMessage": {`{"a":1}`, `null`, `[]`}, "json.Number": {`1.50`, `0`}, "v1.JSON": {`{"a":1}`, `null`, `0`},
	"v1.JSONSchemaPropsOrBool": {`true`, `false`, `{"type":"a"}`}, "v1.JSONSchemaPropsOrArray": {`{}`, `[{}]`}, "v1.JSONSchemaPropsOrStringArray": {`["a"]`, `{}`},
}

func (g *generator) list(t reflect.Type, depth int) string {
	if depth > 6 {
		return `[]`
	}
	items := make([]string, g.Intn(3))
	for i := range items {
		items[i] = g.value(t.Elem(), depth+1)
	}
	return "[" + strings.Join(items, ",") + "]"
}

func (g *generator) members(t reflect.Type, names []string, typeOf func(string) reflect.Type, depth int) string {
	var members []string
	for _, name := range names {
		if depth > 6 || g.Intn(len(names)) > 8 || g.Intn(2) == 0 {
			continue
		}
		value := g.value(typeOf(name), depth+1)
		if t.Kind() == reflect.Struct {
			if f := fieldsOf(t).byName[name]; f != nil && f.quoted {
				value = strconv.Quote(value)
			}
		}
		members = append(members, fmt.Sprintf("%q:%s", name, value))
	}
	return "{" + strings.Join(members, ",") + "}"
}
