package kubetest

import (
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/util/jsonpath"
	"k8s.io/kube-openapi/pkg/schemaconv"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	smdschema "sigs.k8s.io/structured-merge-diff/v6/schema"
	smd "sigs.k8s.io/structured-merge-diff/v6/typed"

	"github.com/go-kube/kube/kubetest/internal/fieldtypes"
)

// objectMetaType is the type of metadata among those of the built-in kinds.
const objectMetaType = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"

// customFields is what a field manager has to know of a custom resource, in all its versions.
type customFields struct {
	definition *definition
	types      map[string]smd.ParseableType // by version
}

// compileFields makes types for structured-merge-diff of the schemas of d.
func (d *definition) compileFields() (*customFields, error) {
	models := map[string]*spec.Schema{}
	for i := range d.spec.Versions {
		v := &d.spec.Versions[i]
		model, err := fieldModel(v)
		if err != nil {
			return nil, err
		}
		models[v.Name] = model
	}
	types, err := schemaconv.ToSchemaFromOpenAPI(models, d.spec.PreserveUnknownFields)
	if err != nil {
		return nil, err
	}
	// Both have the types of what is not typed, under the same names.
	for _, def := range fieldtypes.Builtin().Closure(objectMetaType) {
		if !slices.ContainsFunc(types.Types, func(t smdschema.TypeDef) bool { return t.Name == def.Name }) {
			types.Types = append(types.Types, def)
		}
	}
	parser := smd.Parser{Schema: smdschema.Schema{Types: types.Types}}
	c := &customFields{definition: d, types: map[string]smd.ParseableType{}}
	for name := range models {
		c.types[name] = parser.Type(name)
	}
	return c, nil
}

// fieldModel returns the schema of a version with the fields that every object has.
func fieldModel(v *apiextensionsv1.CustomResourceDefinitionVersion) (*spec.Schema, error) {
	props, err := internalSchema(v)
	if err != nil {
		return nil, err
	}
	var structural *structuralschema.Structural
	if props != nil {
		structural, err = structuralschema.NewStructural(props)
	}
	if props == nil || err != nil || len(structuralschema.ValidateStructural(nil, structural)) > 0 {
		return &spec.Schema{SchemaProps: spec.SchemaProps{Type: []string{"object"}}}, nil
	}
	model := structural.ToKubeOpenAPI()
	addObjectTypes(model)
	addEmbeddedTypes(model)
	return model, nil
}

func addObjectTypes(s *spec.Schema) {
	s.SetProperty("apiVersion", *spec.StringProperty())
	s.SetProperty("kind", *spec.StringProperty())
	s.SetProperty("metadata", *spec.RefSchema("#/components/schemas/" + objectMetaType))
}

// addEmbeddedTypes adds the fields of objects to objects that are embedded in s.
func addEmbeddedTypes(s *spec.Schema) {
	if s == nil {
		return
	}
	for name, property := range s.Properties {
		addEmbeddedTypes(&property)
		s.Properties[name] = property
	}
	if s.Items != nil {
		addEmbeddedTypes(s.Items.Schema)
	}
	if s.AdditionalProperties != nil {
		addEmbeddedTypes(s.AdditionalProperties.Schema)
	}
	if embedded, ok := s.Extensions.GetBool("x-kubernetes-embedded-resource"); ok && embedded {
		addObjectTypes(s)
	}
}

// fieldManager returns a field manager for writes to a subresource, or to the object itself if
// it is empty.
func (v *definedVersion) fieldManager(k *kind, subresource string) (*managedfields.FieldManager, error) {
	c, err := v.fields()
	if err != nil {
		return nil, err
	}
	resets := fieldpath.NewExcludeFilterSetMap(v.resets(subresource))
	return managedfields.NewDefaultCRDFieldManager(c, c, c, c, k.GroupVersionKind(), k.groupVersion(), subresource, resets)
}

// resets are the fields that a write does not change.
func (v *definedVersion) resets(subresource string) map[fieldpath.APIVersion]*fieldpath.Set {
	resets := map[fieldpath.APIVersion]*fieldpath.Set{}
	for _, other := range v.kinds {
		if other.subresources["status"] == nil {
			continue
		}
		version := fieldpath.APIVersion(other.APIVersion())
		switch {
		case subresource == "status":
			resets[version] = fieldpath.NewSet(fieldpath.MakePathOrDie("metadata"), fieldpath.MakePathOrDie("spec"))
		case subresource == "" && other.definition == v:
			resets[version] = fieldpath.NewSet(fieldpath.MakePathOrDie("status"))
		}
	}
	return resets
}

// ObjectToTyped implements managedfields.TypeConverter.
func (c *customFields) ObjectToTyped(obj runtime.Object, options ...smd.ValidationOptions) (*smd.TypedValue, error) {
	u, ok := obj.(*unstructured.Unstructured)
	if !ok {
		return nil, fmt.Errorf("kubetest: a %T is no custom resource", obj)
	}
	t, ok := c.types[u.GroupVersionKind().Version]
	if !ok {
		return nil, fmt.Errorf("no corresponding type for %v", u.GroupVersionKind())
	}
	return t.FromUnstructured(u.Object, options...)
}

// TypedToObject implements managedfields.TypeConverter.
func (c *customFields) TypedToObject(value *smd.TypedValue) (runtime.Object, error) {
	return untyped(value)
}

// ConvertToVersion implements runtime.ObjectConvertor.
func (c *customFields) ConvertToVersion(in runtime.Object, target runtime.GroupVersioner) (runtime.Object, error) {
	from := in.GetObjectKind().GroupVersionKind()
	to, ok := target.KindForGroupVersionKinds([]schema.GroupVersionKind{from})
	if !ok {
		return nil, fmt.Errorf("%v is unstructured and is not suitable for converting to %q", from, target)
	}
	for _, check := range []struct {
		direction string
		gvk       schema.GroupVersionKind
	}{{"to", to}, {"from", from}} {
		if _, ok := c.types[check.gvk.Version]; !ok || check.gvk.Group != c.definition.spec.Group {
			return nil, fmt.Errorf("request to convert CR %s an invalid group/version: %s", check.direction, check.gvk.GroupVersion())
		}
	}
	if from == to {
		return in, nil
	}
	out := in.DeepCopyObject()
	setTypeMeta(out, to)
	return out, nil
}

// Convert implements runtime.ObjectConvertor. A field manager does not use it.
func (c *customFields) Convert(in, out, context any) error {
	return fmt.Errorf("kubetest: converting %T to %T is not supported", in, out)
}

// ConvertFieldLabel implements runtime.ObjectConvertor. A field manager does not use it.
func (c *customFields) ConvertFieldLabel(_ schema.GroupVersionKind, label, _ string) (string, string, error) {
	return "", "", fmt.Errorf("field label not supported: %s", label)
}

// Default implements runtime.ObjectDefaulter.
func (c *customFields) Default(obj runtime.Object) {
	for _, k := range c.definition.kinds {
		if k.GroupVersionKind() == obj.GetObjectKind().GroupVersionKind() {
			k.strategy.setDefaults(obj)
		}
	}
}

// New implements runtime.ObjectCreater.
func (c *customFields) New(gvk schema.GroupVersionKind) (runtime.Object, error) {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(gvk)
	return u, nil
}

// selectable are the fields that selectors can use.
func (v *definedVersion) selectable() *selectable {
	paths := map[string][]string{}
	for _, f := range v.version.SelectableFields {
		paths[strings.TrimPrefix(f.JSONPath, ".")] = simplePath(f.JSONPath)
	}
	return &selectable{values: func(obj runtime.Object) fields.Set {
		set := fields.Set{}
		for name, path := range paths {
			set[name] = valueAt(obj.(*unstructured.Unstructured), path)
		}
		return set
	}}
}

// simplePath returns the names in a JSON path that has nothing else, as those of selectable
// fields are.
func simplePath(path string) []string {
	parsed, err := jsonpath.Parse("selectableField", "{"+path+"}")
	if err != nil || len(parsed.Root.Nodes) == 0 {
		return nil
	}
	list, _ := parsed.Root.Nodes[0].(*jsonpath.ListNode)
	if list == nil {
		return nil
	}
	var names []string
	for _, node := range list.Nodes {
		if f, ok := node.(*jsonpath.FieldNode); ok {
			names = append(names, f.Value)
		}
	}
	return names
}

// valueAt returns the value at a path as text, empty if there is none.
func valueAt(u *unstructured.Unstructured, path []string) string {
	value, found, err := unstructured.NestedFieldNoCopy(u.Object, path...)
	if err != nil || !found || value == nil {
		return ""
	}
	return fmt.Sprint(value)
}
