package controller

import (
	"context"
	"strconv"
	"sync"
	"time"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/resource"
)

// tracker knows the writes of each key that the watches have not shown yet, so that no key
// runs on a state from before its own last write.
//
// A key whose turn comes too early is parked: its run is planned for the end of its patience,
// and for at once as soon as the watches have shown everything. So it holds no worker.
//
// Its lock is taken before those of caches and sources, and not while the runner's is held.
type tracker struct {
	patience time.Duration           // negative: keys run whatever was shown
	release  func(objectKey, Reason) // has a parked key run

	mu     sync.Mutex
	own    *view // of the cache
	views  []*view
	keys   map[objectKey]*unseen
	parked int
	waited uint64 // how often a key was parked
	missed uint64 // how often patience ended first
}

// unseen is the writes of one key that were not shown yet.
type unseen struct {
	key    objectKey
	writes int
	until  time.Time
	parked bool
	reason Reason // of the parked run
}

func newTracker(patience time.Duration, own *view, release func(objectKey, Reason)) *tracker {
	own.active = true // nothing runs before the cache is complete
	return &tracker{patience: patience, release: release, own: own, views: []*view{own}, keys: map[objectKey]*unseen{}}
}

// change does something under the lock, and has the parked keys run that it returns.
func (t *tracker) change(f func() (free []*unseen)) {
	if t.patience < 0 {
		return
	}
	t.mu.Lock()
	free := f()
	t.mu.Unlock()
	for _, u := range free {
		t.release(u.key, u.reason)
	}
}

// wrote notes a write that a run of key has made.
func (t *tracker) wrote(key objectKey, w *kube.Write) {
	t.change(func() []*unseen {
		free := t.refresh()
		u := t.keys[key]
		if u == nil {
			u = &unseen{key: key} // which, being that of a run, has memory of its own
		}
		for _, v := range t.views {
			if t.await(v, w, u) {
				u.writes++
			}
		}
		if u.writes > 0 {
			u.until = time.Now().Add(t.patience)
			t.keys[u.key] = u
		}
		return free
	})
}

// await reports whether v will show w and has not yet. It will tell u.
func (t *tracker) await(v *view, w *kube.Write, u *unseen) bool {
	object := writtenKey(w)
	if !v.covers(w, object) {
		return false
	}
	if isDeletion(w) {
		return v.awaitDeletion(object, w.UID, u)
	}
	version, ok := parseVersion(w.ResourceVersion)
	return ok && v.await(object.Namespace, version, u)
}

func writtenKey(w *kube.Write) objectKey {
	if w.Kind.Scope == resource.ClusterScoped {
		return objectKey{Name: w.Name}
	}
	return objectKey{w.Namespace, w.Name}
}

func isDeletion(w *kube.Write) bool {
	return w.Verb == "delete" || w.Verb == "deletecollection" || w.Subresource == "eviction"
}

// park says whether a run of key has to wait, and for how long at most.
func (t *tracker) park(key objectKey, reason Reason) (patience time.Duration, wait bool) {
	t.change(func() []*unseen {
		u := t.keys[key]
		if u == nil {
			return nil
		}
		t.unpark(u) // this is its run, which nobody else has to start
		free := t.refresh()
		if t.keys[key] == nil {
			return free
		}
		patience = time.Until(u.until)
		if wait = patience > 0; !wait {
			t.missed++
			t.drop(u)
			return free
		}
		u.parked, u.reason = true, reason
		t.parked++
		t.waited++
		return free
	})
	return patience, wait
}

// refresh brings the views up to their caches, which may have come further than was noticed. The
// caller holds the lock.
func (t *tracker) refresh() (free []*unseen) {
	for _, v := range t.views {
		if v.version != nil || v.parts != nil {
			free = append(free, t.shown(v.refresh())...)
		}
	}
	return free
}

// noticed is told of a change that the cache of v shows. Only a cache of several namespaces may have
// shown with it what is waited for in vain elsewhere.
func (t *tracker) noticed(v *view) {
	if v.parts != nil {
		t.change(t.refresh)
	}
}

// follow notices how far the cache of v comes, while there is somebody to tell. waitFor is that
// of the cache.
func (t *tracker) follow(ctx context.Context, v *view, waitFor func(ctx context.Context, version string) error) {
	for ctx.Err() == nil {
		t.change(t.refresh)
		t.mu.Lock()
		nobody, next := len(v.versions) == 0, v.seen+1
		if !nobody && v.parts != nil {
			first := v.versions[0]
			t.mu.Unlock()
			if v.parts.wait(ctx, first) != nil {
				return
			}
			continue
		}
		t.mu.Unlock()
		if !nobody {
			if waitFor(ctx, strconv.FormatUint(next, 10)) != nil {
				return // ctx or the cache has ended
			}
			continue
		}
		select {
		case <-v.wake:
		case <-ctx.Done():
		}
	}
}

// advanced notes that the watch of a related kind has come to version; listed says that it did so
// by a complete list. Then it returns the keys with writes that no event has shown before: what
// they wrote may be gone already, and of an object that came and went while there was no watch, a
// list says nothing.
func (t *tracker) advanced(v *view, version string, listed bool) (unsure []objectKey) {
	number, ok := parseVersion(version)
	t.change(func() []*unseen {
		v.active = v.active || listed
		if !ok {
			return nil
		}
		reached := v.advance(number)
		if listed {
			for _, u := range reached {
				unsure = append(unsure, u.key)
			}
		}
		return t.shown(reached)
	})
	return unsure
}

// ended notes that v shows an object as gone, or as being deleted.
func (t *tracker) ended(v *view, key objectKey, uid uint64) {
	t.change(func() []*unseen { return t.shown(v.ended(key, uid)) })
}

// shown notes that writes were shown, and returns the parked keys that have no other. The
// caller holds the lock.
func (t *tracker) shown(writers []*unseen) (free []*unseen) {
	for _, u := range writers {
		if u.writes--; u.writes > 0 || t.keys[u.key] != u {
			continue
		}
		if u.parked {
			free = append(free, u)
		}
		t.drop(u)
	}
	return free
}

// drop forgets u. A watch that still knows it has nobody to tell.
func (t *tracker) drop(u *unseen) {
	delete(t.keys, u.key)
	t.unpark(u)
}

func (t *tracker) unpark(u *unseen) {
	if u.parked {
		u.parked = false
		t.parked--
	}
}

// forget drops what key waits for: its object is gone.
func (t *tracker) forget(key objectKey) {
	t.change(func() []*unseen {
		if u := t.keys[key]; u != nil {
			t.drop(u)
		}
		return nil
	})
}

// counts returns how many keys are parked, how often one was, and how often its patience ended.
func (t *tracker) counts() (parked int, waited, missed uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.parked, t.waited, t.missed
}
