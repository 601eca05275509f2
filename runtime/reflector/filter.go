package reflector

import (
	"iter"

	"github.com/go-kube/kube/resource"
)

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
