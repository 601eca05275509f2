package pods

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"
	"github.com/go-kube/kube"
	"github.com/go-kube/kube/k8s/core"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Dial connects to a port of the pod called name, as net.Dial does to one of a host: with the
// network of the pod, so that what listens on its loopback is reached. The connection ends with
// ctx. The protocol has no way to end one direction only.
//
// Dial returns before the pod's port has been connected to. If that fails, as where nothing listens
// on it, the error of Read says why.
//
// The DialContext of an http.Transport is given a context that ends when the connection is there:
// pass on context.WithoutCancel of it.
func Dial(ctx context.Context, pods kube.API[corev1.Pod], name string, port uint16) (net.Conn, error) {
	c, err := dialPort(ctx, served{pods, name}, port)
	if err != nil {
		return nil, err
	}
	return c, nil
}

func dialPort(ctx context.Context, pod target, port uint16) (*conn, error) {
	if port == 0 {
		return nil, errors.New("pods: port 0 cannot be connected to")
	}
	query := url.Values{"ports": {strconv.Itoa(int(port))}}
	c, err := dial(ctx, pod, core.PodPortForward.Descriptor(), query)
	if err != nil {
		return nil, err
	}
	near, far := net.Pipe()
	f := &forwarded{channels: c, port: port, far: far, ended: make(chan struct{})}
	ctx, cancel := context.WithCancel(ctx)
	go f.run(ctx, cancel)
	return &conn{near, f}, nil
}

// conn is what the caller has of a connection.
type conn struct {
	net.Conn
	forwarded *forwarded
}

// Read is that of the connection; where the pod's side failed, the end has the reason.
func (c *conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if errors.Is(err, io.EOF) {
		if failure := c.forwarded.failure.Load(); failure != nil {
			return n, *failure
		}
	}
	return n, err
}

// forwarded is one connection: channel 0 has its bytes, channel 1 what went wrong.
type forwarded struct {
	*channels
	port uint16
	far  net.Conn // the other end of what the caller has
	// failure is why the connection ended, if the server gave a reason. It is set before far ends.
	failure atomic.Pointer[error]
	ended   chan struct{} // closed when nothing of it runs any more
}

func (f *forwarded) run(ctx context.Context, cancel context.CancelFunc) {
	defer close(f.ended)
	var wg sync.WaitGroup
	wg.Go(func() {
		<-ctx.Done()
		f.far.Close()
	})
	wg.Go(func() {
		defer cancel()
		f.keepAlive(ctx)
	})
	wg.Go(func() {
		defer cancel()
		f.sendAll(ctx, 0, f.far)
		f.ws.Close(websocket.StatusNormalClosure, "")
	})
	if err := f.receive(ctx); ctx.Err() == nil && isFailure(err) {
		err = fmt.Errorf("pods: port %d: %w", f.port, err)
		f.failure.Store(&err)
	}
	cancel()
	f.far.Close()
	f.ws.CloseNow()
	wg.Wait()
}

// isFailure tells what went wrong from how a connection ends: by a close message, or by an end of
// ours.
func isFailure(err error) bool {
	return websocket.CloseStatus(err) == -1 && !errors.Is(err, net.ErrClosed) && !errors.Is(err, io.ErrClosedPipe)
}

func (f *forwarded) receive(ctx context.Context) error {
	var begun [2]bool
	for {
		channel, content, err := f.next(ctx)
		if err != nil {
			return err
		}
		switch {
		case channel > 1:
			err = f.hand(nil, content)
		case !begun[channel]:
			begun[channel] = true
			var port uint16
			if port, err = portOf(content); err == nil && port != f.port {
				err = fmt.Errorf("the server connected port %d in place of %d", port, f.port)
			}
			if err == nil {
				err = f.hand(nil, content)
			}
		case channel == 1:
			var text []byte
			if text, err = io.ReadAll(io.LimitReader(content, statusLimit)); err == nil {
				err = errors.New(string(text))
			}
		default:
			err = f.hand(f.far, content)
		}
		if err != nil {
			return err
		}
	}
}

// Port is a local port and the pod's port that it leads to.
type Port struct {
	// Local is the port to listen on; 0 takes a free one.
	Local uint16
	// Remote is the pod's.
	Remote uint16
}

// ParsePort reads 8080:80, 80 (the same on both sides) or :80 (a free local port), as kubectl does.
func ParsePort(text string) (Port, error) {
	local, remote, two := strings.Cut(text, ":")
	if !two {
		remote = local
	}
	var p Port
	for _, f := range []struct {
		text string
		into *uint16
		free bool
	}{{local, &p.Local, two}, {remote, &p.Remote, false}} {
		if f.text == "" && f.free {
			continue
		}
		n, err := strconv.ParseUint(f.text, 10, 16)
		if err != nil || n == 0 {
			return Port{}, fmt.Errorf("pods: %q is not a port such as 8080:80, 80 or :80", text)
		}
		*f.into = uint16(n)
	}
	return p, nil
}

// ForwardOptions are for [Forward].
type ForwardOptions struct {
	// Address is where to listen. Empty is 127.0.0.1.
	Address string
	// Ready is called once everything is listened on, with the local ports filled in.
	Ready func([]Port)
	// OnError is told of connections that failed, as where nothing listens on the pod's port, or the
	// pod is gone. The listener goes on. It may be called by several goroutines. Nil logs them as
	// warnings, by the logger of the client.
	OnError func(Port, error)
}

// Forward listens on local ports and leads each connection to a port of the pod called name, until
// ctx ends, which is no error. A pod that is not there, or has ended, is an error at once (of a client
// that may not get pods, of each connection). When it goes later, connections fail until there is
// another one of its name, as of a StatefulSet.
//
// When the local side has ended its direction and still reads, what the pod has to say goes on until
// it is silent for 10 s.
func Forward(ctx context.Context, pods kube.API[corev1.Pod], name string, ports []Port, opts *ForwardOptions) error {
	pod := served{pods, name}
	if err := pod.mayRun(ctx); err != nil {
		return err
	}
	o := ForwardOptions{}
	if opts != nil {
		o = *opts
	}
	return o.forward(ctx, pod, pods.Endpoint().Client(), ports)
}

// mayRun returns an error for a pod to which there will be no connection.
func (s served) mayRun(ctx context.Context) error {
	switch pod, err := s.pods.Get(ctx, s.name); {
	case apierrors.IsForbidden(err):
		return nil
	case err != nil:
		return err
	case isOver(pod):
		return fmt.Errorf("pods: forwarding to %s: the pod has ended (%s)", s, pod.Status.Phase)
	}
	return nil
}

func (o ForwardOptions) forward(ctx context.Context, pod target, client *kube.Client, ports []Port) error {
	if o.Address == "" {
		o.Address = "127.0.0.1"
	}
	if o.OnError == nil {
		o.OnError = func(p Port, err error) {
			client.Logger().Warn("kube: a forwarded connection failed", slog.String("pod", pod.String()), slog.Int("port", int(p.Remote)), slog.Any("error", err))
		}
	}
	if len(ports) == 0 {
		return errors.New("pods: no port to forward")
	}
	ports = append([]Port(nil), ports...)
	listeners, err := o.listen(ctx, ports)
	if err != nil {
		return err
	}
	if o.Ready != nil {
		o.Ready(append([]Port(nil), ports...))
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var wg sync.WaitGroup
	failures := make([]error, len(ports))
	for i, l := range listeners {
		wg.Go(func() {
			<-ctx.Done()
			l.Close()
		})
		wg.Go(func() {
			failures[i] = o.accept(ctx, &wg, l, func() (*conn, error) { return dialPort(ctx, pod, ports[i].Remote) }, ports[i])
			cancel() // all or none
		})
	}
	wg.Wait()
	return errors.Join(failures...)
}

func (o *ForwardOptions) listen(ctx context.Context, ports []Port) ([]net.Listener, error) {
	var listeners []net.Listener
	for i, p := range ports {
		if p.Remote == 0 {
			return nil, errors.Join(fmt.Errorf("pods: port 0 cannot be forwarded"), closeAll(listeners))
		}
		l, err := new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort(o.Address, strconv.Itoa(int(p.Local))))
		if err != nil {
			return nil, errors.Join(fmt.Errorf("pods: forwarding to port %d: %w", p.Remote, err), closeAll(listeners))
		}
		ports[i].Local = uint16(l.Addr().(*net.TCPAddr).Port)
		listeners = append(listeners, l)
	}
	return listeners, nil
}

func closeAll(listeners []net.Listener) error {
	var all []error
	for _, l := range listeners {
		all = append(all, l.Close())
	}
	return errors.Join(all...)
}

func (o *ForwardOptions) accept(ctx context.Context, wg *sync.WaitGroup, l net.Listener, dial func() (*conn, error), port Port) error {
	for {
		local, err := l.Accept()
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return fmt.Errorf("pods: listening on port %d: %w", port.Local, err)
		}
		wg.Go(func() {
			defer local.Close()
			remote, err := dial()
			if err == nil {
				err = join(local, remote)
				<-remote.forwarded.ended
			}
			if err != nil && ctx.Err() == nil {
				o.OnError(port, err)
			}
		})
	}
}

// lingerFor is how long a pod may be silent when the local side has ended its direction. That cannot be
// told to the pod, nor from a local side that is gone.
const lingerFor = 10 * time.Second

// join copies both ways until the pod's side ends, or the local one does and the pod is silent. It
// returns how the pod's side failed, if it did.
func join(local net.Conn, remote *conn) error {
	answers := &answers{conn: remote}
	closeBoth := func() {
		local.Close()
		remote.Close()
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		if _, err := io.Copy(remote, local); err != nil {
			closeBoth()
		} else {
			answers.linger()
		}
	})
	wg.Go(func() {
		io.Copy(local, answers)
		closeBoth()
	})
	wg.Wait()
	if failure := remote.forwarded.failure.Load(); failure != nil {
		return *failure
	}
	return nil
}

// answers reads from a connection, for as long as something comes once it lingers.
type answers struct {
	*conn
	lingers atomic.Bool
}

func (a *answers) linger() {
	a.lingers.Store(true)
	a.SetReadDeadline(time.Now().Add(lingerFor))
}

// Read implements [io.Reader].
func (a *answers) Read(p []byte) (int, error) {
	if a.lingers.Load() {
		a.SetReadDeadline(time.Now().Add(lingerFor))
	}
	return a.conn.Read(p)
}
