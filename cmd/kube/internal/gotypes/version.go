package gotypes

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/go-kube/kube/crd"
	"github.com/go-kube/kube/resource"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// kindVersion is one version of a kind on its way to Go.
type kindVersion struct {
	def     *apiextensionsv1.CustomResourceDefinition
	version *apiextensionsv1.CustomResourceDefinitionVersion
	info    resource.Info
	// file is the name of the Go file, without its ending.
	file string
	// kinds is the name of the variable of the kind.
	kinds string
	root  *decl
	decls []*decl
	// generic says that the type is resource.Object of a spec and perhaps a status.
	generic      bool
	spec, status *field
	// options are what package crd is told beside the types: parts of it that it would refuse are nil.
	options crd.Options
	// meta are the words about the fields apiVersion, kind and metadata.
	meta map[string][]string
	// patch is what neither types nor tags nor options say, as a JSON merge patch, and remains says
	// what that is.
	patch   []byte
	remains []Remainder
}

func (v *kindVersion) schema() *props {
	if v.version.Schema == nil || v.version.Schema.OpenAPIV3Schema == nil {
		return &props{Type: "object", XPreserveUnknownFields: new(true)}
	}
	return v.version.Schema.OpenAPIV3Schema
}

// scope is the scope of the kind.
func (v *kindVersion) scope() resource.Scope {
	if v.def.Spec.Scope == apiextensionsv1.ClusterScoped {
		return resource.ClusterScoped
	}
	return resource.NamespaceScoped
}

// build makes the declarations of a version. names are those that are taken in its package.
func (g *generator) build(v *kindVersion, names namespace) error {
	root := v.schema().DeepCopy()
	sortRequired(root)
	v.readOptions()
	refused, err := v.refused(root)
	if err != nil {
		return err
	}
	b := &builder{generator: g, found: map[string]*decl{}, refused: refused, names: names, kind: v.info.Kind}
	v.root = &decl{schema: root, description: root.Description}
	b.decls = []*decl{v.root}
	b.fill()
	b.nameTypes()
	v.decls = b.decls
	v.decideForm()
	return v.comparePatch(b)
}

// decideForm decides whether resource.Object will do: the spec has to be there, and a struct.
func (v *kindVersion) decideForm() {
	v.generic = len(v.root.fields) > 0 && !v.root.open
	for _, f := range v.root.fields {
		isStruct := f.node.form == formStruct && !f.node.schema.Nullable
		switch {
		case f.json == "spec" && isStruct && f.isRequired():
			v.spec = f
		case f.json == "status" && isStruct && !f.isRequired():
			v.status = f
		default:
			v.generic = false
		}
	}
	v.generic = v.generic && v.spec != nil
}

// readOptions takes what stands beside the schema into the options.
func (v *kindVersion) readOptions() {
	o := &v.options
	for _, c := range v.version.AdditionalPrinterColumns {
		o.Columns = append(o.Columns, crd.Column{Name: c.Name, Type: c.Type, JSONPath: c.JSONPath, Description: c.Description, Format: c.Format, Priority: c.Priority})
	}
	for _, f := range v.version.SelectableFields {
		o.SelectableFields = append(o.SelectableFields, f.JSONPath)
	}
	if s := v.version.Subresources; s != nil && s.Scale != nil {
		o.Scale = &crd.Scale{SpecReplicasPath: s.Scale.SpecReplicasPath, StatusReplicasPath: s.Scale.StatusReplicasPath}
		if s.Scale.LabelSelectorPath != nil {
			o.Scale.LabelSelectorPath = *s.Scale.LabelSelectorPath
		}
	}
	o.Rules = v.schema().XValidations
	o.Deprecated, o.Unserved = v.version.Deprecated, !v.version.Served
	if v.version.DeprecationWarning != nil {
		o.DeprecationWarning = *v.version.DeprecationWarning
	}
	if approval := v.def.Annotations[apiextensionsv1.KubeAPIApprovedAnnotation]; approval != "" {
		o.Annotations = map[string]string{apiextensionsv1.KubeAPIApprovedAnnotation: approval}
	}
	v.readMeta()
}

// readMeta takes what the schema says of the fields that every object has.
func (v *kindVersion) readMeta() {
	v.meta = map[string][]string{}
	for _, name := range []string{"apiVersion", "kind", "metadata"} {
		p, ok := v.schema().Properties[name]
		if ok && slices.Contains(v.schema().Required, name) {
			v.meta[name] = append(v.meta[name], "required")
		}
		if p.Description != "" && name != "metadata" {
			v.meta[name] = append(v.meta[name], "description="+quote(p.Description))
		}
	}
}

// refused asks package crd what it would refuse of the schema and of the options, though the API server
// took it. That is left to the patch.
func (v *kindVersion) refused(root *props) (map[string]bool, error) {
	kind := resource.DefineNamespaced[resource.Object[struct{}, struct{}]](v.info)
	o := v.options
	o.Schema = root
	_, err := crd.For(kind, &o)
	paths := map[string]bool{}
	for _, e := range fieldErrors(err) {
		path, ok := strings.CutPrefix(e.Field, "Options.Schema")
		switch {
		case ok:
			paths[path] = true
		case strings.HasPrefix(e.Field, "Options.Columns"):
			v.options.Columns = nil
		case strings.HasPrefix(e.Field, "Options.Scale"):
			v.options.Scale = nil
		case strings.HasPrefix(e.Field, "Options.Selectable"):
			v.options.SelectableFields = nil
		case strings.HasPrefix(e.Field, "Options.Rules"):
			v.options.Rules = nil
		case strings.HasPrefix(e.Field, "Options.Deprecat"):
			v.options.DeprecationWarning = ""
		default:
			return nil, fmt.Errorf("%s: %w", v.def.Name, e)
		}
	}
	return paths, nil
}

func fieldErrors(err error) (list []*crd.FieldError) {
	var joined interface{ Unwrap() []error }
	if errors.As(err, &joined) {
		for _, e := range joined.Unwrap() {
			if f, ok := errors.AsType[*crd.FieldError](e); ok {
				list = append(list, f)
			}
		}
	}
	return list
}

// comparePatch compares the version that package crd will derive with the one that is wanted.
func (v *kindVersion) comparePatch(b *builder) error {
	want := v.version.DeepCopy()
	want.Storage = true // which version is stored is for crd.Merge to say
	if want.Schema == nil || want.Schema.OpenAPIV3Schema == nil {
		want.Schema = &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: v.schema()}
	}
	want.Schema.OpenAPIV3Schema = v.root.schema
	wantTree, err := treeOf(want)
	if err != nil {
		return err
	}
	gotTree, err := treeOf(v.derivedVersion(b))
	if err != nil {
		return err
	}
	change := difference(gotTree, wantTree)
	if len(change) == 0 {
		return nil
	}
	v.remains = remainders(change)
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	err = encoder.Encode(change)
	v.patch = out.Bytes()
	return err
}

// derivedVersion is what package crd will make of the types and options.
func (v *kindVersion) derivedVersion(b *builder) *apiextensionsv1.CustomResourceDefinitionVersion {
	out := &apiextensionsv1.CustomResourceDefinitionVersion{
		Name: v.version.Name, Served: !v.options.Unserved, Storage: true, Deprecated: v.options.Deprecated,
		Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: v.derivedRoot(b)},
	}
	if v.options.DeprecationWarning != "" {
		out.DeprecationWarning = &v.options.DeprecationWarning
	}
	if _, ok := out.Schema.OpenAPIV3Schema.Properties["status"]; ok {
		out.Subresources = &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}}
	}
	if v.options.Scale != nil {
		if out.Subresources == nil {
			out.Subresources = &apiextensionsv1.CustomResourceSubresources{}
		}
		out.Subresources.Scale = v.version.Subresources.Scale
	}
	if v.options.Columns != nil {
		out.AdditionalPrinterColumns = v.version.AdditionalPrinterColumns
	}
	if v.options.SelectableFields != nil {
		out.SelectableFields = v.version.SelectableFields
	}
	return out
}

// derivedRoot is the schema of the whole object.
func (v *kindVersion) derivedRoot(b *builder) *props {
	root := b.declared(v.root).DeepCopy()
	if v.generic {
		v.deriveGeneric(root)
	}
	v.deriveMeta(root)
	if status, ok := root.Properties["status"]; ok && isEmptyObject(&status) {
		delete(root.Properties, "status")
	}
	root.Required = slices.DeleteFunc(root.Required, func(name string) bool { return name == "status" })
	root.XValidations = slices.Concat(root.XValidations, apiextensionsv1.ValidationRules(v.options.Rules))
	return root
}

// deriveMeta adds the fields that every object has.
func (v *kindVersion) deriveMeta(root *props) {
	for name, typ := range map[string]string{"apiVersion": "string", "kind": "string", "metadata": "object"} {
		p := props{Type: typ}
		if v.meta[name] != nil {
			if name != "metadata" {
				p.Description = v.schema().Properties[name].Description
			}
			if slices.Contains(v.meta[name], "required") {
				root.Required = append(root.Required, name)
			}
		}
		root.Properties[name] = p
	}
	slices.Sort(root.Required)
}

// deriveGeneric follows what package crd makes of resource.Object: fields without comments.
func (v *kindVersion) deriveGeneric(root *props) {
	*root = props{Type: "object", Properties: root.Properties, Required: []string{"spec"}, Description: typeComment(v.root.description)}
	for _, f := range []*field{v.spec, v.status} {
		if f == nil {
			continue
		}
		p := *f.node.decl.derived.DeepCopy()
		p.Description = typeComment(f.node.decl.description)
		root.Properties[f.json] = p
	}
}

// isEmptyObject follows what package crd takes for a status without fields.
func isEmptyObject(s *props) bool {
	return s.Type == "object" && len(s.Properties) == 0 && s.AdditionalProperties == nil && s.XPreserveUnknownFields == nil
}

// sortRequired sorts the names of required fields, whose order says nothing.
func sortRequired(s *props) {
	slices.Sort(s.Required)
	for name, p := range s.Properties {
		sortRequired(&p)
		s.Properties[name] = p
	}
	if s.Items != nil && s.Items.Schema != nil {
		sortRequired(s.Items.Schema)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		sortRequired(s.AdditionalProperties.Schema)
	}
}

// treeOf decodes the JSON of v.
func treeOf(v any) (tree map[string]any, err error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	err = decoder.Decode(&tree)
	return tree, err
}

// difference is the merge patch (RFC 7386) that makes want of got.
func difference(got, want map[string]any) map[string]any {
	change := map[string]any{}
	for name, w := range want {
		g, ok := got[name]
		wantObject, isObject := w.(map[string]any)
		gotObject, wasObject := g.(map[string]any)
		switch {
		case ok && isObject && wasObject:
			if below := difference(gotObject, wantObject); len(below) > 0 {
				change[name] = below
			}
		case !ok || !reflect.DeepEqual(g, w):
			change[name] = w
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			change[name] = nil
		}
	}
	return change
}
