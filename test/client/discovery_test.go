package client_test

import (
	"encoding/json/v2"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/resource"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestDiscover(t *testing.T) {
	client, _ := connect(t)
	d := must[*kube.Discovery](t)(client.Discover(t.Context()))
	if err := d.Err(); err != nil {
		t.Errorf("not all could be read: %v", err)
	}
	for word, want := range map[string]string{
		"po": "pods.v1", "Pod": "pods.v1", "pods.v1": "pods.v1", "deploy": "deployments.v1.apps", "deployments.apps": "deployments.v1.apps",
		"crd": "customresourcedefinitions.v1.apiextensions.k8s.io", "events": "events.v1", "events.events.k8s.io": "events.v1.events.k8s.io",
	} {
		kind, err := d.Lookup(word)
		if err != nil {
			t.Error(err)
		} else if got := kind.Descriptor().Info.String(); got != want {
			t.Errorf("Lookup(%q) is %s, want %s", word, got, want)
		}
	}
	if _, err := d.Lookup("gizmos"); !errors.Is(err, kube.ErrNotFound) {
		t.Errorf("Lookup of nothing: %v", err)
	}
	var all []string
	for _, kind := range d.Category("all") {
		all = append(all, kind.Descriptor().Plural)
	}
	for _, plural := range []string{"pods", "services", "deployments", "jobs"} {
		if !slices.Contains(all, plural) {
			t.Errorf("the category all has %q, and not %s", all, plural)
		}
	}
	pod := must[resource.DynamicKind](t)(d.Kind(schema.GroupVersionKind{Version: "v1", Kind: "Pod"})).Descriptor()
	if pod.Scope != resource.NamespaceScoped || !slices.Contains(pod.Verbs, "deletecollection") || !slices.Contains(pod.Subresources, "eviction") {
		t.Errorf("pods are %+v", pod)
	}
	if _, err := client.DiscoverKind(t.Context(), schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Gizmo"}); !errors.Is(err, kube.ErrNotFound) {
		t.Errorf("a kind that is not there: %v", err)
	}
}

func TestVersionAndOpenAPI(t *testing.T) {
	client, _ := connect(t)
	version, err := client.ServerVersion(t.Context())
	if err != nil || version.Major != "1" || !strings.HasPrefix(version.GitVersion, "v1.") {
		t.Errorf("%+v, %v", version, err)
	}
	text, err := client.OpenAPI(t.Context(), "apps/v1")
	if err != nil {
		t.Fatal(err)
	}
	var document struct {
		OpenAPI string         `json:"openapi"`
		Paths   map[string]any `json:"paths"`
	}
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	if path := "/apis/apps/v1/namespaces/{namespace}/deployments/{name}"; !strings.HasPrefix(document.OpenAPI, "3.") || document.Paths[path] == nil {
		t.Errorf("the document is of OpenAPI %s, and has %d paths, %s among them: %t", document.OpenAPI, len(document.Paths), path, document.Paths[path] != nil)
	}
	if _, err := client.OpenAPI(t.Context(), "gizmos.example.com/v1"); !errors.Is(err, kube.ErrNotFound) {
		t.Errorf("a group that is not there: %v", err)
	}
}
