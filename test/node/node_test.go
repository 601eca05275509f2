//go:build linux

package node_test

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-kube/kube/test/node"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// until waits for what happens in another process.
func until(t *testing.T, what string, f func() bool) {
	t.Helper()
	for deadline := time.After(10 * time.Second); !f(); {
		select {
		case <-time.After(10 * time.Millisecond):
		case <-deadline:
			t.Fatalf("waited for %s in vain", what)
		}
	}
}

// TestCloseEndsEverything: neither a container nor what it has started outlives the node.
func TestCloseEndsEverything(t *testing.T) {
	n, err := node.Start(t.Context(), "node-0", t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "web"}, Spec: corev1.PodSpec{Containers: []corev1.Container{{
		Name: "a", Command: []string{"sh", "-c", `sleep 1000 & echo $! $$ > pids; mv pids started; wait`},
	}}}}
	dir, err := n.Run(pod)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := n.Run(pod); err == nil || !strings.Contains(err.Error(), "pod ns/web runs already") {
		t.Errorf("a second time: %v", err)
	}
	var started []byte
	until(t, "the container", func() bool {
		started, err = os.ReadFile(filepath.Join(dir, "a", "started"))
		return err == nil
	})
	if processes, _, err := n.Count(); err != nil || processes != 1 {
		t.Errorf("%d processes run, %v, want one", processes, err)
	}
	if err := n.Close(); err != nil {
		t.Error(err)
	}
	for _, text := range strings.Fields(string(started)) {
		pid, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		until(t, "the end of process "+text, func() bool { return gone(pid) })
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("files are left in %s: %v", dir, err)
	}
}

// gone reports whether a process has ended; one whose new parent has not looked yet counts.
func gone(pid int) bool {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return true
	}
	data, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(data), ") ")
	return strings.HasPrefix(rest, "Z")
}
