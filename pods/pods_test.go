package pods_test

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"
	"github.com/go-kube/kube"
	"github.com/go-kube/kube/internal/deptest"
	"github.com/go-kube/kube/k8s/core"
	"github.com/go-kube/kube/pods"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestImports(t *testing.T) {
	deptest.Allow(t,
		"github.com/go-kube/kube", "github.com/go-kube/kube/resource", "github.com/go-kube/kube/kubeconfig",
		"github.com/go-kube/kube/internal/...", "github.com/go-kube/kube/k8s/...",
		"sigs.k8s.io/yaml/...", "k8s.io/api/...", "github.com/coder/websocket/...",
	)
}

// pipes is a network of pipes: what is left running at the end of a bubble is found there.
type pipes struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case p.conns <- far:
		return near, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}
func (p *pipes) Close() error   { p.once.Do(func() { close(p.done) }); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }

// serve returns the pods of a server that answers with handler.
func serve(t *testing.T, handler http.HandlerFunc) kube.API[corev1.Pod] {
	t.Helper()
	p := &pipes{conns: make(chan net.Conn), done: make(chan struct{})}
	srv := &http.Server{Handler: handler}
	go srv.Serve(p)
	client, err := kube.NewClient(&kube.Config{Server: "http://host/prefix", Dial: p.dial, BearerToken: "abc"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		client.Close()
		srv.Close()
	})
	return client.Namespaced(core.Pods, "ns")
}

// accept makes handler one that speaks the protocols by websocket.
func accept(t *testing.T, protocol string, handler func(ctx context.Context, r *http.Request, ws *websocket.Conn)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer abc" || r.ProtoMajor != 1 || r.Method != "GET" {
			t.Errorf("%s %s %v", r.Method, r.Proto, r.Header)
		}
		ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{protocol}})
		if err != nil {
			t.Error(err)
			return
		}
		defer ws.CloseNow()
		ws.SetReadLimit(-1)
		handler(context.Background(), r, ws)
	}
}

func say(ctx context.Context, ws *websocket.Conn, channel byte, text string) {
	ws.Write(ctx, websocket.MessageBinary, append([]byte{channel}, text...))
}

const (
	v4      = "v4.channel.k8s.io"
	v5      = "v5.channel.k8s.io"
	success = `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success"}`
)

func failure(code string) string {
	return `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","reason":"NonZeroExitCode","message":"command terminated","details":{"causes":[{"reason":"ExitCode","message":"` + code + `"}]}}`
}

func TestExecOutput(t *testing.T) {
	for _, protocol := range []string{v4, v5} {
		synctest.Test(t, func(t *testing.T) {
			api := serve(t, accept(t, protocol, func(ctx context.Context, r *http.Request, ws *websocket.Conn) {
				if got, want := r.URL.String(), "/prefix/api/v1/namespaces/ns/pods/web/exec?command=sh&command=-c&command=a+b&container=c&stderr=true&stdout=true"; got != want {
					t.Errorf("asked for %s, want %s", got, want)
				}
				for channel := range byte(5) {
					say(ctx, ws, channel, "") // as some servers open channels
				}
				ws.Write(ctx, websocket.MessageText, []byte("text"))
				say(ctx, ws, 1, "out")
				say(ctx, ws, 9, "unknown")
				say(ctx, ws, 2, "err")
				say(ctx, ws, 1, "put")
				say(ctx, ws, 3, failure("42"))
			}))
			var out, errs bytes.Buffer
			err := pods.Exec(t.Context(), api, "web", []string{"sh", "-c", "a b"}, &pods.ExecOptions{Container: "c", Streams: pods.Streams{Stdout: &out, Stderr: &errs}})
			exit, ok := errors.AsType[*pods.ExitError](err)
			if !ok || exit.Code != 42 || !strings.Contains(err.Error(), "exec of ns/web: the command ended with code 42") {
				t.Errorf("error = %v", err)
			}
			if out.String() != "output" || errs.String() != "err" {
				t.Errorf("output %q, %q", &out, &errs)
			}
		})
	}
}

// What goes in comes out, through a command that reads to the end, with a slow reader.
func TestExecStdin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := serve(t, accept(t, v5, func(ctx context.Context, r *http.Request, ws *websocket.Conn) {
			for {
				_, data, err := ws.Read(ctx)
				if err != nil {
					t.Error(err)
					return
				}
				if data[0] == 255 {
					if len(data) != 2 || data[1] != 0 {
						t.Errorf("end %v", data)
					}
					break
				}
				say(ctx, ws, 1, string(data[1:]))
			}
			say(ctx, ws, 3, success)
		}))
		in := bytes.Repeat([]byte("0123456789abcdef"), 64<<10)
		var out slowBuffer
		err := pods.Exec(t.Context(), api, "web", []string{"cat"}, &pods.ExecOptions{Streams: pods.Streams{Stdin: bytes.NewReader(in), Stdout: &out}})
		if err != nil || !bytes.Equal(in, out.Bytes()) {
			t.Errorf("%d of %d bytes came back: %v", out.Len(), len(in), err)
		}
	})
}

type slowBuffer struct{ bytes.Buffer }

func (b *slowBuffer) Write(p []byte) (int, error) {
	time.Sleep(10 * time.Second) // of a bubble: pings go unanswered meanwhile
	return b.Buffer.Write(p)
}

func TestExecTerminal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := serve(t, accept(t, v5, func(ctx context.Context, r *http.Request, ws *websocket.Conn) {
			if q := r.URL.RawQuery; q != "stdout=true&tty=true" || !strings.HasSuffix(r.URL.Path, "/attach") {
				t.Errorf("%s?%s", r.URL.Path, q)
			}
			for range 2 {
				_, data, err := ws.Read(ctx)
				if err != nil || data[0] != 4 {
					t.Errorf("%q, %v", data, err)
					return
				}
				say(ctx, ws, 1, string(data[1:]))
			}
			say(ctx, ws, 3, success)
		}))
		n := uint16(0)
		var out bytes.Buffer
		err := pods.Attach(t.Context(), api, "web", &pods.AttachOptions{Streams: pods.Streams{Stdout: &out, TTY: true, Resize: func(ctx context.Context) (pods.Size, error) {
			if n++; n > 2 {
				<-ctx.Done()
				return pods.Size{}, ctx.Err()
			}
			return pods.Size{Width: 80 * n, Height: 24}, nil
		}}})
		if want := `{"Width":80,"Height":24}{"Width":160,"Height":24}`; err != nil || out.String() != want {
			t.Errorf("%s, %v", &out, err)
		}
	})
}

func TestExecErrors(t *testing.T) {
	forbidden := `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","reason":"Forbidden","message":"you may not exec","code":403}`
	script := func(protocol string, channel byte, text string) func(t *testing.T) http.HandlerFunc {
		return func(t *testing.T) http.HandlerFunc {
			return accept(t, protocol, func(ctx context.Context, _ *http.Request, ws *websocket.Conn) {
				if text != "" {
					say(ctx, ws, channel, text)
				}
				if protocol == v4 {
					ws.Read(ctx)
				}
			})
		}
	}
	out := pods.Streams{Stdout: io.Discard}
	for _, test := range []struct {
		name    string
		handler func(t *testing.T) http.HandlerFunc
		streams pods.Streams
		command string
		want    string
		is      error
	}{
		{"refused", func(*testing.T) http.HandlerFunc {
			return func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(403)
				io.WriteString(w, forbidden)
			}
		}, out, "ls", "get pods/exec ns/web: you may not exec", kube.ErrForbidden},
		{"no upgrade", func(*testing.T) http.HandlerFunc { return func(w http.ResponseWriter, r *http.Request) {} }, out, "ls", "without switching to websocket", nil},
		{"other protocol", script("other", 0, ""), out, "ls", "speaks neither", nil},
		{"cut", script(v5, 1, "abc"), out, "ls", "the connection ended before the command did", nil},
		{"internal error", script(v5, 3, `{"status":"Failure","message":"no runtime"}`), out, "ls", "exec of ns/web: no runtime", nil},
		{"garbage", script(v5, 3, `<`), out, "ls", "cannot be read", nil},
		{"writer fails", script(v5, 1, "abc"), pods.Streams{Stdout: brokenPipe{}}, "ls", "broken pipe", errBroken},
		{"reader fails", script(v4, 1, "abc"), pods.Streams{Stdin: brokenPipe{}}, "ls", "reading Stdin: broken pipe", errBroken},
		{"end of stdin by v4", script(v4, 1, "abc"), pods.Streams{Stdin: strings.NewReader("")}, "ls", "needs Kubernetes 1.29", pods.ErrStdinEnd},
		{"no command", nil, out, "", "the command is empty", nil},
		{"no streams", nil, pods.Streams{}, "ls", "none of Stdin, Stdout and Stderr", nil},
		{"stderr of a terminal", nil, pods.Streams{Stderr: io.Discard, TTY: true}, "ls", "there is no Stderr", nil},
		{"resize without a terminal", nil, pods.Streams{Stdout: io.Discard, Resize: func(context.Context) (pods.Size, error) { panic("called") }}, "ls", "Resize needs TTY", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				handler := http.HandlerFunc(http.NotFound)
				if test.handler != nil {
					handler = test.handler(t)
				}
				err := pods.Exec(t.Context(), serve(t, handler), "web", strings.Fields(test.command), &pods.ExecOptions{Streams: test.streams})
				if err == nil || !strings.Contains(err.Error(), test.want) || test.is != nil && !errors.Is(err, test.is) {
					t.Errorf("error = %v, want %q", err, test.want)
				}
			})
		})
	}
}

var errBroken = errors.New("broken pipe")

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, errBroken }
func (brokenPipe) Read([]byte) (int, error)  { return 0, errBroken }

func TestExecEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := serve(t, accept(t, v5, func(ctx context.Context, _ *http.Request, ws *websocket.Conn) { ws.Read(ctx) }))
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour) // pings keep it alive
		defer cancel()
		start := time.Now()
		err := pods.Exec(ctx, api, "web", []string{"sleep"}, &pods.ExecOptions{Streams: pods.Streams{Stdout: io.Discard}})
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Hour {
			t.Errorf("after %s: %v", time.Since(start), err)
		}
	})
}

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

// beside answers requests for the pod itself, and has streams do the rest.
func beside(pod http.HandlerFunc, streams http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/pods/web") {
			pod(w, r)
			return
		}
		streams(w, r)
	}
}

// isPod answers with a pod.
func isPod(change ...func(*corev1.Pod)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		pod := &corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "ns"}}
		for _, f := range change {
			f(pod)
		}
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(pod)
	}
}

// refused answers with a Status.
func refused(code int, reason, message string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","code":%d,"reason":%q,"message":%q,"details":{"name":"web","kind":"pods"}}`, code, reason, message)
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

// The convention about the container that is meant is the clients'.
func TestDefaultContainer(t *testing.T) {
	two := func(p *corev1.Pod) {
		p.Spec.Containers = []corev1.Container{{Name: "proxy"}, {Name: "app"}}
		p.Annotations = map[string]string{"kubectl.kubernetes.io/default-container": "app"}
	}
	needed := func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("container") == "" {
			refused(400, "BadRequest", "a container name must be specified for pod web, choose one of: [proxy app]")(w, r)
			return
		}
		fmt.Fprint(w, "log of "+r.URL.Query().Get("container")+"\n")
	}
	for _, test := range []struct {
		name string
		pod  http.HandlerFunc
		want string
	}{
		{"annotation", isPod(two), "log of app\n<nil>"},
		{"of none of its containers", isPod(two, func(p *corev1.Pod) { p.Spec.Containers[1].Name = "other" }), "get pods/log ns/web: a container name must be specified for pod web, choose one of: [proxy app]"},
		{"no annotation", isPod(two, func(p *corev1.Pod) { p.Annotations = nil }), "get pods/log ns/web: a container name must be specified for pod web, choose one of: [proxy app]"},
		{"pod cannot be read", refused(403, "Forbidden", "no"), "get pods/log ns/web: a container name must be specified for pod web, choose one of: [proxy app]"},
	} {
		text, err := pods.Logs(t.Context(), serve(t, beside(test.pod, needed)), "web", nil)
		if got := text + fmt.Sprint(err); got != test.want {
			t.Errorf("%s: %s", test.name, got)
		}
	}
	api := serve(t, beside(isPod(two), needed))
	var got []string
	for line, err := range pods.FollowLogs(t.Context(), api, "web", nil) {
		got = append(got, fmt.Sprint(line.Text, err))
		break
	}
	if len(got) != 1 || got[0] != "log of app<nil>" {
		t.Error(got)
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

func TestLogs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked string
		api := serve(t, func(w http.ResponseWriter, r *http.Request) {
			asked = r.URL.String()
			io.WriteString(w, "one\ntwo\n")
		})
		text, err := pods.Logs(t.Context(), api, "web", nil)
		if err != nil || text != "one\ntwo\n" || asked != "/prefix/api/v1/namespaces/ns/pods/web/log" {
			t.Errorf("%q, %v, %s", text, err, asked)
		}
		_, err = pods.Logs(t.Context(), api, "web", &pods.LogOptions{Container: "c", Previous: true, Since: time.Minute, TailLines: new(int64(0)), LimitBytes: 9, Timestamps: true, InsecureBackend: true})
		if want := "container=c&insecureSkipTLSVerifyBackend=true&limitBytes=9&previous=true&sinceSeconds=60&tailLines=0&timestamps=true"; err != nil || !strings.HasSuffix(asked, "?"+want) {
			t.Errorf("%s, %v", asked, err)
		}
		for _, o := range []pods.LogOptions{{Follow: true}, {Since: time.Millisecond}, {LimitBytes: -1}, {TailLines: new(int64(-1))}, {Since: time.Second, SinceTime: time.Now()}} {
			if _, err := pods.Logs(t.Context(), api, "web", &o); err == nil || !strings.HasPrefix(err.Error(), "pods: ") {
				t.Errorf("%+v: %v", o, err)
			}
		}
	})
}

// A connection that is cut is opened again where it was, without a line twice or lost.
func TestFollowLogs(t *testing.T) {
	const second = "2030-01-01T00:00:0"
	synctest.Test(t, func(t *testing.T) {
		var asked []string
		running := true
		api := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if !strings.HasSuffix(r.URL.Path, "/log") {
				state := corev1.ContainerState{}
				if running {
					state.Running = &corev1.ContainerStateRunning{}
				}
				pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c"}}}}
				pod.APIVersion, pod.Kind = "v1", "Pod"
				pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "c", State: state}}
				w.Header().Set("Content-Type", "application/json")
				json.NewEncoder(w).Encode(pod)
				return
			}
			asked = append(asked, r.URL.Query().Get("sinceTime")+" "+r.URL.Query().Get("tailLines"))
			switch len(asked) {
			case 1:
				io.WriteString(w, second+"1Z a\n"+second+"2Z b\n"+second+"2Z b\n"+second+"3Z half")
				w.(http.Flusher).Flush()
				panic(http.ErrAbortHandler)
			case 2: // ends in a clean way while the container runs, as behind some proxies
				io.WriteString(w, second+"2Z b\n"+second+"2Z b\n"+second+"2Z b\n"+second+"3Z half and half\n")
			case 3:
				w.WriteHeader(500)
			case 4: // a clean end within a line, as when a kubelet goes down
				io.WriteString(w, second+"3Z half and half\n"+second+"4Z cu")
			case 5: // and once more
				io.WriteString(w, second+"3Z half and half\n"+second+"4Z cut")
			case 6: // the last line of a run has no line break, and the container starts again
				io.WriteString(w, second+"3Z half and half\n"+second+"4Z cut again\n"+second+"5Z last of a run")
			case 7:
				io.WriteString(w, second+"6Z first of a run")
			default:
				running = false
				io.WriteString(w, second+"6Z first of a run\n"+second+"7Z end")
			}
		})
		var got []string
		for line, err := range pods.FollowLogs(t.Context(), api, "web", &pods.LogOptions{TailLines: new(int64(3))}) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, line.Text)
		}
		if diff := cmp.Diff([]string{"a", "b", "b", "b", "half and half", "cut again", "last of a run", "first of a run", "end"}, got); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff([]string{" 3", second + "2Z ", second + "3Z ", second + "3Z ", second + "3Z ", second + "3Z ", second + "4Z ", second + "5Z "}, asked); diff != "" {
			t.Error(diff)
		}
	})
}

// Who may read logs only cannot be told whether the container has ended: that is said, and not asked for ever.
func TestFollowLogsWithoutThePod(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := serve(t, beside(refused(403, "Forbidden", "pods is forbidden"), func(w http.ResponseWriter, r *http.Request) {
			io.WriteString(w, "2030-01-01T00:00:00Z all of it\n2030-01-01T00:00:01Z and the end")
		}))
		var got []string
		for line, err := range pods.FollowLogs(t.Context(), api, "web", nil) {
			got = append(got, line.Text+fmt.Sprint(err))
		}
		if diff := cmp.Diff([]string{"all of it<nil>", "and the end<nil>", "get pods ns/web: pods is forbidden"}, got); diff != "" {
			t.Error(diff)
		}
	})
}

// The limit is for all connections together.
func TestFollowLogsLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		api := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Query().Has("limitBytes") {
				t.Errorf("the server is asked to count: %s", r.URL)
			}
			if n++; n == 1 {
				io.WriteString(w, "2030-01-01T00:00:01Z abc\n")
				w.(http.Flusher).Flush()
				panic(http.ErrAbortHandler)
			}
			io.WriteString(w, "2030-01-01T00:00:01Z abc\n2030-01-01T00:00:02Z defg\n2030-01-01T00:00:03Z h\n")
		})
		for limit, want := range map[int64]string{3: "abc", 4: "abc", 6: "abc de", 8: "abc defg", 9: "abc defg", 10: "abc defg h"} {
			n = 0
			var got []string
			for line, err := range pods.FollowLogs(t.Context(), api, "web", &pods.LogOptions{LimitBytes: limit}) {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, line.Text)
			}
			if text := strings.Join(got, " "); text != want {
				t.Errorf("limit %d: %q, want %q", limit, text, want)
			}
		}
	})
}

func TestFollowLogsErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := serve(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(404)
			io.WriteString(w, `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","reason":"NotFound","message":"no such pod","code":404}`)
		})
		n := 0
		for _, err := range pods.FollowLogs(t.Context(), api, "web", nil) {
			n++
			if !errors.Is(err, kube.ErrNotFound) {
				t.Errorf("error = %v", err)
			}
		}
		if n != 1 {
			t.Errorf("%d items", n)
		}
	})
}

// A server that is not there any more is found out, though nothing says so.
func TestExecDeadConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := serve(t, accept(t, v5, func(ctx context.Context, _ *http.Request, ws *websocket.Conn) { time.Sleep(time.Hour) }))
		start := time.Now()
		err := pods.Exec(t.Context(), api, "web", []string{"sleep"}, &pods.ExecOptions{Streams: pods.Streams{Stdout: io.Discard}})
		if err == nil || time.Since(start) > 2*time.Minute {
			t.Errorf("after %s: %v", time.Since(start), err)
		}
		time.Sleep(time.Hour) // the server wakes up and ends
	})
}

// A client whose other requests go over HTTP/2 upgrades connections of HTTP/1.1.
func TestExecBesideHTTP2(t *testing.T) {
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/log") {
			io.WriteString(w, r.Proto)
			return
		}
		accept(t, v5, func(ctx context.Context, r *http.Request, ws *websocket.Conn) { say(ctx, ws, 3, success) })(w, r)
	}))
	srv.EnableHTTP2 = true
	srv.StartTLS()
	defer srv.Close()
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw})
	client, err := kube.NewClient(&kube.Config{Server: srv.URL, CAData: ca, BearerToken: "abc"})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	api := client.Namespaced(core.Pods, "ns")
	for range 2 {
		if text, err := pods.Logs(t.Context(), api, "web", nil); err != nil || text != "HTTP/2.0" {
			t.Errorf("%s, %v", text, err)
		}
		if err := pods.Exec(t.Context(), api, "web", []string{"true"}, &pods.ExecOptions{Streams: pods.Streams{Stdout: io.Discard}}); err != nil {
			t.Error(err)
		}
	}
}

// podOf is a server's answer for a pod with an init container and two more.
func podOf(w http.ResponseWriter, phase corev1.PodPhase, states map[string]corev1.ContainerState) {
	pod := &corev1.Pod{}
	pod.APIVersion, pod.Kind, pod.Status.Phase = "v1", "Pod", phase
	pod.Spec.InitContainers = []corev1.Container{{Name: "init"}}
	pod.Spec.Containers = []corev1.Container{{Name: "a"}, {Name: "b"}}
	for _, name := range []string{"init", "a", "b"} {
		status := corev1.ContainerStatus{Name: name, State: states[name]}
		if name == "init" {
			pod.Status.InitContainerStatuses = append(pod.Status.InitContainerStatuses, status)
		} else {
			pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, status)
		}
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(pod)
}

func badRequest(w http.ResponseWriter, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(400)
	fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","reason":"BadRequest","message":%q,"code":400}`, message)
}

// The ordinary containers are waited for while the init container runs, and one that cannot be read
// stops none of the others.
func TestFollowAllLogs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}}
		start := time.Now()
		api := serve(t, func(w http.ResponseWriter, r *http.Request) {
			waits := time.Since(start) < 3*time.Second
			if !strings.HasSuffix(r.URL.Path, "/log") {
				waiting := corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "PodInitializing"}}
				if waits {
					podOf(w, corev1.PodPending, map[string]corev1.ContainerState{"init": ended, "a": waiting, "b": waiting})
				} else {
					podOf(w, corev1.PodSucceeded, map[string]corev1.ContainerState{"init": ended, "a": ended, "b": ended})
				}
				return
			}
			switch container := r.URL.Query().Get("container"); {
			case container == "init":
				io.WriteString(w, "2030-01-01T00:00:01Z first\n")
			case waits:
				badRequest(w, "is waiting to start: PodInitializing")
			case container == "a":
				io.WriteString(w, "2030-01-01T00:00:02Z second\n2030-01-01T00:00:03Z third\n")
			default:
				badRequest(w, "has no log")
			}
		})
		got := map[string][]string{}
		for line, err := range pods.FollowAllLogs(t.Context(), api, "web", nil) {
			if err != nil {
				line.Text = err.Error()
			}
			got[line.Container] = append(got[line.Container], line.Text)
		}
		want := map[string][]string{"init": {"first"}, "a": {"second", "third"}, "b": {"get pods/log ns/web: has no log"}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}

func TestFollowAllLogsEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		running := corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
		api := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if !strings.HasSuffix(r.URL.Path, "/log") {
				podOf(w, corev1.PodRunning, map[string]corev1.ContainerState{"init": running, "a": running, "b": running})
				return
			}
			io.WriteString(w, "2030-01-01T00:00:01Z line\n")
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var errs []error
		n := 0
		for _, err := range pods.FollowAllLogs(ctx, api, "web", nil) {
			if err != nil {
				errs = append(errs, err)
			} else if n++; n == 3 {
				cancel()
			}
		}
		if n != 3 || len(errs) != 1 || !errors.Is(errs[0], context.Canceled) {
			t.Errorf("%d lines, errors %v; want the context's once", n, errs)
		}
		for range pods.FollowAllLogs(t.Context(), api, "web", nil) {
			break // the sequence waits for its goroutines, or the bubble does not end
		}
		for _, err := range pods.FollowAllLogs(t.Context(), api, "web", &pods.LogOptions{Container: "a"}) {
			if err == nil || !strings.Contains(err.Error(), `Container is "a"`) {
				t.Errorf("with a container: %v", err)
			}
		}
	})
}

func orNil(text string) string {
	if text == "" {
		return "<nil>"
	}
	return text
}
