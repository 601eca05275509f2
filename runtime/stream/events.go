package stream

import (
	"fmt"
	"iter"

	"github.com/go-kube/kube/resource"
	"github.com/go-kube/kube/runtime/watcher"
)

// Applied yields the objects that are there and those that are created or changed, in their newest state. It
// yields all of them again with each snapshot that the watcher takes.
func Applied[K any](events iter.Seq[watcher.Event[K]]) iter.Seq[resource.Lazy[K]] {
	return func(yield func(resource.Lazy[K]) bool) {
		for event := range events {
			if event.Type != watcher.Apply && event.Type != watcher.InitApply {
				continue
			}
			if !yield(event.Object) {
				return
			}
		}
	}
}

// Touched yields what happens to objects, as Apply and Delete events alone: an Apply for each object of the first
// snapshot and for each that is created or changed after it, a Delete for each that is gone. A later
// snapshot is compared with what is known: it yields an Apply for what is new in it, and a Delete, with the last known
// state, for what has vanished while the watcher was away. Of an object that was made again under its name
// meanwhile the old one is deleted first.
//
// For that it keeps the last state of each object, which of metadata (core.Pods.Metadata()) is little. A
// program that has a reflector ranges over its Changes, which need nothing more.
func Touched[K any](events iter.Seq[watcher.Event[K]]) iter.Seq[watcher.Event[K]] {
	return func(yield func(watcher.Event[K]) bool) {
		t := &touched[K]{yield: yield, known: map[objectKey]*known[K]{}}
		for event := range events {
			if !t.take(event) {
				return
			}
		}
	}
}

type objectKey struct{ namespace, name string }

// known is an object that Touched has told of.
type known[K any] struct {
	last     resource.Lazy[K]
	snapshot uint64 // the last one that it was seen in
}

// touched is one loop over Touched.
type touched[K any] struct {
	yield     func(watcher.Event[K]) bool
	known     map[objectKey]*known[K]
	snapshots uint64 // that have begun
}

// take returns false when the loop has ended.
func (t *touched[K]) take(event watcher.Event[K]) bool {
	switch event.Type {
	case watcher.Init:
		t.snapshots++
	case watcher.InitApply, watcher.Apply:
		return t.applied(event)
	case watcher.Delete:
		return t.deleted(event)
	case watcher.InitDone:
		return t.listed()
	}
	return true
}

func keyOf[K any](object resource.Lazy[K]) objectKey {
	return objectKey{object.Namespace(), object.Name()}
}

func (t *touched[K]) applied(event watcher.Event[K]) bool {
	object := event.Object
	key := keyOf(object)
	k := t.known[key]
	if k != nil && k.last.UID() != object.UID() {
		if !t.gone(key, k.last, "") {
			return false
		}
		k = nil
	}
	switch {
	case k == nil:
		k = &known[K]{}
	case event.Type == watcher.InitApply && k.last.SameContent(object.Raw):
		k.snapshot = t.snapshots
		return true
	}
	// The key is put anew: its name is a part of the memory of the object.
	delete(t.known, key)
	*k = known[K]{object, t.snapshots}
	t.known[key] = k
	return t.yield(watcher.Event[K]{Type: watcher.Apply, Object: object, ResourceVersion: event.ResourceVersion})
}

// deleted takes in a deletion. What was never told of is not told to be gone.
func (t *touched[K]) deleted(event watcher.Event[K]) bool {
	key := keyOf(event.Object)
	k := t.known[key]
	if k == nil {
		return true
	}
	last := event.Object
	if k.last.UID() != last.UID() {
		last = k.last
	}
	return t.gone(key, last, event.ResourceVersion)
}

func (t *touched[K]) gone(key objectKey, last resource.Lazy[K], version string) bool {
	delete(t.known, key)
	return t.yield(watcher.Event[K]{Type: watcher.Delete, Object: last, ResourceVersion: version})
}

// listed takes in that a snapshot is complete: what was not in it is gone.
func (t *touched[K]) listed() bool {
	for key, k := range t.known {
		if k.snapshot != t.snapshots && !t.gone(key, k.last, "") {
			return false
		}
	}
	return true
}

// Modify yields events whose objects f has changed, to drop what nobody needs before it is kept, or to make objects
// uniform. Each object is decoded, changed and encoded again; it keeps its resource version. f must not change
// namespace, name and uid. An object that cannot be modified, because it does not decode or because f does that or
// panics, is yielded as it came, and failed, which may be nil, is told why. A reflector that watches by itself
// has a method of its own for it.
func Modify[K any](events iter.Seq[watcher.Event[K]], f func(*K), failed func(error)) iter.Seq[watcher.Event[K]] {
	return func(yield func(watcher.Event[K]) bool) {
		for event := range events {
			if event.Object.Raw != nil {
				modified, err := modify(event.Object, f)
				if err == nil {
					event.Object = modified
				} else if failed != nil {
					failed(err)
				}
			}
			if !yield(event) {
				return
			}
		}
	}
}

func modify[K any](object resource.Lazy[K], f func(*K)) (modified resource.Lazy[K], err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("modify %s: panic: %v", object.Raw, p)
		}
	}()
	decoded, err := object.Decode()
	if err != nil {
		return modified, err
	}
	f(decoded)
	raw, err := resource.EncodeRaw(object.Descriptor(), decoded)
	if err != nil {
		return modified, err
	}
	if raw.Namespace() != object.Namespace() || raw.Name() != object.Name() || raw.UID() != object.UID() {
		return modified, fmt.Errorf("modify %s: its namespace, name or uid was changed to %s (%s)", object.Raw, raw, raw.UID())
	}
	return resource.AsLazy[K](raw), nil
}

// Snapshot yields the events of one snapshot of objects: Init, an InitApply for each, InitDone.
func Snapshot[K any](objects iter.Seq[resource.Lazy[K]]) iter.Seq[watcher.Event[K]] {
	return func(yield func(watcher.Event[K]) bool) {
		if !yield(watcher.Event[K]{Type: watcher.Init}) {
			return
		}
		for object := range objects {
			if !yield(watcher.Event[K]{Type: watcher.InitApply, Object: object}) {
				return
			}
		}
		yield(watcher.Event[K]{Type: watcher.InitDone})
	}
}
