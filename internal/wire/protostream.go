package wire

// tag reads the tag of a field, and the length of it where the wire type has one that is
// known: 0 for varints and the ends of groups.
func (w *window) tag() (number int32, wire uint8, n int64, err error) {
	tag, err := w.uvarint()
	if err != nil {
		return 0, 0, 0, err
	}
	number, wire = int32(tag>>3), uint8(tag&7)
	if number <= 0 {
		return 0, 0, 0, syntaxErrorf("invalid protobuf: field number %d at byte %d", number, w.offset())
	}
	switch wire {
	case wireVarint, wireStart, wireEnd:
	case wireFixed64:
		n = 8
	case wireFixed32:
		n = 4
	case wireBytes:
		length, err := w.uvarint()
		if err != nil {
			return 0, 0, 0, err
		}
		if n = int64(length); n < 0 {
			return 0, 0, 0, syntaxErrorf("invalid protobuf: length %d at byte %d", length, w.offset())
		}
	default:
		return 0, 0, 0, syntaxErrorf("invalid protobuf: wire type %d at byte %d", wire, w.offset())
	}
	return number, wire, n, nil
}

// skipField moves behind the content of a field of which tag returned wire and n.
func (w *window) skipField(wire uint8, n int64) error {
	switch wire {
	case wireVarint:
		_, err := w.uvarint()
		return err
	case wireStart:
		return w.skipGroup()
	case wireEnd:
		return syntaxErrorf("invalid protobuf: the end of a group at byte %d, which is in none", w.offset())
	default:
		return w.discard(n)
	}
}

// skipGroup moves behind the fields of a group, and its end.
func (w *window) skipGroup() error {
	for depth := 1; depth > 0; {
		w.release()
		_, wire, n, err := w.tag()
		if err != nil {
			return err
		}
		switch wire {
		case wireStart:
			depth++
		case wireEnd:
			depth--
		default:
			if err := w.skipField(wire, n); err != nil {
				return err
			}
		}
	}
	return nil
}

// uvarint reads a varint.
func (w *window) uvarint() (uint64, error) {
	for {
		v, n := uvarint(w.buf[w.pos:])
		if n > 0 {
			w.pos += n
			return v, nil
		}
		if len(w.buf)-w.pos >= maxVarint {
			return 0, syntaxErrorf("invalid protobuf: broken varint at byte %d", w.offset())
		}
		if err := w.fill(); err != nil {
			return 0, unexpected(err)
		}
	}
}

// take returns the n bytes at pos, which are there, and moves behind them.
func (w *window) take(n int64) []byte {
	b := w.buf[w.pos : w.pos+int(n)]
	w.pos += int(n)
	return b
}
