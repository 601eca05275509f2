package wire

import "unsafe"

// The functions of this file read parts of an object that is kept. What they read was checked
// when the object came; in a broken object they stop where the damage is.

// stringOf looks at bytes as a string, for as long as the bytes do not change.
func stringOf(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// inside returns a window on text, behind its first byte. ok is false when there is nothing.
func inside(text string) (w window, ok bool) {
	if text == "" {
		return window{}, false
	}
	return window{buf: bytesOf(text), pos: 1}, true
}

// textOf is what the value of kind at an extent of text says: nothing, unless it is a string.
func textOf(text string, kind byte, start, end int) string {
	if kind != kindString {
		return ""
	}
	return unquote(text[start+1 : end-1])
}

// eachJSONEntry reads the entries of labels and annotations as servers write them, and leaves the first one that is
// written in another way, and those behind it, to eachOtherJSONEntry.
func eachJSONEntry(text string, f func(key, value string) bool) {
	for b, at := bytesOf(text), 1; ; {
		key, more := plainString(b, at)
		if !more || key+1 >= len(b) || b[key] != ':' {
			eachOtherJSONEntry(text, at, f)
			return
		}
		value, more := plainString(b, key+1)
		if !more || value >= len(b) || b[value] != ',' && b[value] != '}' {
			eachOtherJSONEntry(text, at, f)
			return
		}
		if !f(text[at+1:key-1], text[key+2:value-1]) || b[value] == '}' {
			return
		}
		at = value + 1
	}
}

// eachOtherJSONEntry is eachJSONEntry for whatever may stand in JSON, from the entry at at on.
func eachOtherJSONEntry(text string, at int, f func(key, value string) bool) {
	if text == "" {
		return
	}
	w := window{buf: bytesOf(text), pos: at}
	for first := true; ; first = false {
		name, more, err := w.member(first)
		if err != nil || !more {
			return
		}
		kind, start, end, err := w.skipValue()
		if err != nil || !f(unquote(stringOf(name)), textOf(text, kind, start, end)) {
			return
		}
	}
}

func eachJSONString(text string, f func(string) bool) {
	w, ok := inside(text)
	for first := true; ok; first = false {
		if more, err := w.element(first); err != nil || !more {
			return
		}
		kind, start, end, err := w.skipValue()
		if err != nil {
			return
		}
		ok = f(textOf(text, kind, start, end))
	}
}

func eachJSONOwner(text string, f func(OwnerReference) bool) {
	w, ok := inside(text)
	for first := true; ok; first = false {
		if more, err := w.element(first); err != nil || !more {
			return
		}
		kind, start, end, err := w.skipValue()
		if err != nil {
			return
		}
		var owner OwnerReference
		if kind == kindObject {
			owner = jsonOwner(text[start:end])
		}
		ok = f(owner)
	}
}

func jsonOwner(text string) (owner OwnerReference) {
	w, _ := inside(text)
	for first := true; ; first = false {
		name, more, err := w.member(first)
		if err != nil || !more {
			return owner
		}
		kind, start, end, err := w.skipValue()
		if err != nil {
			return owner
		}
		if kind != kindNull {
			setOwnerMember(&owner, unquote(stringOf(name)), kind, textOf(text, kind, start, end))
		}
	}
}

func setOwnerMember(owner *OwnerReference, name string, kind byte, text string) {
	switch name {
	case "apiVersion":
		owner.APIVersion = text
	case "kind":
		owner.Kind = text
	case "name":
		owner.Name = text
	case "uid":
		owner.UID = text
	case "controller":
		owner.Controller = flag(kind == kindTrue)
	case "blockOwnerDeletion":
		owner.BlockOwnerDeletion = flag(kind == kindTrue)
	}
}
