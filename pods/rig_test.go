package pods_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/coder/websocket"
	"github.com/go-kube/kube"
	"github.com/go-kube/kube/internal/deptest"
	"github.com/go-kube/kube/k8s/core"
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
