package controller

import (
	"hash/maphash"
	"slices"
	"time"

	"github.com/go-kube/kube/resource"
)

// loop is what is known of a key that runs, or has run a moment ago and written something.
type loop struct {
	running  bool
	counts   bool // the run is due to changes of objects
	changed  bool // the run has written something new
	kept     bool // is among those that are looked through
	foreign  bool // something that is no object triggered since the run began
	kind     loopKind
	began    time.Time     // the last run
	asked    time.Time     // when the reconciler wants to run again; zero for no such wish
	wroteAt  time.Time     // the end of the last run that wrote something new
	known    objectVersion // that the run began with
	wrote    []uint64      // versions, by this and earlier runs
	seen     []sighting
	before   []sighting // what was seen before the run
	echoes   int        // runs in a row that nothing but own writes triggered
	busy     int        // runs that wrote something new, without a longer pause than the interval between them
	evidence *evidence  // nil while there is no suspicion
	rested   time.Time  // until when there is to be none
	fought   []uint64   // objects of a contest
	foughtAt time.Time  // when it was seen last
}

// sighting is a version of an object, as a trigger.
type sighting struct{ object, version uint64 }

// objectVersion names a version of an object. It is hashed only where somebody wants to know.
type objectVersion struct {
	kind    *resource.Descriptor
	key     objectKey
	version string
}

// same reports whether v and other are one version of one object.
func (v objectVersion) same(other objectVersion) bool {
	return v.version == other.version && v.key == other.key && v.kind.GroupResource() == other.kind.GroupResource()
}

func (v objectVersion) sighting() sighting {
	object := hashObject(v.kind, v.key)
	return sighting{object, maphash.Comparable(hashSeed, [2]any{object, v.version})}
}

func hashObject(d *resource.Descriptor, key objectKey) uint64 {
	return maphash.Comparable(hashSeed, [4]string{d.Group, d.Plural, key.Namespace, key.Name})
}

// suspicious reports whether it is time to look what becomes of the writes.
func (l *loop) suspicious(now time.Time) bool {
	return l.kind == noLoop && l.evidence == nil && (l.echoes >= hotAfter-2 || l.busy >= hotAfter && now.After(l.rested))
}

// delay returns how long a run has to wait that is to be put off: until a pause is over since the
// last one that wrote, or until the reconciler wanted to run again.
func (l *loop) delay(now time.Time, pause time.Duration) time.Duration {
	wait := pause - now.Sub(l.wroteAt)
	if !l.asked.IsZero() {
		wait = min(wait, l.asked.Sub(now))
	}
	return wait
}

// slowed reports whether nothing triggered a key but what its loop consists of.
func (l *loop) slowed() bool {
	switch l.kind {
	case selfish:
		return l.triggered(l.own)
	case contest:
		return l.triggered(func(s sighting) bool { return l.own(s) || slices.Contains(l.fought, s.object) })
	}
	return false
}

// overtaken reports whether somebody else seems to write between the look and the write of each run, and nothing
// triggered the key but what these write. When the next run waits a little, what they have written is there to be found.
func (l *loop) overtaken() bool {
	return l.kind == noLoop && l.evidence.doubts() >= contestedAfter &&
		l.triggered(func(s sighting) bool { return l.own(s) || l.evidence.has(s.object) })
}

func (l *loop) own(s sighting) bool { return slices.Contains(l.wrote, s.version) }

// triggered reports whether nothing but certain versions triggered a key since its run began.
func (l *loop) triggered(by func(sighting) bool) bool {
	return !l.foreign && !slices.ContainsFunc(l.seen, func(s sighting) bool { return !by(s) })
}

// write notes the end of a run that has written something new.
func (l *loop) write(now time.Time, interval time.Duration) {
	if now.Sub(l.wroteAt) > interval {
		l.busy = 0
	}
	if l.wroteAt = now; l.counts {
		l.busy++
	}
}
