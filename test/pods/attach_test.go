package pods_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/go-kube/kube/pods"
	corev1 "k8s.io/api/core/v1"
)

// reader is a container that answers what it is told.
const reader = `while read line; do echo "got $line"; echo "err $line" >&2; done; echo end`

func withStdin(p *corev1.Pod) { p.Spec.Containers[0].Stdin = true }

func TestAttach(t *testing.T) { onNodes(t, testAttach) }

func testAttach(t *testing.T, put func(*corev1.Pod)) {
	f := runWith(t, nil, func(p *corev1.Pod) {
		withStdin(p)
		p.Spec.Containers[0].StdinOnce = true
		if put != nil {
			put(p)
		}
	}, reader)
	var out, errs bytes.Buffer
	err := pods.Attach(t.Context(), f.api, "web-0", &pods.AttachOptions{Streams: pods.Streams{
		Stdin: strings.NewReader("one\ntwo\n"), Stdout: &out, Stderr: &errs,
	}})
	if err != nil {
		t.Fatalf("%v\n%s", err, f.nodeLog())
	}
	if got, want := out.String(), "got one\ngot two\nend\n"; got != want {
		t.Errorf("stdout %q, want %q", got, want)
	}
	if got, want := errs.String(), "err one\nerr two\n"; got != want {
		t.Errorf("stderr %q, want %q", got, want)
	}
}

func TestAttachTerminal(t *testing.T) {
	f := runWith(t, nil, func(p *corev1.Pod) { p.Spec.Containers[0].Stdin, p.Spec.Containers[0].TTY = true, true },
		`stty -echo; read line; while [ "$(stty size)" != "33 101" ]; do sleep 0.02; done; echo "got $line"`)
	var out bytes.Buffer
	in, typing := io.Pipe()
	defer typing.Close()
	first := true
	err := pods.Attach(t.Context(), f.api, "web-0", &pods.AttachOptions{Streams: pods.Streams{
		Stdin: in, Stdout: &out, TTY: true,
		Resize: func(ctx context.Context) (pods.Size, error) {
			if !first {
				<-ctx.Done()
				return pods.Size{}, ctx.Err()
			}
			first = false
			go typing.Write([]byte("hello\n"))
			return pods.Size{Width: 101, Height: 33}, nil
		},
	}})
	if err != nil || !strings.Contains(out.String(), "got hello") {
		t.Errorf("%v, wrote %q", err, out.String())
	}
}

// TestAttachLeavesTheContainer: what is attached goes away, the container stays.
func TestAttachLeavesTheContainer(t *testing.T) {
	f := runWith(t, nil, withStdin, reader)
	for _, line := range []string{"one", "two"} {
		ctx, cancel := context.WithCancel(t.Context())
		in, typing := io.Pipe()
		go typing.Write([]byte(line + "\n"))
		var out bytes.Buffer
		err := pods.Attach(ctx, f.api, "web-0", &pods.AttachOptions{Streams: pods.Streams{
			Stdin: in,
			Stdout: writer(func(p []byte) {
				if out.Write(p); bytes.HasSuffix(out.Bytes(), []byte("\n")) {
					cancel()
				}
			}),
		}})
		if !errors.Is(err, context.Canceled) || out.String() != "got "+line+"\n" {
			t.Errorf("%v, wrote %q", err, out.String())
		}
		typing.Close()
	}
}
