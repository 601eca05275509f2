package controller

import (
	"encoding/json/v2"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/internal/codec"
)

// flips finds the fields that differ from one write of an object to the next.
type flips struct {
	last   map[flipKey]any // of each object that is written, its content after the last write
	fields []string
}

// flipKey names an object and the form in which it is written.
type flipKey struct {
	kind        string
	key         objectKey
	scale, bare bool
}

func newFlips() *flips { return &flips{last: map[flipKey]any{}} }

// add compares the object of a write with what the last write of it left.
func (f *flips) add(w *kube.Write) {
	if w.Object == nil || len(f.fields) >= maxLoopFields {
		return
	}
	data, err := codec.EncodeJSON(w.Object)
	if err != nil {
		return
	}
	var now any
	if json.Unmarshal(data, &now) != nil {
		return
	}
	k := flipKey{w.Kind.GroupResource().String(), writtenKey(w), w.Subresource == "scale", w.Kind.MetadataOnly}
	if before, ok := f.last[k]; ok {
		f.compare("", before, now)
	} else if len(f.last) == maxEchoes {
		return
	}
	f.last[k] = now
}

// unimportant are the fields that each write changes.
var unimportant = []string{".metadata.resourceVersion", ".metadata.managedFields", ".metadata.generation"}

func (f *flips) compare(path string, before, now any) {
	if slices.Contains(unimportant, path) || reflect.DeepEqual(before, now) {
		return
	}
	switch a := before.(type) {
	case map[string]any:
		if b, ok := now.(map[string]any); ok {
			f.compareMaps(path, a, b)
			return
		}
	case []any:
		if b, ok := now.([]any); ok && len(a) == len(b) {
			for i := range a {
				f.compare(fmt.Sprintf("%s[%d]", path, i), a[i], b[i])
			}
			return
		}
	}
	if len(f.fields) < maxLoopFields && !slices.Contains(f.fields, path) {
		f.fields = append(f.fields, path)
	}
}

func (f *flips) compareMaps(path string, a, b map[string]any) {
	names := maps.Clone(a)
	maps.Copy(names, b)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		step := "." + name
		if strings.ContainsAny(name, "./[]\" ") {
			step = fmt.Sprintf("[%q]", name)
		}
		f.compare(path+step, a[name], b[name])
	}
}
