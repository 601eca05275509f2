package codec

import (
	"reflect"
	"sync"
	"testing"
)

func TestTypeCache(t *testing.T) {
	var c typeCache[string]
	var types []reflect.Type
	for i := range 3 * recentTypes { // so that several share a place
		types = append(types, reflect.ArrayOf(i, reflect.TypeFor[byte]()))
	}
	asked := map[reflect.Type]int{}
	for range 2 {
		for _, typ := range types {
			got := c.get(typ, func(found reflect.Type) string {
				asked[found]++
				return found.String()
			})
			if got != typ.String() {
				t.Fatalf("%s is known as %s", typ, got)
			}
		}
	}
	for _, typ := range types {
		if asked[typ] != 1 {
			t.Errorf("%s was found out %d times", typ, asked[typ])
		}
	}
}

func TestTypeCacheAtOnce(t *testing.T) {
	var c typeCache[*int]
	var all sync.WaitGroup
	got := make([]*int, 8)
	for i := range got {
		all.Go(func() { got[i] = c.get(reflect.TypeFor[int](), func(reflect.Type) *int { return new(i) }) })
	}
	all.Wait()
	for _, p := range got {
		if p != got[0] {
			t.Errorf("two are known: %d and %d", *p, *got[0])
		}
	}
}
