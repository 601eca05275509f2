// Package crd_test has a real API server judge the definitions that package crd derives.
package crd_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/yaml"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/crd"
	"github.com/go-kube/kube/k8s/apiextensions"
	"github.com/go-kube/kube/resource"
	"github.com/go-kube/kube/test/apiserver"
	"github.com/go-kube/kube/test/servers"
)

func TestMain(m *testing.M) { servers.Main(m) }

// connect returns a client of the shared server that fails the test at every warning.
func connect(t *testing.T) *kube.Client {
	t.Helper()
	return apiserver.NewClient(t, servers.Shared(t), apiserver.NoWarnings(t))
}

// install installs definitions, and deletes them when the test ends.
func install(t *testing.T, client *kube.Client, defs ...*apiextensionsv1.CustomResourceDefinition) {
	t.Helper()
	t.Cleanup(func() {
		for _, def := range defs {
			remove(t, client, def.Name)
		}
	})
	if err := crd.Install(t.Context(), client, "test", defs...); err != nil {
		t.Fatal(err)
	}
}

func remove(t *testing.T, client *kube.Client, name string) {
	err := client.All(apiextensions.CustomResourceDefinitions).Delete(context.Background(), name, nil)
	if err != nil {
		t.Errorf("deleting %s: %v", name, err)
	}
}

// The golden files of package crd are accepted without a warning, come back as they were
// sent, and do not change when they are applied again.
func TestGoldenFiles(t *testing.T) {
	files, err := filepath.Glob("../../crd/testdata/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no golden files: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			def := new(apiextensionsv1.CustomResourceDefinition)
			if err := yaml.UnmarshalStrict(text, def); err != nil {
				t.Fatal(err)
			}
			client := connect(t)
			install(t, client, def)
			api := client.All(apiextensions.CustomResourceDefinitions)
			first, err := api.Get(t.Context(), def.Name)
			if err != nil {
				t.Fatal(err)
			}
			kept := first.DeepCopy()
			if def.Spec.Conversion == nil {
				kept.Spec.Conversion = nil // the server's default
			}
			back, err := crd.YAML(kept)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(text), string(back)); diff != "" {
				t.Errorf("the server keeps something else (-sent +kept):\n%s", diff)
			}
			if err := crd.Install(t.Context(), client, "test", def); err != nil {
				t.Fatal(err)
			}
			second, err := api.Get(t.Context(), def.Name)
			if err != nil {
				t.Fatal(err)
			}
			if first.ResourceVersion != second.ResourceVersion {
				t.Errorf("applying it again made version %s of version %s", second.ResourceVersion, first.ResourceVersion)
			}
		})
	}
}

// ValuesSpec has fields whose rules the server has to understand as they are meant.
type ValuesSpec struct {
	Small    int8               `json:"small,omitempty"`
	Natural  uint32             `json:"natural,omitempty"`
	Port     intstr.IntOrString `json:"port,omitempty" schema:"default=80"`
	Null     *string            `json:"null" schema:"nullable"`
	Pointer  *string            `json:"pointer" schema:"enum=a"`
	Text     string             `json:"text,omitempty" schema:"pattern='^[a-z,]+$',maxLength=3"`
	Choice   string             `json:"choice,omitempty" schema:"enum=a|b"`
	Template struct {
		Metadata metav1.ObjectMeta `json:"metadata,omitempty"`
	} `json:"template,omitempty"`
	Any  any            `json:"any,omitempty"`
	Free map[string]any `json:"free,omitempty"`
	Open struct {
		Known string `json:"known,omitempty"`
	} `json:"open,omitempty" schema:"preserveUnknownFields"`
	Set   []string    `json:"set,omitempty" schema:"listType=set"`
	Ratio float32     `json:"ratio,omitempty" schema:"minimum=0,exclusiveMinimum"`
	Bytes []byte      `json:"bytes,omitempty"`
	Time  metav1.Time `json:"time,omitzero"`
	Fixed [2]string   `json:"fixed,omitempty"`
}

type values = resource.Object[ValuesSpec, struct{}]

var valuesKind = resource.DefineCluster[values](resource.Info{
	Group: "values.example.com", Version: "v1", Kind: "Value", ShortNames: []string{"vl"},
})

func derive[K any](t *testing.T, kind resource.Kind[K]) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	def, err := crd.For(kind, nil)
	if err != nil {
		t.Fatal(err)
	}
	return def
}

func TestValues(t *testing.T) {
	client := connect(t)
	install(t, client, derive(t, valuesKind))
	api := client.All(resource.Dynamic(valuesKind.Descriptor().Info, resource.ClusterScoped))
	for _, test := range []struct {
		spec string // as YAML
		want string // the spec kept, as YAML, or a part of the refusal
	}{
		{"{}", "{port: 80}"},
		{"small: 127", "{small: 127, port: 80}"},
		{"small: 128", "less than or equal to 127"},
		{"small: -129", "greater than or equal to -128"},
		{"natural: 4294967295", "{natural: 4294967295, port: 80}"},
		{"natural: 4294967296", "less than or equal to 4294967295"},
		{"natural: -1", "greater than or equal to 0"},
		{"port: http", "{port: http}"},
		{"port: 1.5", "must be of type integer,string"},
		{"{text: null, choice: null, pointer: null}", "{port: 80}"}, // null is absent
		{"'null': null", "{'null': null, port: 80}"},
		{"port: null", "{port: 80}"},
		{"text: 'a,b'", "{text: 'a,b', port: 80}"},
		{"text: A", "should match"},
		{"text: abcd", "may not be more than 3"},
		{"choice: c", `supported values: "a", "b"`},
		{"template: {metadata: {labels: {a: b}, annotations: {c: d}, name: e}}", "{template: {metadata: {labels: {a: b}, annotations: {c: d}, name: e}}, port: 80}"},
		{"any: [1, {a: null}]", "{any: [1, {a: null}], port: 80}"},
		{"free: {a: {b: [1]}}", "{free: {a: {b: [1]}}, port: 80}"},
		{"open: {known: a, unknown: b}", "{open: {known: a, unknown: b}, port: 80}"},
		{"set: [a, a]", "Duplicate value"},
		{"ratio: 0", "greater than 0"},
		{"ratio: 1e39", "Invalid value"},
		{"bytes: '%'", "bytes"},
		{"time: yesterday", "time"},
		{"fixed: [a]", "at least 2"},
	} {
		t.Run(test.spec, func(t *testing.T) {
			obj := &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": "values.example.com/v1", "kind": "Value", "metadata": map[string]any{"generateName": "v-"},
			}}
			obj.Object["spec"] = parse(t, test.spec)
			created, err := api.Create(t.Context(), obj, &kube.CreateOptions{FieldValidation: kube.FieldValidationStrict})
			if err != nil {
				if !strings.Contains(err.Error(), test.want) {
					t.Errorf("refused: %v\nwant %s", err, test.want)
				}
				return
			}
			if diff := cmp.Diff(parse(t, test.want), created.Object["spec"]); diff != "" {
				t.Errorf("kept (-want +got):\n%s", diff)
			}
		})
	}
}

func parse(t *testing.T, text string) any {
	t.Helper()
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var u unstructured.Unstructured
	if err := u.UnmarshalJSON([]byte(`{"apiVersion":"v1","kind":"Value","spec":` + string(data) + `}`)); err != nil {
		t.Fatal(err)
	}
	return u.Object["spec"]
}

// NullSpec has what package crd refuses to derive: an enum with null.
func TestNullBesideEnum(t *testing.T) {
	client := connect(t)
	def := derive(t, resource.DefineCluster[values](resource.Info{Group: "null.example.com", Version: "v1", Kind: "Null"}))
	spec := def.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
	choice := spec.Properties["choice"]
	choice.Nullable = true
	choice.Enum = append(choice.Enum, apiextensionsv1.JSON{Raw: []byte("null")})
	spec.Properties["choice"] = choice
	install(t, client, def)
	api := client.All(resource.Dynamic(resource.Info{Group: "null.example.com", Version: "v1", Kind: "Null"}, resource.ClusterScoped))
	obj := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "null.example.com/v1", "kind": "Null",
		"metadata": map[string]any{"name": "a"},
		"spec":     map[string]any{"choice": nil},
	}}
	if _, err := api.Create(t.Context(), obj, nil); err == nil {
		t.Error("the server takes null for an enum with null: crd need not refuse it")
	}
}

// A definition whose names are taken is an error that says which.
func TestNameConflict(t *testing.T) {
	client := connect(t)
	info := resource.Info{Group: "conflict.example.com", Version: "v1", Kind: "Original", ShortNames: []string{"og"}}
	install(t, client, derive(t, resource.DefineCluster[values](info)))
	rival := derive(t, resource.DefineCluster[values](resource.Info{
		Group: "conflict.example.com", Version: "v1", Kind: "Original", Plural: "rivals", Singular: "rival", ShortNames: []string{"og", "rv"},
	}))
	t.Cleanup(func() { remove(t, client, rival.Name) })
	err := crd.Install(t.Context(), client, "test", rival)
	for _, want := range []string{"installing rivals.conflict.example.com", `kind "Original"`, `short name "og"`, "already in use"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, which does not say %q", err, want)
		}
	}
	// The rival gets names of its own: the old verdict does not count.
	rival.Spec.Names.Kind, rival.Spec.Names.ListKind, rival.Spec.Names.ShortNames = "Rival", "RivalList", []string{"rv"}
	if err := crd.Install(t.Context(), client, "test", rival); err != nil {
		t.Errorf("with names of its own: %v", err)
	}
}

// A definition that is being deleted comes back.
func TestInstallOverDeletion(t *testing.T) {
	client := connect(t)
	kind := resource.DefineCluster[values](resource.Info{Group: "deletion.example.com", Version: "v1", Kind: "Phoenix"})
	def := derive(t, kind)
	install(t, client, def)
	objects := client.All(kind)
	phoenix := resource.New(kind, "one", ValuesSpec{})
	phoenix.Finalizers = []string{"example.com/wait"}
	if _, err := objects.Create(t.Context(), phoenix, nil); err != nil {
		t.Fatal(err)
	}
	api := client.All(apiextensions.CustomResourceDefinitions)
	before, err := api.Get(t.Context(), def.Name)
	if err != nil {
		t.Fatal(err)
	}
	remove(t, client, def.Name)

	installed := make(chan error)
	go func() { installed <- crd.Install(t.Context(), client, "again", def) }()
	awaitApply(t, api, def.Name, "again")
	if _, err := objects.Patch(t.Context(), "one", kube.MergePatch(map[string]any{"metadata": map[string]any{"finalizers": nil}}), nil); err != nil {
		t.Fatal(err)
	}
	if err := <-installed; err != nil {
		t.Fatal(err)
	}
	after, err := api.Get(t.Context(), def.Name)
	if err != nil || after.UID == before.UID {
		t.Errorf("the definition was not made anew: %v", err)
	}
}

// awaitApply waits until manager has applied the definition.
func awaitApply(t *testing.T, api kube.API[apiextensionsv1.CustomResourceDefinition], name, manager string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for _, err := range api.Watch(ctx, &kube.WatchOptions{Fields: "metadata.name=" + name}) {
		if err != nil {
			t.Fatal(err)
		}
		state, err := api.Get(ctx, name) // a watch leaves managedFields out
		if err != nil {
			t.Fatal(err)
		}
		for _, entry := range state.ManagedFields {
			if entry.Manager == manager {
				return
			}
		}
	}
	t.Fatal("the watch ended before the apply")
}
