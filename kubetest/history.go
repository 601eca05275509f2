package kubetest

import (
	"slices"
	"sort"
	"time"
)

// event is one change of one object.
type event struct {
	slot     *slot
	revision uint64
	at       time.Time
	old      *object // what was there before; nil for a new object
	object   *object // what is there now; of a deletion, the last state at its revision
	deleted  bool
}

// history is what a table remembers: every change after the floor, in order.
type history struct {
	floor   uint64 // what can be read and watched from
	dropped uint64 // of the newest change that is forgotten, at or below the floor
	head    int    // of events; what is before it is dropped
	events  []event
}

func (h *history) len() int { return len(h.events) - h.head }

func (h *history) first() *event { return &h.events[h.head] }

func (h *history) add(ev event) {
	if h.head > 64 && h.head > len(h.events)/2 {
		h.events = slices.Delete(h.events, 0, h.head)
		h.head = 0
	}
	h.events = append(h.events, ev)
}

// drop forgets the oldest change and returns the slot that it was in.
func (h *history) drop() *slot {
	ev := h.first()
	s := ev.slot
	h.floor, h.dropped = ev.revision, ev.revision
	*ev = event{}
	h.head++
	return s
}

// after returns the changes after a revision. It reports false when some of them are forgotten.
func (h *history) after(revision uint64) ([]event, bool) {
	if revision < h.dropped {
		return nil, false
	}
	kept := h.events[h.head:]
	i := sort.Search(len(kept), func(i int) bool { return kept[i].revision > revision })
	return kept[i:], true
}

// changes returns a copy of the changes after a revision, but for those of the last lag
// revisions, the newest revision that it covers,
// and a channel that is closed at the next one. It reports false when some of the
// changes are forgotten.
func (t *table) changes(after, lag uint64, buffer []event) (events []event, upTo uint64, more <-chan struct{}, ok bool) {
	st := t.store
	st.mu.Lock()
	defer st.mu.Unlock()
	kept, ok := t.history.after(after)
	wake, upTo := &t.wake, st.revision
	if lag > 0 {
		// Changes of other tables count, too.
		wake, upTo = &st.advanced, st.revision-min(lag, st.revision)
		kept = kept[:sort.Search(len(kept), func(i int) bool { return kept[i].revision > upTo })]
	}
	return append(buffer[:0], kept...), upTo, waiting(wake), ok
}

// floor returns the oldest revision from which a watch can start.
func (t *table) floor() uint64 {
	t.store.mu.RLock()
	defer t.store.mu.RUnlock()
	return t.history.floor
}

// compact forgets every change of t, as if it had only now been read from disk.
func (t *table) compact() {
	t.store.mu.Lock()
	defer t.store.mu.Unlock()
	for t.history.len() > 0 {
		t.prune(t.history.drop())
	}
	t.history.floor = t.store.revision
}
