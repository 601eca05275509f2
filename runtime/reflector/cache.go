package reflector

import (
	"log/slog"
	"sync"

	"github.com/go-kube/kube/internal/wire"
	"github.com/go-kube/kube/resource"
	"github.com/go-kube/kube/runtime/watcher"
)

// cache is the untyped inside of a [Reflector] and its [Store]: the objects, their indexes and
// those who follow them. One goroutine writes, the one in run; what it alone touches it does
// without the lock, so that decoding and comparing hold up no reader.
//
// Locks are taken in the order cache.mu, subscriber.mu.
type cache struct {
	decoder
	engine  *watcher.Engine
	onError func(error)
	log     *slog.Logger

	ready   chan struct{} // closed when the first snapshot is complete
	stopped chan struct{} // closed when run has returned

	maxBytes int64        // that are not reported; 0 is no limit
	reported int64        // size of the last report; of the writer
	building *snapshot    // the snapshot under way; of the writer
	packer   *wire.Packer // nil while there are few objects; of the writer

	mu          sync.RWMutex
	running     bool
	table       *table
	bytes       int64
	version     string
	indexed     []*indexed
	subscribers map[*subscriber]struct{}
	waiters     map[*waiter]struct{}
}

func newCache(d *resource.Descriptor, engine *watcher.Engine) *cache {
	c := &cache{
		engine:      engine,
		ready:       make(chan struct{}),
		stopped:     make(chan struct{}),
		table:       newTable(0),
		subscribers: map[*subscriber]struct{}{},
		waiters:     map[*waiter]struct{}{},
	}
	c.decoder = decoder{descriptor: d, report: c.failed}
	return c
}

// failed reports an object that does not decode.
func (c *cache) failed(err error) {
	c.log.Error("object does not decode", "error", err)
	if c.onError != nil {
		c.onError(err)
	}
}

// configure changes c before it runs. what names the method for the programmer who calls it too
// late.
func (c *cache) configure(what string, change func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running {
		panic("reflector: " + what + " was called after Run: it has to come before, so that it holds for all objects")
	}
	change()
}

func (c *cache) addIndex(x *index) {
	c.configure("Index", func() {
		for _, known := range c.indexed {
			if known.index == x {
				return
			}
		}
		added := &indexed{index: x, buckets: map[string]*bucket{}}
		if x.decodes {
			added.position = len(c.indexes)
			c.indexes = append(c.indexes, x)
		}
		c.indexed = append(c.indexed, added)
	})
}

// isReady reports whether the first snapshot is complete.
func (c *cache) isReady() bool {
	select {
	case <-c.ready:
		return true
	default:
		return false
	}
}

// get returns an object and what was made of it.
func (c *cache) get(namespace, name string) (content, bool) {
	if c.descriptor.Scope == resource.ClusterScoped {
		namespace = ""
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	e := c.table.get(keyOf(namespace, name))
	if e == nil {
		return content{}, false
	}
	return e.content, true
}

// missing is the error of reading an object that is not there.
func (c *cache) missing(namespace, name string) error {
	cause := ErrAbsent
	if !c.isReady() {
		cause = ErrNotReady
	}
	return &readError{c.descriptor.GroupResource().String(), namespace, name, cause}
}

// all returns the objects as they are at this moment.
func (c *cache) all() []*resource.Raw {
	c.mu.RLock()
	defer c.mu.RUnlock()
	all := make([]*resource.Raw, 0, c.table.len)
	for e := range c.table.all() {
		all = append(all, e.raw)
	}
	return all
}

// registered returns the content of an index.
func (c *cache) registered(x *index) *indexed {
	c.mu.RLock()
	defer c.mu.RUnlock()
	for _, known := range c.indexed {
		if known.index == x {
			return known
		}
	}
	panic("reflector: Lookup with an index that is not registered for " + c.descriptor.GroupResource().String() + "; call the reflector's Index method before Run")
}

// lookup returns the objects that have a value in an index.
func (c *cache) lookup(x *indexed, value string) []*resource.Raw {
	c.mu.RLock()
	defer c.mu.RUnlock()
	b := x.buckets[value]
	if b == nil {
		return nil
	}
	return b.append(make([]*resource.Raw, 0, b.len()))
}

func (c *cache) stats() Stats {
	c.mu.RLock()
	defer c.mu.RUnlock()
	s := Stats{Objects: c.table.len, Bytes: c.bytes, ResourceVersion: c.version, Subscribers: len(c.subscribers)}
	for sub := range c.subscribers {
		s.Pending = max(s.Pending, sub.len())
	}
	return s
}
