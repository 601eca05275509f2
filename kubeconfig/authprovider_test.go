package kubeconfig_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-kube/kube/kubeconfig"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func provider(name string, pairs ...string) *kubeconfig.Resolved {
	config := map[string]kubeconfig.Secret{}
	for i := 0; i < len(pairs); i += 2 {
		config[pairs[i]] = kubeconfig.Secret(pairs[i+1])
	}
	return &kubeconfig.Resolved{User: kubeconfig.User{AuthProvider: &kubeconfig.AuthProvider{Name: name, Config: config}}}
}

func TestCommandProvider(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	t.Setenv("PLUGIN_LOG", log)
	t.Setenv("PLUGIN", `{"credential":{"access_token":"fresh","token_expiry":"2030-01-02T03:04:05Z"}}`)
	end := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	soon := time.Now().Add(30 * time.Second).UTC().Format(time.RFC3339)
	command := []string{"cmd-path", os.Args[0], "cmd-args", `config "a b" it\'s 'c\d' ""`, "token-key", "{.credential.access_token}", "expiry-key", "'{$.credential.token_expiry}'"}
	for _, test := range []struct {
		name     string
		provider *kubeconfig.Resolved
		want     kubeconfig.Credential
		wantArgs string
	}{
		{"program", provider("gcp", command...), kubeconfig.Credential{Token: "fresh", Expires: end}, `["config" "a b" "it's" "c\\d" ""]`},
		{"stale token", provider("azure", append(command, "access-token", "stale", "expiry", soon)...), kubeconfig.Credential{Token: "fresh", Expires: end}, `["config" "a b" "it's" "c\\d" ""]`},
		{"stored token", provider("gcp", append(command, "access-token", "stored", "expiry", "2030-01-02 03:04:05")...), kubeconfig.Credential{Token: "stored", Expires: end}, ""},
		{"id-token", provider("gcp", "id-token", "stored"), kubeconfig.Credential{Token: "stored"}, ""},
		{"whole output", provider("gcp", "cmd-path", os.Args[0]), kubeconfig.Credential{Token: kubeconfig.Secret(os.Getenv("PLUGIN"))}, "[]"},
	} {
		t.Run(test.name, func(t *testing.T) {
			os.Remove(log)
			got, err := fetch(t, test.provider, nil)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(&test.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Error(diff)
			}
			text, _ := os.ReadFile(log)
			if args := strings.TrimSpace(string(text)); args != test.wantArgs {
				t.Errorf("arguments %s, want %s", args, test.wantArgs)
			}
		})
	}
}

func TestCommandProviderErrors(t *testing.T) {
	t.Setenv("PLUGIN", `{"credential":{"access_token":["hunter2"]}}`)
	with := func(pairs ...string) *kubeconfig.Resolved {
		return provider("gcp", append(pairs, "cmd-path", os.Args[0])...)
	}
	for _, test := range []struct {
		name     string
		provider *kubeconfig.Resolved
		want     string
	}{
		{"azure", provider("azure"), "kubelogin convert-kubeconfig"},
		{"gcp", provider("gcp"), "gke-gcloud-auth-plugin"},
		{"ended", provider("gcp", "access-token", "a", "expiry", "2020-01-02T03:04:05Z"), "its token has ended, and there is no cmd-path"},
		{"expiry", provider("gcp", "access-token", "a", "expiry", "tomorrow"), `expiry: "tomorrow" is not a time`},
		{"open quote", with("cmd-args", `a "b`), "cmd-args: a quote or a backslash is left open"},
		{"path", with("token-key", "{.items[0]}"), `token-key: "{.items[0]}" is not a path of names`},
		{"nothing there", with("token-key", "{.credential.token}"), "the output has nothing at .credential.token"},
		{"no object", with("token-key", "{.credential.access_token.x}"), "the output has no object at .credential.access_token"},
		{"no text", with("token-key", "{.credential.access_token}"), "the output has no text at .credential.access_token"},
		{"unknown", provider("acme"), `auth-provider "acme" is unknown`},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := fetch(t, test.provider, nil)
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("error = %v, want %q", err, test.want)
			}
		})
	}
}
