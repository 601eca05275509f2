package controller

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"

	"github.com/go-kube/kube/runtime/watcher"
)

// SourceState is the state of one watch of a controller.
type SourceState struct {
	// Resource is plural.group of what is watched, or the plural alone in the core group.
	Resource string
	// State is what the watch is doing; of several that of the one that is worst off.
	watcher.State
	// Namespaces is the state of each watch by namespace where they are watched apart, see
	// [Options.Namespaces]; nil where one watch is for all.
	Namespaces map[string]watcher.State
}

// Stats is what a controller has done since it started, and what it has to do.
type Stats struct {
	// Waiting keys have a run planned for later: by [After], a backoff or the debounce. Due
	// keys would run if there were room. Running keys are being reconciled.
	Waiting, Due, Running int
	// Reconciled is the number of runs, Failed how many of them ended with an error. Among the
	// failed are those that Panicked, and those whose object was Undecodable, for which the
	// reconciler was not called.
	Reconciled, Failed, Panicked, Undecodable uint64
	// Absent is the number of keys that came up when their object was gone; they are no runs.
	Absent uint64
	// Parked keys have a run that is due, and wait until a watch shows what their last run wrote
	// (see [Options.OwnWrites]). They are among the Waiting. WaitedForWrites is how often a key
	// was parked, MissedWrites how often one ran at the end of its time without having seen
	// all of its writes.
	Parked                        int
	WaitedForWrites, MissedWrites uint64
	// Looping is the number of objects that are slowed down because they are reconciled over and over, for what
	// their reconciler writes or because others undo it: see [Options.LoopInterval].
	Looping int
}

type counters struct {
	reconciled, failed, panicked, undecodable, absent atomic.Uint64
}

func (e *engine) stats() Stats {
	s := Stats{
		Reconciled:  e.counts.reconciled.Load(),
		Failed:      e.counts.failed.Load(),
		Panicked:    e.counts.panicked.Load(),
		Undecodable: e.counts.undecodable.Load(),
		Absent:      e.counts.absent.Load(),
		Looping:     e.loops.looping(),
	}
	if r := e.runner.Load(); r != nil {
		s.Waiting, s.Due, s.Running = r.counts()
		s.Parked, s.WaitedForWrites, s.MissedWrites = e.writes.counts()
	}
	return s
}

func (e *engine) state() []SourceState {
	states := []SourceState{{e.endpoint.Descriptor().GroupResource().String(), e.cache.state(), e.cache.namespaceStates()}}
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, s := range e.sources {
		states = append(states, SourceState{s.name, s.State(), s.feed.NamespaceStates()})
	}
	return states
}

func (e *engine) readiness() error {
	var problems []error
	for _, s := range e.state() {
		problems = append(problems, s.problems(func(watcher.State) bool { return true })...)
	}
	if !e.working.Load() {
		problems = append(problems, errors.New("no reconcile can start"))
	}
	if err := errors.Join(problems...); err != nil {
		return fmt.Errorf("controller %s is not ready: %w", e.opts.Name, err)
	}
	return nil
}

// problems returns what is wrong with the watch, or with those of some namespaces, where they count.
func (s SourceState) problems(counts func(watcher.State) bool) (problems []error) {
	troubled := 0
	for _, namespace := range slices.Sorted(maps.Keys(s.Namespaces)) {
		state := s.Namespaces[namespace]
		err := problem(s.Resource+" in namespace "+namespace, state)
		if err == nil || !counts(state) {
			continue
		}
		if troubled++; troubled <= maxNamed {
			problems = append(problems, err)
		}
	}
	if troubled > maxNamed {
		problems = append(problems, fmt.Errorf("and of %s in %d more namespaces", s.Resource, troubled-maxNamed))
	}
	if err := problem(s.Resource, s.State); err != nil && troubled == 0 && counts(s.State) {
		problems = append(problems, err)
	}
	return problems
}

// problem returns what is wrong with one watch, or nil.
func problem(what string, s watcher.State) error {
	switch {
	case s.LastError != nil:
		return fmt.Errorf("%s of %s: %w", s.Phase, what, s.LastError)
	case !s.Synced:
		return fmt.Errorf("%s of %s: its first list is not complete", s.Phase, what)
	}
	return nil
}
