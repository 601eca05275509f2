package wire

import (
	"bytes"
	"errors"
	"io"
	"strings"
)

// The fields of a list, the same in every list type, and of metav1.ListMeta in it.
const (
	listMetadata = 1
	listItems    = 2

	metaVersion   = 2
	metaContinue  = 3
	metaRemaining = 4
	metaShard     = 5
)

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
		if err := l.w.more(); errors.Is(err, io.EOF) {
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
	done bool   // raw was read
	late []byte // raw, when it was not known to be a list and had to be kept
}

// field reads one field of the envelope.
func (e *protoList) field() error {
	number, wire, n, err := e.w.tag()
	if err != nil {
		return e.fail("the envelope", err)
	}
	if number > unknownContentType {
		return e.skip(&e.w, "the envelope", wire, n)
	}
	if wire != wireBytes {
		return e.fail("the envelope", wrongWire(number, wire))
	}
	if number == unknownRaw {
		return e.raw(n)
	}
	if err := e.w.need(n); err != nil {
		return e.fail("the envelope", err)
	}
	content := e.w.take(n)
	switch number {
	case unknownType:
		err = e.setType(bytes.Clone(content))
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

// isList reports whether the kind was read and is that of a list: every list of a built-in kind
// is called so.
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
	case e.kind != "" && !e.isList():
		return &StatusError{Format: Protobuf, Kind: e.kind, Body: e.late}
	default:
		return e.list(&window{buf: e.late}, int64(len(e.late)))
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
		case number > listItems:
			err = e.skip(w, "the list", wire, n)
		case wire != wireBytes:
			err = e.failItem(wrongWire(number, wire))
		case number == listItems:
			err = e.item(w, n, &object)
		case number == listMetadata:
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
	err := w.need(n)
	if err == nil && n > e.opts.MaxObjectBytes {
		err = &TooLargeError{e.opts.MaxObjectBytes}
	}
	if err != nil {
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
		if f.number == metaRemaining {
			if f.wire != wireVarint {
				return wrongWire(f.number, f.wire)
			}
			m.RemainingItemCount = new(int64(f.value))
			continue
		}
		known, err := f.known(metaShard)
		if err == nil && known {
			err = m.setField(f.number, f.content())
		}
		if err != nil {
			return err
		}
	}
}

func (m *ListMeta) setField(number int32, content []byte) error {
	switch number {
	case metaVersion:
		m.ResourceVersion = string(content)
	case metaContinue:
		m.Continue = string(content)
	case metaShard:
		selector, _, err := protoEntry(content) // the selector is field 1 of ShardInfo
		if err != nil {
			return err
		}
		m.ShardSelector = strings.Clone(selector)
	}
	return nil
}

// skip moves behind a field of no interest, of which the tag was read.
func (e *protoList) skip(w *window, what string, wire uint8, n int64) error {
	if err := w.skipField(wire, n); err != nil {
		return e.fail(what, err)
	}
	return nil
}
