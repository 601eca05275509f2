package wire

import (
	"fmt"
	"io"
)

// ListMeta is what a list says of itself.
type ListMeta struct {
	// APIVersion and Kind are those of the list, such as v1 PodList. Either may be empty.
	APIVersion, Kind string
	// ResourceVersion is the version of the whole, from which a watch goes on.
	ResourceVersion string
	// Continue asks for the next page; empty on the last one.
	Continue string
	// RemainingItemCount is how many items follow on later pages; nil when the server does not
	// say.
	RemainingItemCount *int64
	// ShardSelector is the shard that the server was asked for and served, empty for all.
	ShardSelector string
}

// ReadList reads the answer to a LIST from r to its end and hands the objects over as they
// arrive. The metadata of the list may stand before or after them, so it is returned at the
// end.
//
// The error is what visit returned, as it is; a [*StatusError] when the server answered with a
// Status or with a single object; io.ErrUnexpectedEOF, wrapped in what was being read, when
// the body is cut off; a [*TooLargeError], wrapped in the same way; or what is wrong with the
// framing of the list. With an error, some objects may have been handed over.
func ReadList(r io.Reader, format Format, options *Options, visit func(Object) error) (ListMeta, error) {
	opts, err := options.withDefaults()
	if err != nil {
		return ListMeta{}, err
	}
	l := &listReader{w: newWindow(r, &opts), opts: &opts, visit: visit}
	defer l.w.drop()
	if format == Protobuf {
		err = l.protobuf()
	} else {
		err = l.json()
	}
	return l.meta, err
}

// listReader reads one list.
type listReader struct {
	w     window
	opts  *Options
	names interner
	visit func(Object) error
	meta  ListMeta
	items int // how many were read
}

// fail says what was being read when err came.
func (l *listReader) fail(what string, err error) error {
	if l.meta.Kind != "" {
		return fmt.Errorf("wire: reading %s of %s: %w", what, l.meta.Kind, err)
	}
	return fmt.Errorf("wire: reading %s of a list: %w", what, err)
}

func (l *listReader) failItem(err error) error {
	return l.fail(fmt.Sprintf("item %d", l.items), err)
}
