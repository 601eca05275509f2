package kubetest

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// store holds the objects of a server, and what they were. It stands where etcd and the watch
// caches stand in a real server, and has one revision counter as etcd has: every change of any
// object makes the next revision, which is the changed object's resource version.
//
// The methods of a store and its tables are safe for concurrent use.
type store struct {
	limit int           // how many changes a table remembers
	age   time.Duration // how long a table remembers a change

	mu       sync.RWMutex
	revision uint64
	advanced chan struct{}       // closed at the next change; nil while nobody waits for one
	changes  func(*table, event) // called with mu held

	namespaces *table // where namespaces are; set before the store is used
}

// newStore returns an empty store whose tables remember limit changes each, for age.
func newStore(limit int, age time.Duration) *store {
	return &store{limit: limit, age: age, revision: 1}
}

// Errors of a write. They say that the state is not the expected one.
var (
	errExists  = errors.New("the object exists")
	errChanged = errors.New("the object is not the expected one")
	// errNamespace says that the namespace of a new object is missing or going.
	errNamespace = errors.New("the namespace takes no new objects")
)

// current returns the newest revision.
func (st *store) current() uint64 {
	st.mu.RLock()
	defer st.mu.RUnlock()
	return st.revision
}

// wait returns the newest revision, and a channel that is closed when there is a newer one.
func (st *store) wait() (uint64, <-chan struct{}) {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.revision, waiting(&st.advanced)
}

// waiting returns the channel that signal closes.
func waiting(wake *chan struct{}) <-chan struct{} {
	if *wake == nil {
		*wake = make(chan struct{})
	}
	return *wake
}

func signal(wake *chan struct{}) {
	if *wake != nil {
		close(*wake)
		*wake = nil
	}
}

// key names an object within a table. The namespace of cluster-scoped objects is empty.
type key struct{ namespace, name string }

func compareKeys(a, b key) int {
	return cmp.Or(strings.Compare(a.namespace, b.namespace), strings.Compare(a.name, b.name))
}

// table holds the objects of one group and resource, in all versions of it.
type table struct {
	store    *store
	resource schema.GroupResource
	// uncollected says that the objects have no owners and no dependents that matter.
	uncollected bool

	// guarded by store.mu
	slots   map[key]*slot
	sorted  []*slot
	live    int
	history history
	wake    chan struct{} // closed at the next change of the table; nil while nobody waits for one
	over    chan struct{} // closed when watches have to end; nil while there is none

	// Where custom resources are kept, definitions and definedBy say where their definition is.
	definitions *table
	definedBy   string
}

// slot is the place of one object, with the versions of it that can still be read.
type slot struct {
	key      key
	versions []state // ascending; the last one is the state of now
}

// state is what an object is from a revision on; a nil object is none.
type state struct {
	revision uint64
	object   *object
}

func (s *slot) now() *object { return s.versions[len(s.versions)-1].object }

// at returns the object at a revision.
func (s *slot) at(revision uint64) *object {
	for i := len(s.versions) - 1; i >= 0; i-- {
		if s.versions[i].revision <= revision {
			return s.versions[i].object
		}
	}
	return nil
}

// newTable returns an empty table, which knows nothing of what was before.
func (st *store) newTable(resource schema.GroupResource) *table {
	st.mu.RLock()
	defer st.mu.RUnlock()
	return &table{store: st, resource: resource, slots: map[key]*slot{}, history: history{floor: st.revision}}
}

// get returns the newest state of an object, nil if there is none.
func (t *table) get(k key) *object {
	t.store.mu.RLock()
	defer t.store.mu.RUnlock()
	if s := t.slots[k]; s != nil {
		return s.now()
	}
	return nil
}

// getAt returns the state of an object at a revision, or at the oldest one that is remembered.
func (t *table) getAt(k key, revision uint64) *object {
	t.store.mu.RLock()
	defer t.store.mu.RUnlock()
	if s := t.slots[k]; s != nil {
		return s.at(max(revision, t.history.floor))
	}
	return nil
}

// put stores obj in place of expect, which is nil where there may be no object yet, and
// returns the stored version. It takes obj over, and writes its resource version. It fails
// with errExists, errChanged or errNamespace.
func (t *table) put(k key, expect *object, obj runtime.Object) (*object, error) {
	st := t.store
	st.mu.Lock()
	defer st.mu.Unlock()
	s := t.slots[k]
	if err := s.check(expect); err != nil {
		return nil, err
	}
	if expect == nil && k.namespace != "" && st.stateOfNamespace(k.namespace) != namespaceActive {
		return nil, errNamespace
	}
	st.revision++
	o := newObject(obj, st.revision)
	if s == nil {
		s = t.insert(k)
	}
	if expect == nil {
		t.live++
	}
	t.record(s, event{slot: s, revision: st.revision, at: time.Now(), old: expect, object: o})
	return o, nil
}

// remove deletes expect, and returns its last state with the resource version of the deletion.
// It fails with errChanged.
func (t *table) remove(k key, expect *object) (*object, error) {
	st := t.store
	st.mu.Lock()
	defer st.mu.Unlock()
	s := t.slots[k]
	if s == nil || expect == nil || s.now() != expect {
		return nil, errChanged
	}
	st.revision++
	last := newObject(expect.content.DeepCopyObject(), st.revision)
	t.live--
	t.record(s, event{slot: s, revision: st.revision, at: time.Now(), old: expect, object: last, deleted: true})
	return last, nil
}

// check reports whether the state of s is the expected one; s may be nil.
func (s *slot) check(expect *object) error {
	var now *object
	if s != nil {
		now = s.now()
	}
	switch {
	case now == expect:
		return nil
	case expect == nil:
		return errExists
	}
	return errChanged
}

func (t *table) insert(k key) *slot {
	s := &slot{key: k}
	t.slots[k] = s
	i, _ := slices.BinarySearchFunc(t.sorted, k, (*slot).compare)
	t.sorted = slices.Insert(t.sorted, i, s)
	return s
}

func (s *slot) compare(k key) int { return compareKeys(s.key, k) }

// record makes ev the newest change. The caller holds store.mu.
func (t *table) record(s *slot, ev event) {
	v := state{revision: ev.revision, object: ev.object}
	if ev.deleted {
		v.object = nil
	}
	s.versions = append(s.versions, v)
	t.history.add(ev)
	t.forget(ev.at)
	signal(&t.wake)
	signal(&t.store.advanced)
	if t.store.changes != nil {
		t.store.changes(t, ev)
	}
}

// forget drops what the table need not remember. The caller holds store.mu.
func (t *table) forget(now time.Time) {
	for h := &t.history; h.len() > t.store.limit || h.len() > 0 && now.Sub(h.first().at) > t.store.age; {
		t.prune(h.drop())
	}
}

// prune drops the versions of a slot that no revision from the floor on shows, and the slot
// when nothing is left of it.
func (t *table) prune(s *slot) {
	floor, keep := t.history.floor, 0
	for i, v := range s.versions {
		if v.revision <= floor {
			keep = i
		}
	}
	s.versions = slices.Delete(s.versions, 0, keep)
	if len(s.versions) > 1 || s.versions[0].object != nil || s.versions[0].revision > floor {
		return
	}
	delete(t.slots, s.key)
	if i, ok := slices.BinarySearchFunc(t.sorted, s.key, (*slot).compare); ok {
		t.sorted = slices.Delete(t.sorted, i, i+1)
	}
}

// snapshot is what a table held at a revision.
type snapshot struct {
	revision uint64
	objects  []*object
	more     int // how many objects come after those
}

// snapshot returns the objects at a revision, zero being now, of one namespace or all, whose
// keys come after from. Where limit is not zero it goes on until keep has accepted that many;
// keep may be nil. It reports false when the revision is not remembered any more.
func (t *table) snapshot(revision uint64, namespace string, from key, limit int64, keep func(*object) bool) (snapshot, bool) {
	t.store.mu.RLock()
	defer t.store.mu.RUnlock()
	if revision == 0 {
		revision = t.store.revision
	}
	snap := snapshot{revision: revision}
	if revision < t.history.floor || revision > t.store.revision {
		return snap, false
	}
	start, end := t.span(namespace, from)
	for _, s := range t.sorted[start:end] {
		o := s.at(revision)
		switch {
		case o == nil:
		case limit > 0 && int64(len(snap.objects)) == limit:
			snap.more++
		case keep == nil || keep(o):
			snap.objects = append(snap.objects, o)
		}
	}
	return snap, true
}

// span returns the range of t.sorted that a list looks at.
func (t *table) span(namespace string, from key) (start, end int) {
	end = len(t.sorted)
	if namespace != "" {
		start, _ = slices.BinarySearchFunc(t.sorted, key{namespace: namespace}, (*slot).compare)
		end, _ = slices.BinarySearchFunc(t.sorted, key{namespace: namespace + "\x00"}, (*slot).compare)
	}
	if from != (key{}) {
		after, found := slices.BinarySearchFunc(t.sorted, from, (*slot).compare)
		if found {
			after++
		}
		start = max(start, after)
	}
	return start, max(start, end)
}

// count returns how many objects there are.
func (t *table) count() int {
	t.store.mu.RLock()
	defer t.store.mu.RUnlock()
	return t.live
}

// formatRevision returns a revision as it stands in objects.
func formatRevision(revision uint64) string { return strconv.FormatUint(revision, 10) }
