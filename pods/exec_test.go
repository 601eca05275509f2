package pods_test

import (
	"bytes"
	"context"
	"encoding/pem"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"
	"github.com/go-kube/kube"
	"github.com/go-kube/kube/k8s/core"
	"github.com/go-kube/kube/pods"
)

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
