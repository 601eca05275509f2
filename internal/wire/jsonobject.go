package wire

import "errors"

// jsonObject reads one object out of a window. Positions in it are relative to the start of
// the object.
type jsonObject struct {
	w     *window
	opts  *Options
	names *interner

	obj     Object
	base    int // where the object starts, relative to the window's mark
	end     int // where it ends
	cut     cuts
	removed uint32  // bytes in cut
	store   [4]span // what cut is in, usually
	hasMeta bool
	kind    span // text of the member kind, in the object as it came

	namespace, generation span // set when they were met

	scratch []byte // what transient objects are in that are no part of what was read
}

// read reads the object that starts at the window's position and leaves the position behind
// it. The window has to keep it until take was called. The error is one of the stream.
func (p *jsonObject) read() error {
	p.reset()
	err := p.object()
	if err != nil && isLocal(err) {
		err = p.recover(err)
	}
	p.end = p.w.pos - p.w.mark
	return err
}

func (p *jsonObject) reset() {
	*p = jsonObject{w: p.w, opts: p.opts, names: p.names, base: p.w.pos - p.w.mark, scratch: p.scratch}
	p.cut = p.store[:0]
}

// isLocal reports whether err is about the text of the object and not about the stream.
func isLocal(err error) bool {
	var syntax *syntaxError
	var depth *depthError
	return errors.As(err, &syntax) || errors.As(err, &depth)
}

// recover finds the end of an object whose metadata is not JSON, and reads again what can be
// read, leaving nothing out: the text is kept as it came.
func (p *jsonObject) recover(cause error) error {
	p.w.pos = p.w.mark + p.base
	kind, _, _, err := p.w.skipValue()
	if err != nil && !isDepth(err) {
		return err
	}
	if kind != kindObject {
		cause = syntaxErrorf("it is %s, not an object", kindName(kind))
	}
	whole := p.w.buf[p.w.mark+p.base : p.w.pos]
	again := jsonObject{
		w: &window{buf: whole}, names: p.names,
		opts: &Options{KeepManagedFields: true, KeepLastApplied: true},
	}
	again.cut = again.store[:0]
	_ = again.object() // it fails where it failed before; what it found until then is what we want
	p.obj, p.kind, p.hasMeta = again.obj, again.kind, true
	p.removed, p.cut = 0, nil
	p.fail("%v", cause)
	return nil
}

func isDepth(err error) bool {
	var depth *depthError
	return errors.As(err, &depth)
}

// take returns the object that was read: its one allocation. Everything that makes it
// useless as an object of a list or a watch is in its Err.
func (p *jsonObject) take() Object {
	p.obj.format = JSON
	p.obj.data = p.data()
	if !p.namespace.isZero() {
		p.obj.place(p.namespace)
	}
	switch {
	case !p.hasMeta:
		p.fail("the object has no metadata")
	case p.obj.name.start == p.obj.name.end:
		p.fail("metadata.name is not set")
	}
	return p.obj
}

// data is what is kept of the object.
func (p *jsonObject) data() string {
	switch {
	case !p.opts.Transient:
		return stringOf(appendWithout(nil, p.text(), p.cut))
	case len(p.cut) == 0:
		return stringOf(p.text())
	}
	p.scratch = appendWithout(p.scratch[:0], p.text(), p.cut)
	return stringOf(p.scratch)
}

// text is the object as it came.
func (p *jsonObject) text() []byte { return p.w.buf[p.w.mark+p.base : p.w.mark+p.end] }

// kindText is the kind that the object claims to be, empty for none.
func (p *jsonObject) kindText() string {
	return unquote(string(p.text()[p.kind.start:p.kind.end]))
}

// fail notes what is wrong with the object; the first finding stays.
func (p *jsonObject) fail(format string, args ...any) {
	if p.obj.extra == nil {
		p.obj.extra = &extra{broken: objectErrorf(format, args...)}
	}
}

// here is the position in the object.
func (p *jsonObject) here() uint32 { return p.rel(p.w.pos - p.w.mark) }

// rel turns a position relative to mark into one in the object.
func (p *jsonObject) rel(pos int) uint32 { return uint32(pos - p.base) }

// out turns an extent relative to mark into one in what is kept of the object.
func (p *jsonObject) out(start, end int) span {
	return span{p.rel(start) - p.removed, p.rel(end) - p.removed}
}

// object reads the object, whose brace is next, member by member.
func (p *jsonObject) object() error {
	if err := p.w.expect('{'); err != nil {
		return err
	}
	for first := true; ; first = false {
		name, ok, err := p.w.member(first)
		if err != nil || !ok {
			return err
		}
		if err := p.topMember(jsonName(name)); err != nil {
			return err
		}
	}
}

// topMember reads the value of a member of the object itself.
func (p *jsonObject) topMember(name string) error {
	switch name {
	case "metadata":
		return p.metadata()
	case "kind":
		kind, start, end, err := p.w.skipValue()
		if err == nil && kind == kindString {
			p.kind = span{p.rel(start + 1), p.rel(end - 1)}
		}
		return err
	default:
		_, _, _, err := p.w.skipValue()
		return err
	}
}

// jsonName returns what a name says. It is compared at once, so the usual one, which has no
// escapes, is not copied.
func jsonName(name []byte) string { return unquote(stringOf(name)) }

// metadata reads the value of the member of that name.
func (p *jsonObject) metadata() error {
	c, err := p.w.peek()
	if err != nil {
		return unexpected(err)
	}
	if c != '{' {
		kind, _, _, err := p.w.skipValue()
		if err == nil && kind != kindNull {
			p.hasMeta = true
			p.fail("metadata is %s, not an object", kindName(kind))
		}
		return err
	}
	if p.hasMeta {
		p.fail("metadata is there twice")
	}
	p.hasMeta = true
	p.w.pos++
	_, err = p.members(p.metadataMember)
	return err
}

// members reads the members of the object whose brace was taken. visit reads the value and says
// whether the member is to be left out. kept is how many are not.
func (p *jsonObject) members(visit func(name []byte) (drop bool, err error)) (kept int, err error) {
	before := p.here() // end of the last member that is kept, or of the brace
	for first := true; ; first = false {
		name, ok, err := p.w.member(first)
		if err != nil || !ok {
			return kept, err
		}
		drop, err := visit(name)
		if err != nil {
			return kept, err
		}
		if !drop {
			kept++
			before = p.here()
			continue
		}
		if err := p.leaveOut(before, kept == 0); err != nil {
			return kept, err
		}
	}
}

// leaveOut cuts what was read since before: a member with the comma before it, or with the one
// behind it when nothing that is kept comes before.
func (p *jsonObject) leaveOut(before uint32, first bool) error {
	end := p.here()
	if first {
		c, err := p.w.peek()
		if err != nil {
			return unexpected(err)
		}
		if end = p.here(); c == ',' {
			end++
		}
	}
	p.cutOut(span{before, end})
	return nil
}

// cutOut leaves s out. It lies behind what was left out before, or covers the last of it.
func (p *jsonObject) cutOut(s span) {
	for n := len(p.cut); n > 0 && p.cut[n-1].start >= s.start; n-- {
		p.removed -= p.cut[n-1].end - p.cut[n-1].start
		p.cut = p.cut[:n-1]
	}
	p.cut = append(p.cut, s)
	p.removed += s.end - s.start
}
