package requests_test

import (
	"bytes"
	"cmp"
	"encoding/json/jsontext"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-kube/kube/kubeconfig"
	"github.com/go-kube/kube/test/apiserver"
	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// TestKubeconfigsAreReadAsByKubectl compares what is read from kubeconfigs of many tools with what
// kubectl config view shows of them. What client-go's library reads is compared in test/kubeconfig.
func TestKubeconfigsAreReadAsByKubectl(t *testing.T) {
	kubectl, err := apiserver.Program(t.Context(), "kubectl", nil)
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("../../kubeconfig/testdata/shapes/*.*")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, file := range files {
		name := filepath.Base(file)
		if name == "expected.json" {
			continue
		}
		seen++
		t.Run(name, func(t *testing.T) {
			text := must[[]byte](t)(os.ReadFile(file))
			text = bytes.ReplaceAll(text, []byte("CLIENT_CERT_DATA"), []byte("Y2VydA=="))
			text = bytes.ReplaceAll(text, []byte("CLIENT_KEY_DATA"), []byte("a2V5"))
			path := filepath.Join(t.TempDir(), name)
			if err := os.WriteFile(path, text, 0o600); err != nil {
				t.Fatal(err)
			}
			var errs strings.Builder
			cmd := exec.CommandContext(t.Context(), kubectl, "config", "view", "--raw", "-o", "json", "--kubeconfig", path)
			cmd.Stderr = &errs
			shown, kubectlErr := cmd.Output()
			got, err := kubeconfig.Load(path)
			if (err != nil) != (kubectlErr != nil) || (err != nil) != (name == "duplicate-names.yaml") {
				t.Fatalf("kubectl: %v %s, here: %v", kubectlErr, &errs, err)
			}
			if err != nil {
				return
			}
			want := must[*kubeconfig.Config](t)(kubeconfig.Parse(shown))
			known(want)
			known(got)
			if diff := gocmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("(-kubectl +here):\n%s", diff)
			}
		})
	}
	if seen != 16 {
		t.Errorf("%d files, want 16", seen)
	}
}

// known leaves in c what kubectl knows too, in its order and with what it fills in.
func known(c *kubeconfig.Config) {
	c.Other, c.APIVersion, c.Kind = nil, "v1", "Config"
	extensions(c.Extensions)
	slices.SortFunc(c.Clusters, func(a, b kubeconfig.NamedCluster) int { return cmp.Compare(a.Name, b.Name) })
	for i := range c.Clusters {
		c.Clusters[i].Origin, c.Clusters[i].Other, c.Clusters[i].Cluster.Other = "", nil, nil
		extensions(c.Clusters[i].Cluster.Extensions)
	}
	slices.SortFunc(c.Contexts, func(a, b kubeconfig.NamedContext) int { return cmp.Compare(a.Name, b.Name) })
	for i := range c.Contexts {
		c.Contexts[i].Origin, c.Contexts[i].Other, c.Contexts[i].Context.Other = "", nil, nil
		extensions(c.Contexts[i].Context.Extensions)
	}
	slices.SortFunc(c.Users, func(a, b kubeconfig.NamedUser) int { return cmp.Compare(a.Name, b.Name) })
	for i := range c.Users {
		user := &c.Users[i].User
		c.Users[i].Origin, c.Users[i].Other, user.Other = "", nil, nil
		extensions(user.Extensions)
		if user.Exec != nil {
			user.Exec.Other, user.Exec.InteractiveMode = nil, cmp.Or(user.Exec.InteractiveMode, "IfAvailable")
		}
	}
}

// extensions are kept as text; the order of their keys is nobody's.
func extensions(list []kubeconfig.NamedExtension) {
	for i := range list {
		value := jsontext.Value(bytes.Clone(list[i].Extension))
		if value.Canonicalize() == nil {
			list[i].Extension = value
		}
	}
}
