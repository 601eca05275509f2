package controller

import (
	"container/heap"
	"fmt"
	"sync"
	"testing"
	"time"
)

const benchKeys = 100_000

// benchKey has the shape of the keys that controllers use.
type benchKey struct{ namespace, name string }

func benchmarkKeys() []benchKey {
	keys := make([]benchKey, benchKeys)
	for i := range keys {
		keys[i] = benchKey{fmt.Sprintf("namespace-%d", i%100), fmt.Sprintf("object-%d", i)}
	}
	return keys
}

// BenchmarkScheduler adds, takes and ends a run, with 100 000 keys in the queue. The lock and
// the clock are part of the cost, as the runner puts them around it: a worker ends a run and
// takes the next in one step.
func BenchmarkScheduler(b *testing.B) {
	keys := benchmarkKeys()
	reason := Reason{Kind: Updated}
	s := newScheduler[benchKey](0, 0)
	start := time.Now()
	var mu sync.Mutex
	for _, k := range keys {
		s.trigger(0, k, reason)
	}
	b.Run("add+get+done", func(b *testing.B) {
		b.ReportAllocs()
		e := s.next(moment(time.Since(start)))
		for b.Loop() {
			key := e.key
			mu.Lock()
			now := moment(time.Since(start))
			s.finish(now, e, outcome{})
			e = s.next(now)
			mu.Unlock()
			mu.Lock()
			s.trigger(moment(time.Since(start)), key, reason)
			mu.Unlock()
		}
	})
	b.Run("add of a pending key", func(b *testing.B) {
		b.ReportAllocs()
		i := 0
		for b.Loop() {
			mu.Lock()
			s.trigger(moment(time.Since(start)), keys[i], reason)
			mu.Unlock()
			if i++; i == len(keys) {
				i = 0
			}
		}
	})
}

// BenchmarkSchedulerTimed is the same with every key in the heap: each run asks for the next
// one after a while.
func BenchmarkSchedulerTimed(b *testing.B) {
	s := newScheduler[benchKey](0, 0)
	for i, k := range benchmarkKeys() {
		s.schedule(0, k, time.Duration(i), Reason{Kind: Requested})
	}
	now := moment(0)
	b.ReportAllocs()
	for b.Loop() {
		e := s.next(now)
		s.finish(now, e, outcome{again: true, delay: benchKeys, reason: Reason{Kind: Requested}})
		now++
	}
}

// BenchmarkMapAndHeap does the work of BenchmarkScheduler the plain way, for comparison: a
// set to merge requests, and container/heap for the order.
func BenchmarkMapAndHeap(b *testing.B) {
	keys := benchmarkKeys()
	q := &plainQueue{pending: map[benchKey]bool{}}
	start := time.Now()
	var mu sync.Mutex
	for _, k := range keys {
		q.add(k, 0)
	}
	b.ReportAllocs()
	for b.Loop() {
		mu.Lock()
		item := q.get()
		delete(q.running, item.key)
		mu.Unlock()
		mu.Lock()
		q.add(item.key, moment(time.Since(start)))
		mu.Unlock()
	}
}

type plainItem struct {
	key benchKey
	at  moment
}

type plainQueue struct {
	items   []plainItem
	pending map[benchKey]bool
	running map[benchKey]bool
}

func (q *plainQueue) add(k benchKey, at moment) {
	if q.pending[k] {
		return
	}
	q.pending[k] = true
	heap.Push(q, plainItem{k, at})
}

func (q *plainQueue) get() plainItem {
	item := heap.Pop(q).(plainItem)
	delete(q.pending, item.key)
	if q.running == nil {
		q.running = map[benchKey]bool{}
	}
	q.running[item.key] = true
	return item
}

func (q *plainQueue) Len() int           { return len(q.items) }
func (q *plainQueue) Less(i, j int) bool { return q.items[i].at < q.items[j].at }
func (q *plainQueue) Swap(i, j int)      { q.items[i], q.items[j] = q.items[j], q.items[i] }
func (q *plainQueue) Push(x any)         { q.items = append(q.items, x.(plainItem)) }
func (q *plainQueue) Pop() any {
	last := q.items[len(q.items)-1]
	q.items = q.items[:len(q.items)-1]
	return last
}

// BenchmarkRunner takes a key through a runner, worker included: b.N keys are triggered while
// others run.
func BenchmarkRunner(b *testing.B) {
	keys := benchmarkKeys()
	for _, limit := range []int{1, 16} {
		b.Run(fmt.Sprint("workers=", limit), func(b *testing.B) {
			var done sync.WaitGroup
			r := newRunner(newScheduler[benchKey](0, 0), limit, func(*run[benchKey]) { done.Done() })
			r.open()
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				if i++; i == len(keys) {
					i = 0
					done.Wait() // every key is triggered once a round, and runs once
				}
				done.Add(1)
				r.trigger(keys[i], Reason{Kind: Updated})
			}
			done.Wait()
			r.stop()
			r.wait()
		})
	}
}
