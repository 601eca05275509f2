package crd

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// subject is what a marker is about.
type subject uint8

const (
	aboutField subject = iota
	aboutType
)

const itemsMarker = "kubebuilder:validation:items:"

// fieldOnly are the markers that mean nothing about a type, typeOnly those that mean nothing
// about a field. Other tools may use them there, so that they are no errors.
var (
	fieldOnly = []string{
		"nullable", "kubebuilder:default", "default", "kubebuilder:example", "kubebuilder:validation:EmbeddedResource",
		"k8s:immutable", "k8s:maxItems", "k8s:minimum", "k8s:maximum",
		"kubebuilder:validation:Required", "kubebuilder:validation:Optional", "required", "optional", "k8s:required", "k8s:optional",
	}
	typeOnly = []string{
		"kubebuilder:validation:AtMostOneOf", "kubebuilder:validation:ExactlyOneOf", "kubebuilder:validation:AtLeastOneOf",
	}
)

// usesOf translates markers into words of the table. Markers of other tools are left alone.
func (m *marking) usesOf(texts []string, at string, about subject) (uses []use) {
	for _, text := range texts {
		u, ok, err := useOf(text, about)
		if err != nil {
			m.bad.add(at, "%s: %w", text, err)
		}
		if ok && err == nil {
			uses = append(uses, u)
		}
		m.strays.check(text, at)
	}
	sortByRank(uses)
	return uses
}

// useOf translates one marker.
func useOf(text string, about subject) (u use, ok bool, err error) {
	name, rest, hasValue := splitMarker(text)
	first := ""
	rank := markerRank(name)
	if rank < 0 { // the last part of the name may be that of an argument
		if i := strings.LastIndexByte(name, ':'); i > 0 && hasValue {
			name, first = name[:i], name[i+1:]
			rank = markerRank(name)
		}
	}
	isItems := strings.HasPrefix(name, itemsMarker)
	switch {
	case rank < 0:
		return u, false, nil
	case about == aboutType && slices.Contains(fieldOnly, name):
		return u, false, nil
	case about == aboutField && slices.Contains(typeOnly, name):
		return u, false, nil
	case isItems && slices.Contains(typeOnly, strings.Replace(name, "items:", "", 1)):
		return u, false, nil
	}
	k := &keywords[rank]
	w := word{name: k.name, marker: name}
	if isItems {
		w.path = []string{"items"}
	}
	if err := w.readMarker(k, first, rest, hasValue); err != nil {
		return u, false, err
	}
	return use{keyword: k, word: w, rank: rank}, true, nil
}

// markerRank finds the keyword that a marker stands for, or returns -1.
func markerRank(name string) int {
	if item, ok := strings.CutPrefix(name, itemsMarker); ok {
		name = "kubebuilder:validation:" + item
	}
	return slices.IndexFunc(keywords, func(k keyword) bool { return slices.Contains(k.markers, name) })
}

// readMarker reads what stands behind the marker's name, as the keyword wants it.
func (w *word) readMarker(k *keyword, first, rest string, hasValue bool) error {
	isKubernetes := strings.HasPrefix(w.marker, "k8s:")
	if isKubernetes {
		rest, _, _ = strings.Cut(rest, "#") // a comment behind it
		rest = strings.TrimSpace(rest)
	}
	switch {
	case k.name == "rule":
		return w.readRule(first, rest)
	case w.marker == "kubebuilder:externalDocs":
		return w.readDocs(first, rest)
	case first != "":
		return fmt.Errorf("takes no argument %q", first)
	case w.marker == "default":
		return w.readKubernetesDefault(rest)
	case k.presence != asTagged, k.name == "immutable":
		return nil // what follows is for other tools
	}
	v, err := readArg(rest, hasValue, k.argKind())
	if err != nil {
		return err
	}
	return w.setValue(k, v)
}

// argKind says how the argument of a marker is read.
func (k *keyword) argKind() argKind {
	switch {
	case k.count != nil:
		return argInt
	case k.number != nil:
		return argNumber
	case k.text != nil, k.choice != nil, k.names != nil:
		return argString
	case k.flag != nil && (strings.HasPrefix(k.name, "exclusive") || k.name == "uniqueItems"):
		return argBool
	case k.value != nil:
		return argAny
	case k.values != nil:
		return argAnys
	case k.rule != nil:
		return argStrings
	}
	return argNone
}

// setValue puts a value of a marker where words have theirs.
func (w *word) setValue(k *keyword, v any) error {
	list, isList := v.([]any)
	if !isList || k.value != nil {
		list = []any{v}
	}
	if v == nil {
		return nil
	}
	for _, item := range list {
		raw, err := asJSON(item)
		if err != nil {
			return err
		}
		text, isText := item.(string)
		if !isText {
			text = string(raw)
		}
		w.values = append(w.values, value{text: text, quoted: isText, json: raw})
	}
	w.raw = fmt.Sprint(v)
	if k.value != nil || k.names != nil || w.raw == "" {
		w.raw = "value"
	}
	return nil
}

func (w *word) readKubernetesDefault(rest string) error {
	if strings.HasPrefix(strings.TrimSpace(rest), "ref(") {
		w.skip = true // a Go constant, which the generator of defaults reads
		return nil
	}
	v, err := decode(apiextensionsv1.JSON{Raw: []byte(rest)})
	if err != nil {
		return fmt.Errorf("needs JSON, and has %q", rest)
	}
	if v == nil {
		w.skip = true
		return nil
	}
	return w.setValue(&keyword{value: func(s *props) **apiextensionsv1.JSON { return &s.Default }}, v)
}

var ruleArgs = []argSpec{
	{name: "rule", kind: argString, required: true},
	{name: "message", kind: argString},
	{name: "messageExpression", kind: argString},
	{name: "reason", kind: argString},
	{name: "fieldPath", kind: argString},
	{name: "optionalOldSelf", kind: argBool},
}

func (w *word) readRule(first, rest string) error {
	args, err := readArgs(first, rest, ruleArgs)
	if err != nil {
		return err
	}
	r := &apiextensionsv1.ValidationRule{Rule: textOf(args, "rule"), Message: textOf(args, "message"), MessageExpression: textOf(args, "messageExpression"), FieldPath: textOf(args, "fieldPath")}
	if reason := textOf(args, "reason"); reason != "" {
		r.Reason = new(apiextensionsv1.FieldValueErrorReason(reason))
	}
	if old, ok := args["optionalOldSelf"].(bool); ok {
		r.OptionalOldSelf = &old
	}
	w.rule = r
	return checkRule(r)
}

func (w *word) readDocs(first, rest string) error {
	args, err := readArgs(first, rest, []argSpec{{name: "url", kind: argString, required: true}, {name: "description", kind: argString}})
	if err != nil {
		return err
	}
	w.values = []value{{text: textOf(args, "url")}}
	if d := textOf(args, "description"); d != "" {
		w.values = append(w.values, value{text: d})
	}
	return nil
}

func textOf(args map[string]any, name string) string {
	text, _ := args[name].(string)
	return text
}

func textsOf(args map[string]any, name string) (texts []string) {
	list, _ := args[name].([]any)
	for _, v := range list {
		if text, ok := v.(string); ok {
			texts = append(texts, text)
		}
	}
	return texts
}

// applyUses applies words to a node, those about its items last.
func (m *marking) applyUses(s *props, uses []use, at string) {
	m.at = at
	for _, u := range uses {
		if len(u.word.path) == 0 {
			m.applyUse(s, u)
		}
	}
	for _, u := range uses {
		switch {
		case len(u.word.path) == 0:
		case s.Items == nil || s.Items.Schema == nil:
			m.bad.add(at, "+%s is for a list that is written out, as in []string, and not for one with a name: constrain the type of its items", u.word.marker)
		default:
			m.applyUse(s.Items.Schema, u)
		}
	}
}

func (m *marking) applyUse(s *props, u use) {
	switch {
	case u.word.skip:
		return
	case u.word.marker == "k8s:required":
		requireContent(s)
		return
	case u.keyword.presence != asTagged:
		return
	}
	if err := cmp.Or(m.checkUse(s, u), checkUnion(s, u)); err != nil {
		m.fail(err)
		return
	}
	if err := u.apply(s, u.word); err != nil {
		m.fail(err)
		return
	}
	if d := s.Default; u.name == "default" && d != nil && s.Type == "array" && string(d.Raw) == "{}" {
		d.Raw = []byte("[]")
	}
	if keys := s.XListMapKeys; u.name == "listMapKey" && slices.Contains(keys[:len(keys)-1], keys[len(keys)-1]) {
		s.XListMapKeys = keys[:len(keys)-1] // both vocabularies say it
	}
}

// checkUse refuses a word where it means nothing. What it is about may be known only by the
// type that the node refers to.
func (m *marking) checkUse(s *props, u use) error {
	shape := *s
	if shape.Ref != nil && shape.Type == "" {
		shape.Type, _ = m.typeOf(*shape.Ref)
		if known := m.raw[*shape.Ref]; known != nil && known.XIntOrString {
			shape.XIntOrString = true
		}
	}
	if u.name == "enum" || u.name == "format" {
		return nil
	}
	return u.checkFit(&shape)
}

// requireContent refuses empty values: k8s:required means that they count as absent.
func requireContent(s *props) {
	set := func(low **int64) {
		if *low == nil {
			*low = new(int64(1))
		}
	}
	switch {
	case s.Type == "string":
		set(&s.MinLength)
	case s.Type == "array":
		set(&s.MinItems)
	case s.Type == "object", s.Type == "" && s.Ref != nil:
		set(&s.MinProperties)
	}
}
