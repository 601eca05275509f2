package controller

import (
	"hash/maphash"
	"slices"
	"sync"
	"time"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/resource"
)

const (
	// hotAfter is how many runs in a row have to be due to nothing but the own writes of the run
	// before. A reconciler that gets ahead takes a few: finalizer, children, conditions.
	hotAfter = 10
	// maxEchoes bounds what is remembered of the writes and triggers of a key.
	maxEchoes = 16
	// maxLoopFields is how many fields are named at most.
	maxLoopFields = 5
)

// loopDetector finds keys that run over and over because each run writes something that
// triggers the next, and spreads their runs.
//
// Keys of runs have memory of their own, so that they can be kept as they are.
//
// It knows a run of that sort by the versions: whatever triggered it is a version that a run of the
// same key wrote. Versions are hashed together with the object that they are of.
type loopDetector struct {
	interval time.Duration // between the runs of a key that is in a loop; negative: no matter
	report   func(key objectKey, fields []string)

	mu       sync.Mutex
	keys     map[objectKey]*loop
	ended    []endedRun // in the order of their ends
	free     []*loop
	reported map[objectKey]struct{}
	hot      int // keys in a loop
}

// loop is what is known of a key that runs, or has run a moment ago and written something.
type loop struct {
	running  bool
	changed  bool      // the run has written something new
	began    time.Time // the last run
	finished time.Time
	known    uint64   // the version that the run began with
	wrote    []uint64 // by this and earlier runs
	seen     []uint64 // versions that triggered since the run began
	foreign  bool     // something else did
	echoes   int      // runs in a row that nothing but own writes triggered
	hot      bool
	flips    *flips // from shortly before the loop is reported
}

type endedRun struct {
	key objectKey
	at  time.Time
}

func newLoopDetector(interval time.Duration, report func(objectKey, []string)) *loopDetector {
	return &loopDetector{interval: interval, report: report, keys: map[objectKey]*loop{}, reported: map[objectKey]struct{}{}}
}

// versionHash names a version of an object.
func versionHash(d *resource.Descriptor, key objectKey, version string) uint64 {
	return maphash.Comparable(hashSeed, [5]string{d.Group, d.Plural, key.Namespace, key.Name, version})
}

// begin notes that a run of key begins, with a version of its object. wait says for how long the run
// has to be put off instead.
func (d *loopDetector) begin(key objectKey, version uint64, reason Reason) (wait time.Duration) {
	if d.interval < 0 {
		return 0
	}
	fields, wait, found := d.judge(key, version, reason)
	if found {
		d.report(key, fields)
	}
	return wait
}

func (d *loopDetector) judge(key objectKey, version uint64, reason Reason) (fields []string, wait time.Duration, found bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := time.Now()
	l := d.keys[key]
	if l == nil {
		l = d.add(key)
	}
	since := now.Sub(l.began)
	switch {
	case l.triggeredByOthers() || !l.hot && since > d.interval:
		d.calm(l)
	case len(l.seen) > 0 && (reason.Kind == Updated || reason.Kind == Related):
		if l.hot && since < d.interval {
			return nil, d.interval - since, false
		}
		l.echoes++
	}
	if l.echoes == hotAfter-2 {
		l.flips = newFlips()
	}
	if l.echoes >= hotAfter && !l.hot {
		l.hot = true
		d.hot++
		_, before := d.reported[key]
		found, fields = !before, l.flips.fields
		d.reported[key] = struct{}{}
		if wait = d.interval - since; wait > 0 {
			return fields, wait, found
		}
	}
	l.running, l.changed, l.began, l.known, l.foreign = true, false, now, version, false
	l.seen = l.seen[:0]
	return fields, 0, found
}

// triggeredByOthers reports whether something was a trigger that no run of the key wrote.
func (l *loop) triggeredByOthers() bool {
	return l.foreign || slices.ContainsFunc(l.seen, func(v uint64) bool { return !slices.Contains(l.wrote, v) })
}

// calm notes that a key is not in a loop.
func (d *loopDetector) calm(l *loop) {
	if l.hot {
		d.hot--
	}
	l.hot, l.echoes, l.flips = false, 0, nil
}

func (d *loopDetector) add(key objectKey) *loop {
	var l *loop
	if n := len(d.free); n > 0 {
		l, d.free = d.free[n-1], d.free[:n-1]
	} else {
		l = &loop{}
	}
	d.keys[key] = l
	return l
}

func (d *loopDetector) remove(key objectKey, l *loop) {
	d.calm(l)
	delete(d.keys, key)
	if len(d.free) < maxSpare {
		*l = loop{wrote: l.wrote[:0], seen: l.seen[:0]}
		d.free = append(d.free, l)
	}
}

// wrote notes a write that a run of key has made.
func (d *loopDetector) wrote(key objectKey, w *kube.Write) {
	if d.interval < 0 || w.ResourceVersion == "" {
		return
	}
	version := versionHash(w.Kind, writtenKey(w), w.ResourceVersion)
	d.mu.Lock()
	defer d.mu.Unlock()
	l := d.keys[key]
	if l == nil || version == l.known || slices.Contains(l.wrote, version) {
		return // nothing has changed
	}
	if l.changed = true; len(l.wrote) == maxEchoes {
		l.wrote = slices.Delete(l.wrote, 0, 1)
	}
	l.wrote = append(l.wrote, version)
	if l.flips != nil {
		l.flips.add(w)
	}
}

// trigger notes that a version of an object triggers key.
func (d *loopDetector) trigger(key objectKey, version uint64) {
	if d.interval < 0 {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	l := d.keys[key]
	switch {
	case l == nil || slices.Contains(l.seen, version):
	case len(l.seen) == maxEchoes:
		l.foreign = true
	default:
		l.seen = append(l.seen, version)
	}
}

// other notes that something that is no object triggers key.
func (d *loopDetector) other(key objectKey) {
	if d.interval < 0 {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if l := d.keys[key]; l != nil {
		l.foreign = true
	}
}

// end notes that a run of key has ended. One that has written nothing has got where it wanted.
func (d *loopDetector) end(key objectKey) {
	if d.interval < 0 {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	now := time.Now()
	if l := d.keys[key]; l != nil && l.running {
		l.running = false
		if l.finished = now; l.changed {
			d.ended = append(d.ended, endedRun{key, now})
		} else {
			d.remove(key, l)
		}
	}
	d.sweep(now)
}

// sweep forgets the keys whose last run is so long ago that they are in no loop.
func (d *loopDetector) sweep(now time.Time) {
	n := 0
	for ; n < len(d.ended) && now.Sub(d.ended[n].at) > d.interval; n++ {
		e := d.ended[n]
		if l := d.keys[e.key]; l != nil && !l.running && !l.hot && l.finished.Equal(e.at) {
			d.remove(e.key, l)
		}
	}
	d.ended = d.ended[n:]
	if len(d.ended) == 0 {
		d.ended = nil
	}
}

// forget drops what is known of key: its object is gone.
func (d *loopDetector) forget(key objectKey) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.reported, key)
	if l := d.keys[key]; l != nil && !l.running {
		d.remove(key, l)
	}
}

func (d *loopDetector) looping() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.hot
}
