package pods_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/pods"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// TestKubeletDirectly asks the kubelet itself, with no API server between.
func TestKubeletDirectly(t *testing.T) {
	f := runWith(t, nil, withStdin, "echo begun; "+reader)
	cert, key := f.node.Certificate()
	client, err := kube.NewClient(&kube.Config{Server: f.node.URL(), Insecure: true, CertFile: cert, KeyFile: key})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	kubelet := pods.NewKubelet(client)
	f.written(t, "a", "begun")
	pod := pods.KubeletPod{Namespace: f.pod.Namespace, Name: f.pod.Name}
	withUID := pod
	withUID.UID = f.pod.UID

	var out, errs bytes.Buffer
	opts := &pods.ExecOptions{Container: "a", Streams: pods.Streams{Stdin: strings.NewReader("in\n"), Stdout: &out, Stderr: &errs}}
	err = kubelet.Exec(t.Context(), withUID, []string{"sh", "-c", "cat; echo err >&2; exit 3"}, opts)
	if exit, ok := errors.AsType[*pods.ExitError](err); !ok || exit.Code != 3 || out.String() != "in\n" || errs.String() != "err\n" {
		t.Errorf("exec: %v, %q, %q\n%s", err, out.String(), errs.String(), f.nodeLog())
	}
	if text, err := kubelet.Logs(t.Context(), pod, &pods.LogOptions{Container: "a"}); err != nil || text != "begun\n" {
		t.Errorf("logs: %q, %v", text, err)
	}
	conn, err := kubelet.Dial(t.Context(), pod, echo(t, "hello\n", 5))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	io.WriteString(conn, "12345")
	if got, err := io.ReadAll(conn); err != nil || string(got) != "hello\n12345" {
		t.Errorf("port: %q, %v", got, err)
	}
	out.Reset()
	in, typing := io.Pipe()
	defer typing.Close()
	go typing.Write([]byte("one\n"))
	stop := errors.New("enough")
	err = kubelet.Attach(t.Context(), pod, &pods.AttachOptions{Container: "a", Streams: pods.Streams{Stdin: in, Stdout: failing{&out, stop}}})
	if !errors.Is(err, stop) || out.String() != "got one\n" {
		t.Errorf("attach: %v, %q", err, out.String())
	}
	pod.Name = "absent"
	if err := kubelet.Exec(t.Context(), pod, []string{"true"}, opts); !apierrors.IsNotFound(err) || !strings.Contains(err.Error(), "pod does not exist") {
		t.Errorf("another pod: %v, want the kubelet's refusal", err)
	}
}

// failing takes a line, and fails.
type failing struct {
	to  *bytes.Buffer
	err error
}

func (f failing) Write(p []byte) (int, error) {
	if f.to.Write(p); !bytes.HasSuffix(f.to.Bytes(), []byte("\n")) {
		return len(p), nil
	}
	return 0, f.err
}

// TestFollowAllLogs follows two containers over a cut, until both have ended.
func TestFollowAllLogs(t *testing.T) {
	f := run(t, "for i in 1 2 3 4; do echo a $i; sleep 0.2; done", "for i in 1 2 3 4; do echo b $i; sleep 0.2; done")
	got := map[string]string{}
	n := 0
	for line, err := range pods.FollowAllLogs(t.Context(), f.api, "web-0", nil) {
		if err != nil {
			t.Fatal(err)
		}
		got[line.Container] += line.Text + "\n"
		switch n++; n {
		case 4:
			if err := f.node.Cut(); err != nil {
				t.Fatal(err)
			}
		case 8:
			f.stop(t)
		}
	}
	for _, c := range []string{"a", "b"} {
		if want := strings.ReplaceAll("_ 1\n_ 2\n_ 3\n_ 4\n", "_", c); got[c] != want {
			t.Errorf("container %s: %q, want %q", c, got[c], want)
		}
	}
}
