package wire

// magic starts every protobuf body: what follows is a runtime.Unknown message.
const magic = "k8s\x00"

// The fields of runtime.Unknown, of the runtime.TypeMeta in it.
const (
	unknownType        = 1
	unknownRaw         = 2
	unknownEncoding    = 3
	unknownContentType = 4

	typeAPIVersion = 1
	typeKind       = 2
)

// envelope is a runtime.Unknown.
type envelope struct {
	apiVersion, kind, encoding string
	raw                        []byte
}

// openEnvelope reads a whole body with the magic in front. The result shares b's memory.
func openEnvelope(b []byte) (e envelope, err error) {
	if !HasEnvelope(b) {
		return e, noMagic(b)
	}
	f := fields{b: b[len(magic):]}
	for {
		ok, err := f.next()
		if err != nil {
			return e, err
		}
		if !ok {
			return e, e.check()
		}
		known, err := f.known(unknownContentType)
		if err != nil {
			return e, err
		}
		if !known {
			continue
		}
		switch f.number {
		case unknownType:
			err = e.setType(f.content())
		case unknownRaw:
			e.raw = f.content()
		case unknownEncoding:
			e.encoding = stringOf(f.content())
		}
		if err != nil {
			return e, err
		}
	}
}

func noMagic(b []byte) error {
	return syntaxErrorf("not a Kubernetes protobuf body: it starts with %q and not with %q", b[:min(len(b), len(magic))], magic)
}

// check refuses an object that is compressed; no server does that inside the envelope.
func (e *envelope) check() error {
	if e.encoding != "" {
		return syntaxErrorf("content encoding %q is not supported", e.encoding)
	}
	return nil
}

// setType reads a runtime.TypeMeta, whose memory it shares.
func (e *envelope) setType(b []byte) error {
	f := fields{b: b}
	for {
		ok, err := f.next()
		if err != nil || !ok {
			return err
		}
		if known, err := f.known(typeKind); err != nil {
			return err
		} else if !known {
			continue
		}
		switch f.number {
		case typeAPIVersion:
			e.apiVersion = stringOf(f.content())
		case typeKind:
			e.kind = stringOf(f.content())
		}
	}
}
