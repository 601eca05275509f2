package crd

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The tags and fields of this file are wrong in ways that go vet finds: the types are made at
// run time.

func TestMalformedTag(t *testing.T) {
	const broken = `the struct tag is malformed, so that nothing in its schema part counts: write schema:"word,word=value", with \\ for each backslash and \" for each quote inside`
	for tag, want := range map[reflect.StructTag]string{
		`json:"a" schema:"pattern=^\d$"`:          broken,
		`json:"a" schema:pattern`:                 broken,
		`json:"a", schema:"pattern=a"`:            broken,
		`json:"a"	schema:"pattern=a"`:             broken,
		`json:"a" schema: "pattern=a"`:            broken,
		`json:"a" schema:"pattern=a`:              broken,
		`json:"a" doc:"the schema: \"a\""`:        "",
		`json:"a" schema:"pattern=^\\d$" doc:"b"`: "",
		`json:"a"`: "",
		``:         "",
	} {
		_, _, err := schemaTag(tag)
		if got := text(err); got != want {
			t.Errorf("schemaTag(%s): %q, want %q", tag, got, want)
		}
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

type Alpha struct {
	Name string `json:"name"`
}

type Beta struct {
	Name string `json:"name"`
}

func embedding(types ...reflect.Type) reflect.Type {
	var fields []reflect.StructField
	for _, t := range types {
		fields = append(fields, reflect.StructField{Name: t.Name(), Type: t, Anonymous: true})
	}
	return reflect.StructOf(fields)
}

func TestSameName(t *testing.T) {
	b := &builder{done: map[reflect.Type]*props{}}
	b.schemaOf(embedding(reflect.TypeFor[Alpha](), reflect.TypeFor[Beta]()), "Spec", nil)
	want := `Beta.Name: writes the same JSON name "name" as Alpha.Name, so that encoding/json writes neither`
	if diff := cmp.Diff(want, text(b.bad.joined())); diff != "" {
		t.Errorf("error (-want +got):\n%s", diff)
	}
}

func TestLowerCamel(t *testing.T) {
	for name, want := range map[string]string{
		"Replicas": "replicas", "HTTPPort": "httpPort", "URL": "url", "A": "a", "AB": "ab", "PodCIDRs": "podCIDRs",
	} {
		if got := lowerCamel(name); got != want {
			t.Errorf("lowerCamel(%s) = %s, want %s", name, got, want)
		}
	}
}
