package reflector

import (
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/internal/wire"
	"github.com/go-kube/kube/resource"
	"github.com/go-kube/kube/runtime/watcher"
)

// cache is the untyped inside of a [Reflector] and its [Store]: the objects, their indexes and
// those who follow them. One goroutine writes, the one in run; what it alone touches it does
// without the lock, so that decoding and comparing hold up no reader.
//
// Locks are taken in the order joints.mu, cache.mu, subscriber.mu; of two caches that of the one which is
// left for the other first.
type cache struct {
	decoder
	engine  *watcher.Engine
	onError func(error)
	log     *slog.Logger
	given   bool  // the events come from a sequence of the program's
	invalid error // what is wrong with the options, beside those of the watch

	next    atomic.Pointer[cache] // that all have gone over to; nil while they have not
	ready   chan struct{}         // closed when the first snapshot is complete
	stopped chan struct{}         // closed when run has returned

	maxBytes int64        // that are not reported; 0 is no limit
	reported int64        // size of the last report; of the writer
	packer   *wire.Packer // nil while there are few objects; of the writer

	// namespaces says of which namespaces the store is; nil where one watch is for all of it.
	// Then whole is its part.
	namespaces Namespaces
	whole      *part
	reading    reading
	writing    sync.Mutex // makes one writer of several, where there are; taken before mu

	mu          sync.RWMutex
	running     bool
	known       bool             // which parts there are
	begun       bool             // ready is closed
	partly      bool             // some are told what there is although not begun
	parts       map[string]*part // by namespace
	objects     int
	bytes       int64
	indexed     []*indexed
	subscribers map[*subscriber]struct{}
	waiters     map[*waiter]struct{}
}

// newWatchCache returns a cache of what a watch of endpoint brings.
func newWatchCache(endpoint kube.Endpoint, opts *watcher.Options) *cache {
	c := newCache(endpoint.Descriptor())
	c.hear(watcher.NewEngine(endpoint.Keeping(c.kept), opts))
	return c
}

func newCache(kind *resource.Descriptor) *cache {
	c := &cache{
		ready:       make(chan struct{}),
		stopped:     make(chan struct{}),
		known:       true,
		subscribers: map[*subscriber]struct{}{},
		waiters:     map[*waiter]struct{}{},
	}
	c.decoder = decoder{descriptor: kind, report: c.failed}
	return c
}

// hear has c be of the events of engine.
func (c *cache) hear(engine *watcher.Engine) {
	c.engine, c.whole = engine, newPart(engine)
	c.reading.engine = engine
	c.parts = map[string]*part{"": c.whole}
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

// divide has c be of namespaces.
func (c *cache) divide(namespaces Namespaces) {
	c.namespaces, c.whole = namespaces, nil
	c.parts, c.known = map[string]*part{}, false
}

// now returns the cache that readers of c read.
func (c *cache) now() *cache {
	for next := c.next.Load(); next != nil; next = c.next.Load() {
		c = next
	}
	return c
}

// lockToRead returns the cache that readers of c read, locked for reading.
func (c *cache) lockToRead() *cache {
	for {
		c = c.now()
		c.mu.RLock()
		if c.next.Load() == nil {
			return c
		}
		c.mu.RUnlock()
	}
}

// lock is lockToRead for who changes it.
func (c *cache) lock() *cache {
	for {
		c = c.now()
		c.mu.Lock()
		if c.next.Load() == nil {
			return c
		}
		c.mu.Unlock()
	}
}

// state returns what the watches are doing.
func (c *cache) state() watcher.State {
	c = c.now()
	if c.namespaces != nil {
		return c.namespaces.state(c)
	}
	return c.reading.current().State()
}

// namespaceStates returns what the watch of each namespace is doing; nil where one watch is for all.
func (c *cache) namespaceStates() map[string]watcher.State {
	if c.namespaces == nil {
		return nil
	}
	return c.states()
}

// isReady reports whether the first snapshot is complete.
func (c *cache) isReady() bool {
	select {
	case <-c.now().ready:
		return true
	default:
		return false
	}
}

// get returns an object, and what was made of it where that is kept.
func (c *cache) get(namespace, name string) (content, bool) {
	namespace = c.namespaceOf(namespace)
	c = c.lockToRead()
	defer c.mu.RUnlock()
	p := c.part(namespace)
	if p == nil {
		return content{}, false
	}
	k := keyOf(namespace, name)
	if !c.keep {
		raw := p.table.object(k)
		return content{raw: raw}, raw != nil
	}
	return p.table.content(k)
}

// missing is the error of reading an object that is not there.
func (c *cache) missing(namespace, name string) error {
	return &readError{c.descriptor.GroupResource().String(), namespace, name, c.why(namespace)}
}

// all returns the objects as they are at this moment.
func (c *cache) all() []*resource.Raw {
	c = c.lockToRead()
	defer c.mu.RUnlock()
	return c.listed("")
}

// listed returns the objects of the part that keeps a namespace, or all where namespace is empty. The caller
// holds mu.
func (c *cache) listed(namespace string) (all []*resource.Raw) {
	if namespace != "" {
		if p := c.part(namespace); p != nil {
			return p.append(nil)
		}
		return nil
	}
	all = make([]*resource.Raw, 0, c.objects)
	for _, p := range c.parts {
		all = p.append(all)
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

func (c *cache) stats() Stats {
	c = c.lockToRead()
	defer c.mu.RUnlock()
	s := Stats{Objects: c.objects, Bytes: c.bytes, ResourceVersion: c.lowest(), Subscribers: len(c.subscribers)}
	for sub := range c.subscribers {
		s.Pending = max(s.Pending, sub.len())
	}
	return s
}
