package requests_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/k8s/apiregistration"
	"github.com/go-kube/kube/resource"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// plainly takes the aggregated form of discovery out of what is asked for, as a server older than
// Kubernetes 1.26 does.
func plainly(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(req *http.Request) (*http.Response, error) {
		req = req.Clone(req.Context())
		if strings.Contains(req.Header.Get("Accept"), "APIGroupDiscoveryList") {
			req.Header.Set("Accept", "application/json")
		}
		return next.RoundTrip(req)
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// discover asks in the aggregated form and in the plain one.
func (w world) discover(t *testing.T) map[string]*kube.Discovery {
	t.Helper()
	cfg := w.user(t, "boss", "system:masters")
	plain := cfg.Clone()
	plain.Wrap = append(plain.Wrap, plainly)
	return map[string]*kube.Discovery{
		"aggregated": must[*kube.Discovery](t)(newClient(t, cfg).Discover(t.Context())),
		"plain":      must[*kube.Discovery](t)(newClient(t, plain).Discover(t.Context())),
	}
}

// served is what a discovery says of each version of each group.
func served(d *kube.Discovery) map[string][]resource.Info {
	all := map[string][]resource.Info{}
	for _, g := range d.Groups() {
		for _, v := range g.Versions {
			for _, k := range v.Kinds {
				info := k.Descriptor().Info
				info.Subresources = slices.Sorted(slices.Values(info.Subresources))
				all[g.Name+"/"+v.Name] = append(all[g.Name+"/"+v.Name], info)
			}
		}
	}
	return all
}

// TestDiscoveryForms: both forms say the same.
func TestDiscoveryForms(t *testing.T) {
	d := connect(t).discover(t)
	for form, d := range d {
		if d.Err() != nil {
			t.Errorf("%s: %v", form, d.Err())
		}
	}
	byPlural := cmpopts.SortSlices(func(a, b resource.Info) bool { return a.Plural < b.Plural })
	if diff := cmp.Diff(served(d["aggregated"]), served(d["plain"]), byPlural); diff != "" {
		t.Errorf("(-aggregated +plain):\n%s", diff)
	}
	preferred := func(d *kube.Discovery) map[string]string {
		first := map[string]string{}
		for _, g := range d.Groups() {
			first[g.Name] = g.Versions[0].Name
		}
		return first
	}
	if diff := cmp.Diff(preferred(d["aggregated"]), preferred(d["plain"])); diff != "" {
		t.Errorf("preferred versions (-aggregated +plain):\n%s", diff)
	}
	if n := len(served(d["plain"])); n < 20 {
		t.Errorf("%d versions of groups are served", n)
	}
}

// TestDiscoveryWithABrokenGroup: an aggregated server that does not answer hides nothing but itself.
func TestDiscoveryWithABrokenGroup(t *testing.T) {
	w := connect(t)
	services := w.admin(t).All(apiregistration.APIServices)
	const name = "v1.broken.example.com"
	broken := resource.New(apiregistration.APIServices, name, apiregistration.APIServiceSpec{
		Group: "broken.example.com", Version: "v1", InsecureSkipTLSVerify: true, GroupPriorityMinimum: 1000, VersionPriority: 1,
		Service: &apiregistration.ServiceReference{Namespace: "default", Name: "nowhere"},
	})
	must[*apiregistration.APIService](t)(services.Create(t.Context(), broken, nil))
	t.Cleanup(func() {
		if err := services.Delete(context.WithoutCancel(t.Context()), name, nil); err != nil {
			t.Error(err)
		}
	})
	eventually(t, "the server to find out that nobody answers", func() bool {
		got := must[*apiregistration.APIService](t)(services.Get(t.Context(), name))
		return got.Status != nil && slices.ContainsFunc(got.Status.Conditions, func(c apiregistration.APIServiceCondition) bool {
			return c.Type == "Available" && c.Status == metav1.ConditionFalse
		})
	})
	eventually(t, "both forms to have the group", func() bool {
		for _, d := range w.discover(t) {
			if d.Group("broken.example.com") == nil {
				return false
			}
		}
		return true
	})
	for form, d := range w.discover(t) {
		if err := d.Err(); err == nil || !strings.HasPrefix(err.Error(), "broken.example.com/v1: ") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: the error is %v, want that of the group alone", form, err)
		}
		for _, word := range []string{"pods", "deploy", "crd", "apiservices"} {
			if _, err := d.Lookup(word); err != nil {
				t.Errorf("%s: %v", form, err)
			}
		}
		if _, err := d.Lookup("gizmos"); err == nil || !strings.Contains(err.Error(), "broken.example.com/v1") {
			t.Errorf("%s: what may be in the broken group: %v", form, err)
		}
	}
}
