package kubetest_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-kube/kube/k8s/all"
	"github.com/go-kube/kube/kubetest"
)

func TestRuntimeConfig(t *testing.T) {
	for _, test := range []struct {
		config map[string]bool
		path   string
		code   int
	}{
		{nil, "/apis/resource.k8s.io/v1/deviceclasses", 200},
		{nil, "/apis/resource.k8s.io/v1beta1/deviceclasses", 404},
		{map[string]bool{"resource.k8s.io/v1beta1": true}, "/apis/resource.k8s.io/v1beta1/deviceclasses", 200},
		{map[string]bool{"resource.k8s.io/v1beta1": true}, "/apis/resource.k8s.io/v1beta2/deviceclasses", 404},
		{map[string]bool{"api/beta": true}, "/apis/resource.k8s.io/v1beta2/deviceclasses", 200},
		{map[string]bool{"api/beta": true, "resource.k8s.io/v1beta2": false}, "/apis/resource.k8s.io/v1beta2/deviceclasses", 404},
		{map[string]bool{"api/all": true, "api/alpha": false}, "/apis/internal.apiserver.k8s.io/v1alpha1/storageversions", 404},
		{map[string]bool{"api/all": true}, "/apis/internal.apiserver.k8s.io/v1alpha1/storageversions", 200},
		{map[string]bool{"batch/v1": false}, "/apis/batch/v1/jobs", 404},
	} {
		srv, err := kubetest.NewServer(&kubetest.Options{RuntimeConfig: test.config})
		if err != nil {
			t.Fatal(err)
		}
		rec := httptest.NewRecorder()
		srv.ServeHTTP(rec, httptest.NewRequest("GET", test.path, nil))
		if rec.Code != test.code {
			t.Errorf("%v: GET %s: %d, want %d", test.config, test.path, rec.Code, test.code)
		}
		srv.Close()
	}
}

func TestRuntimeConfigRefusals(t *testing.T) {
	for config, want := range map[string]string{
		"foo/v1": `Options.RuntimeConfig names "foo/v1", which is no version`,
		"v1":     "Options.RuntimeConfig turns v1 off",
	} {
		srv, err := kubetest.NewServer(&kubetest.Options{RuntimeConfig: map[string]bool{config: false}})
		if err == nil {
			srv.Close()
			t.Fatalf("%s: no error", config)
		}
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %q, want %q", config, err, want)
		}
	}
}

// TestEveryKind lists and creates nothing of every built-in kind of every version: each path is
// there, and answers an empty object with a refusal that says why.
func TestEveryKind(t *testing.T) {
	srv := kubetest.Start(t, &kubetest.Options{RuntimeConfig: map[string]bool{"api/all": true}})
	for _, k := range all.Kinds() {
		d := k.Descriptor
		base := "/apis/" + d.APIVersion() + "/"
		if d.Group == "" {
			base = "/api/" + d.Version + "/"
		}
		collection := base + d.Plural
		if d.Scope.String() == "Namespaced" {
			collection = base + "namespaces/default/" + d.Plural
		}
		for _, verb := range d.Verbs {
			method, path := "GET", collection
			switch verb {
			case "list":
			case "create":
				method = "POST"
			case "get":
				path += "/missing"
			default:
				continue
			}
			r := httptest.NewRequest(method, path, strings.NewReader(`{}`))
			rec := httptest.NewRecorder()
			srv.ServeHTTP(rec, r)
			if rec.Code == 405 || rec.Code >= 500 && d.Kind != "Binding" || strings.Contains(rec.Body.String(), "could not find the requested resource") {
				t.Errorf("%s %s: %d %s", method, path, rec.Code, rec.Body)
			}
		}
	}
}
