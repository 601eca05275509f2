package pods_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/coder/websocket"
	"github.com/go-kube/kube"
	"github.com/go-kube/kube/pods"
	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// kubelet returns one that answers with handler.
func kubelet(t *testing.T, handler http.HandlerFunc) pods.Kubelet {
	t.Helper()
	return pods.NewKubelet(serve(t, handler).Endpoint().Client())
}

func TestKubelet(t *testing.T) {
	pod := pods.KubeletPod{Namespace: "ns", Name: "name"}
	withUID := pods.KubeletPod{Namespace: "ns", Name: "name", UID: "uid"}
	in, out := strings.NewReader(""), io.Discard
	for _, test := range []struct {
		name, path, query string
		do                func(ctx context.Context, k pods.Kubelet) error
	}{
		{"attach", "/prefix/attach/ns/name/uid/container", "error=1&input=1&output=1", func(ctx context.Context, k pods.Kubelet) error {
			return k.Attach(ctx, withUID, &pods.AttachOptions{Container: "container", Streams: pods.Streams{Stdin: in, Stdout: out, Stderr: out}})
		}},
		{"exec", "/prefix/exec/ns/name/container", "command=ls&command=-l&input=1&output=1&tty=1", func(ctx context.Context, k pods.Kubelet) error {
			return k.Exec(ctx, pod, []string{"ls", "-l"}, &pods.ExecOptions{Container: "container", Streams: pods.Streams{Stdin: in, Stdout: out, TTY: true}})
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := kubelet(t, accept(t, v5, func(ctx context.Context, r *http.Request, ws *websocket.Conn) {
					if got := r.URL.Path + "?" + r.URL.RawQuery; got != test.path+"?"+test.query {
						t.Errorf("asked for %s", got)
					}
					say(ctx, ws, 3, failure("7"))
					for { // Stdin's end, and the connection's
						if _, _, err := ws.Read(ctx); err != nil {
							return
						}
					}
				}))
				if exit, ok := errors.AsType[*pods.ExitError](test.do(t.Context(), k)); !ok || exit.Code != 7 {
					t.Errorf("ended with %v", exit)
				}
			})
		})
	}
}

func TestKubeletPorts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked string
		answers := echo(t, 1204)
		k := kubelet(t, func(w http.ResponseWriter, r *http.Request) {
			asked = r.URL.String()
			r.URL.RawQuery = "ports=80" // as an API server is asked
			answers(w, r)
		})
		conn, err := k.Dial(t.Context(), pods.KubeletPod{Namespace: "ns", Name: "name"}, 1204)
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(conn, "hello")
		got := make([]byte, 5)
		if _, err := io.ReadFull(conn, got); err != nil || string(got) != "hello" {
			t.Errorf("%q, %v", got, err)
		}
		conn.Close()
		if want := "/prefix/portForward/ns/name?port=1204"; asked != want {
			t.Errorf("asked for %s, want %s", asked, want)
		}
	})
}

func TestKubeletLogs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked string
		k := kubelet(t, func(w http.ResponseWriter, r *http.Request) {
			asked = r.URL.String()
			if strings.Contains(asked, "absent") {
				http.Error(w, `pod "absent" does not exist`, http.StatusNotFound)
				return
			}
			io.WriteString(w, "line\n")
		})
		stream, err := k.LogStream(t.Context(), pods.KubeletPod{Namespace: "ns", Name: "name"},
			&pods.LogOptions{Container: "container", Follow: true, TailLines: new(int64(10)), Timestamps: true})
		if err != nil {
			t.Fatal(err)
		}
		defer stream.Close()
		if text, err := io.ReadAll(stream); err != nil || string(text) != "line\n" {
			t.Errorf("%q, %v", text, err)
		}
		if want := "/prefix/containerLogs/ns/name/container?follow=true&tailLines=10&timestamps=true"; asked != want {
			t.Errorf("asked for %s, want %s", asked, want)
		}
		_, err = k.Logs(t.Context(), pods.KubeletPod{Namespace: "ns", Name: "absent"}, &pods.LogOptions{Container: "c"})
		refusal, ok := errors.AsType[*kube.Error](err)
		if !ok || !apierrors.IsNotFound(err) || !strings.Contains(err.Error(), `pod "absent" does not exist`) {
			t.Fatalf("error %v, want the kubelet's", err)
		}
		if diff := cmp.Diff([]string{"get", "pods/log", "ns", "absent"}, []string{refusal.Verb, refusal.Resource, refusal.Namespace, refusal.Name}); diff != "" {
			t.Error(diff)
		}
	})
}

func TestKubeletMisuse(t *testing.T) {
	k := kubelet(t, func(http.ResponseWriter, *http.Request) { t.Error("it was asked") })
	for _, test := range []struct {
		pod  pods.KubeletPod
		opts pods.LogOptions
		want string
	}{
		{pods.KubeletPod{Namespace: "ns", Name: "name"}, pods.LogOptions{}, "name it by Container"},
		{pods.KubeletPod{Namespace: "ns", Name: "name"}, pods.LogOptions{Container: "c", InsecureBackend: true}, "Config.Insecure"},
		{pods.KubeletPod{Name: "name"}, pods.LogOptions{Container: "c"}, `the namespace "" and the name "name"; both are needed`},
		{pods.KubeletPod{Namespace: "ns", Name: "name", UID: "uid"}, pods.LogOptions{Container: "c"}, "leave KubeletPod.UID empty"},
	} {
		_, err := k.Logs(t.Context(), test.pod, &test.opts)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: error %v, want %s", test.pod, err, test.want)
		}
	}
}
