package reflector

import "github.com/go-kube/kube/resource"

// snapshot is the state of the server while it is read. Readers do not see it before it is
// complete. Objects that did not change keep their entries and bytes, so that reading
// everything anew takes little more memory than the store itself.
type snapshot struct {
	cache   *cache
	table   *table
	added   []*entry           // that the store does not have; some may be gone from table again
	changed map[*entry]content // what entries of the store will hold
}

func newSnapshot(c *cache) *snapshot {
	return &snapshot{cache: c, table: newTable(c.table.len), changed: map[*entry]content{}}
}

// apply adds a version of an object. The same object can come again.
func (s *snapshot) apply(raw *resource.Raw) {
	if !s.cache.named(raw) {
		return
	}
	namespace, name := raw.Namespace(), raw.Name()
	if e := s.table.get(namespace, name); e != nil && e.raw.UID() == raw.UID() && !s.cache.table.holds(e) {
		e.content = s.cache.content(raw) // new, and nobody has seen it yet
		return
	}
	e := s.cache.table.get(namespace, name)
	switch {
	case e == nil || e.raw.UID() != raw.UID():
		e = &entry{s.cache.content(raw)}
		s.added = append(s.added, e)
	case s.cache.same(e.content, raw):
		delete(s.changed, e)
	default:
		s.changed[e] = s.cache.content(raw)
	}
	s.table.put(e)
}

// remove takes an object out again.
func (s *snapshot) remove(raw *resource.Raw) {
	if e := s.table.remove(raw.Namespace(), raw.Name()); e != nil {
		delete(s.changed, e)
	}
}

// swapIn makes the snapshot the state of the store, and tells subscribers and indexes the
// difference.
func (s *snapshot) swapIn(version string) {
	c := s.cache
	vanished := s.vanished()
	c.mu.Lock()
	defer c.mu.Unlock()
	first := !c.isReady()
	c.table = s.table
	for _, e := range vanished {
		c.dropped(e, e.content)
	}
	for e, now := range s.changed {
		c.replace(e, now)
	}
	for _, e := range s.added {
		if c.table.holds(e) {
			c.added(e, first)
		}
	}
	c.advance(version)
	if first {
		close(c.ready)
	}
}

// vanished returns what the store has and the snapshot does not.
func (s *snapshot) vanished() (gone []*entry) {
	for e := range s.cache.table.all() {
		if !s.table.holds(e) {
			gone = append(gone, e)
		}
	}
	return gone
}
