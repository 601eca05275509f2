package apiserver

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// writeModule writes a program that takes no time to build.
func writeModule(t *testing.T, dir, main string) {
	t.Helper()
	for name, content := range map[string]string{
		"go.mod":  "module example.com/program\n\ngo 1.27\n",
		"go.sum":  "",
		"main.go": main,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// messages collects what is logged.
type messages struct {
	mu    sync.Mutex
	lines []string
}

func (m *messages) logf(format string, args ...any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lines = append(m.lines, fmt.Sprintf(format, args...))
}

func (m *messages) count(prefix string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := 0
	for _, line := range m.lines {
		if strings.HasPrefix(line, prefix) {
			n++
		}
	}
	return n
}

func TestBuildOnce(t *testing.T) {
	source, cache := t.TempDir(), t.TempDir()
	writeModule(t, source, "package main\n\nfunc main() {}\n")
	var log messages
	var wg sync.WaitGroup
	paths := make([]string, 4)
	for i := range paths {
		wg.Go(func() {
			path, err := findBinary(t.Context(), source, cache, log.logf)
			if err != nil {
				t.Error(err)
			}
			paths[i] = path
		})
	}
	wg.Wait()
	if got := log.count("building kube-apiserver " + Version + " from modules; the first time takes a few minutes"); got != 1 {
		t.Errorf("built %d times, want once; log:\n%s", got, strings.Join(log.lines, "\n"))
	}
	for _, path := range paths {
		if path != paths[0] {
			t.Errorf("path %s beside %s", path, paths[0])
		}
	}

	var quiet messages
	if again, err := findBinary(t.Context(), source, cache, quiet.logf); err != nil || again != paths[0] {
		t.Errorf("second call: %s, %v, want %s", again, err, paths[0])
	}
	if len(quiet.lines) != 0 {
		t.Errorf("a program that is there is announced: %q", quiet.lines)
	}

	writeModule(t, source, "package main\n\nfunc main() { println() }\n")
	if changed, err := findBinary(t.Context(), source, cache, quiet.logf); err != nil || changed == paths[0] {
		t.Errorf("after a change of the source: %s, %v, want another path", changed, err)
	}
}

func TestBuildError(t *testing.T) {
	source, cache := t.TempDir(), t.TempDir()
	writeModule(t, source, "package main\n\nfunc main() { var x int = \"a\" }\n")
	_, err := findBinary(t.Context(), source, cache, t.Logf)
	if err == nil {
		t.Fatal("a program that does not compile was built")
	}
	for _, want := range []string{"building kube-apiserver " + Version, source, `main.go:3:27: cannot use "a"`} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error does not have %q:\n%v", want, err)
		}
	}
	left, _ := filepath.Glob(filepath.Join(cache, "kube-apiserver-*"))
	if len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestBuildRemovesUnused(t *testing.T) {
	cache := t.TempDir()
	now := time.Now()
	for name, age := range map[string]time.Duration{
		"kube-apiserver-1.0.0-old": unusedFor + time.Hour,
		"kube-apiserver-1.0.0-new": unusedFor - time.Hour,
		"other":                    unusedFor + time.Hour,
	} {
		path := filepath.Join(cache, name)
		if err := os.WriteFile(path, nil, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, now.Add(-age), now.Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	if err := removeUnused(cache); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(cache)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, entry := range entries {
		got = append(got, entry.Name())
	}
	if diff := cmp.Diff([]string{"kube-apiserver-1.0.0-new", "other"}, got); diff != "" {
		t.Errorf("left (-want +got):\n%s", diff)
	}
}

func TestBuildOutput(t *testing.T) {
	var o buildOutput
	for _, chunk := range []string{
		"go: downloading k8s.io/api v0.37.2\ngo: down", "loading k8s.io/klog/v2 v2.140.0\n",
		"k8s.io/klog/v2\nk8s.io/api/core/v1\nunsafe\n",
		"# k8s.io/api/core/v1\ntypes.go:1:2: undefined: x\nlast",
	} {
		if n, err := o.Write([]byte(chunk)); n != len(chunk) || err != nil {
			t.Fatalf("Write: %d, %v", n, err)
		}
	}
	if got, want := o.progress(), "2 modules downloaded, 3 packages compiled"; got != want {
		t.Errorf("progress %q, want %q", got, want)
	}
	if got, want := o.rest(), "# k8s.io/api/core/v1\ntypes.go:1:2: undefined: x\nlast"; got != want {
		t.Errorf("rest %q, want %q", got, want)
	}
}

// The version is written down twice: here for people, there for the go command.
func TestVersionIsThatOfTheModule(t *testing.T) {
	source, err := sourceDir(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got, err := goOutput(t.Context(), source, "list", "-m", "-f", "{{.Version}}", "k8s.io/kubernetes")
	if err != nil {
		t.Fatal(err)
	}
	if got != "v"+Version {
		t.Errorf("Version is %s, and go.mod of the server program has k8s.io/kubernetes %s", Version, got)
	}
}
