package codec

import (
	"reflect"
	"sync"
	"sync/atomic"
)

// recentTypes is how many types a typeCache has at hand.
const recentTypes = 64

// typeCache keeps what was found out of types. Decoding is so short that a look-up in a sync.Map shows:
// it walks through memory that nobody else touches. The types that were asked for last stand in a
// table, each at its place.
type typeCache[V any] struct {
	all    sync.Map // of reflect.Type to *typeEntry[V]
	recent [recentTypes]atomic.Pointer[typeEntry[V]]
}

type typeEntry[V any] struct {
	typ   reflect.Type
	value V
}

// get returns what is known of t, and finds it out the first time. Several goroutines may do that at once;
// what one of them finds is kept.
func (c *typeCache[V]) get(t reflect.Type, find func(reflect.Type) V) V {
	place := &c.recent[reflect.ValueOf(t).Pointer()/64%recentTypes]
	if e := place.Load(); e != nil && e.typ == t {
		return e.value
	}
	known, ok := c.all.Load(t)
	if !ok {
		known, _ = c.all.LoadOrStore(t, &typeEntry[V]{t, find(t)})
	}
	e := known.(*typeEntry[V])
	place.Store(e)
	return e.value
}
