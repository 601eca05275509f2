package reflector

import (
	"maps"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/go-kube/kube/resource"
	"github.com/go-kube/kube/runtime/watcher"
)

// history is what a server went through, and two caches that hear of it, each at its time.
type history struct {
	model
	events []watcher.RawEvent
	states []map[string]*resource.Raw // after each of the events
}

func (h *history) grow(n int) {
	for range n {
		h.events = append(h.events, h.step())
		h.states = append(h.states, maps.Clone(h.objects))
	}
}

// listener is a cache and how many of the events it has heard.
type listener struct {
	*cache
	h  *history
	at int
}

// list has it take a snapshot of what is there after at events.
func (l *listener) list(at int) {
	l.at = at
	l.cache.take(l.whole, watcher.RawEvent{Type: watcher.Init})
	for _, raw := range l.h.states[at-1] {
		l.cache.take(l.whole, watcher.RawEvent{Type: watcher.InitApply, Object: l.kept(raw)})
	}
	l.cache.take(l.whole, watcher.RawEvent{Type: watcher.InitDone, ResourceVersion: l.h.events[at-1].ResourceVersion})
}

// hear has it hear of some of what comes next, or take a snapshot.
func (l *listener) hear(n int) {
	to := min(l.at+n, len(l.h.events))
	if l.h.random.IntN(10) == 0 && to > l.at {
		l.list(to)
	}
	for ; l.at < to; l.at++ {
		l.cache.take(l.whole, l.h.events[l.at])
	}
}

// hearer is who is told of changes, as [Reflector.Changes] does or as a feed.
type hearer struct {
	*subscriber
	t     *testing.T
	known map[string]*resource.Raw
	fresh map[string]*resource.Raw // of the snapshot under way
}

func newHearer(t *testing.T, c *cache, follows bool) *hearer {
	s := newSubscriber()
	s.follows = follows
	c.enlist(s)
	return &hearer{subscriber: s, t: t, known: map[string]*resource.Raw{}}
}

func (h *hearer) hear(n int) {
	for range n {
		if h.follows {
			event, ok := h.takeEvent()
			if !ok {
				return
			}
			h.follow(event)
			continue
		}
		raw, news, ok := h.take()
		if !ok {
			return
		}
		h.change(raw, news)
	}
}

// change takes in a change, and checks that it is one.
func (h *hearer) change(raw *resource.Raw, n news) {
	h.t.Helper()
	known := h.known[raw.Name()]
	switch {
	case n == isDeleted:
		if known != nil && known.UID() == raw.UID() {
			delete(h.known, raw.Name())
		}
		return
	case known != nil && known.UID() != raw.UID():
		h.t.Errorf("%s comes before %s is gone", text(raw), text(known))
	case known != nil && !olderThan(known.ResourceVersion(), raw.ResourceVersion()):
		h.t.Errorf("%s comes after %s", text(raw), text(known))
	}
	h.known[raw.Name()] = raw
}

func (h *hearer) follow(event watcher.RawEvent) {
	switch event.Type {
	case watcher.Init:
		h.fresh = map[string]*resource.Raw{}
	case watcher.InitApply:
		h.fresh[event.Object.Name()] = event.Object
	case watcher.InitDone:
		h.known = h.fresh
	case watcher.Apply:
		h.known[event.Object.Name()] = event.Object
	case watcher.Delete:
		if known := h.known[event.Object.Name()]; known != nil && known.UID() == event.Object.UID() {
			delete(h.known, event.Object.Name())
		}
	}
}

func texts(objects map[string]*resource.Raw) map[string]string {
	state := map[string]string{}
	for name, raw := range objects {
		state[name] = text(raw)
	}
	return state
}

// Whenever one cache takes over from another, however far each has come and however much of it was told
// already, those who follow hear of each change once and of nothing old, and in the end know what is there.
func TestAbsorbModel(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	absorbed := 0
	for round := range 300 {
		h := &history{model: model{t: t, random: random, objects: map[string]*resource.Raw{}}}
		h.grow(100)
		from, to := &listener{cache: benchmarked(t, nil), h: h}, &listener{cache: benchmarked(t, nil), h: h}
		var hearers []*hearer
		enlist := func() { hearers = append(hearers, newHearer(t, from.cache, random.IntN(2) == 0)) }
		enlist()
		from.list(1 + random.IntN(40))
		waiting := random.IntN(100)
		w, _ := from.await(everywhere, h.events[waiting].ResourceVersion)
		begun, taken := false, false
		for to.at < len(h.events) {
			switch {
			case !begun && random.IntN(4) == 0:
				to.list(1 + random.IntN(60))
				begun = true
			case begun:
				to.hear(random.IntN(20))
			}
			if !taken {
				from.hear(random.IntN(20))
			}
			if random.IntN(3) == 0 {
				enlist()
			}
			for _, l := range hearers {
				l.hear(random.IntN(30))
			}
			if begun && !taken && random.IntN(2) == 0 {
				behind := to.absorb(from.cache)
				if (behind == nil) != (to.at >= from.at) {
					t.Fatalf("round %d: behind %v at %d of %d", round, behind, to.at, from.at)
				}
				if taken = behind == nil; taken {
					from.release()
					absorbed++
				}
			}
		}
		if !taken {
			continue
		}
		for i, l := range hearers {
			l.hear(10_000)
			if diff := cmp.Diff(texts(h.objects), texts(l.known)); diff != "" {
				t.Errorf("round %d: hearer %d, follows %t (-model +known):\n%s", round, i, l.follows, diff)
			}
			if len(l.pending)+len(l.gone)+len(l.queue) > 0 {
				t.Errorf("round %d: hearer %d keeps %d pending, %d gone, %d queued", round, i, len(l.pending), len(l.gone), len(l.queue))
			}
			l.leave()
		}
		if w != nil {
			select {
			case <-w.done:
			default:
				t.Errorf("round %d: the version %d is still waited for at %d", round, waiting, to.at)
			}
		}
		if n := len(to.subscribers) + len(to.waiters) + len(from.subscribers) + len(from.waiters); n > 0 {
			t.Errorf("round %d: %d subscribers and waiters are left", round, n)
		}
		if got := from.stats(); got.ResourceVersion != strconv.Itoa(h.version) || got.Objects != len(h.objects) {
			t.Errorf("round %d: who reads the old cache sees %+v", round, got)
		}
		if t.Failed() {
			return
		}
	}
	if absorbed < 150 {
		t.Errorf("only %d of 300 rounds were of use", absorbed)
	}
}
