package main

import (
	"fmt"

	"github.com/go-kube/kube/bench/internal/measure"
)

// scenario is a piece of work, in one or several variants.
type scenario struct {
	// Name is that of the files, Title that of the table.
	Name, Title string
	Variants    []variant
	// rows are the lines of the table, for each variant.
	rows []row
	// targets are what design has promised, by variant and row.
	targets []target
}

// variant is how the work is done.
type variant struct {
	Name    string       `json:"name"`
	Args    measure.Args `json:"args"`
	Clients []string     `json:"clients"`
}

// row is a line of the table: a metric of a phase.
type row struct {
	phase, metric string
}

// target is the largest ratio of a row to the same row of a peer.
type target struct {
	variant string
	row     row
	peer    string
	ratio   float64
}

// scenarios are what is measured.
func scenarios(full bool) []scenario {
	events := 20_000
	if full {
		events = 100_000
	}
	return []scenario{cacheScenario(events), reconcileScenario(events)}
}

func pods(scenario, format string, objects, events int) measure.Args {
	return measure.Args{Scenario: scenario, Kind: "pods", Format: format, Objects: objects, Events: events, Workers: 2}
}

func cacheScenario(events int) scenario {
	s := scenario{
		Name:  "cache",
		Title: "A cache of 20 000 pods that somebody follows: first sync, then MODIFIED events",
		rows:  []row{{"sync", cpu}, {"sync", peak}, {"sync", settled}, {"sync", allocs}, {"events", cpu}, {"events", peak}},
		targets: []target{
			{"protobuf", row{"sync", cpu}, clientGo, 0.2},
			{"protobuf", row{"sync", settled}, clientGo, 0.28},
			{"protobuf", row{"sync", peak}, clientGo, 0.3},
			{"json", row{"sync", cpu}, clientGo, 0.13},
			{"json", row{"sync", settled}, clientGo, 0.4},
		},
	}
	for _, format := range []string{"protobuf", "json"} {
		peers := []string{ours, clientGo}
		if format == "json" {
			peers = append(peers, kubeRS)
		}
		s.Variants = append(s.Variants, variant{format, pods("cache", format, 20_000, events), peers})
	}
	return s
}

// window is how many events go out until all of them were reconciled, where each is to be a
// reconcile of its own.
const window = 1000

func reconcileScenario(events int) scenario {
	s := scenario{
		Name: "reconcile",
		Title: fmt.Sprintf("A controller of 20 000 pods whose reconciler has its object: start until each was reconciled, then %d MODIFIED events. "+
			"\"each\": the server waits, so that every event is a reconcile; otherwise it sends as fast as it is read, and events of one object may become one", events),
		rows: []row{{"start", cpu}, {"start", wall}, {"start", peak}, {"start", settled}, {"events", cpu}, {"events", count}, {"events", peak}},
		targets: []target{
			{"protobuf, each", row{"events", cpu}, ctrlRuntime, 0.4},
			{"protobuf", row{"events", peak}, ctrlRuntime, 0.25},
			{"json, each", row{"events", cpu}, ctrlRuntime, 0.25},
		},
	}
	for _, format := range []string{"protobuf", "json"} {
		peers := []string{ours, ctrlRuntime}
		if format == "json" {
			peers = append(peers, kubeRS)
		}
		each := pods("reconcile", format, 20_000, events)
		each.Window = window
		s.Variants = append(s.Variants, variant{format, pods("reconcile", format, 20_000, events), peers}, variant{format + ", each", each, peers})
	}
	return s
}
