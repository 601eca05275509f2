package wire

import "time"

// The functions of this file read parts of an object that is kept. What they read was checked
// when the object came; in a broken object they stop where the damage is.

// eachProtoField calls f with the content of every field of that number in part, until f
// returns false.
func eachProtoField(part string, number uint64, f func(content []byte) bool) {
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

func eachProtoString(part string, number uint64, f func(string) bool) {
	eachProtoField(part, number, func(b []byte) bool { return f(stringOf(b)) })
}

func eachProtoEntry(part string, number uint64, f func(key, value string) bool) {
	eachProtoField(part, number, func(b []byte) bool {
		key, value, err := protoEntry(b)
		return err != nil || f(key, value)
	})
}

// protoEntry reads an entry of a map of strings.
func protoEntry(b []byte) (key, value string, err error) {
	f := fields{b: b}
	for {
		ok, err := f.next()
		if err != nil || !ok {
			return key, value, err
		}
		if f.wire != wireBytes {
			continue
		}
		switch f.number {
		case 1:
			key = stringOf(f.content())
		case 2:
			value = stringOf(f.content())
		}
	}
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
	eachProtoField(part, protoOwners, func(b []byte) bool { return f(protoOwner(b)) })
}

func protoOwner(b []byte) (owner OwnerReference) {
	f := fields{b: b}
	for {
		ok, err := f.next()
		if err != nil || !ok {
			return owner
		}
		switch {
		case f.number == ownerController && f.wire == wireVarint:
			owner.Controller = new(f.value != 0)
		case f.number == ownerBlock && f.wire == wireVarint:
			owner.BlockOwnerDeletion = new(f.value != 0)
		case f.wire == wireBytes:
			setOwnerField(&owner, f.number, stringOf(f.content()))
		}
	}
}

func setOwnerField(owner *OwnerReference, number uint64, text string) {
	switch number {
	case ownerKind:
		owner.Kind = text
	case ownerName:
		owner.Name = text
	case ownerUID:
		owner.UID = text
	case ownerAPIVersion:
		owner.APIVersion = text
	}
}

// protoTime reads a metav1.Time. Nanoseconds are dropped, as metav1.Time does, since JSON has
// none; an empty message is the zero time.
func protoTime(part string) time.Time {
	if part == "" {
		return time.Time{}
	}
	var seconds int64
	f := fields{b: bytesOf(part)}
	for {
		ok, err := f.next()
		if err != nil || !ok {
			return time.Unix(seconds, 0).Local()
		}
		if f.number == 1 && f.wire == wireVarint {
			seconds = int64(f.value)
		}
	}
}
