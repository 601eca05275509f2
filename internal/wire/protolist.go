package wire

import (
	"bytes"
	"encoding/binary"
	"io"
	"strings"
)

// magic starts every protobuf body: what follows is a runtime.Unknown message.
const magic = "k8s\x00"

// The fields of runtime.Unknown, of the runtime.TypeMeta in it, and of a list.
const (
	unknownType     = 1
	unknownRaw      = 2
	unknownEncoding = 3

	typeAPIVersion = 1
	typeKind       = 2

	listMeta  = 1
	listItems = 2
)

// envelope is a runtime.Unknown.
type envelope struct {
	apiVersion, kind, encoding string
	raw                        []byte
}

// openEnvelope reads a whole body with the magic in front. The result shares b's memory.
func openEnvelope(b []byte) (e envelope, err error) {
	if !HasEnvelope(b) {
		return e, noMagic(b)
	}
	f := fields{b: b[len(magic):]}
	for {
		ok, err := f.next()
		if err != nil {
			return e, err
		}
		if !ok {
			return e, e.check()
		}
		if f.wire != wireBytes {
			continue
		}
		switch f.number {
		case unknownType:
			err = e.setType(f.content())
		case unknownRaw:
			e.raw = f.content()
		case unknownEncoding:
			e.encoding = stringOf(f.content())
		}
		if err != nil {
			return e, err
		}
	}
}

func noMagic(b []byte) error {
	return syntaxErrorf("not a Kubernetes protobuf body: it starts with %q and not with %q", b[:min(len(b), len(magic))], magic)
}

// check refuses an object that is compressed; no server does that inside the envelope.
func (e *envelope) check() error {
	if e.encoding != "" {
		return syntaxErrorf("content encoding %q is not supported", e.encoding)
	}
	return nil
}

// setType reads a runtime.TypeMeta.
func (e *envelope) setType(b []byte) error {
	f := fields{b: b}
	for {
		ok, err := f.next()
		if err != nil || !ok {
			return err
		}
		if f.wire != wireBytes {
			continue
		}
		switch f.number {
		case typeAPIVersion:
			e.apiVersion = string(f.content())
		case typeKind:
			e.kind = string(f.content())
		}
	}
}

// protobuf reads an envelope with a list in it, as it arrives.
func (l *listReader) protobuf() error {
	if err := l.w.need(int64(len(magic))); err != nil {
		return l.fail("the start", err)
	}
	if start := l.w.buf[l.w.pos:]; !HasEnvelope(start) {
		return l.fail("the start", noMagic(start))
	}
	l.w.pos += len(magic)
	e := protoList{listReader: l}
	for {
		l.w.release()
		if err := l.w.more(); err == io.EOF {
			return e.end()
		} else if err != nil {
			return l.fail("the envelope", err)
		}
		if err := e.field(); err != nil {
			return err
		}
	}
}

// protoList is the state of reading an envelope with a list in it.
type protoList struct {
	*listReader
	envelope
	typed bool   // the type was read
	done  bool   // raw was read
	late  []byte // raw, when it stands before the type and had to be kept
}

// field reads one field of the envelope.
func (e *protoList) field() error {
	number, wire, n, err := e.w.tag()
	if err != nil {
		return e.fail("the envelope", err)
	}
	if number == unknownRaw && wire == wireBytes {
		return e.raw(n)
	}
	if wire != wireBytes || number > unknownEncoding {
		return e.skipRest("the envelope", wire, n)
	}
	if err := e.w.need(n); err != nil {
		return e.fail("the envelope", err)
	}
	content := e.w.take(n)
	switch number {
	case unknownType:
		e.typed = true
		err = e.setType(content)
		e.meta.APIVersion, e.meta.Kind = e.apiVersion, e.kind
	case unknownEncoding:
		e.encoding = string(content)
	}
	if err != nil {
		return e.fail("the envelope", err)
	}
	return nil
}

// raw reads the list, or keeps it when it is not known yet that it is one.
func (e *protoList) raw(n int64) error {
	if e.done {
		return e.fail("the envelope", syntaxErrorf("raw is there twice"))
	}
	e.done = true
	if e.isList() {
		return e.list(&e.w, n)
	}
	if err := e.w.need(n); err != nil {
		return e.fail("the object", err)
	}
	e.late = bytes.Clone(e.w.take(n))
	return nil
}

// isList reports whether the type was read and is one of a list, as every list of a built-in
// kind is called.
func (e *protoList) isList() bool { return strings.HasSuffix(e.kind, "List") }

// end is the end of the body.
func (e *protoList) end() error {
	if err := e.check(); err != nil {
		return e.fail("the envelope", err)
	}
	switch {
	case !e.done:
		return e.fail("the envelope", io.ErrUnexpectedEOF)
	case e.late == nil:
		return nil
	case e.typed && !e.isList():
		return &StatusError{Format: Protobuf, Kind: e.kind, Body: e.late}
	default:
		return e.list(&window{buf: e.late, max: e.opts.MaxObjectBytes}, int64(len(e.late)))
	}
}

// list reads a list message of n bytes.
func (e *protoList) list(w *window, n int64) error {
	object := protoObject{opts: e.opts, names: &e.names}
	end := w.offset() + n
	for w.offset() < end {
		w.release()
		number, wire, n, err := w.tag()
		if err == nil && w.offset()+n > end {
			err = syntaxErrorf("invalid protobuf: field %d has %d bytes, which is more than is left of the list", number, n)
		}
		if err != nil {
			return e.failItem(err)
		}
		switch {
		case wire != wireBytes || number > listItems:
			err = e.skipField(w, wire, n)
		case number == listItems:
			err = e.item(w, n, &object)
		default:
			err = e.listMeta(w, n)
		}
		if err != nil {
			return err
		}
	}
	if w.offset() > end {
		return e.failItem(syntaxErrorf("invalid protobuf: the last field of the list goes beyond its end"))
	}
	return nil
}

func (e *protoList) item(w *window, n int64, object *protoObject) error {
	if err := w.need(n); err != nil {
		return e.failItem(err)
	}
	e.items++
	return e.visit(object.read(w.take(n)))
}

func (e *protoList) listMeta(w *window, n int64) error {
	if err := w.need(n); err != nil {
		return e.fail("metadata", err)
	}
	if err := e.meta.setProto(w.take(n)); err != nil {
		return e.fail("metadata", err)
	}
	return nil
}

// setProto reads a ListMeta.
func (m *ListMeta) setProto(b []byte) error {
	f := fields{b: b}
	for {
		ok, err := f.next()
		if err != nil || !ok {
			return err
		}
		if f.number == 4 && f.wire == wireVarint {
			m.RemainingItemCount = new(int64(f.value))
		}
		if f.wire != wireBytes {
			continue
		}
		switch f.number {
		case 1:
			m.SelfLink = string(f.content())
		case 2:
			m.ResourceVersion = string(f.content())
		case 3:
			m.Continue = string(f.content())
		case 5:
			m.ShardSelector, _, err = protoEntry(f.content()) // field 1 of ShardInfo is the selector
			m.ShardSelector = strings.Clone(m.ShardSelector)
		}
		if err != nil {
			return err
		}
	}
}

// skipRest moves behind a field of no interest, of which the tag was read.
func (e *protoList) skipRest(what string, wire uint64, n int64) error {
	if err := e.w.skipField(wire, n); err != nil {
		return e.fail(what, err)
	}
	return nil
}

func (e *protoList) skipField(w *window, wire uint64, n int64) error {
	if err := w.skipField(wire, n); err != nil {
		return e.fail("the list", err)
	}
	return nil
}

// tag reads the tag of a field, and the length of it where the wire type has one that is
// known: 0 for varints and groups.
func (w *window) tag() (number, wire uint64, n int64, err error) {
	tag, err := w.uvarint()
	if err != nil {
		return 0, 0, 0, err
	}
	number, wire = tag>>3, tag&7
	if number == 0 || number > 1<<29-1 {
		return 0, 0, 0, syntaxErrorf("invalid protobuf: field number %d at byte %d", number, w.offset())
	}
	switch wire {
	case wireVarint, wireStart:
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
func (w *window) skipField(wire uint64, n int64) error {
	switch wire {
	case wireVarint:
		_, err := w.uvarint()
		return err
	case wireStart:
		return syntaxErrorf("invalid protobuf: group at byte %d: no list has one", w.offset())
	default:
		return w.discard(n)
	}
}

// uvarint reads a varint.
func (w *window) uvarint() (uint64, error) {
	for {
		v, n := binary.Uvarint(w.buf[w.pos:])
		if n > 0 {
			w.pos += n
			return v, nil
		}
		if n < 0 || len(w.buf)-w.pos >= binary.MaxVarintLen64 {
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
