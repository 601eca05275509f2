package reflector

import (
	"hash/maphash"
	"iter"

	"github.com/go-kube/kube/resource"
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
// they are in the entries' objects, so that no key keeps the bytes of an object alive that
// was replaced since, as a key of a map would.
type table struct {
	slots   []slot
	entries []*entry // of the slots
	len     int
}

// slot has what finding an object takes, and not its entry: in a large store each step from one to the next is a
// wait for memory. Four slots fill a line of a processor's cache, and none lies across two.
type slot struct {
	raw  *resource.Raw // of the entry; nil in a free slot
	hash uint32        // of the key; 0 is a free slot
}

func slotOf(e *entry, hash uint32) slot { return slot{e.raw, hash} }

const minTable = 16

// newTable returns a table with room for n entries.
func newTable(n int) *table {
	size := minTable
	for size*3/4 < n {
		size *= 2
	}
	return &table{slots: make([]slot, size), entries: make([]*entry, size)}
}

// find returns the slot of a key: where it is, or where it would go.
func (t *table) find(k key) (slot int, found bool) {
	mask := len(t.slots) - 1
	for i := int(k.hash>>1) & mask; ; i = (i + 1) & mask {
		s := &t.slots[i]
		switch s.hash {
		case 0:
			return i, false
		case k.hash:
			if s.raw.IsNamed(k.namespace, k.name) {
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

// content returns what the entry of a key has, in a table of entries with objects that are kept decoded: it does not
// look at their bytes.
func (t *table) content(k key) (c content, ok bool) {
	mask := len(t.slots) - 1
	for i := int(k.hash>>1) & mask; t.slots[i].hash != 0; i = (i + 1) & mask {
		if t.slots[i].hash == k.hash && t.entries[i].isNamed(k.namespace, k.name) {
			return t.entries[i].content, true
		}
	}
	return content{}, false
}

// object returns the object of a key, or nil.
func (t *table) object(k key) *resource.Raw {
	if i, found := t.find(k); found {
		return t.slots[i].raw
	}
	return nil
}

// renew takes in that an entry in the table has another version of its object.
func (t *table) renew(e *entry) {
	if i, found := t.find(e.key()); found {
		t.slots[i] = slotOf(e, t.slots[i].hash)
	}
}

// put adds an entry whose key is k, and returns the one whose place it takes, or nil.
func (t *table) put(k key, e *entry) (old *entry) {
	if (t.len+1)*4 > len(t.slots)*3 {
		t.grow()
	}
	i, found := t.find(k)
	if !found {
		t.len++
	}
	old = t.entries[i]
	t.slots[i], t.entries[i] = slotOf(e, k.hash), e
	return old
}

func (t *table) grow() {
	old, entries := t.slots, t.entries
	t.slots, t.entries = make([]slot, 2*len(old)), make([]*entry, 2*len(old))
	mask := len(t.slots) - 1
	for j := range old {
		if old[j].hash == 0 {
			continue
		}
		i := int(old[j].hash>>1) & mask
		for t.slots[i].hash != 0 {
			i = (i + 1) & mask
		}
		t.slots[i], t.entries[i] = old[j], entries[j]
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
	mask := len(t.slots) - 1
	for j := (i + 1) & mask; t.slots[j].hash != 0; j = (j + 1) & mask {
		home := int(t.slots[j].hash>>1) & mask
		if (j-home)&mask >= (j-i)&mask {
			t.slots[i], t.entries[i] = t.slots[j], t.entries[j]
			i = j
		}
	}
	t.slots[i], t.entries[i] = slot{}, nil
}

// all yields the entries, in no particular order. The table must not change meanwhile.
func (t *table) all() iter.Seq[*entry] {
	return func(yield func(*entry) bool) {
		for _, e := range t.entries {
			if e != nil && !yield(e) {
				return
			}
		}
	}
}

// objects yields the objects without looking at their entries, which is one wait for memory less for each of
// them; otherwise as all.
func (t *table) objects() iter.Seq[*resource.Raw] {
	return func(yield func(*resource.Raw) bool) {
		for i := range t.slots {
			if raw := t.slots[i].raw; raw != nil && !yield(raw) {
				return
			}
		}
	}
}
