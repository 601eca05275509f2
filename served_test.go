package kube_test

import (
	"testing"

	"github.com/go-kube/kube/k8s/core"
	"github.com/go-kube/kube/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestServed(t *testing.T) {
	const (
		groups  = `{"kind":"APIGroupList","groups":[{"name":"apps","versions":[{"version":"v1"}]},{"name":"example.com","versions":[{"version":"v1"},{"version":"v1beta1"}]}]}`
		without = `{"kind":"APIResourceList","resources":[{"name":"gadgets"},{"name":"widgets/status"}]}`
		with    = `{"kind":"APIResourceList","resources":[{"name":"gadgets"},{"name":"widgets"}]}`
	)
	widgets := resource.Dynamic(resource.Info{Group: "example.com", Version: "v1", Kind: "Widget"}, resource.NamespaceScoped)
	for name, test := range map[string]struct {
		of      map[string]string
		served  bool
		unknown bool
	}{
		"served":                      {of: map[string]string{"/apis": groups, "/apis/example.com/v1": with}, served: true},
		"served in another version":   {of: map[string]string{"/apis": groups, "/apis/example.com/v1": without, "/apis/example.com/v1beta1": with}, served: true},
		"no such kind in the group":   {of: map[string]string{"/apis": groups, "/apis/example.com/v1": without, "/apis/example.com/v1beta1": without}},
		"no such group":               {of: map[string]string{"/apis": `{"kind":"APIGroupList","groups":[{"name":"apps"}]}`}},
		"a version that is not there": {of: map[string]string{"/apis": groups, "/apis/example.com/v1": without}, unknown: true},
		"an API that is not well":     {of: map[string]string{"/apis": groups, "/apis/example.com/v1": "503"}, unknown: true},
		"404 for everything":          {of: map[string]string{}, unknown: true},
		"not Kubernetes":              {of: map[string]string{"/apis": `{}`}, unknown: true},
		"no JSON":                     {of: map[string]string{"/apis": `<html>`}, unknown: true},
		"something else at a version": {of: map[string]string{"/apis": groups, "/apis/example.com/v1": `{"kind":"Status"}`}, unknown: true},
	} {
		t.Run(name, func(t *testing.T) {
			p := &site{of: test.of}
			served, err := p.client(t).All(widgets).Endpoint().Served(t.Context())
			if served != test.served || (err != nil) != test.unknown {
				t.Errorf("Served = %t, %v; want %t, and an error: %t", served, err, test.served, test.unknown)
			}
		})
	}
	t.Run("core group", func(t *testing.T) {
		p := &site{of: map[string]string{"/api/v1": `{"kind":"APIResourceList","resources":[{"name":"pods"}]}`}}
		if served, err := p.client(t).All(core.Pods).Endpoint().Served(t.Context()); !served || err != nil {
			t.Errorf("Served = %t, %v", served, err)
		}
		unknown := resource.DefineNamespaced[unstructured.Unstructured](resource.Info{Version: "v1", Kind: "Thing"})
		if served, err := p.client(t).All(unknown).Endpoint().Served(t.Context()); served || err != nil {
			t.Errorf("Served = %t, %v", served, err)
		}
	})
}
