package wire

import (
	"bytes"
	"encoding/binary"
	"strings"
)

// The fields of metav1.WatchEvent, and of the runtime.RawExtension in it.
const (
	eventFieldType   = 1
	eventFieldObject = 2
	extensionRaw     = 1
)

// nextProtobuf reads a frame: its length in 4 bytes, big-endian, and a metav1.WatchEvent.
func (r *WatchReader) nextProtobuf() (Event, error) {
	if err := r.w.more(); err != nil {
		return Event{}, err
	}
	if err := r.w.need(4); err != nil {
		return Event{}, err
	}
	n := int64(binary.BigEndian.Uint32(r.w.take(4)))
	if n > r.opts.MaxObjectBytes {
		return Event{}, &TooLargeError{r.opts.MaxObjectBytes}
	}
	if err := r.w.need(n); err != nil {
		return Event{}, err
	}
	word, object, err := splitEvent(r.w.take(n))
	if err != nil {
		return Event{}, err
	}
	t, err := eventType(word)
	if err != nil {
		return Event{}, err
	}
	return r.protoEvent(t, object)
}

// protoEvent makes an event of an object in its envelope.
func (r *WatchReader) protoEvent(t EventType, object []byte) (Event, error) {
	e, err := openEnvelope(object)
	if err != nil {
		if t == Failure {
			return Event{}, err
		}
		return event(t, r.proto.broken(object, field{from: -1}, err)), nil
	}
	if t == Failure {
		return Event{Type: t, Status: &StatusError{Format: Protobuf, Kind: strings.Clone(e.kind), Body: bytes.Clone(e.raw)}}, nil
	}
	return event(t, r.proto.read(e.raw)), nil
}

// splitEvent reads a metav1.WatchEvent.
func splitEvent(b []byte) (word string, object []byte, err error) {
	f := fields{b: b}
	for {
		ok, err := f.next()
		if err != nil || !ok {
			return word, object, err
		}
		if known, err := f.known(eventFieldObject); err != nil {
			return "", nil, err
		} else if !known {
			continue
		}
		switch f.number {
		case eventFieldType:
			word = stringOf(f.content())
		case eventFieldObject:
			if object, err = extension(f.content()); err != nil {
				return "", nil, err
			}
		}
	}
}

// extension reads a runtime.RawExtension.
func extension(b []byte) (raw []byte, err error) {
	f := fields{b: b}
	for {
		ok, err := f.next()
		if err != nil || !ok {
			return raw, err
		}
		if known, err := f.known(extensionRaw); err != nil {
			return nil, err
		} else if known {
			raw = f.content()
		}
	}
}
