package apiserver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json/v2"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/go-kube/kube/k8s/core"
	"github.com/go-kube/kube/runtime/wait"
)

// parentEnv has the test binary start a server and wait to be killed.
const parentEnv = "KUBE_TEST_PARENT"

func TestMain(m *testing.M) {
	if os.Getenv(parentEnv) != "" {
		if err := parent(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	Main(m)
}

// start starts a server for one test.
func start(t *testing.T, options *Options) *Server {
	t.Helper()
	s, err := Start(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func get(t *testing.T, s *Server, path string) []byte {
	t.Helper()
	data, err := s.do(t.Context(), http.MethodGet, path, nil, http.StatusOK)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// ownService returns the Service of the server itself, which it makes some time after it is ready.
func ownService(t *testing.T, s *Server) *corev1.Service {
	t.Helper()
	client := NewClient(t, s)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	service, err := wait.For(ctx, client.Namespaced(core.Services, "default"), "kubernetes", wait.Exists[corev1.Service]())
	if err != nil {
		t.Fatal(err)
	}
	return service
}

func TestVersion(t *testing.T) {
	var version struct{ Major, Minor, GitVersion string }
	if err := json.Unmarshal(get(t, Shared(t), "/version"), &version, json.MatchCaseInsensitiveNames(true)); err != nil {
		t.Fatal(err)
	}
	if got, want := version.GitVersion, "v"+Version; got != want {
		t.Errorf("gitVersion %s, want %s", got, want)
	}
	if got := version.Major + "." + version.Minor; !strings.HasPrefix(Version, got+".") {
		t.Errorf("major and minor are %s of %s", got, Version)
	}
}

func TestShared(t *testing.T) {
	s := Shared(t)
	if other := Shared(t); other != s {
		t.Errorf("two servers, %s and %s", s.URL(), other.URL())
	}
	a, b := s.NewNamespace(t), s.NewNamespace(t)
	if a == b || !strings.HasPrefix(a, "t-testshared-") || !strings.HasPrefix(b, "t-testshared-") {
		t.Errorf("namespaces %s and %s, want two that begin with t-testshared-", a, b)
	}
	get(t, s, "/api/v1/namespaces/"+a)
	u, err := url.Parse(s.URL())
	if err != nil {
		t.Fatal(err)
	}
	if u.Scheme != "https" || u.Hostname() != "127.0.0.1" {
		t.Errorf("URL is %s, want one on 127.0.0.1 by https", u)
	}
}

// A streaming list ends its first part with a marked bookmark.
func TestStreamingList(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s := Shared(t)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL()+
		"/api/v1/namespaces?watch=1&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := s.HTTPClient().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.ProtoMajor != 2 {
		t.Errorf("spoke %s, want HTTP/2", resp.Proto)
	}
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		if strings.Contains(lines.Text(), `"k8s.io/initial-events-end":"true"`) {
			return
		}
	}
	t.Errorf("the watch ended without the bookmark: %v", lines.Err())
}

func TestKillAndRestart(t *testing.T) {
	t.Parallel()
	s := start(t, &Options{
		FeatureGates: map[string]bool{"WatchList": false},
		ExtraArgs:    []string{"--service-cluster-ip-range=10.7.0.0/16"},
	})
	if metrics := get(t, s, "/metrics"); !bytes.Contains(metrics, []byte(`kubernetes_feature_enabled{name="WatchList",stage="BETA"} 0`)) {
		t.Error("the feature gate WatchList is not off")
	}
	if service := ownService(t, s); service.Spec.ClusterIP != "10.7.0.1" {
		t.Errorf("the flag for Service addresses was not taken; the service: %+v", service.Spec)
	}
	address := strings.TrimPrefix(s.URL(), "https://")
	namespace := s.NewNamespace(t)
	before := get(t, s, "/api/v1/namespaces/"+namespace)

	if err := s.Kill(); err != nil {
		t.Fatal(err)
	}
	if conn, err := net.Dial("tcp", address); err == nil {
		conn.Close()
		t.Fatalf("%s still answers after Kill", address)
	}
	if err := s.Kill(); err != nil {
		t.Errorf("Kill of a dead server: %v", err)
	}
	if err := s.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, want := s.URL(), "https://"+address; got != want {
		t.Errorf("restarted at %s, was at %s", got, want)
	}
	if diff := cmp.Diff(string(before), string(get(t, s, "/api/v1/namespaces/"+namespace))); diff != "" {
		t.Errorf("after a kill the namespace differs (-before +after):\n%s", diff)
	}

	// The second one stops a server that runs.
	if err := s.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(before), string(get(t, s, "/api/v1/namespaces/"+namespace))); diff != "" {
		t.Errorf("after a restart the namespace differs (-before +after):\n%s", diff)
	}

	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(s.dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Stop left the folder %s: %v", s.dir, err)
	}
	if err := s.Stop(); err != nil {
		t.Errorf("second Stop: %v", err)
	}
	if err := s.Restart(t.Context()); err == nil || !strings.Contains(err.Error(), "stopped for good") {
		t.Errorf("Restart after Stop: error %v", err)
	}
}

// A folder that is given is used again by the next server.
func TestDir(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "server")
	first := start(t, &Options{Dir: dir})
	namespace := first.NewNamespace(t)
	// A watch must not hold up the stop.
	resp, err := first.HTTPClient().Get(first.URL() + "/api/v1/namespaces?watch=1")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if err := first.Stop(); err != nil {
		t.Fatal(err)
	}

	second := start(t, &Options{Dir: dir})
	if !bytes.Equal(first.CA(), second.CA()) {
		t.Error("the second server has another certificate authority")
	}
	get(t, second, "/api/v1/namespaces/"+namespace)
}

func TestPortTaken(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	port := listener.Addr().(*net.TCPAddr).Port

	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if _, err = Start(ctx, &Options{Port: port}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v, want that of the context", err)
	}
	if testing.Short() {
		return
	}
	_, err = Start(t.Context(), &Options{Port: port})
	if want := fmt.Sprintf("port %d is still taken", port); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want one with %q", err, want)
	}
}

func TestStartFails(t *testing.T) {
	t.Parallel()
	_, err := Start(t.Context(), &Options{ExtraArgs: []string{"--no-such-flag=1"}})
	if err == nil || !strings.Contains(err.Error(), "unknown flag: --no-such-flag") {
		t.Errorf("error %v, want the server's", err)
	}
}

func TestAttach(t *testing.T) {
	s, err := Attach(t.Context(), Shared(t).Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	got := []string{s.URL(), s.Logs(), string(s.CA()), string(s.AdminCert()), string(s.AdminKey()), s.AdminToken(), s.NobodyToken()}
	o := Shared(t)
	want := []string{o.URL(), o.Logs(), string(o.CA()), string(o.AdminCert()), string(o.AdminKey()), o.AdminToken(), o.NobodyToken()}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("attached server (-started +attached):\n%s", diff)
	}
	get(t, s, "/api/v1/namespaces/"+s.NewNamespace(t))
	if _, _, err := s.IssueClient("bob", nil, time.Hour); err != nil {
		t.Error(err)
	}
	for name, f := range map[string]func() error{
		"Kill":    s.Kill,
		"Restart": func() error { return s.Restart(t.Context()) },
		"Stop":    s.Stop,
	} {
		if err := f(); !errors.Is(err, ErrNotOwned) {
			t.Errorf("%s: error %v, want ErrNotOwned", name, err)
		}
	}
}

func TestAttachFails(t *testing.T) {
	foreign := filepath.Join(t.TempDir(), "foreign")
	if err := os.WriteFile(foreign, []byte("apiVersion: v1\nkind: Config\nclusters: []\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Attach(t.Context(), foreign)
	if want := foreign + " is not the kubeconfig of a server of package apiserver"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want one with %q", err, want)
	}
	if _, err := Attach(t.Context(), foreign+"-absent"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v, want that of a file that does not exist", err)
	}
}

// parent starts a server, says where, and blocks.
func parent() error {
	s, err := Start(context.Background(), nil)
	if err != nil {
		return err
	}
	fmt.Println(s.Kubeconfig())
	select {}
}

func TestEndsWithParent(t *testing.T) {
	t.Parallel()
	executable, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), executable)
	cmd.Env = append(os.Environ(), parentEnv+"=1")
	cmd.Stderr = os.Stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kubeconfig, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	s, err := Attach(t.Context(), strings.TrimSpace(kubeconfig))
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.URL(), "https://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()

	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	waitGone(t, s.dir)
	// The process is gone with its folder, or in the act of going: the connection tells when.
	if _, err := conn.Read(make([]byte, 1)); err == nil {
		t.Error("the server wrote to a connection without a handshake")
	}
	if conn, err := net.Dial("tcp", conn.RemoteAddr().String()); err == nil {
		conn.Close()
		t.Error("the server still listens")
	}
}

// waitGone waits until a folder is removed by another process, of which nothing else tells.
func waitGone(t *testing.T, dir string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("%s is still there 20 seconds after its owner died", dir)
		}
	}
}
