package crd

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// referenceMarkers are the markers that controller-gen v0.23 knows, by what they are about.
var referenceMarkers = struct{ schema, kind, pkg, fields, others []string }{
	schema: []string{
		"kubebuilder:validation:Maximum", "kubebuilder:validation:Minimum", "kubebuilder:validation:ExclusiveMaximum", "kubebuilder:validation:ExclusiveMinimum",
		"kubebuilder:validation:MultipleOf", "kubebuilder:validation:MinProperties", "kubebuilder:validation:MaxProperties",
		"kubebuilder:validation:MaxLength", "kubebuilder:validation:MinLength", "kubebuilder:validation:Pattern",
		"kubebuilder:validation:MaxItems", "kubebuilder:validation:MinItems", "kubebuilder:validation:UniqueItems",
		"kubebuilder:validation:Enum", "kubebuilder:validation:Format", "kubebuilder:validation:Type",
		"kubebuilder:validation:XPreserveUnknownFields", "kubebuilder:validation:XEmbeddedResource", "kubebuilder:validation:XIntOrString", "kubebuilder:validation:XValidation",
		"kubebuilder:validation:ExactlyOneOf", "kubebuilder:validation:AtMostOneOf", "kubebuilder:validation:AtLeastOneOf",
		"nullable", "kubebuilder:default", "default", "kubebuilder:example", "kubebuilder:validation:EmbeddedResource",
		"k8s:immutable", "kubebuilder:pruning:PreserveUnknownFields", "kubebuilder:title", "kubebuilder:externalDocs",
		"listType", "listMapKey", "mapType", "structType", "k8s:listType", "k8s:listMapKey", "k8s:minimum", "k8s:maximum", "k8s:maxItems",
		"k8s:required",
	},
	kind: []string{
		"kubebuilder:resource", "kubebuilder:subresource:status", "kubebuilder:subresource:scale", "kubebuilder:printcolumn", "kubebuilder:storageversion",
		"kubebuilder:unservedversion", "kubebuilder:skipversion", "kubebuilder:deprecatedversion", "kubebuilder:metadata", "kubebuilder:selectablefield",
		"kubebuilder:externalDocs", "kubebuilder:object:root",
	},
	pkg: []string{"groupName", "versionName", "kubebuilder:skip", "kubebuilder:validation:Optional", "kubebuilder:validation:Required"},
	// Whether a field has to be there, and what it is made of, shows in whole types only.
	fields: []string{
		"kubebuilder:validation:Optional", "kubebuilder:validation:Required", "optional", "required", "k8s:optional", "k8s:required",
		"kubebuilder:validation:Schemaless", "k8s:enum",
	},
	others: []string{
		"kubebuilder:object:generate=true", "kubebuilder:object:root=true", "kubebuilder:ac:generate=true", "kubebuilder:ac:output:package=applyconfig",
		"k8s:deepcopy-gen=true", "k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object",
		"kubebuilder:rbac:groups=apps,resources=deployments,verbs=get;list,namespace=x,roleName=y", "kubebuilder:rbac:urls=/metrics,verbs=get",
		"kubebuilder:webhook:path=/mutate,mutating=true,failurePolicy=fail,groups=apps,resources=pods,verbs=create,versions=v1,name=m.example.com,sideEffects=None,admissionReviewVersions=v1",
		"kubebuilder:webhookconfiguration:mutating=true,name=x",
	},
}

// TestReferenceMarkers fails where a marker has no case in the tests, or is known here and not
// in the lists above.
func TestReferenceMarkers(t *testing.T) {
	tried := map[string]bool{}
	for _, c := range markerCases {
		u, ok, err := useOf(c.marker, c.about)
		if err != nil {
			t.Errorf("%s: %v", c.marker, err)
		}
		if ok {
			tried[u.word.marker] = true
		}
	}
	for _, name := range referenceMarkers.schema {
		if !tried[name] {
			t.Errorf("+%s has no case in markerCases", name)
		}
	}
	for _, k := range keywords {
		for _, name := range k.markers {
			if !slices.Contains(append(referenceMarkers.schema, referenceMarkers.fields...), name) {
				t.Errorf("+%s is not in the list of markers", name)
			}
		}
	}
	for _, k := range kindMarkers {
		if !slices.Contains(referenceMarkers.kind, k.name) {
			t.Errorf("+%s is not in the list of markers about kinds", k.name)
		}
	}
	for _, list := range []struct {
		markers []string
		files   []string
	}{
		{referenceMarkers.kind, []string{"markers_test.go", "markedkind_test.go"}},
		{referenceMarkers.pkg, []string{"markers_test.go", "markedkind_test.go", "presence_test.go"}},
		{referenceMarkers.fields, []string{"presence_test.go"}},
	} {
		text := ""
		for _, file := range list.files {
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			text += string(raw)
		}
		for _, name := range list.markers {
			if !hasMarker(text, name) {
				t.Errorf("+%s is in none of %v", name, list.files)
			}
		}
	}
}

// hasMarker finds a marker that is not only the beginning of another one.
func hasMarker(text, name string) bool {
	for rest := text; ; {
		_, after, ok := strings.Cut(rest, "// +"+name)
		if !ok {
			return false
		}
		if after == "" || strings.ContainsRune(":=\n\\", rune(after[0])) {
			return true
		}
		rest = after
	}
}

// TestMarkersOfOthers checks that markers for other tools change nothing, wherever they stand.
func TestMarkersOfOthers(t *testing.T) {
	for _, marker := range referenceMarkers.others {
		for _, about := range []subject{aboutField, aboutType} {
			if u, ok, err := useOf("+"+marker, about); ok || err != nil {
				t.Errorf("+%s became %+v, %v", marker, u, err)
			}
		}
		name, _, _ := splitMarker(marker)
		if slices.ContainsFunc(kindMarkers, func(k kindMarker) bool { return k.name == name }) {
			t.Errorf("+%s is read as a marker about the kind", marker)
		}
	}
}

// shapes are what the tests of kube-rs' derive check, and the tests of the same here. Names
// are those of functions, in this package or its modules, or of cases in them.
var shapes = []struct {
	what  string
	tests []string
}{
	{"name, short names, categories", []string{"TestFooNames", "TestFooGolden"}},
	{"what objects look like in JSON: skipped and null fields, labels and annotations", []string{"TestFooJSON"}},
	{"unserved, deprecated with a warning, columns, selectable fields, status and scale", []string{"TestFooGolden", "TestOptionsGolden"}},
	{"stored or not", []string{"TestMerge"}},
	{"required without default and pointer only; defaults", []string{"TestFooGolden", "TestGolden/optional"}},
	{"nullable, skipped or not", []string{"TestFooGolden", "TestGolden/optional"}},
	{"date-time", []string{"TestFooGolden", "TestGolden/wellknown"}},
	{"externally tagged enum: oneOf of required, documents of variants, an empty variant", []string{"TestFooGolden", "TestUnionSpec"}},
	{"untagged enum: anyOf of required, one branch empty", []string{"TestFooGolden", "TestJunctors"}},
	{"minItems; sets without uniqueItems; lists that are sets or maps; atomic maps", []string{"TestFooGolden", "TestGolden/nested"}},
	{"plain enums: order, optional, with a text of the type or of the field", []string{"TestFooGolden", "TestGolden/nested"}},
	{"rules of root, type and field", []string{"TestFooGolden", "TestOptionsGolden"}},
	{"title of the root", []string{"TestFooGolden"}},
	{"flattened maps keep unknown fields", []string{"TestFooGolden", "TestGolden/nested"}},
	{"IntOrString, required and optional", []string{"TestFooGolden", "TestGolden/optional"}},
	{"enum as the spec", []string{"TestUnionSpec"}},
	{"enums that no structural schema can say: mixed types, other types, other texts, inside of a struct", []string{"TestImpossibleUnions", "TestGivenSchemaErrors"}},
	{"validation here: a rule of a part, several failures, transition rules left out without an old object", []string{"cel.TestValidate", "cel.TestValidate/two rules"}},
	{"validation here: the root, updates with an immutable field", []string{"cel.TestValidate/root's rule", "cel.TestValidateUpdate/immutable", "cel.TestValidateUpdate/unchanged"}},
	{"schema by hand, and none", []string{"TestGivenSchema", "TestNoSchema"}},
	{"unknown words with a suggestion; all faults at once", []string{"TestWordErrors", "TestTagErrors", "TestTypeErrors"}},
	{"missing or wrong identity", []string{"TestKindErrors", "TestOptionErrors"}},
	{"partial types of built-in kinds", []string{"../resource.TestComparePartial", "../resource.TestPartialDescriptor", "../kubetest.TestPartialWrites"}},
	{"merging: none, no version, several versions, no stored one, other group, kind or scope", []string{
		"TestMerge", "TestMergeFails/none", "TestMergeFails/no version", "TestMergeFails/two in one", "TestMergeFails/stored",
		"TestMergeFails/group", "TestMergeFails/kind", "TestMergeFails/scope"}},
}

// TestShapes fails where a test that stands for a shape has gone.
func TestShapes(t *testing.T) {
	for _, s := range shapes {
		for _, name := range s.tests {
			dir, rest, ok := cutLast(name, ".")
			if !ok {
				dir, rest = ".", name
			}
			function, part, _ := strings.Cut(rest, "/")
			if !hasTest(t, dir, function, part) {
				t.Errorf("%s: there is no test %s", s.what, name)
			}
		}
	}
}

func cutLast(s, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// hasTest finds a test function, and in it the text that names a part of it.
func hasTest(t *testing.T, dir, function, part string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range parsed.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Name.Name == function {
				return part == "" || hasText(f, part)
			}
		}
	}
	return false
}

func hasText(f *ast.FuncDecl, text string) (found bool) {
	ast.Inspect(f, func(n ast.Node) bool {
		literal, ok := n.(*ast.BasicLit)
		found = found || ok && literal.Value == `"`+text+`"`
		return true
	})
	return found
}
