package apiserver

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// modulePath is the module that this package belongs to.
const modulePath = "github.com/go-kube/kube/test"

// sourceDir returns the folder of the server program's module, which is beside this package.
func sourceDir(ctx context.Context) (string, error) {
	// The path of this file is absolute unless the test was built with -trimpath.
	if _, file, _, ok := runtime.Caller(0); ok && filepath.IsAbs(file) {
		dir := filepath.Join(filepath.Dir(filepath.Dir(file)), "server")
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
	}
	out, err := goOutput(ctx, "", "list", "-m", "-f", "{{.Dir}}", modulePath)
	if err != nil {
		return "", fmt.Errorf("cannot find the source of the server program: %w", err)
	}
	return filepath.Join(out, "server"), nil
}

// sourceKey returns a key that changes with everything that the program is made from.
func sourceKey(ctx context.Context, dir string) (string, error) {
	toolchain, err := goOutput(ctx, dir, "env", "GOVERSION", "GOOS", "GOARCH")
	if err != nil {
		return "", err
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return "", err
	}
	files = append(files, filepath.Join(dir, "go.mod"), filepath.Join(dir, "go.sum"))
	slices.Sort(files)
	hash := sha256.New()
	fmt.Fprintf(hash, "%s\n%s\n%q\n", Version, toolchain, buildArgs)
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		data, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(hash, "%s %d\n", filepath.Base(file), len(data))
		hash.Write(data)
	}
	return hex.EncodeToString(hash.Sum(nil))[:16], nil
}

// goCommand is the go command in dir, for the module there alone.
func goCommand(ctx context.Context, dir string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
	return cmd
}

func goOutput(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := goCommand(ctx, dir, args...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return strings.TrimSpace(string(out)), nil
}
