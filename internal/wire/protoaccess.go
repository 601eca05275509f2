package wire

import "time"

// The functions of this file read parts of an object that is kept. What they read was checked
// when the object came; in a broken object they stop where the damage is.

// eachProtoField calls f with the content of every field of that number in part, until f
// returns false.
func eachProtoField(part string, number int32, f func(content []byte) bool) {
	fs := fields{b: bytesOf(part)}
	for {
		ok, err := fs.next()
		if err != nil || !ok {
			return
		}
		if fs.number == number && fs.wire == wireBytes && !f(fs.content()) {
			return
		}
	}
}

func eachProtoString(part string, number int32, f func(string) bool) {
	eachProtoField(part, number, func(b []byte) bool { return f(stringOf(b)) })
}

func eachProtoEntry(part string, number int32, f func(key, value string) bool) {
	eachProtoField(part, number, func(b []byte) bool {
		key, value, err := protoEntry(b)
		return err != nil || f(key, value)
	})
}

// protoEntry reads an entry of a map of strings. As in the generated code, the wire types of
// key and value are not looked at.
func protoEntry(b []byte) (key, value string, err error) {
	f := fields{b: b}
	for {
		ok, err := f.entryField()
		if err != nil || !ok {
			return key, value, err
		}
		switch f.number {
		case 1:
			key = stringOf(f.content())
		case 2:
			value = stringOf(f.content())
		}
	}
}

// entryField moves to the next field of an entry.
func (f *fields) entryField() (ok bool, err error) {
	if f.short() {
		return true, nil
	}
	if ok, err := f.tag(); err != nil || !ok {
		return false, err
	}
	if f.number <= 2 {
		return true, f.bytes()
	}
	return true, f.rest()
}

// The fields of metav1.OwnerReference.
const (
	ownerKind       = 1
	ownerName       = 3
	ownerUID        = 4
	ownerAPIVersion = 5
	ownerController = 6
	ownerBlock      = 7
)

func eachProtoOwner(part string, f func(OwnerReference) bool) {
	eachProtoField(part, protoOwners, func(b []byte) bool {
		owner, err := protoOwner(b)
		return err != nil || f(owner)
	})
}

func protoOwner(b []byte) (owner OwnerReference, err error) {
	f := fields{b: b}
	for {
		ok, err := f.next()
		if err != nil || !ok {
			return owner, err
		}
		if err := owner.setField(&f); err != nil {
			return owner, err
		}
	}
}

func (r *OwnerReference) setField(f *fields) error {
	var text *string
	switch f.number {
	case ownerKind:
		text = &r.Kind
	case ownerName:
		text = &r.Name
	case ownerUID:
		text = &r.UID
	case ownerAPIVersion:
		text = &r.APIVersion
	case ownerController:
		return setFlag(&r.Controller, f)
	case ownerBlock:
		return setFlag(&r.BlockOwnerDeletion, f)
	default:
		return nil
	}
	if f.wire != wireBytes {
		return syntaxErrorf("metadata.ownerReferences: field %d has wire type %d", f.number, f.wire)
	}
	*text = stringOf(f.content())
	return nil
}

func setFlag(to *Flag, f *fields) error {
	if f.wire != wireVarint {
		return syntaxErrorf("metadata.ownerReferences: field %d has wire type %d", f.number, f.wire)
	}
	*to = flag(f.value != 0)
	return nil
}

// protoTime reads a metav1.Time. Nanoseconds are dropped, as metav1.Time does, since JSON has
// none; an empty message is the zero time.
func protoTime(part string) time.Time {
	if part == "" {
		return time.Time{}
	}
	seconds, _ := protoSeconds(bytesOf(part))
	return time.Unix(seconds, 0).Local()
}

// protoSeconds reads the seconds of a metav1.Timestamp.
func protoSeconds(b []byte) (seconds int64, err error) {
	f := fields{b: b}
	for {
		ok, err := f.next()
		if err != nil || !ok {
			return seconds, err
		}
		if f.number > 2 {
			continue
		}
		if f.wire != wireVarint {
			return seconds, syntaxErrorf("metadata: field %d of a time has wire type %d", f.number, f.wire)
		}
		if f.number == 1 {
			seconds = int64(f.value)
		}
	}
}
