package crd

import (
	"fmt"
	"io/fs"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/go-kube/kube/resource"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Options is what a CustomResourceDefinition has beside the kind and its Go type.
type Options struct {
	// Source holds the Go files that declare the types, usually a variable with a line
	// //go:embed types.go above it. Their doc comments become the descriptions that kubectl
	// explain shows, without lines that begin with + or TODO, and up to a line of dashes. nil
	// means no descriptions.
	Source fs.FS
	// Docs describes types that Source does not declare: it returns the descriptions of their
	// fields by JSON name, and of the type itself by "", or nil. [SwaggerDoc] knows the types
	// of Kubernetes. nil leaves those types undescribed, which is wise for big ones: a pod
	// template with descriptions is too large for kubectl apply without --server-side.
	Docs func(reflect.Type) map[string]string
	// Columns are what kubectl get prints behind the name. With none, the server prints the
	// age; with any, it prints just these.
	Columns []Column
	// Scale lets kubectl scale and the horizontal pod autoscaler work on the kind. nil means
	// that they do not.
	Scale *Scale
	// Rules are validation rules about the whole object, in which self.metadata has name and
	// generateName only. Rules about a part of it stand in a method Rules of the part's type, or in
	// its tag.
	Rules []apiextensionsv1.ValidationRule
	// Fields has schema words for parts of the object by their path, for types that cannot have
	// tags: {".spec.template.spec.containers": "minItems=1", ".spec.hosts[]": "format=hostname"}.
	// A path has names of fields, [] for the items of a list and {} for the values of a map. They
	// are applied after everything else, and replace what they name.
	Fields map[string]string
	// SelectableFields are paths such as .spec.color that requests may select objects by. They
	// lead to strings, integers or booleans, and not through lists.
	SelectableFields []string
	// Deprecated has the API server warn whoever uses this version, with DeprecationWarning or
	// words of its own.
	Deprecated bool
	// DeprecationWarning is what the warning says, up to 256 characters on one line.
	DeprecationWarning string
	// Unserved keeps the version from being served: there are no requests to it.
	Unserved bool
	// Conversion says how the API server converts between versions. nil means by replacing
	// apiVersion only.
	Conversion *apiextensionsv1.CustomResourceConversion
	// Schema is the schema by hand, of the whole object. The Go type is not looked at then.
	Schema *apiextensionsv1.JSONSchemaProps
	// NoSchema takes any object: the API server checks nothing and drops nothing.
	NoSchema bool
	// Markers derives the schema from marker comments as well, as controller-gen does. nil means
	// that they are not read. Source and Docs are not used beside it.
	Markers *Markers
	// Refine has the last word on the version that comes out, for what neither Go types nor tags can
	// say, such as oneOf: see [MergePatch]. Nothing is checked after it. nil leaves the version as it is.
	Refine func(*apiextensionsv1.CustomResourceDefinitionVersion) error
	// MaxDescription shortens descriptions to so many bytes, to whole sentences where that is
	// possible. 0 means no limit, -1 no descriptions.
	MaxDescription int
	// MaxSize drops descriptions, the deepest ones first, until the definition has at most so many
	// bytes as JSON: see [MaxApplySize]. 0 means no limit. A definition of several versions is shrunk
	// once it is merged: see [Shrink].
	MaxSize int
	// Labels and Annotations are put on the definition itself.
	Labels, Annotations map[string]string
}

// MaxApplySize is how big a definition may be for kubectl apply without --server-side, which
// keeps the whole in an annotation: 262144 bytes, less some room for the rest of the annotation.
const MaxApplySize = 262144 - 4096

// Column is a column of kubectl get.
// See https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#additional-printer-columns
type Column struct {
	// Name is the heading.
	Name string
	// Type is integer, number, string, boolean or date. A date is printed as the time since
	// then.
	Type string
	// JSONPath finds the value in the object, as in .status.ready or
	// .status.conditions[?(@.type=="Ready")].status.
	JSONPath string
	// Description is what the column means.
	Description string
	// Format narrows the type: int32, int64, float, double, byte, date, date-time or
	// password. It may be empty.
	Format string
	// Priority above 0 shows the column in the wide output only.
	Priority int32
}

// Scale says where an object keeps what its scale subresource shows.
// See https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#scale-subresource
type Scale struct {
	// SpecReplicasPath is the number of replicas wanted, an integer below .spec, such as
	// .spec.replicas. It is required.
	SpecReplicasPath string
	// StatusReplicasPath is the number of replicas there are, an integer below .status, such
	// as .status.availableReplicas. It is required.
	StatusReplicasPath string
	// LabelSelectorPath is a string below .spec or .status with the selector of the pods that
	// are counted, in the form that kubectl get -l takes. An autoscaler needs it; it may be
	// empty.
	LabelSelectorPath string
}

// For derives the definition of a kind from its Go type. The type is resource.Object, or a
// struct with TypeMeta, ObjectMeta, Spec and Status of its own. The kind's version is served
// and stored. A status that has fields is a subresource.
//
// The package documentation says how Go types, tags and comments become a schema. The error
// joins one [FieldError] for each thing that is wrong. Each call returns a new value; For may
// be called at the same time by any number of goroutines.
func For[K any](kind resource.Kind[K], opts *Options) (*apiextensionsv1.CustomResourceDefinition, error) {
	return forType(kind.Descriptor(), reflect.TypeFor[K](), opts)
}

func forType(d *resource.Descriptor, t reflect.Type, opts *Options) (*apiextensionsv1.CustomResourceDefinition, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	b := &builder{done: map[reflect.Type]*props{}}
	b.checkKind(d, t, &o)
	b.checkOptions(&o)
	if len(b.bad.list) == 0 {
		var err error
		if b.docs, err = readDocs(o.Source, o.Docs); err != nil {
			b.bad.add("Options.Source", "%w", err)
		}
	}
	var def *apiextensionsv1.CustomResourceDefinition
	switch {
	case len(b.bad.list) > 0:
	case o.NoSchema, o.Schema != nil:
		def = b.given(d, &o)
	case o.Markers != nil:
		def = o.Markers.derive(b, d, t, &o)
	default:
		def = b.definition(d, t, &o)
	}
	if err := b.bad.joined(); err != nil {
		return nil, fmt.Errorf("crd: %s:\n%w", d, err)
	}
	return def, nil
}

func (b *builder) definition(d *resource.Descriptor, t reflect.Type, o *Options) *apiextensionsv1.CustomResourceDefinition {
	root := b.root(d, t, o)
	def := b.definitionOf(d, o, root)
	if _, ok := root.Properties["status"]; ok {
		subresourcesOf(version(def)).Status = &apiextensionsv1.CustomResourceSubresourceStatus{}
	}
	b.complete(def, root, o)
	return def
}

// definitionOf returns the definition of a kind with a schema, and nothing else.
func (b *builder) definitionOf(d *resource.Descriptor, o *Options, root *props) *apiextensionsv1.CustomResourceDefinition {
	version := apiextensionsv1.CustomResourceDefinitionVersion{
		Name:    d.Version,
		Served:  true,
		Storage: true,
		Schema:  &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: root},
	}
	return &apiextensionsv1.CustomResourceDefinition{
		TypeMeta:   metav1.TypeMeta{APIVersion: apiextensionsv1.SchemeGroupVersion.String(), Kind: "CustomResourceDefinition"},
		ObjectMeta: metav1.ObjectMeta{Name: d.Plural + "." + d.Group, Labels: maps.Clone(o.Labels), Annotations: maps.Clone(o.Annotations)},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: d.Group,
			Names: apiextensionsv1.CustomResourceDefinitionNames{
				Plural:     d.Plural,
				Singular:   d.Singular,
				Kind:       d.Kind,
				ListKind:   d.Kind + "List",
				ShortNames: slices.Clone(d.ShortNames),
				Categories: slices.Clone(d.Categories),
			},
			Scope:    apiextensionsv1.ResourceScope(d.Scope.String()),
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{version},
		},
	}
}

// root returns the schema of the whole object. Its metadata is the server's business, and so
// is a required status: it is written after the object exists.
func (b *builder) root(d *resource.Descriptor, t reflect.Type, o *Options) *props {
	s := b.schemaOf(t, typeName(t), nil)
	for name := range s.Properties {
		if name == "apiVersion" || name == "kind" {
			s.Properties[name] = props{Type: "string"}
		}
	}
	s.Properties["metadata"] = props{Type: "object"}
	if status, ok := s.Properties["status"]; ok && isEmpty(&status) {
		delete(s.Properties, "status")
	}
	s.Required = slices.DeleteFunc(s.Required, func(name string) bool {
		return name == "apiVersion" || name == "kind" || name == "metadata" || name == "status"
	})
	b.describeRoot(&s, d, t, o)
	return &s
}

// isEmpty reports whether nothing can be written in an object: the status of
// resource.Object[Spec, struct{}].
func isEmpty(s *props) bool {
	return s.Type == "object" && len(s.Properties) == 0 && s.AdditionalProperties == nil && s.XPreserveUnknownFields == nil
}

// describeRoot uses the comment of the type that is called as the kind is, which may be an
// alias, and makes sure that the source given is the one that declares the kind.
func (b *builder) describeRoot(s *props, d *resource.Descriptor, t reflect.Type, o *Options) {
	declared := t
	if spec, ok := t.FieldByName("Spec"); ok && t.PkgPath() == reflect.TypeFor[resource.Scope]().PkgPath() {
		declared = spec.Type
	}
	if doc := b.docs.named(d.Kind, declared); doc != "" {
		s.Description = doc
	}
	if o.Source != nil && declared.Name() != "" && b.docs.find(declared) == nil {
		b.bad.add("Options.Source", "it does not declare %s with its present fields; embed the file that does", declared)
	}
}

func (b *builder) addScale(version *apiextensionsv1.CustomResourceDefinitionVersion, root *props, scale *Scale) {
	b.checkScalePath(root, "Options.Scale.SpecReplicasPath", scale.SpecReplicasPath, "integer", ".spec.")
	b.checkScalePath(root, "Options.Scale.StatusReplicasPath", scale.StatusReplicasPath, "integer", ".status.")
	out := &apiextensionsv1.CustomResourceSubresourceScale{
		SpecReplicasPath:   scale.SpecReplicasPath,
		StatusReplicasPath: scale.StatusReplicasPath,
	}
	if scale.LabelSelectorPath != "" {
		b.checkScalePath(root, "Options.Scale.LabelSelectorPath", scale.LabelSelectorPath, "string", ".spec.", ".status.")
		out.LabelSelectorPath = new(scale.LabelSelectorPath)
	}
	if version.Subresources == nil {
		version.Subresources = &apiextensionsv1.CustomResourceSubresources{}
	}
	version.Subresources.Scale = out
}

func (b *builder) checkScalePath(root *props, at, path, want string, below ...string) {
	isBelow := func(prefix string) bool { return strings.HasPrefix(path, prefix) }
	if path == "" || !slices.ContainsFunc(below, isBelow) {
		b.bad.add(at, "%q is not a path below %s", path, strings.Join(below, " or "))
		return
	}
	if strings.Contains(path, "[") {
		b.bad.add(at, "%q: a path with brackets cannot be written to; it has the form %sname", path, below[0])
		return
	}
	target, err := resolve(root, path)
	if err != nil {
		b.bad.add(at, "%w", err)
		return
	}
	if target != nil && target.Type != want {
		_, is := typeOf(target)
		b.bad.add(at, "%s is of type %s, and has to be of type %s", path, is, want)
	}
}

func (b *builder) addColumn(version *apiextensionsv1.CustomResourceDefinitionVersion, root *props, c Column, at string) {
	if err := checkColumn(root, c); err != nil {
		b.bad.add(at, "%w", err)
	}
	version.AdditionalPrinterColumns = append(version.AdditionalPrinterColumns, apiextensionsv1.CustomResourceColumnDefinition{
		Name:        c.Name,
		Type:        c.Type,
		Format:      c.Format,
		Description: c.Description,
		Priority:    c.Priority,
		JSONPath:    c.JSONPath,
	})
}
