package crd_test

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/fstest"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/go-kube/kube/crd"
	kube "github.com/go-kube/kube/resource"
)

func TestKindErrors(t *testing.T) {
	type Spec struct {
		A string `json:"a"`
	}
	type Object = kube.Object[Spec, struct{}]
	info := func(change func(*kube.Info)) kube.Namespaced[Object] {
		i := kube.Info{Group: "example.com", Version: "v1", Kind: "Thing"}
		change(&i)
		return kube.DefineNamespaced[Object](i)
	}
	for _, test := range []struct {
		name   string
		change func(*kube.Info)
		want   []string
	}{
		{"core", func(i *kube.Info) { i.Group = "" }, []string{`Info.Group: "": the group of a custom resource is a domain name with a dot, such as example.com`}},
		{"no dot", func(i *kube.Info) { i.Group = "apps" }, []string{`Info.Group: "apps": the group of a custom resource is a domain name with a dot, such as example.com`}},
		{"protected", func(i *kube.Info) { i.Group = "x.k8s.io" }, []string{`Info.Group: "x.k8s.io" belongs to the Kubernetes community: use a group of your own, or set the annotation api-approved.kubernetes.io to the address of its review`}},
		{"names", func(i *kube.Info) {
			i.Group, i.Version, i.Kind, i.Plural, i.Singular = "Example.com", "V1", "Thing.x", "Things", "Thing"
			i.ShortNames, i.Categories = []string{"t_"}, []string{""}
		}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := lines(crd.For(info(test.change), nil))
			if test.want == nil {
				var fields []string
				for _, line := range got {
					field, _, _ := strings.Cut(line, ":")
					fields = append(fields, field)
				}
				got, test.want = fields, []string{"Info.Categories", "Info.Group", "Info.Kind", "Info.Plural", "Info.ShortNames", "Info.Singular", "Info.Version"}
			}
			same(t, got, test.want...)
		})
	}
	t.Run("metadata", func(t *testing.T) {
		same(t, lines(crd.For(info(func(*kube.Info) {}).Metadata(), nil)), `Thing: this is the metadata variant of the kind; use the descriptor that it was made from`)
	})
	t.Run("dynamic", func(t *testing.T) {
		var dynamic kube.Kind[unstructured.Unstructured] = kube.Dynamic(kube.Info{Group: "example.com", Version: "v1", Kind: "Thing"}, kube.ClusterScoped)
		same(t, lines(crd.For(dynamic, nil)), `Thing: its Go type is unstructured.Unstructured, and a schema needs a struct with fields: resource.Object, or your own with metav1.TypeMeta and metav1.ObjectMeta embedded`)
	})
	t.Run("approved", func(t *testing.T) {
		kind := info(func(i *kube.Info) { i.Group = "x.k8s.io" })
		if _, err := crd.For(kind, &crd.Options{Annotations: map[string]string{"api-approved.kubernetes.io": "https://example.com/1"}}); err != nil {
			t.Error(err)
		}
	})
}

func TestOptionErrors(t *testing.T) {
	type Spec struct {
		Replicas int32           `json:"replicas"`
		Text     string          `json:"text"`
		Free     json.RawMessage `json:"free"`
	}
	kind := define[kube.Object[Spec, Spec]]("Thing")
	column := func(path, is string) crd.Column { return crd.Column{Name: "C", JSONPath: path, Type: is} }
	same(t, lines(crd.For(kind, &crd.Options{
		Columns: []crd.Column{
			column("", "string"),
			column("spec.text", "string"),
			column(".spec.txet", "string"),
			column(".spec.text", "integer"),
			column(".spec.replicas", "boolean"),
			column(".spec.text", "bool"),
			column(".spec.replicas.x", "string"),
			{Name: "F", JSONPath: ".spec.text", Type: "string", Format: "dateTime"},
			{Name: "P", JSONPath: ".spec.text", Type: "string", Priority: -1},
			{JSONPath: ".spec.text", Type: "string"},
			column(".spec.replicas", "number"),
			column(".spec.text", "date"),
			column(".spec.free", "integer"),
			column(".spec.free.x", "integer"),
			column(`.metadata.annotations['x']`, "string"),
			column(`.spec.text[0]`, "string"),
			column(`.spec`, "string"),
		},
		Scale: &crd.Scale{SpecReplicasPath: ".status.replicas", StatusReplicasPath: ".status.text", LabelSelectorPath: ".spec.replicas"},
	})),
		`Options.Columns[0] (C): the path "" has to begin with a dot, as in .status.ready`,
		`Options.Columns[1] (C): the path "spec.text" has to begin with a dot, as in .status.ready`,
		`Options.Columns[2] (C): the path .spec.txet leads nowhere: .spec has no field "txet"; did you mean "text"?`,
		`Options.Columns[3] (C): .spec.text is of type string, which a column of type integer cannot show`,
		`Options.Columns[4] (C): .spec.replicas is of type integer, which a column of type boolean cannot show`,
		`Options.Columns[5] (C): the type of a column is one of integer, number, string, boolean, date, and not "bool"; did you mean "boolean"?`,
		`Options.Columns[6] (C): the path .spec.replicas.x leads nowhere: .spec.replicas is of type integer, which has no field "x"`,
		`Options.Columns[7] (F): the format of a column is one of int32, int64, float, double, byte, date, date-time, password, and not "dateTime"; did you mean "date-time"?`,
		`Options.Columns[8] (P): priority -1 is negative; 0 always shows the column, more shows it in wide output`,
		`Options.Columns[9] (): a column needs a name`,
		`Options.Scale.LabelSelectorPath: .spec.replicas is of type integer, and has to be of type string`,
		`Options.Scale.SpecReplicasPath: ".status.replicas" is not a path below .spec.`,
		`Options.Scale.StatusReplicasPath: .status.text is of type string, and has to be of type integer`,
	)
	same(t, lines(crd.For(kind, &crd.Options{Scale: &crd.Scale{StatusReplicasPath: ".status.free[0]"}})),
		`Options.Scale.SpecReplicasPath: "" is not a path below .spec.`,
		`Options.Scale.StatusReplicasPath: ".status.free[0]": a path with brackets cannot be written to; it has the form .status.name`,
	)
	specOnly := define[kube.Object[Spec, struct{}]]("Thing")
	same(t, lines(crd.For(specOnly, &crd.Options{Scale: &crd.Scale{SpecReplicasPath: ".spec.replicas", StatusReplicasPath: ".status.replicas"}})),
		`Options.Scale.StatusReplicasPath: the path .status.replicas leads nowhere: the object has no field "status"`,
	)
}

func TestSourceErrors(t *testing.T) {
	for _, test := range []struct{ name, file, text, want string }{
		{"no file", "types.txt", "", `Options.Source: there is no Go file in it`},
		{"broken", "types.go", "package x\ntype {", `Options.Source: types.go:2:6: expected 'IDENT', found '{'`},
		{"other type", "types.go", "package crd_test\ntype Other struct{}", `Options.Source: it does not declare crd_test.Port with its present fields; embed the file that does`},
		{"other fields", "types.go", "package crd_test\ntype Port struct{ Name string }", `Options.Source: it does not declare crd_test.Port with its present fields; embed the file that does`},
		{"other package", "types.go", "package api\ntype Port struct{ Name string; Number int32 }", `Options.Source: it does not declare crd_test.Port with its present fields; embed the file that does`},
		{"right", "a/types.go", "package crd_test\ntype Port struct{ Name string; Number int32 }", `no error`},
	} {
		t.Run(test.name, func(t *testing.T) {
			source := fstest.MapFS{test.file: {Data: []byte(test.text)}}
			same(t, lines(crd.For(define[kube.Object[Port, struct{}]]("Thing"), &crd.Options{Source: source})), test.want)
		})
	}
}

func TestPartialKind(t *testing.T) {
	type part struct {
		metav1.ObjectMeta `json:"metadata,omitempty"`
	}
	whole := kube.DefineNamespaced[kube.Object[ColorSpec, struct{}]](kube.Info{Group: "example.com", Version: "v1", Kind: "Color"})
	_, err := crd.For(kube.Partial[part](whole), nil)
	want := "Color: its Go type crd_test.part has a part of the fields only (resource.Partial); use the descriptor that it was made from"
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}
