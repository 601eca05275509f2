package main

import (
	"fmt"
	"slices"

	"github.com/go-kube/kube/bench/internal/measure"
)

// eventsIn is how many events there are in a format. JSON takes the peers so long that it has
// fewer.
func eventsIn(format string, full bool) int {
	switch {
	case full && format == "protobuf":
		return 100_000
	case full || format == "protobuf":
		return 20_000
	default:
		return 5_000
	}
}

// scenarios are what is measured.
func scenarios(full bool) []scenario {
	all := []scenario{
		cacheScenario(full), reconcileScenario(full), relistScenario(full), readScenario(full), unaryScenario(full), latencyScenario(full),
		queueScenario(full), operatorScenario(full), microScenario(), kubetestScenario(full),
	}
	if full {
		all = append(all, kindsScenario(), growthScenario())
	}
	for _, s := range all {
		aimAtRust(s.rows)
	}
	return all
}

// pods is work with 20 000 pods.
func pods(scenario, format string, events int) measure.Args {
	return measure.Args{Scenario: scenario, Kind: "pods", Format: format, Objects: 20_000, Events: events, Workers: 2}
}

func cacheScenario(full bool) scenario {
	s := scenario{
		Name:  "cache",
		Title: "A cache of 20 000 pods that somebody follows: first sync, then MODIFIED events",
		variants: []variant{
			{"protobuf", pods("cache", "protobuf", eventsIn("protobuf", full)), []string{ours, clientGo}},
			{"json", pods("cache", "json", eventsIn("json", full)), []string{ours, clientGo, kubeRS}},
		},
	}
	aims := map[string][3]float64{"protobuf": {0.2, 0.3, 0.28}, "json": {0.13, 0, 0.4}}
	for _, v := range s.variants {
		aim, what := aims[v.Name], "First sync of 20 000 pods, "+v.Name
		s.rows = append(s.rows,
			row{variant: v.Name, phase: "sync", metric: cpu}.aim(aim[0], clientGo).as(what+": CPU"),
			row{variant: v.Name, phase: "sync", metric: peak}.aim(aim[1], clientGo),
			row{variant: v.Name, phase: "sync", metric: settled}.aim(aim[2], clientGo).as(what+": memory afterwards"),
		)
		s.rows = append(s.rows, rowsOf(v.Name, "sync", allocs)...)
		s.rows = append(s.rows, rowsOf(v.Name, "events", cpuEach, peak)...)
	}
	return s
}

// window is how many events go out until all of them were reconciled, where each is to be a
// reconcile of its own.
const window = 1000

func reconcileScenario(full bool) scenario {
	s := scenario{
		Name:   "reconcile",
		thrice: true,
		Title: "A controller of 20 000 pods whose reconciler has its object: start until each was reconciled, then MODIFIED events. " +
			"\"each\": the server waits, so that every event is a reconcile; otherwise it sends as fast as it is read, and events of one object may become one",
	}
	for _, format := range []string{"protobuf", "json"} {
		peers := []string{ours, ctrlRuntime}
		if format == "json" {
			peers = append(peers, kubeRS)
		}
		events := eventsIn(format, full)
		each := pods("reconcile", format, events)
		if format == "protobuf" {
			each.Events = max(events, 50_000) // in less time, what else runs on the machine counts too much
		}
		each.Window = window
		name, flood := format+", each", row{variant: format, phase: "events", metric: peak}
		eventCPU := row{variant: name, phase: "events", metric: cpuEach}.as("An event and its reconcile, " + format + ": CPU")
		if format == "protobuf" {
			flood, eventCPU = flood.aim(0.25, ctrlRuntime).as("Peak memory under events, protobuf"), eventCPU.aim(0.4, ctrlRuntime)
		} else {
			eventCPU = eventCPU.aim(0.25, ctrlRuntime)
		}
		s.variants = append(s.variants, variant{name, each, peers})
		s.rows = append(s.rows, rowsOf(name, "start", cpu, wall, peak, settled)...)
		s.rows = append(s.rows, eventCPU)
		if full || format == "protobuf" {
			s.variants = append(s.variants, variant{format, pods("reconcile", format, events), peers})
			s.rows = append(s.rows, row{variant: format, phase: "events", metric: cpu}, row{variant: format, phase: "events", metric: count}, flood)
		}
	}
	return s
}

func relistScenario(full bool) scenario {
	json := []string{ours, clientGo, kubeRS}
	if !full {
		json = []string{ours, kubeRS}
	}
	return scenario{
		Name:  "relist",
		Title: "The watch of 20 000 pods has expired: they are listed again, and one has changed",
		variants: []variant{
			{"protobuf", pods("relist", "protobuf", 0), []string{ours, clientGo}},
			{"json", pods("relist", "json", 0), json},
		},
		rows: append(rowsOf("protobuf", "relist", cpu, peak), rowsOf("json", "relist", cpu, peak)...),
	}
}

// readLimits are why kube-rs reads faster from its cache, which holds every object decoded.
var readLimits = map[string]string{
	"get, a copy":  "a copy is decoded from the bytes, which are a twelfth of the memory; that takes little more than Go's deep copy of a decoded pod (see the row below)",
	"list, copies": "a copy is decoded from the bytes, which are a twelfth of the memory; that takes little more than Go's deep copy of a decoded pod",
	"list, shared": "less than a microsecond: the label is read from the bytes of the object",
}

func readScenario(full bool) scenario {
	calls := 20_000
	if full {
		calls = 100_000
	}
	s := scenario{
		Name: "read",
		Title: "Reading 20 000 cached pods, per pod. A copy may be changed by whoever gets it; shared objects may not. " +
			"kube shares objects where Options.Decoded is set, which takes the memory that the peers' caches take; without it, a copy is decoded from the bytes. Its shared list reads labels without decoding",
		variants: []variant{
			{"protobuf", pods("read", "protobuf", calls), []string{ours, clientGo, ctrlRuntime}},
			{"json", pods("read", "json", calls), []string{ours, kubeRS}},
		},
	}
	for _, v := range s.variants {
		for _, phase := range []string{"get, a copy", "get, shared", "list, copies", "list, shared"} {
			w := row{variant: v.Name, phase: phase, metric: cpuEach}
			if v.Name == "json" {
				w = w.limited(readLimits[phase])
			}
			s.rows = append(s.rows, w)
			if phase == "get, a copy" {
				w.phase, w.theirs, w.limit = "get, a copy of the shared one", phase, ""
				s.rows = append(s.rows, w)
			}
		}
	}
	return s
}

func unaryScenario(full bool) scenario {
	calls := 5_000
	if full {
		calls = 20_000
	}
	return scenario{
		Name:   "unary",
		thrice: true,
		Title:  "Requests for single pods, eight at a time, over HTTP/1.1 without TLS: GET, and server-side apply of a label",
		variants: []variant{
			{"protobuf", pods("unary", "protobuf", calls), []string{ours, clientGo, ctrlRuntime}},
			{"json", pods("unary", "json", calls), []string{ours, kubeRS}},
		},
		rows: slices.Concat(
			[]row{row{variant: "protobuf", phase: "get", metric: cpuEach}.aim(0.5, clientGo).as("GET of a pod: CPU")},
			rowsOf("protobuf", "get", perSecond, allocs),
			[]row{row{variant: "protobuf", phase: "apply", metric: cpuEach}.aim(0.5, clientGo).as("Server-side apply of a label: CPU")},
			rowsOf("protobuf", "apply", perSecond, allocs),
			rowsOf("json", "get", cpuEach), rowsOf("json", "apply", cpuEach),
		),
	}
}

func latencyScenario(full bool) scenario {
	s := scenario{
		Name:  "latency",
		Title: "Time from a change on the server to the reconcile, 20 000 pods",
	}
	for _, rate := range []int{100, 5000} {
		seconds := 2
		if full {
			seconds = 10
		}
		for _, format := range []string{"protobuf", "json"} {
			if !full && format == "json" && rate == 100 {
				continue
			}
			args := pods("reconcile", format, rate*seconds)
			args.Rate = rate
			peers := []string{ours, ctrlRuntime}
			if format == "json" {
				peers = []string{ours, kubeRS}
			}
			name := fmt.Sprintf("%s, %d/s", format, rate)
			s.variants = append(s.variants, variant{name, args, peers})
			s.rows = append(s.rows, rowsOf(name, "events", p50, p99, cpu)...)
		}
	}
	return s
}

func kindsScenario() scenario {
	s := scenario{
		Name:  "kinds",
		Title: "First sync of 20 000 objects of other kinds, and 20 000 events: Secrets of 2 KB, custom resources (WebApps) of 2 KB. client-go has no types of custom resources here: its dynamic informer decodes them into maps",
	}
	for _, v := range []struct {
		kind, format string
		clients      []string
	}{
		{"secrets", "protobuf", []string{ours, clientGo}},
		{"secrets", "json", []string{ours, clientGo, kubeRS}},
		{"webapps", "json", []string{ours, clientGo, kubeRS}},
	} {
		args := pods("cache", v.format, 20_000)
		args.Kind = v.kind
		name := v.kind + ", " + v.format
		s.variants = append(s.variants, variant{name, args, v.clients})
		s.rows = append(s.rows, rowsOf(name, "sync", cpu, peak, settled)...)
		s.rows = append(s.rows, rowsOf(name, "events", cpuEach)...)
	}
	args := pods("reconcile", "json", 20_000)
	args.Kind, args.Window = "webapps", window
	s.variants = append(s.variants, variant{"webapps, reconciled", args, []string{ours, ctrlRuntime, kubeRS}})
	s.rows = append(s.rows, rowsOf("webapps, reconciled", "start", cpu, settled)...)
	s.rows = append(s.rows, rowsOf("webapps, reconciled", "events", cpuEach)...)
	return s
}

// sizes are those of the growth scenario; only kube is taken to the last.
var sizes = []int{1_000, 20_000, 100_000, 500_000}

func growthScenario() scenario {
	s := scenario{
		Name:  growth,
		Title: "First sync, memory and 100 000 events with more and more pods, protobuf. Events come to a heap that was used before",
	}
	for i, n := range sizes {
		args := pods("cache", "protobuf", 100_000)
		args.Objects, args.Warm = n, true
		peers := []string{ours, clientGo}
		if i == len(sizes)-1 {
			peers = []string{ours}
		}
		name := fmt.Sprint(n)
		s.variants = append(s.variants, variant{name, args, peers})
		s.rows = append(s.rows, rowsOf(name, "sync", cpu, settled)...)
		s.rows = append(s.rows, rowsOf(name, "events", cpuEach)...)
	}
	return s
}
