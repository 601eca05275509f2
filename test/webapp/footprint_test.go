// Package webapp_test holds the operator of examples/webapp to its size.
package webapp_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/k8s/apps"
	"github.com/go-kube/kube/resource"
	"github.com/go-kube/kube/test/apiserver"
)

func TestMain(m *testing.M) { apiserver.Main(m) }

const (
	maxBinary   = 14_000_000 // bytes, stripped
	maxResident = 18 << 10   // KiB, of the process when it has nothing to do
)

type app = resource.Object[struct {
	Image    string `json:"image"`
	Replicas int32  `json:"replicas"`
}, struct{}]

var apps1 = resource.DefineNamespaced[app](resource.Info{Group: "example.com", Version: "v1", Kind: "WebApp"})

// TestFootprint builds the operator as one would ship it, runs it against the real server
// until it has done some work, and looks what it weighs.
func TestFootprint(t *testing.T) {
	server := apiserver.Shared(t)
	binary := build(t)
	info, err := os.Stat(binary)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("binary: %.2f MB", float64(info.Size())/1e6)
	if info.Size() > maxBinary {
		t.Errorf("the binary has %d bytes, more than %d", info.Size(), maxBinary)
	}
	if runtime.GOOS != "linux" {
		t.Log("resident memory is read from /proc, which is only there on Linux")
		return
	}
	operator := start(t, binary, server.Kubeconfig())
	work(t, server)
	resident := idle(t, operator)
	t.Logf("resident: %.1f MiB, of which the binary's pages %.1f MiB", float64(resident)/1024, float64(statusKiB(t, operator, "RssFile"))/1024)
	if resident > maxResident {
		t.Errorf("the operator holds %d KiB, more than %d", resident, maxResident)
	}
}

// idle returns what the process holds once it has nothing to do. The Go runtime collects garbage
// every two minutes when nothing else makes it, and then gives back what the start has needed.
func idle(t *testing.T, pid int) (resident int) {
	t.Helper()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for begin := time.Now(); ; <-tick.C {
		resident = statusKiB(t, pid, "VmRSS")
		if took := time.Since(begin); resident <= maxResident || took > 3*time.Minute {
			t.Logf("after %s", took.Round(time.Second))
			return resident
		}
	}
}

func build(t *testing.T) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "webapp")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-ldflags=-s -w", "-o", binary, "./webapp")
	cmd.Dir = "../../examples"
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("building the operator: %v\n%s", err, out)
	}
	return binary
}

// start runs the operator until the test ends, and returns when its controller runs.
func start(t *testing.T, binary, kubeconfig string) (pid int) {
	t.Helper()
	cmd := exec.Command(binary)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	t.Cleanup(func() {
		cmd.Process.Kill()
		<-done
		cmd.Wait()
	})
	lines := bufio.NewScanner(stderr)
	var log strings.Builder
	for lines.Scan() {
		fmt.Fprintln(&log, lines.Text())
		if strings.Contains(lines.Text(), "controller started") {
			go func() {
				defer close(done)
				io.Copy(io.Discard, stderr)
			}()
			return cmd.Process.Pid
		}
	}
	close(done)
	t.Fatalf("the operator ended before its controller started:\n%s", log.String())
	return 0
}

// work gives the operator a WebApp and waits for its Deployment.
func work(t *testing.T, server *apiserver.Server) {
	t.Helper()
	client := apiserver.NewClient(t, server)
	namespace := server.NewNamespace(t)
	one := resource.New(apps1, "one", app{}.Spec)
	one.Spec.Image, one.Spec.Replicas = "nginx", 1
	if _, err := client.Namespaced(apps1, namespace).Create(t.Context(), one, nil); err != nil {
		t.Fatal(err)
	}
	for event, err := range client.Namespaced(apps.Deployments, namespace).Watch(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		if event.Type == kube.Added {
			return
		}
	}
	t.Fatal("the watch ended before the Deployment appeared")
}

// statusKiB reads a figure of /proc/PID/status.
func statusKiB(t *testing.T, pid int, name string) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		key, value, _ := strings.Cut(line, ":")
		if key == name {
			n, err := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(value), " kB"))
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
	}
	t.Fatalf("/proc/%d/status has no %s", pid, name)
	return 0
}
