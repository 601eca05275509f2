package kubetest

import (
	"net/http"
	"time"
)

// eventFault is an action on the events of a watch. It makes what a stream does of an event:
// deliver sends the event, and may be called later or never. It returns an error to cut the
// connection.
type eventFault interface {
	apply(s *watchStream, deliver func() error) error
}

type eventFunc func(s *watchStream, deliver func() error) error

func (f eventFunc) apply(s *watchStream, deliver func() error) error { return f(s, deliver) }

// CutAfter cuts a watch after it has sent a number of events, bookmarks not counted. Each
// connection counts anew.
func CutAfter(events int) Action {
	return Action{event: eventFunc(func(s *watchStream, deliver func() error) error {
		if s.delivered >= events {
			return http.ErrAbortHandler
		}
		if err := deliver(); err != nil {
			return err
		}
		if s.delivered >= events {
			s.flush()
			return http.ErrAbortHandler
		}
		return nil
	})}
}

// Drop loses events, so that a client never hears of a change.
func Drop() Action {
	return Action{event: eventFunc(func(*watchStream, func() error) error { return nil })}
}

// Duplicate sends events twice.
func Duplicate() Action {
	return Action{event: eventFunc(func(_ *watchStream, deliver func() error) error {
		if err := deliver(); err != nil {
			return err
		}
		return deliver()
	})}
}

// Reorder sends an event after the one that follows it.
func Reorder() Action {
	return Action{event: eventFunc(func(s *watchStream, deliver func() error) error {
		s.held = append(s.held, deliver)
		return nil
	})}
}

// DelayEvents waits before each event.
func DelayEvents(d time.Duration) Action {
	return Action{event: eventFunc(func(s *watchStream, deliver func() error) error {
		if !s.pause(d) {
			return http.ErrAbortHandler
		}
		return deliver()
	})}
}

// eventFaults returns what happens to an event of a stream.
func (l *faults) eventFaults(r *Request) []eventFault {
	l.mu.Lock()
	defer l.mu.Unlock()
	var faults []eventFault
	for _, f := range l.list {
		if f.action.event != nil && f.hits(r) {
			faults = append(faults, f.action.event)
		}
	}
	l.tidy()
	return faults
}

// open keeps a stream for faults that come while it is open.
func (l *faults) open(s *watchStream) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.streams == nil {
		l.streams = map[*watchStream]struct{}{}
	}
	l.streams[s] = struct{}{}
}

func (l *faults) close(s *watchStream) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.streams, s)
}

// cut has the connection of the stream cut by its own goroutine.
func (s *watchStream) cut() {
	s.cutOnce.Do(func() { close(s.cutting) })
}

// pause waits, and reports whether the stream goes on after it.
func (s *watchStream) pause(d time.Duration) bool {
	s.flush()
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-s.cutting:
	case <-s.rq.ctx.Done():
	case <-s.rq.server.down():
	}
	return false
}

// deliver sends an event through the faults that there are.
func (s *watchStream) deliver(send func() error) error {
	counted := func() error {
		s.delivered++
		return send()
	}
	held := s.held
	s.held = nil
	next := counted
	for _, f := range s.rq.server.faults.eventFaults(s.rq.recorded) {
		inner := next
		next = func() error { return f.apply(s, inner) }
	}
	if err := next(); err != nil {
		return err
	}
	for _, late := range held {
		if err := late(); err != nil {
			return err
		}
	}
	return nil
}
