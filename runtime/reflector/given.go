package reflector

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/resource"
	"github.com/go-kube/kube/runtime/watcher"
)

// FromEvents returns a reflector that keeps what a sequence of events says, in place of what a watch of its
// own brings: the objects of a file, of a test, or of a [watcher.Watcher] whose events the program sees
// or changes on the way. No client is needed.
//
// Run calls events with its context and ranges over what that returns, which has to end when the context does. The
// sequence has to keep to the protocol of a watcher: it begins with Init, objects up to InitDone are a snapshot,
// from then on each Apply and Delete is a change, and another Init begins another snapshot, which is compared with
// the one before. An Apply within a snapshot belongs to that. Objects need no uid and no resource version; without
// versions the store cannot be waited for (see [Store.WaitFor]). Objects come from [resource.ParseRaw] and
// [resource.EncodeRaw] where the program makes them.
//
// Everything else is as with a watch: the store, indexes, Modify, Changes, and controllers that are made from the
// reflector. Such a controller learns of its own writes (see controller.Options.OwnWrites) when the sequence shows
// them.
//
// When the sequence ends before the context of Run, or breaks the protocol, Run returns an error, which
// matches [watcher.ErrSequenceEnded] in the first case; the store keeps what it has. Of opts.Watch, OnError and
// Logger alone have a meaning, Namespaces and Share have none; setting another one is an error of Run.
func FromEvents[K any](kind resource.Kind[K], events func(ctx context.Context) iter.Seq[watcher.Event[K]], opts *Options) *Reflector[K] {
	if events == nil {
		panic("reflector: FromEvents was called with a nil function")
	}
	var o Options
	if opts != nil {
		o = *opts
	}
	endpoint := kube.Detached(kind, o.Watch.Logger)
	c := newCache(endpoint.Descriptor())
	c.hear(watcher.NewEngineFrom(endpoint, &o.Watch, untyped(events)))
	c.given = true
	switch {
	case o.Share:
		c.invalid = errors.New("reflector: Options.Share is set, and there is no watch to share: the objects come from a sequence of events")
	case o.Namespaces != nil:
		c.invalid = fmt.Errorf("reflector: Options.Namespaces is set, and no namespace is watched: the %s come from a sequence of events", endpoint.Descriptor().GroupResource())
	}
	o.Share, o.Namespaces = false, nil
	return newReflector[K](newSource(false), c, &o)
}

// untyped returns what yields the events of a typed sequence without their type.
func untyped[K any](events func(context.Context) iter.Seq[watcher.Event[K]]) func(context.Context) iter.Seq[watcher.RawEvent] {
	return func(ctx context.Context) iter.Seq[watcher.RawEvent] {
		return func(yield func(watcher.RawEvent) bool) {
			for event := range events(ctx) {
				if !yield(watcher.RawEvent{Type: event.Type, Object: event.Object.Raw, ResourceVersion: event.ResourceVersion}) {
					return
				}
			}
		}
	}
}
