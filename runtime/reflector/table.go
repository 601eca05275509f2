package reflector

import (
	"hash/maphash"
	"iter"
)

// table holds entries by namespace and name. It is an open-addressing hash table without
// keys: they are in the entries' objects, so that a slot is 12 bytes, and no key keeps the
// bytes of an object alive that was replaced since, as a key of a map would.
type table struct {
	seed    maphash.Seed
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
	return &table{seed: maphash.MakeSeed(), hashes: make([]uint32, size), entries: make([]*entry, size)}
}

func (t *table) hash(namespace, name string) uint32 {
	h := maphash.String(t.seed, name) ^ 31*maphash.String(t.seed, namespace)
	return uint32(h>>32) | 1
}

// find returns the slot of a key: where it is, or where it would go.
func (t *table) find(hash uint32, namespace, name string) (slot int, found bool) {
	mask := len(t.hashes) - 1
	for i := int(hash>>1) & mask; ; i = (i + 1) & mask {
		switch t.hashes[i] {
		case 0:
			return i, false
		case hash:
			if raw := t.entries[i].raw; raw.Name() == name && raw.Namespace() == namespace {
				return i, true
			}
		}
	}
}

// get returns the entry of a key, or nil.
func (t *table) get(namespace, name string) *entry {
	i, found := t.find(t.hash(namespace, name), namespace, name)
	if !found {
		return nil
	}
	return t.entries[i]
}

// holds reports whether e, and not another entry or none, has e's key.
func (t *table) holds(e *entry) bool { return t.get(e.raw.Namespace(), e.raw.Name()) == e }

// put adds e, in place of the entry with the same key if there is one.
func (t *table) put(e *entry) {
	if (t.len+1)*4 > len(t.hashes)*3 {
		t.grow()
	}
	namespace, name := e.raw.Namespace(), e.raw.Name()
	hash := t.hash(namespace, name)
	i, found := t.find(hash, namespace, name)
	if !found {
		t.len++
	}
	t.hashes[i], t.entries[i] = hash, e
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
func (t *table) remove(namespace, name string) *entry {
	i, found := t.find(t.hash(namespace, name), namespace, name)
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
