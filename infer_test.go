package kube

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json/v2"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/go-kube/kube/kubeconfig"
)

const shapes = "kubeconfig/testdata/shapes"

// reading is what client-go makes of a context of a file in kubeconfig/testdata/shapes.
type reading struct {
	Error              string         `json:"error"`
	Host               string         `json:"host"`
	Namespace          string         `json:"namespace"`
	CA                 string         `json:"ca-sha256"`
	Cert               string         `json:"cert-sha256"`
	Key                string         `json:"key-sha256"`
	Insecure           bool           `json:"insecure"`
	ServerName         string         `json:"server-name"`
	Proxy              string         `json:"proxy"`
	DisableCompression bool           `json:"disable-compression"`
	Token              string         `json:"token"`
	TokenFile          string         `json:"token-file"`
	AuthProvider       string         `json:"auth-provider"`
	Exec               map[string]any `json:"exec"`
	Impersonate        *struct {
		User   string              `json:"user"`
		UID    string              `json:"uid"`
		Groups []string            `json:"groups"`
		Extra  map[string][]string `json:"extra"`
	} `json:"impersonate"`
}

// shapesWithCertificates copies the files to a folder of their own and puts a client
// certificate in where they want one.
func shapesWithCertificates(t *testing.T) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "kubeconfigs")
	if err := os.CopyFS(dir, os.DirFS(shapes)); err != nil {
		t.Fatal(err)
	}
	cert, key := newAuthority(t, "users").issue("admin")
	writeFile(t, filepath.Join(dir, "pki", "client.crt"), string(cert))
	writeFile(t, filepath.Join(dir, "pki", "client.key"), string(key))
	for _, file := range must(os.ReadDir(dir)) {
		if file.IsDir() {
			continue
		}
		path := filepath.Join(dir, file.Name())
		text := must(os.ReadFile(path))
		text = bytes.ReplaceAll(text, []byte("CLIENT_CERT_DATA"), []byte(base64.StdEncoding.EncodeToString(cert)))
		text = bytes.ReplaceAll(text, []byte("CLIENT_KEY_DATA"), []byte(base64.StdEncoding.EncodeToString(key)))
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestShapes compares, context by context, with what client-go reads. Where we differ by
// intent the test says so.
func TestShapes(t *testing.T) {
	dir := shapesWithCertificates(t)
	var files map[string]struct {
		Error    string             `json:"error"`
		Contexts map[string]reading `json:"contexts"`
	}
	if err := json.Unmarshal(must(os.ReadFile(filepath.Join(shapes, "expected.json"))), &files); err != nil {
		t.Fatal(err)
	}
	contexts := 0
	for file, want := range files {
		path := filepath.Join(dir, file)
		if want.Error != "" {
			if _, err := ConfigFromKubeconfig(path, nil); err == nil {
				t.Errorf("%s: read, and client-go says: %s", file, want.Error)
			}
			continue
		}
		for context, want := range want.Contexts {
			contexts++
			t.Run(file+" "+context, func(t *testing.T) {
				opts := &KubeconfigOptions{Context: context}
				if context == "(none chosen)" {
					opts = nil
				}
				c, err := ConfigFromKubeconfig(path, opts)
				switch {
				case want.Error != "":
					if err == nil {
						t.Errorf("read, and client-go says: %s", want.Error)
					}
				case err != nil:
					t.Error(err)
				default:
					if fetched := want.Exec != nil || want.AuthProvider != ""; fetched != (c.Credentials != nil) {
						t.Errorf("Credentials set: %t, want %t", c.Credentials != nil, fetched)
					}
					compare(t, dir, want, c)
				}
			})
		}
	}
	if len(files) != 16 || contexts != 22 {
		t.Errorf("compared %d files and %d contexts", len(files), contexts)
	}
}

func compare(t *testing.T, dir string, want reading, c *Config) {
	t.Helper()
	got := reading{
		AuthProvider: want.AuthProvider, Exec: want.Exec, // compared by package kubeconfig
		Host: c.Server, Namespace: c.Namespace, Insecure: c.Insecure, ServerName: c.ServerName, Proxy: c.ProxyURL,
		DisableCompression: c.DisableCompression, Token: c.BearerToken, TokenFile: strings.TrimPrefix(c.BearerTokenFile, dir+"/"),
		CA: hashOf(c.CAData, c.CAFile), Cert: hashOf(c.CertData, c.CertFile), Key: hashOf(c.KeyData, c.KeyFile),
	}
	if !c.Impersonate.isZero() {
		got.Impersonate = want.Impersonate
		if w := want.Impersonate; w != nil {
			wanted := Impersonation{User: w.User, UID: w.UID, Groups: w.Groups, Extra: w.Extra}
			if len(wanted.Extra) == 0 {
				wanted.Extra = c.Impersonate.Extra // {} in the file, nothing in client-go's reading
			}
			if diff := cmp.Diff(wanted, c.Impersonate); diff != "" {
				t.Errorf("impersonation (-client-go +ours):\n%s", diff)
			}
		}
	}
	if want.Cert != "" {
		want.Cert, want.Key = hashOf(nil, dir+"/pki/client.crt"), hashOf(nil, dir+"/pki/client.key")
	}
	if want.TokenFile != "" {
		// client-go holds the file's content as it is, newline and all, from the start. Here it is
		// read when the client is made, and trimmed.
		want.Token = ""
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-client-go +ours):\n%s", diff)
	}
	tr, err := newTransport(c)
	if err != nil {
		t.Fatal(err)
	}
	tr.close()
}

func hashOf(data []byte, file string) string {
	if len(data) == 0 && file != "" {
		data = must(os.ReadFile(file))
	}
	if len(data) == 0 {
		return ""
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func TestKubeconfigErrors(t *testing.T) {
	const head = "clusters: [{name: c, cluster: {server: 'https://a'}}]\ncontexts: [{name: x, context: {cluster: c, user: u}}]\ncurrent-context: x\n"
	for _, test := range []struct{ name, text, want string }{
		{"no server", "clusters: [{name: c, cluster: {}}]\ncontexts: [{name: x, context: {cluster: c}}]\ncurrent-context: x", `cluster "c" has no server`},
		{"server that is none", "clusters: [{name: c, cluster: {server: 'ftp://a'}}]\ncontexts: [{name: x, context: {cluster: c}}]\ncurrent-context: x",
			`cluster "c": Config.Server "ftp://a"`},
		{"proxy that is none", "clusters: [{name: c, cluster: {server: 'https://a', proxy-url: 'gopher://u:hunter2@p'}}]\ncontexts: [{name: x, context: {cluster: c}}]\ncurrent-context: x",
			`cluster "c": Config.ProxyURL "gopher://u:xxxxx@p" has to be`},
		{"exec of an old version", head + "users: [{name: u, user: {exec: {command: aws, apiVersion: client.authentication.k8s.io/v1alpha1}}}]",
			`user "u": exec plugin "aws": apiVersion "client.authentication.k8s.io/v1alpha1" is not supported`},
		{"auth-provider without a program", head + "users: [{name: u, user: {auth-provider: {name: gcp}}}]",
			`user "u": auth-provider "gcp" has neither a token nor a cmd-path`},
		{"unknown auth-provider", head + "users: [{name: u, user: {auth-provider: {name: acme}}}]", `auth-provider "acme" is unknown`},
		{"both", head + "users: [{name: u, user: {exec: {command: aws}, auth-provider: {name: gcp}}}]", `user "u": has both an exec plugin and an auth-provider`},
		{"token and password", head + "users: [{name: u, user: {token: a, username: b}}]", `context "x" (cluster "c", user "u"): the Config has both`},
		{"certificate without key", head + "users: [{name: u, user: {client-certificate-data: YQ==}}]", `user "u"): the Config has a client certificate without its key`},
		{"groups of nobody", head + "users: [{name: u, user: {as-groups: [a]}}]", `Config.Impersonate has a UID, Groups or Extra without a User`},
		{"missing files", head + "users: [{name: u, user: {client-certificate: a.crt, client-key: a.key, tokenFile: token}}]",
			`user "u": client-key: open `},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "config")
			writeFile(t, path, test.text)
			_, err := ConfigFromKubeconfig(path, nil)
			if err == nil || !strings.HasPrefix(err.Error(), "kube: ") || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error = %v\nwant    %s", err, test.want)
			}
			if err != nil && strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the error shows a secret: %v", err)
			}
		})
	}
}

func TestKubeconfigPrecedence(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "config")
	writeFile(t, filepath.Join(dir, "token"), "from-file\n")
	writeFile(t, path, `
clusters:
- name: both
  cluster: {server: https://a, certificate-authority: missing.crt, certificate-authority-data: YQ==}
- name: plain
  cluster: {server: http://localhost:8080}
users:
- name: u
  user: {token: abc, tokenFile: token, as: other, client-certificate: missing.crt, client-certificate-data: YQ==, client-key: missing.key, client-key-data: YQ==}
contexts:
- {name: secure, context: {cluster: both, user: u}}
- {name: plain, context: {cluster: plain, user: u}}
current-context: secure
`)
	c, err := ConfigFromKubeconfig(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if c.CAFile != "" || c.CertFile != "" || c.KeyFile != "" || string(c.CAData) != "a" {
		t.Errorf("data does not win over files: %v", c)
	}
	c.CAData, c.CertData, c.KeyData = nil, nil, nil
	creds, err := newCredentials(must2(c.prepared()))
	if err != nil || must(creds.current(t.Context())).header != "Bearer from-file" {
		t.Errorf("token file does not win over token: %v", err)
	}

	c, err = ConfigFromKubeconfig(path, &KubeconfigOptions{Context: "plain", Namespace: "n"})
	if err != nil {
		t.Fatal(err)
	}
	if c.BearerToken != "" || c.BearerTokenFile != "" || len(c.CertData) > 0 {
		t.Error("credentials would be sent without TLS")
	}
	if c.Impersonate.User != "other" || c.Namespace != "n" {
		t.Errorf("%v", c)
	}
}

func must2[A, B any](a A, _ B, err error) A { return must(a, err) }

func TestConfigFromLoaded(t *testing.T) {
	c, err := ConfigFromLoaded(&kubeconfig.Config{
		Clusters: []kubeconfig.NamedCluster{{Name: "dev", Cluster: kubeconfig.Cluster{Server: "https://dev"}}},
	}, &KubeconfigOptions{Cluster: "dev"})
	if err != nil || c.Server != "https://dev" || c.Namespace != "default" {
		t.Errorf("%v, %v", c, err)
	}
}

func TestInferConfig(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"KUBECONFIG", "KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT"} {
		t.Setenv(name, "")
	}
	t.Setenv("HOME", dir)
	t.Run("nothing", func(t *testing.T) {
		_, err := InferConfig()
		if !errors.Is(err, ErrNotInCluster) || !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), dir+"/.kube/config") {
			t.Errorf("error = %v, want both causes", err)
		}
	})
	path := filepath.Join(dir, ".kube", "config")
	t.Run("empty kubeconfig", func(t *testing.T) {
		writeFile(t, path, "clusters: null\n")
		_, err := InferConfig()
		if !errors.Is(err, ErrNotInCluster) || !errors.Is(err, kubeconfig.ErrEmpty) {
			t.Errorf("error = %v, want both causes", err)
		}
	})
	t.Run("broken kubeconfig", func(t *testing.T) {
		writeFile(t, path, "clusters: [")
		if _, err := InferConfig(); err == nil || errors.Is(err, ErrNotInCluster) {
			t.Errorf("error = %v, want the kubeconfig's alone", err)
		}
	})
	t.Run("kubeconfig that names a missing file", func(t *testing.T) {
		writeFile(t, path, "clusters: [{name: a, cluster: {server: https://a, certificate-authority: gone}}]\ncontexts: [{name: a, context: {cluster: a}}]\ncurrent-context: a\n")
		if _, err := InferConfig(); !errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrNotInCluster) {
			t.Errorf("error = %v, want the kubeconfig's alone", err)
		}
	})
	t.Run("kubeconfig", func(t *testing.T) {
		writeFile(t, path, "clusters: [{name: a, cluster: {server: https://a}}]\ncontexts: [{name: a, context: {cluster: a}}]\ncurrent-context: a\n")
		if c, err := InferConfig(); err != nil || c.Server != "https://a" {
			t.Errorf("%v, %v", c, err)
		}
	})
}

func TestInClusterConfig(t *testing.T) {
	full := t.TempDir()
	writeFile(t, filepath.Join(full, "token"), "abc\n")
	writeFile(t, filepath.Join(full, "ca.crt"), "pem")
	writeFile(t, filepath.Join(full, "namespace"), "team\n")
	bare := t.TempDir()
	writeFile(t, filepath.Join(bare, "token"), "abc")
	for _, test := range []struct {
		name, host, port, pod, dir   string
		server, namespace, authority string
	}{
		{"name", "kubernetes.default.svc", "443", "", full, "https://kubernetes.default.svc:443", "team", full + "/ca.crt"},
		{"IPv4", "10.0.0.1", "6443", "", full, "https://10.0.0.1:6443", "team", full + "/ca.crt"},
		{"IPv6", "fd00::1", "443", "", full, "https://[fd00::1]:443", "team", full + "/ca.crt"},
		{"IPv6 in brackets", "[fd00::1]", "6443", "", full, "https://[fd00::1]:6443", "team", full + "/ca.crt"},
		{"POD_NAMESPACE", "10.0.0.1", "443", "mine", full, "https://10.0.0.1:443", "mine", full + "/ca.crt"},
		{"no more than a token", "10.0.0.1", "443", "", bare, "https://10.0.0.1:443", "default", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			env := map[string]string{"KUBERNETES_SERVICE_HOST": test.host, "KUBERNETES_SERVICE_PORT": test.port, "POD_NAMESPACE": test.pod}
			c, err := inClusterConfig(func(k string) string { return env[k] }, test.dir)
			if err != nil {
				t.Fatal(err)
			}
			want := &Config{Server: test.server, Namespace: test.namespace, CAFile: test.authority, BearerTokenFile: test.dir + "/token", DisableCompression: true}
			if got, want := c.String(), want.String(); got != want {
				t.Errorf("config = %s\nwant     %s", got, want)
			}
			if u, err := c.baseURL(); err != nil || u.String() != test.server {
				t.Errorf("address = %v, %v", u, err)
			}
		})
	}
	t.Run("no pod", func(t *testing.T) {
		if _, err := inClusterConfig(func(string) string { return "" }, full); !errors.Is(err, ErrNotInCluster) {
			t.Errorf("error = %v", err)
		}
	})
	t.Run("no token", func(t *testing.T) {
		_, err := inClusterConfig(func(string) string { return "1" }, t.TempDir())
		if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "automountServiceAccountToken") {
			t.Errorf("error = %v", err)
		}
	})
}
