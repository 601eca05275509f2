package wire

import (
	"errors"
	"fmt"
	"io"
)

// EventType is what happened to an object.
type EventType uint8

// The event types of the watch protocol.
const (
	Added EventType = iota + 1
	Modified
	Deleted
	Bookmark
	Failure
)

var eventNames = [...]string{Added: "ADDED", Modified: "MODIFIED", Deleted: "DELETED", Bookmark: "BOOKMARK", Failure: "ERROR"}

// String returns the word of the protocol: ADDED, MODIFIED, DELETED, BOOKMARK or ERROR.
func (t EventType) String() string {
	if int(t) < len(eventNames) && t != 0 {
		return eventNames[t]
	}
	return fmt.Sprintf("EventType(%d)", uint8(t))
}

func eventType(word string) (EventType, error) {
	for t := Added; t <= Failure; t++ {
		if word == eventNames[t] {
			return t, nil
		}
	}
	return 0, syntaxErrorf("event type %q is none of ADDED, MODIFIED, DELETED, BOOKMARK, ERROR", word)
}

// Event is one event of a watch.
type Event struct {
	// Type is what happened.
	Type EventType
	// Object is what it happened to. A bookmark has one of the kind that is watched, with nothing
	// but a resource version and maybe annotations; a failure has none.
	Object Object
	// InitialEventsEnd marks the bookmark behind the initial events of a streaming list.
	InitialEventsEnd bool
	// Status is what a Failure says; nil for every other type.
	Status *StatusError
}

// WatchReader reads the events of a watch. It is not safe for concurrent use. While it waits
// for the next event it holds no buffer.
type WatchReader struct {
	w      window
	format Format
	opts   Options
	names  interner
	json   jsonObject
	proto  protoObject
	err    error // what ended the stream
}

// NewWatchReader returns a reader of the events in r. The error says what is wrong with the
// options.
func NewWatchReader(r io.Reader, format Format, options *Options) (*WatchReader, error) {
	opts, err := options.withDefaults()
	if err != nil {
		return nil, err
	}
	w := &WatchReader{w: newWindow(r, &opts), format: format, opts: opts}
	w.json = jsonObject{w: &w.w, opts: &w.opts, names: &w.names}
	w.proto = protoObject{opts: &w.opts, names: &w.names}
	return w, nil
}

// Next returns the next event, waiting for it. The error is io.EOF when the stream ends
// between two events, io.ErrUnexpectedEOF, wrapped, when it ends inside of one, a
// [*TooLargeError], wrapped, or what is wrong with the framing. After an error, Next returns
// it again.
func (r *WatchReader) Next() (Event, error) {
	if r.err != nil {
		return Event{}, r.err
	}
	event, err := r.next()
	if err != nil {
		r.w.drop()
		if !errors.Is(err, io.EOF) {
			err = fmt.Errorf("wire: reading a watch event: %w", err)
		}
		r.err = err
	}
	return event, err
}

func (r *WatchReader) next() (Event, error) {
	if r.w.release(); r.w.pos == len(r.w.buf) { // it may be long until more comes
		r.json.scratch, r.proto.scratch = nil, nil
	}
	if r.format == Protobuf {
		return r.nextProtobuf()
	}
	return r.nextJSON()
}

// event makes an event of an object that is not a failure.
func event(t EventType, object Object) Event {
	e := Event{Type: t, Object: object}
	if t == Bookmark {
		e.Object.extra = nil // a bookmark has no name
		value, _ := object.Annotation(InitialEventsEnd)
		e.InitialEventsEnd = value == "true"
	}
	return e
}
