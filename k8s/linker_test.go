package k8s_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestUnusedKindsAreDropped links a program that uses one kind of the core group, and looks
// which descriptors are in it.
func TestUnusedKindsAreDropped(t *testing.T) {
	if testing.Short() {
		t.Skip("links a program")
	}
	program := filepath.Join(t.TempDir(), "program")
	run(t, "build", "-ldflags=-w", "-o", program, "./testdata/onekind")
	var descriptors []string
	for line := range strings.Lines(run(t, "tool", "nm", program)) {
		fields := strings.Fields(line)
		if name := fields[len(fields)-1]; strings.HasPrefix(name, "github.com/go-kube/kube/k8s/") {
			descriptors = append(descriptors, name)
		}
	}
	if got, want := strings.Join(descriptors, " "), "github.com/go-kube/kube/k8s/core.Pods"; got != want {
		t.Errorf("the program has %s, want %s alone", got, want)
	}
}

func run(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", args...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return string(out)
}
