package main

import (
	"context"
	"fmt"

	"github.com/go-kube/kube/bench/internal/measure"
)

// serverBenchmark is a benchmark of the API server for tests.
type serverBenchmark struct {
	pattern, benchtime string
	// phases has the names in the table by those of the benchmarks.
	phases map[string]string
	// into takes the figure that counts.
	into func(b benchmark, p *measure.Phase)
}

// atMedian takes the median of what operations took by the clock.
func atMedian(b benchmark, p *measure.Phase) { p.Wall = b.values["ms-median"] / 1000 }

// together takes the processor time of an operation.
func together(b benchmark, p *measure.Phase) { p.User = b.values["cpu-s/op"] }

var serverBenchmarks = []serverBenchmark{
	{"^BenchmarkStart$", "20x", map[string]string{"Start": "from nothing to the first answer"}, atMedian},
	{"^BenchmarkWatchEvent$", "500x", map[string]string{"WatchEvent": "from the request of a change to its event"}, atMedian},
	{"^BenchmarkCreate10000$", "1x", map[string]string{
		"Create10000/ConfigMap": "10 000 ConfigMaps are created", "Create10000/Pod": "10 000 Pods are created",
	}, together},
}

// kubetestScenario measures kubetest, which has no peer in Go that starts without other programs.
func kubetestScenario(full bool) scenario {
	const name = "kubetest"
	tries := 1
	if full {
		tries = 3
	}
	s := scenario{
		Name: name,
		Title: "The API server for tests, in the process of the test, with a client over its network in memory. " +
			"Times of the clock are medians, processor time is that of client and server together, of several tries the fastest",
		variants: []variant{{name, measure.Args{}, []string{ours}}},
		work: func(ctx context.Context, l *lab, _ variant, _ string) ([]measure.Phase, error) {
			return measureKubetest(ctx, l, tries)
		},
		once: true,
	}
	for _, b := range serverBenchmarks[:2] {
		for _, phase := range b.phases {
			s.rows = append(s.rows, row{variant: name, phase: phase, metric: wall})
		}
	}
	s.rows = append(s.rows,
		row{variant: name, phase: "10 000 ConfigMaps are created", metric: cpu},
		row{variant: name, phase: "10 000 Pods are created", metric: cpu})
	return s
}

func measureKubetest(ctx context.Context, l *lab, tries int) (phases []measure.Phase, err error) {
	for _, sb := range serverBenchmarks {
		found, err := l.benchmarks(ctx, "../kubetest", ".", sb.pattern, sb.benchtime, tries)
		if err != nil {
			return nil, err
		}
		if len(found) != len(sb.phases) {
			return nil, fmt.Errorf("kubetest has %d benchmarks %s, not %d", len(found), sb.pattern, len(sb.phases))
		}
		for _, b := range found {
			p := measure.Phase{Phase: sb.phases[b.name], Count: 1}
			sb.into(b, &p)
			phases = append(phases, p)
		}
	}
	return phases, nil
}
