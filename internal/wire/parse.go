package wire

import "strings"

// ReadObject reads a single object, such as the answer to a GET. Protobuf may come in its
// envelope or without. Nothing of data is kept: the object has a copy.
//
// The error is about data as a whole: text behind the object, or an envelope that cannot be
// opened. What is wrong with the object itself is in its Err.
func ReadObject(data []byte, format Format, options *Options) (Object, error) {
	opts, err := options.withDefaults()
	if err != nil {
		return Object{}, err
	}
	if int64(len(data)) > opts.MaxObjectBytes {
		return Object{}, &TooLargeError{opts.MaxObjectBytes}
	}
	if format == Protobuf {
		return readProtoObject(data, &opts)
	}
	return readJSONObject(data, &opts)
}

func readProtoObject(data []byte, opts *Options) (Object, error) {
	if HasEnvelope(data) {
		e, err := openEnvelope(data)
		if err != nil {
			return Object{}, err
		}
		data = e.raw
	}
	p := protoObject{opts: opts}
	return p.read(data), nil
}

func readJSONObject(data []byte, opts *Options) (Object, error) {
	w := window{buf: data}
	if _, err := w.peek(); err != nil {
		return Object{}, unexpected(err)
	}
	w.release()
	p := jsonObject{w: &w, opts: opts}
	if err := p.read(); err != nil {
		return Object{}, err
	}
	object := p.take()
	if c, err := w.peek(); err == nil {
		return Object{}, w.bad(c, "end")
	}
	return object, nil
}

// Envelope opens a protobuf body that holds a single object or a Status. raw, the message
// inside, shares the memory of body.
func Envelope(body []byte) (apiVersion, kind string, raw []byte, err error) {
	e, err := openEnvelope(body)
	return strings.Clone(e.apiVersion), strings.Clone(e.kind), e.raw, err
}

// HasEnvelope reports whether data starts as protobuf bodies do and JSON cannot.
func HasEnvelope(data []byte) bool {
	return len(data) >= len(magic) && string(data[:len(magic)]) == magic
}
