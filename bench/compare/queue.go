package main

import (
	"context"
	"fmt"

	"github.com/go-kube/kube/bench/internal/measure"
)

// queueBenchmarks are where the queue of each library is measured.
var queueBenchmarks = map[string]struct{ module, pkg, name string }{
	ours:        {"..", "./runtime/controller", "Scheduler"},
	clientGo:    {".", "./queue", "Workqueue"},
	ctrlRuntime: {".", "./queue", "PriorityQueue"},
}

func queueScenario(full bool) scenario {
	s := scenario{
		Name: "queue",
		Title: "The queue of a controller with 100 000 keys in it, per key: the scheduler of kube's controllers, client-go's workqueue, controller-runtime's priority queue. " +
			"Time is that of the clock, of several tries the fastest",
		variants: []variant{{"100 000 keys", measure.Args{}, []string{ours, clientGo, ctrlRuntime}}},
		work:     measureQueue,
	}
	for _, phase := range []string{"add+get+done", "add_of_a_pending_key"} {
		w := row{variant: "100 000 keys", phase: phase, metric: wall}
		if phase == "add+get+done" {
			w = w.aim(0.3, ctrlRuntime).as("The queue of a controller: add, get, done")
		}
		s.rows = append(s.rows, w, row{variant: "100 000 keys", phase: phase, metric: allocs})
	}
	return s
}

func measureQueue(ctx context.Context, l *lab, _ variant, client string) (phases []measure.Phase, err error) {
	where := queueBenchmarks[client]
	found, err := l.benchmarks(ctx, where.module, where.pkg, "^Benchmark"+where.name+"$", "200000x", 3)
	if err != nil {
		return nil, err
	}
	for _, b := range found {
		phases = append(phases, b.phase(b.name[len(where.name)+1:]))
	}
	if len(phases) != 2 {
		return nil, fmt.Errorf("%s has %d benchmarks of %s, not 2", where.pkg, len(phases), where.name)
	}
	return phases, nil
}
