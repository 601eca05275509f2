package watcher

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/resource"
)

// ErrSequenceEnded is the error of an engine whose events come from a sequence of the program's, see
// [NewEngineFrom], when the sequence has ended before its context.
var ErrSequenceEnded = errors.New("the sequence of events has ended")

// NewEngineFrom returns an engine that yields the events of a sequence in place of those of a server, for
// caches that are filled by something else: a file, a test, a watch whose events a program changes on the way.
// events is called by each loop over [Engine.Events], with its context, and the sequence has to end when that
// does. Of opts, which may be nil, OnError and Logger alone have a meaning; others are errors.
//
// The sequence has to keep to the protocol: it begins with Init, objects up to InitDone are a
// snapshot, and from then on each change follows; another Init begins another snapshot. An Apply within a
// snapshot counts as an InitApply. Versions may be left out. What breaks the protocol ends the loop, and so does the
// end of the sequence ([ErrSequenceEnded]): OnError, the log and State tell of it.
func NewEngineFrom(endpoint kube.Endpoint, opts *Options, events func(ctx context.Context) iter.Seq[RawEvent]) *Engine {
	if events == nil {
		panic("watcher: NewEngineFrom was called with a nil function")
	}
	var given, told Options
	if opts != nil {
		given = *opts
		told.OnError, told.Logger = given.OnError, given.Logger
	}
	e := NewEngine(endpoint, &told)
	e.given = events
	if given.OnError, given.Logger = nil, nil; !reflect.ValueOf(given).IsZero() && e.invalid == nil {
		e.invalid = fmt.Errorf("watcher: options of a watch are set for %s, which no watch brings: the events come from a sequence; only OnError and Logger have a meaning",
			endpoint.Descriptor().GroupResource())
	}
	return e
}

// relay yields the events of the sequence that stands in place of a server.
func (r *run) relay(ctx context.Context) {
	r.enter(Listing)
	p := protocol{kind: r.endpoint.Descriptor()}
	for event := range r.given(ctx) {
		if r.over() {
			return
		}
		if err := p.take(&event); err != nil {
			r.broken(fmt.Errorf("watcher: the sequence of %s: %w", p.kind.GroupResource(), err))
			return
		}
		r.follows(&event)
		if !r.emit(event) {
			return
		}
	}
	if ctx.Err() == nil {
		r.broken(fmt.Errorf("watcher: %s: %w", p.kind.GroupResource(), ErrSequenceEnded))
	}
}

// broken notes why the sequence is of no use any more.
func (r *run) broken(err error) {
	r.hopeless("events cannot go on", err)
	r.report(err)
}

// follows has the state say what an event means.
func (r *run) follows(event *RawEvent) {
	switch {
	case event.Type == Init:
		r.enter(Listing)
	case event.Type == InitDone:
		r.enter(Watching)
		r.synced(event.ResourceVersion)
	case event.ResourceVersion != "":
		r.reached(event.ResourceVersion)
	}
}

// protocol checks that events come in the order that consumers rely on, and fills in what may be left out.
type protocol struct {
	kind    *resource.Descriptor
	within  bool   // a snapshot
	synced  bool   // a snapshot was completed
	highest string // version of an object of the snapshot, whose memory it shares
}

// take checks an event, and completes it.
func (p *protocol) take(event *RawEvent) error {
	if event.Type == Apply && p.within {
		event.Type = InitApply
	}
	switch event.Type {
	case Init:
		p.within, p.highest = true, ""
		event.Object, event.ResourceVersion = nil, ""
		return nil
	case InitApply, Apply, Delete:
		return p.takeObject(event)
	case InitDone:
		if !p.within {
			return errors.New("InitDone came outside of a snapshot, without an Init before it")
		}
		p.within, p.synced = false, true
		event.Object = nil
		if event.ResourceVersion == "" {
			event.ResourceVersion = strings.Clone(p.highest)
		}
		return nil
	case Bookmark:
		event.Object = nil
		if p.within {
			event.ResourceVersion = ""
		}
		return nil
	}
	return fmt.Errorf("%s is no type of an event", event.Type)
}

func (p *protocol) takeObject(event *RawEvent) error {
	switch {
	case event.Type == InitApply && !p.within:
		return errors.New("InitApply came outside of a snapshot, without an Init before it")
	case !p.within && !p.synced:
		return fmt.Errorf("%s came before the first snapshot: the sequence has to begin with Init", event.Type)
	case event.Object == nil:
		return fmt.Errorf("%s came without an object", event.Type)
	}
	if d := event.Object.Descriptor(); d != p.kind && (d.GroupVersionKind() != p.kind.GroupVersionKind() || d.MetadataOnly != p.kind.MetadataOnly) {
		return fmt.Errorf("%s came with %s of %s, which is another kind than %s", event.Type, event.Object, d.APIVersion(), p.kind.GroupVersionKind())
	}
	version := event.Object.ResourceVersion()
	switch {
	case p.within:
		event.ResourceVersion = ""
		p.raise(version)
	case event.ResourceVersion == "":
		event.ResourceVersion = strings.Clone(version)
	}
	return nil
}

// raise notes the version of an object of the snapshot: one that ends without a version is as new as
// the newest of its objects at least.
func (p *protocol) raise(version string) {
	if _, err := resourceversion.CompareResourceVersion(version, version); err != nil {
		return // an object that was never in a server has none
	}
	if order, err := resourceversion.CompareResourceVersion(version, p.highest); p.highest == "" || err == nil && order > 0 {
		p.highest = version
	}
}
