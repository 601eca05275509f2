package controller

import (
	"sync"
	"time"
)

// keyPaces keeps the runs of each key to a rate. What it knows of a key it forgets once the key
// has its whole burst again.
type keyPaces struct {
	fresh pace // of a key that has not run
	start time.Time

	mu    sync.Mutex
	paces map[objectKey]pace
	limit int // the size at which those are looked for that can be forgotten
}

// leastSwept is the size below which it is not worth to look.
const leastSwept = 1024

func newKeyPaces(r Rate) *keyPaces {
	return &keyPaces{fresh: newPace(r), start: time.Now(), paces: map[objectKey]pace{}, limit: leastSwept}
}

func (k *keyPaces) now() moment { return moment(time.Since(k.start)) }

// wait says how long a run of key has to be put off.
func (k *keyPaces) wait(key objectKey) time.Duration {
	if k.fresh.interval == 0 {
		return 0
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	now := k.now()
	p, known := k.paces[key]
	if !known {
		return 0
	}
	return time.Duration(p.free(now) - now)
}

// spend counts a run of key that begins. key has memory of its own.
func (k *keyPaces) spend(key objectKey) {
	if k.fresh.interval == 0 {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	now := k.now()
	p, known := k.paces[key]
	if !known {
		p = k.fresh
	}
	p.spend(now)
	k.paces[key] = p
	if len(k.paces) >= k.limit {
		k.sweep(now)
	}
}

// sweep forgets the keys that are as if they had never run.
func (k *keyPaces) sweep(now moment) {
	for key, p := range k.paces {
		if p.full <= now {
			delete(k.paces, key)
		}
	}
	k.limit = max(2*len(k.paces), leastSwept)
}
