package reflector

import "github.com/go-kube/kube/resource"

// snapshot is the state of a part on the server while it is read. Readers do not see it before it is
// complete. Objects that did not change keep their entries and bytes, so that reading
// everything anew takes little more memory than the store itself.
type snapshot struct {
	cache   *cache
	part    *part
	table   *table
	kept    int                // how many entries of table the store has
	added   []*entry           // that the store does not have; some may be gone from table again
	changed map[*entry]content // what entries of the store will hold
	bytes   int64              // of what was read and the store does not have yet
}

func newSnapshot(c *cache, p *part) *snapshot {
	return &snapshot{cache: c, part: p, table: newTable(p.table.len), changed: map[*entry]content{}}
}

// apply adds a version of an object. The same object can come again.
func (s *snapshot) apply(raw *resource.Raw) {
	c := s.cache
	if !c.named(raw) {
		return
	}
	k := keyOf(raw.Namespace(), raw.Name())
	known := s.part.table.get(k)
	switch {
	case known == nil || known.raw.UID() != raw.UID():
		e := &entry{s.hold(raw)}
		s.added = append(s.added, e)
		if s.table.put(k, e) == known && known != nil {
			s.drop(known)
		}
		return
	case c.unchanged(known.content, raw):
		delete(s.changed, known)
	default:
		s.changed[known] = s.hold(raw)
	}
	if s.table.put(k, known) != known {
		s.kept++
	}
}

// hold makes of raw what will be stored.
func (s *snapshot) hold(raw *resource.Raw) content {
	now := s.cache.hold(raw)
	s.bytes += int64(now.raw.Size())
	return now
}

// remove takes an object out again.
func (s *snapshot) remove(raw *resource.Raw) {
	k := keyOf(raw.Namespace(), raw.Name())
	if e := s.table.remove(k); e != nil && e == s.part.table.get(k) {
		s.drop(e)
	}
}

// drop notes that an entry of the store is not in the snapshot any more.
func (s *snapshot) drop(known *entry) {
	delete(s.changed, known)
	s.kept--
}

// swapIn makes the snapshot the state of the store, and tells subscribers and indexes the
// difference.
func (s *snapshot) swapIn(version string) {
	c, p := s.cache, s.part
	vanished := s.vanished()
	c.mu.Lock()
	defer c.mu.Unlock()
	n := isChanged
	if !p.synced {
		n = isInitial
	}
	p.table = s.table
	for _, e := range vanished {
		c.dropped(e, e.content)
	}
	for e, now := range s.changed {
		c.replace(p, e, now)
	}
	for _, e := range s.added {
		if p.table.get(e.key()) != e {
			continue
		}
		c.added(e)
		c.tell(e, n)
	}
	p.synced, p.version = true, version
	c.relisted()
	c.settle()
	c.advance(p, version)
}

// vanished returns what the store has and the snapshot does not.
func (s *snapshot) vanished() (gone []*entry) {
	if s.kept == s.part.table.len {
		return nil
	}
	for e := range s.part.table.all() {
		if s.table.get(e.key()) != e {
			gone = append(gone, e)
		}
	}
	return gone
}
