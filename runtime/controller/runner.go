package controller

import (
	"math"
	"sync"
	"time"
)

// run is one run of a key.
type run[K comparable] struct {
	key     K
	reason  Reason
	attempt int // 1, and one more for each failure since the last success

	// outcome is set by the function that does the run. It is read even when that function
	// ends its goroutine in place of returning.
	outcome outcome

	entry *entry[K]
}

// runner runs what a scheduler says is due: never two runs of one key at a time, at most
// limit runs in all, and none before it is opened or after it is stopped.
//
// It has no goroutine while nothing is due. A worker lives from the moment when a key becomes
// due until none is left, and takes the next key in the step that ends the last. The owner
// waits on timer and calls wake when it fires.
type runner[K comparable] struct {
	do    func(*run[K])
	limit int
	start time.Time
	timer *time.Timer
	wg    sync.WaitGroup
	idle  chan struct{} // closed once it is stopped and no worker is left

	mu       sync.Mutex
	keys     *scheduler[K]
	alarm    moment // when timer fires
	workers  int
	starting int // workers that have not looked for a key yet
	pace     pace
	opened   bool
	paused   bool
	stopped  bool
}

// unlimited is the limit of a runner without one.
const unlimited = math.MaxInt

// never is the alarm of a timer that is not set.
const never = moment(math.MaxInt64)

func newRunner[K comparable](keys *scheduler[K], limit int, do func(*run[K])) *runner[K] {
	return &runner[K]{
		do: do, limit: limit, keys: keys,
		start: time.Now(), timer: time.NewTimer(horizon), alarm: never,
		idle: make(chan struct{}),
	}
}

func (r *runner[K]) now() moment { return moment(time.Since(r.start)) }

// trigger asks for a run of key as soon as the debounce allows.
func (r *runner[K]) trigger(key K, reason Reason) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	r.keys.trigger(now, key, reason)
	r.dispatch(now)
}

// schedule asks for a run of key once delay has passed.
func (r *runner[K]) schedule(key K, delay time.Duration, reason Reason) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	r.keys.schedule(now, key, delay, reason)
	r.dispatch(now)
}

// forget drops the failures of key and the run that waits for its time.
func (r *runner[K]) forget(key K) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.keys.forget(key)
}

// pause lets no run begin until it is called with false.
func (r *runner[K]) pause(paused bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.paused = paused
	r.dispatch(r.now())
}

// open lets keys run. What was asked for before waits until then, one run per key.
func (r *runner[K]) open() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.opened = true
	r.dispatch(r.now())
}

// shut undoes open.
func (r *runner[K]) shut() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.opened = false
}

// wake has to be called when timer fires.
func (r *runner[K]) wake() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.alarm = never
	r.dispatch(r.now())
}

// stop lets no further run begin. Runs that have begun go on; idle is closed after the last.
func (r *runner[K]) stop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stopped {
		return
	}
	r.stopped = true
	r.timer.Stop()
	r.rest()
}

// wait returns when the runner is stopped and every worker has ended.
func (r *runner[K]) wait() {
	<-r.idle
	r.wg.Wait()
}

// active returns the keys that are running.
func (r *runner[K]) active() []K {
	var keys []K
	r.each(func(e *entry[K]) {
		if e.running {
			keys = append(keys, e.key)
		}
	})
	return keys
}

// each calls f with all that is known of each key, under the lock.
func (r *runner[K]) each(f func(*entry[K])) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for e := range r.keys.entries.all() {
		f(e)
	}
}

// counts returns how many keys wait for their time, are due, and run.
func (r *runner[K]) counts() (timed, due, running int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.keys.timed), r.keys.due.length, r.keys.running
}

// dispatch starts workers for the keys that are due and have none on the way, and sets the
// timer for the next that is not.
func (r *runner[K]) dispatch(now moment) {
	if !r.ready() {
		return
	}
	r.keys.advance(now)
	if free := r.pace.free(now); free > now {
		if r.keys.due.length > 0 {
			r.wakeBy(now, free)
		}
	} else {
		r.startWorkers()
	}
	if at, ok := r.keys.wakeAt(); ok {
		r.wakeBy(now, at)
	}
}

func (r *runner[K]) startWorkers() {
	for r.starting < r.keys.due.length && r.workers < r.limit {
		r.workers++
		r.starting++
		r.wg.Go(r.work)
	}
}

// wakeBy has the timer fire at the given time, or earlier.
func (r *runner[K]) wakeBy(now, at moment) {
	if at < r.alarm {
		r.alarm = at
		r.timer.Reset(time.Duration(at - now))
	}
}

// ready says whether keys may run now.
func (r *runner[K]) ready() bool { return r.opened && !r.paused && !r.stopped }

func (r *runner[K]) work() {
	var current run[K]
	for more := r.arrive(&current); more; more = r.turn(&current) {
		r.perform(&current)
	}
}

// perform does one run. Should the function leave by runtime.Goexit, as testing's FailNow
// does, this worker is lost: its run is ended all the same, and another takes its place.
func (r *runner[K]) perform(current *run[K]) {
	returned := false
	defer func() {
		if !returned {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.finish(r.now(), current)
			r.leave()
			r.dispatch(r.now())
		}
	}()
	r.do(current)
	returned = true
}

// arrive takes the first key of a new worker.
func (r *runner[K]) arrive(current *run[K]) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.starting--
	now := r.now()
	more := r.take(now, current)
	if !more {
		r.dispatch(now) // the rate may have been used up by others
	}
	return more
}

// turn ends a run and takes the next key; false ends the worker.
func (r *runner[K]) turn(current *run[K]) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	r.finish(now, current)
	more := r.take(now, current)
	r.dispatch(now) // the run may have asked for another
	return more
}

func (r *runner[K]) finish(now moment, current *run[K]) {
	if current.outcome.none {
		r.pace.refund()
	}
	r.keys.finish(now, current.entry, current.outcome)
	*current = run[K]{}
}

func (r *runner[K]) take(now moment, current *run[K]) bool {
	var e *entry[K]
	if r.ready() && r.pace.free(now) <= now {
		e = r.keys.next(now)
	}
	if e == nil {
		r.leave()
		return false
	}
	r.pace.spend(now)
	*current = run[K]{key: e.key, reason: e.reason, attempt: int(e.failures) + 1, entry: e}
	return true
}

func (r *runner[K]) leave() {
	r.workers--
	r.rest()
}

func (r *runner[K]) rest() {
	if r.stopped && r.workers == 0 {
		close(r.idle)
	}
}
