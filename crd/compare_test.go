package crd_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/go-kube/kube/crd"
)

// TestCompareSchemas compares the schema of .f in two definitions.
func TestCompareSchemas(t *testing.T) {
	for _, test := range []struct{ old, new, want string }{
		{`{"type":"string"}`, `{"type":"string","description":"x"}`, ``},
		{`{"type":"string"}`, `{"type":"integer"}`, `breaking: v1 .f: type changed from string to integer`},
		{`{"type":"string"}`, `{"type":"string","maxLength":3}`, `breaking: v1 .f: maxLength changed from none to 3`},
		{`{"type":"string","maxLength":3}`, `{"type":"string","maxLength":5}`, `compatible: v1 .f: maxLength changed from 3 to 5`},
		{`{"type":"string","maxLength":3}`, `{"type":"string"}`, `compatible: v1 .f: maxLength changed from 3 to none`},
		{`{"type":"integer","minimum":3}`, `{"type":"integer","minimum":4}`, `breaking: v1 .f: minimum changed from 3 to 4`},
		{`{"type":"integer","multipleOf":4}`, `{"type":"integer","multipleOf":2}`, `breaking: v1 .f: multipleOf changed from 4 to 2`},
		{`{"type":"string","pattern":"a"}`, `{"type":"string"}`, `compatible: v1 .f: pattern changed from a to none`},
		{`{"type":"string","pattern":"a"}`, `{"type":"string","pattern":"b"}`, `breaking: v1 .f: pattern changed from a to b`},
		{`{"type":"string","nullable":true}`, `{"type":"string"}`, `breaking: v1 .f: nullable removed`},
		{`{"type":"integer","minimum":1}`, `{"type":"integer","minimum":1,"exclusiveMinimum":true}`, `breaking: v1 .f: exclusiveMinimum added`},
		{`{"type":"string","enum":["a","b"]}`, `{"type":"string","enum":["b","c"]}`, "breaking: v1 .f: enum value \"a\" removed\ncompatible: v1 .f: enum value \"c\" added"},
		{`{"type":"string"}`, `{"type":"string","enum":["b"]}`, `breaking: v1 .f: enum added`},
		{`{"type":"string"}`, `{"type":"string","default":"b"}`, `compatible: v1 .f: default changed from none to "b"`},
		{`{"type":"string"}`, `{"type":"string","x-kubernetes-validations":[{"rule":"r"}]}`, `breaking: v1 .f: rule "r" added`},
		{`{"type":"string","minLength":0}`, `{"type":"string"}`, ``},
		{`{"type":"string"}`, `{"type":"string","minLength":0}`, ``},
		{`{"type":"string","minLength":0}`, `{"type":"string","minLength":1}`, `breaking: v1 .f: minLength changed from none to 1`},
		{`{"type":"string","x-kubernetes-validations":[{"rule":"r"}]}`, `{"type":"string","x-kubernetes-validations":[{"rule":"r","message":"m","optionalOldSelf":false}]}`, ``},
		{`{"type":"string","x-kubernetes-validations":[{"rule":"r"}]}`, `{"type":"string","x-kubernetes-validations":[{"rule":"r","optionalOldSelf":true}]}`, `breaking: v1 .f: optionalOldSelf of rule "r" added`},
		{`{"type":"string","x-kubernetes-validations":[{"rule":"r","optionalOldSelf":true}]}`, `{"type":"string","x-kubernetes-validations":[{"rule":"r"}]}`, `compatible: v1 .f: optionalOldSelf of rule "r" removed`},
		{`{"type":"string","not":{"enum":["a"]}}`, `{"type":"string"}`, `breaking: v1 .f: not changed`},
		{`{"type":"array","items":{"type":"string"}}`, `{"type":"array","items":{"type":"string","minLength":1},"x-kubernetes-list-type":"atomic"}`, `breaking: v1 .f[]: minLength changed from none to 1`},
		{`{"type":"array","items":{"type":"string"}}`, `{"type":"array","items":{"type":"string"},"x-kubernetes-list-type":"set"}`, `breaking: v1 .f: listType changed from none to set`},
		{`{"type":"object","properties":{"a":{"type":"string"}}}`, `{"type":"object"}`, `breaking: v1 .f.a: field removed`},
		{`{"type":"object"}`, `{"type":"object","properties":{"a":{"type":"string"}}}`, `compatible: v1 .f.a: field added`},
		{`{"type":"object"}`, `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`, `breaking: v1 .f.a: field added, which is required`},
		{`{"type":"object","properties":{"a":{"type":"string"}}}`, `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`, `breaking: v1 .f.a: field is required now`},
		{`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`, `{"type":"object","properties":{"a":{"type":"string"}}}`, `compatible: v1 .f.a: field is optional now`},
		{`{"type":"object","additionalProperties":{"type":"string"}}`, `{"type":"object","additionalProperties":{"type":"integer"}}`, `breaking: v1 .f{}: type changed from string to integer`},
		{`{"type":"object","x-kubernetes-preserve-unknown-fields":true}`, `{"type":"object"}`, `breaking: v1 .f: preserveUnknownFields removed`},
		{`{"type":"object","x-kubernetes-preserve-unknown-fields":true}`, `{"type":"object","x-kubernetes-preserve-unknown-fields":true,"properties":{"a":{"type":"string"}}}`,
			`breaking: v1 .f.a: field added, which could hold anything before`},
		{`{"type":"object","x-kubernetes-preserve-unknown-fields":true}`, `{"type":"object","x-kubernetes-preserve-unknown-fields":true,"properties":{"a":{"x-kubernetes-preserve-unknown-fields":true}}}`,
			`compatible: v1 .f.a: field added, which could hold anything before`},
		{`{"type":"object","properties":{"a":{"type":"string","default":"x"}},"required":["a"]}`, `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`,
			"compatible: v1 .f.a: default changed from \"x\" to none\nbreaking: v1 .f.a: field is required, and has lost its default"},
	} {
		got := crd.Compare(definitionWith(t, test.old), definitionWith(t, test.new))
		if diff := cmp.Diff(test.want, changeLines(got)); diff != "" {
			t.Errorf("%s to %s (-want +got):\n%s", test.old, test.new, diff)
		}
	}
}

func changeLines(changes []crd.Change) string {
	var out []string
	for _, c := range changes {
		out = append(out, c.String())
	}
	return strings.Join(out, "\n")
}

func definitionWith(t *testing.T, schema string) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	var f apiextensionsv1.JSONSchemaProps
	if err := json.Unmarshal([]byte(schema), &f); err != nil {
		t.Fatal(err)
	}
	def := colorAt(t, "v1", nil)
	def.Spec.Versions[0].Schema.OpenAPIV3Schema = &apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"f": f}}
	return def
}

func TestCompareDefinitions(t *testing.T) {
	old := colorAt(t, "v1", &crd.Options{SelectableFields: []string{".spec.color"}})
	old.Spec.Versions[0].Subresources = &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}}
	new := colorAt(t, "v2", nil)
	new.Spec.Scope = apiextensionsv1.ClusterScoped
	want := "breaking: definition: scope changed from Namespaced to Cluster\nbreaking: v1: version removed\ncompatible: v2: version added"
	if diff := cmp.Diff(want, changeLines(crd.Compare(old, new))); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	later := colorAt(t, "v1", &crd.Options{Deprecated: true, Unserved: true})
	later.Spec.Versions[0].Storage = false
	want = "breaking: v1: served changed from true to false\n" +
		"compatible: v1: it is no longer the stored version: objects have to be written again before it can be removed\n" +
		"compatible: v1: version deprecated\nbreaking: v1: subresource status removed\nbreaking: v1: selectable field .spec.color removed"
	if diff := cmp.Diff(want, changeLines(crd.Compare(old, later))); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestCompareParts(t *testing.T) {
	scaled := func(d *apiextensionsv1.CustomResourceDefinition, spec string, selector *string) {
		d.Spec.Versions[0].Subresources = &apiextensionsv1.CustomResourceSubresources{Scale: &apiextensionsv1.CustomResourceSubresourceScale{
			SpecReplicasPath: spec, StatusReplicasPath: ".status.replicas", LabelSelectorPath: selector}}
	}
	converted := func(d *apiextensionsv1.CustomResourceDefinition, name string) {
		d.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.WebhookConverter, Webhook: &apiextensionsv1.WebhookConversion{
			ClientConfig: &apiextensionsv1.WebhookClientConfig{Service: &apiextensionsv1.ServiceReference{Namespace: "ns", Name: name}}, ConversionReviewVersions: []string{"v1"}}}
	}
	type def = apiextensionsv1.CustomResourceDefinition
	for name, test := range map[string]struct {
		old, new func(*def)
		want     string
	}{
		"names": {
			func(d *def) { d.Spec.Names.ShortNames, d.Spec.Names.Categories = []string{"a", "b"}, []string{"all"} },
			func(d *def) { d.Spec.Names.ShortNames = []string{"b", "c"} },
			"breaking: definition: short name a removed\nbreaking: definition: category all removed",
		},
		"scale added": {func(*def) {}, func(d *def) { scaled(d, ".spec.replicas", nil) }, "compatible: v1: subresource scale added"},
		"scale moved": {
			func(d *def) { scaled(d, ".spec.replicas", nil) }, func(d *def) { scaled(d, ".spec.size", new(".status.selector")) },
			"breaking: v1: specReplicasPath of the scale changed from .spec.replicas to .spec.size\ncompatible: v1: labelSelectorPath of the scale changed from none to .status.selector",
		},
		"list kind and singular": {
			func(d *def) { d.Spec.Names.ListKind, d.Spec.Names.Singular = "", "" }, func(d *def) { d.Spec.Names.ListKind, d.Spec.Names.Singular = "Colors", "hue" },
			"breaking: definition: listKind changed from ColorList to Colors\nbreaking: definition: singular changed from color to hue",
		},
		"selectable field": {func(*def) {}, func(d *def) {
			d.Spec.Versions[0].SelectableFields = []apiextensionsv1.SelectableField{{JSONPath: ".spec.color"}}
		}, "compatible: v1: selectable field .spec.color added"},
		"no conversion": {func(*def) {}, func(d *def) {
			d.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.NoneConverter}
		}, ""},
		"conversion": {func(*def) {}, func(d *def) { converted(d, "a") }, "breaking: definition: conversion changed from None to Webhook at service ns/a"},
		"converter":  {func(d *def) { converted(d, "a") }, func(d *def) { converted(d, "b") }, "compatible: definition: conversion changed from Webhook at service ns/a to Webhook at service ns/b"},
	} {
		t.Run(name, func(t *testing.T) {
			before, after := colorAt(t, "v1", nil), colorAt(t, "v1", nil)
			test.old(before)
			test.new(after)
			if diff := cmp.Diff(test.want, changeLines(crd.Compare(before, after))); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
