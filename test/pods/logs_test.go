package pods_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/pods"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// written waits until the log of a container has a line.
func (f *fixture) written(t *testing.T, container, line string) {
	t.Helper()
	stream, err := pods.LogStream(t.Context(), f.api, "web-0", &pods.LogOptions{Container: container, Follow: true})
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	var got bytes.Buffer
	for !strings.Contains(got.String(), line+"\n") {
		if _, err := io.CopyN(&got, stream, 1); err != nil {
			t.Fatalf("%v after %q", err, got.String())
		}
	}
}

func TestLogs(t *testing.T) {
	f := run(t, "echo one; echo two; echo three; "+idle, "echo other; "+idle)
	f.written(t, "a", "three")
	two := int64(2)
	for _, test := range []struct {
		name string
		opts pods.LogOptions
		want string
	}{
		{"all", pods.LogOptions{Container: "a"}, "one\ntwo\nthree\n"},
		{"tail", pods.LogOptions{Container: "a", TailLines: &two}, "two\nthree\n"},
		{"limit", pods.LogOptions{Container: "a", LimitBytes: 5}, "one\nt"},
		{"since", pods.LogOptions{Container: "a", SinceTime: time.Now().Add(time.Hour)}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := pods.Logs(t.Context(), f.api, "web-0", &test.opts)
			if err != nil || got != test.want {
				t.Errorf("%q, %v, want %q", got, err, test.want)
			}
		})
	}
	stamped, err := pods.Logs(t.Context(), f.api, "web-0", &pods.LogOptions{Container: "a", Timestamps: true, TailLines: &two})
	stamp, _, _ := strings.Cut(stamped, " ")
	if _, bad := time.Parse(time.RFC3339Nano, stamp); err != nil || bad != nil {
		t.Errorf("%q, %v, want lines with times: %v", stamped, err, bad)
	}
	_, err = pods.Logs(t.Context(), f.api, "web-0", nil)
	if !apierrors.IsBadRequest(err) || !strings.Contains(err.Error(), "a container name must be specified for pod web-0") {
		t.Errorf("error %v, want that a container has to be named", err)
	}
	_, err = pods.Logs(t.Context(), f.api, "web-0", &pods.LogOptions{Container: "a", Previous: true})
	if !apierrors.IsBadRequest(err) || !strings.Contains(err.Error(), "previous terminated container") {
		t.Errorf("error %v, want that there is no previous run", err)
	}
}

// cable is the network of a client, which can be cut.
type cable struct {
	mu    sync.Mutex
	conns []net.Conn
}

func (c *cable) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, network, address)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.conns = append(c.conns, conn)
	return conn, err
}

func (c *cable) cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, conn := range c.conns {
		conn.Close()
	}
	c.conns = nil
}

// TestFollowLogs follows a log over connections that break: the client's, then the node's.
func TestFollowLogs(t *testing.T) {
	const lines = 40
	var network cable
	f := runWith(t, func(c *kube.Config) { c.Dial = network.dial }, nil,
		fmt.Sprintf("i=0; while [ $i -lt %d ]; do echo line $i; i=$((i+1)); sleep 0.03; done; %s", lines, idle))
	n := 0
	var last time.Time
	for line, err := range pods.FollowLogs(t.Context(), f.api, "web-0", nil) {
		if err != nil {
			t.Fatal(err)
		}
		if want := fmt.Sprintf("line %d", n); line.Text != want {
			t.Fatalf("got %q, want %q", line.Text, want)
		}
		if !line.Time.After(last) {
			t.Errorf("%s is of %s, the line before of %s", line.Text, line.Time, last)
		}
		last = line.Time
		switch n++; n {
		case 10:
			network.cut()
		case 20:
			if err := f.node.Cut(); err != nil {
				t.Fatal(err)
			}
		case lines:
			f.stop(t)
		}
	}
	if n != lines {
		t.Errorf("%d lines, want %d", n, lines)
	}
	leavesNothing(t)
}

func TestFollowLogsEndsWithItsContext(t *testing.T) {
	f := run(t, "echo begun; "+idle)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var got []string
	var last error
	for line, err := range pods.FollowLogs(ctx, f.api, "web-0", nil) {
		if last = err; err == nil {
			got = append(got, line.Text)
		}
		cancel()
	}
	if len(got) != 1 || got[0] != "begun" || !errors.Is(last, context.Canceled) {
		t.Errorf("lines %q, last error %v", got, last)
	}
}
