package kube

import (
	"encoding/json/jsontext"
	"errors"
	"fmt"

	"github.com/go-kube/kube/internal/codec"
	"k8s.io/apimachinery/pkg/types"
)

// Patch is a change to send with [API.Patch]. Make one with [MergePatch], [StrategicPatch]
// or [JSONPatch].
type Patch struct {
	contentType types.PatchType
	body        []byte
	err         error
}

// MergePatch is a JSON merge patch (RFC 7386): objects are merged, null removes a field, a
// list replaces the list that was there. change is a []byte or jsontext.Value that holds
// JSON, or a Go value that encodes to it, such as map[string]any.
func MergePatch(change any) Patch { return newPatch(types.MergePatchType, change) }

// StrategicPatch is a strategic merge patch: as a merge patch, but lists merge by the key
// that the built-in type declares. Custom resources do not take it; use [MergePatch] or
// [API.Apply] there. change is as for [MergePatch].
// See https://kubernetes.io/docs/reference/using-api/api-concepts/#patch-and-update
func StrategicPatch(change any) Patch { return newPatch(types.StrategicMergePatchType, change) }

// JSONPatchOp is one step of a JSON patch.
type JSONPatchOp struct {
	// Op is add, remove, replace, move, copy or test.
	Op string `json:"op"`
	// Path is a JSON pointer (RFC 6901): / in a name is written ~1, and ~ is ~0.
	Path string `json:"path"`
	// From is the pointer that move and copy read.
	From string `json:"from,omitempty"`
	// Value is what add and replace write and test compares, for those three; nil is null.
	Value any `json:"value"`
}

// JSONPatch is a JSON patch (RFC 6902): steps that are done in order, all or none. A test
// step makes the patch fail with [ErrInvalid] when the object is not as expected.
func JSONPatch(ops ...JSONPatchOp) Patch {
	if len(ops) == 0 {
		return Patch{err: errors.New("a JSON patch needs at least one step")}
	}
	steps := make([]map[string]any, len(ops))
	for i, op := range ops {
		step := map[string]any{"op": op.Op, "path": op.Path}
		switch op.Op {
		case "add", "replace", "test":
			step["value"] = op.Value
		case "move", "copy":
			step["from"] = op.From
		case "remove":
		default:
			return Patch{err: fmt.Errorf("step %d of the JSON patch is %q; RFC 6902 knows add, remove, replace, move, copy and test", i, op.Op)}
		}
		steps[i] = step
	}
	return newPatch(types.JSONPatchType, steps)
}

func newPatch(contentType types.PatchType, change any) Patch {
	p := Patch{contentType: contentType}
	switch c := change.(type) {
	case nil:
		p.err = errors.New("the patch is nil")
	case []byte:
		p.body, p.err = validJSON(c)
	case jsontext.Value:
		p.body, p.err = validJSON(c)
	default:
		p.body, p.err = codec.EncodeJSON(change)
	}
	return p
}

func validJSON(b []byte) ([]byte, error) {
	if !jsontext.Value(b).IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) {
		return nil, fmt.Errorf("the patch %.40q is not JSON", b)
	}
	return b, nil
}
