package controller

import (
	"slices"
	"sync"
	"time"

	"github.com/go-kube/kube"
)

const (
	// hotAfter is how many runs in a row have to be due to nothing but the own writes of the run
	// before. A reconciler that gets ahead takes a few: finalizer, children, conditions. It is also how
	// many runs that write have to follow each other before it is looked what becomes of the writes.
	hotAfter = 10
	// contestedAfter is in how many runs somebody else's change has to be undone before that is
	// a contest, and watchedRuns within how many that write something. They are many more, since of two controllers
	// that run in step one looks before the other writes, and finds nothing until that is slowed down.
	contestedAfter, watchedRuns = 5, 20
	// stepAside is which part of the interval a run waits when the last ones were overtaken.
	stepAside = 10
	// restAfter is for how many intervals a key is not looked at again that was in no contest.
	restAfter = 10
	// lastsFor is after how many intervals a loop, or the suspicion of one, is over of which nothing was seen.
	// Of two controllers in a contest one is the first to be slowed down: the other one has to find it in what
	// happens once in an interval from then on.
	lastsFor = 2
	// maxEchoes bounds what is remembered of the writes and triggers of a key.
	maxEchoes = 64
)

// loopDetector finds keys that run over and over because each run writes something that
// triggers the next, and spreads their runs.
//
// Keys of runs have memory of their own, so that they can be kept as they are.
//
// There are two sorts of loop. In one, whatever triggers a run is a version that a run of the same key
// wrote; that is known by the versions. In the other, a contest, somebody else undoes what the runs
// write, and they write it again. Versions do not tell that from an input that changes often; so what becomes of
// the writes of a key that is busy is read again, for a few runs: see [evidence].
type loopDetector struct {
	interval time.Duration // between the runs of a key that is in a loop; negative: no matter
	report   func(loopReport)

	mu       sync.Mutex
	keys     map[objectKey]*loop
	kept     []keptLoop // that do not run, in the order of time
	free     []*loop
	reported map[objectKey]loopKind // all kinds together
	hot      int                    // keys in a loop
}

// loopKind is a sort of loop.
type loopKind uint8

const (
	noLoop  loopKind = 0
	selfish loopKind = 1 // nothing but its own writes triggers it
	contest loopKind = 2 // others undo what it writes
)

// loopReport is what is told of a loop.
type loopReport struct {
	kind    loopKind
	key     objectKey
	written []string // the objects
	fields  []string // that change, or are fought over
	how     []string // what happens to the objects that are fought over
	by      []string // the field managers who do it, where that is known
}

type keptLoop struct {
	key objectKey
	at  time.Time
}

func newLoopDetector(interval time.Duration, report func(loopReport)) *loopDetector {
	return &loopDetector{interval: interval, report: report, keys: map[objectKey]*loop{}, reported: map[objectKey]loopKind{}}
}

// begin notes that a run of key begins, with a version of its object. wait says for how long it has
// to be put off instead.
func (d *loopDetector) begin(key objectKey, known objectVersion, reason Reason) (wait time.Duration) {
	if d.interval < 0 {
		return 0
	}
	report, wait := d.judge(key, known, reason)
	if report.kind != noLoop {
		d.report(report)
	}
	return wait
}

func (d *loopDetector) judge(key objectKey, known objectVersion, reason Reason) (report loopReport, wait time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := time.Now()
	l := d.keys[key]
	if l == nil {
		l = d.add(key)
	}
	if d.over(l, now) {
		d.calm(l)
	}
	byObject := reason.Kind == Updated || reason.Kind == Related
	if wait = l.delay(now, d.interval); byObject && wait > 0 && l.slowed() {
		return report, wait
	}
	if aside := l.delay(now, d.interval/stepAside); byObject && aside > 0 && l.overtaken() {
		return report, aside
	}
	switch {
	case l.kind != noLoop:
	case !l.triggered(l.own):
		l.echoes = 0
	case byObject && len(l.seen) > 0:
		l.echoes++
	}
	if l.echoes >= hotAfter+l.evidence.doubts() && l.kind == noLoop {
		d.found(l, selfish)
		report = d.tell(key, l)
		if wait > 0 {
			return report, wait
		}
	}
	if l.suspicious(now) {
		l.evidence = newEvidence()
	}
	l.running, l.counts, l.changed, l.foreign = true, byObject, false, false
	l.began, l.known = now, known
	l.before, l.seen = l.seen, l.before[:0]
	return report, 0
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

// over reports whether what was seen of l is too long ago to have to do with a run that begins now.
func (d *loopDetector) over(l *loop, now time.Time) bool {
	switch l.kind {
	case contest:
		return now.Sub(l.foughtAt) > lastsFor*d.interval
	case selfish:
		return now.Sub(l.wroteAt) > lastsFor*d.interval
	}
	if l.evidence != nil {
		return now.Sub(l.began) > lastsFor*d.interval
	}
	return now.Sub(l.began) > d.interval
}

// found notes that l is a loop.
func (d *loopDetector) found(l *loop, kind loopKind) {
	if l.kind == noLoop {
		d.hot++
	}
	l.kind = kind
}

// tell returns what to report of the loop of key; nothing where that was reported before.
func (d *loopDetector) tell(key objectKey, l *loop) loopReport {
	if d.reported[key]&l.kind != 0 {
		return loopReport{}
	}
	d.reported[key] |= l.kind
	report := loopReport{kind: l.kind, key: key}
	if l.evidence != nil {
		l.evidence.describe(&report)
	}
	return report
}

// calm notes that a key is in no loop.
func (d *loopDetector) calm(l *loop) {
	if l.kind != noLoop {
		d.hot--
	}
	l.kind, l.echoes, l.busy, l.evidence, l.fought = noLoop, 0, 0, nil, nil
}

func (d *loopDetector) remove(key objectKey, l *loop) {
	d.calm(l)
	delete(d.keys, key)
	if len(d.free) < maxSpare {
		*l = loop{wrote: l.wrote[:0], seen: l.seen[:0], before: l.before[:0]}
		d.free = append(d.free, l)
	}
}

// knows notes that a run of key begins with a newer version than was thought.
func (d *loopDetector) knows(key objectKey, known objectVersion) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if l := d.keys[key]; l != nil {
		l.known = known
	}
}

// wrote notes a write that a run of key has made.
func (d *loopDetector) wrote(key objectKey, w *kube.Write) {
	if d.interval < 0 {
		return
	}
	var content any
	if d.suspects(key) {
		content = contentOf(w.Object)
	}
	object, version := writtenKey(w), w.ResourceVersion
	if version == "" { // a deletion, mostly
		version = "without " + string(w.UID)
	}
	written := objectVersion{w.Kind, object, version}
	d.mu.Lock()
	defer d.mu.Unlock()
	l := d.keys[key]
	if l == nil || l.evidence != nil && !l.evidence.add(w, object, content) {
		return
	}
	s := written.sighting()
	unnamed := w.ResourceVersion == "" && w.UID == "" // nobody says what was deleted, or changed
	if !unnamed && (written.same(l.known) || slices.Contains(l.wrote, s.version) || slices.Contains(l.before, s)) {
		return // nothing has changed
	}
	if l.changed = true; len(l.wrote) == maxEchoes {
		l.wrote = slices.Delete(l.wrote, 0, 1)
	}
	l.wrote = append(l.wrote, s.version)
}

// suspects reports whether evidence of key is gathered.
func (d *loopDetector) suspects(key objectKey) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	l := d.keys[key]
	return l != nil && l.evidence != nil
}

// trigger notes that a version of an object triggers key.
func (d *loopDetector) trigger(key objectKey, v objectVersion) {
	if d.interval < 0 {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	l := d.keys[key]
	if l == nil {
		return
	}
	s := v.sighting()
	switch {
	case slices.Contains(l.seen, s):
	case len(l.seen) == maxEchoes:
		l.foreign = true
	default:
		l.seen = append(l.seen, s)
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

// end notes that a run of key has ended, and what is to follow it.
func (d *loopDetector) end(key objectKey, o outcome) {
	if d.interval < 0 {
		return
	}
	if report := d.conclude(key, o); report.kind != noLoop {
		d.report(report)
	}
}

func (d *loopDetector) conclude(key objectKey, o outcome) (report loopReport) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := time.Now()
	if l := d.keys[key]; l != nil && l.running {
		l.running, l.asked, l.known = false, time.Time{}, objectVersion{}
		if o.again {
			l.asked = now.Add(o.delay)
		}
		report = d.weigh(key, l, now, o.failed)
		if !l.changed && l.kind == noLoop && now.Sub(l.wroteAt) > d.interval {
			d.remove(key, l)
		} else if !l.kept {
			l.kept = true
			d.kept = append(d.kept, keptLoop{key, now})
		}
	}
	d.sweep(now)
	return report
}

// weigh takes in what came of a run.
func (d *loopDetector) weigh(key objectKey, l *loop, now time.Time, failed bool) (report loopReport) {
	contested := l.evidence != nil && l.evidence.settle(l.changed)
	switch {
	case l.changed:
		l.write(now, d.interval)
	case !failed: // it has got where it wanted
		if l.echoes = 0; l.kind == selfish {
			d.calm(l)
		}
	}
	switch {
	case l.evidence == nil:
	case contested && (l.kind == contest || l.evidence.contested >= contestedAfter):
		d.found(l, contest)
		l.fought, l.foughtAt = l.evidence.fought(), now
		report = d.tell(key, l)
	case l.kind != contest && l.evidence.runs >= watchedRuns && (l.kind == selfish || l.echoes < hotAfter-2):
		l.evidence, l.rested = nil, now.Add(restAfter*d.interval)
	}
	return report
}

// sweep forgets the keys whose last run is so long ago that they are in no loop.
func (d *loopDetector) sweep(now time.Time) {
	n := 0
	for ; n < len(d.kept) && now.Sub(d.kept[n].at) > d.interval; n++ {
		key := d.kept[n].key
		l := d.keys[key]
		switch {
		case l == nil || !l.kept:
		case l.running || !d.over(l, now):
			d.kept = append(d.kept, keptLoop{key, now})
		default:
			d.remove(key, l)
		}
	}
	if d.kept = d.kept[n:]; len(d.kept) == 0 {
		d.kept = nil
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
	d.sweep(time.Now())
	return d.hot
}
