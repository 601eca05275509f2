package crd

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/go-kube/kube/internal/suggest"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// checkNode returns what is impossible or meaningless in one node, once all its keywords are
// in. The nodes below it have been checked before.
func checkNode(s *props) []error {
	var errs []error
	add := func(err error) {
		if err != nil {
			errs = append(errs, err)
		}
	}
	add(checkShape(s))
	add(checkCounts("minLength", s.MinLength, "maxLength", s.MaxLength))
	add(checkCounts("minItems", s.MinItems, "maxItems", s.MaxItems))
	add(checkCounts("minProperties", s.MinProperties, "maxProperties", s.MaxProperties))
	add(checkNumbers(s))
	if s.Pattern != "" {
		add(checkPattern(s.Pattern))
	}
	add(checkFormat(s))
	add(checkList(s))
	add(checkEmbedded(s))
	add(checkRules(s))
	if s.Nullable && len(s.Enum) > 0 {
		add(fmt.Errorf("nullable has no effect beside an enum: the API server never finds null in one; without nullable it takes null for an absent field"))
	}
	if len(errs) > 0 {
		return errs // values cannot be judged by rules that are broken
	}
	return checkValues(s)
}

func checkCounts(lowName string, low *int64, highName string, high *int64) error {
	if low != nil && high != nil && *low > *high {
		return fmt.Errorf("%s %d is above %s %d", lowName, *low, highName, *high)
	}
	return nil
}

func checkNumbers(s *props) error {
	is, _ := typeOf(s)
	low, high := formatRange(s.Format)
	for _, bound := range []struct {
		name  string
		value *float64
	}{{"minimum", s.Minimum}, {"maximum", s.Maximum}, {"multipleOf", s.MultipleOf}} {
		switch {
		case bound.value == nil:
		case is == fitInteger && *bound.value != math.Trunc(*bound.value):
			return fmt.Errorf("%s %s of an integer has to be whole", bound.name, show(*bound.value))
		case *bound.value < low || *bound.value > high:
			return fmt.Errorf("%s %s does not fit format %s", bound.name, show(*bound.value), s.Format)
		}
	}
	switch {
	case s.ExclusiveMinimum && s.Minimum == nil:
		return fmt.Errorf("exclusiveMinimum needs a minimum that it excludes")
	case s.ExclusiveMaximum && s.Maximum == nil:
		return fmt.Errorf("exclusiveMaximum needs a maximum that it excludes")
	case s.MultipleOf != nil && *s.MultipleOf <= 0:
		return fmt.Errorf("multipleOf %s has to be above 0", show(*s.MultipleOf))
	case s.Minimum == nil || s.Maximum == nil:
		return nil
	case *s.Minimum > *s.Maximum:
		return fmt.Errorf("minimum %s is above maximum %s", show(*s.Minimum), show(*s.Maximum))
	case *s.Minimum == *s.Maximum && (s.ExclusiveMinimum || s.ExclusiveMaximum):
		return fmt.Errorf("nothing lies between minimum and maximum %s when one of them is excluded", show(*s.Minimum))
	}
	return nil
}

// stringFormats are the formats of strings that the API server validates, which ignores any
// other one with a warning. Its source is the comment on JSONSchemaProps.Format, and for the
// last two https://kep.k8s.io/5073 (Kubernetes 1.34).
var stringFormats = []string{
	"bsonobjectid", "uri", "email", "hostname", "ipv4", "ipv6", "cidr", "mac", "uuid", "uuid3", "uuid4", "uuid5",
	"isbn", "isbn10", "isbn13", "creditcard", "ssn", "hexcolor", "rgbcolor", "byte", "password", "date", "duration",
	"date-time", "k8s-short-name", "k8s-long-name",
}

func checkFormat(s *props) error {
	is, name := typeOf(s)
	known := stringFormats
	switch {
	case s.Format == "":
		return nil
	case s.Format == "datetime": // how the server spells it inside
		return nil
	case s.XIntOrString, is == fitUntyped:
		known = append([]string{"int32", "int64", "float", "double"}, stringFormats...)
	case is == fitInteger:
		known = []string{"int32", "int64"}
	case is == fitNumber:
		known = []string{"float", "double"}
	}
	if slices.Contains(known, s.Format) {
		return nil
	}
	hint := suggest.DidYouMean(s.Format, known)
	if hint == "" {
		hint = "; known are " + strings.Join(known, ", ")
	}
	return fmt.Errorf("format %q is unknown to the API server for type %s%s", s.Format, name, hint)
}

// checkList checks the merge rules of a list.
// See https://kubernetes.io/docs/reference/using-api/server-side-apply/#merge-strategy
func checkList(s *props) error {
	listType := "atomic"
	if s.XListType != nil {
		listType = *s.XListType
	}
	if listType != "map" {
		if len(s.XListMapKeys) > 0 {
			return fmt.Errorf("listMapKey %s needs listType=map", strings.Join(s.XListMapKeys, "|"))
		}
		if listType == "atomic" || s.Items == nil {
			return nil
		}
		return checkSetItem(s.Items.Schema)
	}
	if len(s.XListMapKeys) == 0 {
		return fmt.Errorf("listType=map needs a listMapKey, the field that tells its items apart")
	}
	if s.Items == nil || s.Items.Schema == nil || s.Items.Schema.Type != "object" {
		return fmt.Errorf("listType=map is for lists of objects")
	}
	return checkMapItem(s.Items.Schema, s.XListMapKeys)
}

func checkSetItem(item *props) error {
	switch {
	case item.Nullable:
		return fmt.Errorf("the items of listType=set cannot be nullable")
	case item.Type == "object":
		return fmt.Errorf("listType=set of objects is not supported by server-side apply; use listType=map with a listMapKey, or listType=atomic")
	case item.Type == "array" && item.XListType != nil && *item.XListType != "atomic":
		return fmt.Errorf("lists inside listType=set have to be atomic, and this is %s", *item.XListType)
	}
	return nil
}

func checkMapItem(item *props, keys []string) error {
	if item.Nullable {
		return fmt.Errorf("the items of listType=map cannot be nullable")
	}
	for i, key := range keys {
		p, ok := item.Properties[key]
		switch {
		case !ok:
			return fmt.Errorf("listMapKey %q is not a field of the items%s", key, suggest.DidYouMean(key, keysOf(item.Properties)))
		case slices.Contains(keys[:i], key):
			return fmt.Errorf("listMapKey %q stands twice", key)
		case p.Type == "array" || p.Type == "object":
			return fmt.Errorf("listMapKey %q has to be a scalar, and is of type %s", key, p.Type)
		case p.Nullable:
			return fmt.Errorf("listMapKey %q cannot be nullable", key)
		case p.Default == nil && !slices.Contains(item.Required, key):
			return fmt.Errorf("listMapKey %q has to be required or have a default: an item without it could not be told apart", key)
		}
	}
	return nil
}

// embeddedFields are what every Kubernetes object has, with their types.
var embeddedFields = map[string]string{"apiVersion": "string", "kind": "string", "metadata": "object"}

func checkEmbedded(s *props) error {
	switch {
	case !s.XEmbeddedResource:
		return nil
	case s.AdditionalProperties != nil:
		return fmt.Errorf("embeddedResource is for objects with fields, not for maps")
	case len(s.Properties) == 0 && s.XPreserveUnknownFields == nil:
		return fmt.Errorf("embeddedResource of an object without fields needs preserveUnknownFields, or the API server drops its content")
	}
	for _, name := range keysOf(embeddedFields) {
		if p, ok := s.Properties[name]; ok && p.Type != embeddedFields[name] {
			_, is := typeOf(&p)
			return fmt.Errorf("embeddedResource needs a field %q of type %s, and has one of type %s", name, embeddedFields[name], is)
		}
	}
	return nil
}

// checkValues holds the values in the schema against the schema.
func checkValues(s *props) []error {
	var errs []error
	check := func(word string, rule *props, j apiextensionsv1.JSON) any {
		v, err := decode(j)
		if err == nil && v == nil {
			err = fmt.Errorf("the API server drops null here; leave the word out")
		}
		if err == nil {
			err = fitsSchema(rule, v, "")
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", word, err))
		}
		return v
	}
	withoutEnum := *s
	withoutEnum.Enum = nil
	var seen []any
	for _, e := range s.Enum {
		v := check("enum", &withoutEnum, e)
		if slices.ContainsFunc(seen, func(other any) bool { return reflect.DeepEqual(v, other) }) {
			errs = append(errs, fmt.Errorf("enum: %s stands twice", e.Raw))
		}
		seen = append(seen, v)
	}
	if s.Default != nil {
		check("default", s, *s.Default)
	}
	if s.Example != nil {
		check("example", s, *s.Example)
	}
	return errs
}

// checkGiven returns what keeps a schema that was given, not derived, from being structural,
// and what is impossible in it. Each error begins with a path below at.
// See https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#specifying-a-structural-schema
func checkGiven(s *props, at string, bad *failures) {
	if err := checkShape(s); err != nil {
		bad.add(at, "%w", err)
		return // nothing can be said of what is below
	}
	for name, p := range s.Properties {
		checkGiven(&p, at+"."+name, bad)
	}
	if s.Items != nil {
		checkGiven(s.Items.Schema, at+".items", bad)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		checkGiven(s.AdditionalProperties.Schema, at+".additionalProperties", bad)
	}
	for i := range keywords {
		if k := &keywords[i]; k.isSet(s) {
			if err := k.checkFit(s); err != nil {
				bad.add(at, "%w", err)
			}
		}
	}
	for _, err := range append(checkJunctors(s), checkNode(s)...) {
		bad.add(at, "%w", err)
	}
}

// checkShape checks what decides how a node is read.
func checkShape(s *props) error {
	types := []string{"string", "integer", "number", "boolean", "array", "object"}
	refused := ""
	switch {
	case s.ID != "":
		refused = "id"
	case s.Schema != "":
		refused = "$schema"
	case s.Ref != nil:
		refused = "$ref"
	case len(s.Definitions) > 0:
		refused = "definitions"
	case len(s.PatternProperties) > 0:
		refused = "patternProperties"
	case s.Dependencies != nil:
		refused = "dependencies"
	case s.AdditionalItems != nil:
		refused = "additionalItems"
	case s.UniqueItems:
		return fmt.Errorf("the API server refuses uniqueItems; use x-kubernetes-list-type: set")
	case s.Type != "" && !slices.Contains(types, s.Type):
		return fmt.Errorf("%q is not a type; it is one of %s", s.Type, strings.Join(types, ", "))
	case typeless(s) && s.XPreserveUnknownFields == nil:
		return fmt.Errorf("a node needs a type, x-kubernetes-int-or-string or x-kubernetes-preserve-unknown-fields")
	case s.XPreserveUnknownFields != nil && !*s.XPreserveUnknownFields:
		return fmt.Errorf("x-kubernetes-preserve-unknown-fields is true or unset, never false")
	case s.XIntOrString && s.XPreserveUnknownFields != nil:
		return fmt.Errorf("x-kubernetes-int-or-string and x-kubernetes-preserve-unknown-fields exclude each other")
	case s.Type == "array" && (s.Items == nil || s.Items.Schema == nil):
		return fmt.Errorf("an array needs items with one schema")
	case len(s.Properties) > 0 && s.AdditionalProperties != nil:
		return fmt.Errorf("properties and additionalProperties exclude each other")
	}
	if refused != "" {
		return fmt.Errorf("the API server refuses %s in the schema of a CRD", refused)
	}
	return nil
}

// checkJunctors checks allOf, anyOf, oneOf and not: they constrain values, and may neither
// give them a type nor bring fields of their own.
func checkJunctors(s *props) []error {
	if s.XIntOrString && isIntOrString(s.AnyOf) {
		return nil
	}
	var errs []error
	check := func(name string, branch *props) {
		if err := checkBranch(s, branch); err != nil {
			errs = append(errs, fmt.Errorf("%s %w", name, err))
		}
	}
	for i := range s.AllOf {
		check(fmt.Sprintf("allOf[%d]", i), &s.AllOf[i])
	}
	for i := range s.AnyOf {
		check(fmt.Sprintf("anyOf[%d]", i), &s.AnyOf[i])
	}
	for i := range s.OneOf {
		check(fmt.Sprintf("oneOf[%d]", i), &s.OneOf[i])
	}
	if s.Not != nil {
		check("not", s.Not)
	}
	return errs
}

func isIntOrString(anyOf []props) bool {
	return reflect.DeepEqual(anyOf, intOrString().AnyOf)
}

func checkBranch(outer, branch *props) error {
	switch {
	case branch.Type != "" || branch.XIntOrString:
		return fmt.Errorf("has a type: say it outside")
	case branch.Description != "" || branch.Title != "" || branch.Default != nil || branch.Nullable:
		return fmt.Errorf("has a title, description, default or nullable: say it outside")
	case branch.AdditionalProperties != nil || branch.XPreserveUnknownFields != nil || branch.XEmbeddedResource:
		return fmt.Errorf("says which fields an object keeps: say it outside")
	case branch.XListType != nil || branch.XListMapKeys != nil || branch.XMapType != nil || branch.XValidations != nil:
		return fmt.Errorf("has merge rules or validation rules: say them outside")
	}
	for _, name := range keysOf(branch.Properties) {
		known, ok := outer.Properties[name]
		if !ok {
			return fmt.Errorf("names the field %q, which is not a property outside%s", name, suggest.DidYouMean(name, keysOf(outer.Properties)))
		}
		inner := branch.Properties[name]
		if err := checkBranch(&known, &inner); err != nil {
			return fmt.Errorf("field %q: %w", name, err)
		}
	}
	if errs := checkJunctors(branch); len(errs) > 0 {
		return errs[0]
	}
	return nil
}
