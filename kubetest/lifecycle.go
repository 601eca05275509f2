package kubetest

import (
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// lifecycle does what controllers do in a cluster: it collects garbage, and empties namespaces
// that are going. It follows the changes of the store, and acts before the request that made
// a change is answered. So it has no goroutine, and when a client has its answer, what follows
// from the request has happened, too.
type lifecycle struct {
	server *Server
	acting sync.Mutex // held while tasks are done
	defs   *definitions

	// What follows is guarded by store.mu, under which changes arrive.
	tasks      []task
	queued     map[task]bool
	dependents map[types.UID]map[place]struct{} // the objects that refer to an owner
	leaving    map[string]bool                  // the namespaces that are going
}

// place is where an object is.
type place struct {
	table *table
	key   key
}

// task is something to look at.
type task struct {
	what  taskKind
	place place
}

type taskKind uint8

const (
	collectTask    taskKind = iota // does the object have owners, or wait for dependents
	orphanTask                     // set the dependents of the object free
	namespaceTask                  // delete what is in the namespace
	definitionTask                 // serve what the custom resource definition defines
)

func newLifecycle(s *Server) *lifecycle {
	l := &lifecycle{
		server: s, queued: map[task]bool{}, dependents: map[types.UID]map[place]struct{}{}, leaving: map[string]bool{},
	}
	l.defs = &definitions{server: s, served: map[string]*definition{}}
	s.store.changes = l.observe
	return l
}

// observe follows a change. The store holds its lock.
func (l *lifecycle) observe(t *table, ev event) {
	p := place{t, ev.slot.key}
	l.observeNamespace(p, ev)
	l.observeDefinition(p, ev)
	if t.uncollected {
		return
	}
	l.index(p, ev)
	switch {
	case ev.deleted:
		l.addDependents(ev.object.meta.GetUID())
		l.addOwners(ev.object.meta)
	case ev.old == nil:
		if len(ev.object.meta.GetOwnerReferences()) > 0 {
			l.add(collectTask, p)
		}
		l.observeDeletion(p, nil, ev.object.meta)
	default:
		l.observeOwners(p, ev.old.meta, ev.object.meta)
		l.observeDeletion(p, ev.old.meta, ev.object.meta)
	}
}

// observeOwners looks at an object again whose owner references have changed, and at the
// owners that it had.
func (l *lifecycle) observeOwners(p place, old, m metav1.Object) {
	had, has := old.GetOwnerReferences(), m.GetOwnerReferences()
	if len(had) == 0 && len(has) == 0 || sameOwners(had, has) {
		return
	}
	l.add(collectTask, p)
	l.addOwners(old)
}

// observeDeletion notices that an object has begun to wait for the garbage collector.
func (l *lifecycle) observeDeletion(p place, old, m metav1.Object) {
	if m.GetDeletionTimestamp() == nil {
		return
	}
	begins := func(finalizer string) bool {
		return hasFinalizer(m, finalizer) && (old == nil || old.GetDeletionTimestamp() == nil || !hasFinalizer(old, finalizer))
	}
	if begins(metav1.FinalizerOrphanDependents) {
		l.add(orphanTask, p)
	}
	if begins(metav1.FinalizerDeleteDependents) {
		l.add(collectTask, p)
		l.addDependents(m.GetUID())
	}
}

// index keeps the dependents of each owner.
func (l *lifecycle) index(p place, ev event) {
	if ev.old != nil {
		for _, ref := range ev.old.meta.GetOwnerReferences() {
			delete(l.dependents[ref.UID], p)
			if len(l.dependents[ref.UID]) == 0 {
				delete(l.dependents, ref.UID)
			}
		}
	}
	if ev.deleted {
		return
	}
	for _, ref := range ev.object.meta.GetOwnerReferences() {
		if l.dependents[ref.UID] == nil {
			l.dependents[ref.UID] = map[place]struct{}{}
		}
		l.dependents[ref.UID][p] = struct{}{}
	}
}

func (l *lifecycle) addDependents(uid types.UID) {
	for p := range l.dependents[uid] {
		l.add(collectTask, p)
	}
}

// addOwners looks at the owners of an object, which may wait for it.
func (l *lifecycle) addOwners(m metav1.Object) {
	for _, ref := range m.GetOwnerReferences() {
		if k := l.server.kinds.catalog().byKind[gvkOf(ref)]; k != nil && k.table != nil {
			l.add(collectTask, place{k.table, ownerKey(k, ref, m.GetNamespace())})
		}
	}
}

func (l *lifecycle) add(what taskKind, p place) {
	t := task{what, p}
	if !l.queued[t] {
		l.queued[t] = true
		l.tasks = append(l.tasks, t)
	}
}

// next returns something to do.
func (l *lifecycle) next() (task, bool) {
	l.server.store.mu.Lock()
	defer l.server.store.mu.Unlock()
	if len(l.tasks) == 0 {
		return task{}, false
	}
	t := l.tasks[0]
	l.tasks = l.tasks[1:]
	delete(l.queued, t)
	return t, true
}

// idle reports whether there is nothing to do.
func (l *lifecycle) idle() bool {
	l.server.store.mu.RLock()
	defer l.server.store.mu.RUnlock()
	return len(l.tasks) == 0
}

// settle does what follows from the changes so far, and returns when it is done.
func (l *lifecycle) settle() {
	if l.idle() {
		return
	}
	l.acting.Lock()
	defer l.acting.Unlock()
	for t, ok := l.next(); ok; t, ok = l.next() {
		switch t.what {
		case collectTask:
			l.collect(t.place)
		case orphanTask:
			l.orphan(t.place)
		case namespaceTask:
			l.empty(t.place)
		case definitionTask:
			l.defs.look(t.place)
		}
	}
}

// dependentsOf returns where the dependents of an owner are, in order.
func (l *lifecycle) dependentsOf(uid types.UID) []place {
	l.server.store.mu.RLock()
	defer l.server.store.mu.RUnlock()
	places := make([]place, 0, len(l.dependents[uid]))
	for p := range l.dependents[uid] {
		places = append(places, p)
	}
	sortPlaces(places)
	return places
}
