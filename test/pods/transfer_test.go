package pods_test

import (
	"context"
	"crypto/sha256"
	"hash"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"runtime"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-kube/kube/pods"
	corev1 "k8s.io/api/core/v1"
)

// bytesEnv sets how much TestExecTransfer sends.
const bytesEnv = "KUBE_TEST_EXEC_BYTES"

// TestExecTransfer sends much through a command and gets it back, unchanged and without holding it.
func TestExecTransfer(t *testing.T) { onNodes(t, testExecTransfer) }

func testExecTransfer(t *testing.T, put func(*corev1.Pod)) {
	size := int64(64 << 20)
	if text := os.Getenv(bytesEnv); text != "" {
		var err error
		if size, err = strconv.ParseInt(text, 10, 64); err != nil {
			t.Fatalf("%s: %v", bytesEnv, err)
		}
	}
	f := runWith(t, nil, put, idle)
	sent := &source{left: size, random: rand.NewChaCha8([32]byte{}), hash: sha256.New()}
	received := &sink{hash: sha256.New()}
	runtime.GC()
	before := heap()
	start := time.Now()
	err := pods.Exec(t.Context(), f.api, "web-0", []string{"cat"}, &pods.ExecOptions{Streams: pods.Streams{Stdin: sent, Stdout: received}})
	if err != nil {
		t.Fatalf("%v\n%s", err, f.nodeLog())
	}
	if received.n != size || string(received.hash.Sum(nil)) != string(sent.hash.Sum(nil)) {
		t.Errorf("%d bytes came back, want the %d that were sent", received.n, size)
	}
	const room = 32 << 20
	if received.peak > before+room {
		t.Errorf("the heap grew from %d to %d bytes, want %d more at most", before, received.peak, room)
	}
	took := time.Since(start)
	t.Logf("%d MiB both ways in %v (%.0f MiB/s); heap %d KiB before, %d KiB at most", size>>20, took.Round(time.Millisecond),
		float64(size>>20)/took.Seconds(), before>>10, received.peak>>10)
}

// heap returns the bytes of the heap that are in use, dead objects included.
func heap() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse
}

type source struct {
	left   int64
	random *rand.ChaCha8
	hash   hash.Hash
}

func (s *source) Read(p []byte) (int, error) {
	if s.left == 0 {
		return 0, io.EOF
	}
	p = p[:min(int64(len(p)), s.left)]
	s.random.Read(p)
	s.hash.Write(p)
	s.left -= int64(len(p))
	return len(p), nil
}

type sink struct {
	n       int64
	hash    hash.Hash
	peak    uint64
	sampled int64
}

func (s *sink) Write(p []byte) (int, error) {
	s.hash.Write(p)
	s.n += int64(len(p))
	if s.n >= s.sampled {
		s.peak = max(s.peak, heap())
		s.sampled += 4 << 20
	}
	return len(p), nil
}

// counted dials as usual, and counts the connections that are open.
func counted(open *atomic.Int64) func(ctx context.Context, network, address string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		open.Add(1)
		return &countedConn{Conn: conn, open: open}, nil
	}
}

type countedConn struct {
	net.Conn
	open   *atomic.Int64
	closed atomic.Bool
}

func (c *countedConn) Close() error {
	if c.closed.CompareAndSwap(false, true) {
		c.open.Add(-1)
	}
	return c.Conn.Close()
}
