package wire

import (
	"errors"
	"fmt"
	"io"
)

// StatusError says that the server sent a Status, or something else that is not what was
// asked for, where objects were expected: the answer to a LIST, or the object of an ERROR
// event. Body is left to the caller to decode.
type StatusError struct {
	// Format is how Body is encoded.
	Format Format
	// Kind is the kind that the body claims to be: Status, from every server that follows the API.
	Kind string
	// Body is the object: JSON text, or a protobuf message without its envelope.
	Body []byte
}

// Error implements error. It shows the start of a JSON body; a protobuf body is not for eyes.
func (e *StatusError) Error() string {
	what := "an object without a kind"
	if e.Kind != "" {
		what = "kind " + e.Kind
	}
	if e.Format == JSON {
		return fmt.Sprintf("wire: the server sent %s: %s", what, excerpt(e.Body))
	}
	return fmt.Sprintf("wire: the server sent %s, %d bytes", what, len(e.Body))
}

// TooLargeError says that an object, or something else that has to be in memory as a whole,
// exceeds [Options.MaxObjectBytes].
type TooLargeError struct {
	// Limit is the limit in bytes.
	Limit int64
}

// Error implements error.
func (e *TooLargeError) Error() string {
	return fmt.Sprintf("larger than the limit of %d bytes; raise MaxObjectBytes if such objects are expected", e.Limit)
}

// objectError is what is wrong with one object.
type objectError struct{ text string }

func (e *objectError) Error() string { return e.text }

func objectErrorf(format string, args ...any) *objectError {
	return &objectError{fmt.Sprintf(format, args...)}
}

// syntaxError is text that is not JSON, or bytes that are not protobuf.
type syntaxError struct{ text string }

func (e *syntaxError) Error() string { return e.text }

func syntaxErrorf(format string, args ...any) error {
	return &syntaxError{fmt.Sprintf(format, args...)}
}

// unexpected turns the end of the input into its error inside of something.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// excerpt shows the start of bytes that came from outside.
func excerpt(b []byte) string {
	const most = 200
	if len(b) <= most {
		return fmt.Sprintf("%q", b)
	}
	return fmt.Sprintf("%q…", b[:most])
}

// depthError is JSON that nests deeper than any decoder goes. The value was skipped: only
// what holds it is broken.
type depthError struct{ depth int }

func (e *depthError) Error() string {
	return fmt.Sprintf("invalid JSON: nested %d levels deep, more than the limit of %d", e.depth, maxDepth)
}
