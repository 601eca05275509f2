package main

import (
	"fmt"
	"slices"

	"github.com/go-kube/kube/bench/internal/measure"
)

// The metrics of a phase.
const (
	cpu     = "CPU"
	count   = "count"
	wall    = "wall clock"
	peak    = "peak memory"
	settled = "settled memory"
	allocs  = "allocations per object"
)

// of returns a metric of a phase.
func of(metric string, p measure.Phase) float64 {
	switch metric {
	case cpu:
		return p.User + p.System
	case count:
		return float64(p.Count)
	case wall:
		return p.Wall
	case peak:
		return float64(p.Peak)
	case settled:
		return float64(p.Settled)
	case allocs:
		return float64(p.Allocs) / float64(p.Count)
	default:
		panic("no metric " + metric)
	}
}

// human writes a metric with its unit.
func human(metric string, v float64) string {
	switch metric {
	case peak, settled:
		return fmt.Sprintf("%.0f MiB", v/(1<<20))
	case allocs:
		return fmt.Sprintf("%.1f", v)
	case count:
		return fmt.Sprintf("%.0f", v)
	default:
		return seconds(v)
	}
}

func seconds(v float64) string {
	switch {
	case v < 1e-3:
		return fmt.Sprintf("%.1f µs", v*1e6)
	case v < 0.1:
		return fmt.Sprintf("%.1f ms", v*1e3)
	default:
		return fmt.Sprintf("%.2f s", v)
	}
}

// values returns a metric of each run of a client.
func (r *result) values(client, variant string, w row) []float64 {
	var values []float64
	for _, s := range r.Samples {
		if s.Client != client || s.Variant != variant {
			continue
		}
		for _, p := range s.Phases {
			if p.Phase == w.phase {
				values = append(values, of(w.metric, p))
			}
		}
	}
	return values
}

// median returns the middle of values; of an even number the mean of the middle two.
func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	if n == 0 {
		return 0
	}
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// ratio is how ours compares with a peer: that of the medians, and the smallest and largest of
// runs that followed one another.
type ratio struct{ median, low, high float64 }

func ratioOf(mine, theirs []float64) ratio {
	if len(mine) == 0 || len(theirs) == 0 {
		return ratio{}
	}
	q := ratio{median: median(mine) / median(theirs)}
	var each []float64
	for i := range min(len(mine), len(theirs)) {
		each = append(each, mine[i]/theirs[i])
	}
	q.low, q.high = slices.Min(each), slices.Max(each)
	return q
}

func (q ratio) String() string { return fmt.Sprintf("%.2f (%.2f-%.2f)", q.median, q.low, q.high) }
