package controller

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-kube/kube/resource"
)

// 10 000 objects under random triggers of every sort, with reconciles that fail, panic, take
// time and ask for more: never two of one object at a time, and none that misses the last change.
func TestStormOfTriggers(t *testing.T) {
	const objects, events, limit = 10_000, 10_000, 32
	inBubble(t, func(t *testing.T, r *rig) {
		own, children := r.watch(widgetsPath), r.watch(gadgetsPath)
		wanted := make([]int, objects) // sizes that were sent last
		names := make([]string, objects)
		for i := range objects {
			names[i] = fmt.Sprint("w", i)
			own.Send("ADDED", r.object(names[i]))
		}
		own.InitialEventsEnd(r.next())
		children.InitialEventsEnd(r.next())

		var inside, seen sync.Map // by name: *atomic.Int32
		counter := func(m *sync.Map, name string) *atomic.Int32 {
			c, _ := m.LoadOrStore(name, new(atomic.Int32))
			return c.(*atomic.Int32)
		}
		var running, runs atomic.Int32
		ctl := New(r.client.All(widgets), func(ctx context.Context, w *widget) (Action, error) {
			if n := counter(&inside, w.Name).Add(1); n != 1 {
				t.Errorf("%d reconciles of %s at a time", n, w.Name)
			}
			if n := running.Add(1); n > limit {
				t.Errorf("%d reconciles at a time, the limit is %d", n, limit)
			}
			defer func() {
				running.Add(-1)
				counter(&inside, w.Name).Add(-1)
			}()
			runs.Add(1)
			counter(&seen, w.Name).Store(int32(w.Spec.Size))
			switch rand.IntN(12) {
			case 0:
				return Await(), errBoom
			case 1:
				panic(errBoom)
			case 2:
				time.Sleep(time.Duration(rand.IntN(int(time.Second))))
			case 3:
				return After(time.Duration(rand.IntN(int(time.Second)))), nil
			}
			return Await(), nil
		}, &Options{Concurrency: limit, Logger: r.silent()})
		ctl.Owns(r.client.All(gadgets))
		ctl.ReconcileOn(func(ctx context.Context) iter.Seq[resource.Ref[widget]] {
			return func(yield func(resource.Ref[widget]) bool) {
				for range events {
					if !yield(resource.Ref[widget]{Namespace: "ns", Name: names[rand.IntN(objects)]}) {
						return
					}
					if rand.IntN(50) == 0 {
						time.Sleep(time.Millisecond)
					}
				}
			}
		})
		r.start(ctl)
		for i := range events {
			n := rand.IntN(objects)
			if rand.IntN(3) == 0 {
				children.Send("MODIFIED", r.object(fmt.Sprint("c", n), ownedBy("Widget", names[n], "uid-"+names[n])))
			} else {
				wanted[n] = i + 1
				own.Send("MODIFIED", r.object(names[n], size(i+1)))
			}
			if i%100 == 0 {
				time.Sleep(10 * time.Millisecond)
			}
		}
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		for i, name := range names {
			if got := counter(&seen, name).Load(); int(got) != wanted[i] {
				t.Errorf("%s was reconciled last at size %d, its size is %d", name, got, wanted[i])
			}
		}
		if s := ctl.Stats(); s.Waiting+s.Due+s.Running > 0 {
			t.Errorf("Stats = %+v long after the last trigger", s)
		}
		if runs.Load() < objects {
			t.Errorf("only %d reconciles of %d objects", runs.Load(), objects)
		}
	})
}
