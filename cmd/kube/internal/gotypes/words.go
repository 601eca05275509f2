package gotypes

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// wording writes what a schema says as words of a schema tag, and into the schema that package
// crd will derive, so that what no word says shows as a difference between the two.
type wording struct {
	from, to *props
	list     []string
}

func (w *wording) add(word string) { w.list = append(w.list, word) }

// text says a keyword whose value is a text.
func (w *wording) text(name, value string, to *string) {
	if value != "" && value != *to {
		w.add(name + "=" + quoted(value))
		*to = value
	}
}

func (w *wording) count(name string, value *int64, to **int64) {
	if value != nil && (*to == nil || **to != *value) {
		w.add(name + "=" + strconv.FormatInt(*value, 10))
		*to = value
	}
}

func (w *wording) number(name string, value *float64, to **float64) {
	if value != nil && (*to == nil || **to != *value) {
		w.add(name + "=" + strconv.FormatFloat(*value, 'f', -1, 64))
		*to = value
	}
}

func (w *wording) flag(name string, value bool, to *bool) {
	if value && !*to {
		w.add(name)
		*to = true
	}
}

// any says a keyword whose value is any JSON.
func (w *wording) any(name string, value *apiextensionsv1.JSON, to **apiextensionsv1.JSON) {
	if value == nil || *to != nil {
		return
	}
	if text, ok := w.literal(*value); ok {
		w.add(name + "=" + text)
		*to = value
	}
}

// literal writes a value as a tag has it: strings as their text, other values as JSON.
func (w *wording) literal(value apiextensionsv1.JSON) (string, bool) {
	var text string
	isText := json.Unmarshal(value.Raw, &text) == nil && !bytes.Equal(value.Raw, []byte("null"))
	switch {
	case isText && (w.to.XIntOrString || text == "null"):
		return quote(text), true
	case isText && w.to.Type == "string":
		return quoted(text), true
	case bytes.Equal(value.Raw, []byte("null")):
		return "", false
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, value.Raw); err != nil {
		return "", false
	}
	return quoted(compact.String()), true
}

// node says everything that is about the node itself, other than a struct.
func (w *wording) node() {
	from, to := w.from, w.to
	untyped := to.Type == "" && !to.XIntOrString
	w.text("title", from.Title, &to.Title)
	if to.Type == "string" || to.Type == "integer" || to.Type == "number" || to.XIntOrString {
		w.text("format", from.Format, &to.Format)
	}
	if to.Type == "string" || to.XIntOrString || untyped {
		w.text("pattern", from.Pattern, &to.Pattern)
		w.count("minLength", from.MinLength, &to.MinLength)
		w.count("maxLength", from.MaxLength, &to.MaxLength)
	}
	if to.Type == "integer" || to.Type == "number" || to.XIntOrString || untyped {
		w.numbers()
	}
	if to.Type == "array" {
		w.array()
	}
	if to.Type == "object" {
		w.object()
	}
	w.values()
	w.rules()
	w.use()
}

func (w *wording) numbers() {
	from, to := w.from, w.to
	w.number("minimum", from.Minimum, &to.Minimum)
	w.number("maximum", from.Maximum, &to.Maximum)
	w.flag("exclusiveMinimum", from.ExclusiveMinimum, &to.ExclusiveMinimum)
	w.flag("exclusiveMaximum", from.ExclusiveMaximum, &to.ExclusiveMaximum)
	w.number("multipleOf", from.MultipleOf, &to.MultipleOf)
}

func (w *wording) array() {
	from, to := w.from, w.to
	w.count("minItems", from.MinItems, &to.MinItems)
	w.count("maxItems", from.MaxItems, &to.MaxItems)
	if from.XListType != nil && *from.XListType == "map" && !tellsApart(to.Items.Schema, from.XListMapKeys) {
		return
	}
	if from.XListType != nil {
		w.add("listType=" + *from.XListType)
		to.XListType = from.XListType
	}
	if keys := from.XListMapKeys; len(keys) > 0 {
		w.add("listMapKey=" + alternatives(keys))
		to.XListMapKeys = keys
	}
}

// tellsApart reports whether items have keys, by what is derived of them: those of a type of Kubernetes
// may have got their default by a comment.
func tellsApart(item *props, keys []string) bool {
	return !slices.ContainsFunc(keys, func(key string) bool {
		p, ok := item.Properties[key]
		return !ok || p.Default == nil && !slices.Contains(item.Required, key)
	})
}

func (w *wording) object() {
	from, to := w.from, w.to
	w.count("minProperties", from.MinProperties, &to.MinProperties)
	w.count("maxProperties", from.MaxProperties, &to.MaxProperties)
	if from.XMapType != nil && (to.XMapType == nil || *to.XMapType != *from.XMapType) {
		w.add("mapType=" + *from.XMapType)
		to.XMapType = from.XMapType
	}
	if from.XPreserveUnknownFields != nil && *from.XPreserveUnknownFields && to.XPreserveUnknownFields == nil {
		w.add("preserveUnknownFields")
		to.XPreserveUnknownFields = from.XPreserveUnknownFields
	}
	w.flag("embeddedResource", from.XEmbeddedResource, &to.XEmbeddedResource)
}

// values says the values of an enum that has no type of its own.
func (w *wording) values() {
	if len(w.from.Enum) == 0 || len(w.to.Enum) > 0 || w.to.Type == "array" || w.to.Type == "object" {
		return
	}
	var list []string
	for _, e := range w.from.Enum {
		text, ok := w.literal(e)
		if !ok {
			return
		}
		list = append(list, text)
	}
	w.add("enum=" + strings.Join(list, "|"))
	w.to.Enum = w.from.Enum
}

// rules says the rules of a node that has no methods: all of them, as their order counts.
func (w *wording) rules() {
	rules := w.from.XValidations
	if !reflect.DeepEqual(w.to.XValidations, apiextensionsv1.ValidationRules(nil)) || slices.ContainsFunc(rules, func(r apiextensionsv1.ValidationRule) bool { return !isSimple(r) }) {
		return
	}
	for _, r := range rules {
		word := "rule=" + quote(r.Rule)
		if r.Message != "" {
			word += "|" + quote(r.Message)
		}
		w.add(word)
	}
	w.to.XValidations = rules
}

// isSimple reports whether a rule has nothing but an expression and a message.
func isSimple(r apiextensionsv1.ValidationRule) bool {
	return r.Reason == nil && r.FieldPath == "" && r.MessageExpression == "" && r.OptionalOldSelf == nil
}

// use says what stands with a field whatever its type is.
func (w *wording) use() {
	if docs := w.from.ExternalDocs; docs != nil && w.to.ExternalDocs == nil {
		word := "externalDocs=" + quote(docs.URL)
		if docs.Description != "" {
			word += "|" + quote(docs.Description)
		}
		w.add(word)
		w.to.ExternalDocs = docs
	}
	if len(w.from.Enum) == 0 { // beside an enum it means nothing
		w.flag("nullable", w.from.Nullable, &w.to.Nullable)
	}
	w.any("example", w.from.Example, &w.to.Example)
	w.any("default", w.from.Default, &w.to.Default)
}

// bare is what needs no quotes in a tag.
var bare = regexp.MustCompile(`^[A-Za-z0-9_^$.*+?()\[\]{}\\/:@%&#!~<>=-]([A-Za-z0-9_ ^$.*+?()\[\]{}\\/:@%&#!~<>=-]*[A-Za-z0-9_^$.*+?()\[\]{}\\/:@%&#!~<>=-])?$`)

// quoted is a value of a tag, in quotes where it needs them.
func quoted(text string) string {
	if bare.MatchString(text) {
		return text
	}
	return quote(text)
}

func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

func alternatives(texts []string) string {
	var list []string
	for _, t := range texts {
		list = append(list, quoted(t))
	}
	return strings.Join(list, "|")
}

// oneOf says unions in the words of JSON Schema, where all alternatives are such.
func (w *wording) oneOf() {
	groups := [][]props{w.from.OneOf}
	if w.from.OneOf == nil {
		groups = nil
		for _, p := range w.from.AllOf {
			if !reflect.DeepEqual(p, props{OneOf: p.OneOf}) {
				return
			}
			groups = append(groups, p.OneOf)
		}
	} else if w.from.AllOf != nil {
		return
	}
	var list []string
	for _, branches := range groups {
		word := oneOfWord(w.from, branches)
		if word == "" || len(groups) == 1 && w.from.OneOf == nil {
			return
		}
		list = append(list, word)
	}
	if !slices.IsSortedFunc(list, func(a, b string) int { return strings.Compare(unionName(a), unionName(b)) }) {
		return // words have an order of their own
	}
	w.list = append(w.list, list...)
	w.to.OneOf, w.to.AllOf = w.from.OneOf, w.from.AllOf
}

func unionName(word string) string { name, _, _ := strings.Cut(word, "="); return name }

// oneOfWord returns the word for branches that each ask for one field, or nothing.
func oneOfWord(s *props, branches []props) string {
	word := "oneOf"
	if len(branches) > 0 && branches[0].Not != nil {
		if !reflect.DeepEqual(branches[0], props{Not: &props{AnyOf: branches[1:]}}) {
			return ""
		}
		word, branches = "oneOfOrNone", branches[1:]
	}
	var names []string
	for _, b := range branches {
		if len(b.Required) != 1 || !reflect.DeepEqual(b, props{Required: b.Required}) {
			return ""
		}
		name := b.Required[0]
		if _, ok := s.Properties[name]; !ok || slices.Contains(s.Required, name) || slices.Contains(names, name) || strings.Contains(name, ".") {
			return ""
		}
		names = append(names, name)
	}
	if names == nil {
		return ""
	}
	return word + "=" + alternatives(names)
}

// unions are the words that stand for rules, in the order in which package crd applies them.
var unions = []struct{ word, each, junctor, end, message string }{
	{"atMostOneOf", "(has(self.%s)?1:0)", "+", " <= 1", "at most one of the fields in [%s] may be set"},
	{"exactlyOneOf", "(has(self.%s)?1:0)", "+", " == 1", "exactly one of the fields in [%s] must be set"},
	{"atLeastOneOf", "has(self.%s)", "||", "", "at least one of the fields in [%s] must be set"},
}

// unionOf returns the word that stands for a rule, with its rank, or nothing.
func unionOf(s *props, r apiextensionsv1.ValidationRule) (word string, rank int) {
	if !isSimple(r) {
		return "", 0
	}
	for rank, u := range unions {
		before, after, _ := strings.Cut(u.message, "%s")
		names, ok := strings.CutPrefix(r.Message, before)
		if !ok || !strings.HasSuffix(names, after) {
			continue
		}
		fields := strings.Fields(strings.TrimSuffix(names, after))
		var terms []string
		for _, f := range fields {
			terms = append(terms, fmt.Sprintf(u.each, f))
			if _, ok := s.Properties[f]; !ok || slices.Contains(s.Required, f) {
				return "", 0
			}
		}
		if strings.Join(terms, u.junctor)+u.end == r.Rule {
			return u.word + "=" + strings.Join(fields, "|"), rank
		}
	}
	return "", 0
}

// rulesOfType splits the rules of a struct into words, which come first, and what stands in a
// method of the type.
func rulesOfType(s *props) (list []string, rest []apiextensionsv1.ValidationRule) {
	last := -1
	for i, r := range s.XValidations {
		word, rank := unionOf(s, r)
		if word == "" || rank < last {
			return list, s.XValidations[i:]
		}
		list, last = append(list, word), rank
	}
	return list, nil
}
