// Package codec turns Go values into the forms that a Kubernetes API server speaks, and back:
// JSON, protobuf, and the sparse JSON of server-side apply.
//
// The JSON is Kubernetes' JSON, which is that of encoding/json (version 1) with names that
// are matched by case. [EncodeJSON] writes the same bytes as the API server's serializer, but
// for the newline at the end; [DecodeJSON] reads what sigs.k8s.io/json reads into the same
// values. Both run on encoding/json/v2.
//
// All functions may be called at the same time from any number of goroutines, as long as
// nobody writes to the values passed in.
package codec
