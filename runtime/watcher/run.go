package watcher

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/go-kube/kube"
)

const (
	// maxRefusals is how often in a row a watch may fail to get going from one resource version
	// before a new snapshot is taken: the server may not be able to serve that version ever.
	maxRefusals = 3
	// maxBrokenStreams is how often in a row a streaming list may break before pages, which
	// can be resumed, are tried for once.
	maxBrokenStreams = 3
)

// run is one loop over the events of an engine: a state machine whose states are methods. Each
// does its work and returns the state that follows, or nil when the loop is over.
//
//	snapshot ──► streamingList ──► follow ──► watch ──► follow …
//	        └──► list ──► watch ──► follow …
//	any failure ──► retry ──► snapshot or watch
type run struct {
	*Engine
	*status
	ctx   context.Context
	yield func(RawEvent) bool
	done  bool // the consumer broke its loop

	version string // that a watch starts after; empty when a snapshot is due
	begun   bool   // Init was yielded for the snapshot under way

	backoff     backoff
	kindBackoff backoff
	healthyFrom time.Time // when a watch was opened after the last failure; zero if none was

	refusals      int  // failures in a row to get going from version
	brokenStreams int  // failures in a row of streaming lists
	unpaged       bool // the next list is taken in one piece
	relisted      bool // at once, since the last time of health
	absences      int  // of the kind, in a row, as discovery has it
	removed       bool // the kind was; the consumer knows
}

// state is a state of the machine.
type state func(*run) state

// over reports whether nothing more is to be done.
func (r *run) over() bool { return r.done || r.ctx.Err() != nil }

// emit yields an event, and reports whether the consumer goes on.
func (r *run) emit(event RawEvent) bool {
	r.done = r.done || !r.yield(event)
	return !r.done
}

// begin yields Init, once per snapshot and not before the server has answered: an attempt that
// got nothing is none of the consumer's business.
func (r *run) begin() bool {
	if r.begun {
		return true
	}
	r.begun = true
	return r.emit(RawEvent{Type: Init})
}

// complete yields InitDone.
func (r *run) complete(version string) bool {
	r.version = version
	r.refusals, r.brokenStreams, r.unpaged = 0, 0, false
	r.absences, r.removed = 0, false
	r.synced(version)
	return r.begin() && r.emit(RawEvent{Type: InitDone, ResourceVersion: version})
}

// snapshot starts to learn what exists.
func (r *run) snapshot() state {
	r.enterUnlessFailing(Listing)
	r.begun = false
	if r.wantsStreamingList() {
		return (*run).streamingList
	}
	return (*run).list
}

// enterUnlessFailing enters a phase of normal work; a watcher that has failures behind it
// stays in their phase until it works again.
func (r *run) enterUnlessFailing(p Phase) {
	if r.current().LastError == nil {
		r.enter(p)
	}
}

func (r *run) wantsStreamingList() bool {
	switch r.opts.InitialList {
	case StreamingList:
		return true
	case ListWatch:
		return false
	}
	return !r.opts.DisableBookmarks && r.brokenStreams < maxBrokenStreams && !r.endpoint.StreamingListsFailed()
}

// firstVersion is what a snapshot asks for: empty is the newest, 0 is any.
func (r *run) firstVersion() string {
	if r.opts.AnyVersion && !r.current().Synced {
		return "0"
	}
	return ""
}

// watch opens a watch from where the consumer is.
func (r *run) watch() state {
	c, err := r.open(r.version, false)
	if err == nil {
		return r.follow(c)
	}
	switch {
	case kube.IsExpired(err):
		return r.expired(err)
	case isMissingKind(err):
		return r.retry(err, (*run).snapshot)
	case speaksAgainstVersion(err):
		return r.refused(err)
	}
	return r.retry(err, (*run).watch)
}

// expired follows the refusal of a version that is too old. The server is there, whatever the
// delay has grown to while it was not, and only a list can help: it is made at once. A second
// time it has to wait, until the watch has been well for a while.
func (r *run) expired(err error) state {
	if !r.answered() {
		return r.retry(err, (*run).snapshot)
	}
	delay, _ := kube.RetryAfter(err)
	return r.pause(err, delay, (*run).snapshot)
}

// answered has the delays start over when the server answers after an outage; false where it
// did since the watch was well.
func (r *run) answered() bool {
	r.noteHealth()
	if r.relisted {
		return false
	}
	r.relisted = true
	r.backoff.reset()
	return true
}

// refused counts a watch that did not get going from its version.
func (r *run) refused(err error) state {
	if codeOf(err) != 0 {
		r.answered()
	}
	r.refusals++
	if r.refusals >= maxRefusals {
		return r.retry(err, (*run).snapshot)
	}
	return r.retry(err, (*run).watch)
}

// follow passes on the events of c, closes it when it ends, and decides what comes then.
func (r *run) follow(c *connection) state {
	err := r.passAll(c)
	c.close()
	switch {
	case r.over():
		return nil
	case errors.Is(err, errNoVersion):
		return r.retry(err, (*run).snapshot)
	case kube.IsExpired(err):
		return r.expired(err)
	case errors.Is(err, errSilence):
		return r.silent()
	case c.refused:
		return r.watchFailed(c, err)
	}
	return r.watchEnded(c, err)
}

// passAll yields the events of c until there are no more, and returns why.
func (r *run) passAll(c *connection) error {
	r.enter(Watching)
	if r.healthyFrom.IsZero() {
		r.healthyFrom = time.Now()
	}
	settled := time.AfterFunc(shortWatch, r.recovery())
	defer settled.Stop()
	for !r.over() {
		event, err := c.next(r.opts.IdleTimeout)
		switch {
		case err != nil:
			return err
		case event.Type == kube.Failure:
			c.refused = true
			return event.Err
		case event.Type == kube.Bookmark && event.ResourceVersion == "":
			continue
		case event.ResourceVersion == "" && event.Object.Err() == nil:
			return r.failure("watch", errNoVersion)
		case event.ResourceVersion == "":
			// The object is broken. A new snapshot would have it as well.
			event.ResourceVersion = r.version
		}
		r.pass(c, event)
	}
	return nil
}

// pass yields an event of a watch that follows a snapshot.
func (r *run) pass(c *connection, event kube.RawEvent) {
	typ := Apply
	switch event.Type {
	case kube.Bookmark:
		typ = Bookmark
	case kube.Deleted:
		typ = Delete
	}
	if event.ResourceVersion != r.version && !c.moved {
		c.moved = true
		r.refusals = 0
		r.recovered()
	}
	r.version = event.ResourceVersion
	r.reached(r.version)
	r.emit(RawEvent{Type: typ, Object: event.Object, ResourceVersion: r.version})
}

// watchEnded decides what follows a watch whose connection is over.
func (r *run) watchEnded(c *connection, err error) state {
	short := c.short()
	switch {
	case err == io.EOF && !short:
		r.refusals = 0
		return (*run).watch
	case err == io.EOF:
		err = r.failure("watch", errEnded)
	}
	if c.moved && !short {
		r.backoff.reset() // it worked for a while and lost nothing
	}
	if c.moved || !short {
		return r.retry(err, (*run).watch)
	}
	return r.refused(err)
}

// silent follows a watch whose connection is dead. It lasted long, so there is no reason to
// wait before the next.
func (r *run) silent() state {
	err := r.failure("watch", errSilence)
	r.log.Warn("watch was silent, opening another", "resource", r.resource, "limit", r.opts.IdleTimeout)
	r.report(err)
	return (*run).watch
}

// watchFailed decides what follows an ERROR event.
func (r *run) watchFailed(c *connection, err error) state {
	if c.moved || !speaksAgainstVersion(err) {
		return r.retry(err, (*run).watch)
	}
	return r.refused(err)
}

// noteHealth has the delays start over after a time of health, which a failure ends.
func (r *run) noteHealth() {
	if !r.healthyFrom.IsZero() && time.Since(r.healthyFrom) >= r.opts.BackoffReset {
		r.backoff.reset()
		r.relisted = false
	}
	r.healthyFrom = time.Time{}
}

// retry reports a failure, waits, and goes on with next.
func (r *run) retry(err error, next state) state {
	if r.over() {
		return nil
	}
	r.noteHealth()
	delay := r.backoff.next()
	if asked, ok := kube.RetryAfter(err); ok {
		delay = max(delay, asked)
	}
	return r.pause(err, delay, next)
}

// pause reports a failure and goes on with next after delay.
func (r *run) pause(err error, delay time.Duration, next state) state {
	r.failed(r.ctx, Retrying, err, delay)
	r.report(err)
	if !sleep(r.ctx, delay) {
		return nil
	}
	return next
}

func (r *run) report(err error) {
	if r.opts.OnError != nil {
		r.opts.OnError(err)
	}
}
