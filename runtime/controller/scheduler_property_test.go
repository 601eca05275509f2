package controller

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// rankedModel is what a scheduler with priorities has to be equal to, with slices that are
// searched in place of a heap, lists and a hash table. model, in scheduler_test.go, says when
// a key runs; this one says in which order, too.
type rankedModel struct {
	keys    map[int]*rankedKey
	lanes   [lanes][]int // keys that are due, in their order
	passed  [lanes]int
	waiting []int // keys whose time has not come, in the order in which they were planned
}

type rankedKey struct {
	at       moment
	reason   Reason
	priority Priority
	place    place
	running  bool
	failures int
}

func (m *rankedModel) key(key int) *rankedKey {
	if m.keys[key] == nil {
		m.keys[key] = &rankedKey{}
	}
	return m.keys[key]
}

// request asks for a run at a time.
func (m *rankedModel) request(now moment, key int, at moment, reason Reason) {
	k := m.key(key)
	if k.place != idle && k.at <= at {
		if at <= now {
			m.raise(key, byName(reason))
		}
		return
	}
	m.plan(now, key, at, reason)
}

// raise gives a planned run a higher priority. One that is in a lane goes to the end of the other.
func (m *rankedModel) raise(key int, p Priority) {
	k := m.keys[key]
	if p <= k.priority {
		return
	}
	if k.place == due {
		lane := &m.lanes[k.priority-Low]
		*lane = slices.DeleteFunc(*lane, func(other int) bool { return other == key })
		m.lanes[p-Low] = append(m.lanes[p-Low], key)
	}
	k.priority = p
}

func (m *rankedModel) plan(now moment, key int, at moment, reason Reason) {
	k := m.keys[key]
	if p := byName(reason); k.place == idle || p > k.priority {
		k.priority = p
	}
	m.waiting = slices.DeleteFunc(m.waiting, func(other int) bool { return other == key })
	k.at, k.reason = at, reason
	switch {
	case k.running:
		k.place = parked
	case at <= now:
		m.advance(now)
		m.enqueue(key)
	default:
		k.place = timed
		m.waiting = append(m.waiting, key)
	}
}

func (m *rankedModel) enqueue(key int) {
	k := m.keys[key]
	k.place = due
	m.lanes[k.priority-Low] = append(m.lanes[k.priority-Low], key)
}

// advance moves what became due to the lanes, in the order of its times.
func (m *rankedModel) advance(now moment) {
	slices.SortStableFunc(m.waiting, func(a, b int) int { return int(m.keys[a].at - m.keys[b].at) })
	for len(m.waiting) > 0 && m.keys[m.waiting[0]].at <= now {
		key := m.waiting[0]
		m.waiting = m.waiting[1:]
		m.enqueue(key)
	}
}

// next takes the key whose turn it is: of the highest lane, unless a lower one was passed over
// eight times.
func (m *rankedModel) next(now moment) (key int, ok bool) {
	m.advance(now)
	chosen := -1
	for i := range m.lanes {
		if len(m.lanes[i]) > 0 && (chosen < 0 || m.passed[chosen] < patience) {
			chosen = i
		}
	}
	if chosen < 0 {
		return 0, false
	}
	for i := range chosen {
		if len(m.lanes[i]) > 0 {
			m.passed[i]++
		}
	}
	m.passed[chosen] = 0
	key = m.lanes[chosen][0]
	m.lanes[chosen] = m.lanes[chosen][1:]
	k := m.keys[key]
	k.place, k.running = idle, true
	return key, true
}

func (m *rankedModel) finish(now moment, key int, o outcome) {
	k := m.keys[key]
	k.running = false
	switch {
	case o.none:
	case o.failed:
		k.failures++
	default:
		k.failures = 0
	}
	if o.again {
		m.request(now, key, now+moment(o.delay), o.reason)
	}
	if k.place == parked {
		m.plan(now, key, k.at, k.reason)
	}
	m.release(key)
}

// forget drops the failures of a key, and its run if that is to be later.
func (m *rankedModel) forget(key int) {
	k := m.keys[key]
	if k == nil {
		return
	}
	k.failures = 0
	if k.place == timed {
		m.waiting = slices.DeleteFunc(m.waiting, func(other int) bool { return other == key })
		k.place = idle
	}
	m.release(key)
}

func (m *rankedModel) release(key int) {
	if k := m.keys[key]; k.place == idle && !k.running && k.failures == 0 {
		delete(m.keys, key)
	}
}

// wakeAt returns when the next key becomes due.
func (m *rankedModel) wakeAt() (at moment, ok bool) {
	for _, key := range m.waiting {
		if k := m.keys[key]; !ok || k.at < at {
			at, ok = k.at, true
		}
	}
	return at, ok
}

func (m *rankedModel) differs(s *scheduler[int]) string {
	if s.entries.count != len(m.keys) {
		return fmt.Sprintf("%d entries, the model has %d", s.entries.count, len(m.keys))
	}
	for key, want := range m.keys {
		e := s.find(key)
		if e == nil || e.running != want.running || e.place != want.place || int(e.failures) != want.failures {
			return fmt.Sprintf("key %d is %+v, the model has %+v", key, e, *want)
		}
		if want.place != idle && (e.at != want.at || e.reason != want.reason || e.priority != want.priority) {
			return fmt.Sprintf("key %d is planned as %+v, the model has %+v", key, e, *want)
		}
	}
	queued := 0
	for i, keys := range m.lanes {
		e := s.due.lanes[i].head
		for _, key := range keys {
			if e == nil || e.key != key {
				return fmt.Sprintf("lane %d has %+v where the model has key %d", i, e, key)
			}
			e = e.next
		}
		if e != nil {
			return fmt.Sprintf("lane %d has %+v beyond the end of the model's", i, e)
		}
		queued += len(keys)
	}
	at, ok := s.wakeAt()
	if wantAt, want := m.wakeAt(); s.due.length != queued || ok != want || at != wantAt {
		return fmt.Sprintf("%d due, next at %d %t; the model has %d, %d %t", s.due.length, at, ok, queued, wantAt, want)
	}
	return ""
}

func TestSchedulerWithPrioritiesEqualsTheModel(t *testing.T) {
	for seed := range uint64(100) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			compareWithRankedModel(t, rand.New(rand.NewPCG(seed, 11)))
		})
	}
}

func compareWithRankedModel(t *testing.T, rnd *rand.Rand) {
	s := newScheduler[int](0, 0)
	s.rank = byName
	m := &rankedModel{keys: map[int]*rankedKey{}}
	keys, spread := 1+rnd.IntN(40), 1+rnd.IntN(30)
	running := map[int]*entry[int]{}
	now := moment(0)
	for step := range 3000 {
		key, delay := rnd.IntN(keys), time.Duration(rnd.IntN(spread))
		reason := because([]string{"low", "normal", "high"}[rnd.IntN(3)])
		switch op := rnd.IntN(12); {
		case op < 4:
			s.trigger(now, key, reason)
			m.request(now, key, now, reason)
		case op < 6:
			s.schedule(now, key, delay, reason)
			m.request(now, key, now+moment(delay), reason)
		case op < 8:
			e := s.next(now)
			want, ok := m.next(now)
			if ok != (e != nil) || ok && e.key != want {
				t.Fatalf("step %d, at %d: next = %+v, the model says %d %t", step, now, e, want, ok)
			}
			if ok {
				running[want] = e
			}
		case op < 10:
			if e := running[key]; e != nil {
				delete(running, key)
				o := outcome{failed: rnd.IntN(2) == 0, none: rnd.IntN(5) == 0, again: rnd.IntN(2) == 0, delay: delay, reason: reason}
				s.finish(now, e, o)
				m.finish(now, key, o)
			}
		case op < 11:
			s.forget(key)
			m.forget(key)
		default:
			now += moment(rnd.IntN(8))
		}
		if err := m.differs(s); err != "" {
			t.Fatalf("step %d, at %d: %s", step, now, err)
		}
	}
}

// However the priorities fall, no lane that has something waits for more than a few turns, and so
// each key that is due runs.
func TestSchedulerStarvesNothing(t *testing.T) {
	for seed := range uint64(20) {
		rnd := rand.New(rand.NewPCG(seed, 13))
		s := newScheduler[int](0, 0)
		s.rank = byName
		var waited [lanes]int
		for step := range 20_000 {
			for range 1 + rnd.IntN(2) {
				s.trigger(moment(step), rnd.IntN(1000), because([]string{"low", "normal", "high", "high", "high"}[rnd.IntN(5)]))
			}
			e := s.next(moment(step))
			for i := range waited {
				if waited[i]++; s.due.lanes[i].head == nil || Priority(i)+Low == e.priority {
					waited[i] = 0
				}
				if waited[i] > 2*(patience+1) {
					t.Fatalf("seed %d, step %d: priority %s has waited for %d turns", seed, step, Priority(i)+Low, waited[i])
				}
			}
			s.finish(moment(step), e, outcome{})
		}
	}
}
