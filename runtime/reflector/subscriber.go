package reflector

import (
	"sync"
	"sync/atomic"

	"github.com/go-kube/kube/resource"
)

// subscriber is what one follower of a cache has not been told yet. It holds entries, not
// versions of objects: what an entry holds when the follower comes for it counts. So a slow
// follower costs a pointer per object that changed, however often it changed.
type subscriber struct {
	wake chan struct{} // holds a token while there may be something to tell
	home atomic.Pointer[cache]

	// What follows is guarded by cache.mu.

	started bool // it is told what happens
	hurried bool // it begins without those parts that are not there

	mu     sync.Mutex
	replay []*entry // what was there at first, told before anything else
	// queue has the entries in the order of their first change. Those that are no longer in
	// pending were told already.
	queue   []*entry
	pending map[*entry]news
	most    int // how many pending there were at most since it was made
	// gone has the deletions that were not told yet. Of a name that is created and deleted
	// over and over the first and the last count, since nothing in between was told.
	gone map[key]*deletions
	// former has the deletions that are told behind a snapshot, and are from before it.
	former []*entry

	// What follows is for one who is told as a watch would tell it: see cache.events.

	follows bool
	telling telling // of the snapshot in replay
	version string  // how far it is told to have come; while replay is told, with its end
}

// telling is how much of a snapshot was told.
type telling uint8

const (
	complete telling = iota // or there is none yet
	toBegin
	within
)

// deletions are the entries of one name whose deletion is pending; last may be nil.
type deletions struct{ first, last *entry }

// news is what happened to an entry.
type news uint8

const (
	isInitial news = iota + 1 // it was there at first
	isChanged
	isDeleted
)

// maxKept is how many pending changes a map may have had that is kept for the next ones: maps
// do not shrink.
const maxKept = 1024

func newSubscriber() *subscriber {
	return &subscriber{wake: make(chan struct{}, 1), pending: map[*entry]news{}, gone: map[key]*deletions{}}
}

func (s *subscriber) signal() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// len returns how many changes are waiting.
func (s *subscriber) len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.replay) + len(s.pending)
}

// start has s told of what is in c. The caller holds its mu.
func (s *subscriber) start(c *cache) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.started = true
	if s.follows {
		s.telling, s.version = toBegin, c.lowest()
		s.putBehind()
	}
	s.replay = make([]*entry, 0, c.objects)
	for _, p := range c.parts {
		for e := range p.table.all() {
			s.replay = append(s.replay, e)
		}
	}
	s.signal()
}

// putBehind has the deletions that were not told yet be told behind the snapshot that begins, in which the same
// names may have another life that ends as well. Those that an earlier snapshot has overtaken already are forgotten.
func (s *subscriber) putBehind() {
	for _, e := range s.former {
		delete(s.pending, e)
	}
	s.former = nil
	for _, d := range s.gone {
		if s.former = append(s.former, d.first); d.last != nil {
			s.former = append(s.former, d.last)
		}
	}
	clear(s.gone)
}

// applied takes in that e was added or has another version, or that it is there (isInitial). The
// caller holds cache.mu.
func (s *subscriber) applied(e *entry, n news) {
	if !s.started {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, known := s.pending[e]; !known {
		s.push(e, n)
	}
}

// deleted takes in that e is gone. The caller holds cache.mu.
func (s *subscriber) deleted(e *entry) {
	if !s.started {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop(e)
}

// drop is deleted. The caller holds mu too.
func (s *subscriber) drop(e *entry) {
	if _, known := s.pending[e]; known {
		s.pending[e] = isDeleted
	} else {
		s.push(e, isDeleted)
	}
	k := e.key()
	d := s.gone[k]
	if d == nil {
		s.gone[k] = &deletions{first: e}
		return
	}
	if d.last != nil {
		delete(s.pending, d.last)
	}
	d.last = e
}

func (s *subscriber) push(e *entry, n news) {
	s.pending[e] = n
	s.most = max(s.most, len(s.pending))
	if len(s.queue) > 2*len(s.pending)+64 {
		s.compact()
	}
	s.queue = append(s.queue, e)
	s.signal()
}

// compact drops what was told already from the queue.
func (s *subscriber) compact() {
	kept := s.queue[:0]
	for _, e := range s.queue {
		if _, ok := s.pending[e]; ok {
			kept = append(kept, e)
		}
	}
	clear(s.queue[len(kept):])
	s.queue = kept
}

// next returns the next thing to tell. The caller holds cache.mu for reading, so that what it
// says is what the store says.
func (s *subscriber) next() (raw *resource.Raw, n news, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if raw := s.nextReplay(); raw != nil {
		return raw, isInitial, true
	}
	for len(s.queue) > 0 {
		e := s.queue[0]
		s.queue[0] = nil
		s.queue = s.queue[1:]
		n, pending := s.pending[e]
		if !pending {
			continue
		}
		delete(s.pending, e)
		if n == isDeleted {
			s.told(e)
		}
		return e.raw, n, true
	}
	s.drained()
	return nil, 0, false
}

// drained gives memory back when all is told.
func (s *subscriber) drained() {
	s.queue, s.former = nil, nil
	if s.most > maxKept {
		s.pending, s.most = map[*entry]news{}, 0
	}
}

// nextReplay returns the next object that was there at the start. One that changed since is
// told once, here; one that is gone since is not told here, but its deletion will be.
func (s *subscriber) nextReplay() *resource.Raw {
	for len(s.replay) > 0 {
		last := len(s.replay) - 1
		e := s.replay[last]
		s.replay[last] = nil
		s.replay = s.replay[:last]
		if s.pending[e] == isDeleted {
			continue
		}
		delete(s.pending, e)
		return e.raw
	}
	s.replay = nil
	return nil
}

// told forgets a deletion that was passed on.
func (s *subscriber) told(e *entry) {
	k := e.key()
	d := s.gone[k]
	switch {
	case d == nil: // it is from before a snapshot
	case d.first == e && d.last == nil:
		delete(s.gone, k)
	case d.first == e:
		d.first, d.last = d.last, nil
	case d.last == e:
		d.last = nil
	}
}
