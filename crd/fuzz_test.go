package crd

import (
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// write spells words as a tag, with every value in quotes.
func write(words []word) string {
	var out []string
	for _, w := range words {
		text := w.as()
		for i, v := range w.values {
			text += map[bool]string{true: "=", false: "|"}[i == 0] + "'" + strings.ReplaceAll(v.text, "'", "''") + "'"
		}
		out = append(out, text)
	}
	return strings.Join(out, ",")
}

func addTags(f *testing.F) {
	for _, tag := range []string{
		"", "minLength=1", " minLength = 1 , maxLength=2", "pattern='^[a,b]$',required", "enum=a|'b,c'|''|'it''s'",
		"items.additionalProperties.minimum=-1.5e3", "default='{\"a\":[1]}'", "pattern=^(a|b=c)$", "a='", "=", ",", "a=''b", "a.b.=c|",
		"listType=map,listMapKey=name|number", "minimum=1,exclusiveMinimum", "type=array,items.type=string,items.pattern=a|b", "intOrString,default='1',enum=1|'1'",
		"nullable,default=null", "format=date-time,default='2026-01-01T00:00:00Z'", "description='a',title=b,example=c", "default=1,minimum=1,maximum=1,multipleOf=1",
		"preserveUnknownFields,embeddedResource", "minProperties=1,maxProperties=2,mapType=atomic", "minItems=1,maxItems=2,items.enum=a|b,default='[\"a\"]'",
	} {
		f.Add(tag)
	}
}

// FuzzParseTag checks that the grammar can say all that it reads.
func FuzzParseTag(f *testing.F) {
	addTags(f)
	f.Fuzz(func(t *testing.T, tag string) {
		words, err := parseTag(tag)
		if err != nil {
			return
		}
		again, err := parseTag(write(words))
		if err != nil {
			t.Fatalf("%q was read, and then written as %q: %v", tag, write(words), err)
		}
		same := cmp.Options{cmp.AllowUnexported(word{}, value{}), cmpopts.IgnoreFields(word{}, "raw"), cmpopts.IgnoreFields(value{}, "quoted"), cmpopts.EquateEmpty()}
		if diff := cmp.Diff(words, again, same); diff != "" {
			t.Errorf("%q is not what it is when written as %q (-first +second):\n%s", tag, write(words), diff)
		}
	})
}

// FuzzApplyTag checks that a tag without errors leaves a schema that the API server takes,
// whatever the Go type.
func FuzzApplyTag(f *testing.F) {
	addTags(f)
	type item struct {
		Name   string            `json:"name"`
		Number *int32            `json:"number,omitempty"`
		Labels map[string]string `json:"labels,omitempty"`
	}
	types := []reflect.Type{
		reflect.TypeFor[string](), reflect.TypeFor[int8](), reflect.TypeFor[*uint32](), reflect.TypeFor[float64](), reflect.TypeFor[bool](),
		reflect.TypeFor[[]string](), reflect.TypeFor[[]item](), reflect.TypeFor[map[string][]int64](), reflect.TypeFor[item](), reflect.TypeFor[any](),
	}
	f.Fuzz(func(t *testing.T, tag string) {
		for _, typ := range types {
			b := &builder{done: map[reflect.Type]*props{}}
			words := b.readTag("Field", tag)
			s := b.schemaOf(typ, "Field", words)
			b.applyWords(&node{props: &s, goType: typ, at: "Field"}, words)
			if b.bad.joined() != nil {
				continue
			}
			var bad failures
			checkGiven(&s, "Field", &bad)
			if err := bad.joined(); err != nil {
				t.Errorf("%q on a %s gave no error, and a schema with faults:\n%v", tag, typ, err)
			}
			b.bad.joined()
		}
	})
}
