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

// plannedKey is a [QueueItem] without its type.
type plannedKey struct {
	key              objectKey
	running, planned bool
	at               time.Time
	reason           Reason
	priority         Priority
	failures         int
}

func (e *engine) queue() []plannedKey {
	r := e.runner.Load()
	if r == nil {
		return nil
	}
	var keys []plannedKey
	r.each(func(e *entry[objectKey]) {
		if e.place == idle && !e.running {
			return // only its failures are remembered
		}
		p := plannedKey{key: e.key, running: e.running, planned: e.place != idle, failures: int(e.failures)}
		if p.planned {
			p.at, p.reason, p.priority = r.start.Add(time.Duration(e.at)), e.reason, e.priority
		}
		keys = append(keys, p)
	})
	slices.SortFunc(keys, func(a, b plannedKey) int { return a.at.Compare(b.at) })
	return keys
}
