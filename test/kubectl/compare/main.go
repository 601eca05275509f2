// Command compare runs a script of kubectl commands against kubetest and against a real API
// server, and prints where the outputs differ. Times, uids, versions and the like are masked. It
// is run in its folder:
//
//	go run . [-v]
//
// Differences that allowed.txt explains are counted and not printed. Any other one, and an
// explanation that nothing needs, ends the program with an error.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	verbose := flag.Bool("v", false, "print allowed differences, too")
	child := flag.String("run", "", "run the script against the server of KUBECONFIG, and write the outputs to this `file`")
	flag.Parse()
	script, err := readScript("testdata/script")
	if err != nil {
		return err
	}
	if *child != "" {
		return runScript(ctx, script, *child)
	}
	allowed, err := readAllowed("allowed.txt")
	if err != nil {
		return err
	}
	outputs, err := runServers(ctx)
	if err != nil {
		return err
	}
	return compare(script, outputs["kubetest"], outputs["real"], allowed, *verbose)
}

// runServers runs the script against both servers, each with this program as its command.
func runServers(ctx context.Context) (map[string][]output, error) {
	dir, err := os.MkdirTemp("", "compare-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	if err := build(ctx, "..", filepath.Join(dir, "kubectl"), kubectlFlags()...); err != nil {
		return nil, err
	}
	outputs := map[string][]output{}
	for name, server := range map[string]struct {
		folder string
		args   []string
	}{"kubetest": {"../../../cmd/kube", []string{"dev", "--"}}, "real": {"../../cmd/apiserver", []string{"--"}}} {
		program, result := filepath.Join(dir, name), filepath.Join(dir, name+".json")
		if err := build(ctx, server.folder, program); err != nil {
			return nil, err
		}
		cmd := exec.CommandContext(ctx, program, append(server.args, self, "-run", result)...)
		cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
		cmd.Env = append(os.Environ(), "PATH="+dir+string(filepath.ListSeparator)+os.Getenv("PATH"), homeEnv+"="+dir)
		cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
		if err := cmd.Run(); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if outputs[name], err = readOutputs(result); err != nil {
			return nil, err
		}
	}
	return outputs, nil
}

// kubectlFlags tell kubectl its version, which is a fact of its release build.
func kubectlFlags() []string {
	const variable = " -X k8s.io/component-base/version."
	return []string{"-trimpath", "-ldflags=-s -w" + variable + "gitVersion=v1.37.2" + variable + "gitMajor=1" + variable + "gitMinor=37"}
}

func build(ctx context.Context, folder, program string, flags ...string) error {
	cmd := exec.CommandContext(ctx, "go", append(append([]string{"build"}, flags...), "-o", program, ".")...)
	cmd.Dir, cmd.Stderr = folder, os.Stderr
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("build %s: %w", folder, err)
	}
	return nil
}

var errDiffers = errors.New("kubectl shows differences")

// indent puts text behind a margin.
func indent(text string) string {
	return "    " + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n    ") + "\n"
}
