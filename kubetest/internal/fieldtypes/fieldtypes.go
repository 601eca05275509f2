// Package fieldtypes has the types of the built-in kinds as server-side apply wants them: which
// lists are maps by which keys, which objects are atomic. They are embedded in a compact form
// and read when they are first needed.
package fieldtypes

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/json/v2"
	"fmt"
	"io"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	smd "sigs.k8s.io/structured-merge-diff/v6/schema"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// archive is what internal/gen has made of Kubernetes' OpenAPI documents: see [Parse].
//
//go:embed types.txt.gz
var archive []byte

// Types are named types.
type Types struct {
	kinds map[string]string // "group/version/Kind" to the name of its type
	lines map[string]string // the name of a type to its JSON

	mu     sync.Mutex
	parsed map[string]smd.TypeDef
	types  map[schema.GroupVersionKind]typed.ParseableType
}

// Builtin returns the types of the kinds that are part of Kubernetes.
var Builtin = sync.OnceValue(func() *Types {
	unpacked, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		panic("fieldtypes: " + err.Error()) // the archive is part of the program
	}
	text, err := io.ReadAll(unpacked)
	if err != nil {
		panic("fieldtypes: " + err.Error())
	}
	types, err := Parse(string(text))
	if err != nil {
		panic("fieldtypes: " + err.Error())
	}
	return types
})

// Parse reads types from lines. A line is the name of a type, the kinds (group/version/Kind,
// separated by commas) that have it, and the type as JSON, separated by tabs.
func Parse(text string) (*Types, error) {
	t := &Types{
		kinds: map[string]string{}, lines: map[string]string{},
		parsed: map[string]smd.TypeDef{}, types: map[schema.GroupVersionKind]typed.ParseableType{},
	}
	for line := range strings.Lines(text) {
		parts := strings.SplitN(line, "\t", 3)
		if len(parts) != 3 {
			return nil, fmt.Errorf("%q is no line of a type", line)
		}
		t.lines[parts[0]] = parts[2]
		for kind := range strings.SplitSeq(parts[1], ",") {
			if kind != "" {
				t.kinds[kind] = parts[0]
			}
		}
	}
	return t, nil
}

// KindKey names a kind in the lines that [Parse] reads.
func KindKey(gvk schema.GroupVersionKind) string {
	return gvk.Group + "/" + gvk.Version + "/" + gvk.Kind
}

// Of returns the type of a kind. It reports false if there is none.
func (t *Types) Of(gvk schema.GroupVersionKind) (typed.ParseableType, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if known, ok := t.types[gvk]; ok {
		return known, true
	}
	name, ok := t.kinds[KindKey(gvk)]
	if !ok {
		return typed.ParseableType{}, false
	}
	parser := typed.Parser{Schema: smd.Schema{Types: t.closure(name)}}
	t.types[gvk] = parser.Type(name)
	return t.types[gvk], true
}

// Closure returns the named types and all that they refer to.
func (t *Types) Closure(names ...string) []smd.TypeDef {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.closure(names...)
}

// closure is Closure. The caller holds mu.
func (t *Types) closure(names ...string) []smd.TypeDef {
	var defs []smd.TypeDef
	seen := map[string]bool{}
	for len(names) > 0 {
		name := names[len(names)-1]
		names = names[:len(names)-1]
		if seen[name] {
			continue
		}
		seen[name] = true
		def := t.parse(name)
		defs = append(defs, def)
		names = append(names, references(def.Atom)...)
	}
	return defs
}

// parse returns a named type. The caller holds mu.
func (t *Types) parse(name string) smd.TypeDef {
	if def, ok := t.parsed[name]; ok {
		return def
	}
	var a atom
	if err := json.Unmarshal([]byte(t.lines[name]), &a); err != nil {
		panic(fmt.Sprintf("fieldtypes: type %s: %v", name, err)) // the types are part of the program
	}
	def := smd.TypeDef{Name: name, Atom: a.unpack()}
	t.parsed[name] = def
	return def
}

// references returns the names of the types that a refers to.
func references(a smd.Atom) []string {
	var names []string
	add := func(r smd.TypeRef) {
		if r.NamedType != nil {
			names = append(names, *r.NamedType)
		}
		names = append(names, references(r.Inlined)...)
	}
	if a.List != nil {
		add(a.List.ElementType)
	}
	if a.Map != nil {
		add(a.Map.ElementType)
		for _, f := range a.Map.Fields {
			add(f.Type)
		}
	}
	return names
}
