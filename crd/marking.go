package crd

import (
	"encoding"
	jsonv1 "encoding/json"
	"fmt"
	"go/ast"
	"io/fs"
	"reflect"
	"slices"
	"strings"

	"github.com/go-kube/kube/resource"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// Markers derives definitions from marker comments, for [Options].Markers: see [ReadMarkers].
type Markers struct {
	// derive is a hook, so that programs without markers do not hold the reader of them.
	derive func(*builder, *resource.Descriptor, reflect.Type, *Options) *apiextensionsv1.CustomResourceDefinition
}

// MarkerOptions is what [ReadMarkers] may be told.
type MarkerOptions struct {
	// EmbeddedObjectMeta gives metadata inside a spec its fields name, namespace, labels,
	// annotations and finalizers, as generateEmbeddedObjectMeta of controller-gen does. Without it
	// the API server drops what is in there.
	EmbeddedObjectMeta bool
	// Warn is told of markers that have no effect, since they only look like those of controller-gen
	// (+kubebuilder:validation:MaxLenght=3), as [FieldError]s, each once. controller-gen passes over
	// them, so that they are no errors. It may be called by any goroutine that derives a definition,
	// by one at a time. nil means that nobody is told.
	Warn func(error)
}

// ReadMarkers honours the marker comments of kubebuilder and controller-gen (+kubebuilder:… and
// those with other names such as +optional, +listType=map or +k8s:immutable) in the source of
// the types. The definition is the one that controller-gen v0.23 makes of the same source, so
// that packages written for it need no change; schema tags count in addition.
//
// sources are roots of modules, each with its go.mod, such as
// os.DirFS("/home/me/go/pkg/mod/k8s.io/api@v0.37.2"), or other file systems with the Go files of
// the types, such as an embed.FS: those are told apart by their types' names and fields. Every
// type that a kind is made of has to be in one of them. Those of the standard library (in
// os.DirFS of GOROOT/src) and of metav1 may be missing, and then have no descriptions. A
// package is read when one of its types is used, and once.
//
// The result may be used at the same time by any number of goroutines.
func ReadMarkers(opts *MarkerOptions, sources ...fs.FS) (*Markers, error) {
	var o MarkerOptions
	if opts != nil {
		o = *opts
	}
	source, err := newMarkerSource(sources)
	if err != nil {
		return nil, fmt.Errorf("crd: reading markers: %w", err)
	}
	var stray *strays
	if o.Warn != nil {
		stray = &strays{tell: o.Warn, told: map[string]bool{}}
	}
	return &Markers{derive: func(b *builder, d *resource.Descriptor, t reflect.Type, opts *Options) *apiextensionsv1.CustomResourceDefinition {
		m := &marking{builder: b, source: source, options: o, strays: stray, raw: map[string]*props{}, done: map[string]*props{}}
		return m.definition(d, t, opts)
	}}, nil
}

// marking derives one definition.
type marking struct {
	*builder
	source  *markerSource
	options MarkerOptions
	strays  *strays
	// raw holds the schemas of named types with references, done those without, both by the
	// name that references use.
	raw, done map[string]*props
	// open are the types that the present one is nested in.
	nested []string
	at     string
}

func (m *marking) fail(err error) { m.bad.add(m.at, "%w", err) }

// resolved returns the schema of a type without references. It is not to be changed.
func (m *marking) resolved(ref string) *props {
	if s, ok := m.done[ref]; ok {
		return s
	}
	s := m.raw[ref].DeepCopy()
	m.done[ref] = &props{} // it cannot refer to itself: that has been refused
	m.refer(s)
	m.done[ref] = s
	return s
}

// expr returns the schema of a type as a field or element: a reference for a named type.
func (m *marking) expr(t reflect.Type, at string) props {
	if t.Kind() == reflect.Pointer {
		return m.expr(t.Elem(), at)
	}
	if t.Name() == "" || t.PkgPath() == "" {
		return m.kind(t, nil, at)
	}
	ref := t.PkgPath() + "." + t.Name()
	s := props{Ref: &ref}
	if slices.Contains(m.nested, ref) {
		m.bad.add(at, "%s contains itself (%s), and the schema of a CRD cannot be recursive; end it with a comment +kubebuilder:validation:Schemaless and +kubebuilder:pruning:PreserveUnknownFields", typeName(t), strings.Join(append(m.nested, ref), " → "))
		return props{Type: "object", XPreserveUnknownFields: new(true)}
	}
	if m.raw[ref] == nil {
		m.nested = append(m.nested, ref)
		declared := m.declared(t, at)
		m.raw[ref] = m.named(t, declared, at)
		m.nested = m.nested[:len(m.nested)-1]
	}
	if t.Kind() != reflect.Struct {
		s.Type, s.Format = m.typeOf(ref)
	}
	return s
}

// typeOf returns the type and format that a reference ends at.
func (m *marking) typeOf(ref string) (string, string) {
	for s := m.raw[ref]; s != nil; s = m.raw[*s.Ref] {
		if s.Ref == nil || s.Type != "" {
			return s.Type, s.Format
		}
	}
	return "", ""
}

// declared returns the declaration of t. A package that is not there would take its
// constraints with it, so that is an error; the standard library has none, and those of
// metav1 are known.
func (m *marking) declared(t reflect.Type, at string) *markedType {
	declared, err := m.source.typeOf(t)
	standard := !strings.Contains(strings.Split(t.PkgPath(), "/")[0], ".")
	_, known := markedKnown(t, m.options)
	switch {
	case err != nil:
		m.bad.add(at, "reading the source of %s: %w", t, err)
	case declared == nil && !known && !standard && t.PkgPath() != metaPackage:
		m.bad.add(at, "no source of ReadMarkers declares %s of package %s; add the root of its module, as os.DirFS", t, t.PkgPath())
	}
	return declared
}

// named returns the schema of a named type.
func (m *marking) named(t reflect.Type, declared *markedType, at string) *props {
	if s, ok := markedKnown(t, m.options); ok {
		return &s
	}
	if s, ok := m.ownSchema(t); ok {
		return &s
	}
	pointer := reflect.PointerTo(t)
	switch {
	case pointer.Implements(reflect.TypeFor[jsonv1.Marshaler]()):
		s := props{}
		m.applyTo(&s, declared, typeName(t))
		if s.Type != "" {
			return &s
		}
	case pointer.Implements(reflect.TypeFor[encoding.TextMarshaler]()):
		s := props{Type: "string"}
		m.applyTo(&s, declared, typeName(t))
		return &s
	}
	return m.declaration(t, declared, at)
}

// declaration returns the schema of t by its declaration. One that names another type in its
// turn has that one's constraints too.
func (m *marking) declaration(t reflect.Type, declared *markedType, at string) *props {
	var s props
	if under, name := m.under(declared); under != nil {
		ref := under.pkg.path + "." + name
		if m.raw[ref] == nil {
			m.raw[ref] = m.declaration(t, under, at)
		}
		s.Ref = &ref
		if t.Kind() != reflect.Struct {
			s.Type, s.Format = m.typeOf(ref)
		}
	} else {
		s = m.kind(t, declared, at)
	}
	if declared != nil {
		s.Description = declared.doc
	}
	m.applyTo(&s, declared, typeName(t))
	m.applyEnum(&s, t)
	if rules, ok := reflect.TypeAssert[ruled](reflect.New(t)); ok {
		s.XValidations = append(s.XValidations, rules.Rules()...)
	}
	return &s
}

// under returns the type that a declaration names, as in type Port PortNumber, or nil.
func (m *marking) under(declared *markedType) (under *markedType, name string) {
	if declared == nil {
		return nil, ""
	}
	if _, ok := declared.expr.(*ast.StarExpr); ok {
		return nil, ""
	}
	qualifier, name := typeNamed(declared.expr)
	if name == "" {
		return nil, ""
	}
	if qualifier == "" {
		return declared.pkg.types[name], name
	}
	importPath := importPathOf(declared.file, qualifier)
	under, err := m.source.named(importPath, name)
	if err != nil {
		m.fail(err)
	}
	return under, name
}

// kind returns the schema that the structure of t gives.
func (m *marking) kind(t reflect.Type, declared *markedType, at string) props {
	switch t.Kind() {
	case reflect.Bool:
		return props{Type: "boolean"}
	case reflect.String:
		return props{Type: "string"}
	case reflect.Float32, reflect.Float64:
		return props{Type: "number"}
	case reflect.Int32, reflect.Uint32:
		return props{Type: "integer", Format: "int32"}
	case reflect.Int64, reflect.Uint64:
		return props{Type: "integer", Format: "int64"}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uintptr:
		return props{Type: "integer"}
	case reflect.Slice, reflect.Array:
		if t.Kind() == reflect.Slice && t.Elem() == reflect.TypeFor[byte]() {
			return props{Type: "string", Format: "byte"}
		}
		items := m.expr(t.Elem(), at+"[]")
		return props{Type: "array", Items: itemsOf(&items)}
	case reflect.Map:
		return m.mapOf(t, at)
	case reflect.Struct:
		return m.structOf(t, declared, at)
	case reflect.Interface:
		if t.NumMethod() == 0 {
			return anyJSON()
		}
	}
	m.bad.add(at, "%s has no JSON that a schema could describe", t)
	return anyJSON()
}

func (m *marking) mapOf(t reflect.Type, at string) props {
	if key := t.Key(); key.Kind() != reflect.String && !key.Implements(reflect.TypeFor[encoding.TextMarshaler]()) {
		m.bad.add(at, "the keys of %s are not strings, and JSON knows no others", t)
	}
	values := m.expr(t.Elem(), at+"{}")
	return props{Type: "object", AdditionalProperties: valuesOf(&values)}
}

// structOf returns the schema of a struct. Embedded structs go into allOf, for flatten.
func (m *marking) structOf(t reflect.Type, declared *markedType, at string) props {
	s := props{Type: "object", Properties: map[string]props{}}
	if t.Name() != "" {
		at = typeName(t)
	}
	var frozen []string
	for sf := range t.Fields() {
		if !sf.IsExported() && !sf.Anonymous {
			continue
		}
		if f := m.fieldOf(t, sf, declared, at); f != nil {
			m.addMarked(&s, f)
			if f.frozen {
				frozen = append(frozen, f.name)
			}
		}
	}
	slices.Sort(s.Required)
	m.applyUses(&s, m.ownWords(&node{props: &s, at: at}, m.typeWords(t, at)), at)
	if tag := knownTag(t, ""); tag != "" && declared == nil {
		m.applyUses(&s, m.ownWords(&node{props: &s, at: at}, m.readTag(at, tag)), at)
	}
	for _, name := range frozen {
		if !slices.Contains(s.Required, name) {
			s.XValidations = append(s.XValidations, onceSet(name))
		}
	}
	return s
}

// marked is a field with its markers.
type marked struct {
	field
	inline bool
	doc    string
	uses   []use
	// frozen says that it is immutable, schemaless that its type is not looked at.
	frozen, schemaless bool
	// unmarked says that no source declares it.
	unmarked bool
	presence presence
}

func (m *marking) fieldOf(t reflect.Type, sf reflect.StructField, declared *markedType, at string) *marked {
	tag, tagged := sf.Tag.Lookup("json")
	name, options, more := strings.Cut(tag, ",")
	if tag == "-" && !more {
		return nil
	}
	f := &marked{field: field{name: name, at: at + "." + sf.Name, typ: sf.Type, owner: t, declared: sf}, unmarked: declared == nil}
	if !tagged {
		m.bad.add(f.at, "has no json tag; name it as in json:%q, or leave it out with json:\"-\"", lowerCamel(sf.Name))
		return nil
	}
	for option := range strings.SplitSeq(options, ",") {
		f.inline = f.inline || option == "inline"
		f.optional = f.optional || option == "omitempty" || option == "omitzero"
	}
	f.inline = f.inline || name == ""
	var texts []string
	if declared != nil {
		if source := declared.fields[sf.Name]; source != nil {
			f.doc, texts = source.doc, source.markers
		}
		f.optional = f.optional || declared.pkg.isOptional()
	}
	f.uses = m.usesOf(texts, f.at, aboutField)
	m.readPresence(f, texts)
	return f
}

// isOptional reports whether a package says that its fields are optional unless they say
// otherwise.
func (p *markedPackage) isOptional() bool {
	return slices.ContainsFunc(p.markers, func(m string) bool { return markerName(m) == "kubebuilder:validation:Optional" })
}

// readPresence reads the markers about the field's presence. Those of kubebuilder win over
// the others, and optional over required.
func (m *marking) readPresence(f *marked, texts []string) {
	has := func(names ...string) bool {
		return slices.ContainsFunc(texts, func(text string) bool { return slices.Contains(names, markerName(text)) })
	}
	if has("k8s:enum") {
		m.bad.add(f.at, "+k8s:enum is about a type: write it above the declaration of %s", typeName(deref(f.typ)))
	}
	f.frozen = has("k8s:immutable")
	f.schemaless = has("kubebuilder:validation:Schemaless")
	switch {
	case has("kubebuilder:validation:Optional"):
		f.presence = optional
	case has("kubebuilder:validation:Required"):
		f.presence = required
	case has("optional", "k8s:optional"):
		f.presence = optional
	case has("required", "k8s:required"):
		f.presence = required
	}
}

func (m *marking) addMarked(object *props, f *marked) {
	var s props
	if !f.schemaless {
		s = m.expr(f.typ, f.at)
	}
	s.Description = f.doc
	m.applyUses(&s, f.uses, f.at)
	tagged := m.applyTags(&s, f)
	if tagged != asTagged {
		f.presence = tagged
	}
	if f.presence == required || f.presence == asTagged && !f.inline && !f.optional {
		object.Required = append(object.Required, f.name)
	}
	if f.inline {
		object.AllOf = append(object.AllOf, s)
		return
	}
	object.Properties[f.name] = s
}

// applyTags applies the field's schema tag, where it has one.
func (m *marking) applyTags(s *props, f *marked) presence {
	tag, ok, err := schemaTag(f.declared.Tag)
	if err != nil {
		m.bad.add(f.at, "%w", err)
	}
	if !ok && f.unmarked {
		tag = knownTag(f.owner, f.declared.Name)
	}
	if tag == "" {
		return asTagged
	}
	words := m.readTag(f.at, tag)
	n := &node{props: s, at: f.at}
	m.applyUses(s, m.ownWords(n, words), f.at)
	if inner := below(words, "items"); len(inner) > 0 && s.Items != nil {
		m.applyUses(s.Items.Schema, m.ownWords(n, inner), f.at)
	}
	for _, u := range m.ownWords(n, words) {
		if u.keyword.presence != asTagged {
			n.presence = u.keyword.presence
		}
	}
	return n.presence
}

// applyTo applies the markers of a type.
func (m *marking) applyTo(s *props, declared *markedType, at string) {
	if declared == nil {
		return
	}
	m.applyUses(s, m.usesOf(declared.markers, at, aboutType), at)
	for _, text := range declared.markers {
		if markerName(text) == "k8s:enum" {
			m.applyConstants(s, declared, at)
		}
	}
}

// applyConstants makes an enum of the constants of a string type.
func (m *marking) applyConstants(s *props, declared *markedType, at string) {
	values := slices.Clone(declared.pkg.constants[at])
	if len(values) == 0 || s.Type != "string" {
		m.bad.add(at, "+k8s:enum is for string types with constants in their package, and this is of type %s with %d", s.Type, len(values))
		return
	}
	s.Enum = nil
	slices.Sort(values)
	for _, v := range values {
		raw, err := asJSON(v)
		if err != nil {
			m.bad.add(at, "%q: %w", v, err)
		}
		s.Enum = append(s.Enum, apiextensionsv1.JSON{Raw: raw})
	}
}

// markedKnown returns the schemas of types that controller-gen knows.
func markedKnown(t reflect.Type, o MarkerOptions) (props, bool) {
	switch t.PkgPath() + "." + t.Name() {
	case metaPackage + ".ObjectMeta":
		if o.EmbeddedObjectMeta {
			return embeddedMetadata(), true
		}
		return props{Type: "object"}, true
	case metaPackage + ".Time", metaPackage + ".MicroTime", metaPackage + ".Duration",
		"k8s.io/apimachinery/pkg/api/resource.Quantity",
		"k8s.io/apimachinery/pkg/util/intstr.IntOrString",
		"k8s.io/apimachinery/pkg/runtime.RawExtension",
		"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1.JSON":
		return knownType(t)
	case "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1.JSON":
		return anyJSON(), true
	case "k8s.io/apimachinery/pkg/apis/meta/v1/unstructured.Unstructured":
		return props{Type: "object"}, true
	}
	return props{}, false
}
