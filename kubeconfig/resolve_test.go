package kubeconfig_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/go-kube/kube/kubeconfig"
)

const three = `
clusters:
- {name: a, cluster: {server: https://a}}
- {name: b, cluster: {server: https://b}}
users:
- {name: u, user: {token: t}}
- {name: v, user: {token: t}}
contexts:
- {name: one, context: {cluster: a, user: u, namespace: team}}
- {name: two, context: {cluster: b, user: ""}}
- {name: lost, context: {cluster: a, user: gone}}
- {name: nowhere, context: {cluster: gone, user: u}}
- {name: blank, context: {}}
`

func TestResolve(t *testing.T) {
	c := parse(t, three+"current-context: one\n")
	type names struct{ Context, Cluster, User, Namespace string }
	for _, test := range []struct {
		name      string
		overrides *kubeconfig.Overrides
		want      names
	}{
		{"current", nil, names{"one", "a", "u", "team"}},
		{"context", &kubeconfig.Overrides{Context: "two"}, names{"two", "b", "", "default"}},
		{"cluster", &kubeconfig.Overrides{Cluster: "b"}, names{"one", "b", "u", "team"}},
		{"user", &kubeconfig.Overrides{User: "v"}, names{"one", "a", "v", "team"}},
		{"namespace", &kubeconfig.Overrides{Namespace: "x"}, names{"one", "a", "u", "x"}},
		{"all", &kubeconfig.Overrides{Context: "lost", Cluster: "b", User: "v", Namespace: "x"}, names{"lost", "b", "v", "x"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			r, err := c.Resolve(test.overrides)
			if err != nil {
				t.Fatal(err)
			}
			got := names{r.ContextName, r.ClusterName, r.UserName, r.Namespace}
			if got != test.want {
				t.Errorf("resolved %v, want %v", got, test.want)
			}
			if want := "https://" + r.ClusterName; r.Cluster.Server != want {
				t.Errorf("server = %q, want %q", r.Cluster.Server, want)
			}
			if (r.User.Token != "") != (r.UserName != "") {
				t.Errorf("user %q has token %t", r.UserName, r.User.Token != "")
			}
		})
	}
}

func TestResolveWithoutContext(t *testing.T) {
	c := parse(t, three)
	r, err := c.Resolve(&kubeconfig.Overrides{Cluster: "b", User: "v"})
	if err != nil {
		t.Fatal(err)
	}
	if r.Cluster.Server != "https://b" || r.User.Token != "t" || r.ContextName != "" || r.Namespace != "default" {
		t.Errorf("resolved %+v", r)
	}
}

func TestResolveErrors(t *testing.T) {
	c := parse(t, three)
	all := `choose one of the contexts "blank", "lost", "nowhere", "one", "two"`
	for _, test := range []struct {
		name      string
		config    *kubeconfig.Config
		overrides kubeconfig.Overrides
		want      string
	}{
		{"no current context", c, kubeconfig.Overrides{}, "kubeconfig: no current-context is set; " + all},
		{"unknown context", c, kubeconfig.Overrides{Context: "x"}, `kubeconfig: there is no context "x"; ` + all},
		{"unknown cluster", c, kubeconfig.Overrides{Context: "one", Cluster: "x"},
			`kubeconfig: there is no cluster "x"; choose one of the clusters "a", "b"`},
		{"unknown user", c, kubeconfig.Overrides{Context: "one", User: "x"},
			`kubeconfig: there is no user "x"; choose one of the users "u", "v"`},
		{"context with a user that is gone", c, kubeconfig.Overrides{Context: "lost"},
			`kubeconfig: the context "lost" names the user "gone", which does not exist; choose one of the users "u", "v"`},
		{"context with a cluster that is gone", c, kubeconfig.Overrides{Context: "nowhere"},
			`kubeconfig: the context "nowhere" names the cluster "gone", which does not exist; choose one of the clusters "a", "b"`},
		{"context without a cluster", c, kubeconfig.Overrides{Context: "blank"},
			`kubeconfig: the context "blank" names no cluster; choose one of the clusters "a", "b"`},
		{"current context that is gone", parse(t, three+"current-context: x\n"), kubeconfig.Overrides{},
			`kubeconfig: the current-context "x" does not exist; ` + all},
		{"nothing at all", &kubeconfig.Config{}, kubeconfig.Overrides{}, "kubeconfig: the kubeconfig is empty"},
		{"nothing to choose", &kubeconfig.Config{}, kubeconfig.Overrides{Context: "x"},
			`kubeconfig: there is no context "x"; choose a context after adding one; there are none`},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := test.config.Resolve(&test.overrides)
			if err == nil || err.Error() != test.want {
				t.Errorf("error = %v\nwant    %s", err, test.want)
			}
		})
	}
	if _, err := (&kubeconfig.Config{}).Resolve(nil); !errors.Is(err, kubeconfig.ErrEmpty) {
		t.Errorf("error = %v, want ErrEmpty", err)
	}
}

// An error that lists what there is stays readable where there is a lot.
func TestManyNames(t *testing.T) {
	c := &kubeconfig.Config{}
	for i := range 30 {
		c.Contexts = append(c.Contexts, kubeconfig.NamedContext{Name: fmt.Sprintf("c%02d", i)})
	}
	_, err := c.Resolve(nil)
	if err == nil || !strings.HasSuffix(err.Error(), `"c08", "c09" and 20 others`) {
		t.Errorf("error = %v", err)
	}
}

func TestRelativePaths(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "sub", "config"), `
clusters: [{name: c, cluster: {server: https://a, certificate-authority: pki/ca.crt}}]
users:
- name: u
  user:
    client-certificate: ./client.crt
    client-key: ../keys/client.key
    tokenFile: /run/token
    exec: {command: bin/login, apiVersion: v1}
- {name: v, user: {exec: {command: login, apiVersion: v1}}}
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
`)
	t.Chdir(dir)
	c, err := kubeconfig.Load("sub/config")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir()) // the paths do not depend on where the program is later
	r, err := c.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	got := []string{r.Cluster.CertificateAuthority, r.User.ClientCertificate, r.User.ClientKey, r.User.TokenFile, r.User.Exec.Command}
	want := []string{dir + "/sub/pki/ca.crt", dir + "/sub/client.crt", dir + "/keys/client.key", "/run/token", dir + "/sub/bin/login"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if in := c.User("u").User; in.ClientKey != "../keys/client.key" || in.Exec.Command != "bin/login" {
		t.Errorf("Resolve changed the Config: %v", in)
	}
	r, err = c.Resolve(&kubeconfig.Overrides{User: "v"})
	if err != nil || r.User.Exec.Command != "login" {
		t.Errorf("command %q, %v; a bare name is looked up in PATH", r.User.Exec.Command, err)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestLoadDefault(t *testing.T) {
	dir := t.TempDir()
	home := filepath.Join(dir, "home")
	t.Setenv("HOME", home)
	first, second := filepath.Join(dir, "first"), filepath.Join(dir, "second")
	write(t, first, "clusters: [{name: a, cluster: {server: https://first}}]\ncurrent-context: one\npreferences: {colors: true}\n")
	write(t, second, "clusters: [{name: a, cluster: {server: https://second, proxy-url: http://p}}, {name: b, cluster: {server: https://b}}]\n"+
		"contexts: [{name: one, context: {cluster: a}}]\ncurrent-context: two\n")
	write(t, filepath.Join(home, ".kube", "config"), "current-context: home\n")
	list := func(paths ...string) string { return strings.Join(paths, string(os.PathListSeparator)) }

	t.Run("list", func(t *testing.T) {
		t.Setenv("KUBECONFIG", list("", first, filepath.Join(dir, "missing"), second, first, ""))
		c, err := kubeconfig.LoadDefault()
		if err != nil {
			t.Fatal(err)
		}
		r, err := c.Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		if r.Cluster.Server != "https://first" || r.Cluster.ProxyURL != "" {
			t.Errorf("cluster = %+v, want the first file's, unmixed", r.Cluster)
		}
		if c.Cluster("b") == nil || c.Cluster("b").Origin != second || c.CurrentContext != "one" {
			t.Errorf("merged: %+v", c)
		}
	})
	t.Run("set but empty", func(t *testing.T) {
		t.Setenv("KUBECONFIG", "")
		c, err := kubeconfig.LoadDefault()
		if err != nil || c.CurrentContext != "home" {
			t.Errorf("%v, %v; want the file in the home directory", c, err)
		}
	})
	t.Run("only separators", func(t *testing.T) {
		t.Setenv("KUBECONFIG", list("", ""))
		c, err := kubeconfig.LoadDefault()
		if err != nil || c.CurrentContext != "home" {
			t.Errorf("%v, %v; want the file in the home directory", c, err)
		}
	})
	t.Run("all missing", func(t *testing.T) {
		t.Setenv("KUBECONFIG", filepath.Join(dir, "missing"))
		_, err := kubeconfig.LoadDefault()
		if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "missing") {
			t.Errorf("error = %v, want one that the file does not exist", err)
		}
	})
	t.Run("broken", func(t *testing.T) {
		broken := filepath.Join(dir, "broken")
		write(t, broken, "clusters: [")
		t.Setenv("KUBECONFIG", list(first, broken))
		if _, err := kubeconfig.LoadDefault(); err == nil || !strings.Contains(err.Error(), broken) {
			t.Errorf("error = %v, want one that names the file", err)
		}
	})
	t.Run("no home", func(t *testing.T) {
		t.Setenv("KUBECONFIG", "")
		t.Setenv("HOME", "")
		if _, err := kubeconfig.LoadDefault(); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("error = %v", err)
		}
	})
}
