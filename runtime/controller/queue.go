package controller

import (
	"slices"
	"time"

	"github.com/go-kube/kube/resource"
)

// QueueItem is a key of a controller that has something to do. See [Controller.Queue].
type QueueItem[K any] struct {
	// Ref names the object.
	Ref resource.Ref[K]
	// Running says that it is being reconciled, Planned that a run is to come: after the
	// running one, if there is one.
	Running, Planned bool
	// At is when the planned run is due. If that is in the past it waits for its turn.
	At time.Time
	// Reason and Priority are those of the planned run.
	Reason   Reason
	Priority Priority
	// Failures is how many runs have failed since the last success.
	Failures int
}

// plannedKey is what a runner has to do with a key.
type plannedKey[K comparable] struct {
	key              K
	running, planned bool
	at               time.Time
	reason           Reason
	priority         Priority
	failures         int
}

func (e *engine) queue() []plannedKey[objectKey] {
	if r := e.runner.Load(); r != nil {
		return r.queue()
	}
	return nil
}

// queue returns the keys that run or are to run, in the order of their times.
func (r *runner[K]) queue() (keys []plannedKey[K]) {
	r.each(func(e *entry[K]) {
		if e.place == idle && !e.running {
			return // only its failures are remembered
		}
		p := plannedKey[K]{key: e.key, running: e.running, planned: e.place != idle, failures: int(e.failures)}
		if p.planned {
			p.at, p.reason, p.priority = r.start.Add(time.Duration(e.at)), e.reason, e.priority
		}
		keys = append(keys, p)
	})
	slices.SortFunc(keys, func(a, b plannedKey[K]) int { return a.at.Compare(b.at) })
	return keys
}
