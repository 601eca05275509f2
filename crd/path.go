package crd

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/go-kube/kube/internal/suggest"
)

// resolve finds the node that a JSON path names. It returns nil without an error where the
// schema does not say what is there: in metadata, behind brackets, among unknown fields.
func resolve(root *props, path string) (*props, error) {
	if path == ".metadata" || strings.HasPrefix(path, ".metadata.") || strings.HasPrefix(path, ".metadata[") {
		return nil, nil
	}
	return resolveBelow(root, path)
}

// resolveBelow does the same from any node of a schema.
func resolveBelow(root *props, path string) (*props, error) {
	if !strings.HasPrefix(path, ".") {
		return nil, fmt.Errorf("the path %q has to begin with a dot, as in .status.ready", path)
	}
	plain, _, bracket := strings.Cut(path[1:], "[")
	at, walked := root, ""
	for step := range strings.SplitSeq(plain, ".") {
		if step == "" && bracket {
			break // ".[" or ".a.[": the rest is in brackets
		}
		next, err := member(at, step)
		if err != nil {
			return nil, fmt.Errorf("the path %s leads nowhere: %s%w", path, cmp.Or(walked, "the object"), err)
		}
		if next == nil {
			return nil, nil
		}
		at, walked = next, walked+"."+step
	}
	if bracket {
		return nil, nil
	}
	return at, nil
}

// member returns the field of an object, or nil where the schema leaves it open.
func member(s *props, name string) (*props, error) {
	if p, ok := s.Properties[name]; ok {
		return &p, nil
	}
	switch {
	case s.AdditionalProperties != nil:
		return s.AdditionalProperties.Schema, nil
	case s.XPreserveUnknownFields != nil:
		return nil, nil
	case s.Type != "object":
		_, is := typeOf(s)
		return nil, fmt.Errorf(" is of type %s, which has no field %q", is, name)
	}
	return nil, fmt.Errorf(" has no field %q%s", name, suggest.DidYouMean(name, keysOf(s.Properties)))
}

var (
	columnTypes   = []string{"integer", "number", "string", "boolean", "date"}
	columnFormats = []string{"int32", "int64", "float", "double", "byte", "date", "date-time", "password"}
)

func checkColumn(root *props, c Column) error {
	switch {
	case c.Name == "":
		return fmt.Errorf("a column needs a name")
	case !slices.Contains(columnTypes, c.Type):
		return fmt.Errorf("the type of a column is one of %s, and not %q%s", strings.Join(columnTypes, ", "), c.Type, suggest.DidYouMean(c.Type, columnTypes))
	case c.Format != "" && !slices.Contains(columnFormats, c.Format):
		return fmt.Errorf("the format of a column is one of %s, and not %q%s", strings.Join(columnFormats, ", "), c.Format, suggest.DidYouMean(c.Format, columnFormats))
	case c.Priority < 0:
		return fmt.Errorf("priority %d is negative; 0 always shows the column, more shows it in wide output", c.Priority)
	}
	target, err := resolve(root, c.JSONPath)
	if err != nil || target == nil || printable(target, c.Type) {
		return err
	}
	_, is := typeOf(target)
	return fmt.Errorf("%s is of type %s, which a column of type %s cannot show", c.JSONPath, is, c.Type)
}

// printable reports whether the server fills a column of a type from a node: where it cannot,
// it leaves the cell empty and says nothing.
func printable(s *props, columnType string) bool {
	switch columnType {
	case "string":
		return true
	case "number":
		return s.Type == "number" || s.Type == "integer" || typeless(s)
	case "date":
		return s.Type == "string" || typeless(s)
	default:
		return s.Type == columnType || typeless(s)
	}
}
