package controller

import (
	"fmt"
	"hash/maphash"
	"slices"

	"github.com/go-kube/kube/resource"
	"k8s.io/apimachinery/pkg/types"
)

// Predicate says which changes of an object are worth a reconcile, by its metadata and
// without decoding it: [Controller.Filter] takes one for the controller's own objects,
// [Source.Filter] for those of a related kind. The zero Predicate lets everything pass.
//
// What a predicate that compares has to go by is the state of the object when it last passed,
// and not the one before: of two changes of which the first was held back, neither is lost.
// For such a predicate everything has changed of an object that was not seen before, that was
// deleted and made again, or whose deletion has begun. That an object is gone is no change to
// be filtered: it always triggers what it has to trigger.
type Predicate struct {
	op    op
	value func(*resource.Raw) (hash uint64, ok bool) // of a leaf that compares
	allow func(*resource.Raw) bool                   // of a leaf that decides alone
	parts []Predicate
}

type op uint8

const (
	everything op = iota
	changed
	where
	and
	or
	fallback
)

// hashSeed makes hashes comparable within this process. They go nowhere else.
var hashSeed = maphash.MakeSeed()

// Generation passes when metadata.generation changes, which the server counts up when the
// spec changes: not for the status, labels and annotations. Kinds without a generation, such
// as ConfigMaps, pass with every change.
//
// It holds back the change that adds a finalizer. Beside [Finalize], use
// Or(Generation(), Finalizers()).
func Generation() Predicate {
	return compare(func(r *resource.Raw) (uint64, bool) {
		if g := r.Generation(); g != 0 {
			return uint64(g), true
		}
		return maphash.String(hashSeed, r.ResourceVersion()), true
	})
}

// ResourceVersion passes with every change, and holds back what a new list brings unchanged.
func ResourceVersion() Predicate {
	return Changed(func(r *resource.Raw) (string, bool) { return r.ResourceVersion(), true })
}

// Labels passes when a label is set, changed or removed.
func Labels() Predicate {
	return compare(func(r *resource.Raw) (uint64, bool) { return hashPairs(r.EachLabel), true })
}

// Annotations passes when an annotation is set, changed or removed. That of kubectl apply does
// not count.
func Annotations() Predicate {
	return compare(func(r *resource.Raw) (uint64, bool) {
		return hashPairs(func(yield func(string, string) bool) {
			for key, value := range r.Annotations() {
				if !yield(key, value) {
					return
				}
			}
		}), true
	})
}

// Finalizers passes when the list of finalizers changes.
func Finalizers() Predicate {
	return compare(func(r *resource.Raw) (uint64, bool) {
		var h maphash.Hash
		h.SetSeed(hashSeed)
		for _, f := range r.Finalizers() {
			maphash.WriteComparable(&h, f)
		}
		return h.Sum64(), true
	})
}

// Changed passes when the value that f takes from the object changes. ok says whether the
// object has one: where it has none the predicate has nothing to say, and the object passes
// unless others of [And], [Or] or [Fallback] decide. So
//
//	controller.Changed(func(r *resource.Raw) (string, bool) { return r.Label("tier") })
//
// passes when the tier changes, and with every change of an object without a tier. f must not
// change the object, and may be called from several goroutines.
func Changed[T comparable](f func(r *resource.Raw) (value T, ok bool)) Predicate {
	need(f != nil, "Changed")
	return compare(func(r *resource.Raw) (uint64, bool) {
		value, ok := f(r)
		if !ok {
			return 0, false
		}
		return maphash.Comparable(hashSeed, value), true
	})
}

func compare(value func(*resource.Raw) (uint64, bool)) Predicate {
	return Predicate{op: changed, value: value}
}

// Where passes while f is true of the object, changed or not.
func Where(f func(r *resource.Raw) bool) Predicate {
	need(f != nil, "Where")
	return Predicate{op: where, allow: f}
}

// And passes when every one of the predicates that have something to say passes. With
// predicates that compare, all of their values have to have changed since the object passed.
func And(predicates ...Predicate) Predicate { return join(and, "And", predicates) }

// Or passes when one of the predicates passes: Or(Generation(), Labels()) is what kube-rs calls
// combine.
func Or(predicates ...Predicate) Predicate { return join(or, "Or", predicates) }

// Fallback is the first of the predicates that has something to say of the object.
func Fallback(predicates ...Predicate) Predicate { return join(fallback, "Fallback", predicates) }

func join(o op, name string, predicates []Predicate) Predicate {
	if len(predicates) == 0 {
		panic(fmt.Sprintf("controller: %s needs at least one predicate", name))
	}
	return Predicate{op: o, parts: slices.Clone(predicates)}
}

// verdict is what a predicate says of an object.
type verdict uint8

const (
	silent verdict = iota // nothing to go by
	drop
	pass
)

// merge joins what the parts so far say with what the next part says.
func (o op) merge(so, next verdict) verdict {
	switch {
	case so == silent:
		return next
	case next == silent || o == fallback:
		return so
	case o == and:
		return min(so, next)
	}
	return max(so, next)
}

// each calls f with every leaf, from left to right.
func (p *Predicate) each(f func(*Predicate)) {
	if p.op == changed || p.op == where {
		f(p)
	}
	for i := range p.parts {
		p.parts[i].each(f)
	}
}

// hashPairs hashes a map whatever its order: the sum of the hashes of its pairs.
func hashPairs(each func(func(key, value string) bool)) (sum uint64) {
	each(func(key, value string) bool {
		sum += maphash.Comparable(hashSeed, [2]string{key, value})
		return true
	})
	return sum
}

// objectKey names an object of whatever kind: a [resource.Ref] without its type.
type objectKey struct{ Namespace, Name string }

func (k objectKey) String() string { return resource.Ref[any](k).String() }

// filter remembers what a predicate compares with, for each object that passed: one number
// per leaf that compares. It holds objects that exist and no others: its owner drops what is
// deleted. It is for one goroutine.
type filter struct {
	predicate Predicate
	leaves    []*Predicate
	passed    map[objectKey]*passed
	found     []finding // of the object at hand
}

// passed is the state of an object when it last passed.
type passed struct {
	life   uint64 // of its uid and whether its deletion has begun
	values []finding
}

// finding is what a leaf found in an object.
type finding struct {
	hash uint64
	ok   bool
}

func newFilter(p Predicate) *filter {
	f := &filter{predicate: p, passed: map[objectKey]*passed{}}
	f.predicate.each(func(leaf *Predicate) { f.leaves = append(f.leaves, leaf) })
	f.found = make([]finding, len(f.leaves))
	return f
}

// pass reports whether raw passes, and remembers it if so. key is that of raw.
func (f *filter) pass(key objectKey, raw *resource.Raw) bool {
	if len(f.leaves) == 0 {
		return true
	}
	life := lifeOf(raw)
	before := f.passed[key]
	if before != nil && before.life != life {
		before = nil
	}
	f.look(raw)
	leaf := 0
	if f.judge(&f.predicate, &leaf, before) == drop {
		return false
	}
	if before == nil {
		before = &passed{life: life, values: make([]finding, len(f.found))}
		f.passed[key.owned()] = before
	}
	copy(before.values, f.found)
	return true
}

// lifeOf tells apart objects of one name, and an object whose deletion has begun from what it
// was before.
func lifeOf(raw *resource.Raw) uint64 {
	life := hashUID(raw.UID())
	if raw.DeletionTimestamp() != nil {
		life = ^life
	}
	return life
}

func hashUID(uid types.UID) uint64 { return maphash.String(hashSeed, string(uid)) }

// look asks the leaves. For a leaf that decides alone, ok is its decision.
func (f *filter) look(raw *resource.Raw) {
	for i, leaf := range f.leaves {
		if leaf.op == where {
			f.found[i] = finding{ok: leaf.allow(raw)}
			continue
		}
		hash, ok := leaf.value(raw)
		f.found[i] = finding{hash, ok}
	}
}

// judge evaluates the tree below p. next is the first leaf of it, and is moved behind the last:
// every part is evaluated, so that the leaves stay in step.
func (f *filter) judge(p *Predicate, next *int, before *passed) verdict {
	switch p.op {
	case everything:
		return pass
	case changed, where:
		*next++
		return f.judgeLeaf(*next-1, before)
	}
	result := silent
	for i := range p.parts {
		result = p.op.merge(result, f.judge(&p.parts[i], next, before))
	}
	return result
}

func (f *filter) judgeLeaf(i int, before *passed) verdict {
	now := f.found[i]
	switch {
	case f.leaves[i].op == where:
		return verdictOf(now.ok)
	case !now.ok:
		return silent
	case before == nil:
		return pass
	}
	return verdictOf(now != before.values[i])
}

func verdictOf(passes bool) verdict {
	if passes {
		return pass
	}
	return drop
}

// drop forgets an object that is gone.
func (f *filter) drop(key objectKey) { delete(f.passed, key) }
