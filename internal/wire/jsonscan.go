package wire

import (
	"encoding/binary"
	"errors"
	"io"
	"math/bits"
)

// maxDepth is how deep JSON values may nest: encoding/json's own limit, so that what is
// deeper could not be decoded anyway.
const maxDepth = 10000

// span is a part of an object's bytes. The zero span is nothing: no part that is remembered
// starts at offset 0, where the object itself does.
type span struct{ start, end uint32 }

func (s span) isZero() bool { return s == span{} }

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// special has the high bit set in each byte of v that is a quote or a backslash; bytes above
// the first such byte may be set wrongly.
func special(v uint64) uint64 {
	q := v ^ (ones * '"')
	b := v ^ (ones * '\\')
	return ((q-ones)&^q | (b-ones)&^b) & highs
}

// plain reports whether all bytes of v may stand in a JSON string as they are: printable ASCII
// but quotes and backslashes.
func plain(v uint64) bool {
	return (special(v)|(v-ones*' ')&^v|v)&highs == 0
}

// closingQuote returns the index behind the quote that ends a string which b[i] is a byte of.
// When the quote is not in b, ok is false, and the search goes on at end once there is more.
func closingQuote(b []byte, i int) (end int, ok bool) {
	for i+8 <= len(b) {
		m := special(binary.LittleEndian.Uint64(b[i:]))
		if m == 0 {
			i += 8
			continue
		}
		i += bits.TrailingZeros64(m) / 8
		if b[i] == '"' {
			return i + 1, true
		}
		i += 2 // the escaped byte does not end the string; \uXXXX has no quote in it
	}
	for ; i < len(b); i++ {
		switch b[i] {
		case '"':
			return i + 1, true
		case '\\':
			if i+1 == len(b) {
				return i, false
			}
			i++
		}
	}
	return i, false
}

// plainString returns the index behind the string at i, quotes included. ok is false where there is none that says
// what it means without escapes.
func plainString(b []byte, i int) (end int, ok bool) {
	if i >= len(b) || b[i] != '"' {
		return i, false
	}
	for i++; i+8 <= len(b); i += 8 {
		if m := special(binary.LittleEndian.Uint64(b[i:])); m != 0 {
			i += bits.TrailingZeros64(m) / 8
			return i + 1, b[i] == '"'
		}
	}
	for ; i < len(b); i++ {
		if c := b[i]; c == '"' || c == '\\' {
			return i + 1, c == '"'
		}
	}
	return i, false
}

// peek returns the next byte that is not white space, without taking it. The error is io.EOF
// at the end of the body.
func (w *window) peek() (byte, error) {
	if w.pos < len(w.buf) && w.buf[w.pos] > ' ' {
		return w.buf[w.pos], nil
	}
	return w.peekFar()
}

func (w *window) peekFar() (byte, error) {
	for {
		for ; w.pos < len(w.buf); w.pos++ {
			switch c := w.buf[w.pos]; c {
			case ' ', '\t', '\n', '\r':
			default:
				return c, nil
			}
		}
		if err := w.fill(); err != nil {
			return 0, err
		}
	}
}

// expect takes the byte c, after white space.
func (w *window) expect(c byte) error {
	got, err := w.peek()
	if err != nil {
		return unexpected(err)
	}
	if got != c {
		return w.bad(got, string(rune(c)))
	}
	w.pos++
	return nil
}

func (w *window) bad(got byte, wanted string) error {
	return syntaxErrorf("invalid JSON: %q where %q belongs, at byte %d", got, wanted, w.offset())
}

// skipString moves behind the string whose opening quote was taken.
func (w *window) skipString() error {
	for {
		end, ok := closingQuote(w.buf, w.pos)
		w.pos = end
		if ok {
			return nil
		}
		if err := w.fill(); err != nil {
			return unexpected(err)
		}
	}
}

// The kinds of JSON values, by a byte that starts one.
const (
	kindString = '"'
	kindObject = '{'
	kindArray  = '['
	kindNumber = '0'
	kindNull   = 'n'
	kindTrue   = 't'
	kindFalse  = 'f'
)

// kindName is for messages.
func kindName(kind byte) string {
	switch kind {
	case kindString:
		return "a string"
	case kindObject:
		return "an object"
	case kindArray:
		return "an array"
	case kindNumber:
		return "a number"
	case kindNull:
		return "null"
	default:
		return "a boolean"
	}
}

// skipValue moves behind the next value and returns its kind and its extent relative to mark.
// What is nested in it is not checked beyond brackets and strings: whoever decodes the object
// finds out.
func (w *window) skipValue() (kind byte, start, end int, err error) {
	c, err := w.peek()
	if err != nil {
		return 0, 0, 0, unexpected(err)
	}
	start = w.pos - w.mark
	switch c {
	case '"':
		w.pos++
		kind, err = kindString, w.skipString()
	case '{', '[':
		kind, err = c, w.skipNested()
	default:
		kind, err = w.skipScalar(c)
	}
	return kind, start, w.pos - w.mark, err
}

// skipNested moves behind the object or array that starts at pos. It sees nearly every byte of
// a body, so it works in local variables as long as the buffer lasts.
func (w *window) skipNested() error {
	depth, deepest := 0, 0
	for {
		buf, i := w.buf, w.pos
		for i < len(buf) {
			c := buf[i]
			i++
			switch {
			case c == '"':
				end, ok := closingQuote(buf, i)
				if !ok {
					w.pos = end
					if err := w.skipString(); err != nil {
						return err
					}
					buf, end = w.buf, w.pos
				}
				i = end
			case c < 'Z': // not a bracket
			case c|0x20 == '{':
				depth++
				deepest = max(deepest, depth)
			case c|0x20 == '}':
				depth--
				if depth == 0 {
					w.pos = i
					return tooDeep(deepest)
				}
			}
		}
		w.pos = i
		if err := w.fill(); err != nil {
			return unexpected(err)
		}
	}
}

func tooDeep(depth int) error {
	if depth >= maxDepth {
		return &depthError{depth}
	}
	return nil
}

// skipScalar moves behind the number, true, false or null that starts with c.
func (w *window) skipScalar(c byte) (kind byte, err error) {
	start := w.pos - w.mark
	for {
		for ; w.pos < len(w.buf); w.pos++ {
			if !isScalar[w.buf[w.pos]] {
				return w.scalarKind(start, c)
			}
		}
		if err := w.fill(); errors.Is(err, io.EOF) {
			return w.scalarKind(start, c)
		} else if err != nil {
			return 0, err
		}
	}
}

// isScalar has the bytes that numbers, true, false and null consist of.
var isScalar = func() (is [256]bool) {
	for _, c := range "0123456789+-.eEtrufalsn" {
		is[c] = true
	}
	return is
}()

// scalarKind says what the text from start, relative to mark, to pos is.
func (w *window) scalarKind(start int, c byte) (byte, error) {
	text := w.buf[w.mark+start : w.pos]
	switch string(text) {
	case "true":
		return kindTrue, nil
	case "false":
		return kindFalse, nil
	case "null":
		return kindNull, nil
	}
	if isNumber(text) {
		return kindNumber, nil
	}
	w.pos = w.mark + start
	return 0, w.bad(c, "value")
}

// isNumber reports whether text is a number by the grammar of RFC 8259, section 6.
func isNumber(text []byte) bool {
	i := 0
	digits := func() bool {
		from := i
		for i < len(text) && '0' <= text[i] && text[i] <= '9' {
			i++
		}
		return i > from
	}
	if i < len(text) && text[i] == '-' {
		i++
	}
	if i < len(text) && text[i] == '0' {
		i++
	} else if !digits() {
		return false
	}
	if i < len(text) && text[i] == '.' {
		i++
		if !digits() {
			return false
		}
	}
	if i < len(text) && (text[i] == 'e' || text[i] == 'E') {
		i++
		if i < len(text) && (text[i] == '+' || text[i] == '-') {
			i++
		}
		if !digits() {
			return false
		}
	}
	return i == len(text)
}

// member moves to the next member of the object that pos is in, behind its colon, and returns
// the name as it is written, between its quotes. ok is false at the closing brace, which is
// taken. The name is valid until the next call of anything.
func (w *window) member(first bool) (name []byte, ok bool, err error) {
	if !first && w.pos+1 < len(w.buf) && w.buf[w.pos] == ',' && w.buf[w.pos+1] == '"' {
		w.pos += 2 // as nearly always
	} else if ok, err := w.memberStart(first); err != nil || !ok {
		return nil, false, err
	}
	start := w.pos - w.mark
	if err := w.skipString(); err != nil {
		return nil, false, err
	}
	end := w.pos - 1 - w.mark
	if err := w.expect(':'); err != nil {
		return nil, false, err
	}
	return w.buf[w.mark+start : w.mark+end], true, nil
}

// memberStart takes the opening quote of a member's name, and what comes before it.
func (w *window) memberStart(first bool) (ok bool, err error) {
	c, err := w.peek()
	if err != nil {
		return false, unexpected(err)
	}
	if c == '}' {
		w.pos++
		return false, nil
	}
	if !first {
		if c != ',' {
			return false, w.bad(c, ",")
		}
		w.pos++
	}
	return true, w.expect('"')
}

// element moves to the next element of the array that pos is in. ok is false at the closing
// bracket, which is taken.
func (w *window) element(first bool) (ok bool, err error) {
	c, err := w.peek()
	if err != nil {
		return false, unexpected(err)
	}
	if c == ']' {
		w.pos++
		return false, nil
	}
	if first {
		return true, nil
	}
	if c != ',' {
		return false, w.bad(c, ",")
	}
	w.pos++
	if c, err = w.peek(); err != nil {
		return false, unexpected(err)
	}
	if c == ']' {
		return false, w.bad(c, "value")
	}
	return true, nil
}
