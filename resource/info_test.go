package resource_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/go-kube/kube/resource"
)

func TestInfoNames(t *testing.T) {
	core := resource.Info{Version: "v1", Kind: "Pod", Plural: "pods"}
	apps := resource.Info{Group: "apps", Version: "v1", Kind: "Deployment", Plural: "deployments"}
	for _, test := range []struct{ what, got, want string }{
		{"apiVersion, core", core.APIVersion(), "v1"},
		{"apiVersion, group", apps.APIVersion(), "apps/v1"},
		{"String, core", core.String(), "pods.v1"},
		{"String, group", apps.String(), "deployments.v1.apps"},
	} {
		if test.got != test.want {
			t.Errorf("%s: got %q, want %q", test.what, test.got, test.want)
		}
	}
	if got, want := apps.GroupVersionKind(), (schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
	if got, want := apps.GroupVersionResource(), (schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
	if got, want := apps.GroupResource(), (schema.GroupResource{Group: "apps", Resource: "deployments"}); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestInfoValidate(t *testing.T) {
	valid := resource.Info{Group: "example.com", Version: "v1", Kind: "WebApp", Plural: "webapps"}
	change := func(f func(*resource.Info)) resource.Info {
		i := valid
		f(&i)
		return i
	}
	for _, test := range []struct {
		info resource.Info
		want string // in the error; empty for none
	}{
		{valid, ""},
		{change(func(i *resource.Info) { i.Group, i.Plural = "", "" }), ""},
		{change(func(i *resource.Info) { i.Version = "" }), `a kind needs a Version: group "example.com", version "", kind "WebApp", plural "webapps"`},
		{change(func(i *resource.Info) { i.Kind = "" }), `a kind needs a Kind: group "example.com", version "v1", kind "", plural "webapps"`},
		{change(func(i *resource.Info) { i.Group = "a/b" }), `Group "a/b" of a kind: want letters, digits, '-' and '.'`},
		{change(func(i *resource.Info) { i.Group = ".." }), `Group ".." of a kind`},
		{change(func(i *resource.Info) { i.Version = "v1?x" }), `Version "v1?x" of a kind`},
		{change(func(i *resource.Info) { i.Kind = "Wéb" }), `Kind "Wéb" of a kind`},
		{change(func(i *resource.Info) { i.Plural = "web apps" }), `Plural "web apps" of a kind`},
		{change(func(i *resource.Info) { i.Plural = "-webapps" }), `with a letter or digit first and last`},
		{change(func(i *resource.Info) { i.Plural = "webapps/status" }), `Plural "webapps/status" of a kind`},
	} {
		err := test.info.Validate()
		switch {
		case test.want == "" && err != nil:
			t.Errorf("%+v: %v", test.info, err)
		case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
			t.Errorf("%+v: got error %v, want one with %s", test.info, err, test.want)
		}
	}
}

// Every built-in kind is checked in k8s/all.
func TestPluralize(t *testing.T) {
	for _, test := range []struct{ kind, want string }{
		{"", ""},
		{"WebApp", "webapps"},
		{"Ingress", "ingresses"},
		{"Index", "indexes"},
		{"Quiz", "quizes"},
		{"Batch", "batches"},
		{"Mesh", "meshes"},
		{"NetworkPolicy", "networkpolicies"},
		{"Gateway", "gateways"},
		{"Y", "ys"},
		{"Endpoints", "endpoints"},
		{"EndpointSlice", "endpointslices"},
		{"EndpointSlices", "endpointslices"},
		{"NodeMetrics", "nodes"},
		{"PodMetrics", "pods"},
	} {
		if got := resource.Pluralize(test.kind); got != test.want {
			t.Errorf("Pluralize(%q) = %q, want %q", test.kind, got, test.want)
		}
	}
}

func TestScopeString(t *testing.T) {
	if got := resource.NamespaceScoped.String() + " " + resource.ClusterScoped.String(); got != "Namespaced Cluster" {
		t.Errorf("got %q: CustomResourceDefinitions say Namespaced and Cluster", got)
	}
}
