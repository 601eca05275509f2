package reflector

import (
	"context"
	"sync"

	"github.com/go-kube/kube/runtime/watcher"
)

// joints are the caches that reflectors of one client run together. They are kept with the client.
type joints struct {
	mu    sync.Mutex
	byKey map[jointKey]*joint
}

// jointKey is what reflectors have to have in common to share a cache.
type jointKey struct {
	watch      watcher.Key
	maxBytes   int64
	namespaces Namespaces
}

func (c *cache) jointKey() jointKey { return jointKey{c.engine.Key(), c.maxBytes, c.namespaces} }

// joint is a cache that reflectors run together. It is the own cache of the first of them.
type joint struct {
	cache *cache
	stop  context.CancelFunc
	ended chan struct{}
	users map[*source]struct{} // guarded by mu of joints
}

// joints returns where the shared caches of the client are.
func (s *source) joints() *joints {
	return s.own.engine.Endpoint().Client().Extension[joints]()
}

// join makes s one of those that run a cache, and starts it where s is the first.
func (s *source) join(ctx context.Context) *joint {
	key, all := s.own.jointKey(), s.joints()
	all.mu.Lock()
	defer all.mu.Unlock()
	j := all.byKey[key]
	if j == nil {
		j = s.begin(ctx)
		if all.byKey == nil {
			all.byKey = map[jointKey]*joint{}
		}
		all.byKey[key] = j
	}
	j.users[s] = struct{}{}
	return j
}

// begin starts the own cache of s for all. It lasts as long as there is anybody: the end of the
// first one's context is not its end.
func (s *source) begin(ctx context.Context) *joint {
	j := &joint{cache: s.own, ended: make(chan struct{}), users: map[*source]struct{}{}}
	s.joint.Store(j)
	ctx, j.stop = context.WithCancel(context.WithoutCancel(ctx))
	go func() {
		defer close(j.ended)
		defer j.cache.stop()
		j.cache.fill(ctx)
	}()
	return j
}

// leave undoes join. The last one stops the cache, and returns when that has ended.
func (s *source) leave(j *joint) {
	key, all := s.own.jointKey(), s.joints()
	all.mu.Lock()
	delete(j.users, s)
	last := len(j.users) == 0
	if last {
		delete(all.byKey, key)
	}
	all.mu.Unlock()
	if last {
		j.stop()
		<-j.ended
	}
}

// tellAll tells a failure of the own cache of s to everybody who uses it.
func (s *source) tellAll(err error) {
	for _, user := range s.audience() {
		if user.onError != nil {
			user.onError(err)
		}
	}
}

func (s *source) audience() []*source {
	j := s.joint.Load()
	if j == nil {
		return []*source{s}
	}
	all := s.joints()
	all.mu.Lock()
	defer all.mu.Unlock()
	users := make([]*source, 0, len(j.users))
	for user := range j.users {
		users = append(users, user)
	}
	return users
}
