package main

import (
	"bufio"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/go-kube/kube/test/apiserver"
)

// mainEnv has the test binary be the command.
const mainEnv = "KUBE_TEST_MAIN"

func TestMain(m *testing.M) {
	if os.Getenv(mainEnv) != "" {
		main()
	}
	os.Exit(m.Run())
}

// command runs this command with args.
func command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	executable, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), executable, args...)
	cmd.Env = append(os.Environ(), mainEnv+"=1")
	cmd.Stderr = os.Stderr
	return cmd
}

func TestWithCommand(t *testing.T) {
	dir := t.TempDir()
	kubeconfig := filepath.Join(dir, "kubeconfig")
	cmd := command(t, "-kubeconfig=kubeconfig", "--", "sh", "-c",
		`cd / && cat "$KUBECONFIG" && echo "shared: $KUBE_TEST_SERVER_KUBECONFIG" && exit 7`)
	cmd.Dir = dir
	output, err := cmd.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 7 {
		t.Fatalf("%v, want the exit code of the command, 7", err)
	}
	for _, want := range []string{"current-context: admin\n", "server: https://127.0.0.1:", "shared: " + kubeconfig + "\n"} {
		if !strings.Contains(string(output), want) {
			t.Errorf("the command does not see %q, but:\n%s", want, output)
		}
	}
	if _, err := os.Stat(kubeconfig); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the kubeconfig is still there: %v", err)
	}
}

func TestUntilInterrupt(t *testing.T) {
	cmd := command(t)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	kubeconfig, found := strings.CutPrefix(strings.TrimSpace(line), "export KUBECONFIG=")
	if !found {
		t.Fatalf("first line is %q, want one that a shell can evaluate", line)
	}
	if _, err := apiserver.Attach(t.Context(), kubeconfig); err != nil {
		t.Error(err)
	}
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("after an interrupt: %v", err)
	}
	if _, err := os.Stat(filepath.Dir(kubeconfig)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the server's folder is still there: %v", err)
	}
}

func TestBuild(t *testing.T) {
	output, err := command(t, "-build").Output()
	if err != nil {
		t.Fatal(err)
	}
	path := strings.TrimSpace(string(output))
	if info, err := os.Stat(path); err != nil || info.Mode()&0o100 == 0 {
		t.Errorf("%q is not a program: %v, %v", path, info, err)
	}
}
