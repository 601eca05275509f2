package wire

import "encoding/binary"

// Wire types of protobuf: https://protobuf.dev/programming-guides/encoding/
const (
	wireVarint  = 0
	wireFixed64 = 1
	wireBytes   = 2
	wireStart   = 3
	wireEnd     = 4
	wireFixed32 = 5
)

// fields goes through the fields of a protobuf message that is in memory.
type fields struct {
	b   []byte
	pos int

	number     uint64 // of the field that next found
	wire       uint64
	value      uint64 // of a varint
	start, end int    // of its content
	from       int    // start of its tag; it ends at pos
}

// next moves to the next field. ok is false at the end.
func (f *fields) next() (ok bool, err error) {
	if f.pos >= len(f.b) {
		return false, nil
	}
	f.from = f.pos
	tag, err := f.uvarint()
	if err != nil {
		return false, err
	}
	f.number, f.wire = tag>>3, tag&7
	if f.number == 0 || f.number > 1<<29-1 {
		return false, syntaxErrorf("invalid protobuf: field number %d at byte %d", f.number, f.from)
	}
	if f.wire == wireBytes { // nearly all of them
		return true, f.bytes()
	}
	return true, f.other()
}

func (f *fields) uvarint() (uint64, error) {
	if f.pos < len(f.b) && f.b[f.pos] < 0x80 {
		f.pos++
		return uint64(f.b[f.pos-1]), nil
	}
	v, n := binary.Uvarint(f.b[f.pos:])
	if n <= 0 {
		return 0, syntaxErrorf("invalid protobuf: broken varint at byte %d", f.pos)
	}
	f.pos += n
	return v, nil
}

func (f *fields) bytes() error {
	n, err := f.uvarint()
	if err != nil {
		return err
	}
	if n > uint64(len(f.b)-f.pos) {
		return syntaxErrorf("invalid protobuf: field %d at byte %d has %d bytes, of which %d are there", f.number, f.from, n, len(f.b)-f.pos)
	}
	f.start = f.pos
	f.pos += int(n)
	f.end = f.pos
	return nil
}

// other moves behind a field that is not length-delimited.
func (f *fields) other() (err error) {
	f.start = f.pos
	switch f.wire {
	case wireVarint:
		f.value, err = f.uvarint()
	case wireFixed64:
		err = f.skip(8)
	case wireFixed32:
		err = f.skip(4)
	case wireStart:
		err = f.group()
	default:
		err = syntaxErrorf("invalid protobuf: wire type %d at byte %d", f.wire, f.from)
	}
	f.end = f.pos
	return err
}

func (f *fields) skip(n int) error {
	if len(f.b)-f.pos < n {
		return syntaxErrorf("invalid protobuf: field %d at byte %d is cut off", f.number, f.from)
	}
	f.pos += n
	return nil
}

// group moves behind a group, a form that protobuf gave up; no Kubernetes type has one, but
// decoders skip them as unknown fields.
func (f *fields) group() error {
	inner := fields{b: f.b, pos: f.pos}
	for depth := 1; depth > 0; {
		tag, err := inner.uvarint()
		if err != nil {
			return err
		}
		switch inner.number, inner.wire, inner.from = tag>>3, tag&7, inner.pos; inner.wire {
		case wireStart:
			depth++
		case wireEnd:
			depth--
		case wireBytes:
			err = inner.bytes()
		default:
			err = inner.other()
		}
		if err != nil {
			return err
		}
	}
	f.pos = inner.pos
	return nil
}

// content is the content of a length-delimited field.
func (f *fields) content() []byte { return f.b[f.start:f.end] }

// wellFormed says whether b consists of fields.
func wellFormed(b []byte) error {
	f := fields{b: b}
	for {
		if ok, err := f.next(); err != nil || !ok {
			return err
		}
	}
}
