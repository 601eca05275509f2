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
	"testing/synctest"
	"time"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/k8s/apps"
	"github.com/go-kube/kube/k8s/core"
	"github.com/go-kube/kube/k8s/rbac"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestRawRequests(t *testing.T) {
	for _, test := range []struct {
		name    string
		request kube.Request
		want    string // METHOD path?query
		header  http.Header
		body    string
	}{
		{"get", kube.Request{Path: "/version"}, "GET /version", http.Header{"Accept": {"application/json"}}, ""},
		{"queries add up", kube.Request{Path: "/metrics?a=1", Query: url.Values{"a": {"2"}, "b": {"x y"}}}, "GET /metrics?a=1&a=2&b=x+y", nil, ""},
		{"a folder", kube.Request{Path: "/api/"}, "GET /api/", nil, ""},
		{"names are escaped", kube.Request{Path: kube.JoinPath("api", "v1", "a/b?c#d%")}, "GET /api/v1/a%2Fb%3Fc%23d%25", nil, ""},
		{"post", kube.Request{Method: "POST", Path: "/x", Body: []byte("{}")}, "POST /x", http.Header{"Accept": {"application/json"}, "Content-Type": {"application/json"}}, "{}"},
		{"headers win", kube.Request{Method: "PUT", Path: "/x", Body: []byte("t"), Header: http.Header{"Accept": {"a/b"}, "Content-Type": {"c/d"}}}, "PUT /x",
			http.Header{"Accept": {"a/b"}, "Content-Type": {"c/d"}}, "t"},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, prefix := range []string{"", "/k8s/clusters/c-1"} {
				rec, client := recording(t, "https://cluster.example"+prefix)
				rec.answer = `{"a":1}`
				got, err := client.Send(t.Context(), test.request)
				if err != nil || string(got) != rec.answer {
					t.Fatalf("%s, %v", got, err)
				}
				method, uri, _ := strings.Cut(test.want, " ")
				if sent := rec.request; sent.Method != method || sent.URL.String() != "https://cluster.example"+prefix+uri {
					t.Errorf("%s %s, want %s", sent.Method, sent.URL, test.want)
				}
				for k := range test.header {
					if diff := cmp.Diff(test.header[k], rec.request.Header[k]); diff != "" {
						t.Errorf("%s: %s", k, diff)
					}
				}
				if string(rec.body) != test.body {
					t.Errorf("body is %q", rec.body)
				}
			}
		})
	}
}

func TestRawRequestErrors(t *testing.T) {
	for _, test := range []struct{ path, want string }{
		{"", `get : the path "" does not begin with a slash`},
		{"version", `get version: the path "version" does not begin with a slash`},
		{"https://else.example/version", "names a host"},
		{"//else.example/version", "names a host"},
		{"/a#b", "has a fragment; a # in a name is written %23"},
		{"/api/../apis", "has a segment . or .."},
		{"/api/%2e%2E/apis", "has a segment . or .."},
		{kube.JoinPath("api", ".."), "has a segment . or .."},
		{kube.JoinPath("api", "", "v1"), "has an empty segment"},
		{"/%zz", "invalid URL escape"},
	} {
		rec, client := recording(t, "https://cluster.example")
		_, err := client.Send(t.Context(), kube.Request{Path: test.path})
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q: %v, want %s", test.path, err, test.want)
		}
		if _, err := client.NewRequest(t.Context(), kube.Request{Path: test.path}); err == nil {
			t.Errorf("%q can be built", test.path)
		}
		if rec.request != nil {
			t.Errorf("%q was sent", test.path)
		}
	}
	_, client := recording(t, "https://cluster.example")
	if _, err := client.Send(t.Context(), kube.Request{Method: "BAD METHOD", Path: "/"}); err == nil || !strings.Contains(err.Error(), "BAD METHOD") {
		t.Error(err)
	}
}

func TestRawRequestRefused(t *testing.T) {
	rec, client := recording(t, "https://cluster.example")
	rec.code, rec.answer = 403, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403,"message":"not for you"}`
	_, err := client.Send(t.Context(), kube.Request{Path: "/metrics?x=secret"})
	if want := "get /metrics: not for you"; !errors.Is(err, kube.ErrForbidden) || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	if _, err := client.Open(t.Context(), kube.Request{Path: "/metrics"}); !errors.Is(err, kube.ErrForbidden) {
		t.Error(err)
	}
}

func TestRawRequestDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hang := roundTripper(func(req *http.Request) (*http.Response, error) {
			<-req.Context().Done()
			return nil, req.Context().Err()
		})
		client, err := kube.NewClient(&kube.Config{Server: "https://host", Transport: hang, Timeout: 7 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		_, err = client.Send(t.Context(), kube.Request{Path: "/version"})
		if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "no answer within 7s") || time.Since(start) != 7*time.Second {
			t.Errorf("%v after %s", err, time.Since(start))
		}
	})
}

func TestOpenIsAStream(t *testing.T) {
	r, w := io.Pipe()
	client, err := kube.NewClient(&kube.Config{Server: "https://host", Transport: roundTripper(func(req *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Header: http.Header{}, Body: r, ContentLength: -1}, nil
	})})
	if err != nil {
		t.Fatal(err)
	}
	resp, err := client.Open(t.Context(), kube.Request{Path: "/stream"})
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	go w.Write([]byte("first"))
	got := make([]byte, 5)
	if _, err := io.ReadFull(resp.Body, got); err != nil || string(got) != "first" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestBuild(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	for _, prefix := range []string{"", "/k8s/clusters/c-1", "/a%2Fb"} {
		rec, client := recording(t, "https://cluster.example"+prefix)
		for _, test := range []struct {
			name string
			call func(c *kube.Client) error
			want string
			verb string
		}{
			{"get", func(c *kube.Client) error { return drop(c.DefaultNamespace(core.Pods).Get(ctx, "p")) }, "GET /api/v1/namespaces/default/pods/p", "get"},
			{"escaped", func(c *kube.Client) error { return drop(c.All(rbac.ClusterRoles).Get(ctx, "system:node?x")) }, "GET /apis/rbac.authorization.k8s.io/v1/clusterroles/system:node%3Fx", "get"},
			{"list", func(c *kube.Client) error {
				for _, err := range c.All(core.Pods).Each(ctx, &kube.ListOptions{Labels: "a=b"}) {
					return err
				}
				return nil
			}, "GET /api/v1/pods?labelSelector=a%3Db&limit=500", "list"},
			{"apply", func(c *kube.Client) error {
				return drop(c.Namespaced(core.ConfigMaps, "ns").Apply(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "n"}}, "me", nil))
			}, "PATCH /api/v1/namespaces/ns/configmaps/n?fieldManager=me&force=true", "patch"},
			{"scale", func(c *kube.Client) error { return drop(c.Namespaced(apps.Deployments, "ns").Scale().Get(ctx, "d")) }, "GET /apis/apps/v1/namespaces/ns/deployments/d/scale", "get"},
			{"raw", func(c *kube.Client) error { return drop(c.Send(ctx, kube.Request{Path: "/version"})) }, "GET /version", ""},
		} {
			t.Run(test.name, func(t *testing.T) {
				req, err := client.Build(test.call)
				if err != nil {
					t.Fatal(err)
				}
				if got := req.Method + " " + req.URL.String(); got != test.want {
					t.Errorf("%s, want %s", got, test.want)
				}
				if info, ok := kube.RequestInfoFrom(req.Context()); info.Verb != test.verb || ok != (test.verb != "") {
					t.Errorf("info is %+v", info)
				}
				if rec.request != nil {
					t.Fatal("the request was sent")
				}
				var body []byte
				if req.GetBody != nil {
					b, err := req.GetBody()
					if err != nil {
						t.Fatal(err)
					}
					body, _ = io.ReadAll(b)
				}
				resp, err := client.Do(req)
				if err != nil {
					t.Fatal(err)
				}
				resp.Body.Close()
				if _, uri, _ := strings.Cut(test.want, " "); rec.request.URL.String() != "https://cluster.example"+prefix+uri || !bytes.Equal(body, rec.body) {
					t.Errorf("sent %s with %q, want %q", rec.request.URL, rec.body, body)
				}
				rec.request = nil
			})
		}
	}
	_, client := recording(t, "https://cluster.example")
	req, err := client.Build(func(c *kube.Client) error { return drop(c.DefaultNamespace(core.Pods).Get(ctx, "p")) })
	cancel()
	if err != nil || req.Context().Err() != nil {
		t.Error("the request ends with the call's context")
	}
}

func TestBuildErrors(t *testing.T) {
	_, client := recording(t, "https://cluster.example")
	if _, err := client.Build(func(c *kube.Client) error { return drop(c.Namespaced(core.Pods, "ns").Get(t.Context(), "")) }); err == nil || !strings.Contains(err.Error(), "the name is empty") {
		t.Error(err)
	}
	if _, err := client.Build(func(*kube.Client) error { return nil }); err == nil || !strings.Contains(err.Error(), "made no request") {
		t.Error(err)
	}
}

// FuzzJoinPath checks that no name gets out of its segment, and that what is accepted arrives.
func FuzzJoinPath(f *testing.F) {
	for _, s := range []string{"pods", "a/b", "..", "%2e%2e", "x?y#z", "", "ü", "\x00", "a;b", "//host", "%"} {
		f.Add(s, "name")
	}
	f.Fuzz(func(t *testing.T, first, second string) {
		rec, client := recording(t, "https://cluster.example/prefix")
		_, err := client.Send(t.Context(), kube.Request{Path: kube.JoinPath(first, second)})
		bad := func(s string) bool { return s == "." || s == ".." }
		if bad(first) || bad(second) || first == "" {
			if err == nil {
				t.Fatal("was sent")
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		parts := strings.Split(strings.TrimPrefix(rec.request.URL.EscapedPath(), "/prefix/"), "/")
		for i, p := range parts {
			if parts[i], err = url.PathUnescape(p); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff([]string{first, second}, parts); diff != "" || rec.request.URL.Host != "cluster.example" {
			t.Errorf("%s: %s", rec.request.URL, diff)
		}
	})
}

// FuzzRequestPath checks the same for the names of objects, which are refused where the API server
// would refuse them.
func FuzzRequestPath(f *testing.F) {
	for _, s := range []string{"web-0", "system:node?x y#z", "a/b", "..", ".", "%2f", "", "ü", "a\nb", "x%y"} {
		f.Add(s, "ns")
		f.Add("name", s)
	}
	f.Fuzz(func(t *testing.T, name, namespace string) {
		rec, client := recording(t, "https://cluster.example/prefix")
		_, err := client.Namespaced(core.Pods, namespace).Get(t.Context(), name)
		if rec.request == nil {
			if err == nil {
				t.Error("neither sent nor an error")
			}
			return
		}
		want := "/prefix/api/v1/namespaces/" + namespace + "/pods/" + name
		if got := rec.request.URL; got.Path != want || strings.Count(got.EscapedPath(), "/") != 7 || got.RawQuery != "" || got.Fragment != "" {
			t.Errorf("%s, want %s", got, want)
		}
		if _, err := url.Parse(rec.request.URL.String()); err != nil {
			t.Error(err)
		}
	})
}
