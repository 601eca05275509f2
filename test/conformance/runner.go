package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

const (
	module = "sigs.k8s.io/controller-runtime"
	// suiteTimeout is how long a suite may take against one server.
	suiteTimeout = 15 * time.Minute
	// flakeAttempts has a spec that fails run again, on either server: some depend on who is
	// faster, such as one of package cache that wants an informer not to be filled yet when it looks.
	flakeAttempts = "-ginkgo.flake-attempts=3"
)

// runner builds the suites and the servers, and runs them.
type runner struct {
	dir, reports string
	servers      []server
}

// server is something that suites run against. Its command ends with the command to run with
// the server's kubeconfig in KUBECONFIG.
type server struct {
	name    string
	command []string
}

// build builds the servers' programs.
func (r *runner) build(ctx context.Context, names []string) error {
	for _, name := range names {
		folder, program, args := "", filepath.Join(r.dir, name), []string{"--"}
		switch name {
		case "kubetest":
			folder, args = "../../cmd/kube", []string{"dev", "--"}
		case "real":
			folder = "../cmd/apiserver"
		default:
			return fmt.Errorf("there is no server %q: it is kubetest or real", name)
		}
		if err := r.goCommand(ctx, folder, "build", "-o", program, "."); err != nil {
			return err
		}
		if name == "real" {
			// The server itself is built once for all suites.
			if err := r.command(ctx, ".", program, "-build"); err != nil {
				return err
			}
		}
		r.servers = append(r.servers, server{name, append([]string{program}, args...)})
	}
	return os.MkdirAll(r.reports, 0o755)
}

func (r *runner) goCommand(ctx context.Context, folder string, args ...string) error {
	return r.command(ctx, folder, "go", args...)
}

func (r *runner) command(ctx context.Context, folder, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Stderr = folder, os.Stderr
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s %s (in %s): %w", name, strings.Join(args, " "), folder, err)
	}
	return nil
}

// runAll runs suites against all servers, each against a new one.
func (r *runner) runAll(ctx context.Context, suites []suite) ([]*result, error) {
	source, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	if err != nil {
		return nil, fmt.Errorf("find %s: %w", module, err)
	}
	var results []*result
	for _, s := range suites {
		program := filepath.Join(r.dir, strings.ReplaceAll(s.name, "/", "-")+".test")
		if err := r.goCommand(ctx, ".", "test", "-c", "-o", program, module+"/pkg/"+s.name); err != nil {
			return nil, err
		}
		folder := filepath.Join(strings.TrimSpace(string(source)), "pkg", s.name)
		result := &result{suite: s, specs: map[string]map[string]outcome{}}
		for _, server := range r.servers {
			report := filepath.Join(r.reports, strings.ReplaceAll(s.name, "/", "-")+"-"+server.name+".json")
			if err := r.runSuite(ctx, server, program, folder, report); err != nil {
				return nil, fmt.Errorf("%s against %s: %w", s.name, server.name, err)
			}
			if err := result.read(server.name, report); err != nil {
				return nil, fmt.Errorf("%s against %s: %w", s.name, server.name, err)
			}
		}
		results = append(results, result)
	}
	return results, nil
}

// runSuite runs a suite. That specs fail is no error.
func (r *runner) runSuite(ctx context.Context, s server, program, folder, report string) error {
	ctx, cancel := context.WithTimeout(ctx, suiteTimeout)
	defer cancel()
	args := append(s.command[1:len(s.command):len(s.command)], program, "-ginkgo.json-report="+report, "-ginkgo.no-color", flakeAttempts)
	cmd := exec.CommandContext(ctx, s.command[0], args...)
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "USE_EXISTING_CLUSTER=true")
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	output, err := cmd.CombinedOutput()
	if _, failed := errors.AsType[*exec.ExitError](err); err != nil && !failed {
		return err
	}
	if _, statErr := os.Stat(report); statErr != nil {
		return fmt.Errorf("the suite left no report: %w\n%s", err, output)
	}
	return nil
}
