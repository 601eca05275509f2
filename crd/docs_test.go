package crd

import (
	"go/parser"
	"go/token"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

func TestDescription(t *testing.T) {
	for _, test := range []struct{ name, comment, want string }{
		{"line", "// A line.", "A line."},
		{"lines", "// A line.\n// And another.", "A line.\nAnd another."},
		{"paragraphs", "// One.\n//\n//\n// Two.\n//", "One.\n\nTwo."},
		{"markers", "// One.\n// +optional\n// +kubebuilder:validation:Enum=a;b\n// Two.", "One.\nTwo."},
		{"marker paragraph", "// One.\n//\n// +optional", "One."},
		{"todo", "// One.\n// TODO(me): later\n// Two.", "One.\nTwo."},
		{"dashes", "// One.\n// ---\n// Two.", "One."},
		{"code", "// One:\n// ```\n// --- a\n// +++ b\n// TODO\n// ```\n// +optional", "One:\n```\n--- a\n+++ b\nTODO\n```"},
		{"directive", "// One.\n//go:generate x", "One."},
		{"block", "/*\nOne.\nTwo.\n*/", "One.\nTwo."},
		{"indented", "// One:\n//   - a\n//   - b", "One:\n  - a\n  - b"},
		{"only markers", "// +optional", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			file, err := parser.ParseFile(token.NewFileSet(), "", "package x\n\n"+test.comment+"\ntype T struct{}\n", parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, description(file.Comments[0])); diff != "" {
				t.Errorf("description (-want +got):\n%s", diff)
			}
		})
	}
}

// Pod is called as one of Kubernetes' types is.
type Pod struct {
	*Nested[int, string]
	time.Month
	Name, Nick string
	_          int
}

// Nested is generic.
type Nested[A, B any] struct{ First, Second int }

// Month is a plain type, known by its package.
type Month string

// A type is found in the right one of several packages of one name.
func TestFindDeclaration(t *testing.T) {
	source := fstest.MapFS{
		"a/types.go": {Data: []byte("package crd\n\n// From a.\ntype Pod struct { Name string }\n\n// From a.\ntype Month string")},
		"b/types.go": {Data: []byte(`package crd

type (
	// From b.
	Pod struct {
		// Embedded pointer.
		*Nested[int, string]
		// Embedded.
		time.Month
		// Two names.
		Name, Nick string
		_ int
	}
	// Month from b.
	Month string
)

// Alias of b.
type Alias = Pod
`)},
		"b/more.go":      {Data: []byte("package crd\n\n// Nested from b.\ntype Nested[A, B any] struct{ First, Second int }\n\nfunc f() { type Pod struct{} }")},
		"b/more_test.go": {Data: []byte("package crd_test\n\n// From the test.\ntype Pod struct{}")},
		"README.md":      {Data: []byte("no Go")},
	}
	d, err := readDocs(source, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := d.ofType(reflect.TypeFor[Month]()); got != "" {
		t.Errorf("a type that is not a struct was found before its package was known: %q", got)
	}
	pod := reflect.TypeFor[Pod]()
	got := []string{d.ofType(pod)}
	for f := range pod.Fields() {
		got = append(got, d.ofField(field{owner: pod, declared: f}))
	}
	got = append(got, d.ofType(reflect.TypeFor[Month]()), d.ofType(reflect.TypeFor[Nested[string, bool]]()), d.named("Alias", pod), d.named("None", pod), d.ofType(reflect.TypeFor[int]()))
	want := []string{"From b.", "Embedded pointer.", "Embedded.", "Two names.", "Two names.", "", "Month from b.", "Nested from b.", "Alias of b.", "", ""}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("descriptions (-want +got):\n%s", diff)
	}
}

func TestSwaggerDoc(t *testing.T) {
	got := SwaggerDoc(reflect.TypeFor[metav1.LabelSelectorRequirement]())["key"]
	if !strings.HasPrefix(got, "key is the label key") {
		t.Errorf("got %q", got)
	}
	if got := SwaggerDoc(reflect.TypeFor[runtime.TypeMeta]()); got != nil {
		t.Errorf("a type without descriptions has %v", got)
	}
}
