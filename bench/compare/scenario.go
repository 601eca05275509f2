package main

import (
	"context"
	"slices"

	"github.com/go-kube/kube/bench/internal/measure"
)

// The programs that are compared, by their names in tables.
const (
	ours        = "kube"
	clientGo    = "client-go"
	ctrlRuntime = "controller-runtime"
	kubeRS      = "kube-rs"
)

// clients are all programs in the order of tables.
var clients = []string{ours, clientGo, ctrlRuntime, kubeRS, apimachinery}

// scenario is a piece of work, in one or several variants.
type scenario struct {
	// Name is that of the files, Title says what is done.
	Name, Title string
	variants    []variant
	rows        []row
	// work returns what one run of one client has used; nil runs its program.
	work func(ctx context.Context, l *lab, v variant, client string) ([]measure.Phase, error)
	// once says that work repeats itself.
	once bool
	// thrice says that two runs are too few to be sure, even where the run is to be quick.
	thrice bool
}

// variant is a way to do the work, by those clients that have it.
type variant struct {
	Name    string       `json:"name"`
	Args    measure.Args `json:"args"`
	Clients []string     `json:"clients"`
}

// row is a line of the table: a metric of a phase of a variant.
type row struct {
	variant, phase, metric string
	// theirs is the phase of the peers where it has another name.
	theirs string
	// targets are met or missed. limit says why one is missed and stays so: it is reported, but is
	// no failure.
	targets []target
	limit   string
	// summary is how the row is called in README; empty leaves it out there.
	summary string
}

// target is the largest ratio to the same figure of a peer.
type target struct {
	ratio float64
	peer  string
}

// aim adds a target; a ratio of 0 is none.
func (w row) aim(ratio float64, peer string) row {
	if ratio > 0 {
		w.targets = append(slices.Clip(w.targets), target{ratio, peer})
	}
	return w
}

// limited says why a target is missed.
func (w row) limited(why string) row {
	w.limit = why
	return w
}

// aimAtRust adds the targets beside kube-rs, which are the same everywhere: to need less processor
// time for the first sync and less memory, and nowhere more than half as much again.
func aimAtRust(rows []row) {
	for i, w := range rows {
		work := w.phase == "sync" || w.phase == "start" || w.phase == "events" || w.phase == "relist"
		switch {
		case w.metric == cpu && w.phase == "sync", (w.metric == peak || w.metric == settled) && work:
			rows[i] = w.aim(1, kubeRS)
		case slices.Contains([]string{cpu, cpuEach, peak, settled, size, p50}, w.metric):
			rows[i] = w.aim(1.5, kubeRS)
		}
	}
}

// as puts the row into README.
func (w row) as(summary string) row {
	w.summary = summary
	return w
}

// rowsOf returns a row for each metric of a phase.
func rowsOf(variant, phase string, metrics ...string) (rows []row) {
	for _, metric := range metrics {
		rows = append(rows, row{variant: variant, phase: phase, metric: metric})
	}
	return rows
}

// settingsOf is what a client was set to, for the tables.
var settingsOf = map[string]string{
	ours:        "as it is without options",
	clientGo:    "protobuf, managedFields dropped by a transform, no limit of requests; stores hand out their own objects",
	ctrlRuntime: "protobuf, managedFields dropped by a transform, no limit of requests, no deep copies (UnsafeDisableDeepCopy)",
	kubeRS:      "JSON (it has no protobuf), streaming lists, managedFields dropped before an object is stored, built with optimisation and LTO",
}
