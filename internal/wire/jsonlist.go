package wire

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"
)

// json reads {"kind": …, "apiVersion": …, "metadata": …, "items": […]} with its members in
// any order.
func (l *listReader) json() error {
	if err := l.w.expect('{'); err != nil {
		return l.fail("the start", err)
	}
	l.w.mark = l.w.pos - 1
	hold := true // keep everything until it is known that this is a list
	found := false
	for first := true; ; first = false {
		if !hold {
			l.w.release()
		}
		name, ok, err := l.w.member(first)
		if err != nil {
			return l.fail("the members", err)
		}
		if !ok {
			break
		}
		switch jsonName(name) {
		case "items":
			hold, found = false, true
			err = l.jsonItems()
		case "kind":
			if l.meta.Kind, err = l.jsonText("kind"); err == nil && !found {
				hold = !strings.HasSuffix(l.meta.Kind, "List")
			}
		case "apiVersion":
			l.meta.APIVersion, err = l.jsonText("apiVersion")
		case "metadata":
			err = l.jsonMetadata()
		default:
			if _, _, _, err = l.w.skipValue(); err != nil {
				err = l.fail("the members", err)
			}
		}
		if err != nil {
			return err
		}
	}
	if !found {
		return l.noItems(hold)
	}
	return l.jsonEnd()
}

// noItems is the end of an object without items. hold says that it is in memory as a whole.
func (l *listReader) noItems(hold bool) error {
	if !hold {
		return l.fail("the members", syntaxErrorf("there are no items"))
	}
	return &StatusError{Format: JSON, Kind: l.meta.Kind, Body: bytes.Clone(l.w.kept())}
}

// jsonEnd reads what follows the list, which can only be white space. Reading to the end lets
// the connection be used again.
func (l *listReader) jsonEnd() error {
	l.w.release()
	c, err := l.w.peek()
	if errors.Is(err, io.EOF) {
		return nil
	}
	if err == nil {
		err = l.w.bad(c, "end")
	}
	return l.fail("the end", err)
}

// jsonItems reads the array of objects, or null, which an empty list may be.
func (l *listReader) jsonItems() error {
	c, err := l.w.peek()
	if err != nil {
		return l.fail("the items", unexpected(err))
	}
	if c != kindArray {
		return l.jsonNoItems()
	}
	l.w.pos++
	object := jsonObject{w: &l.w, opts: l.opts, names: &l.names}
	for first := true; ; first = false {
		l.w.release()
		ok, err := l.w.element(first)
		if err != nil {
			return l.failItem(err)
		}
		if !ok {
			return nil
		}
		l.w.release()
		if err := l.jsonItem(&object); err != nil {
			return err
		}
	}
}

func (l *listReader) jsonNoItems() error {
	kind, _, _, err := l.w.skipValue()
	if err == nil && kind != kindNull {
		err = syntaxErrorf("items is %s, not an array", kindName(kind))
	}
	if err != nil {
		return l.fail("the items", err)
	}
	return nil
}

func (l *listReader) jsonItem(object *jsonObject) error {
	if err := object.read(); err != nil {
		return l.failItem(err)
	}
	if size := int64(len(l.w.kept())); size > l.opts.MaxObjectBytes {
		return l.failItem(&TooLargeError{l.opts.MaxObjectBytes})
	}
	l.items++
	return l.visit(object.take())
}

// jsonText reads a string member of the list.
func (l *listReader) jsonText(what string) (string, error) {
	kind, start, end, err := l.w.skipValue()
	if err == nil && kind != kindString && kind != kindNull {
		err = syntaxErrorf("it is %s, not a string", kindName(kind))
	}
	if err != nil {
		return "", l.fail(what, err)
	}
	return strings.Clone(textOf(stringOf(l.w.buf[l.w.mark:]), kind, start, end)), nil
}

// jsonMetadata reads the ListMeta.
func (l *listReader) jsonMetadata() error {
	kind, start, end, err := l.w.skipValue()
	if err == nil && kind != kindObject && kind != kindNull {
		err = syntaxErrorf("it is %s, not an object", kindName(kind))
	}
	if err == nil && kind == kindObject {
		err = l.meta.setJSON(string(l.w.buf[l.w.mark+start : l.w.mark+end]))
	}
	if err != nil {
		return l.fail("metadata", err)
	}
	return nil
}

// setJSON reads a ListMeta.
func (m *ListMeta) setJSON(text string) error {
	w, _ := inside(text)
	for first := true; ; first = false {
		name, ok, err := w.member(first)
		if err != nil || !ok {
			return err
		}
		kind, start, end, err := w.skipValue()
		if err != nil {
			return err
		}
		if kind == kindNull {
			continue
		}
		if err := m.setMember(jsonName(name), kind, text[start:end]); err != nil {
			return err
		}
	}
}

func (m *ListMeta) setMember(name string, kind byte, value string) error {
	switch name {
	case "resourceVersion":
		return setText(&m.ResourceVersion, name, kind, value)
	case "continue":
		return setText(&m.Continue, name, kind, value)
	case "remainingItemCount":
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil {
			return syntaxErrorf("remainingItemCount is %s, not an integer of 64 bits", value)
		}
		m.RemainingItemCount = &n
	case "shardInfo":
		return m.setShard(kind, value)
	}
	return nil
}

func setText(s *string, name string, kind byte, value string) error {
	if kind != kindString {
		return syntaxErrorf("%s is %s, not a string", name, kindName(kind))
	}
	*s = textOf(value, kind, 0, len(value))
	return nil
}

func (m *ListMeta) setShard(kind byte, value string) error {
	if kind != kindObject {
		return syntaxErrorf("shardInfo is %s, not an object", kindName(kind))
	}
	eachJSONEntry(value, func(key, value string) bool {
		if key == "selector" {
			m.ShardSelector = value
		}
		return true
	})
	return nil
}
