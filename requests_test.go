package kube_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/k8s/apps"
	"github.com/go-kube/kube/k8s/batch"
	"github.com/go-kube/kube/k8s/core"
	"github.com/go-kube/kube/k8s/networking"
	"github.com/go-kube/kube/k8s/rbac"
	"github.com/go-kube/kube/k8s/storage"
	"github.com/go-kube/kube/resource"
	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// recorder answers every request alike and keeps the last one.
type recorder struct {
	request *http.Request
	body    []byte

	code   int // 200 unless set
	header http.Header
	answer string // {} unless set
}

func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	r.request, r.body = req, nil
	if req.Body != nil {
		r.body, _ = io.ReadAll(req.Body)
		req.Body.Close()
	}
	answer, code := r.answer, r.code
	if answer == "" {
		answer = "{}"
	}
	if code == 0 {
		code = 200
	}
	header := http.Header{"Content-Type": {"application/json"}}
	for k, v := range r.header {
		header[k] = v
	}
	return &http.Response{StatusCode: code, Header: header, Body: io.NopCloser(bytes.NewReader([]byte(answer))), ContentLength: int64(len(answer)), Request: req}, nil
}

func recording(t *testing.T, server string) (*recorder, *kube.Client) {
	t.Helper()
	r := &recorder{}
	client, err := kube.NewClient(&kube.Config{Server: server, Transport: r, DisableRetry: true})
	if err != nil {
		t.Fatal(err)
	}
	return r, client
}

var hacks = resource.DefineNamespaced[hack](resource.Info{Group: "kube.rs", Version: "v1", Kind: "Hack"})

type hack = resource.Object[struct {
	Num int `json:"num"`
}, struct{}]

const (
	acceptProtobuf = "application/vnd.kubernetes.protobuf,application/json"
	acceptJSON     = "application/json"
)

// TestRequests says for each call what goes to the server.
func TestRequests(t *testing.T) {
	ctx := t.Context()
	name := metav1.ObjectMeta{Name: "n"}
	zero := time.Duration(0)
	for _, test := range []struct {
		name   string
		call   func(c *kube.Client) error
		want   string // METHOD path?query, the query in any order
		accept string // not checked when empty
		body   string // not checked when empty
		media  string // of the body
	}{
		{"get", func(c *kube.Client) error { return drop(c.Namespaced(core.Pods, "ns").Get(ctx, "p")) },
			"GET /api/v1/namespaces/ns/pods/p", acceptProtobuf, "", ""},
		{"get of a group", func(c *kube.Client) error { return drop(c.Namespaced(hacks, "ns").Get(ctx, "p")) },
			"GET /apis/kube.rs/v1/namespaces/ns/hacks/p", acceptJSON, "", ""},
		{"get of a cluster-scoped kind", func(c *kube.Client) error { return drop(c.All(storage.VolumeAttachments).Get(ctx, "va")) },
			"GET /apis/storage.k8s.io/v1/volumeattachments/va", acceptProtobuf, "", ""},
		{"get any version", func(c *kube.Client) error {
			return drop(c.Namespaced(core.Pods, "ns").GetWith(ctx, "p", &kube.GetOptions{ResourceVersion: "0"}))
		}, "GET /api/v1/namespaces/ns/pods/p?resourceVersion=0", "", "", ""},
		{"get metadata", func(c *kube.Client) error { return drop(c.Namespaced(core.Pods.Metadata(), "ns").Get(ctx, "p")) },
			"GET /api/v1/namespaces/ns/pods/p",
			"application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json", "", ""},
		{"a name that is escaped", func(c *kube.Client) error { return drop(c.All(rbac.ClusterRoles).Get(ctx, "system:node?x y#z")) },
			"GET /apis/rbac.authorization.k8s.io/v1/clusterroles/system:node%3Fx%20y%23z", "", "", ""},
		{"list", func(c *kube.Client) error { return drop(c.Namespaced(core.Pods, "ns").List(ctx, nil)) },
			"GET /api/v1/namespaces/ns/pods", "", "", ""},
		{"list of all namespaces", func(c *kube.Client) error { return drop(c.All(apps.Deployments).List(ctx, nil)) },
			"GET /apis/apps/v1/deployments", "", "", ""},
		{"list in the namespace of the configuration", func(c *kube.Client) error { return drop(c.DefaultNamespace(core.Pods).List(ctx, nil)) },
			"GET /api/v1/namespaces/default/pods", "", "", ""},
		{"list selected", func(c *kube.Client) error {
			return drop(c.Namespaced(core.Pods, "ns").List(ctx, &kube.ListOptions{Labels: "app=web,tier in (a,b)", Fields: "metadata.name=pod=1"}))
		}, "GET /api/v1/namespaces/ns/pods?labelSelector=app%3Dweb%2Ctier+in+%28a%2Cb%29&fieldSelector=metadata.name%3Dpod%3D1", "", "", ""},
		{"list and watch by a selector", func(c *kube.Client) error {
			environments, err := resource.SelectorOf(&metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
				{Key: "env", Operator: metav1.LabelSelectorOpIn, Values: []string{"sandbox", "development"}},
			}})
			if err != nil {
				return err
			}
			return first(c.All(core.Pods).Watch(ctx, &kube.WatchOptions{Labels: environments.String()}))
		}, "GET /api/v1/pods?watch=true&allowWatchBookmarks=true&labelSelector=env+in+%28development%2Csandbox%29", "", "", ""},
		{"list a page", func(c *kube.Client) error {
			return drop(c.All(core.Pods).List(ctx, &kube.ListOptions{Limit: 50}))
		}, "GET /api/v1/pods?limit=50", "", "", ""},
		{"list the next page without a version", func(c *kube.Client) error {
			return drop(c.All(core.Pods).List(ctx, &kube.ListOptions{Limit: 50, Continue: "1234", ResourceVersion: "9999", ResourceVersionMatch: "Exact"}))
		}, "GET /api/v1/pods?limit=50&continue=1234", "", "", ""},
		{"list at a version", func(c *kube.Client) error {
			return drop(c.All(core.Pods).List(ctx, &kube.ListOptions{ResourceVersion: "500", ResourceVersionMatch: "Exact"}))
		}, "GET /api/v1/pods?resourceVersion=500&resourceVersionMatch=Exact", "", "", ""},
		{"list metadata", func(c *kube.Client) error { return drop(c.All(hacks.Metadata()).List(ctx, nil)) },
			"GET /apis/kube.rs/v1/hacks",
			"application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json", "", ""},
		{"list any version by pages", func(c *kube.Client) error { // the caller decides; a server may send all on one page
			return drop(c.All(core.Pods).List(ctx, &kube.ListOptions{Limit: 50, ResourceVersion: "0", ResourceVersionMatch: "NotOlderThan"}))
		}, "GET /api/v1/pods?limit=50&resourceVersion=0&resourceVersionMatch=NotOlderThan", "", "", ""},
		{"watch metadata", func(c *kube.Client) error { return first(c.All(hacks.Metadata()).Watch(ctx, nil)) },
			"GET /apis/kube.rs/v1/hacks?watch=true&allowWatchBookmarks=true",
			"application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json", "", ""},
		{"patch metadata", func(c *kube.Client) error {
			return drop(c.Namespaced(hacks.Metadata(), "ns").Patch(ctx, "n", kube.MergePatch([]byte(`{}`)), nil))
		}, "PATCH /apis/kube.rs/v1/namespaces/ns/hacks/n",
			"application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json", "{}", "application/merge-patch+json"},
		{"apply metadata", func(c *kube.Client) error {
			obj := &resource.Metadata[hack]{ObjectMeta: metav1.ObjectMeta{Name: "n", Labels: map[string]string{"a": "b"}}}
			return drop(c.Namespaced(hacks.Metadata(), "ns").Apply(ctx, obj, "me", nil))
		}, "PATCH /apis/kube.rs/v1/namespaces/ns/hacks/n?fieldManager=me&force=true", "",
			`{"kind":"Hack","apiVersion":"kube.rs/v1","metadata":{"name":"n","labels":{"a":"b"}}}`, "application/apply-patch+yaml"},
		{"create", func(c *kube.Client) error {
			return drop(c.Namespaced(hacks, "ns").Create(ctx, resource.New(hacks, "h", struct {
				Num int `json:"num"`
			}{7}), nil))
		}, "POST /apis/kube.rs/v1/namespaces/ns/hacks", acceptJSON,
			`{"kind":"Hack","apiVersion":"kube.rs/v1","metadata":{"name":"h"},"spec":{"num":7}}`, "application/json"},
		{"create without a type", func(c *kube.Client) error {
			return drop(c.Namespaced(hacks, "ns").Create(ctx, &hack{ObjectMeta: name}, nil))
		}, "POST /apis/kube.rs/v1/namespaces/ns/hacks", "",
			`{"kind":"Hack","apiVersion":"kube.rs/v1","metadata":{"name":"n"},"spec":{"num":0}}`, "application/json"},
		{"create a dynamic object without a type", func(c *kube.Client) error {
			kind := resource.Dynamic(resource.Info{Group: "kube.rs", Version: "v1", Kind: "Hack"}, resource.NamespaceScoped)
			obj := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "n"}}}
			return drop(c.Namespaced(kind, "ns").Create(ctx, obj, nil))
		}, "POST /apis/kube.rs/v1/namespaces/ns/hacks", "",
			`{"kind":"Hack","apiVersion":"kube.rs/v1","metadata":{"name":"n"}}`, "application/json"},
		{"replace a scale without a type and a name", func(c *kube.Client) error {
			return drop(c.Namespaced(apps.Deployments, "ns").Scale().Replace(ctx, "d", &kube.Scale{Spec: kube.ScaleSpec{Replicas: 2}}, nil))
		}, "PUT /apis/apps/v1/namespaces/ns/deployments/d/scale", "",
			`{"kind":"Scale","apiVersion":"autoscaling/v1","metadata":{"name":"d","namespace":"ns"},"spec":{"replicas":2}}`, "application/json"},
		{"create a role", func(c *kube.Client) error {
			return drop(c.Namespaced(rbac.Roles, "ns").Create(ctx, &rbacv1.Role{ObjectMeta: name}, &kube.CreateOptions{DryRun: true, FieldManager: "me", FieldValidation: kube.FieldValidationStrict}))
		}, "POST /apis/rbac.authorization.k8s.io/v1/namespaces/ns/roles?dryRun=All&fieldManager=me&fieldValidation=Strict", "", "", "application/vnd.kubernetes.protobuf"},
		{"create where the object says", func(c *kube.Client) error {
			return drop(c.All(core.ConfigMaps).Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "n", Namespace: "there"}}, nil))
		}, "POST /api/v1/namespaces/there/configmaps", "", "", ""},
		{"replace", func(c *kube.Client) error {
			return drop(c.Namespaced(batch.CronJobs, "ns").Patch(ctx, "n", kube.MergePatch([]byte(`{"spec":{}}`)), &kube.PatchOptions{DryRun: true}))
		}, "PATCH /apis/batch/v1/namespaces/ns/cronjobs/n?dryRun=All", "", `{"spec":{}}`, "application/merge-patch+json"},
		{"strategic patch", func(c *kube.Client) error {
			return drop(c.Namespaced(networking.Ingresses, "ns").Patch(ctx, "n", kube.StrategicPatch(map[string]any{"a": 1}), nil))
		}, "PATCH /apis/networking.k8s.io/v1/namespaces/ns/ingresses/n", "", `{"a":1}`, "application/strategic-merge-patch+json"},
		{"JSON patch", func(c *kube.Client) error {
			return drop(c.All(core.Nodes).Patch(ctx, "n", kube.JSONPatch(kube.JSONPatchOp{Op: "test", Path: "/a", Value: nil}, kube.JSONPatchOp{Op: "remove", Path: "/b"}), nil))
		}, "PATCH /api/v1/nodes/n", "", `[{"op":"test","path":"/a","value":null},{"op":"remove","path":"/b"}]`, "application/json-patch+json"},
		{"apply", func(c *kube.Client) error {
			return drop(c.Namespaced(core.ConfigMaps, "ns").Apply(ctx, &corev1.ConfigMap{ObjectMeta: name, Data: map[string]string{"k": "v"}}, "me", nil))
		}, "PATCH /api/v1/namespaces/ns/configmaps/n?fieldManager=me&force=true", "",
			`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"n"},"data":{"k":"v"}}`, "application/apply-patch+yaml"},
		{"apply that does not force", func(c *kube.Client) error {
			return drop(c.Namespaced(core.ConfigMaps, "ns").Apply(ctx, &corev1.ConfigMap{ObjectMeta: name}, "me", &kube.ApplyOptions{FailOnConflict: true}))
		}, "PATCH /api/v1/namespaces/ns/configmaps/n?fieldManager=me", "", "", ""},
		{"status patch", func(c *kube.Client) error {
			return drop(c.All(core.Nodes).Status().Patch(ctx, "n", kube.MergePatch([]byte(`{}`)), nil))
		}, "PATCH /api/v1/nodes/n/status", acceptProtobuf, "", "application/merge-patch+json"},
		{"status replace", func(c *kube.Client) error {
			return drop(c.All(core.Nodes).Status().Replace(ctx, &corev1.Node{ObjectMeta: name}, nil))
		}, "PUT /api/v1/nodes/n/status", "", "", "application/vnd.kubernetes.protobuf"},
		{"scale get", func(c *kube.Client) error { return drop(c.Namespaced(apps.Deployments, "ns").Scale().Get(ctx, "d")) },
			"GET /apis/apps/v1/namespaces/ns/deployments/d/scale", acceptJSON, "", ""},
		{"scale replace", func(c *kube.Client) error {
			return drop(c.Namespaced(apps.Deployments, "ns").Scale().Replace(ctx, "d", &kube.Scale{Spec: kube.ScaleSpec{Replicas: 2}}, nil))
		}, "PUT /apis/apps/v1/namespaces/ns/deployments/d/scale", "", "", "application/json"},
		{"binding", func(c *kube.Client) error {
			return drop(c.Namespaced(core.Pods, "ns").Sub(core.PodBinding).Create(ctx, "p", &corev1.Binding{}, nil))
		}, "POST /api/v1/namespaces/ns/pods/p/binding", "", "", ""},
		{"delete", func(c *kube.Client) error { return c.Namespaced(core.Pods, "ns").Delete(ctx, "p", nil) },
			"DELETE /api/v1/namespaces/ns/pods/p", "", "", ""},
		{"delete with options", func(c *kube.Client) error {
			return c.Namespaced(core.Pods, "ns").Delete(ctx, "p", &kube.DeleteOptions{
				GracePeriod: &zero, Propagation: kube.PropagationForeground, UID: "u", ResourceVersion: "5", DryRun: true})
		}, "DELETE /api/v1/namespaces/ns/pods/p", "",
			`{"kind":"DeleteOptions","apiVersion":"v1","gracePeriodSeconds":0,"preconditions":{"uid":"u","resourceVersion":"5"},"propagationPolicy":"Foreground","dryRun":["All"]}`, "application/json"},
		{"delete a collection", func(c *kube.Client) error {
			return c.Namespaced(core.Pods, "ns").DeleteCollection(ctx, &kube.ListOptions{Labels: "a=b"}, nil)
		}, "DELETE /api/v1/namespaces/ns/pods?labelSelector=a%3Db", "", "", ""},
		{"delete metadata", func(c *kube.Client) error { return c.Namespaced(hacks.Metadata(), "ns").Delete(ctx, "n", nil) },
			"DELETE /apis/kube.rs/v1/namespaces/ns/hacks/n",
			"application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json", "", ""},
		{"delete a collection of metadata", func(c *kube.Client) error {
			return c.Namespaced(hacks.Metadata(), "ns").DeleteCollection(ctx, nil, nil)
		},
			"DELETE /apis/kube.rs/v1/namespaces/ns/hacks",
			"application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json", "", ""},
		{"watch", func(c *kube.Client) error { return first(c.All(core.Pods).Watch(ctx, nil)) },
			"GET /api/v1/pods?watch=true&allowWatchBookmarks=true", "", "", ""},
		{"streaming list", func(c *kube.Client) error {
			return first(c.All(core.Pods).Watch(ctx, &kube.WatchOptions{ResourceVersion: "0", Timeout: 290 * time.Second, SendInitialEvents: true}))
		}, "GET /api/v1/pods?watch=true&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion=0&timeoutSeconds=290", "", "", ""},
		{"watch without bookmarks", func(c *kube.Client) error {
			return first(c.All(core.Pods).Watch(ctx, &kube.WatchOptions{DisableBookmarks: true, Labels: "app=web", Fields: "metadata.name=pod=1"}))
		}, "GET /api/v1/pods?watch=true&labelSelector=app%3Dweb&fieldSelector=metadata.name%3Dpod%3D1", "", "", ""},
		{"a request of one's own", func(c *kube.Client) error {
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, "/version?x=1", nil)
			if err != nil {
				return err
			}
			resp, err := c.Do(req)
			if err == nil {
				resp.Body.Close()
			}
			return err
		}, "GET /version?x=1", "", "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, prefix := range []string{"", "/k8s/clusters/c-1"} {
				rec, client := recording(t, "https://cluster.example"+prefix)
				if err := test.call(client); err != nil && !errors.Is(err, errAnswer) {
					t.Fatal(err)
				}
				wantMethod, wantURL, _ := strings.Cut(test.want, " ")
				wantPath, wantQuery, _ := strings.Cut(wantURL, "?")
				got := rec.request
				if got.Method != wantMethod || got.URL.EscapedPath() != prefix+wantPath || got.URL.Host != "cluster.example" {
					t.Errorf("%s %s, want %s %s", got.Method, got.URL, wantMethod, prefix+wantPath)
				}
				want, err := url.ParseQuery(wantQuery)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want, got.URL.Query()); diff != "" {
					t.Errorf("query (-want +got):\n%s", diff)
				}
				if test.accept != "" && got.Header.Get("Accept") != strings.ReplaceAll(test.accept, "|", "") && !strings.HasSuffix(got.Header.Get("Accept"), test.accept) {
					t.Errorf("Accept is %q, want %q", got.Header.Get("Accept"), test.accept)
				}
				if test.body != "" && !sameJSON(t, rec.body, []byte(test.body)) {
					t.Errorf("body is %s, want %s", rec.body, test.body)
				}
				if test.media != "" && got.Header.Get("Content-Type") != test.media {
					t.Errorf("Content-Type is %q, want %q", got.Header.Get("Content-Type"), test.media)
				}
				if test.media == "" && test.body == "" && got.Method == "GET" && got.Header.Get("Content-Type") != "" {
					t.Errorf("a GET without a body has Content-Type %q", got.Header.Get("Content-Type"))
				}
			}
		})
	}
}

// configMapConfiguration has the shape of a generated apply configuration.
type configMapConfiguration struct {
	Kind       *string `json:"kind,omitempty"`
	APIVersion *string `json:"apiVersion,omitempty"`
	Metadata   struct {
		Name      *string `json:"name,omitempty"`
		Namespace *string `json:"namespace,omitempty"`
	} `json:"metadata,omitempty"`
	Data      map[string]string `json:"data,omitempty"`
	Immutable *bool             `json:"immutable,omitempty"`
}

func (configMapConfiguration) IsApplyConfiguration() {}

func TestApplyConfiguration(t *testing.T) {
	config := &configMapConfiguration{Data: map[string]string{"k": ""}, Immutable: new(bool)}
	name, namespace := "n", "there"
	config.Metadata.Name = &name
	rec, client := recording(t, "https://c")
	if err := drop(client.Namespaced(core.ConfigMaps, "ns").ApplyConfiguration(t.Context(), config, "me", nil)); err != nil {
		t.Fatal(err)
	}
	want := `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"n"},"data":{"k":""},"immutable":false}`
	if rec.request.URL.Path != "/api/v1/namespaces/ns/configmaps/n" || !sameJSON(t, rec.body, []byte(want)) {
		t.Errorf("%s %s, want %s", rec.request.URL, rec.body, want)
	}
	config.Metadata.Namespace = &namespace
	if err := drop(client.All(core.ConfigMaps).ApplyConfiguration(t.Context(), config, "me", nil)); err != nil {
		t.Fatal(err)
	}
	if want := "/api/v1/namespaces/there/configmaps/n"; rec.request.URL.Path != want {
		t.Errorf("%s, want %s", rec.request.URL, want)
	}
	config.Metadata.Name = nil
	if err := drop(client.All(core.ConfigMaps).ApplyConfiguration(t.Context(), config, "me", nil)); err == nil || !strings.Contains(err.Error(), "name is empty") {
		t.Errorf("a configuration without a name: %v", err)
	}
}

// errAnswer is for calls whose canned answer is of no use to them.
var errAnswer = errors.New("answer")

// drop keeps the error of a call, unless the call only disliked the canned answer.
func drop[T any](_ T, err error) error {
	if err != nil && (strings.Contains(err.Error(), "wire:") || strings.Contains(err.Error(), "decoding")) {
		return errAnswer
	}
	return err
}

func first[K any](events func(yield func(kube.WatchEvent[K], error) bool)) error {
	for _, err := range events {
		return drop(0, err)
	}
	return nil
}

// TestOptionsAreChecked says which options are refused, and that the error names them.
func TestOptionsAreChecked(t *testing.T) {
	ctx := t.Context()
	for _, test := range []struct {
		name string
		call func(c *kube.Client) error
		want string
	}{
		{"exact at any version", func(c *kube.Client) error {
			return drop(c.All(core.Pods).List(ctx, &kube.ListOptions{ResourceVersion: "0", ResourceVersionMatch: "Exact"}))
		}, "Exact needs a ResourceVersion other than 0"},
		{"match without a version", func(c *kube.Client) error {
			return drop(c.All(core.Pods).List(ctx, &kube.ListOptions{ResourceVersionMatch: "Exact"}))
		}, "needs a ResourceVersion"},
		{"unknown match", func(c *kube.Client) error {
			return drop(c.All(core.Pods).List(ctx, &kube.ListOptions{ResourceVersion: "5", ResourceVersionMatch: "exact"}))
		}, `"exact"`},
		{"negative limit", func(c *kube.Client) error { return drop(c.All(core.Pods).List(ctx, &kube.ListOptions{Limit: -1})) }, "Limit is -1"},
		{"short timeout", func(c *kube.Client) error {
			return first(c.All(core.Pods).Watch(ctx, &kube.WatchOptions{Timeout: time.Millisecond}))
		}, "Timeout is 1ms"},
		{"initial events without bookmarks", func(c *kube.Client) error {
			return first(c.All(core.Pods).Watch(ctx, &kube.WatchOptions{SendInitialEvents: true, DisableBookmarks: true}))
		}, "needs bookmarks"},
		{"long field manager", func(c *kube.Client) error {
			return drop(c.Namespaced(core.ConfigMaps, "ns").Apply(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "n"}}, strings.Repeat("m", 129), nil))
		}, "129 bytes"},
		{"unknown field validation", func(c *kube.Client) error {
			return drop(c.Namespaced(core.ConfigMaps, "ns").Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "n"}}, &kube.CreateOptions{FieldValidation: "strict"}))
		}, `FieldValidation is "strict"`},
		{"unknown propagation", func(c *kube.Client) error {
			return c.Namespaced(core.Pods, "ns").Delete(ctx, "p", &kube.DeleteOptions{Propagation: "foreground"})
		}, `"foreground"`},
		{"patch that is no JSON", func(c *kube.Client) error {
			return drop(c.Namespaced(core.Pods, "ns").Patch(ctx, "p", kube.MergePatch([]byte("a: b")), nil))
		}, "is not JSON"},
		{"unknown step", func(c *kube.Client) error {
			return drop(c.Namespaced(core.Pods, "ns").Patch(ctx, "p", kube.JSONPatch(kube.JSONPatchOp{Op: "set"}), nil))
		}, `"set"`},
		{"dots as a name", func(c *kube.Client) error { return drop(c.Namespaced(core.Pods, "ns").Get(ctx, "..")) }, `".."`},
		{"slash in a namespace", func(c *kube.Client) error { return drop(c.Namespaced(core.Pods, "a/b").Get(ctx, "p")) }, `"a/b"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			rec, client := recording(t, "https://cluster.example")
			err := test.call(client)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error is %v, want it to say %q", err, test.want)
			}
			if rec.request != nil {
				t.Errorf("%s %s was sent all the same", rec.request.Method, rec.request.URL)
			}
		})
	}
}

// TestRefusals says what becomes of answers that are not a success.
func TestRefusals(t *testing.T) {
	for _, test := range []struct {
		name    string
		rec     recorder
		is      error
		message string
		retry   time.Duration
	}{
		{"status", recorder{code: 404, answer: `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"pods \"p\" not found","reason":"NotFound","details":{"name":"p","kind":"pods"},"code":404}`},
			kube.ErrNotFound, `get pods ns/p: pods "p" not found`, 0},
		{"status over several lines", recorder{code: 403, answer: "{\n  \"kind\": \"Status\",\n  \"apiVersion\": \"v1\",\n  \"status\": \"Failure\",\n  \"message\": \"no\",\n  \"reason\": \"Forbidden\",\n  \"code\": 403\n}"},
			kube.ErrForbidden, "get pods ns/p: no", 0},
		{"not the API server's", recorder{code: 404, header: http.Header{"Content-Type": {"text/plain"}}, answer: "404 page not found"},
			kube.ErrNotFound, "", 0},
		{"unauthorized", recorder{code: 401, answer: `{"kind":"Status","status":"Failure","reason":"Unauthorized","message":"Unauthorized","code":401}`},
			kube.ErrUnauthorized, "", 0},
		{"gone by code", recorder{code: 410, answer: `{"kind":"Status","status":"Failure","message":"too old","code":410}`}, kube.ErrExpired, "", 0},
		{"gone by reason", recorder{code: 400, answer: `{"kind":"Status","status":"Failure","message":"too old","reason":"Expired"}`}, kube.ErrExpired, "", 0},
		{"too many", recorder{code: 429, header: http.Header{"Retry-After": {"7"}}, answer: `{"kind":"Status","status":"Failure","reason":"TooManyRequests","message":"slow down","code":429}`},
			nil, "slow down", 7 * time.Second},
		{"too many from a proxy", recorder{code: 429, header: http.Header{"Retry-After": {"3"}, "Content-Type": {"text/html"}}, answer: `<html>`}, nil, "", 3 * time.Second},
		{"unavailable", recorder{code: 503, header: http.Header{"Content-Type": {"text/html"}}, answer: "<html>upstream down</html>"}, nil, "upstream down", 0},
		{"not what was asked for", recorder{code: 200, header: http.Header{"Content-Type": {"text/html"}}, answer: "<html>"}, nil, `"text/html"`, 0},
		{"not JSON", recorder{code: 200, answer: "{"}, nil, "decoding the answer", 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			client, err := kube.NewClient(&kube.Config{Server: "https://c", Transport: &test.rec, DisableRetry: true})
			if err != nil {
				t.Fatal(err)
			}
			_, err = client.Namespaced(core.Pods, "ns").Get(t.Context(), "p")
			if err == nil || test.is != nil && !errors.Is(err, test.is) {
				t.Errorf("error is %v, want %v", err, test.is)
			}
			if !strings.Contains(err.Error(), test.message) {
				t.Errorf("error is %q, want it to say %q", err, test.message)
			}
			if d, ok := kube.RetryAfter(err); d != test.retry || ok != (test.retry > 0) {
				t.Errorf("RetryAfter = %s, %t; want %s", d, ok, test.retry)
			}
			if test.retry > 0 && !kube.CanRetry(err) {
				t.Errorf("CanRetry(%v) is false", err)
			}
			var kerr *kube.Error
			if !errors.As(err, &kerr) || kerr.Verb != "get" || kerr.Name != "p" {
				t.Errorf("error is %#v", err)
			}
		})
	}
}

// TestDeadline has a server that never answers.
func TestDeadline(t *testing.T) {
	client, err := kube.NewClient(&kube.Config{Server: "https://c", Timeout: time.Millisecond, DisableRetry: true,
		Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		})})
	if err != nil {
		t.Fatal(err)
	}
	_, err = client.All(core.Nodes).Get(t.Context(), "n")
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "1ms (Config.Timeout)") {
		t.Errorf("error is %v, want a deadline that names Config.Timeout", err)
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestRequestInfo has a middleware read what each request is about.
func TestRequestInfo(t *testing.T) {
	var got kube.RequestInfo
	rec := &recorder{}
	client, err := kube.NewClient(&kube.Config{Server: "https://c", Transport: rec, Wrap: []func(http.RoundTripper) http.RoundTripper{
		func(next http.RoundTripper) http.RoundTripper {
			return roundTripper(func(r *http.Request) (*http.Response, error) {
				got, _ = kube.RequestInfoFrom(r.Context())
				return next.RoundTrip(r)
			})
		}}})
	if err != nil {
		t.Fatal(err)
	}
	deployments := client.Namespaced(apps.Deployments, "ns")
	if _, err := deployments.Status().Apply(t.Context(), &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "d"}}, "me", nil); err != nil {
		t.Fatal(err)
	}
	got.Attempts = 0
	want := kube.RequestInfo{Verb: "patch", Group: "apps", Version: "v1", Resource: "deployments", Subresource: "status", Namespace: "ns", Name: "d"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("RequestInfo (-want +got):\n%s", diff)
	}
}
