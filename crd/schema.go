package crd

import (
	"encoding"
	jsonv1 "encoding/json"
	"encoding/json/v2"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// builder derives schemas from Go types. It goes through a type once: what is wrong in it is
// said once, however often the type is used.
type builder struct {
	docs docs
	bad  failures
	// done holds the schemas of the struct types that are finished, open the types that the
	// one at work is nested in, outermost first.
	done map[reflect.Type]*props
	open []reflect.Type
}

// schemaOf returns the schema of t. at is where it is used, for errors; words are what the
// tag there says: where they replace the type, it is not looked at.
func (b *builder) schemaOf(t reflect.Type, at string, words []word) props {
	if replaced(words) {
		return props{}
	}
	if t.Kind() == reflect.Pointer {
		return b.schemaOf(t.Elem(), at, words)
	}
	s, ok := knownType(t)
	if !ok {
		s, ok = b.ownSchema(t)
	}
	if !ok {
		s = b.derive(t, at, words)
	}
	b.applyEnum(&s, t)
	b.applyRules(&s, t)
	if doc := b.docs.ofType(t); doc != "" && s.Description == "" {
		s.Description = doc
	}
	return s
}

// schemer is a type that says its own schema.
type schemer interface {
	OpenAPISchema() apiextensionsv1.JSONSchemaProps
}

func (b *builder) ownSchema(t reflect.Type) (props, bool) {
	own, ok := reflect.TypeAssert[schemer](reflect.New(t))
	if !ok {
		return props{}, false
	}
	s := own.OpenAPISchema()
	checkGiven(&s, typeName(t)+".OpenAPISchema()", &b.bad)
	return *s.DeepCopy(), true
}

// derive reads the schema off the structure of t.
func (b *builder) derive(t reflect.Type, at string, words []word) props {
	if s, ok := b.marshaled(t, at); ok {
		return s
	}
	switch t.Kind() {
	case reflect.String:
		return props{Type: "string"}
	case reflect.Bool:
		return props{Type: "boolean"}
	case reflect.Float64:
		return props{Type: "number"}
	case reflect.Float32:
		return props{Type: "number", Format: "float"}
	case reflect.Slice, reflect.Array:
		return b.list(t, at, below(words, "items"))
	case reflect.Map:
		return b.mapping(t, at, below(words, "additionalProperties"))
	case reflect.Struct:
		return b.structure(t, at)
	case reflect.Interface:
		if t.NumMethod() == 0 {
			return anyJSON()
		}
	default:
		if s, ok := integer(t.Kind()); ok {
			return s
		}
	}
	b.bad.add(at, "%s has no JSON that a schema could describe; leave the field out with json:\"-\", or use another type", t)
	return anyJSON()
}

// integer returns the schema of an integer type. What the schema takes, the Go type can hold:
// an object with a number out of range would be stored, and then decode nowhere.
func integer(k reflect.Kind) (props, bool) {
	s := props{Type: "integer"}
	switch k {
	case reflect.Int8:
		s.Minimum, s.Maximum = new(float64(math.MinInt8)), new(float64(math.MaxInt8))
	case reflect.Int16:
		s.Minimum, s.Maximum = new(float64(math.MinInt16)), new(float64(math.MaxInt16))
	case reflect.Int32:
		s.Format = "int32"
	case reflect.Int:
	case reflect.Int64:
		s.Format = "int64"
	case reflect.Uint8:
		s.Minimum, s.Maximum = new(0.0), new(float64(math.MaxUint8))
	case reflect.Uint16:
		s.Minimum, s.Maximum = new(0.0), new(float64(math.MaxUint16))
	case reflect.Uint32:
		s.Minimum, s.Maximum, s.Format = new(0.0), new(float64(math.MaxUint32)), "int64"
	case reflect.Uint, reflect.Uint64, reflect.Uintptr:
		s.Minimum = new(0.0)
	default:
		return props{}, false
	}
	return s, true
}

// marshaled deals with types that write their own JSON.
func (b *builder) marshaled(t reflect.Type, at string) (props, bool) {
	pointer := reflect.PointerTo(t)
	switch {
	case pointer.Implements(reflect.TypeFor[jsonv1.Marshaler]()), pointer.Implements(reflect.TypeFor[json.MarshalerTo]()):
		b.bad.add(at, "%s writes its own JSON, which reflection cannot see; give it a method OpenAPISchema() apiextensionsv1.JSONSchemaProps, or say what the JSON is in the field's tag, as in schema:\"type=string\"", t)
		return anyJSON(), true
	case pointer.Implements(reflect.TypeFor[encoding.TextMarshaler]()), pointer.Implements(reflect.TypeFor[encoding.TextAppender]()):
		return props{Type: "string"}, true
	}
	return props{}, false
}

func (b *builder) list(t reflect.Type, at string, words []word) props {
	if isBase64(t) {
		return props{Type: "string", Format: "byte"}
	}
	item := b.schemaOf(t.Elem(), at+"[]", words)
	s := props{Type: "array", Items: itemsOf(&item)}
	if t.Kind() == reflect.Array {
		s.MinItems, s.MaxItems = new(int64(t.Len())), new(int64(t.Len()))
	}
	return s
}

// isBase64 reports whether encoding/json writes t as a base64 string.
func isBase64(t reflect.Type) bool {
	if t.Kind() != reflect.Slice || t.Elem().Kind() != reflect.Uint8 {
		return false
	}
	element := reflect.PointerTo(t.Elem())
	return !element.Implements(reflect.TypeFor[jsonv1.Marshaler]()) && !element.Implements(reflect.TypeFor[encoding.TextMarshaler]())
}

func (b *builder) mapping(t reflect.Type, at string, words []word) props {
	key := t.Key()
	if key.Kind() != reflect.String && !key.Implements(reflect.TypeFor[encoding.TextMarshaler]()) {
		b.bad.add(at, "the keys of %s are not strings, and JSON knows no others; use a string type, or a list with listType=map", t)
	}
	value := b.schemaOf(t.Elem(), at+"{}", words)
	return props{Type: "object", AdditionalProperties: valuesOf(&value)}
}

// structure returns a private copy of the schema of a struct type.
func (b *builder) structure(t reflect.Type, at string) props {
	if s, ok := b.done[t]; ok {
		return *s.DeepCopy()
	}
	if i := slices.Index(b.open, t); i >= 0 {
		b.bad.add(at, "%s contains itself (%s), and the schema of a CRD cannot be recursive; end it with schema:\"type=object,preserveUnknownFields\"", typeName(t), cycle(b.open[i:], t))
		return props{Type: "object", XPreserveUnknownFields: new(true)}
	}
	b.open = append(b.open, t)
	b.docs.find(t) // before its fields, whose types may be known by its package only
	s := props{Type: "object"}
	for _, f := range b.fieldsOf(t, at) {
		b.addField(&s, f)
	}
	for sf := range t.Fields() {
		if isFallback(sf.Type, sf.Tag.Get("json")) {
			s.XPreserveUnknownFields = new(true)
		}
	}
	b.applyKnown(&s, t)
	b.applyWords(&node{props: &s, goType: t, at: at}, b.typeWords(t, at))
	b.open = b.open[:len(b.open)-1]
	slices.Sort(s.Required)
	b.done[t] = &s
	return *s.DeepCopy()
}

func cycle(open []reflect.Type, again reflect.Type) string {
	var names []string
	for _, t := range append(slices.Clone(open), again) {
		names = append(names, typeName(t))
	}
	return strings.Join(names, " → ")
}

func (b *builder) applyKnown(s *props, t reflect.Type) {
	if tag := knownTag(t, ""); tag != "" {
		b.applyTag(&node{props: s, goType: t, at: typeName(t)}, tag)
	}
}

// addField adds a field to the object schema of its struct.
func (b *builder) addField(object *props, f field) {
	words := b.wordsOf(f)
	s := b.schemaOf(f.typ, f.at, words)
	if doc := b.docs.ofField(f); doc != "" {
		s.Description = doc
	}
	n := &node{props: &s, goType: f.typ, at: f.at}
	b.applyWords(n, words)
	if object.Properties == nil {
		object.Properties = map[string]props{}
	}
	object.Properties[f.name] = *n.props
	isOptional := f.optional || n.props.Default != nil
	if n.presence == required || n.presence == asTagged && !isOptional {
		object.Required = append(object.Required, f.name)
	} else if slices.ContainsFunc(words, func(w word) bool { return w.name == "immutable" && len(w.path) == 0 }) {
		object.XValidations = append(object.XValidations, onceSet(f.name))
	}
}

// typeWords returns the words about a struct itself, which stand in the tag of a field _.
func (b *builder) typeWords(t reflect.Type, at string) (words []word) {
	for sf := range t.Fields() {
		if sf.Name != "_" {
			continue
		}
		tag, ok, err := schemaTag(sf.Tag)
		if err != nil {
			b.bad.add(at+"._", "%w", err)
		}
		if ok {
			words = append(words, b.readTag(at+"._", tag)...)
		}
	}
	return words
}

// applyRules takes the rules of a type with a method Rules.
func (b *builder) applyRules(s *props, t reflect.Type) {
	own, ok := reflect.TypeAssert[ruled](reflect.New(t))
	if !ok {
		return
	}
	before := len(s.XValidations)
	s.XValidations = append(s.XValidations, own.Rules()...)
	check := *s
	check.XValidations = s.XValidations[before:]
	if err := checkRules(&check); err != nil {
		b.bad.add(typeName(t)+".Rules()", "%w", err)
	}
}

// applyEnum takes the values of a type with a method Enum() []T.
func (b *builder) applyEnum(s *props, t reflect.Type) {
	method, ok := reflect.PointerTo(t).MethodByName("Enum")
	if !ok || method.Type.NumIn() != 1 || method.Type.NumOut() != 1 || method.Type.Out(0) != reflect.SliceOf(t) {
		return // another method of that name, as protobuf's enums have
	}
	at := typeName(t) + ".Enum()"
	list := reflect.New(t).MethodByName("Enum").Call(nil)[0]
	if list.Len() == 0 {
		b.bad.add(at, "returns no values")
	}
	s.Enum = nil
	for i := range list.Len() {
		raw, err := json.Marshal(list.Index(i).Interface())
		if err != nil {
			b.bad.add(at, "value %d: %w", i, err)
			return
		}
		s.Enum = append(s.Enum, apiextensionsv1.JSON{Raw: raw})
	}
	for _, err := range checkValues(&props{Type: s.Type, XIntOrString: s.XIntOrString, Enum: s.Enum}) {
		b.bad.add(at, "%w", err)
	}
}

func itemsOf(s *props) *apiextensionsv1.JSONSchemaPropsOrArray {
	return &apiextensionsv1.JSONSchemaPropsOrArray{Schema: s}
}

func valuesOf(s *props) *apiextensionsv1.JSONSchemaPropsOrBool {
	return &apiextensionsv1.JSONSchemaPropsOrBool{Allows: true, Schema: s}
}

// typeName is how errors name a type: without its package, and without type arguments.
func typeName(t reflect.Type) string {
	name, _, _ := strings.Cut(t.Name(), "[")
	if name == "" {
		return fmt.Sprint(t)
	}
	return name
}
