package controller

import (
	"iter"
	"maps"

	"github.com/go-kube/kube/runtime/watcher"
)

// Filter yields the events of objects that are there or change in a way that p passes, for code that acts on
// changes and is no controller, such as the sequences of [Controller.ReconcileOn]. Deletions, and where snapshots begin
// and end, always pass. Of a later snapshot the objects pass that have changed since they passed. It is nothing for a
// cache, which would keep old states: see [reflector.FromEvents].
//
// What it remembers is a few dozen bytes for each object that is there. Each loop over it begins anew.
func (p Predicate) Filter[K any](events iter.Seq[watcher.Event[K]]) iter.Seq[watcher.Event[K]] {
	return func(yield func(watcher.Event[K]) bool) {
		f := eventFilter{filter: newFilter(p)}
		for event := range events {
			if f.pass(watcher.RawEvent{Type: event.Type, Object: event.Object.Raw}) && !yield(event) {
				return
			}
		}
	}
}

// eventFilter is a filter that learns from events what is gone.
type eventFilter struct {
	*filter
	listed map[objectKey]struct{} // in the snapshot under way; nil outside of one
}

func (f *eventFilter) pass(event watcher.RawEvent) bool {
	switch event.Type {
	case watcher.Init:
		f.listed = map[objectKey]struct{}{}
	case watcher.InitDone:
		if f.listed == nil {
			break // a snapshot that never began says nothing of what is gone
		}
		maps.DeleteFunc(f.passed, func(key objectKey, _ *passed) bool {
			_, ok := f.listed[key]
			return !ok
		})
		f.listed = nil
	case watcher.InitApply, watcher.Apply:
		return f.passObject(event)
	case watcher.Delete:
		f.drop(keyOf(event.Object))
	}
	return true
}

func (f *eventFilter) passObject(event watcher.RawEvent) bool {
	key := keyOf(event.Object)
	if f.listed != nil {
		f.listed[key] = struct{}{}
	}
	return f.filter.pass(key, event.Object)
}
