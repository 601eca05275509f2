package crd

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// Change is a difference between two definitions of a kind.
type Change struct {
	// Version is the version of the kind, or empty for what all have in common.
	Version string
	// Path is where in an object, as in .spec.hosts[], or empty.
	Path string
	// Text says what changed.
	Text string
	// Breaking says that objects, clients or manifests that were right with the old definition
	// may not be right with the new one.
	Breaking bool
}

// String returns the change on one line.
func (c Change) String() string {
	mark := "compatible"
	if c.Breaking {
		mark = "breaking"
	}
	at := strings.TrimSpace(c.Version + " " + c.Path)
	if at == "" {
		at = "definition"
	}
	return fmt.Sprintf("%s: %s: %s", mark, at, c.Text)
}

// Compare tells how a definition differs from an older one of the same kind, in the order of
// versions and paths. Texts, such as descriptions, and columns are not compared.
func Compare(old, new *apiextensionsv1.CustomResourceDefinition) []Change {
	c := &comparison{}
	for _, n := range []struct{ what, old, new string }{
		{"group", old.Spec.Group, new.Spec.Group},
		{"kind", old.Spec.Names.Kind, new.Spec.Names.Kind},
		{"listKind", listKindOf(old), listKindOf(new)},
		{"plural", old.Spec.Names.Plural, new.Spec.Names.Plural},
		{"singular", singularOf(old), singularOf(new)},
		{"scope", string(old.Spec.Scope), string(new.Spec.Scope)},
	} {
		if n.old != n.new {
			c.add("", true, "%s changed from %s to %s", n.what, n.old, n.new)
		}
	}
	c.gone("short name", old.Spec.Names.ShortNames, new.Spec.Names.ShortNames)
	c.gone("category", old.Spec.Names.Categories, new.Spec.Names.Categories)
	if before, after := conversionOf(old), conversionOf(new); !sameJSON(before, after) {
		c.add("", before.Strategy != after.Strategy, "conversion changed from %s to %s", describe(before), describe(after))
	}
	for i := range old.Spec.Versions {
		c.compareVersion(&old.Spec.Versions[i], versionNamed(new, old.Spec.Versions[i].Name))
	}
	for i := range new.Spec.Versions {
		if v := &new.Spec.Versions[i]; versionNamed(old, v.Name) == nil {
			c.version = v.Name
			c.add("", false, "version added")
		}
	}
	return c.changes
}

// listKindOf and singularOf return names that the API server adds where a definition lacks them.
func listKindOf(def *apiextensionsv1.CustomResourceDefinition) string {
	return cmp.Or(def.Spec.Names.ListKind, def.Spec.Names.Kind+"List")
}

func singularOf(def *apiextensionsv1.CustomResourceDefinition) string {
	return cmp.Or(def.Spec.Names.Singular, strings.ToLower(def.Spec.Names.Kind))
}

// gone tells which names are there no longer: somebody may use them.
func (c *comparison) gone(what string, old, new []string) {
	for _, name := range old {
		if !slices.Contains(new, name) {
			c.add("", true, "%s %s removed", what, name)
		}
	}
}

// conversionOf returns how a definition converts between versions. Not saying it means None.
func conversionOf(def *apiextensionsv1.CustomResourceDefinition) *apiextensionsv1.CustomResourceConversion {
	if def.Spec.Conversion == nil {
		return &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.NoneConverter}
	}
	return def.Spec.Conversion
}

// describe names a conversion with the address of its webhook.
func describe(conversion *apiextensionsv1.CustomResourceConversion) string {
	if conversion.Webhook == nil || conversion.Webhook.ClientConfig == nil {
		return string(conversion.Strategy)
	}
	client := conversion.Webhook.ClientConfig
	switch {
	case client.URL != nil:
		return fmt.Sprintf("%s at %s", conversion.Strategy, *client.URL)
	case client.Service != nil:
		return fmt.Sprintf("%s at service %s/%s%s", conversion.Strategy, client.Service.Namespace, client.Service.Name, showText(client.Service.Path))
	}
	return string(conversion.Strategy)
}

func versionNamed(def *apiextensionsv1.CustomResourceDefinition, name string) *apiextensionsv1.CustomResourceDefinitionVersion {
	for i := range def.Spec.Versions {
		if def.Spec.Versions[i].Name == name {
			return &def.Spec.Versions[i]
		}
	}
	return nil
}

// comparison collects changes of a version.
type comparison struct {
	version string
	changes []Change
}

func (c *comparison) add(path string, breaking bool, format string, args ...any) {
	c.changes = append(c.changes, Change{c.version, path, fmt.Sprintf(format, args...), breaking})
}

func (c *comparison) compareVersion(old, new *apiextensionsv1.CustomResourceDefinitionVersion) {
	c.version = old.Name
	switch {
	case new == nil:
		c.add("", true, "version removed")
		return
	case old.Served != new.Served:
		c.add("", old.Served, "served changed from %t to %t", old.Served, new.Served)
	}
	if old.Storage && !new.Storage {
		c.add("", false, "it is no longer the stored version: objects have to be written again before it can be removed")
	}
	if new.Deprecated && !old.Deprecated {
		c.add("", false, "version deprecated")
	}
	c.subresources(old.Subresources, new.Subresources)
	for _, f := range old.SelectableFields {
		if !slices.Contains(new.SelectableFields, f) {
			c.add("", true, "selectable field %s removed", f.JSONPath)
		}
	}
	for _, f := range new.SelectableFields {
		if !slices.Contains(old.SelectableFields, f) {
			c.add("", false, "selectable field %s added", f.JSONPath)
		}
	}
	if old.Schema != nil && old.Schema.OpenAPIV3Schema != nil && new.Schema != nil && new.Schema.OpenAPIV3Schema != nil {
		c.compare("", old.Schema.OpenAPIV3Schema, new.Schema.OpenAPIV3Schema)
	}
}

func (c *comparison) subresources(old, new *apiextensionsv1.CustomResourceSubresources) {
	var none apiextensionsv1.CustomResourceSubresources
	if old == nil {
		old = &none
	}
	if new == nil {
		new = &none
	}
	if (old.Status == nil) != (new.Status == nil) {
		c.add("", true, "subresource status %s", addedOrRemoved(new.Status != nil))
	}
	if (old.Scale == nil) != (new.Scale == nil) {
		c.add("", new.Scale == nil, "subresource scale %s", addedOrRemoved(new.Scale != nil))
		return
	}
	if old.Scale == nil {
		return
	}
	for _, path := range []struct{ what, old, new string }{
		{"specReplicasPath", old.Scale.SpecReplicasPath, new.Scale.SpecReplicasPath},
		{"statusReplicasPath", old.Scale.StatusReplicasPath, new.Scale.StatusReplicasPath},
		{"labelSelectorPath", showText(old.Scale.LabelSelectorPath), showText(new.Scale.LabelSelectorPath)},
	} {
		if path.old != path.new {
			c.add("", path.old != "", "%s of the scale changed from %s to %s", path.what, orNone(path.old), orNone(path.new))
		}
	}
}

func addedOrRemoved(added bool) string {
	if added {
		return "added"
	}
	return "removed"
}

// compare compares two nodes and what is below.
func (c *comparison) compare(path string, old, new *props) {
	_, was := typeOf(old)
	if _, is := typeOf(new); was != is {
		c.add(path, true, "type changed from %s to %s", was, is)
		return
	}
	c.bounds(path, old, new)
	c.values(path, old, new)
	c.rules(path, old, new)
	c.merging(path, old, new)
	c.members(path, old, new)
	if old.Items != nil && new.Items != nil && old.Items.Schema != nil && new.Items.Schema != nil {
		c.compare(path+"[]", old.Items.Schema, new.Items.Schema)
	}
}

// bounds compares all keywords that are numbers.
func (c *comparison) bounds(path string, old, new *props) {
	for i := range keywords {
		k := &keywords[i]
		before, after, ok := k.bounds(old, new)
		if !ok || before == after {
			continue
		}
		breaking := before == "" || after != "" && k.isTighter(old, new)
		c.add(path, breaking, "%s changed from %s to %s", k.name, orNone(before), orNone(after))
	}
}

// bounds returns the values of a numeric keyword in two nodes.
func (k *keyword) bounds(old, new *props) (before, after string, ok bool) {
	switch {
	case k.count != nil:
		return k.showCount(*k.count(old)), k.showCount(*k.count(new)), true
	case k.number != nil:
		return showPtr(*k.number(old)), showPtr(*k.number(new)), true
	}
	return "", "", false
}

// showCount shows a count. None and a lower bound of 0 are the same.
func (k *keyword) showCount(n *int64) string {
	if k.bound == "min" && n != nil && *n == 0 {
		return ""
	}
	return showPtr(n)
}

func showPtr[T any](v *T) string {
	if v == nil {
		return ""
	}
	return show(*v)
}

func orNone(text string) string {
	if text == "" {
		return "none"
	}
	return text
}

// isTighter compares two bounds that are there.
func (k *keyword) isTighter(old, new *props) bool {
	var before, after float64
	if k.count != nil {
		before, after = float64(**k.count(old)), float64(**k.count(new))
	} else {
		before, after = **k.number(old), **k.number(new)
	}
	switch k.bound {
	case "min":
		return after > before
	case "max":
		return after < before
	default: // multipleOf
		return true
	}
}

// values compares what else constrains single values.
func (c *comparison) values(path string, old, new *props) {
	for _, t := range []struct{ what, old, new string }{{"pattern", old.Pattern, new.Pattern}, {"format", old.Format, new.Format}} {
		if t.old != t.new {
			c.add(path, t.new != "", "%s changed from %s to %s", t.what, orNone(t.old), orNone(t.new))
		}
	}
	for _, f := range []struct {
		what     string
		old, new bool
		breaking bool // when it is set
	}{
		{"nullable", old.Nullable, new.Nullable, false},
		{"exclusiveMinimum", old.ExclusiveMinimum, new.ExclusiveMinimum, true},
		{"exclusiveMaximum", old.ExclusiveMaximum, new.ExclusiveMaximum, true},
		{"preserveUnknownFields", old.XPreserveUnknownFields != nil, new.XPreserveUnknownFields != nil, false},
		{"embeddedResource", old.XEmbeddedResource, new.XEmbeddedResource, true},
	} {
		if f.old != f.new {
			c.add(path, f.new == f.breaking, "%s %s", f.what, addedOrRemoved(f.new))
		}
	}
	c.enum(path, old, new)
	if before, after := jsonText(old.Default), jsonText(new.Default); before != after {
		c.add(path, false, "default changed from %s to %s", orNone(before), orNone(after))
	}
	for _, j := range []struct {
		what     string
		old, new any
	}{{"allOf", old.AllOf, new.AllOf}, {"anyOf", old.AnyOf, new.AnyOf}, {"oneOf", old.OneOf, new.OneOf}, {"not", old.Not, new.Not}} {
		if !sameJSON(j.old, j.new) {
			c.add(path, true, "%s changed", j.what)
		}
	}
}

func jsonText(j *apiextensionsv1.JSON) string {
	if j == nil {
		return ""
	}
	return string(j.Raw)
}

func (c *comparison) enum(path string, old, new *props) {
	contains := func(list []apiextensionsv1.JSON, v apiextensionsv1.JSON) bool {
		return slices.ContainsFunc(list, func(other apiextensionsv1.JSON) bool { return string(other.Raw) == string(v.Raw) })
	}
	switch {
	case len(old.Enum) == 0 && len(new.Enum) > 0:
		c.add(path, true, "enum added")
		return
	case len(new.Enum) == 0 && len(old.Enum) > 0:
		c.add(path, false, "enum removed")
		return
	}
	for _, v := range old.Enum {
		if !contains(new.Enum, v) {
			c.add(path, true, "enum value %s removed", v.Raw)
		}
	}
	for _, v := range new.Enum {
		if !contains(old.Enum, v) {
			c.add(path, false, "enum value %s added", v.Raw)
		}
	}
}

// rules compares validation rules by their expressions. A rule that is new may refuse what was
// right.
func (c *comparison) rules(path string, old, new *props) {
	has := func(list apiextensionsv1.ValidationRules, rule string) bool { return ruleIn(list, rule) != nil }
	for _, r := range new.XValidations {
		before := ruleIn(old.XValidations, r.Rule)
		switch optional := isTrue(r.OptionalOldSelf); {
		case before == nil:
			c.add(path, true, "rule %q added", r.Rule)
		case isTrue(before.OptionalOldSelf) != optional: // with it, the rule is judged without an old object too
			c.add(path, optional, "optionalOldSelf of rule %q %s", r.Rule, addedOrRemoved(optional))
		}
	}
	for _, r := range old.XValidations {
		if !has(new.XValidations, r.Rule) {
			c.add(path, false, "rule %q removed", r.Rule)
		}
	}
}

func ruleIn(list apiextensionsv1.ValidationRules, rule string) *apiextensionsv1.ValidationRule {
	for i := range list {
		if list[i].Rule == rule {
			return &list[i]
		}
	}
	return nil
}

func isTrue(b *bool) bool { return b != nil && *b }

// merging compares what server-side apply merges by: who owns what changes with it.
func (c *comparison) merging(path string, old, new *props) {
	for _, m := range []struct{ what, old, new, unset string }{
		{"listType", showText(old.XListType), showText(new.XListType), "atomic"},
		{"mapType", showText(old.XMapType), showText(new.XMapType), "granular"},
		{"listMapKey", strings.Join(old.XListMapKeys, "|"), strings.Join(new.XListMapKeys, "|"), ""},
	} {
		if m.old != m.new && !(m.old == "" && m.new == m.unset) && !(m.new == "" && m.old == m.unset) {
			c.add(path, true, "%s changed from %s to %s", m.what, orNone(m.old), orNone(m.new))
		}
	}
}

func showText(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

// members compares the fields of objects and the values of maps.
func (c *comparison) members(path string, old, new *props) {
	for _, name := range keysOf(old.Properties) {
		before := old.Properties[name]
		after, ok := new.Properties[name]
		if !ok {
			c.add(path+"."+name, new.XPreserveUnknownFields == nil, "field removed")
			continue
		}
		c.compare(path+"."+name, &before, &after)
	}
	for _, name := range keysOf(new.Properties) {
		after := new.Properties[name]
		_, existed := old.Properties[name]
		isRequired := slices.Contains(new.Required, name)
		wasRequired := slices.Contains(old.Required, name)
		switch {
		case !existed && old.XPreserveUnknownFields != nil: // it was there, and could be anything
			c.add(path+"."+name, !typeless(&after) || isRequired, "field added, which could hold anything before%s", requiredText(isRequired))
		case !existed:
			c.add(path+"."+name, isRequired && after.Default == nil, "field added%s", requiredText(isRequired))
		case isRequired && !wasRequired:
			c.add(path+"."+name, after.Default == nil, "field is required now")
		case isRequired && old.Properties[name].Default != nil && after.Default == nil:
			c.add(path+"."+name, true, "field is required, and has lost its default")
		case wasRequired && !isRequired:
			c.add(path+"."+name, false, "field is optional now")
		}
	}
	c.mapValues(path, old, new)
}

func requiredText(isRequired bool) string {
	if isRequired {
		return ", which is required"
	}
	return ""
}

func (c *comparison) mapValues(path string, old, new *props) {
	before, after := old.AdditionalProperties, new.AdditionalProperties
	switch {
	case (before == nil) != (after == nil):
		c.add(path, after == nil, "additionalProperties %s", addedOrRemoved(after != nil))
	case before != nil && before.Schema != nil && after.Schema != nil:
		c.compare(path+"{}", before.Schema, after.Schema)
	}
}
