package requests_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/k8s/core"
	"github.com/google/go-cmp/cmp"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestIdentities(t *testing.T) {
	w := connect(t)
	certificate := w.user(t, "alice", "builders")
	dir := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, test := range []struct {
		name   string
		cfg    kube.Config
		user   string
		groups []string
	}{
		{"certificate", kube.Config{CertData: certificate.CertData, KeyData: certificate.KeyData}, "alice", []string{"builders"}},
		{"certificate in files", kube.Config{
			CertFile: write("crt", string(certificate.CertData)), KeyFile: write("key", string(certificate.KeyData)),
		}, "alice", []string{"builders"}},
		{"token", kube.Config{BearerToken: w.NobodyToken()}, "nobody", nil},
		{"token in a file", kube.Config{BearerTokenFile: write("token", w.NobodyToken()+"\n")}, "nobody", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.cfg.Server, test.cfg.CAData = w.URL(), w.CA()
			got, err := whoAmI(t.Context(), newClient(t, &test.cfg))
			if err != nil || got.Username != test.user || !slices.Equal(got.Groups, append(test.groups, "system:authenticated")) {
				t.Errorf("the server sees %s of %q, %v; want %s of %q", got.Username, got.Groups, err, test.user, test.groups)
			}
		})
	}
}

func TestImpersonation(t *testing.T) {
	w := connect(t)
	cfg := w.user(t, "boss", "system:masters")
	cfg.Impersonate = kube.Impersonation{
		User: "jane doe", UID: "u-1", Groups: []string{"one", "two"},
		Extra: map[string][]string{"example.org/Scope%": {"a", "b ä"}},
	}
	got, err := whoAmI(t.Context(), newClient(t, cfg))
	if err != nil {
		t.Fatal(err)
	}
	want := authenticationv1.UserInfo{
		Username: "jane doe", UID: "u-1", Groups: []string{"one", "two", "system:authenticated"},
		// The server makes the keys lower case.
		Extra: map[string]authenticationv1.ExtraValue{"example.org/scope%": {"a", "b ä"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("who the server sees (-want +got):\n%s", diff)
	}
	plain := w.user(t, "alice")
	plain.Impersonate.User = "admin"
	_, err = whoAmI(t.Context(), newClient(t, plain))
	if !errors.Is(err, kube.ErrForbidden) || !strings.Contains(err.Error(), `User "alice" cannot impersonate`) {
		t.Errorf("error %v, want that alice may not impersonate", err)
	}
}

func TestForbiddenSaysWhat(t *testing.T) {
	w := connect(t)
	client := newClient(t, w.user(t, "alice", "builders"))
	for _, test := range []struct {
		name string
		do   func() error
		want string
	}{
		{"list", func() error {
			_, err := client.All(core.Secrets).List(t.Context(), nil)
			return err
		}, `secrets is forbidden: User "alice" cannot list resource "secrets" in API group "" at the cluster scope`},
		{"get", func() error {
			_, err := client.Namespaced(core.Pods, "default").Get(t.Context(), "web")
			return err
		}, `pods "web" is forbidden: User "alice" cannot get resource "pods" in API group "" in the namespace "default"`},
		{"watch", func() error {
			_, err := client.All(core.Nodes).Endpoint().OpenWatch(t.Context(), nil)
			return err
		}, `nodes is forbidden: User "alice" cannot watch resource "nodes" in API group "" at the cluster scope`},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := test.do()
			if !errors.Is(err, kube.ErrForbidden) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %s", err, test.want)
			}
		})
	}
}

// load makes requests from several goroutines until ctx ends, and returns how many there were.
func load(t *testing.T, ctx context.Context, client *kube.Client, user string) int64 {
	t.Helper()
	var requests atomic.Int64
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for ctx.Err() == nil {
				got, err := whoAmI(t.Context(), client)
				if err != nil || got.Username != user {
					t.Errorf("request %d as %q: %v", requests.Load(), got.Username, err)
					return
				}
				requests.Add(1)
				select {
				case <-time.After(5 * time.Millisecond):
				case <-ctx.Done():
				}
			}
		})
	}
	wg.Wait()
	return requests.Load()
}

// TestTokenFileRotates replaces a token file every second, and makes each token invalid a second
// after its successor is there. The server remembers for 10 s that a token was good, so it lasts
// longer.
func TestTokenFileRotates(t *testing.T) {
	t.Parallel()
	w := connect(t)
	admin, ns := w.admin(t), w.NewNamespace(t)
	if _, err := admin.Namespaced(core.ServiceAccounts, ns).Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "robot"}}, nil); err != nil {
		t.Fatal(err)
	}
	secrets := admin.Namespaced(core.Secrets, ns)
	path := filepath.Join(t.TempDir(), "token")
	// rotate writes a token that lives as long as a Secret does.
	rotate := func(n int) (token string) {
		secret, err := secrets.Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("token-", n)}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{
			BoundObjectRef: &authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Secret", Name: secret.Name, UID: secret.UID},
		}}
		granted, err := admin.Namespaced(core.ServiceAccounts, ns).Sub(core.ServiceAccountToken).Create(t.Context(), "robot", request, nil)
		if err != nil {
			t.Fatal(err)
		}
		// As the kubelet does it: never a file that is half written.
		if err := os.WriteFile(path+".new", []byte(granted.Status.Token), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path+".new", path); err != nil {
			t.Fatal(err)
		}
		return granted.Status.Token
	}
	first := rotate(0)
	client := newClient(t, &kube.Config{Server: w.URL(), CAData: w.CA(), BearerTokenFile: path})
	user := "system:serviceaccount:" + ns + ":robot"
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var requests int64
	var wg sync.WaitGroup
	wg.Go(func() { requests = load(t, ctx, client, user) })
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for n := 1; n <= 13; n++ {
		<-tick.C
		if n > 1 {
			if err := secrets.Delete(t.Context(), fmt.Sprint("token-", n-2), nil); err != nil {
				t.Fatal(err)
			}
		}
		rotate(n)
	}
	cancel()
	wg.Wait()
	t.Logf("%d requests", requests)
	if _, err := whoAmI(t.Context(), newClient(t, &kube.Config{Server: w.URL(), CAData: w.CA(), BearerToken: first})); !errors.Is(err, kube.ErrUnauthorized) {
		t.Errorf("the first token: %v, want that it is refused, or else this test shows nothing", err)
	}
}

// TestExecPluginCertificates: certificates of a plugin end while requests are made.
func TestExecPluginCertificates(t *testing.T) {
	t.Parallel()
	w := connect(t)
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	log := filepath.Join(dir, "log")
	path := filepath.Join(dir, "config")
	text := kubeconfigFor(w, fmt.Sprintf(`
    exec:
      apiVersion: client.authentication.k8s.io/v1
      command: %q
      interactiveMode: Never
      env:
      - {name: %s, value: %q}
      - {name: %s, value: %q}
`, program, pluginEnv, w.Kubeconfig(), pluginLogEnv, log))
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := kube.ConfigFromKubeconfig(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	const lives = 3
	ctx, cancel := context.WithTimeout(t.Context(), lives*pluginLifetime)
	defer cancel()
	requests := load(t, ctx, newClient(t, cfg), pluginUser)
	data, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	runs := strings.Count(string(data), "\n")
	t.Logf("%d requests with %d certificates", requests, runs)
	// A fifth of each life is left when it is replaced; a slow machine makes fewer of them.
	if runs < 2 || runs > 2*lives {
		t.Errorf("the plugin ran %d times, want about once for each of %d lives", runs, lives)
	}
}

func kubeconfigFor(w world, user string) string {
	return fmt.Sprintf(`apiVersion: v1
kind: Config
current-context: c
contexts: [{name: c, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {server: %q, certificate-authority-data: %s}}]
users:
- name: u
  user:%s`, w.URL(), base64.StdEncoding.EncodeToString(w.CA()), user)
}

// TestOIDC: id tokens end while requests are made, and what refreshes them is written back.
func TestOIDC(t *testing.T) {
	t.Parallel()
	w := connect(t)
	begun := w.issuer.refreshes.Load()
	ended, err := w.issuer.sign(-time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "config")
	text := kubeconfigFor(w, fmt.Sprintf(`
    auth-provider:
      name: oidc
      config:
        client-id: %s
        id-token: %s
        refresh-token: %s
        idp-issuer-url: %s
        idp-certificate-authority-data: %s
`, issuerClient, ended, fmt.Sprint("refresh-", w.issuer.refreshes.Load()), w.issuer.server.URL, base64.StdEncoding.EncodeToString(w.issuer.caPEM())))
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := kube.ConfigFromKubeconfig(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	client := newClient(t, cfg)
	eventually(t, "the server to have the issuer's keys", func() bool {
		_, err := whoAmI(t.Context(), client)
		return err == nil
	})
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Second)
	defer cancel()
	requests := load(t, ctx, client, issuerUser)
	total := w.issuer.refreshes.Load()
	refreshes := total - begun
	t.Logf("%d requests with %d id tokens", requests, refreshes)
	if refreshes < 2 || refreshes > 12 {
		t.Errorf("%d id tokens of 4 s in 8 s, want from 2 to 12", refreshes)
	}
	written, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("refresh-token: refresh-%d\n", total); !strings.Contains(string(written), want) || strings.Contains(string(written), ended) {
		t.Errorf("the kubeconfig lacks %q, or has the id token that has ended still:\n%s", want, written)
	}
}
