package crd

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-kube/kube/internal/suggest"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// props is a node of a schema.
type props = apiextensionsv1.JSONSchemaProps

// fit says on which schema types a keyword means something.
type fit uint8

const (
	fitString fit = 1 << iota
	fitInteger
	fitNumber
	fitBoolean
	fitArray
	fitObject
	// fitUntyped is a node without a type: any JSON value.
	fitUntyped

	// What constrains the values of one type lets values of other types pass, so that it can
	// stand in a node that allows any.
	onStrings = fitString | fitUntyped
	onNumbers = fitInteger | fitNumber | fitUntyped
	onLists   = fitArray | fitUntyped
	onObjects = fitObject | fitUntyped
	onScalars = onStrings | onNumbers | fitBoolean
	onAll     = onScalars | onLists | onObjects
	// Expressions need to know what they are about.
	onTyped = onAll &^ fitUntyped
)

// keyword is one word that constrains a node of a schema. Exactly one of the accessors
// (count … presence) is set: it says what kind of value the word takes and where in the node
// it goes. Tags, Options.Fields and markers work from this table, so that all know the same
// words.
type keyword struct {
	// name is the word in a tag. openAPI is its name in the schema where that differs; the tag
	// takes both.
	name, openAPI string
	fits          fit
	// bound groups the keywords that say the same of different types (minLength, minimum,
	// minItems, …), for suggestions.
	bound string

	count    func(*props) **int64
	number   func(*props) **float64
	text     func(*props) *string
	flag     func(*props) *bool
	flagPtr  func(*props) **bool
	choice   func(*props) **string
	choices  []string // what choice takes
	names    func(*props) *[]string
	value    func(*props) **apiextensionsv1.JSON
	values   func(*props) *[]apiextensionsv1.JSON
	rule     func(word) (apiextensionsv1.ValidationRule, error)
	docs     func(*props) **apiextensionsv1.ExternalDocumentation
	members  func(s *props, names []string)
	presence presence
	// replaces marks the words that say what the JSON is, in place of the Go type.
	replaces bool
	// markers are the names of the marker comments that say the same.
	markers []string
}

// presence says whether a field has to be there.
type presence uint8

const (
	asTagged presence = iota // by the json tag
	required
	optional
)

// keywords is every word there is. type and x-kubernetes-int-or-string come first: they
// decide what the others may be.
var keywords = []keyword{
	{name: "type", fits: onAll, text: func(s *props) *string { return &s.Type }, replaces: true, markers: []string{"kubebuilder:validation:Type"}},
	{name: "intOrString", openAPI: "x-kubernetes-int-or-string", fits: onAll, flag: func(s *props) *bool { return &s.XIntOrString }, replaces: true, markers: []string{"kubebuilder:validation:XIntOrString"}},

	{name: "title", fits: onAll, text: func(s *props) *string { return &s.Title }, markers: []string{"kubebuilder:title"}},
	{name: "description", fits: onAll, text: func(s *props) *string { return &s.Description }},
	{name: "format", fits: onStrings | onNumbers, text: func(s *props) *string { return &s.Format }, markers: []string{"kubebuilder:validation:Format"}},
	{name: "pattern", fits: onStrings, text: func(s *props) *string { return &s.Pattern }, markers: []string{"kubebuilder:validation:Pattern"}},
	{name: "nullable", fits: onAll, flag: func(s *props) *bool { return &s.Nullable }, markers: []string{"nullable"}},

	{name: "minLength", fits: onStrings, bound: "min", count: func(s *props) **int64 { return &s.MinLength }, markers: []string{"kubebuilder:validation:MinLength"}},
	{name: "maxLength", fits: onStrings, bound: "max", count: func(s *props) **int64 { return &s.MaxLength }, markers: []string{"kubebuilder:validation:MaxLength"}},
	{name: "minItems", fits: onLists, bound: "min", count: func(s *props) **int64 { return &s.MinItems }, markers: []string{"kubebuilder:validation:MinItems"}},
	{name: "maxItems", fits: onLists, bound: "max", count: func(s *props) **int64 { return &s.MaxItems }, markers: []string{"kubebuilder:validation:MaxItems", "k8s:maxItems"}},
	{name: "minProperties", fits: onObjects, bound: "min", count: func(s *props) **int64 { return &s.MinProperties }, markers: []string{"kubebuilder:validation:MinProperties"}},
	{name: "maxProperties", fits: onObjects, bound: "max", count: func(s *props) **int64 { return &s.MaxProperties }, markers: []string{"kubebuilder:validation:MaxProperties"}},

	{name: "minimum", fits: onNumbers, bound: "min", number: func(s *props) **float64 { return &s.Minimum }, markers: []string{"kubebuilder:validation:Minimum", "k8s:minimum"}},
	{name: "maximum", fits: onNumbers, bound: "max", number: func(s *props) **float64 { return &s.Maximum }, markers: []string{"kubebuilder:validation:Maximum", "k8s:maximum"}},
	{name: "exclusiveMinimum", fits: onNumbers, flag: func(s *props) *bool { return &s.ExclusiveMinimum }, markers: []string{"kubebuilder:validation:ExclusiveMinimum"}},
	{name: "exclusiveMaximum", fits: onNumbers, flag: func(s *props) *bool { return &s.ExclusiveMaximum }, markers: []string{"kubebuilder:validation:ExclusiveMaximum"}},
	{name: "multipleOf", fits: onNumbers, number: func(s *props) **float64 { return &s.MultipleOf }, markers: []string{"kubebuilder:validation:MultipleOf"}},

	{name: "listType", openAPI: "x-kubernetes-list-type", fits: fitArray, choice: func(s *props) **string { return &s.XListType }, choices: []string{"atomic", "set", "map"}, markers: []string{"listType", "k8s:listType"}},
	{name: "listMapKey", openAPI: "x-kubernetes-list-map-keys", fits: fitArray, names: func(s *props) *[]string { return &s.XListMapKeys }, markers: []string{"listMapKey", "k8s:listMapKey"}},
	{name: "mapType", openAPI: "x-kubernetes-map-type", fits: fitObject, choice: func(s *props) **string { return &s.XMapType }, choices: []string{"atomic", "granular"}, markers: []string{"mapType", "structType"}},
	{name: "preserveUnknownFields", openAPI: "x-kubernetes-preserve-unknown-fields", fits: onObjects | fitArray, flagPtr: func(s *props) **bool { return &s.XPreserveUnknownFields }, markers: []string{"kubebuilder:pruning:PreserveUnknownFields", "kubebuilder:validation:XPreserveUnknownFields"}},
	{name: "embeddedResource", openAPI: "x-kubernetes-embedded-resource", fits: fitObject, flag: func(s *props) *bool { return &s.XEmbeddedResource }, markers: []string{"kubebuilder:validation:XEmbeddedResource", "kubebuilder:validation:EmbeddedResource"}},

	{name: "uniqueItems", fits: fitArray, flag: func(s *props) *bool { return &s.UniqueItems }, markers: []string{"kubebuilder:validation:UniqueItems"}},

	{name: "rule", openAPI: "x-kubernetes-validations", fits: onTyped, rule: ruleOf, markers: []string{"kubebuilder:validation:XValidation"}},
	{name: "atMostOneOf", fits: fitObject, rule: atMostOneOf, markers: []string{"kubebuilder:validation:AtMostOneOf"}},
	{name: "exactlyOneOf", fits: fitObject, rule: exactlyOneOf, markers: []string{"kubebuilder:validation:ExactlyOneOf"}},
	{name: "atLeastOneOf", fits: fitObject, rule: atLeastOneOf, markers: []string{"kubebuilder:validation:AtLeastOneOf"}},
	{name: "oneOf", fits: fitObject, members: oneOf},
	{name: "oneOfOrNone", fits: fitObject, members: oneOfOrNone},
	{name: "immutable", fits: onTyped, rule: immutable, markers: []string{"k8s:immutable"}},
	{name: "externalDocs", fits: onAll, docs: func(s *props) **apiextensionsv1.ExternalDocumentation { return &s.ExternalDocs }, markers: []string{"kubebuilder:externalDocs"}},

	{name: "enum", fits: onScalars, values: func(s *props) *[]apiextensionsv1.JSON { return &s.Enum }, markers: []string{"kubebuilder:validation:Enum"}},
	{name: "example", fits: onAll, value: func(s *props) **apiextensionsv1.JSON { return &s.Example }, markers: []string{"kubebuilder:example"}},
	{name: "default", fits: onAll, value: func(s *props) **apiextensionsv1.JSON { return &s.Default }, markers: []string{"kubebuilder:default", "default"}},
	{name: "required", fits: onAll, presence: required, markers: []string{"kubebuilder:validation:Required", "required", "k8s:required"}},
	{name: "optional", fits: onAll, presence: optional, markers: []string{"kubebuilder:validation:Optional", "optional", "k8s:optional"}},
}

// keywordNamed finds a keyword by its name in a tag or in a schema.
func keywordNamed(name string) (rank int, err error) {
	rank = slices.IndexFunc(keywords, func(k keyword) bool {
		return k.name == name || k.openAPI != "" && k.openAPI == name
	})
	if rank >= 0 {
		return rank, nil
	}
	var known []string
	for _, k := range keywords {
		known = append(known, k.name)
		if strings.HasPrefix(name, "x-") && k.openAPI != "" {
			known = append(known, k.openAPI)
		}
	}
	return 0, fmt.Errorf("%q is not a word of a schema tag%s", name, suggest.DidYouMean(name, known))
}

// typeOf returns what a node is, for fit and for messages.
func typeOf(s *props) (fit, string) {
	switch {
	case s.XIntOrString:
		return fitString | fitInteger, "integer or string"
	case s.Type == "string":
		return fitString, s.Type
	case s.Type == "integer":
		return fitInteger, s.Type
	case s.Type == "number":
		return fitNumber, s.Type
	case s.Type == "boolean":
		return fitBoolean, s.Type
	case s.Type == "array":
		return fitArray, s.Type
	case s.Type == "object":
		return fitObject, s.Type
	default:
		return fitUntyped, "any JSON"
	}
}

// checkFit refuses a keyword where it would mean nothing, as in a minLength of a number.
func (k *keyword) checkFit(s *props) error {
	is, name := typeOf(s)
	if k.fits&is != 0 {
		return nil
	}
	hint := ""
	for _, other := range keywords {
		if k.bound != "" && other.bound == k.bound && other.fits&is != 0 {
			hint = fmt.Sprintf("; did you mean %q?", other.name)
		}
	}
	return fmt.Errorf("%q has no meaning for %s%s", k.name, name, hint)
}

// apply writes the word's value into the node.
func (k *keyword) apply(s *props, w word) (err error) {
	switch {
	case k.count != nil:
		*k.count(s), err = w.count()
	case k.number != nil:
		*k.number(s), err = w.number()
	case k.text != nil:
		*k.text(s), err = w.text()
	case k.flag != nil:
		*k.flag(s), err = w.flag()
	case k.flagPtr != nil:
		*k.flagPtr(s), err = w.flagPtr()
	case k.choice != nil:
		*k.choice(s), err = w.choice(k.choices)
	case k.names != nil:
		err = w.names(k.names(s))
	case k.value != nil:
		*k.value(s), err = w.value(s)
	case k.values != nil:
		*k.values(s), err = w.list(s)
	case k.rule != nil:
		var rule apiextensionsv1.ValidationRule
		if rule, err = k.rule(w); err == nil {
			s.XValidations = append(s.XValidations, rule)
		}
	case k.docs != nil:
		*k.docs(s), err = w.docs()
	case k.members != nil:
		var names []string
		if err = w.names(&names); err == nil {
			err = checkMembers(names)
		}
		if err == nil {
			k.members(s, names)
		}
	case w.values != nil:
		err = fmt.Errorf("takes no value, and has %s", w.raw)
	}
	if err != nil {
		return fmt.Errorf("%q %w", w.as(), err)
	}
	return nil
}

// isSet reports whether the node has a value for the keyword.
func (k *keyword) isSet(s *props) bool {
	switch {
	case k.count != nil:
		return *k.count(s) != nil
	case k.number != nil:
		return *k.number(s) != nil
	case k.text != nil:
		return *k.text(s) != ""
	case k.flag != nil:
		return *k.flag(s)
	case k.flagPtr != nil:
		return *k.flagPtr(s) != nil
	case k.choice != nil:
		return *k.choice(s) != nil
	case k.names != nil:
		return len(*k.names(s)) > 0
	case k.value != nil:
		return *k.value(s) != nil
	case k.values != nil:
		return len(*k.values(s)) > 0
	case k.docs != nil:
		return *k.docs(s) != nil
	default:
		return false
	}
}

var errNoValue = errors.New("needs a value, as in word=value")

func (w word) text() (string, error) {
	switch {
	case w.values == nil || w.raw == "":
		return "", errNoValue
	case len(w.values) == 1:
		return w.values[0].text, nil
	case slices.ContainsFunc(w.values, func(v value) bool { return v.quoted }):
		return "", fmt.Errorf("takes one value: put the whole of %s in quotes", w.raw)
	default:
		return w.raw, nil // a bare value with bars, such as a pattern
	}
}

func (w word) count() (*int64, error) {
	text, err := w.text()
	if err != nil {
		return nil, err
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return nil, fmt.Errorf("needs a whole number that is not negative, and has %q", text)
	}
	return &n, nil
}

func (w word) number() (*float64, error) {
	text, err := w.text()
	if err != nil {
		return nil, err
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || f-f != 0 { // infinities and NaN have no JSON
		return nil, fmt.Errorf("needs a number, and has %q", text)
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && int64(f) != n && f < 1<<63 {
		return nil, fmt.Errorf("cannot be %s: a schema keeps it as a 64-bit float, which has no such number; the nearest is %s", text, strconv.FormatFloat(f, 'f', -1, 64))
	}
	return &f, nil
}

func (w word) flag() (bool, error) {
	if w.values == nil {
		return true, nil
	}
	text, err := w.text()
	if err != nil || text != "true" && text != "false" {
		hint := ""
		if strings.HasPrefix(w.name, "exclusive") {
			hint = "; the bound itself is a word beside it, as in minimum=0,exclusiveMinimum"
		}
		return false, fmt.Errorf("is on or off, and has %q%s", w.raw, hint)
	}
	return text == "true", nil
}

// flagPtr is nil for off: the API server knows true and unset only.
func (w word) flagPtr() (*bool, error) {
	on, err := w.flag()
	if err != nil || !on {
		return nil, err
	}
	return &on, nil
}

func (w word) choice(of []string) (*string, error) {
	text, err := w.text()
	if err != nil {
		return nil, err
	}
	if !slices.Contains(of, text) {
		return nil, fmt.Errorf("is one of %s, and has %q%s", strings.Join(of, ", "), text, suggest.DidYouMean(text, of))
	}
	return &text, nil
}

// names adds to a list: the word may stand more than once.
func (w word) names(to *[]string) error {
	if w.values == nil || w.raw == "" {
		return errNoValue
	}
	for _, v := range w.values {
		if v.text == "" {
			return fmt.Errorf("has an empty name in %q", w.raw)
		}
		*to = append(*to, v.text)
	}
	return nil
}

func (w word) value(s *props) (*apiextensionsv1.JSON, error) {
	if w.values == nil {
		return nil, errNoValue
	}
	v := value{quoted: w.values[0].quoted, json: w.values[0].json}
	if w.raw != "" && v.json == nil { // the default of a string may be empty
		text, err := w.text()
		if err != nil {
			return nil, err
		}
		v.text = text
	}
	return literal(s, v)
}

func (w word) list(s *props) ([]apiextensionsv1.JSON, error) {
	if w.values == nil {
		return nil, errNoValue
	}
	var list []apiextensionsv1.JSON
	for _, v := range w.values {
		j, err := literal(s, v)
		if err != nil {
			return nil, err
		}
		list = append(list, *j)
	}
	return list, nil
}

// checkPattern compiles with the engine that the API server uses.
func checkPattern(pattern string) error {
	if _, err := regexp.Compile(pattern); err != nil {
		return fmt.Errorf("pattern %q: %w", pattern, err)
	}
	return nil
}
