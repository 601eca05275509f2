package crd

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/go-kube/kube/resource"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// kindMarker is a marker about a kind.
type kindMarker struct {
	name  string
	args  []argSpec
	apply func(def *apiextensionsv1.CustomResourceDefinition, args map[string]any) error
}

var kindMarkers = []kindMarker{
	{name: "kubebuilder:resource", args: []argSpec{
		{name: "path", kind: argString}, {name: "shortName", kind: argStrings}, {name: "categories", kind: argStrings},
		{name: "singular", kind: argString}, {name: "scope", kind: argString},
	}, apply: markResource},
	{name: "kubebuilder:subresource:status", apply: func(def *apiextensionsv1.CustomResourceDefinition, _ map[string]any) error {
		subresourcesOf(version(def)).Status = &apiextensionsv1.CustomResourceSubresourceStatus{}
		return nil
	}},
	{name: "kubebuilder:subresource:scale", args: []argSpec{
		{name: "specpath", kind: argString, required: true}, {name: "statuspath", kind: argString, required: true}, {name: "selectorpath", kind: argString},
	}, apply: markScale},
	{name: "kubebuilder:printcolumn", args: []argSpec{
		{name: "name", kind: argString, required: true}, {name: "type", kind: argString, required: true}, {name: "JSONPath", kind: argString, required: true},
		{name: "description", kind: argString}, {name: "format", kind: argString}, {name: "priority", kind: argInt},
	}, apply: markColumn},
	{name: "kubebuilder:selectablefield", args: []argSpec{{name: "JSONPath", kind: argString, required: true}},
		apply: func(def *apiextensionsv1.CustomResourceDefinition, args map[string]any) error {
			v := version(def)
			v.SelectableFields = append(v.SelectableFields, apiextensionsv1.SelectableField{JSONPath: textOf(args, "JSONPath")})
			return nil
		}},
	{name: "kubebuilder:deprecatedversion", args: []argSpec{{name: "warning", kind: argString}},
		apply: func(def *apiextensionsv1.CustomResourceDefinition, args map[string]any) error {
			version(def).Deprecated = true
			if warning, ok := args["warning"].(string); ok {
				version(def).DeprecationWarning = &warning
			}
			return nil
		}},
	{name: "kubebuilder:unservedversion", apply: func(def *apiextensionsv1.CustomResourceDefinition, _ map[string]any) error {
		version(def).Served = false
		return nil
	}},
	{name: "kubebuilder:skipversion", apply: func(*apiextensionsv1.CustomResourceDefinition, map[string]any) error {
		return fmt.Errorf("this version of the kind is to be left out of its definition: do not derive it")
	}},
	{name: "kubebuilder:storageversion", apply: func(def *apiextensionsv1.CustomResourceDefinition, _ map[string]any) error {
		version(def).Storage = true
		return nil
	}},
	{name: "kubebuilder:metadata", args: []argSpec{{name: "annotations", kind: argStrings}, {name: "labels", kind: argStrings}}, apply: markMetadata},
}

// markResource reads the names of the resource. The descriptor has them already, and has to
// agree, or requests would go elsewhere.
func markResource(def *apiextensionsv1.CustomResourceDefinition, args map[string]any) error {
	names := &def.Spec.Names
	for _, n := range []struct{ arg, have, field string }{
		{"path", names.Plural, "Plural"}, {"singular", names.Singular, "Singular"}, {"scope", string(def.Spec.Scope), "Scope"},
	} {
		if want := textOf(args, n.arg); want != "" && want != n.have {
			return fmt.Errorf("%s=%s differs from %q in the kind's descriptor (resource.Info.%s)", n.arg, want, n.have, n.field)
		}
	}
	if len(names.ShortNames) == 0 {
		names.ShortNames = textsOf(args, "shortName")
	}
	if len(names.Categories) == 0 {
		names.Categories = textsOf(args, "categories")
	}
	return nil
}

func markScale(def *apiextensionsv1.CustomResourceDefinition, args map[string]any) error {
	scale := &apiextensionsv1.CustomResourceSubresourceScale{SpecReplicasPath: textOf(args, "specpath"), StatusReplicasPath: textOf(args, "statuspath")}
	if selector, ok := args["selectorpath"].(string); ok {
		scale.LabelSelectorPath = &selector
	}
	subresourcesOf(version(def)).Scale = scale
	return nil
}

func markColumn(def *apiextensionsv1.CustomResourceDefinition, args map[string]any) error {
	v := version(def)
	subresourcesOf(v) // controller-gen writes subresources: {} for kinds with columns
	priority, _ := args["priority"].(int)
	v.AdditionalPrinterColumns = append(v.AdditionalPrinterColumns, apiextensionsv1.CustomResourceColumnDefinition{
		Name:        textOf(args, "name"),
		Type:        textOf(args, "type"),
		JSONPath:    textOf(args, "JSONPath"),
		Description: textOf(args, "description"),
		Format:      textOf(args, "format"),
		Priority:    int32(priority),
	})
	return nil
}

func markMetadata(def *apiextensionsv1.CustomResourceDefinition, args map[string]any) error {
	for _, group := range []struct {
		arg string
		to  *map[string]string
	}{{"annotations", &def.Annotations}, {"labels", &def.Labels}} {
		for _, pair := range textsOf(args, group.arg) {
			key, v, ok := strings.Cut(pair, "=")
			if !ok {
				return fmt.Errorf("%s: %q has to have the form key=value", group.arg, pair)
			}
			if *group.to == nil {
				*group.to = map[string]string{}
			}
			if _, set := (*group.to)[key]; !set { // Options win
				(*group.to)[key] = v
			}
		}
	}
	return nil
}

// applyKind applies the markers about the kind itself.
func (m *marking) applyKind(def *apiextensionsv1.CustomResourceDefinition, texts []string, at string) {
	for _, text := range texts {
		name, rest, hasValue := splitMarker(text)
		first := ""
		find := func(k kindMarker) bool { return k.name == name }
		i := slices.IndexFunc(kindMarkers, find)
		if last := strings.LastIndexByte(name, ':'); i < 0 && last > 0 && hasValue {
			name, first = name[:last], name[last+1:]
			i = slices.IndexFunc(kindMarkers, find)
		}
		if i < 0 {
			continue
		}
		args, err := map[string]any(nil), error(nil)
		if hasValue || len(kindMarkers[i].args) > 0 {
			args, err = readArgs(first, rest, kindMarkers[i].args)
		}
		if err == nil {
			err = kindMarkers[i].apply(def, args)
		}
		if err != nil {
			m.bad.add(at, "+%s: %w", name, err)
		}
	}
}

// definition derives the definition of a kind.
func (m *marking) definition(d *resource.Descriptor, t reflect.Type, o *Options) *apiextensionsv1.CustomResourceDefinition {
	root := m.root(t)
	def := m.definitionOf(d, o, root)
	if declared := m.declared(t, typeName(t)); declared != nil {
		m.applyKind(def, declared.markers, typeName(t))
	}
	m.checkApproved(d.Group, def.Annotations)
	version(def).Storage = true
	m.complete(def, root, o)
	return def
}

func (m *marking) root(t reflect.Type) *props {
	at := typeName(t)
	s := m.expr(t, at)
	if len(m.bad.list) > 0 {
		return &s
	}
	s = *m.resolved(*s.Ref).DeepCopy()
	m.at = at
	m.flatten(&s)
	if _, ok := s.Properties["metadata"]; ok {
		s.Properties["metadata"] = props{Type: "object"}
	}
	return &s
}
