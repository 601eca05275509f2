package reflector

import (
	"context"
	"time"
)

// now returns the joint that has taken j over, or j. The caller holds mu of joints.
func (j *joint) now() *joint {
	for j.next != nil {
		j = j.next
	}
	return j
}

// takeOver has j, which is ready and has whole objects, take over the joints that have the metadata of the
// same: one watch and one store is enough for their readers. That happens when j has come as far as
// they have, since no reader may see the past again.
func (all *joints) takeOver(ctx context.Context, j *joint) {
	for ctx.Err() == nil {
		behind := all.takeOverNow(j)
		if behind == nil {
			return
		}
		j.cache.catchUp(ctx, behind)
	}
}

// maxCatchUp bounds the wait for a version: where a namespace has left the set, it does not come.
const maxCatchUp = time.Second

func (c *cache) catchUp(ctx context.Context, w *waiter) {
	ctx, cancel := context.WithTimeout(ctx, maxCatchUp)
	defer cancel()
	if c.waitVersion(ctx, w.namespace, w.version) != nil {
		<-ctx.Done() // or else the cache has ended, and ctx does
	}
}

// takeOverNow takes over what j is not behind, and returns what it has to wait for otherwise.
func (all *joints) takeOverNow(j *joint) (behind *waiter) {
	all.mu.Lock()
	defer all.mu.Unlock()
	if all.byKey[j.key] != j {
		return nil // the last one has left it
	}
	for k, from := range all.byKey {
		if !j.key.watch.Whole(k.watch) || j.key.namespaces != k.namespaces || k.maxBytes != 0 && k.maxBytes != j.key.maxBytes {
			continue
		}
		if w := j.cache.absorb(from.cache); w != nil {
			behind = w
			continue
		}
		all.merge(from, j)
	}
	return behind
}

// merge makes those who run from run j, and ends from. The caller holds mu.
func (all *joints) merge(from, j *joint) {
	for user := range from.users {
		j.users[user] = struct{}{}
	}
	clear(from.users)
	for m := range all.members[jointKey{watch: from.key.watch, namespaces: from.key.namespaces}] {
		if m.joint == from {
			m.joint = j
		}
	}
	from.next = j
	delete(all.byKey, from.key)
	from.stop()
	j.tasks.Go(func() {
		from.tasks.Wait()
		from.cache.release()
	})
}

// absorb has all who read and follow from do so with c, which has the same objects, and more of each. They
// are told what c has and from has not shown. It returns what c has to wait for where it is behind.
func (c *cache) absorb(from *cache) (behind *waiter) {
	from.mu.Lock()
	defer from.mu.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	if w := c.behindOf(from); w != nil {
		return w
	}
	from.next.Store(c)
	var d *difference
	for s := range from.subscribers {
		c.subscribers[s] = struct{}{}
		s.home.Store(c)
		switch {
		case s.follows || !s.started:
			s.forgetChanges() // a snapshot comes
			s.start(c)
			continue
		case d == nil:
			d = c.differenceTo(from)
		}
		s.rebase(c, d)
	}
	clear(from.subscribers)
	for w := range from.waiters {
		c.waiters[w] = struct{}{}
	}
	clear(from.waiters)
	c.wake()
	return nil
}

// behindOf returns what c has to wait for to show all that from has shown, or nil. The caller holds mu of
// both.
func (c *cache) behindOf(from *cache) *waiter {
	for namespace, p := range from.parts {
		is := c.parts[namespace]
		if p.synced && (is == nil || !is.synced || olderThan(is.version, p.version)) {
			return &waiter{namespace: namespace, version: p.version}
		}
	}
	return nil
}

// release gives back the memory of a cache that nobody writes and reads any more.
func (c *cache) release() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.parts, c.objects, c.bytes, c.packer = nil, 0, 0, nil
	if c.whole != nil {
		c.whole = newPart(c.engine)
	}
}

// difference is what a cache has in place of what another has.
type difference struct {
	gone    []*entry // of the other
	fresh   []*entry // that the other has not
	changed []*entry // that are another version of what the other has
}

// differenceTo returns what c has in place of what from has. The caller holds mu of both.
func (c *cache) differenceTo(from *cache) *difference {
	d := &difference{}
	for _, p := range c.parts {
		for e := range p.table.all() {
			switch was := from.twin(e); {
			case was == nil:
				d.fresh = append(d.fresh, e)
			case was.raw.ResourceVersion() != e.raw.ResourceVersion():
				d.changed = append(d.changed, e)
			}
		}
	}
	for _, p := range from.parts {
		for e := range p.table.all() {
			if c.twin(e) == nil {
				d.gone = append(d.gone, e)
			}
		}
	}
	return d
}

// twin returns the entry of c that is of the same object as e of another cache, or nil. The caller holds mu.
func (c *cache) twin(e *entry) *entry {
	p := c.part(e.raw.Namespace())
	if p == nil {
		return nil
	}
	if twin := p.table.get(e.key()); twin != nil && twin.raw.UID() == e.raw.UID() {
		return twin
	}
	return nil
}

// forgetChanges leaves the deletions of what s was not told yet.
func (s *subscriber) forgetChanges() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for e, n := range s.pending {
		if n != isDeleted {
			delete(s.pending, e)
		}
	}
}

// rebase has s, which has been told of another cache, be told of c: what it has not been told yet, and
// the difference between both. Deletions that it has not been told of stay as they are: c is as far.
// The caller holds mu of both.
func (s *subscriber) rebase(c *cache, d *difference) {
	s.mu.Lock()
	defer s.mu.Unlock()
	replayed := s.rebaseReplay(c)
	untold := map[*entry]news{}
	for e, n := range s.pending {
		if n == isDeleted {
			continue
		}
		delete(s.pending, e)
		if twin := c.twin(e); twin != nil && !replayed[twin] {
			untold[twin] = n
		}
	}
	for e, n := range untold {
		s.push(e, n)
	}
	for _, e := range d.gone {
		s.drop(e)
	}
	for _, e := range d.fresh {
		s.push(e, isChanged)
	}
	for _, e := range d.changed {
		if _, known := s.pending[e]; !known && !replayed[e] {
			s.push(e, isChanged)
		}
	}
}

// rebaseReplay has the objects of c be told that were there at first and were not told yet, and returns them.
func (s *subscriber) rebaseReplay(c *cache) map[*entry]bool {
	replayed := make(map[*entry]bool, len(s.replay))
	replay := s.replay[:0]
	for _, e := range s.replay {
		if twin := c.twin(e); twin != nil && s.pending[e] != isDeleted {
			replay = append(replay, twin)
			replayed[twin] = true
		}
	}
	clear(s.replay[len(replay):])
	s.replay = replay
	return replayed
}
