package kube

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestServer(t *testing.T) {
	for _, test := range []struct {
		server string
		tls    bool
		want   string // or an error
	}{
		{"https://host", false, "https://host"},
		{"https://host:6443/", false, "https://host:6443"},
		{"https://host/k8s/clusters/c-1/", false, "https://host/k8s/clusters/c-1"},
		{"https://host/a%2Fb/", false, "https://host/a%2Fb"},
		{"http://localhost:8080", true, "http://localhost:8080"},
		{"HTTPS://HOST", false, "https://HOST"},
		{"host", true, "https://host"},
		{"host:6443", true, "https://host:6443"},
		{"localhost:8080", false, "http://localhost:8080"},
		{"10.0.0.1:6443", true, "https://10.0.0.1:6443"},
		{"[2001:db8::1]:6443", true, "https://[2001:db8::1]:6443"},
		{"", true, "Config.Server is empty"},
		{"host/path", true, "an address with a path needs a scheme"},
		{"ftp://host", true, `scheme "ftp" is neither https nor http`},
		{"https://", true, "there is no host in it"},
		{"https://host?x=1", true, "a query or fragment has no meaning here"},
		{"https://user:hunter2@host:port", true, `Config.Server "[redacted]@host:port" is not an address`},
		{"https://user:hunter2@host?x", true, `Config.Server "https://user:xxxxx@host?x"`},
	} {
		u, err := parseServer(test.server, test.tls)
		got := fmt.Sprint(u)
		if err != nil {
			got = err.Error()
		}
		if got != test.want && (err == nil || !strings.Contains(got, test.want)) {
			t.Errorf("parseServer(%q, %t) = %s, want %s", test.server, test.tls, got, test.want)
		}
		if strings.Contains(got, "hunter2") {
			t.Errorf("the error shows the password: %s", got)
		}
	}
}

// A path in the address is in front of each request's.
func TestPathPrefix(t *testing.T) {
	tr := testTransport(t, &Config{Server: "https://rancher.example.com/k8s/clusters/c-1/", Transport: warned()})
	if got := tr.baseURL.JoinPath("api", "v1", "pods").String(); got != "https://rancher.example.com/k8s/clusters/c-1/api/v1/pods" {
		t.Errorf("address = %s", got)
	}
}

func TestBareHostWithCredentials(t *testing.T) {
	for name, cfg := range map[string]*Config{
		"token": {BearerToken: "a"}, "password": {Username: "a", Password: "b"}, "name": {ServerName: "a"}, "insecure": {Insecure: true},
	} {
		cfg.Server = "host:6443"
		if u, err := cfg.baseURL(); err != nil || u.Scheme != "https" {
			t.Errorf("%s: %v, %v; want https", name, u, err)
		}
	}
}

func TestConfigErrors(t *testing.T) {
	for _, test := range []struct {
		name string
		cfg  *Config
		want string
	}{
		{"nil", nil, "no configuration; InferConfig finds one"},
		{"empty", &Config{}, "Config.Server is empty"},
		{"insecure with an authority", &Config{Insecure: true, CAData: []byte("x")}, "Config.Insecure excludes CAData"},
		{"certificate without key", &Config{CertData: []byte("x")}, "a client certificate without its key"},
		{"key without certificate", &Config{KeyFile: "x"}, "a client key without its certificate"},
		{"nil middleware", &Config{Wrap: make([]func(http.RoundTripper) http.RoundTripper, 1)}, "Config.Wrap has an entry that is nil"},
		{"negative retries", &Config{MaxRetries: -1}, "Config.MaxRetries is -1; use DisableRetry"},
		{"transport and TLS", &Config{Transport: warned(), ServerName: "x"}, "Config.Transport excludes the TLS fields"},
		{"transport and proxy", &Config{Transport: warned(), ProxyURL: "http://x"}, "Config.Transport excludes the TLS fields"},
		{"no certificate in the authority", &Config{CAData: []byte("hello")}, "Config.CAData holds no PEM certificate"},
		{"missing authority", &Config{CAFile: "/does/not/exist"}, "Config.CAFile: open /does/not/exist"},
		{"not a certificate", &Config{CertData: []byte("x"), KeyData: []byte("y")}, "Config.CertData and Config.KeyData are not a certificate and its key"},
		{"proxy", &Config{ProxyURL: "ftp://u:hunter2@p"}, `Config.ProxyURL "ftp://u:xxxxx@p" has to be http://`},
		{"proxy without a host", &Config{ProxyURL: "http://"}, `has to be http://`},
		{"proxy that is no address", &Config{ProxyURL: "http://u:hunter2@p:x"}, `Config.ProxyURL "[redacted]@p:x" is not an address`},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.cfg != nil && test.name != "empty" {
				test.cfg.Server = "https://host"
			}
			_, err := newTransport(test.cfg)
			if err == nil || !strings.HasPrefix(err.Error(), "kube: ") || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error = %v\nwant    %s", err, test.want)
			}
			if err != nil && strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the error shows the password: %v", err)
			}
		})
	}
}

func TestClone(t *testing.T) {
	c := &Config{
		CAData: []byte("a"), Wrap: make([]func(http.RoundTripper) http.RoundTripper, 1), Protocols: http2Only(),
		Impersonate: Impersonation{Groups: []string{"a"}, Extra: map[string][]string{"k": {"a"}}},
	}
	d := c.Clone()
	d.CAData[0], d.Impersonate.Groups[0], d.Impersonate.Extra["k"][0] = 'b', "b", "b"
	d.Impersonate.Extra["l"] = nil
	d.Protocols.SetHTTP1(true)
	d.Wrap[0] = func(http.RoundTripper) http.RoundTripper { return nil }
	if c.CAData[0] != 'a' || c.Impersonate.Groups[0] != "a" || c.Impersonate.Extra["k"][0] != "a" || len(c.Impersonate.Extra) != 1 ||
		c.Protocols.HTTP1() || c.Wrap[0] != nil {
		t.Errorf("changing the copy changed the original: %+v", c.Impersonate)
	}
}

func TestConfigIsCopied(t *testing.T) {
	g := &gate{}
	c := &Config{Server: "https://host", Transport: g, BearerToken: "before"}
	tr := testTransport(t, c)
	c.BearerToken, c.Server = "after", "https://other"
	do(t, tr, newRequest(t, tr, "GET", "/api", ""))
	if g.seen[0] != "Bearer before" || tr.baseURL.Host != "host" {
		t.Errorf("changing the configuration changed the client: %v, %v", g.seen, tr.baseURL)
	}
}

func TestConfigHidesSecrets(t *testing.T) {
	c := Config{
		Server: "https://admin:hunter2@host", BearerToken: "hunter2", Username: "admin", Password: "hunter2", KeyData: []byte("hunter2"),
		CertData: []byte("public"), ProxyURL: "http://u:hunter2@proxy", Timeout: time.Minute,
		Dial: func(context.Context, string, string) (net.Conn, error) { return nil, nil },
	}
	want := `kube.Config{Server:https://admin:xxxxx@host CertData:[6 bytes] KeyData:[redacted] BearerToken:[redacted] Username:admin ` +
		`Password:[redacted] ProxyURL:http://u:xxxxx@proxy Timeout:1m0s Dial:set}`
	if got := fmt.Sprint(c); got != want {
		t.Errorf("prints as %s\nwant      %s", got, want)
	}
	for name, v := range map[string]any{"value": c, "pointer": &c, "slice": []Config{c}, "field": struct{ Config Config }{c}} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x"} {
			noSecret(t, name+" with "+verb, fmt.Sprintf(verb, v))
		}
		var text, js bytes.Buffer
		slog.New(slog.NewTextHandler(&text, nil)).Info("m", "config", v)
		slog.New(slog.NewJSONHandler(&js, nil)).Info("m", "config", v)
		noSecret(t, name+" in a log", text.String()+js.String())
		out, err := json.Marshal(v)
		if err == nil {
			t.Errorf("%s was written as JSON: %s", name, out)
		}
	}
}

func noSecret(t *testing.T, how, got string) {
	t.Helper()
	for _, s := range []string{"hunter2", fmt.Sprintf("%x", "hunter2"), "104 117 110"} {
		if strings.Contains(got, s) {
			t.Errorf("%s shows a secret: %s", how, got)
		}
	}
}

func TestUserAgent(t *testing.T) {
	if got := strings.Map(tokenRune, "my tool/(größe)"); got != "my_tool__gr__e_" {
		t.Errorf("product name = %q", got)
	}
	got := defaultUserAgent()
	program := strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe")
	want := regexp.MustCompile(`^` + regexp.QuoteMeta(program) + `/\S+ \(` + runtime.GOOS + `/` + runtime.GOARCH + `\) kube/\S+$`)
	if !want.MatchString(got) {
		t.Errorf("user agent = %q, want %s", got, want)
	}
}
