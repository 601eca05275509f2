package pods_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/k8s/core"
	"github.com/go-kube/kube/pods"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// exec runs a script in the pod and returns what it wrote.
func (f *fixture) exec(t *testing.T, script string, stdin io.Reader) (out, errs string, err error) {
	t.Helper()
	var o, e bytes.Buffer
	err = pods.Exec(t.Context(), f.api, "web-0", []string{"sh", "-c", script},
		&pods.ExecOptions{Streams: pods.Streams{Stdin: stdin, Stdout: &o, Stderr: &e}})
	return o.String(), e.String(), err
}

func TestExec(t *testing.T) { onNodes(t, testExec) }

func testExec(t *testing.T, put func(*corev1.Pod)) {
	f := runWith(t, nil, put, idle)
	for _, test := range []struct {
		name, script, stdin string
		out, errs           string
		code                int
	}{
		{name: "both outputs", script: "echo out; echo err >&2", out: "out\n", errs: "err\n"},
		{name: "no output", script: "true"},
		{name: "loop", script: "for i in 1 2 3; do echo $i; done", out: "1\n2\n3\n"},
		{name: "code", script: "echo out; exit 3", out: "out\n", code: 3},
		{name: "largest code", script: "exit 255", code: 255},
		{name: "signal", script: "kill -9 $$", code: 137},
		{name: "stdin ends", script: "cat; echo end", stdin: "a\nb", out: "a\nbend\n"},
		{name: "stdin of nothing ends", script: "cat; echo end", out: "end\n"},
		{name: "output after the end of stdin", script: "cat >/dev/null; sleep 0.2; echo late; exit 4", stdin: "x", out: "late\n", code: 4},
		{name: "stdin is not read", script: "exec 0<&-; echo out; sleep 0.2", stdin: strings.Repeat("x", 1<<18), out: "out\n"},
		{name: "arguments", script: `printf '%s|' "a b" '$HOME' 'ä'`, out: "a b|$HOME|ä|"},
	} {
		t.Run(test.name, func(t *testing.T) {
			out, errs, err := f.exec(t, test.script, strings.NewReader(test.stdin))
			if out != test.out || errs != test.errs {
				t.Errorf("wrote %q and %q, want %q and %q", out, errs, test.out, test.errs)
			}
			if exit, ok := errors.AsType[*pods.ExitError](err); ok && exit.Code == test.code {
				return
			}
			if err != nil || test.code != 0 {
				t.Errorf("error %v, want code %d\n%s", err, test.code, f.nodeLog())
			}
		})
	}
}

func TestExecInNamedContainer(t *testing.T) {
	f := run(t, idle, idle)
	for _, container := range []string{"a", "b"} {
		var out bytes.Buffer
		opts := &pods.ExecOptions{Container: container, Streams: pods.Streams{Stdout: &out}}
		err := pods.Exec(t.Context(), f.api, "web-0", []string{"pwd"}, opts)
		if want := f.dir + "/" + container + "\n"; err != nil || out.String() != want {
			t.Errorf("container %s: %q, %v, want %q", container, out.String(), err, want)
		}
	}
}

// TestExecInDefaultContainer: the annotation says which of several is meant, and without it the server which
// there are.
func TestExecInDefaultContainer(t *testing.T) {
	f := runWith(t, nil, func(p *corev1.Pod) {
		p.Annotations = map[string]string{"kubectl.kubernetes.io/default-container": "b"}
	}, idle, "echo from b; exec sleep 1000")
	pwd := func() (string, error) {
		var out bytes.Buffer
		err := pods.Exec(t.Context(), f.api, "web-0", []string{"pwd"}, &pods.ExecOptions{Streams: pods.Streams{Stdout: &out}})
		return out.String(), err
	}
	if out, err := pwd(); err != nil || out != f.dir+"/b\n" {
		t.Errorf("%q, %v, want the folder of b", out, err)
	}
	for line, err := range pods.FollowLogs(t.Context(), f.api, "web-0", nil) {
		if err != nil || line.Text != "from b" {
			t.Errorf("the log says %q, %v", line.Text, err)
		}
		break
	}
	if _, err := f.api.Patch(t.Context(), "web-0", kube.MergePatch(map[string]any{"metadata": map[string]any{"annotations": nil}}), nil); err != nil {
		t.Fatal(err)
	}
	if out, err := pwd(); err == nil || !strings.Contains(err.Error(), "[a b]") {
		t.Errorf("%q, %v, want the names to choose from", out, err)
	}
}

// TestExecRefused: the Status of a server that refuses to upgrade is the error.
func TestExecRefused(t *testing.T) {
	f := run(t, idle)
	nobody, err := f.cluster.client(func(c *kube.Config) {
		c.CertData, c.KeyData, c.BearerToken = nil, nil, f.NobodyToken()
	})
	if err != nil {
		t.Fatal(err)
	}
	defer nobody.Close()
	for _, test := range []struct {
		name, pod, container string
		client               *kube.Client
		is                   func(error) bool
		text                 string
	}{
		{"no pod", "absent", "", f.client, apierrors.IsNotFound, `pods "absent" not found`},
		{"no container", "web-0", "absent", f.client, apierrors.IsBadRequest, "container absent is not valid for pod web-0"},
		{"forbidden", "web-0", "", nobody, apierrors.IsForbidden, `User "nobody" cannot`},
	} {
		t.Run(test.name, func(t *testing.T) {
			api := test.client.Namespaced(core.Pods, f.pod.Namespace)
			opts := &pods.ExecOptions{Container: test.container, Streams: pods.Streams{Stdout: io.Discard}}
			err := pods.Exec(t.Context(), api, test.pod, []string{"true"}, opts)
			if _, ok := errors.AsType[*kube.Error](err); !ok || !test.is(err) || !strings.Contains(err.Error(), test.text) {
				t.Errorf("error %T %v, want one of the server's with %q", err, err, test.text)
			}
		})
	}
}

// TestExecFails: a command that cannot be started is told by the Status at the end.
func TestExecFails(t *testing.T) { onNodes(t, testExecFails) }

func testExecFails(t *testing.T, put func(*corev1.Pod)) {
	f := runWith(t, nil, put, idle)
	err := pods.Exec(t.Context(), f.api, "web-0", []string{"/no/such/program"}, &pods.ExecOptions{Streams: pods.Streams{Stdout: io.Discard}})
	if !apierrors.IsInternalError(err) || !strings.Contains(err.Error(), "/no/such/program") {
		t.Errorf("error %v, want an internal error that names the program", err)
	}
}

func TestExecTerminal(t *testing.T) { onNodes(t, testExecTerminal) }

func testExecTerminal(t *testing.T, put func(*corev1.Pod)) {
	f := runWith(t, nil, put, idle)
	const script = `test -t 0 && test -t 1 && test -t 2 && echo terminal
		while [ "$(stty size)" != "33 101" ]; do sleep 0.02; done
		stty -echo; echo ready; read line; echo "got $line"; exit 5`
	sizes := []pods.Size{{Width: 80, Height: 24}, {Width: 101, Height: 33}}
	in, typing := io.Pipe()
	var out bytes.Buffer
	typed := false
	err := pods.Exec(t.Context(), f.api, "web-0", []string{"sh", "-c", script}, &pods.ExecOptions{Streams: pods.Streams{
		Stdin: in,
		Stdout: writer(func(p []byte) {
			if out.Write(p); !typed && bytes.Contains(out.Bytes(), []byte("ready")) {
				typed = true
				go typing.Write([]byte("hello\n"))
			}
		}),
		TTY: true,
		Resize: func(ctx context.Context) (pods.Size, error) {
			if len(sizes) == 0 {
				<-ctx.Done()
				return pods.Size{}, ctx.Err()
			}
			size := sizes[0]
			sizes = sizes[1:]
			return size, nil
		},
	}})
	if exit, ok := errors.AsType[*pods.ExitError](err); !ok || exit.Code != 5 {
		t.Errorf("error %v, want code 5\n%s", err, f.nodeLog())
	}
	if got, want := strings.ReplaceAll(out.String(), "\r", ""), "terminal\nready\ngot hello\n"; got != want {
		t.Errorf("wrote %q, want %q", got, want)
	}
	typing.Close()
}

type writer func(p []byte)

func (f writer) Write(p []byte) (int, error) { f(p); return len(p), nil }

// TestExecEndsWithItsContext: a canceled exec leaves neither a goroutine nor a connection.
func TestExecEndsWithItsContext(t *testing.T) { onNodes(t, testExecEndsWithItsContext) }

func testExecEndsWithItsContext(t *testing.T, put func(*corev1.Pod)) {
	var open atomic.Int64
	f := runWith(t, func(c *kube.Config) { c.Dial = counted(&open) }, put, idle)
	before := open.Load()
	_, atNode, err := f.node.Count()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	err = pods.Exec(ctx, f.api, "web-0", []string{"sh", "-c", "echo begun; exec sleep 1000"}, &pods.ExecOptions{Streams: pods.Streams{
		Stdout: writer(func(p []byte) {
			if open.Load() != before+1 {
				t.Errorf("%d connections, want one more than %d", open.Load(), before)
			}
			cancel()
		}),
	}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that of the context", err)
	}
	if got := open.Load(); got != before {
		t.Errorf("%d connections afterwards, want %d", got, before)
	}
	leavesNothing(t)
	// The API server hangs up on the node as well.
	for deadline := time.After(10 * time.Second); ; {
		_, now, err := f.node.Count()
		if err != nil {
			t.Fatal(err)
		}
		if now <= atNode {
			return
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-deadline:
			t.Fatalf("%d connections to the node, %d before", now, atNode)
		}
	}
}

// leavesNothing fails the test if a goroutine still runs the package under test, or does not end that
// runs what it is made of: the websocket library cancels reads by goroutines of their own.
func leavesNothing(t *testing.T) {
	t.Helper()
	if left := goroutines("go-kube/kube/pods."); len(left) != 0 {
		t.Errorf("goroutines left:\n%s", strings.Join(left, "\n\n"))
	}
	for deadline := time.After(10 * time.Second); ; {
		left := goroutines("coder/websocket")
		if len(left) == 0 {
			return
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-deadline:
			t.Fatalf("goroutines left:\n%s", strings.Join(left, "\n\n"))
		}
	}
}

// goroutines returns the stacks of those that run code of a package.
func goroutines(of string) []string {
	stacks := make([]byte, 1<<20)
	all := strings.Split(string(stacks[:runtime.Stack(stacks, true)]), "\n\n")
	return slices.DeleteFunc(all, func(stack string) bool { return !strings.Contains(stack, of) })
}
