package wire

import (
	"strconv"
	"time"
)

// metadataMember reads the value of a member of metadata.
func (p *jsonObject) metadataMember(name []byte) (drop bool, err error) {
	o := &p.obj
	switch jsonName(name) {
	case "name":
		return false, p.stringMember("name", &o.name)
	case "namespace":
		return false, p.namespaceMember()
	case "uid":
		return false, p.stringMember("uid", &o.uid)
	case "resourceVersion":
		return false, p.stringMember("resourceVersion", &o.version)
	case "generation":
		return false, p.generationMember()
	case "creationTimestamp":
		return false, p.timeMember("creationTimestamp", &o.createdAt)
	case "deletionTimestamp":
		return false, p.timeMember("deletionTimestamp", &o.deletedAt)
	case "labels":
		return p.entries("labels", &o.labels, p.labelEntry)
	case "annotations":
		return p.entries("annotations", &o.annotations, p.annotationEntry)
	case "ownerReferences":
		return false, p.list("ownerReferences", &o.owners, p.ownerElement)
	case "finalizers":
		return false, p.list("finalizers", &o.finalizers, p.finalizerElement)
	case "managedFields":
		_, _, _, err := p.w.skipValue()
		return !p.opts.KeepManagedFields, err
	default:
		_, _, _, err := p.w.skipValue()
		return false, err
	}
}

// scalar reads a value that should be of kind wanted, and reports whether it is. null stands
// for a value that is not set. The extent is relative to mark.
func (p *jsonObject) scalar(what string, wanted byte) (start, end int, ok bool, err error) {
	kind, start, end, err := p.w.skipValue()
	if err != nil || kind == kindNull {
		return 0, 0, false, err
	}
	if kind != wanted {
		p.fail("metadata.%s is %s, not %s", what, kindName(kind), kindName(wanted))
		return 0, 0, false, nil
	}
	if kind != kindString {
		return start, end, true, nil
	}
	start, end = start+1, end-1
	if text := p.between(start, end); !validString(text) {
		p.fail("metadata.%s is not a valid string: %q", what, text)
		return 0, 0, false, nil
	}
	return start, end, true, nil
}

// between is the text of an extent relative to mark, until the window is filled again.
func (p *jsonObject) between(start, end int) string {
	return stringOf(p.w.buf[p.w.mark+start : p.w.mark+end])
}

// once notes where the value of a member is.
func (p *jsonObject) once(what string, s *span, is span) {
	if !s.isZero() {
		p.fail("metadata.%s is there twice", what)
	}
	*s = is
}

func (p *jsonObject) stringMember(what string, s *span) error {
	start, end, ok, err := p.scalar(what, kindString)
	if ok {
		p.once(what, s, p.out(start, end))
	}
	return err
}

func (p *jsonObject) namespaceMember() error {
	start, end, ok, err := p.scalar("namespace", kindString)
	if ok {
		p.once("namespace", &p.namespace, p.out(start, end))
		p.obj.namespace = p.names.intern(bytesOf(unquote(p.between(start, end))))
	}
	return err
}

func (p *jsonObject) generationMember() error {
	start, end, ok, err := p.scalar("generation", kindNumber)
	if !ok {
		return err
	}
	p.once("generation", &p.generation, p.out(start, end))
	if p.obj.generation, err = strconv.ParseInt(p.between(start, end), 10, 64); err != nil {
		p.fail("metadata.generation is %s, not an integer of 64 bits", p.between(start, end))
	}
	return nil
}

func (p *jsonObject) timeMember(what string, s *span) error {
	start, end, ok, err := p.scalar(what, kindString)
	if !ok {
		return err
	}
	if _, err := time.Parse(time.RFC3339, unquote(p.between(start, end))); err != nil {
		p.fail("metadata.%s is %q, not a time like 2006-01-02T15:04:05Z", what, p.between(start, end))
		return nil
	}
	p.once(what, s, p.out(start, end))
	return nil
}

// entries reads a map of strings. All of it is dropped when there were entries and visit drops
// every one, since nothing is what remains.
func (p *jsonObject) entries(what string, s *span, visit func(name []byte) (bool, error)) (drop bool, err error) {
	start, removed, ok, err := p.enter(what, kindObject)
	if !ok {
		return false, err
	}
	kept, err := p.members(visit)
	if err != nil {
		return false, err
	}
	if kept == 0 && p.removed > removed {
		return true, nil
	}
	p.once(what, s, span{start, p.here() - p.removed})
	return false, nil
}

// enter takes the bracket of a value that should be of kind wanted; anything else is read and
// not ok.
func (p *jsonObject) enter(what string, wanted byte) (start, removed uint32, ok bool, err error) {
	c, err := p.w.peek()
	if err != nil {
		return 0, 0, false, unexpected(err)
	}
	if c != wanted {
		_, _, _, err := p.scalar(what, wanted)
		return 0, 0, false, err
	}
	start = p.here() - p.removed
	p.w.pos++
	return start, p.removed, true, nil
}

func (p *jsonObject) labelEntry(name []byte) (drop bool, err error) {
	return false, p.entry("labels", name, "labels has a value that")
}

func (p *jsonObject) annotationEntry(name []byte) (drop bool, err error) {
	drop = jsonName(name) == lastApplied && !p.opts.KeepLastApplied
	return drop, p.entry("annotations", name, "annotations has a value that")
}

// entry checks an entry of a map of strings. what and value are for messages.
func (p *jsonObject) entry(what string, name []byte, value string) error {
	if !validString(stringOf(name)) {
		p.fail("metadata.%s has an invalid name: %q", what, name)
	}
	_, _, _, err := p.scalar(value, kindString)
	return err
}

// list reads an array.
func (p *jsonObject) list(what string, s *span, visit func() error) error {
	start, _, ok, err := p.enter(what, kindArray)
	if !ok {
		return err
	}
	for first := true; ; first = false {
		ok, err := p.w.element(first)
		if err != nil {
			return err
		}
		if !ok {
			p.once(what, s, span{start, p.here() - p.removed})
			return nil
		}
		if err := visit(); err != nil {
			return err
		}
	}
}

func (p *jsonObject) finalizerElement() error {
	_, _, _, err := p.scalar("finalizers has an element that", kindString)
	return err
}

func (p *jsonObject) ownerElement() error {
	_, _, ok, err := p.enter("ownerReferences has an element that", kindObject)
	if !ok {
		return err
	}
	_, err = p.members(p.ownerMember)
	return err
}

func (p *jsonObject) ownerMember(name []byte) (drop bool, err error) {
	switch jsonName(name) {
	case "apiVersion":
		_, _, _, err = p.scalar("ownerReferences has an apiVersion that", kindString)
	case "kind":
		_, _, _, err = p.scalar("ownerReferences has a kind that", kindString)
	case "name":
		_, _, _, err = p.scalar("ownerReferences has a name that", kindString)
	case "uid":
		_, _, _, err = p.scalar("ownerReferences has a uid that", kindString)
	case "controller":
		err = p.boolean("ownerReferences has a controller that")
	case "blockOwnerDeletion":
		err = p.boolean("ownerReferences has a blockOwnerDeletion that")
	default:
		_, _, _, err = p.w.skipValue()
	}
	return false, err
}

func (p *jsonObject) boolean(what string) error {
	kind, _, _, err := p.w.skipValue()
	if err == nil && kind != kindTrue && kind != kindFalse && kind != kindNull {
		p.fail("metadata.%s is %s, not a boolean", what, kindName(kind))
	}
	return err
}
