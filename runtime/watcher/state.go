package watcher

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// Phase says what a watcher is doing.
type Phase uint8

const (
	// Idle is a watcher that nobody ranges over.
	Idle Phase = iota
	// Listing is a watcher that takes a snapshot.
	Listing
	// Watching is a watcher that sees changes as they happen. It stays in this phase while a
	// watch that ended in order is resumed.
	Watching
	// Retrying is a watcher that waits after a failure, or resumes after it.
	Retrying
	// WaitingForKind is a watcher whose kind the server does not know: its
	// CustomResourceDefinition is not installed yet, or was deleted (then LastError of the
	// [State] matches [ErrNotServed], as soon as that is certain).
	WaitingForKind
)

// String returns the name of the constant.
func (p Phase) String() string {
	names := [...]string{"Idle", "Listing", "Watching", "Retrying", "WaitingForKind"}
	if int(p) >= len(names) {
		return fmt.Sprintf("Phase(%d)", uint8(p))
	}
	return names[p]
}

// State is what a watcher is doing and how well.
type State struct {
	// Phase is what it is doing, Since the time of the last change of the phase.
	Phase Phase
	Since time.Time
	// Synced reports whether a snapshot was completed, ever.
	Synced bool
	// ResourceVersion is how far it has come; empty before the first snapshot.
	ResourceVersion string
	// LastError is the failure that it has not recovered from; nil while all is well.
	// Failures is how many there were in a row.
	LastError error
	Failures  int
}

// status is the state of a running watcher, and says in the log when it changes.
type status struct {
	log      *slog.Logger
	resource string

	mu     sync.Mutex
	state  State
	logged string // what kind of failure was logged last; empty while all is well
	total  int    // number of failures ever
}

// current returns the state.
func (s *status) current() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state
}

func (s *status) enter(p Phase) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.setPhase(p)
}

// setPhase sets the phase. The caller holds mu.
func (s *status) setPhase(p Phase) {
	if s.state.Phase != p || s.state.Since.IsZero() {
		s.state.Phase, s.state.Since = p, time.Now()
	}
}

// reached notes how far the watcher has come.
func (s *status) reached(version string) {
	s.mu.Lock()
	s.state.ResourceVersion = version
	s.mu.Unlock()
}

func (s *status) synced(version string) {
	s.mu.Lock()
	s.state.ResourceVersion, s.state.Synced = version, true
	s.mu.Unlock()
}

// failed notes a failure after which the watcher waits for delay, and reports whether it is of
// another kind than the one before.
func (s *status) failed(ctx context.Context, p Phase, err error, delay time.Duration) (news bool) {
	kind := kindOf(err)
	s.mu.Lock()
	s.setPhase(p)
	s.state.LastError = err
	s.state.Failures++
	s.total++
	failures := s.state.Failures
	news = s.logged != kind
	s.logged = kind
	s.mu.Unlock()

	level, text := slog.LevelWarn, "watch failed, trying again"
	switch {
	case p == WaitingForKind:
		level, text = slog.LevelInfo, "waiting for the kind to be installed"
	case isDenied(err):
		level, text = slog.LevelError, "watch is not allowed, trying again"
	}
	if !news {
		level = slog.LevelDebug
	}
	s.log.LogAttrs(ctx, level, text, slog.String("resource", s.resource),
		slog.Any("error", err), slog.Int("failures", failures), slog.Duration("delay", delay))
	return news
}

// hopeless notes that the watcher cannot work, and will not try again.
func (s *status) hopeless(text string, err error) {
	s.mu.Lock()
	s.state.LastError = err
	s.state.Failures++
	s.mu.Unlock()
	s.log.Error(text, "resource", s.resource, "error", err)
}

// recovered notes that the watcher is over its failures, if there were any.
func (s *status) recovered() { s.recovery()() }

// recovery returns a function that notes that the watcher is over the failures up to now, if
// there were any. It does nothing once there is a later one.
func (s *status) recovery() func() {
	s.mu.Lock()
	defer s.mu.Unlock()
	total := s.total
	return func() {
		s.mu.Lock()
		failures := s.state.Failures
		if s.total != total || failures == 0 {
			s.mu.Unlock()
			return
		}
		s.state.LastError, s.state.Failures, s.logged = nil, 0, ""
		s.mu.Unlock()
		s.log.Info("watch works again", "resource", s.resource, "failures", failures)
	}
}
