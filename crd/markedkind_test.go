package crd_test

import (
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/go-kube/kube/crd"
	"github.com/go-kube/kube/resource"
)

// kindsModule is a module with kinds; text stands in a package of it.
func kindsModule(text string) fs.FS {
	return fstest.MapFS{
		"go.mod": {Data: []byte("module example.com/m\n")},
		"api/v1/types.go": {Data: []byte(`// Package v1 is an API.
// +groupName=example.com
package v1

import (
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/m/api/v2"
)

` + text)},
		"api/v2/types.go": {Data: []byte("package v2\n\nimport \"k8s.io/apimachinery/pkg/apis/meta/v1\"\n\ntype Object struct {\n\tv1.TypeMeta\n\tv1.ObjectMeta\n}\n")},
	}
}

const embedded = "struct { meta.TypeMeta; meta.ObjectMeta }\n"

func TestMarkedKinds(t *testing.T) {
	info := func(kind string) resource.Info { return resource.Info{Group: "example.com", Version: "v1", Kind: kind} }
	for name, test := range map[string]struct {
		text string
		want []crd.MarkedKind
	}{
		"plain": {"type A " + embedded + "type B " + embedded, []crd.MarkedKind{{Type: "A", Info: info("A")}, {Type: "B", Info: info("B")}}},
		"named": {"// +kubebuilder:resource:path=aes,singular=ah,shortName=a;b,categories={all,mine},scope=Cluster\n// +kubebuilder:storageversion\ntype A " + embedded,
			[]crd.MarkedKind{{Type: "A", Scope: resource.ClusterScoped, Stored: true, Info: resource.Info{Group: "example.com", Version: "v1", Kind: "A",
				Plural: "aes", Singular: "ah", ShortNames: []string{"a", "b"}, Categories: []string{"all", "mine"}}}}},
		"skipped version": {"// +kubebuilder:skipversion\ntype A " + embedded, []crd.MarkedKind{{Type: "A", Info: info("A"), Skipped: true}}},
		"version named":   {"// +versionName=v7\n\ntype A " + embedded, []crd.MarkedKind{{Type: "A", Info: resource.Info{Group: "example.com", Version: "v7", Kind: "A"}}}},
		"from another":    {"type A v2.Object\ntype B A\n", []crd.MarkedKind{{Type: "A", Info: info("A")}, {Type: "B", Info: info("B")}}},
		"no kinds": {`type alias = v2.Object
type Alias = v2.Object
type List struct { meta.TypeMeta; meta.ListMeta }
type Named struct { TypeMeta meta.TypeMeta; ObjectMeta meta.ObjectMeta }
type Other struct { v2.TypeMeta; v2.ObjectMeta }
type Pointer *v2.Object
type Absent v2.Absent
type Loop Loop
type lower ` + embedded, nil},
		"skipped package": {"// +kubebuilder:skip\n\ntype A " + embedded, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := crd.MarkedKinds("example.com/m/api/v1", kindsModule(test.text))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
	if got, err := crd.MarkedKinds("example.com/m/api/v2", kindsModule("")); err != nil || got != nil {
		t.Errorf("got %v, %v of a package without a group", got, err)
	}
}

func TestMarkedKindsFails(t *testing.T) {
	for text, want := range map[string]string{
		"// +kubebuilder:resource:scope=Everywhere\ntype A " + embedded: `scope is Namespaced or Cluster, and not "Everywhere"`,
		"// +kubebuilder:resource:plural=as\ntype A " + embedded:        `example.com/m/api/v1.A: +kubebuilder:resource:plural=as: has no argument "plural"`,
		"// +kubebuilder:resource:path=a/b\ntype A " + embedded:         `Plural "a/b"`,
		"type A struct {": "expected",
	} {
		if _, err := crd.MarkedKinds("example.com/m/api/v1", kindsModule(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
	if _, err := crd.MarkedKinds("example.com/other", kindsModule("")); err == nil || !strings.Contains(err.Error(), "add the root of its module") {
		t.Errorf("got %v", err)
	}
	if _, err := crd.MarkedKinds("example.com/m", nil); err == nil || !strings.Contains(err.Error(), "source 0 is nil") {
		t.Errorf("got %v", err)
	}
}

// FuzzMarkedSource reads Go source with comments in any place: what does not parse is an error,
// and the kinds that are found can be described.
func FuzzMarkedSource(f *testing.F) {
	for _, seed := range []string{
		"type A " + embedded, "// +kubebuilder:resource:path=aes,shortName=a;b,scope=Cluster\ntype A " + embedded,
		"// +versionName=v7\n\n/* +x */ type (\n\t// +kubebuilder:storageversion\n\tA " + embedded + "\n\tB A // +y\n)", "type A = B\ntype B A\n",
		"const (\n\tX Y = \"a\" // +z\n)\n// +groupName=\n", "func f() { /* +a */ }\n// +kubebuilder:skip", "type G[T any] struct { meta.TypeMeta; meta.ObjectMeta; X T }",
		"type A struct {\n\t// +a\n\n\t// +b\n\tmeta.TypeMeta `json:\",inline\"` // +c\n\t*meta.ObjectMeta\n}",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		kinds, err := crd.MarkedKinds("example.com/m/api/v1", kindsModule(text))
		if err != nil {
			return
		}
		for _, k := range kinds {
			if err := k.Info.Validate(); err != nil || k.Type == "" {
				t.Errorf("%+v: %v", k, err)
			}
		}
	})
}
