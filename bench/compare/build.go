package main

import (
	"context"
	"encoding/json/v2"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// folders are where the Go programs are in this module.
var folders = map[string]string{ours: "ours", clientGo: "clientgo", ctrlRuntime: "ctrlruntime"}

// buildGo builds a program as it would be shipped: without symbols.
func buildGo(ctx context.Context, to, folder string) error {
	_, err := output(exec.CommandContext(ctx, "go", "build", "-ldflags=-s -w", "-o", to, folder))
	return err
}

// rustTarget is where cargo builds.
var rustTarget = filepath.Join("kubers", "target")

// buildRust builds a program of the kube-rs peer. Without cargo there is none, which is said and
// no error.
func buildRust(ctx context.Context, program string) (path string, err error) {
	if _, err := exec.LookPath("cargo"); err != nil {
		fmt.Fprintln(os.Stderr, "kube-rs is skipped: there is no cargo (https://rustup.rs installs it)")
		return "", nil
	}
	progress("building the program of kube-rs: the first time takes minutes")
	if _, err := output(cargo(ctx, rustTarget, program)); err != nil {
		return "", err
	}
	return filepath.Join(rustTarget, "release", program), nil
}

// cargo is the command that builds a program of the kube-rs peer.
func cargo(ctx context.Context, target, program string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "cargo", "build", "--quiet", "--release", "--locked", "--manifest-path", filepath.Join("kubers", "Cargo.toml"), "--bin", program)
	cmd.Env = append(os.Environ(), "CARGO_TARGET_DIR="+target)
	return cmd
}

// output runs a command, and says what it has printed when it fails.
func output(cmd *exec.Cmd) (string, error) {
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s: %w\n%s%s", cmd, err, stdout.String(), stderr.String())
	}
	return stdout.String(), nil
}

// versions are what was compared.
type versions struct {
	Go                string `json:"go"`
	Kube              string `json:"kube"`
	ClientGo          string `json:"clientGo"`
	ControllerRuntime string `json:"controllerRuntime"`
	KubeRS            string `json:"kubeRS,omitempty"`
	Rust              string `json:"rust,omitempty"`
}

// readVersions asks go and cargo.
func readVersions(ctx context.Context, rust bool) (v versions, err error) {
	v.Go = runtime.Version()
	for module, into := range map[string]*string{"k8s.io/client-go": &v.ClientGo, "sigs.k8s.io/controller-runtime": &v.ControllerRuntime} {
		out, err := output(exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Version}}", module))
		if err != nil {
			return v, err
		}
		*into = strings.TrimSpace(out)
	}
	v.Kube = commit(ctx)
	if !rust {
		return v, nil
	}
	if v.KubeRS, err = crateVersion(ctx, "kube"); err != nil {
		return v, err
	}
	out, err := output(exec.CommandContext(ctx, "rustc", "--version"))
	v.Rust = strings.TrimSpace(out)
	return v, err
}

// commit names the state of this repository, if it is one.
func commit(ctx context.Context) string {
	out, err := output(exec.CommandContext(ctx, "git", "describe", "--always", "--tags"))
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(out)
}

// crateVersion returns the version of a crate that the kube-rs peer depends on.
func crateVersion(ctx context.Context, name string) (string, error) {
	out, err := output(exec.CommandContext(ctx, "cargo", "metadata", "--format-version", "1", "--locked", "--manifest-path", filepath.Join("kubers", "Cargo.toml")))
	if err != nil {
		return "", err
	}
	var metadata struct {
		Packages []struct{ Name, Version string } `json:"packages"`
	}
	if err := json.Unmarshal([]byte(out), &metadata, json.MatchCaseInsensitiveNames(true)); err != nil {
		return "", err
	}
	for _, p := range metadata.Packages {
		if p.Name == name {
			return p.Version, nil
		}
	}
	return "", errors.New("the kube-rs peer does not depend on " + name)
}
