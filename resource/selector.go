package resource

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Selector selects objects by their labels: every requirement in it has to hold. It has the
// grammar and the meaning of the API server, being made of the same code, and never changes.
// The zero Selector selects everything.
//
// See https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors
type Selector struct{ requirements labels.Requirements }

// nothing names a label for the pair of requirements that no object meets.
const nothing = "nothing"

// ParseSelector parses what kubectl and list options accept, requirements separated by commas:
//
//	key=value  key==value   the label has the value
//	key!=value              it has another one, or there is no such label
//	key in (a,b)            it has one of the values
//	key notin (a,b)         it has none of them, or there is no such label
//	key  !key               there is such a label; there is none
//	key>1  key<1            it is a number above, below
//
// Blanks do not matter. The empty text selects everything. The error says where the text goes
// wrong, what stands there and what could.
func ParseSelector(text string) (Selector, error) {
	if i := strings.IndexByte(text, 0); i >= 0 { // apimachinery would stop reading there
		return Selector{}, fmt.Errorf("label selector %q: column %d: found a NUL byte", text, i+1)
	}
	requirements, err := labels.ParseToRequirements(text)
	if err != nil {
		return Selector{}, fmt.Errorf("label selector %q: %w", text, locateSyntaxError(text, err))
	}
	return newSelector(requirements), nil
}

// newSelector returns a Selector of requirements, which it takes, in an order of its own, each once and in
// one spelling. What was written in another way then has the same text: caches are shared by it.
func newSelector(requirements labels.Requirements) Selector {
	for i := range requirements {
		if r := &requirements[i]; r.Operator() == selection.DoubleEquals {
			if single, err := labels.NewRequirement(r.Key(), selection.Equals, r.ValuesUnsorted()); err == nil {
				*r = *single
			}
		}
	}
	slices.SortFunc(requirements, func(a, b labels.Requirement) int {
		return cmp.Or(cmp.Compare(a.Key(), b.Key()), cmp.Compare(a.String(), b.String()))
	})
	return Selector{slices.CompactFunc(requirements, func(a, b labels.Requirement) bool { return a.String() == b.String() })}
}

// SelectorOf returns the selector that s says: what Deployments, NetworkPolicies and many
// other objects carry. As there, an s without requirements selects everything, and a nil s
// nothing. The error names the part of s that is wrong.
func SelectorOf(s *metav1.LabelSelector) (Selector, error) {
	if s == nil {
		return selectNothing(), nil
	}
	var out Selector
	for _, key := range slices.Sorted(maps.Keys(s.MatchLabels)) {
		path := field.NewPath("matchLabels")
		if err := out.add(path, key, selection.Equals, s.MatchLabels[key]); err != nil {
			return Selector{}, fmt.Errorf("label selector: %w", err)
		}
	}
	for i, e := range s.MatchExpressions {
		path := field.NewPath("matchExpressions").Index(i)
		operator, ok := fromLabelSelector[e.Operator]
		if !ok {
			return Selector{}, fmt.Errorf("label selector: %s: operator %q of key %q: want In, NotIn, Exists or DoesNotExist", path, e.Operator, e.Key)
		}
		if err := out.add(path, e.Key, operator, e.Values...); err != nil {
			return Selector{}, fmt.Errorf("label selector: %w", err)
		}
	}
	return newSelector(out.requirements), nil
}

var fromLabelSelector = map[metav1.LabelSelectorOperator]selection.Operator{
	metav1.LabelSelectorOpIn:           selection.In,
	metav1.LabelSelectorOpNotIn:        selection.NotIn,
	metav1.LabelSelectorOpExists:       selection.Exists,
	metav1.LabelSelectorOpDoesNotExist: selection.DoesNotExist,
}

// add appends a requirement; values is copied.
func (s *Selector) add(path *field.Path, key string, operator selection.Operator, values ...string) error {
	values = slices.Compact(slices.Sorted(slices.Values(values)))
	r, err := labels.NewRequirement(key, operator, values, field.WithPath(path))
	if err != nil {
		return err
	}
	s.requirements = append(s.requirements, *r)
	return nil
}

// selectNothing requires a label to be there and not to be there, which can be printed,
// parsed and sent to a server. apimachinery prints its own as the empty text, which reads back
// as everything.
func selectNothing() Selector {
	var s Selector
	for _, operator := range []selection.Operator{selection.Exists, selection.DoesNotExist} {
		if err := s.add(nil, nothing, operator); err != nil {
			panic(err) // nothing is a valid key
		}
	}
	return newSelector(s.requirements)
}

// Matches reports whether an object with these labels is selected.
func (s Selector) Matches(objectLabels map[string]string) bool {
	return s.matches(labels.Set(objectLabels))
}

// MatchesFunc reports whether the object whose labels lookup finds is selected. It needs no
// map: s.MatchesFunc(raw.Label).
func (s Selector) MatchesFunc(lookup func(key string) (value string, ok bool)) bool {
	return s.matches(lookupFunc(lookup))
}

func (s Selector) matches(l labels.Labels) bool {
	for i := range s.requirements {
		if !s.requirements[i].Matches(l) {
			return false
		}
	}
	return true
}

// Values returns the values, each once, of which the label called key has to have one; ok is false when s does
// not limit the label to certain values. What finds objects by a label looks at these only.
func (s Selector) Values(key string) (values []string, ok bool) {
	for i := range s.requirements {
		r := &s.requirements[i]
		if r.Key() != key {
			continue
		}
		switch r.Operator() {
		case selection.Equals, selection.DoubleEquals, selection.In:
			return slices.Compact(slices.Sorted(slices.Values(r.ValuesUnsorted()))), true
		}
	}
	return nil, false
}

// Empty reports whether s has no requirement, and so selects everything.
func (s Selector) Empty() bool { return len(s.requirements) == 0 }

// And returns a selector of what both s and other select.
func (s Selector) And(other Selector) Selector {
	return newSelector(slices.Concat(s.requirements, other.requirements))
}

// String returns s in the form that [ParseSelector] and servers read, requirements in the
// order of their keys, and those of one key in that of their texts. The text of a selector of everything is empty.
func (s Selector) String() string {
	texts := make([]string, len(s.requirements))
	for i := range s.requirements {
		texts[i] = s.requirements[i].String()
	}
	return strings.Join(texts, ",")
}

// LabelSelector returns s in the form that objects carry. Equality goes to matchLabels, the
// rest and a second value for the same key to matchExpressions, which has no operators for
// > and <: they are an error.
func (s Selector) LabelSelector() (*metav1.LabelSelector, error) {
	out := &metav1.LabelSelector{}
	for i := range s.requirements {
		if err := addRequirement(out, &s.requirements[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func addRequirement(to *metav1.LabelSelector, r *labels.Requirement) error {
	values := r.ValuesUnsorted()
	e := metav1.LabelSelectorRequirement{Key: r.Key(), Values: values}
	switch r.Operator() {
	case selection.Equals, selection.DoubleEquals:
		if _, taken := to.MatchLabels[r.Key()]; !taken {
			if to.MatchLabels == nil {
				to.MatchLabels = map[string]string{}
			}
			to.MatchLabels[r.Key()] = values[0]
			return nil
		}
		e.Operator = metav1.LabelSelectorOpIn
	case selection.In:
		e.Operator = metav1.LabelSelectorOpIn
	case selection.NotIn, selection.NotEquals:
		e.Operator = metav1.LabelSelectorOpNotIn
	case selection.Exists:
		e.Operator, e.Values = metav1.LabelSelectorOpExists, nil
	case selection.DoesNotExist:
		e.Operator, e.Values = metav1.LabelSelectorOpDoesNotExist, nil
	default:
		return fmt.Errorf("label selector: %s cannot be written as a LabelSelector: its operators are In, NotIn, Exists and DoesNotExist", r)
	}
	to.MatchExpressions = append(to.MatchExpressions, e)
	return nil
}

// lookupFunc is a way to find values by name as apimachinery wants it.
type lookupFunc func(string) (string, bool)

// Has implements labels.Labels and fields.Fields.
func (f lookupFunc) Has(key string) bool {
	_, ok := f(key)
	return ok
}

// Get implements labels.Labels and fields.Fields.
func (f lookupFunc) Get(key string) string {
	value, _ := f(key)
	return value
}

// Lookup implements labels.Labels.
func (f lookupFunc) Lookup(key string) (string, bool) { return f(key) }

// locateSyntaxError adds to an error of apimachinery's parser where in text it is, and says it
// in fewer words.
func locateSyntaxError(text string, err error) error {
	message := strings.TrimPrefix(err.Error(), "unable to parse requirement: ")
	message = strings.TrimPrefix(message, "<nil>: ")
	start, end := firstWrongToken(text)
	if _, expected, ok := strings.Cut(message, "expected"); ok && strings.HasPrefix(message, "found '") {
		found := "the end"
		if start < end {
			found = strconv.Quote(text[start:end])
		}
		message = "found " + found + ", want " + strings.TrimLeft(expected, ": ")
	}
	return fmt.Errorf("column %d: %s", start+1, message)
}

// firstWrongToken finds the token that no continuation could make right: that of the shortest
// start of text whose error is another one than that it ends too early.
func firstWrongToken(text string) (start, end int) {
	tokens := selectorTokens(text)
	i := sort.Search(len(tokens), func(i int) bool {
		prefix := text[:tokens[i].end]
		_, err := labels.ParseToRequirements(prefix)
		return err != nil && !endsEarly(prefix, err)
	})
	if i == len(tokens) {
		return len(text), len(text)
	}
	return tokens[i].start, tokens[i].end
}

// endsEarly reports whether err says that prefix lacks something at its end.
func endsEarly(prefix string, err error) bool {
	if strings.HasSuffix(prefix, ">") || strings.HasSuffix(prefix, "<") {
		return !strings.Contains(err.Error(), "found '") // else the empty value is no integer
	}
	return strings.Contains(err.Error(), "found ''")
}

type span struct{ start, end int }

const (
	selectorBlanks  = " \t\r\n"
	selectorSymbols = "=!(),<>"
)

// selectorTokens returns where the tokens of text are, as apimachinery's lexer finds them.
func selectorTokens(text string) (tokens []span) {
	for i := 0; i < len(text); {
		n := 1
		switch c := text[i : i+1]; {
		case strings.Contains(selectorBlanks, c):
			i++
			continue
		case !strings.Contains(selectorSymbols, c):
			if n = strings.IndexAny(text[i:], selectorBlanks+selectorSymbols); n < 0 {
				n = len(text) - i
			}
		case strings.HasPrefix(text[i:], "==") || strings.HasPrefix(text[i:], "!="):
			n = 2
		}
		tokens = append(tokens, span{i, i + n})
		i += n
	}
	return tokens
}
