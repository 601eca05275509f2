package reflector

import (
	"iter"

	"github.com/go-kube/kube/resource"
)

// Select yields the objects that selector selects, as they were together at one moment, in no
// particular order, without decoding them. Where the selector names values of a label (app=web,
// app in (web,db)) and the reflector has a [ByLabel] index of that label, only the objects with
// these values are looked at, and else all.
func (s Store[K]) Select(selector resource.Selector) iter.Seq[resource.Lazy[K]] {
	return func(yield func(resource.Lazy[K]) bool) {
		for _, raw := range s.from.now().candidates(selector) {
			if selector.MatchesFunc(raw.Label) && !yield(resource.AsLazy[K](raw)) {
				return
			}
		}
	}
}

// Filter yields the objects of which keep says so, as they were together at one moment, in no particular order.
// keep decides by the metadata, or decodes what it needs.
func (s Store[K]) Filter(keep func(resource.Lazy[K]) bool) iter.Seq[resource.Lazy[K]] {
	return func(yield func(resource.Lazy[K]) bool) {
		for lazy := range s.All() {
			if keep(lazy) && !yield(lazy) {
				return
			}
		}
	}
}

// Find returns an object of which match says so; ok is false if there is none. Of several it is any.
func (s Store[K]) Find(match func(resource.Lazy[K]) bool) (lazy resource.Lazy[K], ok bool) {
	for lazy := range s.Filter(match) {
		return lazy, true
	}
	return lazy, false
}

// Metadata returns s for readers of metadata: Get decodes only that. Nothing is copied, and s and
// what it returns are the same store.
func Metadata[K any](s Store[K]) Store[resource.Metadata[K]] {
	return Store[resource.Metadata[K]](s)
}

// candidates returns objects among which are all that selector selects: by the index that leaves the fewest.
func (c *cache) candidates(selector resource.Selector) []*resource.Raw {
	c = c.lockToRead()
	defer c.mu.RUnlock()
	var best []*bucket
	fewest := c.objects + 1
	for _, x := range c.indexed {
		if buckets, n, ok := x.candidates(selector); ok && n < fewest {
			best, fewest = buckets, n
		}
	}
	if fewest > c.objects {
		return c.listed()
	}
	found := make([]*resource.Raw, 0, fewest)
	for _, b := range best {
		found = b.append(found)
	}
	return found
}

// candidates returns where the objects are that selector can select, and how many; ok is false when the
// index says nothing of them.
func (x *indexed) candidates(selector resource.Selector) (buckets []*bucket, n int, ok bool) {
	if x.label == "" {
		return nil, 0, false
	}
	values, ok := selector.Values(x.label)
	for _, value := range values {
		if b := x.buckets[value]; b != nil {
			buckets = append(buckets, b)
			n += b.len()
		}
	}
	return buckets, n, ok
}
