package controller

import (
	"math"
	"time"
)

// horizon is how far ahead a run can be planned. What lies beyond is done then: a far run is
// a mistake in arithmetic more often than a wish, and no time can overflow below it.
const horizon = 180 * 24 * time.Hour

// moment is a time in nanoseconds since the start of the runner.
type moment int64

// after returns the time d after m, within the horizon. A negative d is none.
func (m moment) after(d time.Duration) moment {
	return m + moment(min(max(d, 0), horizon))
}

// place says where an entry waits for its next run.
type place uint8

const (
	idle   place = iota // no run is planned
	timed               // in the heap: its time has not come
	due                 // in the queue: next in its turn
	parked              // its key is running; it is placed again afterwards
)

// entry is all that is known of a key. A key has at most one, and none while nothing is
// planned, running or remembered of it. What a look-up touches stands first, to share a cache
// line.
type entry[K comparable] struct {
	hash  uint64    // of key
	chain *entry[K] // in the table
	key   K

	at       moment // when the planned run is due
	place    place
	running  bool
	priority Priority  // of the planned run
	failures int32     // since the last success
	index    int       // in the heap, while place is timed
	next     *entry[K] // in the queue while place is due, in the free list while unused
	previous *entry[K] // in the queue while place is due
	limit    moment    // how far debouncing may push at
	reason   Reason    // of the planned run
}

// scheduler says which key runs next. It merges: whatever was asked of a key before it runs
// is one run, at the earliest of the times asked for, with the reason that belongs to it.
//
// It is data without a clock, a lock or a goroutine: its owner tells it the time and guards
// it. Times must not go backwards.
type scheduler[K comparable] struct {
	debounce time.Duration         // quiet time after a trigger
	patience time.Duration         // longest that debouncing can put off a run
	own      func(K) K             // makes a key fit to be kept, once per entry; nil keeps it as it is
	rank     func(Reason) Priority // nil gives all runs the same

	entries table[K]
	timed   timeHeap[K]
	due     dueQueue[K]
	running int
	order   uint64
	free    *entry[K]
	spare   int // length of the free list
}

// maxSpare bounds the free list, so that one burst of keys is not kept for good.
const maxSpare = 1024

func newScheduler[K comparable](debounce, patience time.Duration) *scheduler[K] {
	return &scheduler[K]{debounce: debounce, patience: patience, entries: newTable[K]()}
}

// trigger asks for a run of key as soon as the debounce allows. A run that is due already
// covers it.
func (s *scheduler[K]) trigger(now moment, key K, reason Reason) {
	e := s.entry(key)
	limit := now.after(s.patience)
	if e.place != idle {
		if e.at <= now {
			s.raise(e, reason)
			return
		}
		limit = min(limit, e.limit)
	}
	s.plan(now, e, min(now.after(s.debounce), limit), limit, reason)
}

// schedule asks for a run of key once delay has passed. A run planned for an earlier time
// covers it. Debouncing never pushes a run beyond a time asked for here.
func (s *scheduler[K]) schedule(now moment, key K, delay time.Duration, reason Reason) {
	s.request(now, s.entry(key), delay, reason)
}

func (s *scheduler[K]) request(now moment, e *entry[K], delay time.Duration, reason Reason) {
	at := now.after(delay)
	if e.place != idle && e.at <= at {
		e.limit = min(e.limit, at)
		if at <= now {
			s.raise(e, reason)
		}
		return
	}
	s.plan(now, e, at, at, reason)
}

// next takes the key whose turn it is and marks it running. It returns nil when none is due.
func (s *scheduler[K]) next(now moment) *entry[K] {
	s.advance(now)
	e := s.due.pop()
	if e == nil {
		return nil
	}
	e.place, e.running = idle, true
	s.running++
	return e
}

// outcome is what came of a run.
type outcome struct {
	failed bool          // counts one more failure; a success resets the count
	none   bool          // the run did not take place: it is neither
	again  bool          // plan another run, delay from now
	delay  time.Duration // for again
	reason Reason        // for again
}

// finish ends the run of e, and plans what was asked for meanwhile.
func (s *scheduler[K]) finish(now moment, e *entry[K], o outcome) {
	s.running--
	e.running = false
	switch {
	case o.none:
	case !o.failed:
		e.failures = 0
	case e.failures < math.MaxInt32:
		e.failures++
	}
	if o.again {
		s.request(now, e, o.delay, o.reason)
	}
	if e.place == parked {
		s.plan(now, e, e.at, e.limit, e.reason)
	}
	s.release(e)
}

// forget drops the failures of key and the run that waits for its time: the object is gone. A
// run that is due, or that follows the running one, is left.
func (s *scheduler[K]) forget(key K) {
	e := s.find(key)
	if e == nil {
		return
	}
	e.failures = 0
	if e.place == timed {
		s.timed.remove(e.index)
		e.place = idle
	}
	s.release(e)
}

// wakeAt returns when the next key becomes due; ok is false when none waits for its time.
func (s *scheduler[K]) wakeAt() (at moment, ok bool) {
	if len(s.timed) == 0 {
		return 0, false
	}
	return s.timed[0].at, true
}

// advance moves what became due to the queue, in the order of its times.
func (s *scheduler[K]) advance(now moment) {
	for len(s.timed) > 0 && s.timed[0].at <= now {
		e := s.timed[0].entry
		s.timed.remove(0)
		s.enqueue(e)
	}
}

func (s *scheduler[K]) priorityOf(reason Reason) Priority {
	if s.rank == nil {
		return Normal
	}
	return s.rank(reason)
}

// raise has the planned run of e, which is due, take the priority of another reason for it if
// that is higher.
func (s *scheduler[K]) raise(e *entry[K], reason Reason) {
	p := s.priorityOf(reason)
	if p <= e.priority {
		return
	}
	if e.place != due {
		e.priority = p
		return
	}
	s.due.remove(e)
	e.priority = p
	s.due.push(e)
}

// plan sets when e runs, and puts it where it belongs. The run has the highest priority of all
// that were merged into it.
func (s *scheduler[K]) plan(now moment, e *entry[K], at, limit moment, reason Reason) {
	if p := s.priorityOf(reason); e.place == idle || p > e.priority {
		e.priority = p
	}
	e.at, e.limit, e.reason = at, limit, reason
	switch {
	case e.running:
		e.place = parked
	case at <= now:
		if e.place == timed {
			s.timed.remove(e.index)
		}
		s.advance(now) // what was due before goes first
		s.enqueue(e)
	default:
		s.wait(e)
	}
}

// wait puts e in the heap, or at its new place there.
func (s *scheduler[K]) wait(e *entry[K]) {
	s.order++
	p := planned[K]{at: e.at, order: s.order, entry: e}
	if e.place == timed {
		s.timed[e.index] = p
		s.timed.settle(e.index)
		return
	}
	e.place = timed
	s.timed.push(p)
}

func (s *scheduler[K]) enqueue(e *entry[K]) {
	e.place = due
	s.due.push(e)
}

// find returns the entry of key, or nil.
func (s *scheduler[K]) find(key K) *entry[K] {
	return s.entries.get(key, s.entries.hash(key))
}

// entry returns the entry of key, a new one where there is none.
func (s *scheduler[K]) entry(key K) *entry[K] {
	hash := s.entries.hash(key)
	if e := s.entries.get(key, hash); e != nil {
		return e
	}
	e := s.free
	if e == nil {
		e = new(entry[K])
	} else {
		s.free, e.next = e.next, nil
		s.spare--
	}
	if s.own != nil {
		key = s.own(key)
	}
	e.key, e.hash = key, hash
	s.entries.put(e)
	return e
}

// release gives e back when there is nothing left to know of its key.
func (s *scheduler[K]) release(e *entry[K]) {
	if e.place != idle || e.running || e.failures > 0 {
		return
	}
	s.entries.remove(e)
	*e = entry[K]{}
	if s.spare < maxSpare {
		e.next, s.free = s.free, e
		s.spare++
	}
}
