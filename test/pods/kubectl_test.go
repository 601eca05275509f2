package pods_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-kube/kube/test/apiserver"
	corev1 "k8s.io/api/core/v1"
)

var kubectl = sync.OnceValues(func() (string, error) { return apiserver.Program(context.Background(), "kubectl", nil) })

// kubectl returns a command of kubectl's for the pod's namespace.
func (f *fixture) kubectl(t *testing.T, ctx context.Context, args ...string) *exec.Cmd {
	t.Helper()
	program, err := kubectl()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, program, append([]string{"--kubeconfig=" + f.Kubeconfig(), "--namespace=" + f.pod.Namespace}, args...)...)
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// TestKubectl: the set-up is one that kubectl works with, so what passes here is no agreement of
// our own with ourselves.
func TestKubectl(t *testing.T) { onNodes(t, testKubectl) }

func testKubectl(t *testing.T, put func(*corev1.Pod)) {
	f := runWith(t, nil, put, "for i in 1 2 3; do echo line $i; done; "+idle)
	t.Run("exec", func(t *testing.T) {
		cmd := f.kubectl(t, t.Context(), "exec", "-i", "web-0", "--", "sh", "-c", "cat; echo err >&2; exit 3")
		var out, errs bytes.Buffer
		cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader("input\n"), &out, &errs
		err := cmd.Run()
		exit, ok := errors.AsType[*exec.ExitError](err)
		if !ok || exit.ExitCode() != 3 || out.String() != "input\n" || !strings.HasPrefix(errs.String(), "err\n") {
			t.Errorf("%v, %q, %q", err, out.String(), errs.String())
		}
	})
	t.Run("cp", func(t *testing.T) {
		local := filepath.Join(t.TempDir(), "tree")
		if err := os.Mkdir(local, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(local, "file"), []byte("content"), 0o640); err != nil {
			t.Fatal(err)
		}
		back := filepath.Join(t.TempDir(), "back")
		for _, args := range [][]string{{"cp", local, "web-0:" + f.dir + "/a/there"}, {"cp", "web-0:" + f.dir + "/a/there", back}} {
			if out, err := f.kubectl(t, t.Context(), args...).CombinedOutput(); err != nil {
				t.Fatalf("%q: %v\n%s", args, err, out)
			}
		}
		// kubectl keeps neither modes nor times.
		if data, err := os.ReadFile(filepath.Join(back, "file")); err != nil || string(data) != "content" {
			t.Errorf("copied there and back: %q, %v", data, err)
		}
	})
	t.Run("logs", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		cmd := f.kubectl(t, ctx, "logs", "-f", "web-0")
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for i := 1; i <= 3; i++ {
			if want := fmt.Sprintf("line %d", i); !lines.Scan() || lines.Text() != want {
				t.Errorf("got %q, want %q", lines.Text(), want)
			}
		}
		cancel()
		cmd.Wait()
	})
	t.Run("port-forward", func(t *testing.T) {
		const size = 100_000
		port := echo(t, "hello\n", size)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		cmd := f.kubectl(t, ctx, "port-forward", "web-0", ":"+strconv.Itoa(int(port)))
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		lines.Scan()
		found := regexp.MustCompile(`127\.0\.0\.1:(\d+) ->`).FindStringSubmatch(lines.Text())
		if found == nil {
			t.Fatalf("kubectl says %q", lines.Text())
		}
		local, err := strconv.ParseUint(found[1], 10, 16)
		if err != nil {
			t.Fatal(err)
		}
		content := bytes.Repeat([]byte("x"), size)
		if got, err := exchange(uint16(local), content); err != nil || string(got) != "hello\n"+string(content) {
			t.Errorf("%d bytes came back, %v", len(got), err)
		}
		cancel()
		cmd.Wait()
	})
}
