package kubetest

import (
	"encoding/json/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// corpus is the folder with custom resource definitions of real projects, beside that of this
// project: <project>/<plural>.<group>.yaml, and objects in <project>/examples.
const corpus = "../../../shared/crds"

const jsonType = "application/json"

// TestCorpus installs every definition of the corpus on both servers, creates every example,
// and tries many changes of each that may not be allowed.
func TestCorpus(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes minutes")
	}
	definitions := readCorpus[*apiextensionsv1.CustomResourceDefinition](t, "*/*.yaml")
	examples := readCorpus[*unstructured.Unstructured](t, "*/examples/*.yaml")
	for i := range definitions {
		withoutWebhook(t, &definitions[i])
	}
	p := newPair(t)
	for _, f := range definitions {
		t.Run("install/"+f.name, func(t *testing.T) { p.install(t, f) })
	}
	for _, f := range definitions {
		t.Run("established/"+f.name, func(t *testing.T) { p.established(t, f) })
	}
	kinds := map[string]*apiextensionsv1.CustomResourceDefinition{}
	for _, f := range definitions {
		kinds[f.object.Spec.Group+"/"+f.object.Spec.Names.Kind] = f.object
	}
	for _, f := range examples {
		gvk := f.object.GroupVersionKind()
		crd := kinds[gvk.Group+"/"+gvk.Kind]
		if crd == nil {
			t.Fatalf("%s: no definition of %v", f.name, gvk)
		}
		prepare(f.object, crd)
		t.Run("create/"+f.name, func(t *testing.T) { p.create(t, f, crd) })
		t.Run("change/"+f.name, func(t *testing.T) { p.change(t, f, crd) })
	}
}

// file is a file of the corpus.
type file[T any] struct {
	name   string
	json   string
	object T
}

// readCorpus reads the files that match a pattern.
func readCorpus[T any](t *testing.T, pattern string) []file[T] {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(corpus, filepath.FromSlash(pattern)))
	if err != nil {
		t.Fatal(err)
	}
	if len(paths) == 0 {
		folder, _ := filepath.Abs(corpus)
		t.Skipf("there are no custom resource definitions in %s", folder)
	}
	var files []file[T]
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		data, err := yaml.YAMLToJSON(text)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		f := file[T]{name: filepath.Base(filepath.Dir(path)) + "/" + filepath.Base(path), json: string(data)}
		if strings.Contains(pattern, "examples") {
			f.name = filepath.Base(filepath.Dir(filepath.Dir(path))) + "/" + filepath.Base(path)
		}
		if err := yaml.Unmarshal(text, &f.object); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		files = append(files, f)
	}
	return files
}

const definitionsPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

func (p *pair) install(t *testing.T, f file[*apiextensionsv1.CustomResourceDefinition]) {
	a := p.compare(t, call{http.MethodPost, definitionsPath, jsonType, f.json})
	if a.Code != http.StatusCreated {
		t.Errorf("the real server does not accept it: %v", a.Body["message"])
	}
}

// established waits for the real server, and compares what has become of the definition.
func (p *pair) established(t *testing.T, f file[*apiextensionsv1.CustomResourceDefinition]) {
	get := call{method: http.MethodGet, path: definitionsPath + "/" + f.object.Name}
	p.until(t, get, func(a answer) bool {
		data, err := json.Marshal(a.Body)
		return err == nil && strings.Contains(string(data), "InitialNamesAccepted")
	})
	// The controllers of the real server are called by its file name in managedFields.
	real, memory := p.askReal(t, get), p.askMemory(t, get)
	realStatus, _ := real.Body["status"].(map[string]any)
	memoryStatus, _ := memory.Body["status"].(map[string]any)
	if diff := cmp.Diff(realStatus, memoryStatus); diff != "" {
		t.Errorf("status (-real +kubetest):\n%s", diff)
	}
}

// withoutWebhook has a definition converted by the strategy None: there is no webhook to call.
func withoutWebhook(t *testing.T, f *file[*apiextensionsv1.CustomResourceDefinition]) {
	t.Helper()
	if c := f.object.Spec.Conversion; c == nil || c.Strategy != apiextensionsv1.WebhookConverter {
		return
	}
	f.object.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.NoneConverter}
	data, err := json.Marshal(f.object)
	if err != nil {
		t.Fatal(err)
	}
	f.json = string(data)
}

// prepare makes an example one that can be created: some have been exported from a cluster.
func prepare(object *unstructured.Unstructured, crd *apiextensionsv1.CustomResourceDefinition) {
	object.SetNamespace("")
	if crd.Spec.Scope == apiextensionsv1.NamespaceScoped {
		object.SetNamespace("default")
	}
	if object.GetName() == "" {
		object.SetName("example")
	}
	object.SetResourceVersion("")
	object.SetOwnerReferences(nil) // only kubetest collects garbage here
}

// collection returns the path of objects like object.
func collection(object *unstructured.Unstructured, crd *apiextensionsv1.CustomResourceDefinition) string {
	path := "/apis/" + object.GetAPIVersion() + "/"
	if ns := object.GetNamespace(); ns != "" {
		path += "namespaces/" + ns + "/"
	}
	return path + crd.Spec.Names.Plural
}

func (p *pair) create(t *testing.T, f file[*unstructured.Unstructured], crd *apiextensionsv1.CustomResourceDefinition) {
	a := p.compare(t, call{http.MethodPost, collection(f.object, crd) + "?fieldValidation=Strict", jsonType, marshal(t, f.object)})
	if a.Code != http.StatusCreated && a.Code != http.StatusConflict {
		t.Errorf("the real server does not accept it: %v", a.Body)
	}
}

// change tries changes of an example, as a new object and as an update of the example.
func (p *pair) change(t *testing.T, f file[*unstructured.Unstructured], crd *apiextensionsv1.CustomResourceDefinition) {
	refused := 0
	for _, m := range mutations(f.object.Object, 12) {
		t.Run(m.name, func(t *testing.T) {
			object := f.object.DeepCopy()
			path := collection(object, crd)
			object.SetName("changed-" + strings.ToLower(crd.Spec.Names.Singular))
			m.apply(object.Object)
			body := marshal(t, object)
			for _, query := range []string{"?dryRun=All", "?dryRun=All&fieldValidation=Strict"} {
				if a := p.compare(t, call{http.MethodPost, path + query, jsonType, body}); a.Code >= 400 {
					refused++
				}
			}
			name := f.object.GetName()
			object = &unstructured.Unstructured{Object: map[string]any{}}
			for part, value := range f.object.DeepCopy().Object {
				if part != "metadata" && part != "apiVersion" && part != "kind" {
					object.Object[part] = value
				}
			}
			m.apply(object.Object)
			p.compare(t, call{http.MethodPatch, path + "/" + name + "?dryRun=All", "application/merge-patch+json", marshal(t, object)})
			object.SetAPIVersion(f.object.GetAPIVersion())
			object.SetKind(f.object.GetKind())
			p.compare(t, call{http.MethodPatch, path + "/" + name + "?dryRun=All&force=true&fieldManager=compare", "application/apply-patch+yaml", marshal(t, object)})
		})
	}
	if refused == 0 && len(f.object.Object) > 3 {
		t.Logf("nothing was refused")
	}
}

func marshal(t *testing.T, object *unstructured.Unstructured) string {
	t.Helper()
	data, err := json.Marshal(object.Object, json.Deterministic(true))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
