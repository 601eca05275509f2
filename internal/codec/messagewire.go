package codec

import (
	"errors"
	"fmt"
	"io"
)

// The wire types of protobuf.
const (
	wireVarint = iota
	wire64
	wireBytes
	wireGroup
	wireEndGroup
	wire32
)

var (
	errOverflow = errors.New("a number has more than 64 bits")
	errDepth    = fmt.Errorf("messages are nested more than %d deep", deepest)
	errEndGroup = errors.New("a group ends that did not begin")
	errTag      = errors.New("a field has no number")
)

// unknown returns what is behind the field at at, which the type does not have.
func unknown(data []byte, at int) (int, error) {
	tag, _, err := varint(data, at)
	if err == nil && (int32(tag>>3) <= 0 || tag&7 == wireEndGroup) {
		err = badTag(int(int32(tag >> 3)))
	}
	if err != nil {
		return 0, err
	}
	return skip(data, at)
}

// extent reads the length at at, and returns where the bytes begin and end that have it.
func extent(data []byte, at int) (from, end int, err error) {
	size, from, err := varint(data, at)
	if err == nil && size > uint64(len(data)-from) {
		err = io.ErrUnexpectedEOF
	}
	return from, from + int(size), err
}

// keyAndValue reads an entry of a map; ok says whether it has a value. Where it has several, the last one
// counts, and before are the others.
func keyAndValue(body []byte) (key, value []byte, before [][]byte, ok bool, err error) {
	const keyTag, valueTag = 1<<3 | wireBytes, 2<<3 | wireBytes
	if len(body) > 1 && body[0] == keyTag && body[1] < 0x80 { // as all are, but for long values
		if end := 2 + int(body[1]); end+1 < len(body) && body[end] == valueTag && body[end+1] < 0x80 && end+2+int(body[end+1]) == len(body) {
			return body[2:end], body[end+2:], nil, true, nil
		}
	}
	err = pieces(body, 2, func(number int, b []byte) {
		switch number {
		case 1:
			key = b
		case 2:
			if ok {
				before = append(before, value)
			}
			value, ok = b, true
		}
	})
	return key, value, before, ok, err
}

// pieces calls f with the fields of a small message whose fields up to known are pieces of bytes, and whose
// others do not exist.
func pieces(body []byte, known int, f func(number int, b []byte)) error {
	for at := 0; at < len(body); {
		tag, from, err := varint(body, at)
		if err != nil {
			return err
		}
		number, kind := int(int32(tag>>3)), int(tag&7)
		switch {
		case number <= 0 || kind == wireEndGroup:
			return badTag(number)
		case number > known:
			at, err = skip(body, at)
		case kind != wireBytes:
			err = wrongKind(kind)
		default:
			if from, at, err = extent(body, from); err == nil {
				f(number, body[from:at])
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// ahead counts the values that follow at once and have the same tag as the one from start to end.
func ahead(data []byte, start, end int) (n int) {
	tag, width, _ := varint(data, start)
	for width -= start; ; n++ {
		next, at, err := varint(data, end)
		if err != nil || next != tag || at-end != width {
			return n
		}
		if _, end, err = extent(data, at); err != nil {
			return n
		}
	}
}

// varint returns the number at at, and what is behind it.
func varint(data []byte, at int) (v uint64, end int, err error) {
	if at < len(data) && data[at] < 0x80 {
		return uint64(data[at]), at + 1, nil
	}
	return longVarint(data, at)
}

func longVarint(data []byte, at int) (v uint64, end int, err error) {
	for shift := 0; shift < 64; shift += 7 {
		if at >= len(data) {
			return 0, 0, io.ErrUnexpectedEOF
		}
		b := data[at]
		at++
		v |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return v, at, nil
		}
	}
	return 0, 0, errOverflow
}

// skip returns what is behind the field at at, which nobody knows.
func skip(data []byte, at int) (int, error) {
	for depth := 0; ; {
		tag, end, err := varint(data, at)
		if err != nil {
			return 0, err
		}
		switch kind := int(tag & 7); kind {
		case wireGroup:
			at, depth = end, depth+1
		case wireEndGroup:
			if at, depth = end, depth-1; depth < 0 {
				return 0, errEndGroup
			}
		default:
			if at, err = skipValue(data, end, kind); err != nil {
				return 0, err
			}
		}
		if depth == 0 {
			return at, nil
		}
	}
}

func skipValue(data []byte, at, kind int) (int, error) {
	size := uint64(0)
	var err error
	switch kind {
	case wireVarint:
		_, at, err = varint(data, at)
	case wireBytes:
		size, at, err = varint(data, at)
	case wire64:
		size = 8
	case wire32:
		size = 4
	default:
		err = wrongKind(kind)
	}
	if err == nil && size > uint64(len(data)-at) {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return 0, err
	}
	return at + int(size), nil
}

func wrongKind(kind int) error { return fmt.Errorf("wire type %d does not fit the field", kind) }

func badTag(number int) error {
	if number > 0 {
		return errEndGroup
	}
	return errTag
}

// fieldError says in which field a message is broken.
type fieldError struct {
	path string
	err  error
}

func (e *fieldError) Error() string { return "field " + e.path + ": " + e.err.Error() }
func (e *fieldError) Unwrap() error { return e.err }

// inField adds the name of a field to an error of reading it.
func inField(f *messageField, err error) error {
	if inner, ok := err.(*fieldError); ok {
		return &fieldError{f.name + "." + inner.path, inner.err}
	}
	return &fieldError{f.name, err}
}
