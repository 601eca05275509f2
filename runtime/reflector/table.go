package reflector

import (
	"hash/maphash"
	"iter"

	"github.com/go-kube/kube/resource"
)

// key is the namespace and name of an object, with their hash.
type key struct {
	hash            uint32
	namespace, name string
}

// seed is of all tables, so that a key fits each of them.
var seed = maphash.MakeSeed()

func keyOf(namespace, name string) key {
	h := maphash.String(seed, name) ^ 31*maphash.String(seed, namespace)
	return key{uint32(h >> 32), namespace, name}
}

func (e *entry) key() key { return keyOf(e.raw.Namespace(), e.raw.Name()) }

// table holds entries by key. It is an open-addressing hash table that has no keys of its own:
// they are in the entries' objects, so that no key keeps the bytes of an object alive that
// was replaced since, as a key of a map would.
//
// What a lookup takes is in tags and raws alone. In a large store each step from one array to the next is a wait
// for memory, so these are as small as can be: a tag says of nearly every other object that it is not the one, and the
// entry of an object is needed by few.
type table struct {
	tags    []uint8         // of the hashes; 0 is a free slot
	raws    []*resource.Raw // of the entries
	hashes  []uint32        // of the keys
	entries []*entry
	len     int
}

const minTable = 16

// newTable returns a table with room for n entries.
func newTable(n int) *table {
	size := minTable
	for size*3/4 < n {
		size += size / 2
	}
	t := &table{}
	t.make(size)
	return t
}

func (t *table) make(size int) {
	t.tags, t.raws, t.hashes, t.entries = make([]uint8, size), make([]*resource.Raw, size), make([]uint32, size), make([]*entry, size)
}

// tagOf is never 0. It has other bits of a hash than those that say most of where its home is.
func tagOf(hash uint32) uint8 { return uint8(hash) | 1 }

// home is the slot where an entry is looked for first.
func (t *table) home(hash uint32) int { return int(uint64(hash) * uint64(len(t.tags)) >> 32) }

// after is the slot behind slot i.
func (t *table) after(i int) int {
	if i++; i == len(t.tags) {
		return 0
	}
	return i
}

// steps is how far it is from one slot to another.
func (t *table) steps(from, to int) int {
	if to < from {
		to += len(t.tags)
	}
	return to - from
}

// find returns the slot of a key: where it is, or where it would go.
func (t *table) find(k key) (slot int, found bool) {
	tag := tagOf(k.hash)
	for i := t.home(k.hash); ; i = t.after(i) {
		switch t.tags[i] {
		case 0:
			return i, false
		case tag:
			if t.raws[i].IsNamed(k.namespace, k.name) {
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
	for i := t.home(k.hash); t.tags[i] != 0; i = t.after(i) {
		if t.hashes[i] == k.hash && t.entries[i].isNamed(k.namespace, k.name) {
			return t.entries[i].content, true
		}
	}
	return content{}, false
}

// object returns the object of a key, or nil.
func (t *table) object(k key) *resource.Raw {
	if i, found := t.find(k); found {
		return t.raws[i]
	}
	return nil
}

// renew takes in that an entry in the table has another version of its object.
func (t *table) renew(e *entry) {
	if i, found := t.find(e.key()); found {
		t.raws[i] = e.raw
	}
}

// put adds an entry whose key is k, and returns the one whose place it takes, or nil.
func (t *table) put(k key, e *entry) (old *entry) {
	if (t.len+1)*4 > len(t.tags)*3 {
		t.grow()
	}
	i, found := t.find(k)
	if !found {
		t.len++
	}
	old = t.entries[i]
	t.set(i, k.hash, e)
	return old
}

func (t *table) set(i int, hash uint32, e *entry) {
	t.tags[i], t.raws[i], t.hashes[i], t.entries[i] = tagOf(hash), e.raw, hash, e
}

func (t *table) grow() {
	old := *t
	t.make(len(old.tags) + len(old.tags)/2)
	for j, tag := range old.tags {
		if tag == 0 {
			continue
		}
		i := t.home(old.hashes[j])
		for t.tags[i] != 0 {
			i = t.after(i)
		}
		t.move(i, &old, j)
	}
}

// move puts what is in slot j of another table, or of this one, into slot i. It does not look at the entry.
func (t *table) move(i int, from *table, j int) {
	t.tags[i], t.raws[i], t.hashes[i], t.entries[i] = from.tags[j], from.raws[j], from.hashes[j], from.entries[j]
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
	for j := t.after(i); t.tags[j] != 0; j = t.after(j) {
		if home := t.home(t.hashes[j]); t.steps(home, j) >= t.steps(i, j) {
			t.move(i, t, j)
			i = j
		}
	}
	t.tags[i], t.raws[i], t.hashes[i], t.entries[i] = 0, nil, 0, nil
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
		for _, raw := range t.raws {
			if raw != nil && !yield(raw) {
				return
			}
		}
	}
}
