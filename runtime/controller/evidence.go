package controller

import (
	"context"
	"encoding/json/v2"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/internal/codec"
	"k8s.io/apimachinery/pkg/types"
)

const (
	// maxTrails is how many objects are looked after per key.
	maxTrails = 16
	// recentRuns is for how many runs an object is looked after that none of them writes.
	recentRuns = 3
	// lookTimeout bounds the reading before a run.
	lookTimeout = 5 * time.Second
)

// evidence is what the runs of a key have written, and what was there before they wrote: to tell
// a reconciler whose writes are undone, and one that writes something new for no reason, from one
// that is busy.
//
// What a run left, what the next one finds and what that leaves say who did what. A field that is left
// with one value, found with another, and left with the first again was changed by somebody
// else and changed back. A write that leaves the version that was found has written nothing. The caches
// do not tell that: those of related kinds have no content, and all of them may be behind.
type evidence struct {
	trails    map[trailKey]*trail
	runs      int      // that have written something
	contested int      // of these, those that undid what somebody else did
	overtaken int      // of these, those that may have done so since they had looked
	fields    []string // that they have changed
}

// trailKey names an object and the form in which it is written.
type trailKey struct {
	kind        string
	key         objectKey
	scale, bare bool
}

// trail is what the runs of a key did to an object.
type trail struct {
	write  kube.Write // the last one, to read with
	name   string
	object uint64
	run    int   // the last that wrote it
	writes int   // in this run, that changed it
	left   state // by the run before
	found  state // when this run began
	now    state
	fought bool // ever, and what about
	how    contention
	fields []string
	by     []string
}

// state is an object at a time.
type state struct {
	known, gone bool
	uid         types.UID
	version     string
	content     any // as in JSON
}

// contention is what happens to an object that is written again and again.
type contention string

const (
	notContested contention = ""
	overwritten  contention = "changed"
	removed      contention = "deleted"
	restored     contention = "created again"
	remade       contention = "deleted and created again by the reconciler itself"
)

func newEvidence() *evidence { return &evidence{trails: map[trailKey]*trail{}} }

// contentOf returns an object as in JSON; nil for none.
func contentOf(obj any) (content any) {
	if obj == nil {
		return nil
	}
	data, err := codec.EncodeJSON(obj)
	if err != nil || json.Unmarshal(data, &content) != nil {
		return nil
	}
	return content
}

// add takes in a write. It reports false when it is known that it has changed nothing.
func (e *evidence) add(w *kube.Write, key objectKey, content any) bool {
	k := trailKey{w.Kind.GroupResource().String(), key, w.Subresource == "scale", w.Kind.MetadataOnly}
	t := e.trails[k]
	if t == nil {
		if len(e.trails) == maxTrails || content == nil && !isDeletion(w) {
			return true
		}
		k.key = k.key.owned()
		t = &trail{name: w.Kind.Kind + " " + k.key.String(), object: hashObject(w.Kind, key)}
		e.trails[k] = t
	}
	now := state{known: true, gone: isDeletion(w), uid: w.UID, version: strings.Clone(w.ResourceVersion), content: content}
	before := t.before()
	if before.same(now) {
		return false
	}
	if before.known && !before.gone && !now.gone && (t.left.known && !t.left.gone || t.writes > 0) {
		for _, path := range differing(before.content, now.content, nil) {
			e.fields = appendNew(e.fields, path.String())
		}
	}
	t.write, t.now = *w, now
	t.writes++
	t.write.Object, t.write.Name, t.write.Namespace = nil, k.key.Name, k.key.Namespace
	return true
}

// before returns how an object was before a write.
func (t *trail) before() state {
	switch {
	case t.writes > 0:
		return t.now
	case t.found.known:
		return t.found
	}
	return t.left
}

// same reports whether an object is known not to have changed.
func (s state) same(now state) bool {
	if !s.known || s.gone != now.gone {
		return false
	}
	return now.gone || s.uid == now.uid && s.version == now.version
}

// look reads the objects that the runs of key have written, while it is suspected; looked says that
// this took its time.
func (d *loopDetector) look(ctx context.Context, key objectKey) (looked bool) {
	reads := d.reads(key)
	if len(reads) == 0 {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	for t, w := range reads {
		found := read(ctx, w)
		d.mu.Lock()
		t.found = found
		d.mu.Unlock()
	}
	return true
}

// reads returns what there is to read.
func (d *loopDetector) reads(key objectKey) map[*trail]kube.Write {
	d.mu.Lock()
	defer d.mu.Unlock()
	l := d.keys[key]
	if l == nil || l.evidence == nil {
		return nil
	}
	reads := map[*trail]kube.Write{}
	for _, t := range l.evidence.trails {
		if t.fought || l.evidence.runs-t.run <= recentRuns {
			reads[t] = t.write
		}
	}
	return reads
}

// read returns the state of an object that was written. What cannot be read, for want of the right
// to for one thing, is not known.
func read(ctx context.Context, w kube.Write) state {
	obj, err := w.Read(ctx)
	switch {
	case errors.Is(err, kube.ErrNotFound):
		return state{known: true, gone: true}
	case err != nil:
		return state{}
	}
	return state{
		known: true, gone: isDeletion(&w) && obj.GetDeletionTimestamp() != nil,
		uid: obj.GetUID(), version: obj.GetResourceVersion(), content: contentOf(obj),
	}
}

// settle takes in the end of a run, and reports whether it undid something.
func (e *evidence) settle(changed bool) (contested bool) {
	if changed {
		e.runs++
	}
	overtaken := false
	for _, t := range e.sorted() {
		if t.writes > 0 {
			contested = e.judge(t) || contested
			overtaken = t.overtaken() || overtaken
			t.run, t.left = e.runs, t.now
		}
		t.writes, t.found, t.now = 0, state{}, state{}
	}
	switch {
	case contested:
		e.contested++
	case overtaken:
		e.overtaken++
	}
	return contested
}

// overtaken reports whether a run found what the one before had left, and has changed it with one write into the
// same: then somebody else has changed it after the look. Or it is a change that is in no content, such as that of
// a field manager's name.
func (t *trail) overtaken() bool {
	left, found, now := t.left, t.found, t.now
	return t.writes == 1 && !left.gone && left.same(found) && !now.gone && now.uid == found.uid &&
		len(differing(found.content, now.content, nil)) == 0
}

// has reports whether an object is among those that the runs have written.
func (e *evidence) has(object uint64) bool {
	for _, t := range e.trails {
		if t.object == object {
			return true
		}
	}
	return false
}

// doubts returns how many runs may have been triggered by their own writes, and still have had a reason to write.
func (e *evidence) doubts() int {
	if e == nil {
		return 0
	}
	return min(e.overtaken, contestedAfter)
}

// judge reports whether a run undid what somebody else has done to an object, or did again what it had done
// itself.
func (e *evidence) judge(t *trail) bool {
	how, paths := t.contention()
	if how == notContested {
		return false
	}
	t.fought, t.how = true, how
	for _, path := range paths {
		t.fields = appendNew(t.fields, path.String())
		t.by = appendNew(t.by, path.lost(t.found.content, t.now.content)...)
	}
	return true
}

// contention compares what the run before left, what this one found and what it left.
func (t *trail) contention() (how contention, paths []fieldPath) {
	left, found, now := t.left, t.found, t.now
	switch {
	case !left.known || !found.known || left.gone != now.gone:
		return notContested, nil
	case left.gone && !found.gone:
		return restored, nil
	case left.gone:
		return notContested, nil
	case found.gone:
		return removed, nil
	case now.uid != found.uid:
		if found.uid == left.uid && len(differing(left.content, now.content, inStatus)) == 0 {
			return remade, nil
		}
		return notContested, nil
	}
	if paths = undone(left.content, found.content, now.content); len(paths) > 0 {
		return overwritten, paths
	}
	return notContested, nil
}

// fought returns the objects of contests.
func (e *evidence) fought() (objects []uint64) {
	for _, t := range e.trails {
		if t.fought {
			objects = append(objects, t.object)
		}
	}
	return objects
}

// describe adds to a report what there is to say of a loop of its kind.
func (e *evidence) describe(r *loopReport) {
	if r.kind == selfish {
		r.fields = e.fields
	}
	for _, t := range e.sorted() {
		switch {
		case r.kind == selfish && t.left.known:
			r.written = appendNew(r.written, t.name)
		case r.kind == contest && t.fought:
			r.written = appendNew(r.written, t.name)
			r.how = appendNew(r.how, string(t.how))
			r.fields = appendNew(r.fields, t.fields...)
			r.by = appendNew(r.by, t.by...)
		}
	}
}

// sorted returns the trails in the order of their names.
func (e *evidence) sorted() []*trail {
	return slices.SortedFunc(maps.Values(e.trails), func(a, b *trail) int { return strings.Compare(a.name, b.name) })
}

// appendNew appends what is not there already, up to maxNamed.
func appendNew(list []string, more ...string) []string {
	for _, s := range more {
		if len(list) < maxNamed && !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	return list
}
