package pods_test

import (
	"bytes"
	"context"
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/coder/websocket"
	"github.com/go-kube/kube/pods"
)

// 12 of a list of mistakes that kube-rs made (runtime/testdata/lessons.txt has all of them): a
// command that had succeeded was an error when the connection did not end well after it.
func TestRegression12ASuccessIsOneHoweverTheConnectionEnds(t *testing.T) {
	for name, end := range map[string]func(ctx context.Context, ws *websocket.Conn){
		"closed":      func(ctx context.Context, ws *websocket.Conn) { ws.Close(websocket.StatusNormalClosure, "") },
		"going away":  func(ctx context.Context, ws *websocket.Conn) { ws.Close(websocket.StatusGoingAway, "restarting") },
		"failed":      func(ctx context.Context, ws *websocket.Conn) { ws.Close(websocket.StatusInternalError, "broken") },
		"cut":         func(ctx context.Context, ws *websocket.Conn) { ws.CloseNow() },
		"late output": func(ctx context.Context, ws *websocket.Conn) { say(ctx, ws, 1, "late"); ws.CloseNow() },
		"not a word":  func(ctx context.Context, ws *websocket.Conn) { ws.Read(ctx) },
		"half a frame": func(ctx context.Context, ws *websocket.Conn) {
			w, _ := ws.Writer(ctx, websocket.MessageBinary)
			w.Write([]byte{1})
			ws.CloseNow()
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				api := serve(t, accept(t, v5, func(ctx context.Context, _ *http.Request, ws *websocket.Conn) {
					say(ctx, ws, 1, "done")
					say(ctx, ws, 3, success)
					end(ctx, ws)
				}))
				var out bytes.Buffer
				err := pods.Exec(t.Context(), api, "web", []string{"ls"}, &pods.ExecOptions{Streams: pods.Streams{Stdout: &out}})
				if err != nil || !bytes.HasPrefix(out.Bytes(), []byte("done")) {
					t.Errorf("output %q, error %v; want the output and no error", &out, err)
				}
			})
		})
	}
}
