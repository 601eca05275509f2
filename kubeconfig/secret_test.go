package kubeconfig_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-kube/kube/kubeconfig"
)

func shape(tb testing.TB, name string) []byte {
	tb.Helper()
	text, err := os.ReadFile(filepath.Join(shapes, name))
	if err != nil {
		tb.Fatal(err)
	}
	return text
}

const secrets = `
clusters:
- {name: c, cluster: {server: https://a, certificate-authority-data: aHVudGVyMg==}}
users:
- name: u
  user:
    token: hunter2
    username: admin
    password: hunter2
    client-key-data: aHVudGVyMg==
    private: hunter2
    auth-provider: {name: oidc, config: {client-secret: hunter2, refresh-token: hunter2}}
    exec: {command: login, args: [--secret=hunter2], env: [{name: PASSWORD, value: hunter2, private: hunter2}]}
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
`

func TestSecretsAreNotPrinted(t *testing.T) {
	c := parse(t, secrets)
	r, err := c.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	user := c.Users[0].User
	for name, value := range map[string]any{
		"Config": c, "*Config": *c, "Users": c.Users, "NamedUser": c.Users[0], "*NamedUser": &c.Users[0], "User": user, "*User": &user,
		"Resolved": r, "AuthProvider": user.AuthProvider, "Exec": *user.Exec, "Env": user.Exec.Env, "EnvVar": user.Exec.Env[0], "*EnvVar": &user.Exec.Env[0], "settings": user.AuthProvider.Config,
		"Secret": user.Token, "Data": user.ClientKeyData, "Cluster": c.Clusters[0], "within": struct{ User kubeconfig.User }{user},
	} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
			noLeak(t, name+" with "+verb, fmt.Sprintf(verb, value))
		}
		for kind, handler := range map[string]func(*bytes.Buffer) slog.Handler{
			"text": func(b *bytes.Buffer) slog.Handler { return slog.NewTextHandler(b, nil) },
			"JSON": func(b *bytes.Buffer) slog.Handler { return slog.NewJSONHandler(b, nil) },
		} {
			var b bytes.Buffer
			slog.New(handler(&b)).Info("message", "value", value)
			noLeak(t, name+" in a log as "+kind, b.String())
		}
		text, err := json.Marshal(value)
		noLeak(t, name+" as JSON", string(text))
		if err == nil && name != "Cluster" {
			t.Errorf("%s was written as JSON: %s", name, text)
		}
	}
}

func noLeak(t *testing.T, how, got string) {
	t.Helper()
	hex := fmt.Sprintf("%x", "hunter2")
	for _, secret := range []string{"hunter2", "aHVudGVyMg", hex, strings.ToUpper(hex), "104 117 110"} {
		if strings.Contains(got, secret) {
			t.Errorf("%s shows the secret: %s", how, got)
		}
	}
}

func TestPrinted(t *testing.T) {
	got := fmt.Sprint(parse(t, secrets).Users[0].User)
	want := "User{client-key-data:[7 bytes] token:[redacted] username:admin password:[redacted] " +
		"auth-provider:[name=oidc config=client-secret,refresh-token] exec:[command=login args=[1] env=PASSWORD] other:private}"
	if got != want {
		t.Errorf("User prints as %s\nwant %s", got, want)
	}
}

func TestEncodeWritesSecrets(t *testing.T) {
	text, err := parse(t, secrets).Encode()
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), "hunter2"); n != 8 {
		t.Errorf("%d of 8 secrets are in the file:\n%s", n, text)
	}
	if n := strings.Count(string(text), "aHVudGVyMg=="); n != 2 {
		t.Errorf("%d of 2 PEM fields are in the file:\n%s", n, text)
	}
}
