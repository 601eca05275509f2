package resource

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/selection"
)

// FieldSelector selects objects by fields, such as status.phase!=Running: every term has to
// hold. It has the grammar and the meaning of the API server, being made of the same code, and
// never changes. The zero FieldSelector selects everything.
//
// Which fields can be used depends on the kind, and is for the server to say: metadata.name and
// metadata.namespace always, spec.nodeName of Pods, the selectableFields of a custom resource.
// See https://kubernetes.io/docs/concepts/overview/working-with-objects/field-selectors/
type FieldSelector struct{ selector fields.Selector }

// ParseFieldSelector parses what kubectl and list options accept: field=value, field==value
// and field!=value, separated by commas. In a value, a backslash goes before a comma, an equal
// sign and a backslash. The empty text selects everything. The error says where the text goes
// wrong, what stands there and what could.
func ParseFieldSelector(text string) (FieldSelector, error) {
	selector, err := fields.ParseSelector(text)
	if err != nil {
		return FieldSelector{}, locateFieldError(text)
	}
	for start, term := range fieldTerms(text) {
		field, _, _ := strings.Cut(term, "=")
		field = strings.TrimSuffix(field, "!")
		if term != "" && (field == "" || strings.ContainsAny(field, " \t\r\n")) {
			return FieldSelector{}, fmt.Errorf("field selector %q: column %d: found field %q, want a path such as metadata.name, without blanks", text, start+1, field)
		}
	}
	return newFieldSelector(selector), nil
}

// newFieldSelector returns a FieldSelector of the terms of selector in their order. Two that mean
// the same then have one text, however each was written or put together: caches are shared by it.
func newFieldSelector(selector fields.Selector) FieldSelector {
	terms := selector.Requirements()
	slices.SortFunc(terms, func(a, b fields.Requirement) int {
		return cmp.Or(cmp.Compare(a.Field, b.Field), cmp.Compare(a.Operator, b.Operator), cmp.Compare(a.Value, b.Value))
	})
	terms = slices.Compact(terms)
	ordered := make([]fields.Selector, len(terms))
	for i, term := range terms {
		if term.Operator == selection.NotEquals {
			ordered[i] = fields.OneTermNotEqualSelector(term.Field, term.Value)
		} else {
			ordered[i] = fields.OneTermEqualSelector(term.Field, term.Value)
		}
	}
	return FieldSelector{fields.AndSelectors(ordered...)}
}

// FieldIs selects the objects whose field has the value. The value is escaped where it is
// printed: any text will do.
func FieldIs(field, value string) FieldSelector {
	return FieldSelector{fields.OneTermEqualSelector(field, value)}
}

// And returns a selector of what both s and other select.
func (s FieldSelector) And(other FieldSelector) FieldSelector {
	switch {
	case s.Empty():
		return other
	case other.Empty():
		return s
	default:
		return newFieldSelector(fields.AndSelectors(s.selector, other.selector))
	}
}

// Matches reports whether an object with these fields is selected. A field that is not among
// them counts as empty, as it does for the server.
func (s FieldSelector) Matches(objectFields map[string]string) bool {
	return s.selector == nil || s.selector.Matches(fields.Set(objectFields))
}

// MatchesFunc reports whether the object whose fields lookup finds is selected. A field that
// it does not find counts as empty.
func (s FieldSelector) MatchesFunc(lookup func(field string) (value string, ok bool)) bool {
	return s.selector == nil || s.selector.Matches(lookupFunc(lookup))
}

// Empty reports whether s has no term, and so selects everything.
func (s FieldSelector) Empty() bool { return s.selector == nil || s.selector.Empty() }

// String returns s in the form that [ParseFieldSelector] and servers read, terms in the order of
// their fields. The text of a
// selector of everything is empty.
func (s FieldSelector) String() string {
	if s.selector == nil {
		return ""
	}
	return s.selector.String()
}

// locateFieldError finds the term of text that does not parse.
func locateFieldError(text string) error {
	for start, term := range fieldTerms(text) {
		_, err := fields.ParseSelector(term)
		if err == nil {
			continue
		}
		want := "want FIELD=VALUE, FIELD==VALUE or FIELD!=VALUE"
		if _, ok := errors.AsType[fields.UnescapedRune](err); ok {
			want = `write \= for an equal sign in a value`
		}
		if _, ok := errors.AsType[fields.InvalidEscapeSequence](err); ok {
			want = `a backslash goes before a comma, an equal sign or another backslash only`
		}
		return fmt.Errorf("field selector %q: column %d: found %q, %s", text, start+1, term, want)
	}
	return fmt.Errorf("field selector %q: does not parse", text)
}

// fieldTerms yields the terms of text and where they start.
func fieldTerms(text string) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		start := 0
		for i := 0; i < len(text); i++ {
			switch text[i] {
			case '\\':
				i++
			case ',':
				if !yield(start, text[start:i]) {
					return
				}
				start = i + 1
			}
		}
		yield(start, text[start:])
	}
}
