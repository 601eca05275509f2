package reflector

import (
	"context"
	"sync"

	"github.com/go-kube/kube/runtime/watcher"
)

// joints are the caches that reflectors and feeds of one client run together. They are kept with the
// client.
type joints struct {
	mu      sync.Mutex
	byKey   map[jointKey]*joint
	members map[jointKey]map[*member]struct{} // the feeds that run
}

// jointKey is what reflectors have to have in common to share a cache.
type jointKey struct {
	watch      watcher.Key
	maxBytes   int64
	namespaces any // the key of theirs; nil where one watch is for all of them
}

func (c *cache) jointKey() jointKey {
	return jointKey{c.engine.Key(), c.maxBytes, keyOfNamespaces(c.namespaces)}
}

func keyOfNamespaces(n Namespaces) any {
	if n == nil {
		return nil
	}
	return n.key()
}

// serves reports whether what a joint with key k keeps does for feeds with key other.
func (k jointKey) serves(other jointKey) bool {
	return k.namespaces == other.namespaces && k.watch.Serves(other.watch)
}

// joint is a cache that several run together. It is the own cache of the first of them.
type joint struct {
	key   jointKey
	cache *cache
	stop  context.CancelFunc
	tasks sync.WaitGroup
	users map[*source]struct{} // guarded by mu of joints
	next  *joint               // that has taken this one over; guarded by mu of joints
}

// jointsOf returns where the shared caches of a client are.
func jointsOf(engine *watcher.Engine) *joints {
	return engine.Endpoint().Client().Extension[joints]()
}

// join makes s one of those that run a cache, and starts its own where there is none that will do.
func (s *source) join(ctx context.Context) *joint {
	key, all := s.own.jointKey(), jointsOf(s.own.engine)
	all.mu.Lock()
	j := all.find(key)
	late := j != nil
	if !late {
		j = all.begin(ctx, key, s)
	}
	j.cache.read(s.own.engine.Endpoint())
	j.users[s] = struct{}{}
	all.mu.Unlock()
	if late {
		s.greet(j.cache)
	}
	return j
}

// find returns the joint with a key, or else one that has whole what the key asks the metadata of.
// The caller holds mu.
func (all *joints) find(key jointKey) *joint {
	for k, j := range all.byKey {
		if k.watch.Whole(key.watch) && k.maxBytes == key.maxBytes && k.namespaces == key.namespaces {
			return j
		}
	}
	return all.byKey[key]
}

// begin starts the own cache of s for all. It lasts as long as there is anybody: the end of the
// first one's context is not its end. The caller holds mu.
func (all *joints) begin(ctx context.Context, key jointKey, s *source) *joint {
	j := &joint{key: key, cache: s.own, users: map[*source]struct{}{}}
	s.joint.Store(j)
	if all.byKey == nil {
		all.byKey = map[jointKey]*joint{}
	}
	all.byKey[key] = j
	ctx, j.stop = context.WithCancel(context.WithoutCancel(ctx))
	j.tasks.Go(func() {
		defer j.cache.stop()
		j.cache.fill(ctx)
	})
	j.tasks.Go(func() {
		select {
		case <-j.cache.ready:
			all.moveTo(j)
			all.takeOver(ctx, j)
		case <-j.cache.stopped:
		}
	})
	all.moveEarly(j)
	return j
}

// leave undoes join. The last one stops the cache, and returns when that has ended. OnError and the logger
// of s are not called after that.
func (s *source) leave(all *joints, j *joint) {
	all.mu.Lock()
	j = j.now()
	delete(j.users, s)
	last := len(j.users) == 0
	if last {
		delete(all.byKey, j.key)
	}
	all.mu.Unlock()
	s.telling <- struct{}{}
	s.left = true
	<-s.telling
	if last {
		j.stop()
		j.tasks.Wait()
	}
}

// tellAll tells a failure of the own cache of s to everybody who uses it.
func (s *source) tellAll(err error) {
	for _, user := range s.audience() {
		user.tell(err)
	}
}

func (s *source) tell(err error) {
	if s.onError != nil {
		s.unlessLeft(func() { s.onError(err) })
	}
}

// unlessLeft calls f, unless s has left. It does not leave meanwhile.
func (s *source) unlessLeft(f func()) {
	s.telling <- struct{}{}
	defer func() { <-s.telling }()
	if !s.left {
		f()
	}
}

func (s *source) audience() []*source {
	j := s.joint.Load()
	if j == nil {
		return []*source{s}
	}
	all := jointsOf(s.own.engine)
	all.mu.Lock()
	defer all.mu.Unlock()
	users := make([]*source, 0, len(j.users))
	for user := range j.users {
		users = append(users, user)
	}
	return users
}
