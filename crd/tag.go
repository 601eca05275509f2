package crd

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// word is one word of a schema tag: items.pattern='^a|b$'.
type word struct {
	// path leads from the field to the part of its schema that the word is about: nothing for
	// the field itself, items for the elements of its list.
	path []string
	name string
	// raw is the text behind "=", quotes and all; values are its alternatives, nil where there
	// is no "=".
	raw    string
	values []value

	// marker is the name of the marker that the word was read from, rule the rule in it. skip
	// says that it turned out to be for other tools.
	marker string
	rule   *apiextensionsv1.ValidationRule
	skip   bool
}

// value is the text of a value without its quotes.
type value struct {
	text   string
	quoted bool
	// json is the value itself where the source had a type of its own, as markers do.
	json []byte
}

// as spells w as it stands in the tag, without its value.
func (w word) as() string {
	if w.marker != "" {
		return "+" + w.marker
	}
	return strings.Join(append(append([]string(nil), w.path...), w.name), ".")
}

// parseTag reads the inside of a schema tag:
//
//	tag    = word { "," word }
//	word   = { "items." | "additionalProperties." } name [ "=" value { "|" value } ]
//	value  = bare | "'" { any character but "'" | "''" } "'"
//	bare   = { any character but "," and "|" }, not beginning with "'"
//
// Blanks around words and bare values are dropped.
func parseTag(tag string) ([]word, error) {
	var words []word
	for rest, more := tag, true; more; {
		w, after, err := parseWord(rest)
		if err != nil {
			return nil, err
		}
		words = append(words, w)
		rest, more = strings.CutPrefix(after, ",")
	}
	return words, nil
}

// parseWord reads a word and returns what follows it: nothing, or a comma and more.
func parseWord(s string) (w word, rest string, err error) {
	end := strings.IndexAny(s, "=,")
	if end < 0 {
		end = len(s)
	}
	name := strings.TrimSpace(s[:end])
	if err := checkName(name, s); err != nil {
		return word{}, "", err
	}
	steps := strings.Split(name, ".")
	w.path, w.name = steps[:len(steps)-1], steps[len(steps)-1]
	rest = s[end:]
	for strings.HasPrefix(rest, "=") && w.values == nil || strings.HasPrefix(rest, "|") {
		var v value
		if v, rest, err = parseValue(rest[1:]); err != nil {
			return word{}, "", fmt.Errorf("%q: %w", name, err)
		}
		w.values = append(w.values, v)
	}
	w.raw = strings.TrimSpace(strings.TrimPrefix(s[end:len(s)-len(rest)], "="))
	return w, rest, nil
}

// checkName tells a name from what a comma or quote in the wrong place leaves behind.
func checkName(name, s string) error {
	if name == "" {
		return fmt.Errorf("a word is missing before %q", s)
	}
	for i := range len(name) {
		c := name[i]
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !letter && (i == 0 || (c < '0' || c > '9') && c != '-' && c != '.') {
			return fmt.Errorf("%q is not a word; a value with a comma needs quotes, as in pattern='^[a,b]$'", name)
		}
	}
	return nil
}

func parseValue(s string) (v value, rest string, err error) {
	trimmed := strings.TrimLeft(s, " ")
	if !strings.HasPrefix(trimmed, "'") {
		end := strings.IndexAny(s, ",|")
		if end < 0 {
			end = len(s)
		}
		return value{text: strings.TrimSpace(s[:end])}, s[end:], nil
	}
	text, rest, err := parseQuoted(trimmed[1:])
	if err != nil {
		return value{}, "", err
	}
	rest = strings.TrimLeft(rest, " ")
	if rest != "" && rest[0] != ',' && rest[0] != '|' {
		return value{}, "", fmt.Errorf("%q follows the closing quote; a quote inside quotes is written twice ('')", rest)
	}
	return value{text: text, quoted: true}, rest, nil
}

// parseQuoted reads up to the closing quote, whose opening one was read.
func parseQuoted(s string) (text, rest string, err error) {
	var b strings.Builder
	for {
		end := strings.IndexByte(s, '\'')
		if end < 0 {
			return "", "", fmt.Errorf("the closing quote is missing")
		}
		b.WriteString(s[:end])
		s = s[end+1:]
		if !strings.HasPrefix(s, "'") {
			return b.String(), s, nil
		}
		b.WriteByte('\'')
		s = s[1:]
	}
}

// schemaTag returns the inside of the schema tag. reflect returns nothing for a tag whose Go
// quoting is broken, which would drop constraints without a word, so that is an error here.
func schemaTag(tag reflect.StructTag) (inside string, ok bool, err error) {
	inside, ok = tag.Lookup("schema")
	switch {
	case ok && strings.TrimSpace(inside) == "":
		return "", false, fmt.Errorf("the schema tag is empty")
	case !ok && strings.Contains(unreadable(string(tag)), "schema:"):
		return "", false, fmt.Errorf(`the struct tag is malformed, so that nothing in its schema part counts: write schema:"word,word=value", with \\ for each backslash and \" for each quote inside`)
	}
	return inside, ok, nil
}

// unreadable returns the part of a struct tag at which reflect stops reading.
func unreadable(tag string) string {
	for {
		tag = strings.TrimLeft(tag, " ")
		name, rest, found := strings.Cut(tag, ":")
		quoted, err := strconv.QuotedPrefix(rest)
		strange := func(r rune) bool { return r <= ' ' || r == '"' || r == 0x7f }
		if !found || err != nil || strings.ContainsFunc(name, strange) {
			return tag
		}
		tag = rest[len(quoted):]
	}
}
