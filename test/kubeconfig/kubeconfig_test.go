package kubeconfig

import (
	"bytes"
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-kube/kube/kubeconfig"
	gocmp "github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api/latest"
	"sigs.k8s.io/yaml"
)

const shapes = "../../kubeconfig/testdata/shapes"

// refused are the files that client-go refuses, and that have to be refused here too.
var refused = map[string]bool{"duplicate-names.yaml": true}

// TestShapes reads each file with both, and compares what both would write.
func TestShapes(t *testing.T) {
	entries, err := os.ReadDir(shapes)
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, entry := range entries {
		name := entry.Name()
		if entry.IsDir() || name == "expected.json" {
			continue
		}
		seen++
		t.Run(name, func(t *testing.T) {
			path := complete(t, name)
			want, wantErr := view(path)
			got, gotErr := ours(path)
			if refused[name] {
				if wantErr == nil || gotErr == nil {
					t.Fatalf("client-go: %v, ours: %v", wantErr, gotErr)
				}
				return
			}
			if wantErr != nil || gotErr != nil {
				t.Fatalf("client-go: %v, ours: %v", wantErr, gotErr)
			}
			if diff := gocmp.Diff(normal(t, want), normal(t, got)); diff != "" {
				t.Errorf("(-kubectl +ours):\n%s", diff)
			}
		})
	}
	if seen != 16 {
		t.Errorf("%d files, want 16", seen)
	}
}

// TestWhatOursWrites is read by client-go as the file itself is.
func TestWhatOursWrites(t *testing.T) {
	for _, name := range []string{"eks-aws.yaml", "impersonation.yaml", "openshift.yaml", "oidc-auth-provider.yaml", "utf16-be.yaml", "proxy-and-server-name.yaml"} {
		t.Run(name, func(t *testing.T) {
			path := complete(t, name)
			want, err := view(path)
			if err != nil {
				t.Fatal(err)
			}
			c, err := kubeconfig.Load(path)
			if err != nil {
				t.Fatal(err)
			}
			text, err := c.Encode()
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, text, 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := view(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := gocmp.Diff(normal(t, want), normal(t, got)); diff != "" {
				t.Errorf("(-the file +what was written):\n%s", diff)
			}
		})
	}
}

// complete returns a copy of a file with a client certificate in it.
func complete(t *testing.T, name string) string {
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
	return path
}

// view does what kubectl config view --raw -o json does with a file: paths stay as they are.
func view(path string) ([]byte, error) {
	config, err := (&clientcmd.ClientConfigLoadingRules{ExplicitPath: path, DoNotResolvePaths: true}).Load()
	if err != nil {
		return nil, err
	}
	return runtime.Encode(latest.Codec, config)
}

func ours(path string) ([]byte, error) {
	config, err := kubeconfig.Load(path)
	if err != nil {
		return nil, err
	}
	return config.Encode()
}

// normal takes apart a kubeconfig and leaves out what has no meaning: the order of named entries,
// what is empty, and what client-go fills in without being asked.
func normal(t *testing.T, text []byte) map[string]any {
	t.Helper()
	data, err := yaml.YAMLToJSON(text)
	if err != nil {
		t.Fatal(err)
	}
	var c map[string]any
	if err := json.Unmarshal(data, &c); err != nil {
		t.Fatal(err)
	}
	for _, list := range []string{"clusters", "users", "contexts"} {
		entries, _ := c[list].([]any)
		slices.SortFunc(entries, func(a, b any) int { return cmp.Compare(nameOf(a), nameOf(b)) })
	}
	for _, entry := range entriesOf(c, "users") {
		user, _ := entry["user"].(map[string]any)
		if exec, ok := user["exec"].(map[string]any); ok {
			fillIn(exec)
		}
	}
	return prune(c).(map[string]any)
}

// fillIn gives an exec entry what client-go sets where the file says nothing.
func fillIn(exec map[string]any) {
	if exec["interactiveMode"] == nil || exec["interactiveMode"] == "" {
		exec["interactiveMode"] = "IfAvailable"
	}
}

func entriesOf(c map[string]any, list string) (entries []map[string]any) {
	all, _ := c[list].([]any)
	for _, e := range all {
		if m, ok := e.(map[string]any); ok {
			entries = append(entries, m)
		}
	}
	return entries
}

func nameOf(entry any) string {
	m, _ := entry.(map[string]any)
	name, _ := m["name"].(string)
	return name
}

// prune leaves out null, false, empty text, and lists and objects of nothing but those.
func prune(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, e := range v {
			if p := prune(e); p != nil {
				out[k] = p
			}
		}
		if len(out) > 0 {
			return out
		}
	case []any:
		out := []any{}
		for _, e := range v {
			if p := prune(e); p != nil {
				out = append(out, p)
			} else if s, ok := e.(string); ok {
				out = append(out, s) // an empty argument is one
			}
		}
		if len(out) > 0 {
			return out
		}
	case string:
		if strings.TrimSpace(v) != "" {
			return v
		}
	case bool:
		if v {
			return v
		}
	case nil:
	default:
		return v
	}
	return nil
}
