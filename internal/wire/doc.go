// Package wire splits the bodies that a Kubernetes API server sends into objects, without
// decoding them.
//
// A LIST answer or a WATCH stream, JSON or protobuf, is read as it arrives. Each object is
// copied once, out of the read buffer into an allocation of exactly its size, and only the
// metadata that routes it is looked at: name, namespace, uid, resource version, generation,
// timestamps, and where labels, annotations, owner references and finalizers are. An [Object]
// remembers them as offsets into its own bytes, so that it costs little more than the bytes.
// metadata.managedFields and kubectl's last-applied annotation, which make up half of many
// objects, are left out on the way in.
//
// A [Packer] makes objects that are kept smaller: it writes them as what they have in common with
// others and what is new, in a form that each is read back from alone.
//
// Damage is kept as local as it can be. An object that is whole but wrong (labels that are a
// number, no metadata) is handed over with [Object.Err] set, and the stream goes on. Only
// framing that is broken ends a stream: truncated input is io.ErrUnexpectedEOF, and a watch
// that ends between two events is io.EOF.
//
// The protobuf layout is that of the generated.proto files of k8s.io/apimachinery
// (pkg/runtime, pkg/apis/meta/v1). In every built-in kind metadata is field 1, and in every
// list type metadata is field 1 and items is field 2. See
// https://kubernetes.io/docs/reference/using-api/api-concepts/#alternate-representations-of-resources
package wire
