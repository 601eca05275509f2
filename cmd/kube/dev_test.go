package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/k8s/core"
)

// lines is an output that tells when its first line is there.
type lines struct {
	mu    sync.Mutex
	text  bytes.Buffer
	first chan struct{}
}

func newLines() *lines { return &lines{first: make(chan struct{})} }

func (l *lines) Write(data []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	had := l.text.Len() > 0
	n, err := l.text.Write(data)
	if !had {
		close(l.first)
	}
	return n, err
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// startDev runs kube dev, and returns a client of it and what ends it.
func startDev(t *testing.T, log *lines, args ...string) (client *kube.Client, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	out, ended := newLines(), make(chan error, 1)
	go func() { ended <- run(ctx, append([]string{"dev"}, args...), out, log) }()
	select {
	case <-out.first:
	case err := <-ended:
		t.Fatalf("kube dev %q ended: %v\n%s", args, err, log)
	}
	line := strings.TrimSpace(out.String())
	path, ok := strings.CutPrefix(line, "export KUBECONFIG=")
	if !ok {
		t.Fatalf("the first line is %q, want export KUBECONFIG=PATH", line)
	}
	config, err := kube.ConfigFromKubeconfig(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if client, err = kube.NewClient(config); err != nil {
		t.Fatal(err)
	}
	return client, func() {
		t.Helper()
		client.Close()
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("kube dev %q: %v", args, err)
		}
	}
}

func TestDevServesOverTLS(t *testing.T) {
	kubeconfig, log := filepath.Join(t.TempDir(), "config"), newLines()
	client, stop := startDev(t, log, "-kubeconfig", kubeconfig, "-requests")
	made, err := client.Namespaced(core.ConfigMaps, "default").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "settings"}}, nil)
	if err != nil || made.UID == "" {
		t.Errorf("create: %v, uid %q", err, made.UID)
	}
	stop()
	if !strings.Contains(log.String(), "POST /api/v1/namespaces/default/configmaps 201 ") {
		t.Errorf("no line of the request:\n%s", log)
	}
	if _, err := os.Stat(kubeconfig); err != nil {
		t.Errorf("the kubeconfig that was asked for is gone: %v", err)
	}
}

func TestDevSavesAndLoads(t *testing.T) {
	state, log := filepath.Join(t.TempDir(), "state.yaml"), newLines()
	client, stop := startDev(t, log, "-save", state)
	pods := client.Namespaced(core.Pods, "default")
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "box"}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "example"}}}}
	made, err := pods.Create(t.Context(), pod, nil)
	if err != nil {
		t.Fatal(err)
	}
	made.Status.Phase = corev1.PodRunning
	if _, err := pods.Status().Replace(t.Context(), made, nil); err != nil {
		t.Fatal(err)
	}
	stop()

	again, stop := startDev(t, log, "-load", state)
	defer stop()
	loaded, err := again.Namespaced(core.Pods, "default").Get(t.Context(), "box")
	if err != nil {
		t.Fatal(err)
	}
	if loaded.Status.Phase != corev1.PodRunning || loaded.UID == made.UID || loaded.Spec.Containers[0].Image != "example" {
		t.Errorf("loaded: phase %s, uid %s, image %s", loaded.Status.Phase, loaded.UID, loaded.Spec.Containers[0].Image)
	}
}

func TestDevRunsACommand(t *testing.T) {
	out := newLines()
	err := run(t.Context(), []string{"dev", "--", "sh", "-c", "test -s $KUBECONFIG && echo served; exit 3"}, out, newLines())
	if exitCode(err) != 3 || out.String() != "served\n" {
		t.Errorf("exit code %d (%v), output %q, want 3 and served", exitCode(err), err, out)
	}
}

func TestWrongUsage(t *testing.T) {
	empty := t.TempDir()
	broken := filepath.Join(t.TempDir(), "broken.yaml")
	if err := os.WriteFile(broken, []byte("apiVersion: example.com/v1\nkind: Nothing\nmetadata: {name: x}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		args []string
		want string // in the error or the log
	}{
		{[]string{"nosuch"}, `there is no command "nosuch"`},
		{[]string{"dev", "extra"}, `"extra" is neither`},
		{[]string{"dev", "-nosuch"}, "flag provided but not defined: -nosuch"},
		{[]string{"dev", "-crds", empty}, "there is no .yaml, .yml or .json file in it"},
		{[]string{"dev", "-load", broken}, "the server has no kind Nothing in example.com/v1"},
	} {
		log := newLines()
		err := run(t.Context(), test.args, newLines(), log)
		if err == nil || !strings.Contains(err.Error()+log.String(), test.want) {
			t.Errorf("kube %q: %v\n%s\nwant %q", test.args, err, log, test.want)
		}
	}
	if err := run(t.Context(), []string{"dev", "-h"}, newLines(), newLines()); !errors.Is(err, flag.ErrHelp) {
		t.Errorf("kube dev -h: %v, want flag.ErrHelp", err)
	}
}
