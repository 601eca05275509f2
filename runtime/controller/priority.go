package controller

import "fmt"

// Priority says which of the keys that are due run first when there is not room for all.
// See [Options.Priority].
type Priority int8

const (
	// Low is for what nobody waits for.
	Low Priority = iota - 1
	// Normal is the priority of changes.
	Normal
	// High goes before changes.
	High
)

// String returns the priority as it stands in logs.
func (p Priority) String() string {
	switch p {
	case Low:
		return "low"
	case Normal:
		return "normal"
	case High:
		return "high"
	}
	return fmt.Sprintf("Priority(%d)", int8(p))
}

// DefaultPriority is the rule where [Options.Priority] is nil: what concerns all objects at a
// time, when the controller starts, at a resync and for [Controller.ReconcileAllOn], is Low, so that a
// change does not wait for thousands of objects that are as they were. The rest is Normal.
func DefaultPriority(reason Reason) Priority {
	switch reason.Kind {
	case Found, Resync, Everything:
		return Low
	}
	return Normal
}

const (
	lanes = int(High-Low) + 1
	// patience is how many runs of higher priority go before a waiting one: a lane gets a ninth
	// of the runs whatever is above it, so that it is slow at worst and never stands still.
	patience = 8
)

// dueQueue holds the keys that can run now. The order of work is decided here and nowhere
// else: the highest priority first, and first in, first out within one.
type dueQueue[K comparable] struct {
	lanes  [lanes]lane[K]
	length int
}

// lane is the queue of one priority.
type lane[K comparable] struct {
	head, tail *entry[K]
	passed     int // how many runs of higher priority went before its first
}

func (q *dueQueue[K]) lane(p Priority) *lane[K] { return &q.lanes[p-Low] }

func (q *dueQueue[K]) push(e *entry[K]) {
	l := q.lane(e.priority)
	if l.tail == nil {
		l.head = e
	} else {
		l.tail.next, e.previous = e, l.tail
	}
	l.tail = e
	q.length++
}

func (q *dueQueue[K]) pop() *entry[K] {
	if q.length == 0 {
		return nil
	}
	e := q.choose().head
	q.remove(e)
	return e
}

// choose returns the lane whose turn it is: the highest that is not empty, unless a lower one has
// waited for long. The queue is not empty.
func (q *dueQueue[K]) choose() *lane[K] {
	chosen := -1
	for i := range q.lanes {
		if l := &q.lanes[i]; l.head != nil {
			chosen = i
			if l.passed >= patience {
				break
			}
		}
	}
	for i := range chosen {
		if l := &q.lanes[i]; l.head != nil {
			l.passed++
		}
	}
	q.lanes[chosen].passed = 0
	return &q.lanes[chosen]
}

// remove takes out e, which is in the queue. The first entry of a lane has no use for previous,
// and what that holds does not count: so taking the first does not touch the second, whose memory
// is not at hand.
func (q *dueQueue[K]) remove(e *entry[K]) {
	l := q.lane(e.priority)
	switch {
	case e == l.head:
		l.head = e.next
	case e.next != nil:
		e.next.previous = e.previous
		fallthrough
	default:
		e.previous.next = e.next
	}
	if e == l.tail {
		l.tail = e.previous
	}
	if l.head == nil {
		l.tail = nil
	}
	e.next, e.previous = nil, nil
	q.length--
}
