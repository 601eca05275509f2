package pods

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json/v2"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"
	"github.com/go-kube/kube"
	"github.com/go-kube/kube/resource"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	protocolV5 = "v5.channel.k8s.io"
	protocolV4 = "v4.channel.k8s.io"

	channelStdin  = 0
	channelStdout = 1
	channelStderr = 2
	channelStatus = 3
	channelResize = 4
	channelClose  = 255 // v5: its payload is the channel that ends

	// chunk is the size of the messages that are sent: the servers' own buffers are 32 KiB.
	chunk = 32 << 10
	// statusLimit bounds a Status.
	statusLimit = 1 << 20

	pingEvery   = 30 * time.Second
	pingTimeout = 60 * time.Second
)

// channels is a websocket whose messages begin with a byte that says which stream they are of. See
// https://github.com/kubernetes/enhancements/tree/master/keps/sig-api-machinery/4006-transition-spdy-to-websockets
type channels struct {
	ws *websocket.Conn
	// handing is true while the receiver of what was read is busy: no pong is read then.
	handing atomic.Bool
	moved   atomic.Int64 // messages, either way
}

// dial opens a connection of a pod. A refusal is a *kube.Error with the server's Status.
func dial(ctx context.Context, pod target, d *resource.SubresourceDescriptor, query url.Values) (*channels, error) {
	connect := roundTripper(func(req *http.Request) (*http.Response, error) {
		return pod.open(req.Context(), d, query, req.Header)
	})
	ws, _, err := websocket.Dial(ctx, "ws://pod", &websocket.DialOptions{
		HTTPClient:   &http.Client{Transport: connect},
		Subprotocols: []string{protocolV5, protocolV4},
	})
	if refusal, ok := errors.AsType[*kube.Error](err); ok {
		return nil, refusal
	}
	if err != nil {
		return nil, fmt.Errorf("pods: %s of %s: %w", d.Name, pod, err)
	}
	if ws.Subprotocol() == "" {
		ws.CloseNow()
		return nil, fmt.Errorf("pods: %s of %s: the server speaks neither %s nor %s", d.Name, pod, protocolV5, protocolV4)
	}
	ws.SetReadLimit(-1) // messages are read as streams
	return &channels{ws: ws}, nil
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

func (c *channels) canEndStreams() bool { return c.ws.Subprotocol() == protocolV5 }

// next returns the channel and the content of the next message that has content. Servers open
// channels with messages that have none.
func (c *channels) next(ctx context.Context) (channel byte, content io.Reader, err error) {
	for {
		typ, r, err := c.ws.Reader(ctx)
		if err != nil {
			return 0, nil, err
		}
		c.moved.Add(1)
		var head [2]byte
		n, err := io.ReadFull(r, head[:])
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return 0, nil, err
		}
		if n == len(head) && typ == websocket.MessageBinary {
			return head[0], io.MultiReader(bytes.NewReader(head[1:]), r), nil
		}
		if _, err := io.Copy(io.Discard, r); err != nil { // text says nothing here
			return 0, nil, err
		}
	}
}

// hand copies content to w; a nil w discards it.
func (c *channels) hand(w io.Writer, content io.Reader) error {
	if w == nil {
		w = io.Discard
	}
	c.handing.Store(true)
	defer c.handing.Store(false)
	_, err := io.Copy(w, content)
	return err
}

func (c *channels) send(ctx context.Context, channel byte, content ...byte) error {
	return c.ws.Write(ctx, websocket.MessageBinary, append([]byte{channel}, content...))
}

// sendAll sends what r has until its end.
func (c *channels) sendAll(ctx context.Context, channel byte, r io.Reader) error {
	buffer := make([]byte, chunk)
	buffer[0] = channel
	for {
		n, err := r.Read(buffer[1:])
		if n > 0 {
			if err := c.ws.Write(ctx, websocket.MessageBinary, buffer[:n+1]); err != nil {
				return err
			}
			c.moved.Add(1)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return &localError{err}
		}
	}
}

// localError is of a reader of the caller's, not of the connection.
type localError struct{ err error }

func (e *localError) Error() string { return e.err.Error() }
func (e *localError) Unwrap() error { return e.err }

// keepAlive pings a quiet connection until ctx ends, so that nothing on the way takes it for a dead
// one, and a dead one is found out. One that moves, or whose receiver is busy, is left alone: its
// buffers may be full, and a ping that cannot be written within seconds ends the connection.
func (c *channels) keepAlive(ctx context.Context) error {
	for {
		moved := c.moved.Load()
		quiet := func() bool { return c.moved.Load() == moved && !c.handing.Load() }
		select {
		case <-time.After(pingEvery):
		case <-ctx.Done():
			return nil
		}
		if !quiet() {
			continue
		}
		pingCtx, cancel := context.WithTimeout(ctx, pingTimeout)
		err := c.ws.Ping(pingCtx)
		cancel()
		if err != nil && ctx.Err() == nil && quiet() {
			return fmt.Errorf("the connection is dead: %w", err)
		}
	}
}

// ExitError says that a command ended with another code than 0.
type ExitError struct {
	// Code is the exit code.
	Code int
	// Message is the server's.
	Message string
}

// Error says the code.
func (e *ExitError) Error() string { return fmt.Sprintf("the command ended with code %d", e.Code) }

// ended reads the Status by which a server tells how a command ended.
func ended(content io.Reader) error {
	body, err := io.ReadAll(io.LimitReader(content, statusLimit))
	if err != nil {
		return err
	}
	var status metav1.Status
	if err := json.Unmarshal(body, &status); err != nil {
		return fmt.Errorf("the command's end is told in a way that cannot be read: %w", err)
	}
	if status.Status == metav1.StatusSuccess {
		return nil
	}
	if status.Reason == "NonZeroExitCode" && status.Details != nil {
		for _, cause := range status.Details.Causes {
			if code, err := strconv.Atoi(cause.Message); cause.Type == "ExitCode" && err == nil {
				return &ExitError{code, status.Message}
			}
		}
	}
	return &apierrors.StatusError{ErrStatus: status}
}

// portOf reads the first message of a port's channel, which repeats the port.
func portOf(content io.Reader) (uint16, error) {
	var port [2]byte
	if _, err := io.ReadFull(content, port[:]); err != nil {
		return 0, fmt.Errorf("the first message of a port's channel is too short: %w", err)
	}
	return binary.LittleEndian.Uint16(port[:]), nil
}
