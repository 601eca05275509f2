package controller

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const second = moment(time.Second)

func because(name string) Reason { return Reason{Kind: Custom, Name: name} }

// drain runs every key that is due at now, and returns key:reason in the order of the runs.
func drain(s *scheduler[string], now moment) []string {
	var got []string
	for e := s.next(now); e != nil; e = s.next(now) {
		got = append(got, e.key+":"+e.reason.Name)
		s.finish(now, e, outcome{})
	}
	return got
}

func wantRuns(t *testing.T, s *scheduler[string], now moment, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, drain(s, now)); diff != "" {
		t.Errorf("runs at %s (-want +got):\n%s", time.Duration(now), diff)
	}
}

// wantEmpty checks that nothing is remembered of keys that have no more to do.
func wantEmpty(t *testing.T, s *scheduler[string]) {
	t.Helper()
	if s.entries.count != 0 || len(s.timed) != 0 || s.due.length != 0 || s.running != 0 {
		t.Errorf("left over: %d entries, %d timed, %d due, %d running", s.entries.count, len(s.timed), s.due.length, s.running)
	}
}

func TestSchedulerHeldKeysWaitAndAreReleased(t *testing.T) {
	s := newScheduler[string](0, 0)
	s.trigger(0, "a", because("1"))
	if e := s.find("a"); e == nil || e.place != due {
		t.Fatal("a triggered key is not pending while nobody takes it")
	}
	wantRuns(t, s, 5*second, "a:1")
	wantEmpty(t, s)
}

func TestSchedulerIgnoresARequestForAPendingKey(t *testing.T) {
	s := newScheduler[string](0, 0)
	s.trigger(0, "a", because("first"))
	s.trigger(second, "a", because("second"))
	s.schedule(second, "a", 0, because("third"))
	wantRuns(t, s, 2*second, "a:first")
	wantRuns(t, s, 3600*second)
	wantEmpty(t, s)
}

func TestSchedulerHeldKeyDoesNotBlockOthers(t *testing.T) {
	s := newScheduler[string](0, 0)
	s.trigger(0, "held", because("1"))
	held := s.next(0)
	s.trigger(0, "held", because("2"))
	s.trigger(0, "free", because("3"))
	wantRuns(t, s, 0, "free:3")
	s.finish(0, held, outcome{})
	wantRuns(t, s, 0, "held:2")
	wantEmpty(t, s)
}

func TestSchedulerEmitsWhenDue(t *testing.T) {
	s := newScheduler[string](0, 0)
	s.schedule(0, "one", time.Second, because(""))
	s.schedule(0, "three", 3*time.Second, because(""))
	if at, ok := s.wakeAt(); !ok || at != second {
		t.Errorf("wakeAt = %v, %t; want 1s", at, ok)
	}
	wantRuns(t, s, 0)
	wantRuns(t, s, second, "one:")
	wantRuns(t, s, 3*second-1)
	wantRuns(t, s, 3*second, "three:")
	if _, ok := s.wakeAt(); ok {
		t.Error("wakeAt has a time although nothing is planned")
	}
	wantEmpty(t, s)
}

func TestSchedulerMergesToTheEarliestTime(t *testing.T) {
	for _, order := range [][2]time.Duration{{time.Second, 3 * time.Second}, {3 * time.Second, time.Second}} {
		s := newScheduler[string](0, 0)
		s.schedule(0, "a", order[0], because(""))
		s.schedule(0, "a", order[1], because(""))
		wantRuns(t, s, second-1)
		wantRuns(t, s, second, "a:")
		wantRuns(t, s, 3600*second)
		wantEmpty(t, s)
	}
}

func TestSchedulerReasonOfTheEarliestWins(t *testing.T) {
	s := newScheduler[string](0, 0)
	s.schedule(0, "a", time.Second, because("early"))
	s.schedule(0, "a", 3*time.Second, because("late"))
	wantRuns(t, s, 10*second, "a:early")

	s.schedule(10*second, "a", 3*time.Second, because("late"))
	s.schedule(10*second, "a", time.Second, because("early"))
	wantRuns(t, s, 20*second, "a:early")

	s.schedule(20*second, "a", time.Second, because("retry"))
	s.trigger(20*second, "a", because("event"))
	wantRuns(t, s, 20*second, "a:event")
	wantRuns(t, s, 30*second)
	wantEmpty(t, s)
}

func TestSchedulerRunsAgainAfterEmission(t *testing.T) {
	s := newScheduler[string](0, 0)
	s.trigger(0, "a", because("1"))
	wantRuns(t, s, 0, "a:1")
	s.trigger(second, "a", because("2"))
	wantRuns(t, s, second, "a:2")
	wantEmpty(t, s)
}

func TestSchedulerRunningKeyWaitsAndRunsOnceAfterwards(t *testing.T) {
	s := newScheduler[string](0, 0)
	s.trigger(0, "a", because("1"))
	run := s.next(0)
	for i := range 3 {
		s.trigger(second, "a", because(fmt.Sprint("again", i)))
	}
	if e := s.next(2 * second); e != nil {
		t.Fatalf("key %q started while it runs", e.key)
	}
	s.finish(3*second, run, outcome{})
	wantRuns(t, s, 3*second, "a:again0")
	wantEmpty(t, s)
}

func TestSchedulerTriggerDuringARunComesBeforeItsRequeue(t *testing.T) {
	s := newScheduler[string](0, 0)
	s.trigger(0, "a", because("1"))
	run := s.next(0)
	s.trigger(second, "a", because("event"))
	s.finish(2*second, run, outcome{again: true, delay: time.Minute, reason: because("requeue")})
	wantRuns(t, s, 2*second, "a:event")
	wantRuns(t, s, 3600*second)
	wantEmpty(t, s)
}

func TestSchedulerRequeueOfARunComesBeforeALaterOne(t *testing.T) {
	s := newScheduler[string](0, 0)
	s.trigger(0, "a", because("1"))
	run := s.next(0)
	s.schedule(0, "a", time.Minute, because("planned"))
	s.finish(second, run, outcome{again: true, delay: time.Second, reason: because("requeue")})
	wantRuns(t, s, 2*second-1)
	wantRuns(t, s, 2*second, "a:requeue")
	wantEmpty(t, s)
}

func TestSchedulerIsFirstInFirstOut(t *testing.T) {
	s := newScheduler[string](0, 0)
	s.schedule(0, "third", 3*time.Second, because(""))
	s.schedule(0, "first", time.Second, because(""))
	s.schedule(0, "same time, later", time.Second, because(""))
	s.trigger(2*second, "second", because("")) // became due after "first", before "third"
	s.trigger(4*second, "fourth", because(""))
	wantRuns(t, s, 4*second, "first:", "same time, later:", "second:", "third:", "fourth:")
	wantEmpty(t, s)
}

func TestSchedulerBusyKeyGoesToTheEndOfTheLine(t *testing.T) {
	s := newScheduler[string](0, 0)
	s.trigger(0, "busy", because("1"))
	run := s.next(0)
	s.trigger(0, "busy", because("2"))
	s.trigger(second, "patient", because(""))
	s.finish(2*second, run, outcome{})
	wantRuns(t, s, 2*second, "patient:", "busy:2")
}

func TestSchedulerDebounceDelaysAKey(t *testing.T) {
	s := newScheduler[string](2*time.Second, time.Hour)
	s.trigger(0, "a", because(""))
	wantRuns(t, s, second)
	wantRuns(t, s, 4*second, "a:")
	wantEmpty(t, s)
}

func TestSchedulerDebounceStartsOverWithEachTrigger(t *testing.T) {
	s := newScheduler[string](3*time.Second, time.Hour)
	s.trigger(0, "a", because("1"))
	s.trigger(second, "a", because("2"))
	wantRuns(t, s, 7*second/2)
	wantRuns(t, s, 4*second, "a:2")
	wantRuns(t, s, 3600*second)
	wantEmpty(t, s)
}

func TestSchedulerDebounceCannotStarveABusyKey(t *testing.T) {
	s := newScheduler[string](2*time.Second, 10*time.Second)
	var runs []string
	for now := moment(0); now <= 25*second; now += second {
		for range drain(s, now) {
			runs = append(runs, time.Duration(now).String())
		}
		s.trigger(now, "busy", because(""))
	}
	if diff := cmp.Diff([]string{"10s", "20s"}, runs); diff != "" {
		t.Errorf("runs of a key that is triggered each second (-want +got):\n%s", diff)
	}
}

func TestSchedulerDebounceDoesNotPutOffAPlannedRun(t *testing.T) {
	s := newScheduler[string](5*time.Second, time.Hour)
	s.schedule(0, "a", 10*time.Second, because("requeue"))
	s.trigger(8*second, "a", because("event"))
	wantRuns(t, s, 10*second-1)
	wantRuns(t, s, 10*second, "a:event")

	s.trigger(20*second, "a", because("event"))
	s.schedule(20*second, "a", 6*time.Second, because("requeue"))
	s.trigger(24*second, "a", because("event 2"))
	wantRuns(t, s, 26*second-1)
	wantRuns(t, s, 26*second, "a:event 2")
	wantEmpty(t, s)
}

func TestSchedulerDebouncesARunningKey(t *testing.T) {
	s := newScheduler[string](2*time.Second, time.Hour)
	s.schedule(0, "a", 0, because("1"))
	run := s.next(0)
	s.trigger(second, "a", because("2"))
	s.finish(second, run, outcome{})
	wantRuns(t, s, 3*second-1)
	wantRuns(t, s, 3*second, "a:2")
	wantEmpty(t, s)
}

func TestSchedulerClampsTheFarFuture(t *testing.T) {
	for _, delay := range []time.Duration{horizon, horizon + 1, math.MaxInt64} {
		s := newScheduler[string](0, 0)
		s.schedule(5, "a", delay, because(""))
		if at, _ := s.wakeAt(); at != 5+moment(horizon) {
			t.Errorf("delay %s: due at %s, want 180 days ahead", delay, time.Duration(at))
		}
	}
	s := newScheduler[string](math.MaxInt64, math.MaxInt64)
	s.trigger(5, "a", because(""))
	if at, _ := s.wakeAt(); at != 5+moment(horizon) {
		t.Errorf("debounced: due at %s, want 180 days ahead", time.Duration(at))
	}
}

func TestSchedulerTakesANegativeDelayAsNone(t *testing.T) {
	s := newScheduler[string](0, 0)
	s.schedule(second, "a", math.MinInt64, because(""))
	wantRuns(t, s, second, "a:")
}

func TestSchedulerCountsFailuresNotTriggers(t *testing.T) {
	s := newScheduler[string](0, 0)
	fail := func(now moment) int {
		e := s.next(now)
		s.finish(now, e, outcome{failed: true, again: true, delay: time.Second})
		return int(e.failures)
	}
	s.trigger(0, "a", because(""))
	for i := range 3 {
		for range 10 {
			s.trigger(moment(i)*second, "a", because("noise"))
		}
		if got := fail(moment(i) * second); got != i+1 {
			t.Fatalf("failures = %d after %d failed runs", got, i+1)
		}
	}
	e := s.next(3 * second)
	s.finish(3*second, e, outcome{})
	wantEmpty(t, s)
	s.trigger(4*second, "a", because(""))
	if got := fail(4 * second); got != 1 {
		t.Errorf("failures = %d, want a success to reset them", got)
	}
}

func TestSchedulerForgets(t *testing.T) {
	s := newScheduler[string](0, 0)
	s.forget("never seen")
	s.trigger(0, "a", because(""))
	s.finish(0, s.next(0), outcome{failed: true})
	if s.find("a").failures != 1 {
		t.Fatal("a failure without a retry is not remembered")
	}
	s.forget("a")
	wantEmpty(t, s)

	s.trigger(0, "b", because(""))
	s.finish(0, s.next(0), outcome{failed: true, again: true, delay: time.Second})
	s.forget("b")
	wantEmpty(t, s)

	s.trigger(0, "c", because("1"))
	run := s.next(0)
	s.trigger(0, "c", because("2"))
	s.forget("c")
	s.finish(0, run, outcome{})
	wantRuns(t, s, 0, "c:2")
	wantEmpty(t, s)
}

func TestSchedulerKeepsKeysOfItsOwn(t *testing.T) {
	s := newScheduler[string](0, 0)
	cloned := 0
	s.own = func(key string) string { cloned++; return strings.Clone(key) }
	for range 3 {
		s.trigger(0, "a", because("x"))
	}
	if cloned != 1 {
		t.Errorf("the key was cloned %d times for one entry", cloned)
	}
	wantRuns(t, s, 0, "a:x")
}

func TestSchedulerReusesEntriesWithinBounds(t *testing.T) {
	s := newScheduler[string](0, 0)
	for i := range 3 * maxSpare {
		s.trigger(0, fmt.Sprint(i), because("x"))
	}
	drain(s, 0)
	wantEmpty(t, s)
	if s.spare != maxSpare {
		t.Errorf("%d spare entries, want %d", s.spare, maxSpare)
	}
	n := 0
	for e := s.free; e != nil; e = e.next {
		n++
		if e.key != "" || e.reason != (Reason{}) || e.place != idle || e.failures != 0 {
			t.Fatalf("a spare entry still holds %+v", *e)
		}
	}
	if n != maxSpare {
		t.Errorf("the free list holds %d entries, want %d", n, maxSpare)
	}
}

// model is what the scheduler has to be equal to, written for clarity: it looks at every key
// for each question.
type model struct {
	debounce, patience moment
	keys               map[int]*modelKey
	order              int
}

type modelKey struct {
	planned, running bool
	at, limit        moment
	reason           Reason
	failures         int
	// Turn in the line, known once the run does not wait for the key to end.
	turn  moment
	order int
}

func (m *model) key(k int) *modelKey {
	if m.keys[k] == nil {
		m.keys[k] = &modelKey{}
	}
	return m.keys[k]
}

func (m *model) plan(now moment, k *modelKey, at, limit moment, reason Reason) {
	m.order++
	k.planned, k.at, k.limit, k.reason = true, at, limit, reason
	k.turn, k.order = max(at, now), m.order
}

func (m *model) trigger(now moment, key int, reason Reason) {
	k := m.key(key)
	limit := now + m.patience
	if k.planned && k.at <= now {
		return
	}
	if k.planned {
		limit = min(limit, k.limit)
	}
	m.plan(now, k, min(now+m.debounce, limit), limit, reason)
}

func (m *model) schedule(now moment, key int, delay moment, reason Reason) {
	k, at := m.key(key), now+delay
	if k.planned && k.at <= at {
		k.limit = min(k.limit, at)
		return
	}
	m.plan(now, k, at, at, reason)
}

func (m *model) next(now moment) (key int, ok bool) {
	var best *modelKey
	for i, k := range m.keys {
		if !k.planned || k.running || k.at > now {
			continue
		}
		if best == nil || k.turn < best.turn || k.turn == best.turn && k.order < best.order {
			best, key = k, i
		}
	}
	if best == nil {
		return 0, false
	}
	best.planned, best.running = false, true
	return key, true
}

func (m *model) finish(now moment, key int, o outcome) {
	k := m.key(key)
	k.running = false
	k.failures++
	if !o.failed {
		k.failures = 0
	}
	if o.again {
		m.schedule(now, key, moment(o.delay), o.reason)
	}
	if k.planned {
		m.plan(now, k, k.at, k.limit, k.reason)
	}
	if !k.planned && k.failures == 0 {
		delete(m.keys, key)
	}
}

func TestSchedulerEqualsTheModel(t *testing.T) {
	for seed := range uint64(100) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			compareWithModel(t, rand.New(rand.NewPCG(seed, 7)))
		})
	}
}

func compareWithModel(t *testing.T, rnd *rand.Rand) {
	debounce := []time.Duration{0, 0, 3, 10}[rnd.IntN(4)]
	patience := debounce * time.Duration(1+rnd.IntN(4))
	s := newScheduler[int](debounce, patience)
	m := &model{debounce: moment(debounce), patience: moment(patience), keys: map[int]*modelKey{}}
	keys := 1 + rnd.IntN(20)
	running := map[int]*entry[int]{}
	now := moment(0)
	for step := range 2000 {
		key, reason := rnd.IntN(keys), because(fmt.Sprint(step))
		switch op := rnd.IntN(10); {
		case op < 3:
			s.trigger(now, key, reason)
			m.trigger(now, key, reason)
		case op < 5:
			delay := time.Duration(rnd.IntN(20))
			s.schedule(now, key, delay, reason)
			m.schedule(now, key, moment(delay), reason)
		case op < 7:
			e := s.next(now)
			want, ok := m.next(now)
			if ok != (e != nil) || ok && (e.key != want || e.reason != m.keys[want].reason) {
				t.Fatalf("step %d, at %d: next = %+v, the model says %d %t", step, now, e, want, ok)
			}
			if ok {
				running[want] = e
			}
		case op < 9:
			if e := running[key]; e != nil {
				delete(running, key)
				o := outcome{failed: rnd.IntN(2) == 0, again: rnd.IntN(2) == 0, delay: time.Duration(rnd.IntN(20)), reason: reason}
				s.finish(now, e, o)
				m.finish(now, key, o)
			}
		default:
			now += moment(rnd.IntN(8))
		}
		if err := sameState(s, m); err != "" {
			t.Fatalf("step %d, at %d: %s", step, now, err)
		}
	}
}

func sameState(s *scheduler[int], m *model) string {
	if s.entries.count != len(m.keys) {
		return fmt.Sprintf("%d entries, the model has %d", s.entries.count, len(m.keys))
	}
	for key, want := range m.keys {
		got := s.find(key)
		if got == nil || int(got.failures) != want.failures || got.running != want.running || (got.place != idle) != want.planned {
			return fmt.Sprintf("key %d is %+v, the model has %+v", key, got, *want)
		}
		if want.planned && (got.at != want.at || got.reason != want.reason) {
			return fmt.Sprintf("key %d is planned for %d, the model says %d", key, got.at, want.at)
		}
	}
	for i := range s.timed {
		if s.timed[i].entry.index != i || i > 0 && s.timed[i].before(s.timed[(i-1)/arity]) {
			return fmt.Sprintf("the heap is broken at %d", i)
		}
	}
	return ""
}

func TestTimeHeapSortsAndRemoves(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	var h timeHeap[int]
	var want []moment
	for i := range 1000 {
		at := moment(rnd.IntN(300))
		h.push(planned[int]{at: at, order: uint64(i), entry: &entry[int]{key: i}})
		want = append(want, at)
	}
	for range 300 {
		i := rnd.IntN(len(h))
		want = slices.Delete(want, slices.Index(want, h[i].at), slices.Index(want, h[i].at)+1)
		h.remove(i)
	}
	slices.Sort(want)
	var got []moment
	var last planned[int]
	for len(h) > 0 {
		if h[0].before(last) {
			t.Fatalf("%v came after %v", h[0].at, last.at)
		}
		last = h[0]
		got = append(got, h[0].at)
		h.remove(0)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("order of the heap (-want +got):\n%s", diff)
	}
}

func TestTableFindsWhatIsInIt(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	tab := newTable[int]()
	want := map[int]*entry[int]{}
	for range 20_000 {
		key := rnd.IntN(3000)
		hash := tab.hash(key)
		if got := tab.get(key, hash); got != want[key] {
			t.Fatalf("get(%d) = %p, want %p", key, got, want[key])
		}
		if e := want[key]; e != nil {
			tab.remove(e)
			delete(want, key)
			continue
		}
		want[key] = &entry[int]{key: key, hash: hash}
		tab.put(want[key])
	}
	if tab.count != len(want) {
		t.Errorf("count is %d, want %d", tab.count, len(want))
	}
	all := slices.Collect(tab.all())
	if len(all) != len(want) {
		t.Errorf("all yields %d entries, want %d", len(all), len(want))
	}
	for _, e := range all {
		if want[e.key] != e {
			t.Fatalf("all yields %d, which is not in the table", e.key)
		}
		tab.remove(e)
	}
	if tab.count != 0 || len(tab.buckets) != minBuckets {
		t.Errorf("an emptied table has %d entries and %d buckets", tab.count, len(tab.buckets))
	}
}

func TestReasonString(t *testing.T) {
	var got []string
	for _, r := range []Reason{
		{},
		{Kind: Updated},
		{Kind: Related, Resource: "deployments.apps", Namespace: "default", Name: "web"},
		{Kind: Related, Resource: "nodes", Name: "n1"},
		{Kind: Everything, Resource: "secrets"},
		{Kind: 99},
	} {
		got = append(got, r.String())
	}
	want := []string{
		"unknown",
		"object updated",
		"related object updated: deployments.apps default/web",
		"related object updated: nodes n1",
		"reconcile all: secrets",
		"ReasonKind(99)",
	}
	if diff := cmp.Diff(strings.Join(want, "\n"), strings.Join(got, "\n")); diff != "" {
		t.Error(diff)
	}
}
