package gotypes

import (
	"cmp"
	"fmt"
	"slices"
)

// Remainder is something that neither types nor tags say.
type Remainder struct {
	// What is the keyword of the schema, or the part of the version.
	What string
	// Path is where it is first, and Count in how many places it is in all.
	Path  string
	Count int
}

// String returns what and where.
func (r Remainder) String() string {
	if r.Count == 1 {
		return fmt.Sprintf("%s (%s)", r.What, cmp.Or(r.Path, "the object"))
	}
	return fmt.Sprintf("%s (%d times, first %s)", r.What, r.Count, cmp.Or(r.Path, "the object"))
}

// remainders lists what a patch changes, by keyword.
func remainders(change map[string]any) []Remainder {
	found := map[string]*Remainder{}
	add := func(what, path string) {
		if found[what] == nil {
			found[what] = &Remainder{What: what, Path: path}
		}
		found[what].Count++
	}
	for _, part := range keysOf(change) {
		schema, _ := change[part].(map[string]any)
		root, isSchema := schema["openAPIV3Schema"].(map[string]any)
		if !isSchema {
			add(part, "the version")
			continue
		}
		walkChange(root, "", add)
	}
	list := make([]Remainder, 0, len(found))
	for _, what := range keysOf(found) {
		list = append(list, *found[what])
	}
	slices.SortStableFunc(list, func(a, b Remainder) int { return cmp.Compare(b.Count, a.Count) })
	return list
}

// walkChange visits the keywords that a patch of a schema changes.
func walkChange(change map[string]any, path string, visit func(what, path string)) {
	for _, keyword := range keysOf(change) {
		below, _ := change[keyword].(map[string]any)
		switch {
		case keyword == "properties" && below != nil:
			for _, name := range keysOf(below) {
				inner, isSchema := below[name].(map[string]any)
				if !isSchema || isWhole(inner) {
					visit("field", path+"."+name)
					continue
				}
				walkChange(inner, path+"."+name, visit)
			}
		case (keyword == "items" || keyword == "additionalProperties") && below != nil:
			walkChange(below, path+map[string]string{"items": "[]", "additionalProperties": "{}"}[keyword], visit)
		default:
			visit(keyword, path)
		}
	}
}

// isWhole reports whether a patch brings a whole schema: it has a type.
func isWhole(change map[string]any) bool {
	_, ok := change["type"].(string)
	return ok
}
