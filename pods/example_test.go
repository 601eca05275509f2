package pods_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"

	"github.com/coder/websocket"
	"github.com/go-kube/kube"
	"github.com/go-kube/kube/k8s/core"
	"github.com/go-kube/kube/pods"
)

// exampleServer has a pod web-0 that runs sh -c 'read name; echo hello $name; exit 3', that logs
// two lines, and that has an echo service at port 7.
func exampleServer() *httptest.Server {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/v1/namespaces/default/pods/web-0", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web-0","namespace":"default"},
			"spec":{"containers":[{"name":"app"},{"name":"proxy"}]},"status":{"phase":"Succeeded"}}`)
	})
	mux.HandleFunc("GET /api/v1/namespaces/default/pods/web-0/log", func(w http.ResponseWriter, r *http.Request) {
		lines := []string{"listening", "stopped"}
		for i, line := range lines {
			if r.URL.Query().Get("timestamps") == "true" {
				line = fmt.Sprintf("2030-01-01T00:00:0%dZ %s", i, line)
			}
			fmt.Fprintln(w, line)
		}
	})
	mux.HandleFunc("GET /api/v1/namespaces/default/pods/web-0/exec", streamed(func(ctx context.Context, ws *websocket.Conn) {
		_, name, _ := ws.Read(ctx)
		say(ctx, ws, 1, "hello "+strings.TrimSpace(string(name[1:]))+"\n")
		say(ctx, ws, 3, failure("3"))
	}))
	mux.HandleFunc("GET /api/v1/namespaces/default/pods/web-0/portforward", streamed(func(ctx context.Context, ws *websocket.Conn) {
		say(ctx, ws, 0, "\x07\x00")
		say(ctx, ws, 1, "\x07\x00")
		if _, data, err := ws.Read(ctx); err == nil {
			ws.Write(ctx, websocket.MessageBinary, data)
		}
	}))
	return httptest.NewServer(mux)
}

func streamed(handle func(ctx context.Context, ws *websocket.Conn)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{v5}})
		if err != nil {
			return
		}
		defer ws.CloseNow()
		handle(context.Background(), ws)
		for { // until the client hangs up
			if _, _, err := ws.Read(context.Background()); err != nil {
				return
			}
		}
	}
}

// exampleClient returns a client of a server of its own.
func exampleClient() (client *kube.Client, stop func()) {
	server := exampleServer()
	client, err := kube.NewClient(&kube.Config{Server: server.URL})
	if err != nil {
		log.Fatal(err)
	}
	return client, func() {
		client.Close()
		server.Close()
	}
}

func ExampleExec() {
	client, stop := exampleClient()
	defer stop()
	err := pods.Exec(context.Background(), client.Namespaced(core.Pods, "default"), "web-0",
		[]string{"sh", "-c", "read name; echo hello $name; exit 3"},
		&pods.ExecOptions{Container: "app", Streams: pods.Streams{Stdin: strings.NewReader("world\n"), Stdout: os.Stdout}})
	if exit, ok := errors.AsType[*pods.ExitError](err); ok {
		fmt.Println("it ended with", exit.Code)
	}
	// Output:
	// hello world
	// it ended with 3
}

func ExampleLogs() {
	client, stop := exampleClient()
	defer stop()
	text, err := pods.Logs(context.Background(), client.Namespaced(core.Pods, "default"), "web-0", &pods.LogOptions{Container: "app"})
	if err != nil {
		fmt.Println(err)
	}
	fmt.Print(text)
	// Output:
	// listening
	// stopped
}

func ExampleFollowLogs() {
	client, stop := exampleClient()
	defer stop()
	api := client.Namespaced(core.Pods, "default")
	for line, err := range pods.FollowLogs(context.Background(), api, "web-0", &pods.LogOptions{Container: "app"}) {
		if err != nil {
			fmt.Println(err)
			break
		}
		fmt.Println(line.Time.Format("15:04:05"), line.Text)
	}
	// Output:
	// 00:00:00 listening
	// 00:00:01 stopped
}

func ExampleFollowAllLogs() {
	client, stop := exampleClient()
	defer stop()
	for line, err := range pods.FollowAllLogs(context.Background(), client.Namespaced(core.Pods, "default"), "web-0", nil) {
		if err != nil {
			fmt.Println(err)
			break
		}
		fmt.Printf("[%s] %s\n", line.Container, line.Text)
	}
	// Unordered output:
	// [app] listening
	// [app] stopped
	// [proxy] listening
	// [proxy] stopped
}

func ExampleDial() {
	client, stop := exampleClient()
	defer stop()
	conn, err := pods.Dial(context.Background(), client.Namespaced(core.Pods, "default"), "web-0", 7)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer conn.Close()
	fmt.Fprint(conn, "hello")
	answer := make([]byte, 5)
	if _, err := io.ReadFull(conn, answer); err != nil {
		fmt.Println(err)
	}
	fmt.Printf("%s\n", answer)
	// Output: hello
}

func ExampleParsePort() {
	for _, text := range []string{"8080:80", "80", ":80", "http"} {
		fmt.Println(pods.ParsePort(text))
	}
	// Output:
	// {8080 80} <nil>
	// {80 80} <nil>
	// {0 80} <nil>
	// {0 0} pods: "http" is not a port such as 8080:80, 80 or :80
}
