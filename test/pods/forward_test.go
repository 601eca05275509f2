package pods_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/pods"
	corev1 "k8s.io/api/core/v1"
)

// echo listens on a port of loopback, which is the pod's too, and sends back what it gets with a
// greeting before it. It ends a connection when it has got size bytes.
func echo(t *testing.T, greeting string, size int) uint16 {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				io.WriteString(conn, greeting)
				io.CopyN(conn, conn, int64(size))
			}()
		}
	}()
	return uint16(l.Addr().(*net.TCPAddr).Port)
}

// TestForward leads many connections to many ports, all at once.
func TestForward(t *testing.T) { onNodes(t, testForward) }

func testForward(t *testing.T, put func(*corev1.Pod)) {
	const ports, connections, size = 4, 8, 200_000
	var open atomic.Int64
	f := runWith(t, func(c *kube.Config) { c.Dial = counted(&open) }, put, idle)
	before := open.Load()
	var forwarded []pods.Port
	for i := range ports {
		forwarded = append(forwarded, pods.Port{Remote: echo(t, fmt.Sprintf("port %d\n", i), size)})
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ready, done := make(chan []pods.Port, 1), make(chan error, 1)
	go func() {
		done <- pods.Forward(ctx, f.api, "web-0", forwarded, &pods.ForwardOptions{
			Ready:   func(p []pods.Port) { ready <- p },
			OnError: func(p pods.Port, err error) { t.Errorf("port %d: %v", p.Remote, err) },
		})
	}()
	var wg sync.WaitGroup
	for i, port := range <-ready {
		for j := range connections {
			wg.Go(func() {
				content := bytes.Repeat([]byte{byte(i), byte(j)}, size/2)
				got, err := exchange(port.Local, content)
				if want := fmt.Sprintf("port %d\n%s", i, content); err != nil || string(got) != want {
					t.Errorf("port %d, connection %d: %d bytes came back, want %d; %v", i, j, len(got), len(want), err)
				}
			})
		}
	}
	wg.Wait()
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if got := open.Load(); got != before {
		t.Errorf("%d connections afterwards, want %d", got, before)
	}
	leavesNothing(t)
}

// TestForwardToNoPod: nothing is listened on.
func TestForwardToNoPod(t *testing.T) {
	f := run(t, idle)
	opts := &pods.ForwardOptions{Ready: func([]pods.Port) { t.Error("something is listened on") }}
	if err := pods.Forward(t.Context(), f.api, "absent", []pods.Port{{Remote: 80}}, opts); !errors.Is(err, kube.ErrNotFound) {
		t.Errorf("error %v, want that there is no pod", err)
	}
	f.report(t, corev1.PodSucceeded, corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}})
	if err := pods.Forward(t.Context(), f.api, "web-0", []pods.Port{{Remote: 80}}, opts); err == nil || !strings.Contains(err.Error(), "the pod has ended (Succeeded)") {
		t.Errorf("error %v, want that the pod has ended", err)
	}
}

func exchange(port uint16, content []byte) ([]byte, error) {
	conn, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(int(port))))
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	go conn.Write(content)
	return io.ReadAll(conn)
}

// TestDial makes HTTP requests to a server in the pod.
func TestDial(t *testing.T) {
	f := run(t, idle)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		w.Write(body)
	}))
	defer server.Close()
	port := uint16(server.Listener.Addr().(*net.TCPAddr).Port)
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return pods.Dial(context.WithoutCancel(ctx), f.api, "web-0", port)
	}}
	defer transport.CloseIdleConnections()
	for i := range 3 {
		body := strings.Repeat(strconv.Itoa(i), 100_000)
		resp, err := (&http.Client{Transport: transport}).Post("http://web-0/", "text/plain", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || string(got) != body {
			t.Errorf("request %d: %d bytes, %v", i, len(got), err)
		}
	}
}

// TestDialRefused: a port that nothing listens on is told by what reads.
func TestDialRefused(t *testing.T) { onNodes(t, testDialRefused) }

func testDialRefused(t *testing.T, put func(*corev1.Pod)) {
	f := runWith(t, nil, put, idle)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := uint16(l.Addr().(*net.TCPAddr).Port)
	l.Close()
	conn, err := pods.Dial(t.Context(), f.api, "web-0", port)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.ReadAll(conn); err == nil || !strings.Contains(err.Error(), "connection refused") {
		t.Errorf("error %v, want the node's", err)
	}
}
