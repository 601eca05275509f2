package wire

// Envelope opens a whole protobuf body: the kind that it names, and the message of that kind,
// which shares body's memory.
func Envelope(body []byte) (apiVersion, kind string, message []byte, err error) {
	e, err := openEnvelope(body)
	return e.apiVersion, e.kind, e.raw, err
}
