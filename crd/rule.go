package crd

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/go-kube/kube/internal/suggest"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// ruled is a type that says its own validation rules.
type ruled interface {
	Rules() []apiextensionsv1.ValidationRule
}

// ruleOf reads rule='self.min <= self.max'|'message'.
func ruleOf(w word) (rule apiextensionsv1.ValidationRule, err error) {
	if w.rule != nil {
		return *w.rule, nil
	}
	if len(w.values) == 0 || len(w.values) > 2 {
		return rule, fmt.Errorf("needs an expression of CEL, and may have a message behind it, as in rule='self.min <= self.max'|'min is above max'")
	}
	rule.Rule = w.values[0].text
	if len(w.values) == 2 {
		rule.Message = w.values[1].text
	}
	return rule, checkRule(&rule)
}

// immutable forbids changes. Where a field may be removed, its object has to forbid that.
func immutable(w word) (rule apiextensionsv1.ValidationRule, err error) {
	if w.values != nil {
		return rule, fmt.Errorf("takes no value, and has %s", w.raw)
	}
	return apiextensionsv1.ValidationRule{Rule: "self == oldSelf", Message: "field is immutable"}, nil
}

// onceSet forbids the removal of an optional field that is immutable: the rule of the field
// itself does not run once the field is gone.
func onceSet(name string) apiextensionsv1.ValidationRule {
	return apiextensionsv1.ValidationRule{
		Rule:    fmt.Sprintf("!has(oldSelf.%[1]s) || has(self.%[1]s)", celName(name)),
		Message: fmt.Sprintf("field %s is immutable once set", name),
	}
}

func atMostOneOf(w word) (apiextensionsv1.ValidationRule, error) {
	return union(w, "+", "(has(self.%s)?1:0)", " <= 1", "at most one of the fields in %v may be set")
}

func exactlyOneOf(w word) (apiextensionsv1.ValidationRule, error) {
	return union(w, "+", "(has(self.%s)?1:0)", " == 1", "exactly one of the fields in %v must be set")
}

func atLeastOneOf(w word) (apiextensionsv1.ValidationRule, error) {
	return union(w, "||", "has(self.%s)", "", "at least one of the fields in %v must be set")
}

// union returns the rule over the fields that a word names.
func union(w word, junctor, each, end, message string) (rule apiextensionsv1.ValidationRule, err error) {
	var fields, terms []string
	if err := w.names(&fields); err != nil {
		return rule, err
	}
	if err := checkMembers(fields); err != nil {
		return rule, err
	}
	for _, name := range fields {
		terms = append(terms, fmt.Sprintf(each, celName(name)))
	}
	return apiextensionsv1.ValidationRule{
		Rule:    strings.Join(terms, junctor) + end,
		Message: fmt.Sprintf(message, fields),
	}, nil
}

// checkMembers checks the names of the fields of a union.
func checkMembers(names []string) error {
	for i, name := range names {
		switch {
		case strings.Contains(name, "."):
			return fmt.Errorf("names the nested field %q; a union is made of fields of one object", name)
		case slices.Contains(names[:i], name):
			return fmt.Errorf("names the field %q twice", name)
		}
	}
	return nil
}

// oneOf asks for exactly one of some fields, in the words of JSON Schema.
func oneOf(s *props, names []string) { addOneOf(s, present(names)) }

// oneOfOrNone lets one of some fields be there, as definitions made of protobuf's oneof say it.
func oneOfOrNone(s *props, names []string) {
	none := props{Not: &props{AnyOf: present(names)}}
	addOneOf(s, append([]props{none}, present(names)...))
}

// present has a branch for each of some fields, which is true where the field is there.
func present(names []string) (branches []props) {
	for _, name := range names {
		branches = append(branches, props{Required: []string{name}})
	}
	return branches
}

// addOneOf adds alternatives to those that are there: two of them need an allOf.
func addOneOf(s *props, branches []props) {
	switch {
	case len(s.AllOf) > 0:
		s.AllOf = append(s.AllOf, props{OneOf: branches})
	case len(s.OneOf) > 0:
		s.AllOf, s.OneOf = []props{{OneOf: s.OneOf}, {OneOf: branches}}, nil
	default:
		s.OneOf = branches
	}
}

// checkUnion checks that an object has the fields of a union, and lets them be absent.
func checkUnion(s *props, u use) error {
	if !strings.HasSuffix(u.name, "OneOf") && u.members == nil {
		return nil
	}
	var fields []string
	if err := u.word.names(&fields); err != nil {
		return err
	}
	for _, name := range fields {
		_, ok := s.Properties[name]
		switch {
		case !ok && len(s.AllOf) == 0: // with allOf, an embedded struct may have it
			return fmt.Errorf("%q names the field %q, which is not there%s", u.word.as(), name, suggest.DidYouMean(name, keysOf(s.Properties)))
		case slices.Contains(s.Required, name):
			return fmt.Errorf("%q names the field %q, which is required; a member of a union has to be optional", u.word.as(), name)
		}
	}
	return nil
}

// celReserved are the words of CEL that cannot name a field unless they are escaped.
// See https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#validation-rules
var celReserved = []string{
	"true", "false", "null", "in", "as", "break", "const", "continue", "else", "for", "function", "if", "import",
	"let", "loop", "package", "namespace", "return",
}

// celName escapes a property for use in an expression.
func celName(name string) string {
	if slices.Contains(celReserved, name) {
		return "__" + name + "__"
	}
	return strings.NewReplacer("__", "__underscores__", ".", "__dot__", "-", "__dash__", "/", "__slash__").Replace(name)
}

var ruleReasons = []apiextensionsv1.FieldValueErrorReason{
	apiextensionsv1.FieldValueInvalid, apiextensionsv1.FieldValueForbidden,
	apiextensionsv1.FieldValueRequired, apiextensionsv1.FieldValueDuplicate,
}

// checkRule checks what can be said of a rule without compiling it.
func checkRule(r *apiextensionsv1.ValidationRule) error {
	switch {
	case strings.TrimSpace(r.Rule) == "":
		return fmt.Errorf("a rule needs an expression")
	case r.Message != "" && strings.TrimSpace(r.Message) == "":
		return fmt.Errorf("rule %q: its message is blank", r.Rule)
	case strings.ContainsAny(strings.TrimSpace(r.Message), "\n\r"):
		return fmt.Errorf("rule %q: its message has more than one line", r.Rule)
	case strings.ContainsAny(strings.TrimSpace(r.Rule), "\n\r") && r.Message == "":
		return fmt.Errorf("rule %q: a rule of several lines needs a message", r.Rule)
	case r.MessageExpression != "" && strings.TrimSpace(r.MessageExpression) == "":
		return fmt.Errorf("rule %q: its messageExpression is blank", r.Rule)
	case r.Reason != nil && !slices.Contains(ruleReasons, *r.Reason):
		return fmt.Errorf("rule %q: the reason is one of %v, and not %q%s", r.Rule, ruleReasons, *r.Reason, suggest.DidYouMean(string(*r.Reason), reasonNames()))
	case r.FieldPath != "" && r.FieldPath[0] != '.' && r.FieldPath[0] != '[':
		return fmt.Errorf("rule %q: the fieldPath %q has to begin with a dot, as in .replicas", r.Rule, r.FieldPath)
	case r.OptionalOldSelf != nil && *r.OptionalOldSelf && !strings.Contains(r.Rule, "oldSelf"):
		return fmt.Errorf("rule %q: optionalOldSelf is for rules that use oldSelf", r.Rule)
	}
	return nil
}

func reasonNames() (names []string) {
	for _, r := range ruleReasons {
		names = append(names, string(r))
	}
	return names
}

// checkFieldPath checks that a rule points at a field that its node has.
func checkFieldPath(s *props, r *apiextensionsv1.ValidationRule) error {
	if !strings.HasPrefix(r.FieldPath, ".") {
		return nil
	}
	if _, err := resolveBelow(s, r.FieldPath); err != nil {
		return fmt.Errorf("rule %q: fieldPath: %w", r.Rule, err)
	}
	return nil
}

// checkRules checks the rules of a node, which is complete.
func checkRules(s *props) error {
	if len(s.XValidations) > 0 && typeless(s) && s.Ref == nil {
		return fmt.Errorf("rules need to know the type that they are about, and this is any JSON; say type=object, or write the rule about the object around it")
	}
	for i := range s.XValidations {
		r := &s.XValidations[i]
		if err := checkRule(r); err != nil {
			return err
		}
		if err := checkFieldPath(s, r); err != nil {
			return err
		}
	}
	return nil
}

// docs reads externalDocs='https://example.com'|'a description'.
func (w word) docs() (*apiextensionsv1.ExternalDocumentation, error) {
	if len(w.values) == 0 || len(w.values) > 2 {
		return nil, fmt.Errorf("needs an address, and may have a description behind it, as in externalDocs='https://example.com'|'the manual'")
	}
	out := &apiextensionsv1.ExternalDocumentation{URL: w.values[0].text}
	if _, err := url.ParseRequestURI(out.URL); err != nil {
		return nil, err
	}
	if len(w.values) == 2 {
		out.Description = w.values[1].text
	}
	return out, nil
}
