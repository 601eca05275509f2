package kubetest

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// versioned is a definition with two versions.
const versioned = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"PLURAL.conversion.example"},
"spec":{"group":"conversion.example","scope":"Namespaced","names":{"plural":"PLURAL","singular":"SINGULAR","kind":"KIND","listKind":"KINDList"},
"versions":[
{"name":"v1","served":SERVED,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}},
{"name":"v2","served":true,"storage":false,"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}],
"conversion":CONVERSION}}`

const hook = `{"strategy":"Webhook","webhook":{"conversionReviewVersions":["v1"],"clientConfig":{"service":{"name":"hook","namespace":"default","path":"/convert"}}}}`

// TestConversion compares what happens with versions that a webhook converts that is not there,
// and with a version of storage that is not served.
func TestConversion(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts a real API server")
	}
	p := newPair(t)
	p.define(t, "hooked", "true", hook)
	p.define(t, "hidden", "false", `{"strategy":"None"}`)
	const root = "/apis/conversion.example/"
	object := func(kind, version string) string {
		return `{"apiVersion":"conversion.example/` + version + `","kind":"` + kind + `","metadata":{"name":"a"},"spec":{"x":1}}`
	}
	for _, c := range []call{
		{method: http.MethodGet, path: root + "v2/namespaces/default/hookeds"},
		{method: http.MethodGet, path: root + "v2/namespaces/default/hookeds/a"},
		{http.MethodPost, root + "v2/namespaces/default/hookeds", jsonType, object("Hooked", "v2")},
		{http.MethodPost, root + "v1/namespaces/default/hookeds", jsonType, object("Hooked", "v1")},
		{method: http.MethodGet, path: root + "v1/namespaces/default/hookeds/a"},
		{method: http.MethodGet, path: root + "v2/namespaces/default/hookeds/a"},
		{method: http.MethodGet, path: root + "v2/namespaces/default/hookeds"},
		{http.MethodPost, root + "v2/namespaces/default/hiddens", jsonType, object("Hidden", "v2")},
		{method: http.MethodGet, path: root + "v2/namespaces/default/hiddens/a"},
		{method: http.MethodGet, path: root + "v2/namespaces/default/hiddens"},
		{method: http.MethodGet, path: root + "v1/namespaces/default/hiddens/a"},
		{http.MethodPatch, root + "v2/namespaces/default/hiddens/a", "application/merge-patch+json", `{"spec":{"y":2}}`},
	} {
		p.compareExactly(t, c.String(), c)
	}
}

// define installs a definition, and waits until the real server serves it.
func (p *pair) define(t *testing.T, singular, served, conversion string) {
	t.Helper()
	kind := strings.ToUpper(singular[:1]) + singular[1:]
	body := strings.NewReplacer("PLURAL", singular+"s", "SINGULAR", singular, "KIND", kind, "SERVED", served, "CONVERSION", conversion).Replace(versioned)
	c := call{http.MethodPost, definitionsPath, jsonType, body}
	real, memory := p.askReal(t, c), p.askMemory(t, c)
	memory.Warnings = slices.DeleteFunc(memory.Warnings, func(w string) bool { return strings.Contains(w, "kubetest calls no conversion webhooks") })
	if len(memory.Warnings) == 0 {
		memory.Warnings = nil
	}
	if diff := cmp.Diff(real.Code, memory.Code); diff != "" || real.Code != http.StatusCreated {
		t.Fatalf("%d, %d: %v", real.Code, memory.Code, memory.Body)
	}
	p.until(t, call{method: http.MethodGet, path: "/apis/conversion.example/v2/namespaces/default/" + singular + "s"}, func(a answer) bool {
		return a.Code == http.StatusOK
	})
}
