package wire

import (
	"encoding/binary"
)

// The fields of metav1.ObjectMeta that are looked at.
const (
	protoName        = 1
	protoNamespace   = 3
	protoUID         = 5
	protoVersion     = 6
	protoGeneration  = 7
	protoCreated     = 8
	protoDeleted     = 9
	protoLabels      = 11
	protoAnnotations = 12
	protoOwners      = 13
	protoFinalizers  = 14
	protoManaged     = 17
)

// protoObject reads one object out of bytes that are in memory: a message whose field 1 is
// metav1.ObjectMeta.
type protoObject struct {
	opts  *Options
	names *interner

	obj       Object
	namespace span // where it stands, as the spans of obj are
	cut       cuts
	removed   uint32
	store     [4]span
	scratch   []byte // what transient objects are in that are no part of what was read
}

// read returns the object in b. It does not fail: what is wrong is in the object's Err.
func (p *protoObject) read(b []byte) Object {
	*p = protoObject{opts: p.opts, names: p.names, scratch: p.scratch}
	p.cut = p.store[:0]
	p.obj.format = Protobuf
	meta, twice, err := findMetadata(b)
	switch {
	case err != nil:
		return p.broken(b, meta, err)
	case meta.from < 0:
		return p.broken(b, meta, syntaxErrorf("the object has no metadata"))
	case twice:
		return p.read(mergeMetadata(b))
	}
	if err := p.metadata(b[meta.start:meta.end]); err != nil {
		return p.broken(b, meta, err)
	}
	p.keep(b, meta)
	if p.obj.name.start == p.obj.name.end {
		p.fail("metadata.name is not set")
	}
	return p.obj
}

// fail notes what is wrong with the object; the first finding stays.
func (p *protoObject) fail(format string, args ...any) {
	if p.obj.extra == nil {
		p.obj.extra = &extra{broken: objectErrorf(format, args...)}
	}
}

// field is where a length-delimited field is in a message: its tag, its length, its content.
type field struct{ from, start, end int }

// findMetadata looks for field 1. Of several, which decoders merge, it returns the first.
func findMetadata(b []byte) (meta field, twice bool, err error) {
	meta.from = -1
	f := fields{b: b}
	for {
		ok, err := f.next()
		if err != nil || !ok {
			return meta, twice, err
		}
		if f.number != 1 {
			continue
		}
		if f.wire != wireBytes {
			return meta, twice, wrongWire(f.number, f.wire)
		}
		twice = meta.from >= 0
		if !twice {
			meta = field{f.from, f.start, f.end}
		}
	}
}

// mergeMetadata returns the message b, whose field 1 is there several times, with one field 1.
// Concatenating messages merges them: that is how protobuf defines it.
func mergeMetadata(b []byte) []byte {
	var meta, rest []byte
	f := fields{b: b}
	for {
		if ok, err := f.next(); err != nil || !ok { // it went through once without an error
			return append(appendField(nil, 1, meta), rest...)
		}
		if f.number == 1 {
			meta = append(meta, f.content()...)
		} else {
			rest = append(rest, b[f.from:f.pos]...)
		}
	}
}

func appendField(b []byte, number uint64, content []byte) []byte {
	b = binary.AppendUvarint(b, number<<3|wireBytes)
	b = binary.AppendUvarint(b, uint64(len(content)))
	return append(b, content...)
}

// keep copies the object without what was cut out of its metadata, and makes the spans, which
// are relative to the metadata, relative to the copy.
func (p *protoObject) keep(b []byte, meta field) {
	var by uint32
	p.obj.data, by = p.kept(b, meta)
	p.obj.shift(by)
	if !p.namespace.isZero() {
		p.obj.place(span{p.namespace.start + by, p.namespace.end + by})
	}
}

// kept returns what is kept of the object, and where the metadata begins in it.
func (p *protoObject) kept(b []byte, meta field) (data string, metadata uint32) {
	if p.removed == 0 {
		if p.opts.Transient {
			return stringOf(b), uint32(meta.start)
		}
		return string(b), uint32(meta.start)
	}
	var head [2 * binary.MaxVarintLen64]byte
	h := binary.AppendUvarint(head[:0], 1<<3|wireBytes)
	h = binary.AppendUvarint(h, uint64(meta.end-meta.start)-uint64(p.removed))
	segments := appendSegments(p.scratch[:0], b, meta, h, p.cut, p.removed)
	if p.opts.Transient {
		p.scratch = segments
	}
	return stringOf(segments), uint32(meta.from + len(h))
}

// shift moves every span that is set.
func (o *Object) shift(by uint32) {
	for _, s := range [...]*span{&o.name, &o.uid, &o.version, &o.labels, &o.annotations, &o.owners, &o.finalizers, &o.createdAt, &o.deletedAt} {
		if !s.isZero() {
			s.start += by
			s.end += by
		}
	}
}

// broken keeps all of an object that cannot be read to its end, with the metadata that stands
// before the damage.
func (p *protoObject) broken(b []byte, meta field, cause error) Object {
	whole := protoObject{names: p.names, opts: &Options{KeepManagedFields: true, KeepLastApplied: true}}
	whole.obj.format = Protobuf
	whole.obj.data = string(b)
	whole.fail("%v", cause)
	if meta.from >= 0 {
		_ = whole.metadata(b[meta.start:meta.end]) // up to the damage, if that is where it is
		whole.obj.shift(uint32(meta.start))
	}
	return whole.obj
}

// metadata reads an ObjectMeta message. Spans are relative to it, less what was cut.
func (p *protoObject) metadata(b []byte) error {
	f := fields{b: b}
	for {
		ok, err := f.next()
		if err != nil || !ok {
			return err
		}
		if err := p.metadataField(&f); err != nil {
			return err
		}
	}
}

func (p *protoObject) metadataField(f *fields) (err error) {
	o := &p.obj
	if f.number == protoGeneration {
		if f.wire != wireVarint {
			return wrongWire(f.number, f.wire)
		}
		o.generation = int64(f.value)
		return nil
	}
	if f.wire != wireBytes {
		if isRouting(f.number) {
			return wrongWire(f.number, f.wire)
		}
		return nil
	}
	switch f.number {
	case protoName:
		o.name = p.content(f)
	case protoNamespace:
		o.namespace = p.names.intern(f.content())
		p.namespace = p.content(f)
	case protoUID:
		o.uid = p.content(f)
	case protoVersion:
		o.version = p.content(f)
	case protoCreated:
		o.createdAt = p.content(f)
		_, err = protoSeconds(f.content())
	case protoDeleted:
		o.deletedAt = p.content(f)
		_, err = protoSeconds(f.content())
	case protoFinalizers:
		p.extend(&o.finalizers, f)
	case protoLabels:
		p.extend(&o.labels, f)
		_, _, err = protoEntry(f.content())
	case protoOwners:
		p.extend(&o.owners, f)
		_, err = protoOwner(f.content())
	case protoAnnotations:
		return p.annotation(f)
	case protoManaged:
		if !p.opts.KeepManagedFields {
			p.cutOut(f)
		}
	}
	return err
}

// isRouting reports whether a field of ObjectMeta is one that is looked at; all of them but
// generation are length-delimited.
func isRouting(number int32) bool {
	switch number {
	case protoName, protoNamespace, protoUID, protoVersion, protoCreated, protoDeleted,
		protoLabels, protoAnnotations, protoOwners, protoFinalizers, protoManaged:
		return true
	}
	return false
}

// content is the extent of a field's content in what is kept of the metadata.
func (p *protoObject) content(f *fields) span {
	return span{uint32(f.start) - p.removed, uint32(f.end) - p.removed}
}

// extend makes s reach over a field of a repeated one. What stands in between is skipped by
// number when the part is read.
func (p *protoObject) extend(s *span, f *fields) {
	if s.isZero() {
		s.start = uint32(f.from) - p.removed
	}
	s.end = uint32(f.pos) - p.removed
}

// annotation notes an annotation, or leaves it out.
func (p *protoObject) annotation(f *fields) error {
	key, _, err := protoEntry(f.content())
	if err != nil {
		return err
	}
	if key == lastApplied && !p.opts.KeepLastApplied {
		p.cutOut(f)
		return nil
	}
	p.extend(&p.obj.annotations, f)
	return nil
}

// cutOut leaves a field out; those that follow each other are one cut.
func (p *protoObject) cutOut(f *fields) {
	from, to := uint32(f.from), uint32(f.pos)
	p.removed += to - from
	if n := len(p.cut); n > 0 && p.cut[n-1].end == from {
		p.cut[n-1].end = to
		return
	}
	p.cut = append(p.cut, span{from, to})
}

// appendSegments appends the message b to dst, which is empty, with head in place of the tag and length of
// the field meta, and without the cuts, which are relative to meta's content.
func appendSegments(dst, b []byte, meta field, head []byte, cut cuts, removed uint32) []byte {
	dst = withRoom(dst, len(b)-(meta.start-meta.from)+len(head)-int(removed))
	dst = append(append(dst, b[:meta.from]...), head...)
	content, from := b[meta.start:meta.end], uint32(0)
	for _, c := range cut {
		dst = append(dst, content[from:c.start]...)
		from = c.end
	}
	dst = append(dst, content[from:]...)
	return append(dst, b[meta.end:]...)
}
