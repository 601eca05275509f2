package crd

import (
	"fmt"
	"reflect"
	"slices"
	"sort"

	"github.com/go-kube/kube/internal/suggest"
)

// node is a part of a schema while words are applied to it.
type node struct {
	*props
	// goType is the Go type that the node describes; nil where a word replaced it.
	goType   reflect.Type
	at       string
	presence presence
	// keepType says that the node has its type, without a Go type to compare with.
	keepType bool
}

// wordsOf returns the words of a field's schema tag.
func (b *builder) wordsOf(f field) []word {
	tag, ok, err := schemaTag(f.declared.Tag)
	if err != nil {
		b.bad.add(f.at, "%w", err)
	}
	if !ok {
		tag = knownTag(f.owner, f.declared.Name)
	}
	return b.readTag(f.at, tag)
}

func (b *builder) readTag(at, tag string) []word {
	if tag == "" {
		return nil
	}
	words, err := parseTag(tag)
	if err != nil {
		b.bad.add(at, "schema tag: %w", err)
	}
	return words
}

// applyTag applies a tag that this package knows for a type.
func (b *builder) applyTag(n *node, tag string) {
	b.applyWords(n, b.readTag(n.at, tag))
}

// replaced reports whether words say what the JSON is, so that the Go type is not looked at.
func replaced(words []word) bool {
	return slices.ContainsFunc(words, func(w word) bool {
		rank, err := keywordNamed(w.name)
		return len(w.path) == 0 && err == nil && keywords[rank].replaces
	})
}

// below returns the words about the items or additionalProperties of a node, as words about
// those.
func below(words []word, step string) []word {
	var inner []word
	for _, w := range words {
		if len(w.path) > 0 && w.path[0] == step {
			w.path = w.path[1:]
			inner = append(inner, w)
		}
	}
	return inner
}

// applyWords writes words into a node and the nodes below it, and checks what comes out.
func (b *builder) applyWords(n *node, words []word) {
	before := len(b.bad.list)
	own := b.ownWords(n, words)
	if replaced(words) {
		n.goType = nil
	}
	first := countFunc(own, func(u use) bool { return u.replaces }) // they come first in the table
	b.applyOwn(n, own[:first])
	b.completeType(n)
	for _, step := range []string{"items", "additionalProperties"} {
		if inner := below(words, step); len(inner) > 0 {
			b.applyBelow(n, step, inner)
		}
	}
	if n.goType == nil && !n.keepType && n.Type == "array" && typeless(n.Items.Schema) && n.Items.Schema.XPreserveUnknownFields == nil {
		b.bad.add(n.at, "type=array needs to say what its items are, as in items.type=string")
	}
	b.applyOwn(n, own[first:])
	if len(words) == 0 || len(b.bad.list) > before {
		return // what broken words leave behind would only mislead
	}
	for _, err := range n.check() {
		b.bad.add(n.at, "%w", err)
	}
}

func (n *node) check() []error {
	errs := checkNode(n.props)
	if err := n.checkRange(); len(errs) == 0 && err != nil {
		errs = append(errs, err)
	}
	return errs
}

// use is a word with its keyword.
type use struct {
	*keyword
	word word
	rank int
}

// ownWords returns the words about the node itself in the order of the table.
func (b *builder) ownWords(n *node, words []word) []use {
	var own []use
	for i, w := range words {
		if err := checkPath(w); err != nil {
			b.bad.add(n.at, "%w", err)
		}
		if len(w.path) > 0 {
			continue
		}
		rank, err := keywordNamed(w.name)
		if err != nil {
			b.bad.add(n.at, "%w", err)
			continue
		}
		again := func(other word) bool { return len(other.path) == 0 && other.name == w.name }
		if keywords[rank].names == nil && keywords[rank].rule == nil && keywords[rank].members == nil && slices.ContainsFunc(words[:i], again) {
			b.bad.add(n.at, "%q stands twice", w.name)
			continue
		}
		own = append(own, use{&keywords[rank], w, rank})
	}
	sortByRank(own)
	return own
}

// sortByRank puts uses into the order of the table. Every program that installs a CRD links it:
// sort.SliceStable, which is there anyway, makes them smaller than an instance of
// slices.SortStableFunc for this type does.
func sortByRank(uses []use) {
	sort.SliceStable(uses, func(i, j int) bool { return uses[i].rank < uses[j].rank })
}

func checkPath(w word) error {
	steps := []string{"items", "additionalProperties"}
	if len(w.path) == 0 || slices.Contains(steps, w.path[0]) {
		return nil
	}
	return fmt.Errorf("%q: a path in a schema tag is made of items and additionalProperties%s", w.as(), suggest.DidYouMean(w.path[0], steps))
}

func (b *builder) applyOwn(n *node, uses []use) {
	for _, u := range uses {
		err := u.checkFit(n.props)
		if err == nil {
			err = checkUnion(n.props, u)
		}
		if err == nil {
			err = u.apply(n.props, u.word)
		}
		if err == nil && u.keyword.presence != asTagged {
			err = n.setPresence(u.keyword.presence)
		}
		if err != nil {
			b.bad.add(n.at, "%w", err)
		}
	}
}

func (n *node) setPresence(p presence) error {
	if n.presence != asTagged {
		return fmt.Errorf("\"required\" and \"optional\" exclude each other")
	}
	n.presence = p
	return nil
}

// completeType fills in what a replaced type needs.
func (b *builder) completeType(n *node) {
	if n.goType != nil || n.keepType {
		return
	}
	if n.XIntOrString {
		if n.Type != "" {
			b.bad.add(n.at, "\"intOrString\" and \"type\" exclude each other")
		}
		n.AnyOf = intOrString().AnyOf
	}
	if n.Type == "array" {
		n.Items = itemsOf(&props{})
	}
	if err := checkShape(n.props); err != nil && n.Type != "array" {
		b.bad.add(n.at, "%w", err)
	}
}

// applyBelow applies words to the items of a list or the values of a map.
func (b *builder) applyBelow(n *node, step string, words []word) {
	child := &node{at: n.at + "." + step, keepType: n.keepType && !replaced(words)}
	switch {
	case step == "items" && n.Items != nil:
		child.props = n.Items.Schema
	case step == "additionalProperties" && n.AdditionalProperties != nil && n.AdditionalProperties.Schema != nil:
		child.props = n.AdditionalProperties.Schema
	default:
		_, name := typeOf(n.props)
		b.bad.add(n.at, "%q: there are no %s in %s", step+"."+words[0].as(), step, name)
		return
	}
	if n.goType != nil {
		child.goType = deref(deref(n.goType).Elem())
	}
	b.applyWords(child, words)
	if child.presence != asTagged {
		b.bad.add(child.at, "\"required\" and \"optional\" are for fields")
	}
}

// checkRange refuses bounds that let in numbers which the Go type cannot hold.
func (n *node) checkRange() error {
	if n.goType == nil {
		return nil
	}
	holds, ok := integer(deref(n.goType).Kind())
	if !ok || n.Type != "integer" {
		return nil
	}
	low, high := formatRange(holds.Format)
	if holds.Minimum != nil {
		low = *holds.Minimum
	}
	if holds.Maximum != nil {
		high = *holds.Maximum
	}
	name := deref(n.goType).Kind()
	switch {
	case n.Minimum != nil && *n.Minimum < low:
		return fmt.Errorf("minimum %s is below what the Go type %s holds, which begins at %s", show(*n.Minimum), name, show(low))
	case n.Maximum != nil && *n.Maximum > high:
		return fmt.Errorf("maximum %s is above what the Go type %s holds, which ends at %s", show(*n.Maximum), name, show(high))
	case holds.Format == "int32" && n.Format == "int64":
		return fmt.Errorf("format int64 lets in numbers that the Go type %s cannot hold", name)
	}
	return nil
}
