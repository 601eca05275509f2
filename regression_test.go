package kube_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/k8s/apps"
	"github.com/go-kube/kube/k8s/core"
	"github.com/google/go-cmp/cmp"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
)

// The tests of this file hold mistakes that another client of Kubernetes made, kube-rs, and that
// must not be made here. The numbers are those of the list that they were collected in.

// 15: the options of an eviction were sent under a wrong key, and so had no effect.
func TestRegression15EvictionOptionsAreSent(t *testing.T) {
	rec, client := recording(t, "https://host")
	rec.code, rec.answer = 201, `{"kind":"Status","apiVersion":"v1","status":"Success"}`
	want := &policyv1.Eviction{
		ObjectMeta: metav1.ObjectMeta{Name: "p"},
		DeleteOptions: &metav1.DeleteOptions{
			GracePeriodSeconds: new(int64(7)), DryRun: []string{"All"},
			Preconditions: metav1.NewUIDPreconditions("u"),
		},
	}
	if _, err := client.Namespaced(core.Pods, "ns").Sub(core.PodEviction).Create(t.Context(), "p", want, nil); err != nil {
		t.Fatal(err)
	}
	var outer apiruntime.Unknown
	if err := outer.Unmarshal([]byte(strings.TrimPrefix(string(rec.body), "k8s\x00"))); err != nil {
		t.Fatal(err)
	}
	got := &policyv1.Eviction{}
	if err := got.Unmarshal(outer.Raw); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" || rec.request.URL.Path != "/api/v1/namespaces/ns/pods/p/eviction" {
		t.Errorf("%s: %s", rec.request.URL, diff)
	}
}

// 16: the timeout of a list was never sent, and a scale without a status was an error in silence.
func TestRegression16ListTimeoutIsSent(t *testing.T) {
	rec, client := recording(t, "https://host")
	if err := drop(client.All(core.Pods).List(t.Context(), &kube.ListOptions{Timeout: 7 * time.Second})); err != nil && !errors.Is(err, errAnswer) {
		t.Fatal(err)
	}
	if got := rec.request.URL.RawQuery; got != "timeoutSeconds=7" {
		t.Errorf("query is %q", got)
	}
	if err := client.All(core.Pods).DeleteCollection(t.Context(), &kube.ListOptions{Timeout: time.Minute}, nil); err != nil && !strings.Contains(rec.request.URL.RawQuery, "timeoutSeconds=60") {
		t.Errorf("query is %q, %v", rec.request.URL.RawQuery, err)
	}
	for _, timeout := range []time.Duration{-time.Second, time.Second / 2} {
		if _, err := client.All(core.Pods).List(t.Context(), &kube.ListOptions{Timeout: timeout}); err == nil || !strings.Contains(err.Error(), "ListOptions.Timeout is "+timeout.String()) {
			t.Errorf("%s: %v", timeout, err)
		}
	}
}

func TestRegression16ScaleWithoutStatus(t *testing.T) {
	rec, client := recording(t, "https://host")
	rec.answer = `{"kind":"Scale","apiVersion":"autoscaling/v1","metadata":{"name":"d"},"spec":{"replicas":3}}`
	scale, err := client.Namespaced(apps.Deployments, "ns").Scale().Get(t.Context(), "d")
	if err != nil || scale.Spec.Replicas != 3 || scale.Status != nil {
		t.Errorf("%+v, %v", scale, err)
	}
}

// 17: a restart had an annotation of its own, and could be asked of kinds that it does not restart.
func TestRegression17RestartIsKubectls(t *testing.T) {
	rec, client := recording(t, "https://host")
	if err := drop(client.Namespaced(apps.StatefulSets, "ns").Restart(t.Context(), "s")); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(rec.body), `"kubectl.kubernetes.io/restartedAt"`) || strings.Contains(string(rec.body), "kube.kubernetes.io") {
		t.Errorf("body is %s", rec.body)
	}
	rec.request = nil
	if err := drop(client.Namespaced(apps.ReplicaSets, "ns").Restart(t.Context(), "s")); err == nil || rec.request != nil {
		t.Errorf("a ReplicaSet was restarted: %v", err)
	}
}

// 18: uid and extra of an impersonation were read and not sent, and only patches had field
// validation.
func TestRegression18ImpersonationIsWhole(t *testing.T) {
	rec := &recorder{}
	path := filepath.Join(t.TempDir(), "config")
	write(t, path, `
clusters: [{name: c, cluster: {server: "https://host"}}]
users: [{name: u, user: {as: someone, as-uid: "42", as-groups: [g], as-user-extra: {a/b: [x, z]}}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
`)
	cfg, err := kube.ConfigFromKubeconfig(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Transport = rec
	client, err := kube.NewClient(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := drop(client.DefaultNamespace(core.Pods).Get(t.Context(), "p")); err != nil {
		t.Fatal(err)
	}
	got := http.Header{}
	for k, v := range rec.request.Header {
		if strings.HasPrefix(k, "Impersonate-") {
			got[k] = v
		}
	}
	want := http.Header{"Impersonate-User": {"someone"}, "Impersonate-Uid": {"42"}, "Impersonate-Group": {"g"}, "Impersonate-Extra-A%2fb": {"x", "z"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestRegression18FieldValidationOnAllWrites(t *testing.T) {
	rec, client := recording(t, "https://host")
	api := client.Namespaced(hacks, "ns")
	obj := &hack{ObjectMeta: metav1.ObjectMeta{Name: "h"}}
	for name, call := range map[string]func() error{
		"create": func() error {
			return drop(api.Create(t.Context(), obj, &kube.CreateOptions{FieldValidation: kube.FieldValidationStrict}))
		},
		"replace": func() error {
			return drop(api.Replace(t.Context(), obj, &kube.ReplaceOptions{FieldValidation: kube.FieldValidationStrict}))
		},
		"patch": func() error {
			return drop(api.Patch(t.Context(), "h", kube.MergePatch([]byte(`{}`)), &kube.PatchOptions{FieldValidation: kube.FieldValidationStrict}))
		},
		"apply": func() error {
			return drop(api.Apply(t.Context(), obj, "me", &kube.ApplyOptions{FieldValidation: kube.FieldValidationStrict}))
		},
	} {
		if err := call(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got := rec.request.URL.Query().Get("fieldValidation"); got != "Strict" {
			t.Errorf("%s: fieldValidation is %q", name, got)
		}
	}
}

// 19: names were not escaped.
func TestRegression19NamesAreEscaped(t *testing.T) {
	rec, client := recording(t, "https://host")
	if err := drop(client.Namespaced(hacks, "ns").Get(t.Context(), "a?b=c#d e")); err != nil {
		t.Fatal(err)
	}
	if got, want := rec.request.URL.RequestURI(), "/apis/kube.rs/v1/namespaces/ns/hacks/a%3Fb=c%23d%20e"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	rec.request = nil
	for _, name := range []string{"../secrets/x", ".", "a%2Fb"} {
		if err := drop(client.Namespaced(hacks, "ns").Get(t.Context(), name)); err == nil || rec.request != nil {
			t.Errorf("%q was sent: %v", name, err)
		}
	}
}

// 20: a missing file in KUBECONFIG was an error, and a newline at the end of a token too.
func TestRegression20MissingFilesAndNewlines(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "token"), "abc\n")
	write(t, filepath.Join(dir, "b"), `
clusters: [{name: c, cluster: {server: "https://host"}}]
users: [{name: u, user: {tokenFile: token}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
`)
	t.Setenv("KUBECONFIG", strings.Join([]string{filepath.Join(dir, "a"), filepath.Join(dir, "b"), filepath.Join(dir, "c")}, string(os.PathListSeparator)))
	cfg, err := kube.InferConfig()
	if err != nil {
		t.Fatal(err)
	}
	rec := &recorder{}
	cfg.Transport = rec
	client, err := kube.NewClient(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := drop(client.DefaultNamespace(core.Pods).Get(t.Context(), "p")); err != nil {
		t.Fatal(err)
	}
	if got := rec.request.Header.Get("Authorization"); got != "Bearer abc" {
		t.Errorf("Authorization is %q", got)
	}
}

// 21: a plugin was run two or three times while a client was made, and not again after a 401.
func TestRegression21PluginsRunOnce(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the plugin is a shell script")
	}
	dir := t.TempDir()
	plugin, log := filepath.Join(dir, "plugin"), filepath.Join(dir, "log")
	write(t, plugin, fmt.Sprintf(`#!/bin/sh
echo run >> '%s'
n=$(wc -l < '%s' | tr -d ' ')
echo '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"token-'$n'"}}'
`, log, log))
	if err := os.Chmod(plugin, 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "config"), `
clusters: [{name: c, cluster: {server: "https://host"}}]
users: [{name: u, user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: ./plugin, interactiveMode: Never}}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
`)
	cfg, err := kube.ConfigFromKubeconfig(filepath.Join(dir, "config"), nil)
	if err != nil {
		t.Fatal(err)
	}
	var tokens []string
	cfg.Transport = roundTripper(func(req *http.Request) (*http.Response, error) {
		token := strings.TrimPrefix(req.Header.Get("Authorization"), "Bearer ")
		tokens = append(tokens, token)
		code, body := 200, `{"kind":"Pod","apiVersion":"v1"}`
		if token == "token-1" && len(tokens) > 2 {
			code, body = 401, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Unauthorized","code":401}`
		}
		return &http.Response{StatusCode: code, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body))}, nil
	})
	client, err := kube.NewClient(cfg)
	if err != nil {
		t.Fatal(err)
	}
	for range 4 {
		if _, err := client.DefaultNamespace(core.Pods).Get(t.Context(), "p"); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{"token-1", "token-1", "token-1", "token-2", "token-2"}, tokens); diff != "" {
		t.Error(diff)
	}
	runs, err := os.ReadFile(log)
	if err != nil || string(runs) != "run\nrun\n" {
		t.Errorf("the plugin's log is %q, %v", runs, err)
	}
}

// 22: of a refused upgrade, the server's Status was lost.
func TestRegression22RefusedUpgradesKeepTheStatus(t *testing.T) {
	rec, client := recording(t, "https://host")
	rec.code, rec.answer = 403, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403,"message":"you may not exec"}`
	_, err := client.Namespaced(core.Pods, "ns").Endpoint().Connect(t.Context(), "p", core.PodExec.Descriptor(), url.Values{"command": {"ls"}},
		http.Header{"Connection": {"Upgrade"}, "Upgrade": {"websocket"}})
	if !errors.Is(err, kube.ErrForbidden) || !strings.Contains(err.Error(), "you may not exec") {
		t.Errorf("error = %v", err)
	}
}

// 23: a POST was repeated after 504, retries went on for minutes without a word, and unary
// calls had no deadline.
func TestRegression23RetriesAreBoundedAndSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sent, seen := 0, 0
		client, err := kube.NewClient(&kube.Config{
			Server:  "https://host",
			OnRetry: func(kube.RetryInfo) { seen++ },
			Transport: roundTripper(func(req *http.Request) (*http.Response, error) {
				sent++
				return &http.Response{StatusCode: 504, Header: http.Header{"Retry-After": {"20"}}, Body: http.NoBody}, nil
			}),
		})
		if err != nil {
			t.Fatal(err)
		}
		api := client.Namespaced(hacks, "ns")
		if _, err := api.Create(t.Context(), &hack{ObjectMeta: metav1.ObjectMeta{Name: "h"}}, nil); err == nil || sent != 1 || seen != 0 {
			t.Errorf("a create was sent %d times: %v", sent, err)
		}
		sent = 0
		start := time.Now()
		if _, err := api.Get(t.Context(), "h"); err == nil {
			t.Error("no error")
		}
		if took := time.Since(start); took > kube.DefaultTimeout || seen != sent-1 || sent < 2 {
			t.Errorf("%d attempts, %d seen, in %s", sent, seen, took)
		}
	})
}

func TestRegression23UnaryCallsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, err := kube.NewClient(&kube.Config{
			Server: "https://host",
			Transport: roundTripper(func(req *http.Request) (*http.Response, error) {
				<-req.Context().Done()
				return nil, req.Context().Err()
			}),
		})
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		if _, err := client.Namespaced(hacks, "ns").Get(t.Context(), "h"); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != kube.DefaultTimeout {
			t.Errorf("%v after %s", err, time.Since(start))
		}
	})
}

// 24: one broken group failed the whole of discovery, and the aggregated form had no fallback.
func TestRegression24DiscoveryIsPartial(t *testing.T) {
	for _, form := range []string{"aggregated", "plain"} {
		t.Run(form, func(t *testing.T) {
			s := &site{of: map[string]string{
				"/api":             `{"kind":"APIVersions","versions":["v1"]}`,
				"/api/v1":          `{"resources":[{"name":"pods","kind":"Pod","namespaced":true}]}`,
				"/apis":            `{"kind":"APIGroupList","groups":[{"name":"good.io","versions":[{"groupVersion":"good.io/v1","version":"v1"}]},{"name":"bad.io","versions":[{"groupVersion":"bad.io/v1","version":"v1"}]}]}`,
				"/apis/good.io/v1": `{"resources":[{"name":"goods","kind":"Good","namespaced":true}]}`,
				"/apis/bad.io/v1":  "503 no backend",
			}}
			if form == "aggregated" {
				s.aggregated, s.of = "v2", map[string]string{
					"/api": `{"items":[]}`,
					"/apis": `{"items":[{"metadata":{"name":"good.io"},"versions":[{"version":"v1","resources":[` + resourceJSON("goods", "Good", "Namespaced", "") + `]}]},
						{"metadata":{"name":"bad.io"},"versions":[{"version":"v1","freshness":"Stale"}]}]}`,
				}
			}
			d, err := s.client(t).Discover(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := d.Lookup("goods"); err != nil {
				t.Error(err)
			}
			if err := d.Err(); err == nil || !strings.Contains(err.Error(), "bad.io/v1") || strings.Contains(err.Error(), "good.io") {
				t.Errorf("the error is %v", err)
			}
			if _, err := d.Lookup("bads"); !errors.Is(err, kube.ErrNotFound) || !strings.Contains(err.Error(), "bad.io") {
				t.Errorf("what may be there: %v", err)
			}
		})
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
