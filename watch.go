package kube

import (
	"context"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strings"

	"github.com/go-kube/kube/internal/wire"
	"github.com/go-kube/kube/resource"
)

// EventType says what a watch event is about.
type EventType uint8

const (
	// Added is an object that is new to the watch: created, or present at its start.
	Added EventType = iota + 1
	// Modified is an object that changed.
	Modified
	// Deleted is an object that is gone, or no longer selected; the event has its last state.
	Deleted
	// Bookmark tells the newest resource version, and nothing else.
	Bookmark
	// Failure is an error that the server sent as an event, such as an expired resource version.
	Failure
)

// String returns the server's word for the type.
func (t EventType) String() string {
	switch t {
	case Added:
		return "ADDED"
	case Modified:
		return "MODIFIED"
	case Deleted:
		return "DELETED"
	case Bookmark:
		return "BOOKMARK"
	case Failure:
		return "ERROR"
	}
	return fmt.Sprintf("EventType(%d)", uint8(t))
}

// WatchEvent is one event of [API.Watch].
type WatchEvent[K any] struct {
	// Type is Added, Modified, Deleted or Bookmark.
	Type EventType
	// Object is the object; its zero value in a Bookmark.
	Object resource.Lazy[K]
	// ResourceVersion is the version that a new watch can start after.
	ResourceVersion string
	// InitialEventsEnd is set in the Bookmark that ends the initial events of a streaming list.
	InitialEventsEnd bool
}

// Watch yields changes over one connection, without recovery: it ends when the server ends
// the connection, and after the first error, which is yielded last. Breaking the loop closes
// the connection. It fails with [ErrExpired] when the resource version is too old. A
// sequence can be ranged over again, which opens another connection.
//
// Package watcher has the watch that survives.
func (a API[K]) Watch(ctx context.Context, opts *WatchOptions) iter.Seq2[WatchEvent[K], error] {
	return func(yield func(WatchEvent[K], error) bool) {
		stream, err := a.endpoint.OpenWatch(ctx, opts)
		if err != nil {
			yield(WatchEvent[K]{}, err)
			return
		}
		defer stream.Close()
		for {
			event, err := stream.Next()
			if err == io.EOF {
				return
			}
			if err == nil {
				err = event.Err
			}
			if err != nil {
				yield(WatchEvent[K]{}, err)
				return
			}
			typed := WatchEvent[K]{Type: event.Type, ResourceVersion: event.ResourceVersion, InitialEventsEnd: event.InitialEventsEnd}
			if event.Object != nil {
				typed.Object = resource.AsLazy[K](event.Object)
			}
			if !yield(typed, nil) {
				return
			}
		}
	}
}

// RawEvent is one event of a [WatchStream].
type RawEvent struct {
	// Type says what the event is about.
	Type EventType
	// Object is the object; nil in a Bookmark and a Failure.
	Object *resource.Raw
	// ResourceVersion is the version of the object or of the bookmark; it may be empty where
	// a server does not send it.
	ResourceVersion string
	// InitialEventsEnd is set in the Bookmark that ends the initial events of a streaming list.
	InitialEventsEnd bool
	// Err is the *Error of a Failure.
	Err error
}

// WatchStream is one open watch connection. Next is for one goroutine; Close may be called
// from any, and ends a Next that waits.
type WatchStream struct {
	endpoint Endpoint
	request  *request
	cancel   context.CancelFunc
	body     io.Closer
	reader   *wire.WatchReader
	keeper   *keeper
}

// OpenWatch opens a watch. A refusal by the server is an error here, with its Status, and not
// an event. The connection is closed when ctx ends.
func (e Endpoint) OpenWatch(ctx context.Context, opts *WatchOptions) (*WatchStream, error) {
	r, err := e.collection("watch", http.MethodGet)
	r.stream = true
	if err == nil {
		r.query, err = opts.query()
	}
	if err != nil {
		return nil, e.fail(r, err)
	}
	r.accept = e.acceptDropped(asMetadata)
	ctx, cancel := context.WithCancel(ctx)
	resp, err := e.send(ctx, r)
	if err != nil {
		cancel()
		return nil, e.fail(r, err)
	}
	format, err := wire.FormatOf(resp.Header.Get("Content-Type"))
	var reader *wire.WatchReader
	own := e.keeper(nil)
	if err == nil {
		reader, err = wire.NewWatchReader(resp.Body, format, own.options)
	}
	if err != nil {
		cancel()
		resp.Body.Close()
		return nil, e.fail(r, err)
	}
	return &WatchStream{endpoint: e, request: r, cancel: cancel, body: resp.Body, reader: reader, keeper: own}, nil
}

// Next waits for the next event. It returns io.EOF when the server ended the watch, and an
// *Error when the connection broke or could not be read on.
func (w *WatchStream) Next() (RawEvent, error) {
	event, err := w.reader.Next()
	if err == io.EOF {
		return RawEvent{}, io.EOF
	}
	if err != nil {
		return RawEvent{}, w.endpoint.fail(w.request, err)
	}
	switch event.Type {
	case wire.Added:
		return w.object(Added, event), nil
	case wire.Modified:
		return w.object(Modified, event), nil
	case wire.Deleted:
		return w.object(Deleted, event), nil
	case wire.Bookmark:
		return RawEvent{Type: Bookmark, ResourceVersion: strings.Clone(event.Object.ResourceVersion()), InitialEventsEnd: event.InitialEventsEnd}, nil
	default:
		return RawEvent{Type: Failure, Err: w.endpoint.fail(w.request, refusalOf(event.Status))}, nil
	}
}

func (w *WatchStream) object(typ EventType, event wire.Event) RawEvent {
	raw := w.keeper.object(event.Object)
	return RawEvent{Type: typ, Object: raw, ResourceVersion: raw.ResourceVersion()}
}

// Close closes the connection. It is safe to call more than once.
func (w *WatchStream) Close() error {
	w.cancel()
	return w.body.Close()
}
