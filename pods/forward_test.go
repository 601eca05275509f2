package pods_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"
	"github.com/go-kube/kube"
	"github.com/go-kube/kube/pods"
	corev1 "k8s.io/api/core/v1"
)

// echo speaks port forwarding: the port on both channels, then what comes goes back.
func echo(t *testing.T, port uint16) http.HandlerFunc {
	return accept(t, v4, func(ctx context.Context, r *http.Request, ws *websocket.Conn) {
		if got := r.URL.RawQuery; got != "ports=80" {
			t.Errorf("query %s", got)
		}
		for channel := range byte(2) {
			say(ctx, ws, channel, string([]byte{byte(port), byte(port >> 8)}))
		}
		for {
			_, data, err := ws.Read(ctx)
			if err != nil {
				return
			}
			say(ctx, ws, data[0], string(data[1:]))
		}
	})
}

func TestDial(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn, err := pods.Dial(t.Context(), serve(t, echo(t, 80)), "web", 80)
		if err != nil {
			t.Fatal(err)
		}
		in := bytes.Repeat([]byte("abcd"), 100_000)
		go conn.Write(in)
		out := make([]byte, len(in))
		if _, err := io.ReadFull(conn, out); err != nil || !bytes.Equal(in, out) {
			t.Error(err)
		}
		conn.SetReadDeadline(time.Now().Add(time.Second))
		if _, err := conn.Read(out); !errors.Is(err, context.DeadlineExceeded) && !strings.Contains(fmt.Sprint(err), "timeout") {
			t.Errorf("error = %v", err)
		}
		conn.Close()
	})
}

// A connection whose port is another one, or that the pod refuses, ends without a byte and with the
// reason.
func TestDialErrors(t *testing.T) {
	refuse := accept(t, v5, func(ctx context.Context, r *http.Request, ws *websocket.Conn) {
		say(ctx, ws, 0, "\x50\x00")
		say(ctx, ws, 1, "\x50\x00")
		say(ctx, ws, 1, "connection refused")
		ws.Read(ctx)
	})
	for _, test := range []struct {
		handler http.HandlerFunc
		want    string
	}{
		{echo(t, 81), "pods: port 80: the server connected port 81 in place of 80"},
		{refuse, "pods: port 80: connection refused"},
	} {
		synctest.Test(t, func(t *testing.T) {
			conn, err := pods.Dial(t.Context(), serve(t, test.handler), "web", 80)
			if err != nil {
				t.Fatal(err)
			}
			if n, err := conn.Read(make([]byte, 1)); n != 0 || err == nil || err.Error() != test.want {
				t.Errorf("%d bytes, %v, want %s", n, err, test.want)
			}
			conn.Close()
		})
	}
	if _, err := pods.Dial(t.Context(), kube.API[corev1.Pod]{}, "web", 0); err == nil {
		t.Error("port 0 was dialled")
	}
}

// A pod that cannot be connected to is an error before anything is listened on, where it can be told.
func TestForwardToNoPod(t *testing.T) {
	for _, test := range []struct {
		name string
		pod  http.HandlerFunc
		want string
	}{
		{"absent", refused(404, "NotFound", `pods "web" not found`), `get pods ns/web: pods "web" not found`},
		{"ended", isPod(func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }), "pods: forwarding to ns/web: the pod has ended (Failed)"},
		{"unknown", refused(403, "Forbidden", "no"), ""},
		{"not running yet", isPod(func(p *corev1.Pod) { p.Status.Phase = corev1.PodPending }), ""},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		listened := false
		err := pods.Forward(ctx, serve(t, beside(test.pod, echo(t, 80))), "web", []pods.Port{{Remote: 80}}, &pods.ForwardOptions{Ready: func([]pods.Port) {
			listened = true
			cancel()
		}})
		if want := orNil(test.want); listened != (test.want == "") || fmt.Sprint(err) != want {
			t.Errorf("%s: listened: %t, %v", test.name, listened, err)
		}
		cancel()
	}
}

// What the pod says after the local side has ended its direction arrives.
func TestForwardHalfClose(t *testing.T) {
	pod := accept(t, v4, func(ctx context.Context, r *http.Request, ws *websocket.Conn) {
		for channel := range byte(2) {
			say(ctx, ws, channel, "\x50\x00")
		}
		_, data, err := ws.Read(ctx)
		if err != nil {
			t.Error(err)
			return
		}
		time.Sleep(100 * time.Millisecond) // until the end of the request has come
		say(ctx, ws, 0, "answer to "+string(data[1:]))
		ws.Close(websocket.StatusNormalClosure, "")
	})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ready, done := make(chan pods.Port, 1), make(chan error, 1)
	go func() {
		done <- pods.Forward(ctx, serve(t, beside(isPod(), pod)), "web", []pods.Port{{Remote: 80}}, &pods.ForwardOptions{Ready: func(p []pods.Port) { ready <- p[0] }})
	}()
	conn, err := net.Dial("tcp", fmt.Sprint("127.0.0.1:", (<-ready).Local))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	io.WriteString(conn, "question")
	conn.(*net.TCPConn).CloseWrite()
	if answer, err := io.ReadAll(conn); err != nil || string(answer) != "answer to question" {
		t.Errorf("%q, %v", answer, err)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestForward(t *testing.T) {
	api := serve(t, beside(isPod(), echo(t, 80)))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan error)
	ready := make(chan []pods.Port)
	go func() {
		done <- pods.Forward(ctx, api, "web", []pods.Port{{Remote: 80}, {Remote: 80}}, &pods.ForwardOptions{Ready: func(p []pods.Port) { ready <- p }})
	}()
	for _, p := range <-ready {
		for range 3 { // a stream for each connection
			conn, err := net.Dial("tcp", fmt.Sprint("127.0.0.1:", p.Local))
			if err != nil {
				t.Fatal(err)
			}
			io.WriteString(conn, "hello")
			out := make([]byte, 5)
			if _, err := io.ReadFull(conn, out); err != nil || string(out) != "hello" {
				t.Errorf("%q, %v", out, err)
			}
			conn.Close()
		}
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestParsePort(t *testing.T) {
	for text, want := range map[string]pods.Port{"8080:80": {Local: 8080, Remote: 80}, "80": {Local: 80, Remote: 80}, ":80": {Remote: 80}} {
		if got, err := pods.ParsePort(text); err != nil || got != want {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "0", "80:", "a:80", "70000", "1:2:3", "0:80", "-1"} {
		if got, err := pods.ParsePort(text); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%q is not a port", text)) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}
