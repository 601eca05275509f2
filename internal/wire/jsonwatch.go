package wire

import (
	"bytes"
	"strings"
)

// nextJSON reads {"type": …, "object": …}, its members in any order.
func (r *WatchReader) nextJSON() (Event, error) {
	c, err := r.w.peek()
	if err != nil {
		return Event{}, err
	}
	if c != '{' {
		return Event{}, r.w.bad(c, "{")
	}
	r.w.release()
	r.w.pos++
	frame := jsonFrame{WatchReader: r}
	for first := true; ; first = false {
		name, ok, err := r.w.member(first)
		if err != nil {
			return Event{}, err
		}
		if !ok {
			return frame.event()
		}
		if err := frame.member(jsonName(name)); err != nil {
			return Event{}, err
		}
	}
}

// jsonFrame is an event that is being read.
type jsonFrame struct {
	*WatchReader
	word   string // the type
	kind   string // of the frame itself, when a Status stands where an event should
	object bool
}

func (f *jsonFrame) member(name string) (err error) {
	switch name {
	case "type":
		f.word, err = f.text("type")
	case "kind":
		f.kind, err = f.text("kind")
	case "object":
		err = f.readObject()
	default:
		_, _, _, err = f.w.skipValue()
	}
	return err
}

// text reads a string member of the frame. It is a copy, since the window moves on.
func (f *jsonFrame) text(what string) (string, error) {
	kind, start, end, err := f.w.skipValue()
	if err == nil && kind != kindString {
		err = syntaxErrorf("%s is %s, not a string", what, kindName(kind))
	}
	if err != nil {
		return "", err
	}
	return f.clone(textOf(stringOf(f.w.buf[f.w.mark:]), kind, start, end)), nil
}

// clone returns a copy of s, without an allocation for the words of the protocol.
func (f *jsonFrame) clone(s string) string {
	if t, err := eventType(s); err == nil {
		return t.String()
	}
	return strings.Clone(s)
}

func (f *jsonFrame) readObject() error {
	if f.object {
		return syntaxErrorf("an event with two objects")
	}
	if _, err := f.w.peek(); err != nil {
		return unexpected(err)
	}
	f.object = true
	return f.json.read()
}

// event makes an event of what was read, all of which is still in the window.
func (f *jsonFrame) event() (Event, error) {
	if size := int64(len(f.w.kept())); size > f.opts.MaxObjectBytes {
		return Event{}, &TooLargeError{f.opts.MaxObjectBytes}
	}
	if f.word == "" && f.kind == "Status" {
		return Event{Type: Failure, Status: &StatusError{Format: JSON, Kind: f.kind, Body: bytes.Clone(f.w.kept())}}, nil
	}
	t, err := eventType(f.word)
	if err != nil {
		return Event{}, err
	}
	if !f.object {
		return Event{}, syntaxErrorf("an event of type %s without an object", t)
	}
	if t == Failure {
		return Event{Type: t, Status: &StatusError{Format: JSON, Kind: f.json.kindText(), Body: bytes.Clone(f.json.text())}}, nil
	}
	return event(t, f.json.take()), nil
}
