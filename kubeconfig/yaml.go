package kubeconfig

import (
	"bytes"
	"encoding/json/jsontext"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// appendYAML writes JSON as block YAML. It is all of YAML that a kubeconfig needs; a library's
// encoder would weigh 100 kB in every program that can refresh a token.
func appendYAML(b []byte, value jsontext.Value, indent int) ([]byte, error) {
	dec := jsontext.NewDecoder(bytes.NewReader(value))
	return appendNode(b, dec, indent, false)
}

// appendNode writes the next value of dec. inline says that the first line of it goes on the line
// that is there, as after the dash of a list.
func appendNode(b []byte, dec *jsontext.Decoder, indent int, inline bool) ([]byte, error) {
	switch dec.PeekKind() {
	case '{':
		return appendCollection(b, dec, indent, inline, "{}", '}', func(b []byte) ([]byte, error) {
			key, err := dec.ReadToken()
			if err != nil {
				return b, err
			}
			b = appendKey(b, key.String(), indent)
			switch dec.PeekKind() {
			case '{':
				return appendNode(b, dec, indent+2, false)
			case '[':
				return appendNode(b, dec, indent, false) // lists stand below their key, as kubectl writes them
			}
			return appendNode(b, dec, indent+2, false)
		})
	case '[':
		return appendCollection(b, dec, indent, inline, "[]", ']', func(b []byte) ([]byte, error) {
			return appendNode(append(b, '-'), dec, indent+2, true)
		})
	}
	token, err := dec.ReadToken()
	if err != nil {
		return b, err
	}
	b = append(b, ' ')
	switch text := token.String(); {
	case token.Kind() == '"':
		b = appendText(b, text)
	case text == "-0":
		b = append(b, "-0.0"...) // in YAML, -0 is the integer 0
	default:
		b = append(b, text...)
	}
	return append(b, '\n'), nil
}

// longestKey is how many bytes a key has at most that stands on one line with its value: YAML
// allows 1024 characters.
const longestKey = 1000

// appendKey writes a key and the colon behind it.
func appendKey(b []byte, key string, indent int) []byte {
	start := len(b)
	b = appendText(b, key)
	if len(b)-start > longestKey {
		b = slices.Insert(b, start, '?', ' ')
		b = append(b, '\n')
		b = append(b, strings.Repeat(" ", indent)...)
	}
	return append(b, ':')
}

func appendCollection(b []byte, dec *jsontext.Decoder, indent int, inline bool, empty string, end jsontext.Kind, element func([]byte) ([]byte, error)) ([]byte, error) {
	if _, err := dec.ReadToken(); err != nil {
		return b, err
	}
	if dec.PeekKind() == end {
		b = append(append(append(b, ' '), empty...), '\n')
		_, err := dec.ReadToken()
		return b, err
	}
	if inline {
		b = append(b, ' ')
	} else if len(b) > 0 {
		b = append(b, '\n')
	}
	for first := true; dec.PeekKind() != end; first = false {
		if !first || !inline {
			b = append(b, strings.Repeat(" ", indent)...)
		}
		var err error
		if b, err = element(b); err != nil {
			return b, err
		}
	}
	_, err := dec.ReadToken()
	return b, err
}

// isPlain reports whether s is itself in every version of YAML, without quotes. Numbers and dates
// are excluded by starting with a letter or a slash.
func isPlain(s string) bool {
	if s == "" || strings.HasSuffix(s, ":") || slices.Contains(notText, strings.ToLower(s)) {
		return false
	}
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '/':
		case i > 0 && (c >= '0' && c <= '9' || strings.IndexByte("_.@+=-:", c) >= 0):
		default:
			return false
		}
	}
	return true
}

// notText are the words of YAML 1.1 for true, false and null, in lower case.
var notText = []string{"y", "n", "yes", "no", "on", "off", "true", "false", "null"}

func appendText(b []byte, s string) []byte {
	if isPlain(s) {
		return append(b, s...)
	}
	quoted, _ := jsontext.AppendQuote(nil, s)
	for _, r := range string(quoted) {
		if isUnprintable(r) {
			b = fmt.Appendf(b, `\u%04x`, r)
		} else {
			b = utf8.AppendRune(b, r)
		}
	}
	return b
}

// isUnprintable reports what JSON text may hold as it is and YAML text may not, or takes for a line
// break.
func isUnprintable(r rune) bool {
	return r >= 0x7f && r <= 0x9f || r == 0x2028 || r == 0x2029 || r == 0xfeff || r == 0xfffe || r == 0xffff
}
