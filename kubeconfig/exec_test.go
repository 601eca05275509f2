package kubeconfig_test

import (
	"bytes"
	"context"
	"encoding/json/v2"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-kube/kube/kubeconfig"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// TestMain makes the test binary the program that the tests run: with PLUGIN set it prints what
// the variable says and does nothing else.
func TestMain(m *testing.M) {
	if os.Getenv("PLUGIN") == "" {
		os.Setenv("GORACE", "atexit_sleep_ms=0") // of the programs
		os.Exit(m.Run())
	}
	os.Exit(beProgram())
}

func beProgram() int {
	if path := os.Getenv("PLUGIN_LOG"); path != "" {
		f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return 3
		}
		fmt.Fprintf(f, "%q %s\n", os.Args[1:], os.Getenv("KUBERNETES_EXEC_INFO"))
		f.Close()
	}
	fmt.Fprint(os.Stderr, os.Getenv("PLUGIN_STDERR"))
	fmt.Print(strings.ReplaceAll(os.Getenv("PLUGIN"), "PARENT", os.Getenv("PLUGIN_PARENT")))
	if os.Getenv("PLUGIN_STDERR") != "" && strings.Contains(os.Getenv("PLUGIN"), "FAIL") {
		return 7
	}
	if os.Getenv("PLUGIN_HANG") != "" {
		select {}
	}
	return 0
}

const (
	v1      = "client.authentication.k8s.io/v1"
	v1beta1 = "client.authentication.k8s.io/v1beta1"
)

func credentialText(apiVersion, status string) string {
	return `{"kind":"ExecCredential","apiVersion":"` + apiVersion + `","status":` + status + `}`
}

// program returns an exec entry whose program prints output.
func program(output string, env ...string) *kubeconfig.Exec {
	e := &kubeconfig.Exec{APIVersion: v1, Command: os.Args[0], InteractiveMode: "Never"}
	e.Env = []kubeconfig.EnvVar{{Name: "PLUGIN", Value: kubeconfig.Secret(output)}}
	for _, pair := range env {
		name, value, _ := strings.Cut(pair, "=")
		e.Env = append(e.Env, kubeconfig.EnvVar{Name: name, Value: kubeconfig.Secret(value)})
	}
	return e
}

func fetch(t *testing.T, r *kubeconfig.Resolved, opts *kubeconfig.CredentialOptions) (*kubeconfig.Credential, error) {
	t.Helper()
	if opts == nil {
		opts = &kubeconfig.CredentialOptions{Stderr: &bytes.Buffer{}}
	}
	source, err := r.Credentials(opts)
	if err != nil {
		return nil, err
	}
	return source(t.Context(), nil)
}

func TestExecOutput(t *testing.T) {
	t.Setenv("PLUGIN_PARENT", "from the parent")
	end := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, test := range []struct {
		name, output string
		change       func(*kubeconfig.Exec)
		want         kubeconfig.Credential
	}{
		{"token", credentialText(v1, `{"token":"abc"}`), nil, kubeconfig.Credential{Token: "abc"}},
		{"token that ends", credentialText(v1, `{"token":"abc","expirationTimestamp":"2030-01-02T03:04:05Z"}`), nil, kubeconfig.Credential{Token: "abc", Expires: end}},
		{"null expiry", credentialText(v1, `{"token":"abc\n","expirationTimestamp":null}`), nil, kubeconfig.Credential{Token: "abc"}},
		{"certificate", credentialText(v1, `{"clientCertificateData":"CERT","clientKeyData":"KEY"}`), nil,
			kubeconfig.Credential{Certificate: []byte("CERT"), Key: []byte("KEY")}},
		{"yaml", "apiVersion: " + v1 + "\nkind: ExecCredential\nstatus:\n  token: abc\n  expirationTimestamp: \"2030-01-02T03:04:05Z\"\n", nil,
			kubeconfig.Credential{Token: "abc", Expires: end}},
		{"v1beta1", credentialText(v1beta1, `{"token":"abc"}`), func(e *kubeconfig.Exec) { e.APIVersion, e.InteractiveMode = v1beta1, "" }, kubeconfig.Credential{Token: "abc"}},
		{"environment of the parent", credentialText(v1, `{"token":"PARENT"}`), func(e *kubeconfig.Exec) {}, kubeconfig.Credential{Token: "from the parent"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := program(test.output)
			if test.change != nil {
				test.change(e)
			}
			got, err := fetch(t, &kubeconfig.Resolved{User: kubeconfig.User{Exec: e}}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(&test.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Error(diff)
			}
			if text := fmt.Sprintf("%v %+v %s", got, got, got); strings.Contains(text, "abc") || strings.Contains(text, "KEY") {
				t.Errorf("printing shows a secret: %s", text)
			}
		})
	}
}

func TestExecErrors(t *testing.T) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	for _, test := range []struct {
		name string
		exec *kubeconfig.Exec
		want []string
	}{
		{"not installed", &kubeconfig.Exec{APIVersion: v1, Command: "no-such-login", InteractiveMode: "Never", InstallHint: "\nGet it at example.com.\n"},
			[]string{`exec plugin "no-such-login": the program is not installed, or not in PATH`, "\n\nGet it at example.com."}},
		{"failure", program("FAIL", "PLUGIN_STDERR=token of bob has expired"), []string{"exit status 7", "token of bob has expired"}},
		{"no answer", program(" "), []string{"its output is not an ExecCredential: it is empty"}},
		{"garbage", program("{hunter2"), []string{"its output is not an ExecCredential"}},
		{"a list", program(`["hunter2"]`), []string{"its output is not an ExecCredential"}},
		{"wrong type", program(credentialText(v1, `{"token":{"hunter2":1}}`)), []string{"/status/token"}},
		{"other kind", program(`{"kind":"Secret","apiVersion":"` + v1 + `"}`), []string{`has the kind "Secret" in place of ExecCredential`}},
		{"other version", program(credentialText(v1beta1, `{"token":"hunter2"}`)), []string{`configured for apiVersion "` + v1 + `" and answered with "` + v1beta1 + `"`}},
		{"no status", program(credentialText(v1, "null")), []string{"no status"}},
		{"nothing", program(credentialText(v1, "{}")), []string{"neither a token nor a client certificate"}},
		{"no key", program(credentialText(v1, `{"clientCertificateData":"hunter2"}`)), []string{"only one is in its answer"}},
		{"no command", &kubeconfig.Exec{APIVersion: v1}, []string{"command is empty"}},
		{"no version", &kubeconfig.Exec{Command: "aws"}, []string{`exec plugin "aws": apiVersion is empty`}},
		{"old version", &kubeconfig.Exec{Command: "aws", APIVersion: "client.authentication.k8s.io/v1alpha1"}, []string{"is not supported"}},
		{"no mode", &kubeconfig.Exec{Command: "aws", APIVersion: v1}, []string{"interactiveMode is empty"}},
		{"unknown mode", &kubeconfig.Exec{Command: "aws", APIVersion: v1, InteractiveMode: "never"}, []string{`interactiveMode "never" is none of`}},
		{"bad variable", &kubeconfig.Exec{Command: "aws", APIVersion: v1, InteractiveMode: "Never", Env: []kubeconfig.EnvVar{{Name: "A=B"}}}, []string{`"A=B" cannot be the name`}},
		{"no terminal", &kubeconfig.Exec{Command: "aws", APIVersion: v1, InteractiveMode: "Always"}, []string{"interactiveMode is Always, and the standard input is not a terminal"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := fetch(t, &kubeconfig.Resolved{User: kubeconfig.User{Exec: test.exec}}, &kubeconfig.CredentialOptions{Stdin: null, Stderr: &bytes.Buffer{}})
			if err == nil {
				t.Fatal("no error")
			}
			for _, want := range test.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error = %q, want it to contain %q", err, want)
				}
			}
			if strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the error shows a secret: %v", err)
			}
		})
	}
}

// What a program is told, and that it runs once for as long as its credential is good.
func TestExecInfo(t *testing.T) {
	dir := t.TempDir()
	log, ca := filepath.Join(dir, "log"), filepath.Join(dir, "ca.crt")
	if err := os.WriteFile(ca, []byte("PEM"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := &kubeconfig.Resolved{
		Cluster: kubeconfig.Cluster{
			Server: "https://host", TLSServerName: "name", ProxyURL: "socks5://p", DisableCompression: true, CertificateAuthority: ca,
			Extensions: []kubeconfig.NamedExtension{{Name: "other", Extension: []byte("1")}, {Name: "client.authentication.k8s.io/exec", Extension: []byte(`{"audience":"a"}`)}},
		},
		User: kubeconfig.User{Exec: program(credentialText(v1, `{"token":"abc"}`), "PLUGIN_LOG="+log)},
	}
	r.User.Exec.ProvideClusterInfo, r.User.Exec.Args = true, []string{"get", "a token"}
	source, err := r.Credentials(nil)
	if err != nil {
		t.Fatal(err)
	}
	first, err := source(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if second, err := source(t.Context(), nil); err != nil || second != first {
		t.Errorf("another one for the same question: %v", err)
	}
	third, err := source(t.Context(), first)
	if err != nil || third == first {
		t.Errorf("the rejected one again: %v", err)
	}
	if fourth, err := source(t.Context(), first); err != nil || fourth != third {
		t.Errorf("who was refused with an older one makes the program run: %v", err)
	}
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	if len(lines) != 2 {
		t.Fatalf("ran %d times, want 2:\n%s", len(lines), text)
	}
	args, info, _ := strings.Cut(lines[0], "] ")
	if args != `["get" "a token"` {
		t.Errorf("arguments %s", args)
	}
	var got, want any
	const wanted = `{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","spec":{"interactive":false,"cluster":{
		"server":"https://host","tls-server-name":"name","certificate-authority-data":"UEVN","proxy-url":"socks5://p","disable-compression":true,"config":{"audience":"a"}}}}`
	if err := json.Unmarshal([]byte(info), &got); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(wanted), &want); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// An interactive program writes to the user; one that never is has its complaints in errors only.
func TestExecStderr(t *testing.T) {
	for mode, want := range map[string]string{"Never": "", "IfAvailable": "open the browser"} {
		e := program(credentialText(v1, `{"token":"abc"}`), "PLUGIN_STDERR=open the browser")
		e.InteractiveMode = mode
		var seen bytes.Buffer
		_, err := fetch(t, &kubeconfig.Resolved{User: kubeconfig.User{Exec: e}}, &kubeconfig.CredentialOptions{Stderr: &seen, StdinUnavailable: true})
		if err != nil || seen.String() != want {
			t.Errorf("%s: user saw %q, want %q; %v", mode, &seen, want, err)
		}
	}
}

func TestExecIsStoppedWithItsContext(t *testing.T) {
	r := &kubeconfig.Resolved{User: kubeconfig.User{Exec: program("x", "PLUGIN_HANG=1")}}
	source, err := r.Credentials(nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := source(ctx, nil); err == nil || !strings.Contains(err.Error(), "stopped: context deadline exceeded") {
		t.Errorf("error = %v", err)
	}
}

// A command with a separator starts from the folder of the kubeconfig, wherever the process runs.
func TestExecRelativeCommand(t *testing.T) {
	dir := t.TempDir()
	if err := os.Symlink(os.Args[0], filepath.Join(dir, "login")); err != nil {
		t.Skip(err)
	}
	path := filepath.Join(dir, "config")
	text := `clusters: [{name: c, cluster: {server: 'https://a'}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
users: [{name: u, user: {exec: {command: ./login, apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, env: [{name: PLUGIN, value: '` +
		credentialText(v1, `{"token":"abc"}`) + `'}]}}}]`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := kubeconfig.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := c.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := fetch(t, r, nil); err != nil || got.Token != "abc" {
		t.Errorf("%v, %v", got, err)
	}
}
