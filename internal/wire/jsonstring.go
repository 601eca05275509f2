package wire

import (
	"encoding/binary"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// unquote returns what the text between the quotes of a JSON string says. Most strings in
// metadata have no escapes, and are then returned as they are, without an allocation.
func unquote(text string) string {
	i := strings.IndexByte(text, '\\')
	if i < 0 {
		return text
	}
	var b strings.Builder
	b.Grow(len(text))
	for ; i >= 0; i = strings.IndexByte(text, '\\') {
		b.WriteString(text[:i])
		r, n := escape(text[i:])
		if n == 0 { // not an escape; a string that passed validString has none
			r, n = utf8.RuneError, 1
		}
		b.WriteRune(r)
		text = text[i+n:]
	}
	b.WriteString(text)
	return b.String()
}

// escape returns the character that the escape at the start of text stands for, and how many
// bytes it takes: 0 when it is not an escape. Half a surrogate pair is U+FFFD, as in
// encoding/json.
func escape(text string) (rune, int) {
	if len(text) < 2 {
		return 0, 0
	}
	switch text[1] {
	case '"', '\\', '/':
		return rune(text[1]), 2
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	case 'u':
		return unicodeEscape(text)
	default:
		return 0, 0
	}
}

func unicodeEscape(text string) (rune, int) {
	r, ok := hex4(text)
	if !ok {
		return 0, 0
	}
	if !utf16.IsSurrogate(r) {
		return r, 6
	}
	if low, ok := hex4(text[6:]); ok {
		if full := utf16.DecodeRune(r, low); full != utf8.RuneError {
			return full, 12
		}
	}
	return utf8.RuneError, 6
}

// hex4 reads \uXXXX.
func hex4(text string) (r rune, ok bool) {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0, false
	}
	for i := 2; i < 6; i++ {
		switch c := text[i]; {
		case '0' <= c && c <= '9':
			r = r<<4 | rune(c-'0')
		case 'a' <= c && c <= 'f':
			r = r<<4 | rune(c-'a'+10)
		case 'A' <= c && c <= 'F':
			r = r<<4 | rune(c-'A'+10)
		default:
			return 0, false
		}
	}
	return r, true
}

// validString reports whether text may stand between the quotes of a JSON string: escapes are
// escapes, control characters are escaped, the rest is UTF-8.
func validString(text string) bool {
	i := 0
	for b := bytesOf(text); i+8 <= len(b) && plain(binary.LittleEndian.Uint64(b[i:])); i += 8 {
	}
	ascii := true
	for ; i < len(text); i++ {
		switch c := text[i]; {
		case c < ' ' || c == '"':
			return false
		case c == '\\':
			_, n := escape(text[i:])
			if n == 0 {
				return false
			}
			i += n - 1
		case c >= utf8.RuneSelf:
			ascii = false
		}
	}
	return ascii || utf8.ValidString(text)
}
