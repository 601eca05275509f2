package kube_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/resource"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// site answers by path, with 404 for what it does not have and 503 for what starts with "503".
type site struct {
	aggregated string // version of the form: v2, v2beta1 or empty
	of         map[string]string
	mu         sync.Mutex
	asked      []string
}

func (p *site) RoundTrip(req *http.Request) (*http.Response, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = append(p.asked, req.URL.RequestURI())
	body, ok := p.of[req.URL.RequestURI()]
	resp := &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"application/json"}}, Request: req}
	wanted := "application/json;g=apidiscovery.k8s.io;v=" + p.aggregated + ";as=APIGroupDiscoveryList"
	switch {
	case !ok:
		resp.StatusCode, body = 404, "404 page not found"
	case strings.HasPrefix(body, "503"):
		resp.StatusCode = 503
	case p.aggregated != "" && strings.Contains(","+req.Header.Get("Accept")+",", ","+wanted+","):
		resp.Header.Set("Content-Type", wanted)
	}
	resp.Body = io.NopCloser(strings.NewReader(body))
	return resp, nil
}

func (p *site) client(t *testing.T) *kube.Client {
	t.Helper()
	client, err := kube.NewClient(&kube.Config{Server: "https://host", Transport: p, DisableRetry: true})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func resourceJSON(plural, kind, scope, rest string) string {
	return fmt.Sprintf(`{"resource":%q,"responseKind":{"group":"","version":"","kind":%q},"scope":%q,"singularResource":%q,"verbs":["get","list"]%s}`,
		plural, kind, scope, strings.ToLower(kind), rest)
}

func aggregated() map[string]string {
	return map[string]string{
		"/api": `{"kind":"APIGroupDiscoveryList","items":[{"metadata":{},"versions":[{"version":"v1","freshness":"Current","resources":[` +
			resourceJSON("pods", "Pod", "Namespaced", `,"shortNames":["po"],"categories":["all"],"subresources":[{"subresource":"exec"},{"subresource":"status"}]`) + `,` +
			resourceJSON("nodes", "Node", "Cluster", `,"shortNames":["no"]`) + `,` + resourceJSON("events", "Event", "Namespaced", `,"shortNames":["ev"]`) + `]}]}]}`,
		"/apis": `{"kind":"APIGroupDiscoveryList","items":[
			{"metadata":{"name":"apps"},"versions":[{"version":"v1","resources":[` + resourceJSON("deployments", "Deployment", "Namespaced", `,"shortNames":["deploy"],"categories":["all"]`) + `]}]},
			{"metadata":{"name":"events.k8s.io"},"versions":[{"version":"v1","resources":[` + resourceJSON("events", "Event", "Namespaced", "") + `]}]},
			{"metadata":{"name":"acme.com"},"versions":[
				{"version":"v2beta1","resources":[` + resourceJSON("apps", "App", "Namespaced", "") + `,` + resourceJSON("tools", "Tool", "Cluster", "") + `]},
				{"version":"v1","resources":[` + resourceJSON("apps", "App", "Namespaced", `,"shortNames":["pods"]`) + `,{"resource":"only-sub","scope":"Cluster"}]}]},
			{"metadata":{"name":"metrics.k8s.io"},"versions":[{"version":"v1beta1","freshness":"Stale"}]}]}`,
	}
}

func plain() map[string]string {
	return map[string]string{
		"/api":    `{"kind":"APIVersions","versions":["v1"]}`,
		"/api/v1": `{"kind":"APIResourceList","resources":[{"name":"pods","singularName":"pod","namespaced":true,"kind":"Pod","verbs":["get","list"],"shortNames":["po"],"categories":["all"]},{"name":"pods/exec","kind":"PodExecOptions","verbs":["get"]},{"name":"pods/status","kind":"Pod","verbs":["get"]},{"name":"nodes","singularName":"node","kind":"Node","verbs":["get","list"],"shortNames":["no"]},{"name":"events","singularName":"event","namespaced":true,"kind":"Event","verbs":["get","list"],"shortNames":["ev"]}]}`,
		"/apis": `{"kind":"APIGroupList","groups":[{"name":"apps","versions":[{"groupVersion":"apps/v1","version":"v1"}],"preferredVersion":{"version":"v1"}},
			{"name":"events.k8s.io","versions":[{"version":"v1"}],"preferredVersion":{"version":"v1"}},
			{"name":"acme.com","versions":[{"version":"v1"},{"version":"v2beta1"}],"preferredVersion":{"version":"v2beta1"}},
			{"name":"metrics.k8s.io","versions":[{"version":"v1beta1"}],"preferredVersion":{"version":"v1beta1"}}]}`,
		"/apis/apps/v1":                `{"kind":"APIResourceList","resources":[{"name":"deployments","singularName":"deployment","namespaced":true,"kind":"Deployment","verbs":["get","list"],"shortNames":["deploy"],"categories":["all"]}]}`,
		"/apis/events.k8s.io/v1":       `{"kind":"APIResourceList","resources":[{"name":"events","singularName":"event","namespaced":true,"kind":"Event","verbs":["get","list"]}]}`,
		"/apis/acme.com/v1":            `{"kind":"APIResourceList","resources":[{"name":"apps","singularName":"app","namespaced":true,"kind":"App","verbs":["get","list"],"shortNames":["pods"]}]}`,
		"/apis/acme.com/v2beta1":       `{"kind":"APIResourceList","resources":[{"name":"apps","singularName":"app","namespaced":true,"kind":"App","verbs":["get","list"]},{"name":"tools","singularName":"tool","kind":"Tool","verbs":["get","list"]}]}`,
		"/apis/metrics.k8s.io/v1beta1": "503 service unavailable",
	}
}

// The three forms that servers have say the same, and a version that is broken keeps its error to
// itself.
func TestDiscover(t *testing.T) {
	for _, test := range []struct {
		name     string
		site     *site
		requests int
		broken   string
	}{
		{"v2", &site{aggregated: "v2", of: aggregated()}, 2, "metrics.k8s.io/v1beta1: the server that serves this version does not answer"},
		{"v2beta1", &site{aggregated: "v2beta1", of: aggregated()}, 2, "metrics.k8s.io/v1beta1: the server that serves this version does not answer"},
		{"plain", &site{of: plain()}, 8, "metrics.k8s.io/v1beta1: get /apis/metrics.k8s.io/v1beta1: "},
	} {
		t.Run(test.name, func(t *testing.T) {
			d, err := test.site.client(t).Discover(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if len(test.site.asked) != test.requests {
				t.Errorf("requests %v, want %d", test.site.asked, test.requests)
			}
			if d.Err() == nil || !strings.HasPrefix(d.Err().Error(), test.broken) {
				t.Errorf("Err = %v, want %s", d.Err(), test.broken)
			}
			var kinds []string
			for k := range d.Kinds() {
				kinds = append(kinds, k.Descriptor().Info.String())
			}
			if diff := cmp.Diff([]string{"pods.v1", "nodes.v1", "events.v1", "deployments.v1.apps", "events.v1.events.k8s.io", "apps.v2beta1.acme.com", "tools.v2beta1.acme.com"}, kinds); diff != "" {
				t.Error(diff)
			}
			checkLookups(t, d)
			checkPods(t, d)
		})
	}
}

func checkPods(t *testing.T, d *kube.Discovery) {
	t.Helper()
	pods, err := d.Kind(schema.GroupVersionKind{Version: "v1", Kind: "Pod"})
	if err != nil {
		t.Fatal(err)
	}
	want := resource.Info{
		Version: "v1", Kind: "Pod", Plural: "pods", Singular: "pod", ShortNames: []string{"po"}, Categories: []string{"all"},
		Verbs: []string{"get", "list"}, Subresources: []string{"exec", "status"},
	}
	if diff := cmp.Diff(want, pods.Descriptor().Info); diff != "" {
		t.Error(diff)
	}
	nodes, err := d.Resource(schema.GroupVersionResource{Resource: "nodes"})
	if err != nil || nodes.Descriptor().Scope != resource.ClusterScoped || pods.Descriptor().Scope != resource.NamespaceScoped {
		t.Errorf("scopes, %v", err)
	}
	var stable []string
	for _, k := range d.Group("acme.com").KindsByStability() {
		stable = append(stable, k.Descriptor().Info.String())
	}
	if diff := cmp.Diff([]string{"apps.v1.acme.com", "tools.v2beta1.acme.com"}, stable); diff != "" {
		t.Error(diff)
	}
	all := d.Category("all")
	if len(all) != 2 || all[0].Descriptor().Plural != "pods" || all[1].Descriptor().Plural != "deployments" {
		t.Errorf("category all: %v", all)
	}
	if d.Group("none") != nil || len(d.Groups()) != 5 || d.Category("none") != nil {
		t.Error("there is something where nothing is")
	}
}

func checkLookups(t *testing.T, d *kube.Discovery) {
	t.Helper()
	for word, want := range map[string]string{
		"pods": "pods.v1", "Pod": "pods.v1", "PO": "pods.v1", "no": "nodes.v1", "ev": "events.v1", "event": "events.v1",
		"events.events.k8s.io": "events.v1.events.k8s.io", "deploy": "deployments.v1.apps", "deploy.apps": "deployments.v1.apps",
		"deployments.v1.apps": "deployments.v1.apps", "pods.v1": "pods.v1", "App": "apps.v2beta1.acme.com", "apps.v1.acme.com": "apps.v1.acme.com", "tool": "tools.v2beta1.acme.com",
	} {
		k, err := d.Lookup(word)
		if err != nil {
			t.Error(err)
		} else if got := k.Descriptor().Info.String(); got != want {
			t.Errorf("Lookup(%q) = %s, want %s", word, got, want)
		}
	}
	for _, word := range []string{"pod.apps", "pods.v2", "nothing", "", "deployments.v2.apps"} {
		_, err := d.Lookup(word)
		if !errors.Is(err, kube.ErrNotFound) || !strings.Contains(err.Error(), fmt.Sprintf("no resource %q", word)) || !strings.Contains(err.Error(), "metrics.k8s.io/v1beta1") {
			t.Errorf("Lookup(%q): %v", word, err)
		}
	}
	if _, err := d.Kind(schema.GroupVersionKind{Group: "acme.com", Version: "v1", Kind: "Tool"}); !errors.Is(err, kube.ErrNotFound) {
		t.Errorf("a version that does not have the kind: %v", err)
	}
}

func TestDiscoverErrors(t *testing.T) {
	for _, test := range []struct {
		name string
		site *site
		want string
	}{
		{"no groups", &site{of: map[string]string{"/api": `{"versions":[]}`}}, "get /apis: "},
		{"unavailable", &site{of: map[string]string{"/api": "503"}}, "get /api: "},
		{"garbage", &site{of: map[string]string{"/api": "<html>"}}, "decoding APIVersions"},
		{"aggregated garbage", &site{aggregated: "v2", of: map[string]string{"/api": "<html>"}}, "decoding APIGroupDiscoveryList"},
	} {
		if _, err := test.site.client(t).Discover(t.Context()); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error = %v", test.name, err)
		}
	}
	extension := &site{of: map[string]string{"/apis": `{"groups":[{"name":"a.b","versions":[{"version":"v1"}]}]}`,
		"/apis/a.b/v1": `{"resources":[{"name":"good","kind":"Good"},{"name":"../bad","kind":"a/b"}]}`}}
	d, err := extension.client(t).Discover(t.Context())
	if err != nil || len(d.Groups()) != 1 {
		t.Fatalf("without a core group: %v", err)
	}
	if _, err := d.Lookup("good"); err != nil || d.Err() != nil {
		t.Errorf("%v, %v", err, d.Err())
	}
	extension.of["/apis"] = `{"groups":[{"name":"a.b","versions":[{"version":"v1"}]},{"name":"none","versions":[]}]}`
	extension.of["/apis/a.b/v1"] = `{"resources":[{"name":"good","kind":"Good"},{"name":"ba d","kind":"Bad"}]}`
	d, err = extension.client(t).Discover(t.Context())
	if err != nil || d.Err() == nil || !strings.Contains(d.Err().Error(), `Plural "ba d" of a kind`) {
		t.Errorf("a name that cannot be one: %v, %v", err, d.Err())
	}
	if none := d.Group("none"); none == nil || len(none.Kinds()) != 0 {
		t.Errorf("a group without versions: %+v", none)
	}
}

func TestDiscoverKind(t *testing.T) {
	p := &site{of: plain()}
	k, err := p.client(t).DiscoverKind(t.Context(), schema.GroupVersionKind{Group: "acme.com", Version: "v2beta1", Kind: "Tool"})
	if err != nil || k.Descriptor().Info.String() != "tools.v2beta1.acme.com" || len(p.asked) != 1 {
		t.Errorf("%v, %v, %v", k, err, p.asked)
	}
	for _, want := range []schema.GroupVersionKind{{Version: "v1", Kind: "Poddy"}, {Group: "none", Version: "v1", Kind: "A"}} {
		if _, err := p.client(t).DiscoverKind(t.Context(), want); !errors.Is(err, kube.ErrNotFound) {
			t.Errorf("%v: %v", want, err)
		}
	}
	if _, err := p.client(t).DiscoverKind(t.Context(), schema.GroupVersionKind{Kind: "Pod"}); err == nil || !strings.Contains(err.Error(), "needs a Version") {
		t.Errorf("error = %v", err)
	}
}

func TestVersionAndOpenAPI(t *testing.T) {
	p := &site{of: map[string]string{
		"/version":                        `{"major":"1","minor":"37","gitVersion":"v1.37.2"}`,
		"/openapi/v3":                     `{"paths":{"api/v1":{"serverRelativeURL":"/openapi/v3/api/v1?hash=A"},"apis/apps/v1":{"serverRelativeURL":"/openapi/v3/apis/apps/v1?hash=B"}}}`,
		"/openapi/v3/api/v1?hash=A":       `{"core":1}`,
		"/openapi/v3/apis/apps/v1?hash=B": `{"apps":1}`,
	}}
	client := p.client(t)
	v, err := client.ServerVersion(t.Context())
	if err != nil || v.GitVersion != "v1.37.2" || v.Minor != "37" {
		t.Errorf("%v, %v", v, err)
	}
	for apiVersion, want := range map[string]string{"v1": `{"core":1}`, "apps/v1": `{"apps":1}`} {
		if got, err := client.OpenAPI(t.Context(), apiVersion); err != nil || string(got) != want {
			t.Errorf("%s: %s, %v", apiVersion, got, err)
		}
	}
	if _, err := client.OpenAPI(t.Context(), "batch/v1"); !errors.Is(err, kube.ErrNotFound) || !strings.Contains(err.Error(), `"batch/v1"`) {
		t.Errorf("error = %v", err)
	}
}
