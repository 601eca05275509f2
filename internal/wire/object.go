package wire

import (
	"math"
	"time"
	"unique"
	"unsafe"
)

// InitialEventsEnd is the annotation of the bookmark that ends the initial events of a
// streaming list (KEP-3157).
const InitialEventsEnd = "k8s.io/initial-events-end"

// lastApplied is where kubectl apply keeps what it applied last: a second copy of the object.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// Object is one object: its bytes, and where the metadata that routes it is in them. It does
// not change, and can be used by several goroutines at once. Strings that its methods return
// share the memory of the object; clone them (strings.Clone) where they are to outlive it.
//
// An object that is broken (see [Object.Err]) has the metadata that could be read; the rest is
// empty.
type Object struct {
	// What finding and decoding an object needs comes first, in one line of a processor's cache, and so do the
	// pointers: the garbage collector, which looks at each object again and again, needs no more than that line.
	data      string
	extra     *extra                // nil for most objects
	namespace unique.Handle[string] // the zero handle for none
	name      span                  // of a string, as uid and version are: without quotes in JSON
	head      uint32                // of a packed object: how much of data is not packed
	// apart is how far behind the name the namespace begins in data, length how long it is there; 0 where it
	// stands elsewhere, or in other words. Comparing it there is one wait for memory less than with the handle.
	apart  uint16
	length uint8
	format Format

	labels, annotations  span // JSON: the object; protobuf: from the first entry to the last
	uid, version         span
	generation           int64
	owners, finalizers   span // JSON: the array; protobuf: from the first entry to the last
	createdAt, deletedAt span // JSON: without quotes; protobuf: the Time message
}

// extra is what few objects have, or many have in common.
type extra struct {
	broken     *objectError
	dictionary *dictionary // of a packed object
}

// OwnerReference is an entry of metadata.ownerReferences.
type OwnerReference struct {
	APIVersion, Kind, Name, UID    string
	Controller, BlockOwnerDeletion Flag
}

// Flag is a boolean that may be missing.
type Flag uint8

// The values of a Flag.
const (
	Unset Flag = iota
	False
	True
)

func flag(value bool) Flag {
	if value {
		return True
	}
	return False
}

// Pointer returns a new pointer to the value, nil when it is not set.
func (f Flag) Pointer() *bool {
	if f == Unset {
		return nil
	}
	return new(f == True)
}

// Err says what is wrong with the object, as far as it was looked at: nil for nearly all.
func (o *Object) Err() error {
	if o.extra == nil || o.extra.broken == nil {
		return nil
	}
	return o.extra.broken
}

// Format is how Bytes are encoded.
func (o *Object) Format() Format { return o.format }

// Bytes returns the object: JSON text, or a protobuf message without an envelope. They must
// not be modified. Those of a packed object are made by each call.
func (o *Object) Bytes() []byte {
	if o.isPacked() {
		return o.AppendBytes(nil)
	}
	return bytesOf(o.data)
}

// CloneTo returns a copy of o that shares no memory with it but for what is not written to ever. Its bytes
// are in room, which is as long as Size and nobody writes to any more; where room is nil, they have memory
// of their own.
func (o *Object) CloneTo(room []byte) Object {
	c := *o
	c.data = join(room, o.data, "")
	return c
}

// join returns a and b as one string, in room where there is one.
func join(room []byte, a, b string) string {
	if room == nil {
		room = make([]byte, len(a)+len(b))
	}
	copy(room[copy(room, a):], b)
	return stringOf(room[:len(a)+len(b)])
}

// Size is the number of bytes that the object takes.
func (o *Object) Size() int { return len(o.data) }

// SameBytes reports whether the two are encoded in the same way and say the same in the same words.
func (o *Object) SameBytes(other *Object) bool {
	switch {
	case o.format != other.format, o.part(o.version) != other.part(other.version):
		return false
	case o.isPacked() && other.isPacked():
		return o.samePacked(other)
	case o.isPacked():
		return o.unpacksTo(other.data)
	case other.isPacked():
		return other.unpacksTo(o.data)
	default:
		return o.data == other.data
	}
}

// Namespace is metadata.namespace. It is interned: it does not share memory with the object.
func (o *Object) Namespace() string {
	if o.namespace == (unique.Handle[string]{}) {
		return ""
	}
	return o.namespace.Value()
}

// Name is metadata.name.
func (o *Object) Name() string { return o.text(o.name) }

// IsNamed reports whether these are the namespace and the name of o.
func (o *Object) IsNamed(namespace, name string) bool {
	if o.Name() != name {
		return false
	}
	if o.length == 0 {
		return o.Namespace() == namespace
	}
	return o.part(o.inPlace()) == namespace
}

// inPlace is where the namespace stands in data, if o.length says that it does.
func (o *Object) inPlace() span {
	start := o.name.end + uint32(o.apart)
	return span{start, start + uint32(o.length)}
}

// place notes that the namespace stands at s, where that can be said.
func (o *Object) place(s span) {
	if s.start < o.name.end || s.start-o.name.end > math.MaxUint16 || s.end-s.start > math.MaxUint8 || o.part(s) != o.Namespace() {
		return
	}
	o.apart, o.length = uint16(s.start-o.name.end), uint8(s.end-s.start)
}

// UID is metadata.uid.
func (o *Object) UID() string { return o.text(o.uid) }

// ResourceVersion is metadata.resourceVersion.
func (o *Object) ResourceVersion() string { return o.text(o.version) }

// Generation is metadata.generation.
func (o *Object) Generation() int64 { return o.generation }

// CreationTime is metadata.creationTimestamp, zero when that is not set.
func (o *Object) CreationTime() time.Time { return o.time(o.createdAt) }

// DeletionTime is metadata.deletionTimestamp; ok is false when that is not set.
func (o *Object) DeletionTime() (t time.Time, ok bool) {
	return o.time(o.deletedAt), !o.deletedAt.isZero()
}

// Label returns the label called key.
func (o *Object) Label(key string) (value string, ok bool) {
	return o.lookup(o.labels, protoLabels, key)
}

// Annotation returns the annotation called key.
func (o *Object) Annotation(key string) (value string, ok bool) {
	return o.lookup(o.annotations, protoAnnotations, key)
}

// EachLabel calls f with every label, in the order of the bytes, until f returns false.
func (o *Object) EachLabel(f func(key, value string) bool) { o.eachEntry(o.labels, protoLabels, f) }

// EachAnnotation calls f with every annotation, in the order of the bytes, until f returns false.
func (o *Object) EachAnnotation(f func(key, value string) bool) {
	o.eachEntry(o.annotations, protoAnnotations, f)
}

// EachOwner calls f with every owner reference, until f returns false.
func (o *Object) EachOwner(f func(OwnerReference) bool) {
	if o.format == Protobuf {
		eachProtoOwner(o.part(o.owners), f)
		return
	}
	eachJSONOwner(o.part(o.owners), f)
}

// EachFinalizer calls f with every finalizer, until f returns false.
func (o *Object) EachFinalizer(f func(string) bool) {
	if o.format == Protobuf {
		eachProtoString(o.part(o.finalizers), protoFinalizers, f)
		return
	}
	eachJSONString(o.part(o.finalizers), f)
}

func (o *Object) lookup(s span, field int32, key string) (value string, ok bool) {
	o.eachEntry(s, field, func(k, v string) bool {
		if k == key { // the last one counts, as in decoders
			value, ok = v, true
		}
		return true
	})
	return value, ok
}

func (o *Object) eachEntry(s span, field int32, f func(key, value string) bool) {
	if o.format == Protobuf {
		eachProtoEntry(o.part(s), field, f)
		return
	}
	eachJSONEntry(o.part(s), f)
}

func (o *Object) part(s span) string { return o.data[s.start:s.end] }

// text returns the string at s.
func (o *Object) text(s span) string {
	if o.format == Protobuf {
		return o.part(s)
	}
	return unquote(o.part(s))
}

func (o *Object) time(s span) time.Time {
	if s.isZero() {
		return time.Time{}
	}
	if o.format == Protobuf {
		return protoTime(o.part(s))
	}
	t, _ := time.Parse(time.RFC3339, unquote(o.part(s))) // it was checked when the object came
	return t.Local()
}

// bytesOf looks at a string as bytes, which must not be written to.
func bytesOf(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }

// cuts are the parts of an object that are left out, in order, relative to its start.
type cuts []span

// appendWithout appends b without the parts in cut to dst, which grows to exactly what is needed
// where it is too small.
func appendWithout(dst, b []byte, cut cuts) []byte {
	size := len(b)
	for _, c := range cut {
		size -= int(c.end - c.start)
	}
	dst = withRoom(dst, size)
	from := uint32(0)
	for _, c := range cut {
		dst = append(dst, b[from:c.start]...)
		from = c.end
	}
	return append(dst, b[from:]...)
}

// withRoom returns dst, or a new slice without contents, with room for n bytes.
func withRoom(dst []byte, n int) []byte {
	if cap(dst) < n {
		return make([]byte, 0, n)
	}
	return dst
}

// interner keeps one copy of strings that repeat: the namespaces that a body names. Lists are
// sorted by namespace, so the last one is nearly always the right one. A nil interner, for a
// single object, remembers nothing.
type interner struct {
	last   string
	handle unique.Handle[string]
	known  map[string]unique.Handle[string]
}

// mostInterned bounds a table: a stream that runs for weeks must not collect the names of
// namespaces that are gone.
const mostInterned = 1024

func (n *interner) intern(b []byte) unique.Handle[string] {
	switch {
	case len(b) == 0:
		return unique.Handle[string]{}
	case n == nil:
		return unique.Make(string(b))
	case string(b) == n.last:
		return n.handle
	}
	handle, ok := n.known[string(b)]
	if !ok {
		handle = unique.Make(string(b))
		if n.known == nil || len(n.known) >= mostInterned {
			n.known = make(map[string]unique.Handle[string])
		}
		n.known[handle.Value()] = handle
	}
	n.last, n.handle = handle.Value(), handle
	return handle
}
