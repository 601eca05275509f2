package main

import (
	"fmt"
	"math"
	"slices"

	"github.com/go-kube/kube/bench/internal/measure"
)

// The metrics of a phase.
const (
	cpu       = "CPU"
	cpuEach   = "CPU each"
	perSecond = "per CPU second"
	wall      = "wall clock"
	peak      = "peak memory"
	settled   = "memory afterwards"
	size      = "size"
	allocs    = "allocations each"
	bytesEach = "bytes allocated each"
	count     = "number"
	p50       = "median"
	p99       = "99th percentile"
)

// of returns a metric of a phase.
func of(metric string, p measure.Phase) float64 {
	switch metric {
	case cpu:
		return p.User + p.System
	case cpuEach:
		return (p.User + p.System) / float64(p.Count)
	case perSecond:
		return float64(p.Count) / (p.User + p.System)
	case wall:
		return p.Wall
	case peak:
		return float64(p.Peak)
	case settled:
		return float64(p.Settled)
	case allocs:
		return float64(p.Allocs) / float64(p.Count)
	case bytesEach:
		return float64(p.Allocated) / float64(p.Count)
	case count, size:
		return float64(p.Count)
	case p50:
		return p.P50
	case p99:
		return p.P99
	default:
		panic("no metric " + metric)
	}
}

// human writes a metric with its unit.
func human(metric string, v float64) string {
	switch metric {
	case peak, settled:
		return fmt.Sprintf("%.0f MiB", v/(1<<20))
	case size:
		return fmt.Sprintf("%.1f MB", v/1e6)
	case allocs:
		return fmt.Sprintf("%.1f", v)
	case count, perSecond, bytesEach:
		return fmt.Sprintf("%.0f", v)
	default:
		return duration(v)
	}
}

// duration writes seconds in a unit of their size.
func duration(v float64) string {
	switch size := math.Abs(v); {
	case size < 1e-6:
		return fmt.Sprintf("%.0f ns", v*1e9)
	case size < 1e-3:
		return fmt.Sprintf("%.1f µs", v*1e6)
	case size < 0.1:
		return fmt.Sprintf("%.1f ms", v*1e3)
	default:
		return fmt.Sprintf("%.2f s", v)
	}
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

// ratio is how kube compares with a peer: that of the medians, and the smallest and largest of
// runs that followed one another.
type ratio struct{ median, low, high float64 }

func ratioOf(mine, theirs []float64) ratio {
	if len(mine) == 0 || len(theirs) == 0 || median(theirs) == 0 {
		return ratio{}
	}
	q := ratio{median: median(mine) / median(theirs)}
	var each []float64
	for i := range min(len(mine), len(theirs)) {
		if theirs[i] != 0 {
			each = append(each, mine[i]/theirs[i])
		}
	}
	q.low, q.high = slices.Min(each), slices.Max(each)
	return q
}

// String writes the ratio, with its spread where there is one.
func (q ratio) String() string {
	low, middle, high := fmt.Sprintf("%.2f", q.low), fmt.Sprintf("%.2f", q.median), fmt.Sprintf("%.2f", q.high)
	if low == high {
		return middle
	}
	return middle + " (" + low + "-" + high + ")"
}
