package codec

import (
	"bytes"
	"encoding/json/jsontext"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// maxProblems is how many unknown and duplicate fields one error names.
const maxProblems = 100

// DecodeStrict reads data as [DecodeJSON] does, then refuses fields that the type does not have
// and fields that are there twice. The error names all of them, up to 100, by path, with the
// field that was probably meant. The value holds what DecodeJSON made of the data. Interface
// values and unstructured objects know every field; nothing is refused inside of an unknown
// field or of a type that decodes itself, such as runtime.RawExtension.
func DecodeStrict(data []byte, into any) error {
	if err := DecodeJSON(data, into); err != nil {
		return err
	}
	t := reflect.TypeOf(into).Elem()
	dec := jsontext.NewDecoder(bytes.NewReader(data), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	check := strictCheck{dec: dec, seen: make(map[string]bool)}
	if err := check.value(t, ""); err != nil {
		return explain("decode", t, err)
	}
	if len(check.problems) > 0 {
		return &Error{Action: "decode", Type: t, why: strings.Join(check.problems, ", ")}
	}
	return nil
}

// strictCheck compares JSON that is known to fit with the fields of a type.
type strictCheck struct {
	dec      *jsontext.Decoder
	problems []string
	seen     map[string]bool
}

var anyType = reflect.TypeFor[any]()

// value checks the next value, which goes into a t; t is nil where nothing is checked.
func (c *strictCheck) value(t reflect.Type, path string) error {
	t = checked(t)
	kind := c.dec.PeekKind()
	switch {
	case t != nil && kind == '{':
		return c.object(t, path)
	case t != nil && kind == '[':
		return c.array(t, path)
	}
	return c.dec.SkipValue()
}

// checked returns the type that says what is known of a t, or nil.
func checked(t reflect.Type) reflect.Type {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t == reflect.TypeFor[unstructured.Unstructured]():
		return anyType
	case t == nil || decodesItself(t):
		return nil
	}
	return t
}

func (c *strictCheck) object(t reflect.Type, path string) error {
	if _, err := c.dec.ReadToken(); err != nil {
		return err
	}
	names := make(map[string]bool)
	for c.dec.PeekKind() != '}' {
		token, err := c.dec.ReadToken()
		if err != nil {
			return err
		}
		name := token.String()
		member := name
		if path != "" {
			member = path + "." + name
		}
		if names[name] {
			c.report("duplicate field", member, "")
		}
		names[name] = true
		if err := c.value(c.member(t, name, member), member); err != nil {
			return err
		}
	}
	_, err := c.dec.ReadToken()
	return err
}

// member returns the type of a member of t, and reports one that t does not have.
func (c *strictCheck) member(t reflect.Type, name, path string) reflect.Type {
	switch t.Kind() {
	case reflect.Interface:
		return anyType
	case reflect.Map:
		return t.Elem()
	case reflect.Struct:
		return c.field(fieldsOf(t), name, path)
	}
	return nil
}

func (c *strictCheck) field(fields *structFields, name, path string) reflect.Type {
	if f := fields.byName[name]; f != nil {
		return f.typ
	}
	if fields.rest == nil {
		c.report("unknown field", path, nearest(name, fields.names()))
	}
	return nil
}

func (c *strictCheck) array(t reflect.Type, path string) error {
	var element reflect.Type
	switch t.Kind() {
	case reflect.Interface:
		element = anyType
	case reflect.Slice, reflect.Array:
		element = t.Elem()
	}
	if _, err := c.dec.ReadToken(); err != nil {
		return err
	}
	for i := 0; c.dec.PeekKind() != ']'; i++ {
		if err := c.value(element, path+"["+strconv.Itoa(i)+"]"); err != nil {
			return err
		}
	}
	_, err := c.dec.ReadToken()
	return err
}

func (c *strictCheck) report(what, path, near string) {
	problem := fmt.Sprintf("%s %q", what, path)
	if near != "" {
		problem += fmt.Sprintf(" (did you mean %q?)", near)
	}
	if c.seen[problem] || len(c.problems) == maxProblems {
		return
	}
	c.seen[problem] = true
	c.problems = append(c.problems, problem)
}
