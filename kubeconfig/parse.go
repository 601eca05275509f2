package kubeconfig

import (
	"bytes"
	"encoding/binary"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"sigs.k8s.io/yaml"
)

// Parse reads a kubeconfig from YAML or JSON, as UTF-8 or as UTF-16 with a byte order mark, with
// any line ends. Several YAML documents in one text are merged, the first one winning. An empty
// text is an empty Config.
//
// Errors name the entry and the field, never a value: that may be a secret.
func Parse(text []byte) (*Config, error) {
	text, err := toUTF8(text)
	if err != nil {
		return nil, fmt.Errorf("kubeconfig: %w", err)
	}
	whole := &Config{}
	for i, document := range documents(text) {
		part, err := parseDocument(document)
		if err != nil {
			if i > 0 {
				return nil, fmt.Errorf("kubeconfig: document %d: %w", i+1, err)
			}
			return nil, fmt.Errorf("kubeconfig: %w", err)
		}
		whole.Merge(part)
	}
	return whole, nil
}

func parseDocument(document []byte) (*Config, error) {
	text, err := yaml.YAMLToJSON(document)
	if err != nil {
		return nil, withoutText(err)
	}
	c := &Config{}
	if jsontext.Value(text).Kind() == 'n' {
		return c, nil
	}
	if err := json.Unmarshal(text, c); err != nil {
		return nil, readable(err, text)
	}
	return c, c.check()
}

// withoutText replaces the errors of the YAML library that repeat a part of the file.
func withoutText(err error) error {
	for _, e := range []struct{ prefix, instead string }{
		{"yaml: unknown anchor ", "yaml: an alias, which is text that begins with *, has no anchor; put it in quotes if it is a value"},
		{"yaml: anchor ", "yaml: the value of an anchor contains itself"},
		{"yaml: cannot decode ", "yaml: a value does not fit the tag before it, such as !!int"},
		{"yaml: invalid map key", "yaml: a key is a list or a mapping where text is expected"},
		{"unsupported map key", "yaml: a key is null where text is expected; put it in quotes"},
	} {
		if strings.HasPrefix(err.Error(), e.prefix) {
			return errors.New(e.instead)
		}
	}
	return err
}

// check refuses what is not a kubeconfig, and names that stand for two things.
func (c *Config) check() error {
	if c.Kind != "" && c.Kind != "Config" {
		return fmt.Errorf("this is a %q, not a kubeconfig, whose kind is Config", c.Kind)
	}
	if c.APIVersion != "" && c.APIVersion != "v1" {
		return fmt.Errorf("apiVersion is %q; only v1 is known", c.APIVersion)
	}
	return errors.Join(unique("clusters", names(c.Clusters)), unique("users", names(c.Users)), unique("contexts", names(c.Contexts)))
}

func unique(field string, names []string) error {
	seen := map[string]bool{}
	for _, name := range names {
		if seen[name] {
			return fmt.Errorf("%s has two entries named %q; rename or remove one", field, name)
		}
		seen[name] = true
	}
	return nil
}

// readable turns a decoder's error into one about the file: which entry, which field, what is
// expected there.
func readable(err error, text []byte) error {
	semantic, ok := errors.AsType[*json.SemanticError](err)
	if !ok {
		return err
	}
	where := place(semantic.JSONPointer, text)
	if bad, ok := errors.AsType[*dataError](err); ok {
		return fmt.Errorf("%s: %w", where, bad)
	}
	hint := ""
	want := expected(semantic.GoType)
	if want == "text" && semantic.JSONKind != '{' && semantic.JSONKind != '[' {
		hint = "; put it in quotes"
	}
	return fmt.Errorf("%s is %s where %s is expected%s", where, kindNames[semantic.JSONKind], want, hint)
}

var kindNames = map[jsontext.Kind]string{
	'n': "null", 't': "true", 'f': "false", '"': "text", '0': "a number", '{': "a mapping", '[': "a list",
}

func expected(t reflect.Type) string {
	if t == nil {
		return "something else"
	}
	switch t.Kind() {
	case reflect.String:
		return "text"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice:
		if t == reflect.TypeFor[Data]() {
			return "text"
		}
		return "a list"
	}
	return "a mapping"
}

// place says where in the file pointer leads, by the name of the entry where there is one.
func place(pointer jsontext.Pointer, text []byte) string {
	tokens := slices.Collect(pointer.Tokens())
	if len(tokens) == 0 {
		return "the document"
	}
	if len(tokens) == 1 {
		return tokens[0]
	}
	where := tokens[0] + "[" + tokens[1] + "]"
	if name := nameAt(tokens[0], tokens[1], text); name != "" {
		where += fmt.Sprintf(" (%s)", name)
	}
	if len(tokens) > 2 {
		where += ": " + strings.Join(tokens[2:], ".")
	}
	return where
}

// nameAt returns the name of an entry in a text that does not decode as a Config.
func nameAt(list, index string, text []byte) string {
	var loose map[string]any
	if json.Unmarshal(text, &loose) != nil {
		return ""
	}
	entries, _ := loose[list].([]any)
	i, err := strconv.Atoi(index)
	if err != nil || i < 0 || i >= len(entries) {
		return ""
	}
	fields, _ := entries[i].(map[string]any)
	name, _ := fields["name"].(string)
	return name
}

// documents splits a YAML stream: a line that starts with three dashes and a blank or its end
// begins a document, one of three dots ends it.
func documents(text []byte) [][]byte {
	var docs [][]byte
	start := 0
	cut := func(end, next int) {
		if len(bytes.TrimSpace(text[start:end])) > 0 {
			docs = append(docs, text[start:end])
		}
		start = next
	}
	for at := 0; at < len(text); {
		end := len(text)
		if i := bytes.IndexByte(text[at:], '\n'); i >= 0 {
			end = at + i + 1
		}
		switch line := text[at:end]; {
		case isMarker(line, "---") && !isPreamble(text[start:at]):
			cut(at, at+3)
		case isMarker(line, "..."):
			cut(at, end)
		}
		at = end
	}
	cut(len(text), len(text))
	return docs
}

// isPreamble reports whether text can stand before the dashes of the document that it belongs to:
// comments and directives.
func isPreamble(text []byte) bool {
	for line := range bytes.Lines(text) {
		line = bytes.TrimSpace(line)
		if len(line) > 0 && line[0] != '#' && line[0] != '%' {
			return false
		}
	}
	return true
}

func isMarker(line []byte, marker string) bool {
	rest, ok := bytes.CutPrefix(line, []byte(marker))
	return ok && (len(rest) == 0 || strings.IndexByte(" \t\r\n", rest[0]) >= 0)
}

// toUTF8 decodes UTF-16 with a byte order mark, and removes the mark of UTF-8.
func toUTF8(text []byte) ([]byte, error) {
	switch {
	case bytes.HasPrefix(text, []byte{0xef, 0xbb, 0xbf}):
		text = text[3:]
	case bytes.HasPrefix(text, []byte{0xfe, 0xff}):
		return fromUTF16(text[2:], binary.BigEndian)
	case bytes.HasPrefix(text, []byte{0xff, 0xfe}):
		return fromUTF16(text[2:], binary.LittleEndian)
	}
	if !utf8.Valid(text) {
		return nil, errors.New("the text is neither UTF-8 nor UTF-16 with a byte order mark")
	}
	return text, nil
}

func fromUTF16(text []byte, order binary.ByteOrder) ([]byte, error) {
	if len(text)%2 != 0 {
		return nil, errors.New("the text starts as UTF-16 and has half a character at its end")
	}
	out := make([]uint16, len(text)/2)
	for i := range out {
		out[i] = order.Uint16(text[2*i:])
	}
	return []byte(string(utf16.Decode(out))), nil
}
