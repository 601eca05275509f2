package crd

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/go-kube/kube/internal/suggest"
	"github.com/go-kube/kube/resource"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

func version(def *apiextensionsv1.CustomResourceDefinition) *apiextensionsv1.CustomResourceDefinitionVersion {
	return &def.Spec.Versions[0]
}

func subresourcesOf(v *apiextensionsv1.CustomResourceDefinitionVersion) *apiextensionsv1.CustomResourceSubresources {
	if v.Subresources == nil {
		v.Subresources = &apiextensionsv1.CustomResourceSubresources{}
	}
	return v.Subresources
}

// checkOptions refuses options that contradict each other.
func (b *builder) checkOptions(o *Options) {
	switch {
	case o.NoSchema && o.Schema != nil:
		b.bad.add("Options.NoSchema", "it excludes Options.Schema")
	case o.Markers != nil && (o.NoSchema || o.Schema != nil):
		b.bad.add("Options.Markers", "there is nothing to derive beside Options.Schema or Options.NoSchema")
	case o.Markers != nil && o.Markers.derive == nil:
		b.bad.add("Options.Markers", "it has to come from ReadMarkers")
	case o.Markers != nil && (o.Source != nil || o.Docs != nil):
		b.bad.add("Options.Markers", "it reads comments too: give the source to ReadMarkers in place of Options.Source and Options.Docs")
	}
	if o.DeprecationWarning != "" && !o.Deprecated {
		b.bad.add("Options.DeprecationWarning", "it is for versions with Options.Deprecated")
	}
	if len(o.DeprecationWarning) > 256 || strings.ContainsFunc(o.DeprecationWarning, unicode.IsControl) {
		b.bad.add("Options.DeprecationWarning", "%q has to be one line of at most 256 bytes", o.DeprecationWarning)
	}
	if o.MaxDescription < -1 {
		b.bad.add("Options.MaxDescription", "%d: it is a number of bytes, 0 for no limit or -1 for no descriptions", o.MaxDescription)
	}
	if o.MaxSize < 0 {
		b.bad.add("Options.MaxSize", "%d is negative", o.MaxSize)
	}
}

// given returns the definition with a schema that is not derived.
func (b *builder) given(d *resource.Descriptor, o *Options) *apiextensionsv1.CustomResourceDefinition {
	root := &props{Type: "object", XPreserveUnknownFields: new(true)}
	if o.Schema != nil {
		root = o.Schema.DeepCopy()
		if root.Type != "object" {
			b.bad.add("Options.Schema", "it is the schema of the whole object, whose type is object, and not %q", root.Type)
		}
		checkGiven(root, "Options.Schema", &b.bad)
	}
	def := b.definitionOf(d, o, root)
	if _, ok := root.Properties["status"]; ok {
		subresourcesOf(version(def)).Status = &apiextensionsv1.CustomResourceSubresourceStatus{}
	}
	b.complete(def, root, o)
	return def
}

// complete adds what the options say.
func (b *builder) complete(def *apiextensionsv1.CustomResourceDefinition, root *props, o *Options) {
	b.overrideFields(root, o.Fields)
	b.addRules(root, o.Rules)
	v := version(def)
	if o.Scale != nil {
		b.addScale(v, root, o.Scale)
	}
	for i, c := range o.Columns {
		b.addColumn(v, root, c, fmt.Sprintf("Options.Columns[%d] (%s)", i, c.Name))
	}
	for i, path := range o.SelectableFields {
		v.SelectableFields = append(v.SelectableFields, apiextensionsv1.SelectableField{JSONPath: path})
		if slices.Contains(o.SelectableFields[:i], path) {
			b.bad.add("Options.SelectableFields", "%q stands twice", path)
		}
	}
	b.checkSelectable(v, root)
	v.Deprecated = v.Deprecated || o.Deprecated
	if o.DeprecationWarning != "" {
		v.DeprecationWarning = new(o.DeprecationWarning)
	}
	v.Served = v.Served && !o.Unserved
	if o.Conversion != nil {
		def.Spec.Conversion = o.Conversion.DeepCopy()
		b.checkConversion(def.Spec.Conversion)
	}
	if o.Refine != nil {
		root = b.refine(v, o)
	}
	b.checkTransitions(root, "", "")
	cutDescriptions(root, o.MaxDescription)
	if o.MaxSize > 0 {
		if err := Shrink(def, o.MaxSize); err != nil {
			b.bad.add("Options.MaxSize", "%w", err)
		}
	}
}

// refine calls Options.Refine, and returns the schema that it leaves.
func (b *builder) refine(v *apiextensionsv1.CustomResourceDefinitionVersion, o *Options) *props {
	before := v.Schema.OpenAPIV3Schema
	err := o.Refine(v)
	if err == nil && (v.Schema == nil || v.Schema.OpenAPIV3Schema == nil) {
		err = errors.New("it left no schema; what may hold anything is of type object with preserveUnknownFields")
	}
	if err != nil {
		b.bad.add("Options.Refine", "%w", err)
		return before
	}
	return v.Schema.OpenAPIV3Schema
}

func (b *builder) addRules(root *props, rules []apiextensionsv1.ValidationRule) {
	before := len(root.XValidations)
	for _, rule := range rules {
		root.XValidations = append(root.XValidations, *rule.DeepCopy())
	}
	for i := range root.XValidations[before:] {
		if err := checkRule(&root.XValidations[before+i]); err != nil {
			b.bad.add(fmt.Sprintf("Options.Rules[%d]", i), "%w", err)
		}
	}
}

// maxSelectable is how many selectable fields a version may have.
const maxSelectable = 8

// checkSelectable checks the selectable fields of a version.
// See https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#crd-selectable-fields
func (b *builder) checkSelectable(v *apiextensionsv1.CustomResourceDefinitionVersion, root *props) {
	at := "Options.SelectableFields"
	if len(v.SelectableFields) > maxSelectable {
		b.bad.add(at, "there are %d, and the API server takes %d", len(v.SelectableFields), maxSelectable)
	}
	for _, f := range v.SelectableFields {
		switch target, err := resolve(root, f.JSONPath); {
		case err != nil:
			b.bad.add(at, "%w", err)
		case strings.HasPrefix(f.JSONPath, ".metadata"), strings.Contains(f.JSONPath, "["), target == nil:
			b.bad.add(at, "%q has to be the path of a field in the schema, outside of metadata, lists and maps", f.JSONPath)
		case !slices.Contains([]string{"string", "integer", "boolean"}, target.Type):
			_, is := typeOf(target)
			b.bad.add(at, "%s is of type %s, and has to be a string, integer or boolean", f.JSONPath, is)
		}
	}
}

func (b *builder) checkConversion(c *apiextensionsv1.CustomResourceConversion) {
	at := "Options.Conversion"
	switch c.Strategy {
	case apiextensionsv1.NoneConverter:
		if c.Webhook != nil {
			b.bad.add(at, "the strategy None has no webhook")
		}
	case apiextensionsv1.WebhookConverter:
		switch {
		case c.Webhook == nil || c.Webhook.ClientConfig == nil:
			b.bad.add(at, "the strategy Webhook needs a webhook with a clientConfig")
		case (c.Webhook.ClientConfig.URL == nil) == (c.Webhook.ClientConfig.Service == nil):
			b.bad.add(at, "the webhook's clientConfig needs one of url and service")
		case !slices.Contains(c.Webhook.ConversionReviewVersions, "v1"):
			b.bad.add(at, "conversionReviewVersions has to contain v1, and is %q", c.Webhook.ConversionReviewVersions)
		}
	default:
		b.bad.add(at, "the strategy is None or Webhook, and not %q", c.Strategy)
	}
}

// overrideFields applies Options.Fields.
func (b *builder) overrideFields(root *props, fields map[string]string) {
	for _, path := range slices.Sorted(maps.Keys(fields)) {
		at := fmt.Sprintf("Options.Fields[%q]", path)
		words := b.readTag(at, fields[path])
		steps, err := stepsOf(path)
		if err == nil {
			_, err = b.override(root, steps, at, words)
		}
		if err != nil {
			b.bad.add(at, "%w", err)
		}
	}
}

// stepsOf splits a path such as .spec.hosts[] into spec, hosts and [].
func stepsOf(path string) (steps []string, err error) {
	if !strings.HasPrefix(path, ".") {
		return nil, fmt.Errorf("a path begins with a dot, as in .spec.hosts[]")
	}
	for part := range strings.SplitSeq(path[1:], ".") {
		name := strings.TrimRight(part, "[]{}")
		if name == "" {
			return nil, fmt.Errorf("a name is missing in the path; it has the form .spec.hosts[]")
		}
		steps = append(steps, name)
		for brackets := part[len(name):]; brackets != ""; brackets = brackets[2:] {
			if !strings.HasPrefix(brackets, "[]") && !strings.HasPrefix(brackets, "{}") {
				return nil, fmt.Errorf("%q: the items of a list are [], the values of a map {}", part)
			}
			steps = append(steps, brackets[:2])
		}
	}
	return steps, nil
}

// override applies words at the end of a path.
func (b *builder) override(s *props, steps []string, at string, words []word) (presence, error) {
	if len(steps) == 0 {
		n := &node{props: s, at: at}
		if !replaced(words) {
			n.keepType = true
		}
		b.applyWords(n, words)
		return n.presence, nil
	}
	step, rest := steps[0], steps[1:]
	switch {
	case step == "[]" && s.Items != nil:
		return b.override(s.Items.Schema, rest, at, words)
	case step == "{}" && s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil:
		return b.override(s.AdditionalProperties.Schema, rest, at, words)
	case step == "[]" || step == "{}":
		_, is := typeOf(s)
		return asTagged, fmt.Errorf("there is no %s in %s", step, is)
	}
	p, ok := s.Properties[step]
	if !ok {
		return asTagged, fmt.Errorf("there is no field %q%s", step, suggest.DidYouMean(step, keysOf(s.Properties)))
	}
	found, err := b.override(&p, rest, at, words)
	s.Properties[step] = p
	if found == asTagged || len(rest) > 0 {
		return asTagged, err
	}
	s.Required = slices.DeleteFunc(s.Required, func(name string) bool { return name == step })
	if found == required {
		s.Required = append(s.Required, step)
		slices.Sort(s.Required)
	}
	return asTagged, err
}

// each visits the schemas directly below s.
func each(s *props, visit func(*props)) {
	if s.Items != nil && s.Items.Schema != nil {
		visit(s.Items.Schema)
	}
	for _, list := range [][]props{s.AllOf, s.OneOf, s.AnyOf} {
		for i := range list {
			visit(&list[i])
		}
	}
	if s.Not != nil {
		visit(s.Not)
	}
	for _, name := range keysOf(s.Properties) {
		p := s.Properties[name]
		visit(&p)
		s.Properties[name] = p
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		visit(s.AdditionalProperties.Schema)
	}
}
