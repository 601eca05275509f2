package watcher

import (
	"fmt"

	"github.com/go-kube/kube/resource"
)

// EventType says what an event means.
type EventType uint8

const (
	// Init begins a snapshot: what a consumer has gathered of an unfinished one before it is
	// void. The snapshot before stays true until InitDone.
	Init EventType = iota + 1
	// InitApply is an object of the snapshot. An object can come more than once; the last
	// one counts.
	InitApply
	// InitDone ends a snapshot. Objects that were known before and are not in it are gone.
	InitDone
	// Apply is an object that was created or changed.
	Apply
	// Delete is an object that is gone, or that the selectors no longer select, in its last
	// state. Between Init and InitDone it takes an object out of the snapshot.
	Delete
	// Bookmark tells the newest resource version while nothing changes. Only an [Engine]
	// yields it.
	Bookmark
)

// String returns the name of the constant.
func (t EventType) String() string {
	names := [...]string{"", "Init", "InitApply", "InitDone", "Apply", "Delete", "Bookmark"}
	if t == 0 || int(t) >= len(names) {
		return fmt.Sprintf("EventType(%d)", uint8(t))
	}
	return names[t]
}

// Event is what a [Watcher] yields.
type Event[K any] struct {
	// Type is Init, InitApply, InitDone, Apply or Delete.
	Type EventType
	// Object is the object of InitApply, Apply and Delete; its zero value in the others.
	Object resource.Lazy[K]
	// ResourceVersion is the version that the consumer has reached with this event: that of the object
	// in Apply and Delete outside of a snapshot, of the whole in InitDone; empty in Init and within a
	// snapshot.
	ResourceVersion string
}

// RawEvent is what an [Engine] yields.
type RawEvent struct {
	// Type is one of all the constants, Bookmark included.
	Type EventType
	// Object is the object of InitApply, Apply and Delete; nil in the others.
	Object *resource.Raw
	// ResourceVersion is the version that the consumer has reached with this event: that of
	// the object in Apply and Delete outside of a snapshot, of the whole in InitDone, of the
	// server in Bookmark; empty in Init and within a snapshot.
	ResourceVersion string
}
