package controller

import (
	"encoding/json/v2"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// fieldPath is where a field is in an object: names, and indexes of lists.
type fieldPath []any

// String returns the path for people: .spec.containers[0].image.
func (p fieldPath) String() string {
	var b strings.Builder
	for _, step := range p {
		switch name, ok := step.(string); {
		case !ok:
			fmt.Fprintf(&b, "[%d]", step)
		case strings.ContainsAny(name, "./[]\" "):
			fmt.Fprintf(&b, "[%q]", name)
		default:
			b.WriteString("." + name)
		}
	}
	return b.String()
}

// with returns the path of a field inside.
func (p fieldPath) with(step any) fieldPath { return append(slices.Clip(p), step) }

// unimportant are the fields that the server sets by itself.
var unimportant = []string{
	".metadata.resourceVersion", ".metadata.managedFields", ".metadata.generation", ".metadata.uid", ".metadata.creationTimestamp",
}

// inStatus reports whether a field is in the status.
func inStatus(path fieldPath) bool { return len(path) > 0 && path[0] == "status" }

// differing returns the fields in which two objects differ, but for some.
func differing(a, b any, but func(fieldPath) bool) (paths []fieldPath) {
	walk(nil, [3]any{a, b, nil}, func(path fieldPath, v [3]any) bool {
		if reflect.DeepEqual(v[0], v[1]) || but != nil && but(path) {
			return false
		}
		if !alike(v[0], v[1]) {
			paths = append(paths, path)
			return false
		}
		return true
	})
	return paths
}

// undone returns the fields that were found to be other than they had been left, and are as they had
// been left again.
func undone(left, found, now any) (paths []fieldPath) {
	walk(nil, [3]any{left, found, now}, func(path fieldPath, v [3]any) bool {
		if reflect.DeepEqual(v[0], v[1]) {
			return false
		}
		if alike(v[0], v[1]) && alike(v[0], v[2]) {
			return true
		}
		if reflect.DeepEqual(v[0], v[2]) {
			paths = append(paths, path)
		}
		return false
	})
	return paths
}

// alike reports whether two values have insides that can be compared piece by piece.
func alike(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		_, ok := b.(map[string]any)
		return ok
	case []any:
		list, ok := b.([]any)
		return ok && len(a) == len(list)
	}
	return false
}

// walk goes through three values at a time. deeper says whether to go inside.
func walk(path fieldPath, v [3]any, deeper func(fieldPath, [3]any) bool) {
	if len(path) == 2 && slices.Contains(unimportant, path.String()) || !deeper(path, v) {
		return
	}
	names := map[string]any{}
	length := 0
	for _, value := range v {
		switch value := value.(type) {
		case map[string]any:
			maps.Copy(names, value)
		case []any:
			length = max(length, len(value))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		walk(path.with(name), inside(v, name), deeper)
	}
	for i := range length {
		walk(path.with(i), inside(v, i), deeper)
	}
}

// inside returns what three values have inside.
func inside(v [3]any, step any) (in [3]any) {
	for i, value := range v {
		in[i], _ = stepInto(value, step)
	}
	return in
}

func stepInto(value, step any) (inside any, ok bool) {
	switch step := step.(type) {
	case string:
		m, _ := value.(map[string]any)
		inside, ok = m[step]
	case int:
		if list, _ := value.([]any); step < len(list) {
			return list[step], true
		}
	}
	return inside, ok
}

// lost returns the field managers that had a field, or something inside of it, in one state of an object
// and not in the next.
func (p fieldPath) lost(before, after any) (managers []string) {
	had, have := p.managers(before), p.managers(after)
	for _, manager := range had {
		if !slices.Contains(have, manager) {
			managers = append(managers, manager)
		}
	}
	return managers
}

// managers returns the field managers of a field, or of something inside, by metadata.managedFields.
func (p fieldPath) managers(object any) (managers []string) {
	meta, _ := stepInto(object, "metadata")
	entries, _ := stepInto(meta, "managedFields")
	list, _ := entries.([]any)
	for _, entry := range list {
		fields, _ := stepInto(entry, "fieldsV1")
		manager, _ := stepInto(entry, "manager")
		if name, ok := manager.(string); ok && p.managed(object, fields) {
			managers = append(managers, name)
		}
	}
	return managers
}

// managed reports whether fields, in the form of FieldsV1, has the path inside of object.
func (p fieldPath) managed(object, fields any) bool {
	set, ok := fields.(map[string]any)
	if !ok {
		return false
	}
	if len(p) == 0 || len(set) == 0 { // a set without insides has all of them
		return true
	}
	inner, _ := stepInto(object, p[0])
	if name, ok := p[0].(string); ok {
		return p[1:].managed(inner, set["f:"+name])
	}
	for key, inside := range set {
		if isElement(key, inner, p[0]) && p[1:].managed(inner, inside) {
			return true
		}
	}
	return false
}

// isElement reports whether key, in the form of FieldsV1, names an element of a list: by its keys
// (k:), its value (v:) or its index (i:).
func isElement(key string, element, index any) bool {
	form, text, _ := strings.Cut(key, ":")
	var want any
	if json.Unmarshal([]byte(text), &want) != nil {
		return false
	}
	switch form {
	case "v":
		return reflect.DeepEqual(want, element)
	case "i":
		return text == fmt.Sprint(index)
	case "k":
		keys, _ := want.(map[string]any)
		for name, value := range keys {
			if have, _ := stepInto(element, name); !reflect.DeepEqual(have, value) {
				return false
			}
		}
		return len(keys) > 0
	}
	return false
}
