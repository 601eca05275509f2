package reflector

import (
	"iter"
	"slices"
	"strings"

	"github.com/go-kube/kube/resource"
)

// Index finds the objects of a store by values that are computed from each. It is a value to
// declare beside the kind, once, and to register with [Reflector.Index]; one index can be used
// with several reflectors. It is safe for concurrent use.
type Index[K any] struct{ index *index }

// index is the untyped inside of an [Index].
type index struct {
	decodes   bool
	label     string // by whose values it is; empty for others
	namespace bool   // it is by namespace
	// values appends the values of an object to dst. object is nil unless the index decodes.
	values func(dst []string, raw *resource.Raw, object any) []string
}

// NewIndex returns an index by the values that f returns: none, one or several per object. f
// must not change the object and must not block. Every object is decoded once per version for
// all indexes together.
func NewIndex[K any](f func(*K) []string) *Index[K] {
	return &Index[K]{&index{decodes: true, values: func(dst []string, _ *resource.Raw, object any) []string {
		return append(dst, f(object.(*K))...)
	}}}
}

// ByLabel returns an index by the value of the label called key. Nothing is decoded for it.
// [Store.Select] uses it by itself for selectors that name values of the label.
func ByLabel[K any](key string) *Index[K] {
	return &Index[K]{&index{label: key, values: func(dst []string, raw *resource.Raw, _ any) []string {
		if value, ok := raw.Label(key); ok {
			dst = append(dst, value)
		}
		return dst
	}}}
}

// ByOwner returns an index by the uids of the owners: Lookup(store, string(owner.UID)) yields
// what owner owns. Nothing is decoded for it.
func ByOwner[K any]() *Index[K] {
	return &Index[K]{&index{values: func(dst []string, raw *resource.Raw, _ any) []string {
		for _, owner := range raw.OwnerReferences() {
			dst = append(dst, string(owner.UID))
		}
		return dst
	}}}
}

// ByNamespace returns an index by namespace. Nothing is decoded for it. [Store.Query] uses it by itself for
// objects of one namespace.
func ByNamespace[K any]() *Index[K] {
	return &Index[K]{&index{namespace: true, values: func(dst []string, raw *resource.Raw, _ any) []string {
		return append(dst, raw.Namespace())
	}}}
}

// Lookup yields the objects that have value, as they were together at one moment, in no
// particular order. It panics when the index was not registered with the reflector of the
// store, which is a mistake in the program.
func (x *Index[K]) Lookup(store Store[K], value string) iter.Seq[resource.Lazy[K]] {
	c := store.from.now()
	content := c.registered(x.index)
	return func(yield func(resource.Lazy[K]) bool) {
		lazies[K](c.query(&query{values: []indexValue{{content, value}}}))(yield)
	}
}

// indexed is the content of an index in one store. It is guarded by the lock of the cache.
type indexed struct {
	*index
	position int // among the indexes that decode
	buckets  map[string]*bucket

	before, after []string // scratch space of update
}

// update makes the index right for an object whose content changes from old to new. Either can
// be empty: that of an object that was not, or will not be, in the store.
func (x *indexed) update(old, new content, was, is *entry) {
	x.before, x.after = x.valuesOf(x.before[:0], old), x.valuesOf(x.after[:0], new)
	if was == is && slices.Equal(x.before, x.after) {
		return
	}
	for _, value := range x.before {
		x.remove(value, was)
	}
	for i, value := range x.after {
		kept := x.add(value, is)
		if x.decodes {
			new.extra.values[x.position][i] = kept
		}
	}
}

// valuesOf appends the values of an object to dst.
func (x *indexed) valuesOf(dst []string, c content) []string {
	switch {
	case c.raw == nil:
		return dst
	case x.decodes:
		return append(dst, c.extra.values[x.position]...)
	}
	return x.values(dst, c.raw, nil)
}

// add adds e under value, and returns value as the index keeps it: a string of its own, shared
// by all its objects.
func (x *indexed) add(value string, e *entry) string {
	b := x.buckets[value]
	if b == nil {
		b = &bucket{value: strings.Clone(value)}
		x.buckets[b.value] = b
	}
	b.add(e)
	return b.value
}

func (x *indexed) remove(value string, e *entry) {
	b := x.buckets[value]
	if b == nil {
		return // a value that the object has twice
	}
	b.remove(e)
	if b.len() == 0 {
		delete(x.buckets, value)
	}
}

// bucket is the set of the objects that have a value: a slice while they are few, since most
// values have few, and a map beyond.
type bucket struct {
	value string
	few   []*entry
	many  map[*entry]struct{}
}

const maxFew = 16

func (b *bucket) len() int { return len(b.few) + len(b.many) }

func (b *bucket) add(e *entry) {
	switch {
	case b.many != nil:
		b.many[e] = struct{}{}
	case slices.Contains(b.few, e):
	case len(b.few) < maxFew:
		b.few = append(b.few, e)
	default:
		b.many = make(map[*entry]struct{}, 2*maxFew)
		for _, few := range b.few {
			b.many[few] = struct{}{}
		}
		b.few = nil
		b.many[e] = struct{}{}
	}
}

func (b *bucket) remove(e *entry) {
	if b.many != nil {
		delete(b.many, e)
		return
	}
	if i := slices.Index(b.few, e); i >= 0 {
		last := len(b.few) - 1
		b.few[i], b.few[last] = b.few[last], nil
		b.few = b.few[:last]
	}
}

func (b *bucket) has(e *entry) bool {
	if b.many != nil {
		_, ok := b.many[e]
		return ok
	}
	return slices.Contains(b.few, e)
}

// appendIf appends the objects of b to dst of which keep says so.
func (b *bucket) appendIf(dst []*resource.Raw, keep func(*entry) bool) []*resource.Raw {
	for _, e := range b.few {
		if keep(e) {
			dst = append(dst, e.raw)
		}
	}
	for e := range b.many {
		if keep(e) {
			dst = append(dst, e.raw)
		}
	}
	return dst
}
