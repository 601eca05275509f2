package kubeconfig_test

import (
	"bytes"
	"encoding/json/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/go-kube/kube/kubeconfig"
)

const shapes = "testdata/shapes"

// reading is what client-go makes of a file, see testdata/shapes/expected.json.
type reading struct {
	Error          string             `json:"error"`
	Clusters       int                `json:"clusters"`
	Users          int                `json:"users"`
	CurrentContext string             `json:"current-context"`
	Contexts       map[string]outcome `json:"contexts"`
}

type outcome struct {
	Error        string `json:"error"`
	Host         string `json:"host"`
	Namespace    string `json:"namespace"`
	AuthProvider string `json:"auth-provider"`
	Exec         *exec  `json:"exec"`
}

type exec struct {
	APIVersion         string   `json:"apiVersion"`
	Command            string   `json:"command"`
	Args               []string `json:"args"`
	Env                []string `json:"env"`
	InstallHint        string   `json:"installHint"`
	InteractiveMode    string   `json:"interactiveMode"`
	ProvideClusterInfo bool     `json:"provideClusterInfo"`
}

func readings(t *testing.T) map[string]reading {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(shapes, "expected.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]reading
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	if len(all) != 16 {
		t.Fatalf("expected.json is about %d files, want 16", len(all))
	}
	return all
}

// load reads a file of testdata/shapes, whose client certificate it puts in.
func load(t *testing.T, name string) (*kubeconfig.Config, error) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(shapes, name))
	if err != nil {
		t.Fatal(err)
	}
	text = bytes.ReplaceAll(text, []byte("CLIENT_CERT_DATA"), []byte("Y2VydA=="))
	text = bytes.ReplaceAll(text, []byte("CLIENT_KEY_DATA"), []byte("a2V5"))
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return kubeconfig.Load(path)
}

func TestShapes(t *testing.T) {
	for name, want := range readings(t) {
		t.Run(name, func(t *testing.T) {
			c, err := load(t, name)
			if want.Error != "" {
				// client-go: duplicate name "kubernetes" in list.
				if err == nil || !strings.Contains(err.Error(), `two entries named "kubernetes"`) {
					t.Fatalf("error = %v, want one about the name kubernetes", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if len(c.Clusters) != want.Clusters || len(c.Users) != want.Users || c.CurrentContext != want.CurrentContext {
				t.Errorf("%d clusters, %d users, context %q; want %d, %d, %q", len(c.Clusters), len(c.Users), c.CurrentContext,
					want.Clusters, want.Users, want.CurrentContext)
			}
			for context, want := range want.Contexts {
				checkContext(t, c, context, want)
			}
		})
	}
}

func checkContext(t *testing.T, c *kubeconfig.Config, context string, want outcome) {
	t.Helper()
	if context == "(none chosen)" {
		if _, err := c.Resolve(nil); err == nil {
			t.Error("an empty kubeconfig was resolved")
		}
		return
	}
	r, err := c.Resolve(&kubeconfig.Overrides{Context: context})
	if err != nil {
		t.Fatal(err)
	}
	if want.Error != "" {
		return // the files that it names are missing, which shows when they are opened
	}
	got := outcome{Host: r.Cluster.Server, Namespace: r.Namespace, Exec: execOf(r.User.Exec)}
	if r.User.AuthProvider != nil {
		got.AuthProvider = r.User.AuthProvider.Name
	}
	if want.Exec != nil && len(want.Exec.Env) == 0 {
		want.Exec.Env = nil
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("context %q (-client-go +ours):\n%s", context, diff)
	}
}

func execOf(e *kubeconfig.Exec) *exec {
	if e == nil {
		return nil
	}
	got := &exec{
		APIVersion: e.APIVersion, Command: e.Command, Args: e.Args, InstallHint: e.InstallHint,
		InteractiveMode: e.InteractiveMode, ProvideClusterInfo: e.ProvideClusterInfo,
	}
	if got.InteractiveMode == "" {
		got.InteractiveMode = "IfAvailable"
	}
	for _, v := range e.Env {
		got.Env = append(got.Env, v.Name+"="+string(v.Value))
	}
	return got
}

// Nothing is lost by reading and writing: the same entries, the same unknown fields.
func TestShapesRoundTrip(t *testing.T) {
	for name, want := range readings(t) {
		if want.Error != "" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			c, err := load(t, name)
			if err != nil {
				t.Fatal(err)
			}
			text, err := c.Encode()
			if err != nil {
				t.Fatal(err)
			}
			again, err := kubeconfig.Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			for i := range again.Clusters {
				again.Clusters[i].Origin = c.Clusters[i].Origin
			}
			for i := range again.Users {
				again.Users[i].Origin = c.Users[i].Origin
			}
			for i := range again.Contexts {
				again.Contexts[i].Origin = c.Contexts[i].Origin
			}
			if again.Clusters == nil {
				again.Clusters, again.Users, again.Contexts = c.Clusters, c.Users, c.Contexts
			}
			if diff := cmp.Diff(c, again); diff != "" {
				t.Errorf("(-read +written and read again):\n%s", diff)
			}
		})
	}
}

func TestExtensions(t *testing.T) {
	c, err := load(t, "openshift.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range c.Context("/api-crc-example:6443/kubeadmin").Context.Extensions {
		got = append(got, e.Name+"="+e.Extension.String())
	}
	if want := []string{"empty=null", `list=[1,"two"]`}; !slices.Equal(got, want) {
		t.Errorf("extensions = %v, want %v", got, want)
	}
	c, err = load(t, "exec-cluster-info.yaml")
	if err != nil {
		t.Fatal(err)
	}
	extension := c.Cluster("shoot--demo--two").Cluster.Extensions[0]
	if extension.Name != "client.authentication.k8s.io/exec" || !strings.Contains(extension.Extension.String(), `"two"`) {
		t.Errorf("extension = %v", extension)
	}
}
