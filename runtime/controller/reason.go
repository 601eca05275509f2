package controller

import (
	"context"
	"fmt"
)

// ReasonKind says what kind of thing asked for a reconcile.
type ReasonKind uint8

const (
	// Unknown is the zero value: the context does not come from a controller.
	Unknown ReasonKind = iota
	// Found is an object that was there when the controller started.
	Found
	// Updated is an object that was created or changed.
	Updated
	// Deleted is an object that is gone; it is the reason of [Controller.OnDeleted].
	Deleted
	// Related is an owned or watched object that was created, changed or deleted; Resource,
	// Namespace and Name of the [Reason] say which.
	Related
	// Requested is a run that the reconciler asked for with [After].
	Requested
	// Retried is a run after a failed one.
	Retried
	// Everything is a run of all objects: [Controller.ReconcileAllOn], or a related kind whose
	// first list came in after the controller had started without it.
	Everything
	// Custom is a run that [Controller.ReconcileOn] asked for.
	Custom
	// Resync is a run because of [Options.Resync].
	Resync
)

// String returns the kind as it stands in logs.
func (k ReasonKind) String() string {
	switch k {
	case Unknown:
		return "unknown"
	case Found:
		return "object found"
	case Updated:
		return "object updated"
	case Deleted:
		return "object deleted"
	case Related:
		return "related object updated"
	case Requested:
		return "reconciler requested"
	case Retried:
		return "retry"
	case Everything:
		return "reconcile all"
	case Custom:
		return "custom"
	case Resync:
		return "resync"
	}
	return fmt.Sprintf("ReasonKind(%d)", uint8(k))
}

// Reason is why a reconcile runs. Of several triggers that were merged into one run it names
// the one that set the time of the run: the earliest, or under [Options.Debounce] the last.
type Reason struct {
	// Kind is the kind of the trigger.
	Kind ReasonKind
	// Resource is plural.group of the related object's kind, or the plural alone in the core
	// group; set for Related, and for Everything where a kind caused it.
	Resource string
	// Namespace and Name name the related object; set for Related, but for a run because the watch
	// has begun anew before it had shown what the object's own reconciler wrote.
	Namespace, Name string
}

// String returns the reason for people: "related object updated: pods default/web-0".
func (r Reason) String() string {
	switch {
	case r.Resource == "":
		return r.Kind.String()
	case r.Name == "":
		return r.Kind.String() + ": " + r.Resource
	case r.Namespace == "":
		return r.Kind.String() + ": " + r.Resource + " " + r.Name
	}
	return r.Kind.String() + ": " + r.Resource + " " + r.Namespace + "/" + r.Name
}

// ReasonFrom returns why the reconcile that ctx belongs to runs. A context from elsewhere
// gives the zero Reason, whose Kind is [Unknown].
func ReasonFrom(ctx context.Context) Reason {
	if run, ok := ctx.Value(runKey{}).(*runContext); ok {
		return run.reason
	}
	return Reason{}
}

// AttemptFrom returns which try the reconcile that ctx belongs to is: 1 at first, one more
// after each failure, and 1 again after a success. A context from elsewhere gives 0.
func AttemptFrom(ctx context.Context) int {
	if run, ok := ctx.Value(runKey{}).(*runContext); ok {
		return run.attempt
	}
	return 0
}

type runKey struct{}

// runContext is the context of one run. It carries what [ReasonFrom] and [AttemptFrom] tell
// in one allocation.
type runContext struct {
	context.Context
	reason  Reason
	attempt int
}

// Value implements [context.Context].
func (c *runContext) Value(key any) any {
	if _, ok := key.(runKey); ok {
		return c
	}
	return c.Context.Value(key)
}
