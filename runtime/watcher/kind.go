package watcher

import (
	"errors"
	"fmt"
	"time"

	"github.com/go-kube/kube"
)

// ErrNotServed is in the error of [State], and in one that OnError is told, when a kind that was watched
// is served no longer, in no version of its group: its CustomResourceDefinition was deleted, and all objects with it.
var ErrNotServed = errors.New("the server serves the kind no longer")

const (
	// maxKindBackoff bounds the delay between two looks for a kind that is not installed.
	maxKindBackoff = 10 * time.Second
	// certainlyGone is how many times in a row discovery has to lack a kind before all of its
	// objects are taken for gone. One of several servers can be behind the others.
	certainlyGone = 2
)

// waitForKind waits for a kind that the server does not know. That is how a program starts
// before its CustomResourceDefinition is installed, and no reason for alarm.
func (r *run) waitForKind(err error) state {
	if r.over() {
		return nil
	}
	removed := r.kindRemoved()
	if r.over() {
		return nil
	}
	if removed || r.removed {
		err = r.failure("list", fmt.Errorf("%w: %w", ErrNotServed, causeOf(err)))
	}
	delay := r.kindBackoff.next()
	if r.failed(r.ctx, WaitingForKind, err, delay) || removed {
		r.report(err)
	}
	if removed && !r.empty() || !sleep(r.ctx, delay) {
		return nil
	}
	return (*run).snapshot
}

// kindRemoved reports whether a kind that the consumer knows objects of has turned out to be
// removed. The 404 that led here does not say that; discovery does.
func (r *run) kindRemoved() bool {
	if r.version == "" || r.removed {
		return false
	}
	served, err := r.endpoint.Served(r.ctx)
	if served || err != nil {
		r.absences = 0
		return false
	}
	r.absences++
	return r.absences >= certainlyGone
}

// empty yields the snapshot of a kind that is not there any more.
func (r *run) empty() bool {
	r.removed, r.absences, r.begun = true, 0, false
	r.log.Warn("the kind is served no longer, its objects are gone", "resource", r.resource)
	return r.begin() && r.emit(RawEvent{Type: InitDone, ResourceVersion: r.version})
}

// causeOf returns err without the request in front of it.
func causeOf(err error) error {
	if request, ok := errors.AsType[*kube.Error](err); ok {
		return request.Err
	}
	return err
}
