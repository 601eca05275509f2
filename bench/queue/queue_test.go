// Package queue measures the queues of the peers, doing what the scheduler of kube's controllers
// does in BenchmarkScheduler of runtime/controller.
package queue

import (
	"fmt"
	"testing"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
)

// key has the shape of the keys that controllers use.
type key struct{ namespace, name string }

func keys() []key {
	keys := make([]key, 100_000)
	for i := range keys {
		keys[i] = key{fmt.Sprintf("namespace-%d", i%100), fmt.Sprintf("object-%d", i)}
	}
	return keys
}

// BenchmarkWorkqueue is client-go's queue.
func BenchmarkWorkqueue(b *testing.B) {
	q := workqueue.NewTyped[key]()
	defer q.ShutDown()
	measure(b, q.Add, q.Get, q.Done)
}

// BenchmarkPriorityQueue is controller-runtime's queue.
func BenchmarkPriorityQueue(b *testing.B) {
	q := priorityqueue.New[key]("bench")
	defer q.ShutDown()
	measure(b, q.Add, q.Get, q.Done)
}

// measure takes keys from a queue that holds 100 000 and adds them again, and adds keys that are
// in it.
func measure(b *testing.B, add func(key), get func() (key, bool), done func(key)) {
	all := keys()
	for _, k := range all {
		add(k)
	}
	b.Run("add+get+done", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			k, _ := get()
			done(k)
			add(k)
		}
	})
	b.Run("add of a pending key", func(b *testing.B) {
		b.ReportAllocs()
		i := 0
		for b.Loop() {
			add(all[i])
			if i++; i == len(all) {
				i = 0
			}
		}
	})
}
