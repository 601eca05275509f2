// Package k8s_test compares the descriptors of the built-in kinds with what a real API server
// and kubetest serve.
package k8s_test

import (
	"encoding/json/v2"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/go-kube/kube/k8s/all"
	"github.com/go-kube/kube/resource"
	"github.com/go-kube/kube/test/servers"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

func TestMain(m *testing.M) { servers.Main(m) }

func TestDescriptors(t *testing.T) {
	s := servers.Start(t, true) // with alpha and beta versions
	t.Run("Discovery", func(t *testing.T) {
		if diff := cmp.Diff(discovered(t, s), described()); diff != "" {
			t.Errorf("descriptors (-server +ours):\n%s", diff)
		}
	})
	t.Run("PreferredVersions", func(t *testing.T) { checkPreferred(t, s) })
	t.Run("Protobuf", func(t *testing.T) { checkProtobuf(t, s) })
}

// discovered returns every served resource by groupVersion/plural, subresources included.
func discovered(t *testing.T, s servers.Server) map[string]metav1.APIResource {
	t.Helper()
	out := map[string]metav1.APIResource{}
	for _, groupVersion := range append([]string{"v1"}, groupVersions(t, s)...) {
		var list metav1.APIResourceList
		get(t, s, root(groupVersion), &list)
		for _, r := range list.APIResources {
			r.StorageVersionHash = ""
			out[groupVersion+"/"+r.Name] = r
		}
	}
	return out
}

func groupVersions(t *testing.T, s servers.Server) (out []string) {
	t.Helper()
	var groups metav1.APIGroupList
	get(t, s, "/apis", &groups)
	for _, g := range groups.Groups {
		for _, v := range g.Versions {
			out = append(out, v.GroupVersion)
		}
	}
	return out
}

func root(groupVersion string) string {
	if strings.Contains(groupVersion, "/") {
		return "/apis/" + groupVersion
	}
	return "/api/" + groupVersion
}

// described returns the same from the descriptors.
func described() map[string]metav1.APIResource {
	out := map[string]metav1.APIResource{}
	for _, k := range all.Kinds() {
		d := k.Descriptor
		key := d.APIVersion() + "/" + d.Plural
		out[key] = metav1.APIResource{
			Name: d.Plural, SingularName: d.Singular, Namespaced: d.Scope == resource.NamespaceScoped, Kind: d.Kind,
			Verbs: d.Verbs, ShortNames: d.ShortNames, Categories: d.Categories,
		}
		for _, name := range d.Subresources {
			// status or scale, unless it is described below
			r := metav1.APIResource{
				Name: d.Plural + "/" + name, Namespaced: d.Scope == resource.NamespaceScoped, Kind: d.Kind,
				Verbs: metav1.Verbs{"get", "patch", "update"},
			}
			if name == "scale" {
				r.Group, r.Version, r.Kind = "autoscaling", "v1", "Scale"
			}
			out[key+"/"+name] = r
		}
		for _, sub := range k.Subresources {
			out[key+"/"+sub.Descriptor.Name] = describedSubresource(d, sub.Descriptor)
		}
	}
	return out
}

func describedSubresource(d *resource.Descriptor, sub *resource.SubresourceDescriptor) metav1.APIResource {
	r := metav1.APIResource{
		Name: d.Plural + "/" + sub.Name, Namespaced: d.Scope == resource.NamespaceScoped,
		Kind: sub.Body.Kind, Verbs: sub.Body.Verbs,
	}
	if sub.Body.APIVersion() != d.APIVersion() {
		r.Group, r.Version = sub.Body.Group, sub.Body.Version
	}
	if sub.Name == "log" { // discovery has no kind for its options
		r.Kind = d.Kind
	}
	return r
}

// checkPreferred looks whether the first version of a group in the list is the one that the
// server prefers.
func checkPreferred(t *testing.T, s servers.Server) {
	var groups metav1.APIGroupList
	get(t, s, "/apis", &groups)
	want := map[string]string{"": "v1"}
	for _, g := range groups.Groups {
		want[g.Name] = g.PreferredVersion.Version
	}
	got := map[string]string{}
	for _, k := range all.Kinds() {
		if _, ok := got[k.Descriptor.Group]; !ok {
			got[k.Descriptor.Group] = k.Descriptor.Version
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("preferred versions (-server +ours):\n%s", diff)
	}
}

// checkProtobuf asks for a list of every kind that can be listed in the two encodings.
func checkProtobuf(t *testing.T, s servers.Server) {
	const protobuf = "application/vnd.kubernetes.protobuf"
	for _, k := range all.Kinds() {
		d := k.Descriptor
		if !d.Protobuf || !strings.Contains(fmt.Sprint(d.Verbs), "list") {
			continue
		}
		resp, body := request(t, s, root(d.APIVersion())+"/"+d.Plural, protobuf)
		var unknown runtime.Unknown
		switch {
		case resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != protobuf:
			t.Errorf("%s: %s, %s", d, resp.Status, resp.Header.Get("Content-Type"))
		case !strings.HasPrefix(string(body), "k8s\x00"):
			t.Errorf("%s: no envelope: %.20q", d, body)
		case unknown.Unmarshal(body[4:]) != nil || unknown.Kind != d.Kind+"List" || unknown.APIVersion != d.APIVersion():
			t.Errorf("%s: a list of %s %s", d, unknown.APIVersion, unknown.Kind)
		}
	}
}

func get(t *testing.T, s servers.Server, path string, into any) {
	t.Helper()
	resp, body := request(t, s, path, "application/json")
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("GET %s: %s", path, resp.Status)
	}
	if err := json.Unmarshal(body, into); err != nil {
		t.Fatalf("GET %s: %v", path, err)
	}
}

func request(t *testing.T, s servers.Server, path, accept string) (*http.Response, []byte) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL()+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", accept)
	resp, err := s.HTTPClient().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, body
}
