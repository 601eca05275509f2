package wire

import (
	"encoding/binary"
	"math/bits"
	"sync"
)

// Objects of a kind resemble each other: the pods of a Deployment differ in names, addresses
// and times, and those of two Deployments still have the same fields. A Packer remembers what
// it has met, in its dictionary, and writes an object as what is new in it and what is to be
// copied from there. It is LZ77 with a dictionary alone: nothing is copied from the object
// itself, so that objects are read one by one, in any order, by copying a few dozen pieces.
const (
	// dictionarySize bounds what a packer remembers: some dozen objects of different shapes. A
	// place in it, and 1, fits 16 bits.
	dictionarySize = 32 << 10
	// hashBits is the size of the table that finds a place in the dictionary.
	hashBits = 14
	// shortestCopy is how many bytes have to be the same to be found.
	shortestCopy = 8
	// shortestLesson is the shortest piece that is worth a place in the dictionary.
	shortestLesson = 16
	// shortestTail is how much there has to be to pack.
	shortestTail = 64
	// fewObjects is how many have to be tried before it is judged whether packing is of use.
	fewObjects = 64
	// recently is over how many bytes it is judged whether the dictionary is of use.
	recently = 1 << 20
)

// Packer makes objects smaller. One goroutine at a time may pack; what was packed can be read by
// any.
type Packer struct {
	extra  *extra                 // of the objects that are packed now: it has the dictionary
	places *[1 << hashBits]uint16 // by hash: a place in the dictionary, and 1; 0 for none

	total         int // bytes that were met with this dictionary
	plain, packed int // bytes of the last objects, before and after
	objects       int // that were packed, or would have been
	passed        int // objects since the last one, in times when it is of no use
	renewAt       int // value of objects from which on there may be another dictionary

	out   []byte // reused: what an object is packed to
	fresh []span // reused: pieces of the object that are not in the dictionary
}

// dictionary is what packed objects refer to. What is in it does not change.
type dictionary struct {
	text [dictionarySize]byte
	used int // of the packer alone: objects say where in text they have something from
}

// NewPacker returns a packer that has met nothing yet.
func NewPacker() *Packer {
	return &Packer{extra: &extra{dictionary: &dictionary{}}, places: &[1 << hashBits]uint16{}}
}

// Pack returns o in a smaller form that shares no memory with it; ok is false when there is
// not enough to gain. The metadata that routes an object stays as it is; what comes behind it in
// the bytes is packed. room, called at most once, returns the memory for so many bytes, see [Object.CloneTo].
func (p *Packer) Pack(o Object, room func(size int) []byte) (packed Object, ok bool) {
	head := o.routed()
	tail := o.data[head:]
	if o.extra != nil || len(tail) < shortestTail {
		return o, false // it is broken, packed already, or metadata alone
	}
	if p.useless() {
		return o, false
	}
	p.encode(tail)
	if p.learn(tail) {
		p.encode(tail)
	}
	p.count(len(tail), len(p.out))
	if len(p.out) > len(tail)-len(tail)/8 {
		return o, false
	}
	size := int(head) + len(p.out)
	o.data = join(room(size), o.data[:head], stringOf(p.out))
	o.head, o.extra = head, p.extra
	return o, true
}

// routed is how far the metadata that is looked at reaches.
func (o *Object) routed() (end uint32) {
	for _, s := range [...]span{o.name, o.inPlace(), o.uid, o.version, o.labels, o.annotations, o.owners, o.finalizers, o.createdAt, o.deletedAt} {
		end = max(end, s.end)
	}
	return end
}

// encode writes text to out: its length, then by turns the length of a new piece, the piece, the
// length of a piece in the dictionary and its place there (16 bits), until the length is
// reached. The new pieces are noted in fresh.
func (p *Packer) encode(text string) {
	p.out = binary.AppendUvarint(p.out[:0], uint64(len(text)))
	p.fresh = p.fresh[:0]
	from, at, misses := 0, 0, 0
	for at+shortestCopy <= len(text) {
		start, place, length := p.find(text, from, at)
		if length == 0 {
			// Where little is found, it is looked for less and less often.
			misses++
			at += 1 + misses>>5
			continue
		}
		p.piece(text, from, start)
		p.out = binary.AppendUvarint(p.out, uint64(length))
		p.out = binary.LittleEndian.AppendUint16(p.out, uint16(place))
		from = start + length
		at, misses = from, 0
	}
	if from < len(text) {
		p.piece(text, from, len(text))
	}
}

// piece writes a new piece, which may be empty.
func (p *Packer) piece(text string, from, to int) {
	p.out = binary.AppendUvarint(p.out, uint64(to-from))
	p.out = append(p.out, text[from:to]...)
	if to > from {
		p.fresh = append(p.fresh, span{uint32(from), uint32(to)})
	}
}

// find looks for what text has at at in the dictionary, and returns the longest piece around
// it that is there: no earlier than from. length is 0 when there is none.
func (p *Packer) find(text string, from, at int) (start, place, length int) {
	word := load(text, at)
	d := p.extra.dictionary
	place = int(p.places[hash(word)]) - 1
	if place < 0 || binary.LittleEndian.Uint64(d.text[place:]) != word {
		return 0, 0, 0
	}
	end, to := at+shortestCopy, place+shortestCopy
	for end+8 <= len(text) && to+8 <= d.used {
		if diff := load(text, end) ^ binary.LittleEndian.Uint64(d.text[to:]); diff != 0 {
			n := bits.TrailingZeros64(diff) / 8
			return p.back(text, from, at, place, end+n)
		}
		end, to = end+8, to+8
	}
	for end < len(text) && to < d.used && text[end] == d.text[to] {
		end, to = end+1, to+1
	}
	return p.back(text, from, at, place, end)
}

// back lets a piece begin earlier, as far as it is the same.
func (p *Packer) back(text string, from, at, place, end int) (int, int, int) {
	for at > from && place > 0 && text[at-1] == p.extra.dictionary.text[place-1] {
		at, place = at-1, place-1
	}
	return at, place, end - at
}

func load(text string, at int) uint64 {
	return binary.LittleEndian.Uint64(bytesOf(text)[at:])
}

func hash(word uint64) uint64 { return word * 0x9E3779B185EBCA87 >> (64 - hashBits) }

// useless reports whether o is not worth trying: where objects have nothing in common, one of sixteen
// is enough to notice when that changes.
func (p *Packer) useless() bool {
	if p.objects < fewObjects || p.packed < p.plain-p.plain/8 || p.passed == 15 {
		p.passed = 0
		return false
	}
	p.passed++
	return true
}

// count notes that an object of so many bytes was packed to so many.
func (p *Packer) count(plain, packed int) {
	p.objects++
	p.total += plain
	p.plain += plain
	p.packed += packed
	if p.plain > recently {
		p.plain, p.packed = p.plain/2, p.packed/2
	}
}

// learn adds what is new in text, which was encoded, to the dictionary, if much of it is. The
// first half of the dictionary goes to whoever comes first. The rest is filled no faster than
// objects come, lest what is said once, such as keys and certificates, takes it all.
func (p *Packer) learn(text string) (learnt bool) {
	fresh := 0
	for _, s := range p.fresh {
		fresh += int(s.end - s.start)
	}
	used := p.extra.dictionary.used
	switch {
	case fresh < len(text)/4, used-dictionarySize/2 > p.total/64:
		return false
	case used == dictionarySize && !p.renew(len(text)):
		return false
	}
	d := p.extra.dictionary
	before := d.used
	for _, s := range p.fresh {
		if s.end-s.start >= shortestLesson {
			d.used += copy(d.text[d.used:], text[s.start:s.end])
		}
	}
	for i := max(0, before-shortestCopy+1); i+shortestCopy <= d.used; i++ {
		p.places[hash(binary.LittleEndian.Uint64(d.text[i:]))] = uint16(i + 1)
	}
	return d.used > before
}

// renew begins another dictionary when the present one has become of little use: everything in
// the object, which has so many bytes, is new then. The old one stays in memory for as long as
// an object refers to it. The time until the next doubles, so there are not many.
func (p *Packer) renew(size int) bool {
	if p.objects < p.renewAt || p.packed < p.plain/2 {
		return false
	}
	p.renewAt = 2 * p.objects
	p.extra, p.fresh, p.total = &extra{dictionary: &dictionary{}}, append(p.fresh[:0], span{0, uint32(size)}), 0
	clear(p.places[:])
	return true
}

func (o *Object) isPacked() bool { return o.extra != nil && o.extra.dictionary != nil }

// AppendBytes appends what Bytes returns to b: for a packed object, without an allocation when
// there is room.
func (o *Object) AppendBytes(b []byte) []byte {
	if !o.isPacked() {
		return append(b, o.data...)
	}
	b = append(b, o.data[:o.head]...)
	packed := bytesOf(o.data)[o.head:]
	size, n := binary.Uvarint(packed)
	packed = packed[n:]
	end := len(b) + int(size)
	for {
		length, n := binary.Uvarint(packed)
		b = append(b, packed[n:n+int(length)]...)
		packed = packed[n+int(length):]
		if len(b) == end {
			return b
		}
		length, n = binary.Uvarint(packed)
		place := int(binary.LittleEndian.Uint16(packed[n:]))
		b = append(b, o.extra.dictionary.text[place:place+int(length)]...)
		packed = packed[n+2:]
		if len(b) == end {
			return b
		}
	}
}

// samePacked is SameBytes where both objects are packed.
func (o *Object) samePacked(other *Object) (same bool) {
	if o.extra == other.extra && o.data == other.data {
		return true // in the usual case, which is that nothing was learnt in between
	}
	other.Read(func(theirs []byte) error {
		same = o.unpacksTo(stringOf(theirs))
		return nil
	})
	return same
}

// unpacksTo reports whether o, which is packed, has the bytes in text. They are compared piece by piece,
// without being put together.
func (o *Object) unpacksTo(text string) bool {
	packed := o.data[o.head:]
	size, n := binary.Uvarint(bytesOf(packed))
	packed = packed[n:]
	if len(text) != int(o.head)+int(size) || text[:o.head] != o.data[:o.head] {
		return false
	}
	for text = text[o.head:]; ; {
		length, n := binary.Uvarint(bytesOf(packed))
		piece := packed[n : n+int(length)]
		packed = packed[n+int(length):]
		if text[:len(piece)] != piece {
			return false
		}
		if text = text[len(piece):]; text == "" {
			return true
		}
		length, n = binary.Uvarint(bytesOf(packed))
		place := int(binary.LittleEndian.Uint16(bytesOf(packed)[n:]))
		packed = packed[n+2:]
		if text[:length] != string(o.extra.dictionary.text[place:place+int(length)]) {
			return false
		}
		if text = text[length:]; text == "" {
			return true
		}
	}
}

// Read calls f with what Bytes returns, without an allocation: f must not keep it. It returns
// what f returns.
func (o *Object) Read(f func(b []byte) error) error {
	if !o.isPacked() {
		return f(bytesOf(o.data))
	}
	box := unpacked.Get().(*[]byte)
	defer unpacked.Put(box)
	*box = o.AppendBytes((*box)[:0])
	return f(*box)
}

// unpacked are buffers for objects that are read.
var unpacked = sync.Pool{New: func() any { return new([]byte) }}
