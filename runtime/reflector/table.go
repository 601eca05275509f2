package reflector

import (
	"hash/maphash"
	"iter"
)

// key is the namespace and name of an object, with their hash.
type key struct {
	hash            uint32 // never 0
	namespace, name string
}

// seed is of all tables, so that a key fits each of them.
var seed = maphash.MakeSeed()

func keyOf(namespace, name string) key {
	h := maphash.String(seed, name) ^ 31*maphash.String(seed, namespace)
	return key{uint32(h>>32) | 1, namespace, name}
}

func (e *entry) key() key { return keyOf(e.raw.Namespace(), e.raw.Name()) }

// table holds entries by key. It is an open-addressing hash table that has no keys of its own:
// they are in the entries' objects, so that a slot is 12 bytes, and no key keeps the bytes
// of an object alive that was replaced since, as a key of a map would.
type table struct {
	hashes  []uint32 // of the entries beside them; 0 is a free slot
	entries []*entry
	len     int
}

const minTable = 16

// newTable returns a table with room for n entries.
func newTable(n int) *table {
	size := minTable
	for size*3/4 < n {
		size *= 2
	}
	return &table{hashes: make([]uint32, size), entries: make([]*entry, size)}
}

// find returns the slot of a key: where it is, or where it would go.
func (t *table) find(k key) (slot int, found bool) {
	mask := len(t.hashes) - 1
	for i := int(k.hash>>1) & mask; ; i = (i + 1) & mask {
		switch t.hashes[i] {
		case 0:
			return i, false
		case k.hash:
			if raw := t.entries[i].raw; raw.Name() == k.name && raw.Namespace() == k.namespace {
				return i, true
			}
		}
	}
}

// get returns the entry of a key, or nil.
func (t *table) get(k key) *entry {
	if i, found := t.find(k); found {
		return t.entries[i]
	}
	return nil
}

// put adds an entry whose key is k, and returns the one whose place it takes, or nil.
func (t *table) put(k key, e *entry) (old *entry) {
	if (t.len+1)*4 > len(t.hashes)*3 {
		t.grow()
	}
	i, found := t.find(k)
	if !found {
		t.len++
	}
	old = t.entries[i]
	t.hashes[i], t.entries[i] = k.hash, e
	return old
}

func (t *table) grow() {
	old := *t
	t.hashes, t.entries = make([]uint32, 2*len(old.hashes)), make([]*entry, 2*len(old.hashes))
	mask := len(t.hashes) - 1
	for j, hash := range old.hashes {
		if hash == 0 {
			continue
		}
		i := int(hash>>1) & mask
		for t.hashes[i] != 0 {
			i = (i + 1) & mask
		}
		t.hashes[i], t.entries[i] = hash, old.entries[j]
	}
}

// remove takes the entry of a key out and returns it, or nil.
func (t *table) remove(k key) *entry {
	i, found := t.find(k)
	if !found {
		return nil
	}
	e := t.entries[i]
	t.len--
	t.free(i)
	return e
}

// free empties slot i, and moves the entries behind it up that were pushed back by it.
func (t *table) free(i int) {
	mask := len(t.hashes) - 1
	for j := (i + 1) & mask; t.hashes[j] != 0; j = (j + 1) & mask {
		home := int(t.hashes[j]>>1) & mask
		if (j-home)&mask >= (j-i)&mask {
			t.hashes[i], t.entries[i] = t.hashes[j], t.entries[j]
			i = j
		}
	}
	t.hashes[i], t.entries[i] = 0, nil
}

// all yields the entries, in no particular order. The table must not change meanwhile.
func (t *table) all() iter.Seq[*entry] {
	return func(yield func(*entry) bool) {
		for i, hash := range t.hashes {
			if hash != 0 && !yield(t.entries[i]) {
				return
			}
		}
	}
}
