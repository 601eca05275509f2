package controller

import (
	"hash/maphash"
	"iter"
)

// minBuckets is the size of an empty table, a power of two.
const minBuckets = 16

// table finds the entry of a key. It is a chained hash table whose links are in the entries:
// a key is hashed once per trigger, and not at all when its entry goes, where a map would
// hash it for the look-up, the insertion and the deletion.
type table[K comparable] struct {
	seed    maphash.Seed
	buckets []*entry[K] // a power of two
	count   int
}

func newTable[K comparable]() table[K] {
	return table[K]{seed: maphash.MakeSeed(), buckets: make([]*entry[K], minBuckets)}
}

func (t *table[K]) hash(key K) uint64 { return maphash.Comparable(t.seed, key) }

func (t *table[K]) bucket(hash uint64) **entry[K] {
	return &t.buckets[hash&uint64(len(t.buckets)-1)]
}

// get returns the entry of key, or nil. hash is that of key.
func (t *table[K]) get(key K, hash uint64) *entry[K] {
	for e := *t.bucket(hash); e != nil; e = e.chain {
		if e.hash == hash && e.key == key {
			return e
		}
	}
	return nil
}

// put adds e, whose key and hash are set and not in the table.
func (t *table[K]) put(e *entry[K]) {
	if t.count == len(t.buckets) {
		t.resize(2 * len(t.buckets))
	}
	t.link(e)
	t.count++
}

// remove takes out e, which is in the table.
func (t *table[K]) remove(e *entry[K]) {
	at := t.bucket(e.hash)
	for *at != e {
		at = &(*at).chain
	}
	*at, e.chain = e.chain, nil
	t.count--
	if t.count < len(t.buckets)/8 && len(t.buckets) > minBuckets {
		t.resize(len(t.buckets) / 2)
	}
}

func (t *table[K]) link(e *entry[K]) {
	at := t.bucket(e.hash)
	e.chain, *at = *at, e
}

func (t *table[K]) resize(size int) {
	old := t.buckets
	t.buckets = make([]*entry[K], size)
	for _, e := range old {
		for e != nil {
			next := e.chain
			t.link(e)
			e = next
		}
	}
}

// all yields every entry, in no order. The table must not change meanwhile.
func (t *table[K]) all() iter.Seq[*entry[K]] {
	return func(yield func(*entry[K]) bool) {
		for _, e := range t.buckets {
			for ; e != nil; e = e.chain {
				if !yield(e) {
					return
				}
			}
		}
	}
}
