package reflector

import (
	"iter"

	"github.com/go-kube/kube/resource"
)

// Query says which objects are meant: those for which all holds that is set. The zero Query means all.
type Query[K any] struct {
	// Namespace is that of the objects; empty is any. For a cluster-scoped kind it does not count.
	Namespace string
	// Labels selects by labels.
	Labels resource.Selector
	// Values are what indexes say of the objects. The indexes have to be registered with the
	// reflector of the store.
	Values []IndexValue[K]
}

// IndexValue is a value that an object has in an index.
type IndexValue[K any] struct {
	Index *Index[K]
	Value string
}

// Query yields the objects that q means, as they were together at one moment, in no particular order, without
// decoding them. It looks at as few objects as the indexes allow: those of [ByLabel] for labels of which q names
// values, those of [ByNamespace] (a store of several namespaces needs none), and those of q.Values.
// It panics when an index of q.Values was not registered, which is a mistake in the program.
func (s Store[K]) Query(q Query[K]) iter.Seq[resource.Lazy[K]] {
	return func(yield func(resource.Lazy[K]) bool) {
		c := s.from.now()
		u := query{namespace: c.namespaceOf(q.Namespace), labels: q.Labels}
		for _, v := range q.Values {
			u.values = append(u.values, indexValue{c.registered(v.Index.index), v.Value})
		}
		for _, raw := range c.query(&u) {
			if u.meets(raw) && !yield(resource.AsLazy[K](raw)) {
				return
			}
		}
	}
}

// Select yields the objects that selector selects: it is [Store.Query] by labels alone. Where the selector names
// values of a label (app=web, app in (web,db)) and the reflector has a [ByLabel] index of that label, only the
// objects with these values are looked at, and else all.
func (s Store[K]) Select(selector resource.Selector) iter.Seq[resource.Lazy[K]] {
	return s.Query(Query[K]{Labels: selector})
}

// query is a [Query] without types.
type query struct {
	namespace string
	labels    resource.Selector
	values    []indexValue
}

type indexValue struct {
	index *indexed
	value string
}

// meets reports whether what the metadata says of an object is as it has to be.
func (q *query) meets(raw *resource.Raw) bool {
	return (q.namespace == "" || raw.Namespace() == q.namespace) && q.labels.MatchesFunc(raw.Label)
}

// namespaceOf returns the namespace of objects that a reader means by namespace.
func (c *cache) namespaceOf(namespace string) string {
	if c.descriptor.Scope == resource.ClusterScoped {
		return ""
	}
	return namespace
}

// query returns objects among which are all that q means. They have the values that q wants; meets judges the rest.
func (c *cache) query(q *query) []*resource.Raw {
	c = c.lockToRead()
	defer c.mu.RUnlock()
	best, ok := c.candidates(q)
	if !ok {
		return c.listed(q.namespace)
	}
	found := make([]*resource.Raw, 0, best.n)
	for _, b := range best.buckets {
		found = b.appendIf(found, func(e *entry) bool { return q.hasValues(e, &best) })
	}
	return found
}

// hasValues reports whether an object, which is one of from, has the values that q wants. The caller holds mu.
func (q *query) hasValues(e *entry, from *candidates) bool {
	for _, v := range q.values {
		switch b := v.index.buckets[v.value]; {
		case b == nil:
			return false
		case len(from.buckets) == 1 && from.buckets[0] == b:
		case !b.has(e):
			return false
		}
	}
	return true
}

// candidates are where the objects are among which are those that are meant, each in one of them.
type candidates struct {
	buckets []*bucket
	n       int
}

// candidates returns those that are the fewest; ok is false where no index has anything to say. The caller
// holds mu.
func (c *cache) candidates(q *query) (best candidates, ok bool) {
	consider := func(x *indexed, values ...string) {
		if found := x.holding(values); !ok || found.n < best.n {
			best, ok = found, true
		}
	}
	for _, v := range q.values {
		consider(v.index, v.value)
	}
	for _, x := range c.indexed {
		switch {
		case x.label != "":
			if values, limited := q.labels.Values(x.label); limited {
				consider(x, values...)
			}
		case x.namespace && q.namespace != "":
			consider(x, q.namespace)
		}
	}
	return best, ok
}

// holding returns the objects that have one of values, of which no object has two.
func (x *indexed) holding(values []string) (found candidates) {
	for _, value := range values {
		if b := x.buckets[value]; b != nil {
			found.buckets = append(found.buckets, b)
			found.n += b.len()
		}
	}
	return found
}
