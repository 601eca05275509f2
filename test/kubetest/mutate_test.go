package kubetest

import (
	"fmt"
	"maps"
	"slices"
)

// mutation is a change that may make an object invalid.
type mutation struct {
	name  string
	apply func(object map[string]any)
}

// mutations returns changes to an object: each of its fields removed, of another type, and
// null, at most limit of them, spread over the whole object.
func mutations(object map[string]any, limit int) []mutation {
	var all []mutation
	for _, path := range fieldPaths(object, nil) {
		if path[0] == "apiVersion" || path[0] == "kind" || path[0] == "metadata" {
			continue
		}
		name := fmt.Sprint(path...)
		all = append(all,
			mutation{"without " + name, func(o map[string]any) { edit(o, path, nil, true) }},
			mutation{"odd " + name, func(o map[string]any) { edit(o, path, oddValue, false) }},
			mutation{"null " + name, func(o map[string]any) { edit(o, path, func(any) any { return nil }, false) }},
		)
	}
	all = append(all, mutation{"unknown", func(o map[string]any) { o["unknownField"] = map[string]any{"a": 1} }})
	if len(all) <= limit {
		return all
	}
	chosen := make([]mutation, 0, limit)
	for i := range limit {
		chosen = append(chosen, all[i*len(all)/limit])
	}
	return chosen
}

// fieldPaths returns the paths of all members of objects in value, in order.
func fieldPaths(value any, at []any) [][]any {
	var paths [][]any
	switch v := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			path := append(slices.Clone(at), name)
			paths = append(append(paths, path), fieldPaths(v[name], path)...)
		}
	case []any:
		for i, item := range v {
			paths = append(paths, fieldPaths(item, append(slices.Clone(at), i))...)
		}
	}
	return paths
}

// oddValue returns a value of another type, or one that hardly anything allows.
func oddValue(value any) any {
	switch v := value.(type) {
	case string:
		if len(v) > 8 {
			return int64(-7)
		}
		return "%%% odd value \x00"
	case bool:
		return "perhaps"
	case int64, float64:
		return int64(-1 << 40)
	case []any:
		if len(v) > 0 {
			return append(slices.Clone(v), v[0])
		}
		return map[string]any{"not": "a list"}
	}
	return []any{"not an object"}
}

// edit changes or removes the member at a path.
func edit(value any, path []any, change func(any) any, remove bool) {
	switch v := value.(type) {
	case map[string]any:
		name := path[0].(string)
		switch {
		case len(path) > 1:
			edit(v[name], path[1:], change, remove)
		case remove:
			delete(v, name)
		default:
			v[name] = change(v[name])
		}
	case []any:
		edit(v[path[0].(int)], path[1:], change, remove)
	}
}
