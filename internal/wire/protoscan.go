package wire

// Wire types of protobuf: https://protobuf.dev/programming-guides/encoding/
const (
	wireVarint  = 0
	wireFixed64 = 1
	wireBytes   = 2
	wireStart   = 3
	wireEnd     = 4
	wireFixed32 = 5
)

// fields goes through the fields of a protobuf message that is in memory. It accepts what
// the generated code of Kubernetes' types accepts.
type fields struct {
	b   []byte
	pos int

	number     int32 // of the field that next found
	wire       uint8
	value      uint64 // of a varint
	start, end int    // of its content
	from       int    // start of its tag; it ends at pos
}

// next moves to the next field. ok is false at the end.
func (f *fields) next() (ok bool, err error) {
	if f.short() {
		return true, nil
	}
	if ok, err := f.tag(); err != nil || !ok {
		return false, err
	}
	return true, f.rest()
}

// rest moves behind the field whose tag was read.
func (f *fields) rest() error {
	if f.wire == wireBytes { // nearly all of them
		return f.bytes()
	}
	return f.other()
}

// short moves to the next field if that is of the usual form: length-delimited, with a tag and a
// length of one byte each.
func (f *fields) short() bool {
	p := f.pos
	if p+1 >= len(f.b) {
		return false
	}
	tag, n := f.b[p], f.b[p+1]
	end := p + 2 + int(n)
	if tag&0x87 != wireBytes || tag < 1<<3 || n >= 0x80 || end > len(f.b) {
		return false
	}
	f.from, f.number, f.wire, f.start, f.end, f.pos = p, int32(tag>>3), wireBytes, p+2, end, end
	return true
}

// tag reads the tag of the next field. ok is false at the end.
func (f *fields) tag() (ok bool, err error) {
	if f.pos >= len(f.b) {
		return false, nil
	}
	f.from = f.pos
	tag, err := f.uvarint()
	if err != nil {
		return false, err
	}
	f.number, f.wire = int32(tag>>3), uint8(tag&7)
	if f.number <= 0 {
		return false, syntaxErrorf("invalid protobuf: field number %d at byte %d", f.number, f.from)
	}
	return true, nil
}

func (f *fields) uvarint() (uint64, error) {
	if f.pos < len(f.b) && f.b[f.pos] < 0x80 {
		f.pos++
		return uint64(f.b[f.pos-1]), nil
	}
	v, n := uvarint(f.b[f.pos:])
	if n == 0 {
		return 0, syntaxErrorf("invalid protobuf: broken varint at byte %d", f.pos)
	}
	f.pos += n
	return v, nil
}

// maxVarint is how many bytes a varint has at most.
const maxVarint = 10

// uvarint reads the varint at the start of b and says how many bytes it has: 0 for none. Bits
// beyond 64 are dropped, which encoding/binary would not do and decoders do.
func uvarint(b []byte) (v uint64, n int) {
	for i, c := range b[:min(len(b), maxVarint)] {
		v |= uint64(c&0x7f) << (7 * i)
		if c < 0x80 {
			return v, i + 1
		}
	}
	return 0, 0
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
		tag, err := inner.uvarint() // a number of 0 is not looked at inside, by decoders neither
		if err != nil {
			return err
		}
		inner.number, inner.wire = int32(tag>>3), uint8(tag&7)
		switch inner.wire {
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

// known reports whether the field is one of those numbered up to last, all of which are
// length-delimited.
func (f *fields) known(last int32) (bool, error) {
	if f.number > last {
		return false, nil
	}
	if f.wire != wireBytes {
		return false, wrongWire(f.number, f.wire)
	}
	return true, nil
}

func wrongWire(number int32, wire uint8) error {
	return syntaxErrorf("invalid protobuf: field %d has wire type %d", number, wire)
}
