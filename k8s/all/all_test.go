package all_test

import (
	"encoding/json/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/go-kube/kube/k8s/all"
	"github.com/go-kube/kube/resource"
)

// served is one resource or subresource as discovery reports it, in a form that can be
// compared.
type served struct {
	Kind         schema.GroupVersionKind
	Namespaced   bool
	Singular     string
	ShortNames   []string
	Categories   []string
	Verbs        []string
	Subresources []string
}

func TestKindsAreThoseOfDiscovery(t *testing.T) {
	want := map[string]served{}
	addCore(t, want)
	addGroups(t, want)

	if diff := cmp.Diff(want, descriptors()); diff != "" {
		t.Errorf("descriptors (-discovery +ours):\n%s", diff)
	}
}

// addCore reads the document of the core group, which the aggregated one leaves out.
func addCore(t *testing.T, into map[string]served) {
	var list metav1.APIResourceList
	read(t, "api__v1.json", &list)
	for _, r := range list.APIResources {
		key := schema.GroupVersionResource{Version: "v1", Resource: r.Name}.String()
		if parent, sub, ok := strings.Cut(r.Name, "/"); ok {
			parentKey := schema.GroupVersionResource{Version: "v1", Resource: parent}.String()
			p := into[parentKey]
			p.Subresources = append(p.Subresources, sub)
			into[parentKey] = p
			into[key] = served{Kind: kindOf("", "v1", schema.GroupVersionKind{Group: r.Group, Version: r.Version, Kind: r.Kind}), Verbs: r.Verbs}
			continue
		}
		into[key] = served{
			Kind:       schema.GroupVersionKind{Version: "v1", Kind: r.Kind},
			Namespaced: r.Namespaced, Singular: r.SingularName, ShortNames: r.ShortNames,
			Categories: r.Categories, Verbs: r.Verbs,
		}
	}
}

func addGroups(t *testing.T, into map[string]served) {
	var groups apidiscoveryv2.APIGroupDiscoveryList
	read(t, "aggregated_v2.json", &groups)
	for _, g := range groups.Items {
		for _, v := range g.Versions {
			for _, r := range v.Resources {
				addResource(into, g.Name, v.Version, r)
			}
		}
	}
}

func addResource(into map[string]served, group, version string, r apidiscoveryv2.APIResourceDiscovery) {
	out := served{
		Kind:       kindOf(group, version, schema.GroupVersionKind(*r.ResponseKind)),
		Namespaced: r.Scope == apidiscoveryv2.ScopeNamespace, Singular: r.SingularResource,
		ShortNames: r.ShortNames, Categories: r.Categories, Verbs: r.Verbs,
	}
	for _, s := range r.Subresources {
		out.Subresources = append(out.Subresources, s.Subresource)
		into[group+"/"+version+", Resource="+r.Resource+"/"+s.Subresource] = served{
			Kind: kindOf(group, version, schema.GroupVersionKind(*s.ResponseKind)), Verbs: s.Verbs,
		}
	}
	into[group+"/"+version+", Resource="+r.Resource] = out
}

// kindOf completes a kind of a document: an empty group and version are the document's own.
func kindOf(group, version string, k schema.GroupVersionKind) schema.GroupVersionKind {
	if k.Group == "" && k.Version == "" {
		k.Group, k.Version = group, version
	}
	return k
}

// descriptors returns the same from our descriptors.
func descriptors() map[string]served {
	out := map[string]served{}
	for _, k := range all.Kinds() {
		d := k.Descriptor
		key := d.GroupVersionResource().String()
		out[key] = served{
			Kind: d.GroupVersionKind(), Namespaced: d.Scope == resource.NamespaceScoped, Singular: d.Singular,
			ShortNames: d.ShortNames, Categories: d.Categories, Verbs: d.Verbs, Subresources: d.Subresources,
		}
		for _, s := range k.Subresources {
			out[key+"/"+s.Descriptor.Name] = servedSubresource(d, s)
		}
		for _, name := range d.Subresources {
			if name == "status" { // API.Status covers it
				out[key+"/status"] = served{Kind: d.GroupVersionKind(), Verbs: []string{"get", "patch", "update"}}
			}
		}
	}
	return out
}

func servedSubresource(d *resource.Descriptor, s all.Subresource) served {
	kind := s.Descriptor.Body.GroupVersionKind()
	if s.Descriptor.Name == "log" { // the one whose options discovery does not name
		kind = d.GroupVersionKind()
	}
	return served{Kind: kind, Verbs: s.Descriptor.Body.Verbs}
}

func read(t *testing.T, name string, into any) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

func TestEveryKindHasItsGoType(t *testing.T) {
	for _, k := range all.Kinds() {
		obj := k.New()
		obj.SetName("a")
		if obj.GetName() != "a" {
			t.Errorf("%s: the name does not stay", k.Descriptor)
		}
		checkType(t, k.Descriptor.Info, reflect.TypeOf(obj))
		checkProtobuf(t, k.Descriptor.Info, obj)
		for _, s := range k.Subresources {
			body := s.New()
			checkType(t, s.Descriptor.Body, reflect.TypeOf(body))
			if !s.Connection {
				checkProtobuf(t, s.Descriptor.Body, body)
			} else if s.Descriptor.Body.Protobuf {
				t.Errorf("%s/%s is a connection: it has no body that could be protobuf", k.Descriptor, s.Descriptor.Name)
			}
		}
	}
}

// checkType looks whether a Go type is that of the kind: by name, and by the version that
// its package is named after.
func checkType(t *testing.T, info resource.Info, typ reflect.Type) {
	t.Helper()
	if info.Kind == "APIService" {
		return // kube's own
	}
	if typ.Elem().Name() != info.Kind || !strings.HasSuffix(typ.Elem().PkgPath(), "/"+info.Version) {
		t.Errorf("%s %s: Go type %s of %s", info.APIVersion(), info.Kind, typ, typ.Elem().PkgPath())
	}
}

func checkProtobuf(t *testing.T, info resource.Info, obj any) {
	t.Helper()
	_, ok := obj.(interface{ Unmarshal([]byte) error })
	if info.Protobuf != ok {
		t.Errorf("%s %s: Protobuf is %t, but an Unmarshal method is there: %t", info.APIVersion(), info.Kind, info.Protobuf, ok)
	}
}

func TestPluralsAreGuessed(t *testing.T) {
	for _, k := range all.Kinds() {
		if got := resource.Pluralize(k.Descriptor.Kind); got != k.Descriptor.Plural {
			t.Errorf("Pluralize(%q) = %q, served as %q", k.Descriptor.Kind, got, k.Descriptor.Plural)
		}
	}
}
