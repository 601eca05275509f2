package pods

import (
	"context"
	"encoding/json/v2"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"sync"

	"github.com/coder/websocket"
	"github.com/go-kube/kube"
	"github.com/go-kube/kube/k8s/core"
	"github.com/go-kube/kube/resource"
	corev1 "k8s.io/api/core/v1"
)

// Streams are what is connected to a command or container. At least one of the three is needed.
type Streams struct {
	// Stdin is read to its end. A Read that is under way when the command ends is not waited for.
	Stdin io.Reader
	// Stdout and Stderr take what the command writes, by one goroutine. One that is slow slows
	// the command.
	Stdout, Stderr io.Writer
	// TTY gives the command a terminal. It has no Stderr of its own then.
	TTY bool
	// Resize returns the next size of the terminal, and blocks until there is one. It is called
	// until it returns an error or its context ends. Nil leaves the size alone. It needs TTY.
	Resize func(ctx context.Context) (Size, error)
}

// Size is that of a terminal, in characters.
type Size struct {
	Width  uint16
	Height uint16
}

// ErrStdinEnd is the error of a server that cannot be told that Stdin has ended (it knows no
// v5.channel.k8s.io, which came with Kubernetes 1.29): a command that reads to the end would wait
// for ever.
var ErrStdinEnd = errors.New("the server does not know how to end the standard input; it needs Kubernetes 1.29")

// ExecOptions are for [Exec].
type ExecOptions struct {
	Streams
	// Container is where the command runs. Empty is the pod's default container: its only one, or the one
	// that its annotation kubectl.kubernetes.io/default-container names, which takes the right to get pods.
	Container string
}

// Exec runs command in the pod called name, and returns when it has ended and all of its output has
// been written. A code other than 0 is an [*ExitError]; a refusal is a [*kube.Error]. The command
// is not run by a shell. When ctx ends so does the connection; whether the command does is up to
// the container's runtime.
func Exec(ctx context.Context, pods kube.API[corev1.Pod], name string, command []string, opts *ExecOptions) error {
	return exec(ctx, served{pods, name}, command, opts)
}

func exec(ctx context.Context, pod target, command []string, opts *ExecOptions) error {
	if len(command) == 0 {
		return errors.New("pods: the command is empty")
	}
	o := ExecOptions{}
	if opts != nil {
		o = *opts
	}
	query, err := o.query(o.Container)
	if err != nil {
		return err
	}
	query["command"] = command
	return o.run(ctx, pod, core.PodExec.Descriptor(), query)
}

// AttachOptions are for [Attach].
type AttachOptions struct {
	Streams
	// Container is what to attach to. Empty is the pod's default container, see [ExecOptions].
	Container string
}

// Attach connects to the process that runs in the pod called name, and returns when it has ended or
// ctx has. See [Exec].
func Attach(ctx context.Context, pods kube.API[corev1.Pod], name string, opts *AttachOptions) error {
	return attach(ctx, served{pods, name}, opts)
}

func attach(ctx context.Context, pod target, opts *AttachOptions) error {
	o := AttachOptions{}
	if opts != nil {
		o = *opts
	}
	query, err := o.query(o.Container)
	if err != nil {
		return err
	}
	return o.run(ctx, pod, core.PodAttach.Descriptor(), query)
}

func (s *Streams) query(container string) (url.Values, error) {
	switch {
	case s.Stdin == nil && s.Stdout == nil && s.Stderr == nil:
		return nil, errors.New("pods: none of Stdin, Stdout and Stderr is set")
	case s.TTY && s.Stderr != nil:
		return nil, errors.New("pods: with TTY there is no Stderr; everything comes by Stdout")
	case s.Resize != nil && !s.TTY:
		return nil, errors.New("pods: Resize needs TTY")
	}
	query := url.Values{}
	if container != "" {
		query.Set("container", container)
	}
	for key, on := range map[string]bool{"stdin": s.Stdin != nil, "stdout": s.Stdout != nil, "stderr": s.Stderr != nil, "tty": s.TTY} {
		if on {
			query.Set(key, strconv.FormatBool(on))
		}
	}
	return query, nil
}

func (s *Streams) run(ctx context.Context, pod target, d *resource.SubresourceDescriptor, query url.Values) error {
	c, err := dial(ctx, pod, d, query)
	if err != nil {
		return err
	}
	if err := s.connect(ctx, c); err != nil {
		return fmt.Errorf("pods: %s of %s: %w", d.Name, pod, err)
	}
	return nil
}

// connect moves bytes until the command has ended.
func (s *Streams) connect(ctx context.Context, c *channels) error {
	defer c.ws.CloseNow()
	inner, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var wg sync.WaitGroup
	beside := func(f func(context.Context) error) {
		wg.Go(func() {
			if err := f(inner); err != nil {
				stop(err)
			}
		})
	}
	beside(c.keepAlive)
	if s.Resize != nil {
		beside(func(ctx context.Context) error { return s.resize(ctx, c) })
	}
	if s.Stdin != nil {
		// Not in wg: nobody can end a Read of the caller's.
		go func() {
			if err := s.feed(inner, c); err != nil {
				stop(err)
			}
		}()
	}
	err := s.receive(inner, c)
	if cause := context.Cause(inner); err != nil && inner.Err() != nil && !isEnd(err) {
		err = cause
	}
	stop(nil)
	wg.Wait()
	return err
}

// isEnd reports whether err is how the command ended rather than how the connection did.
func isEnd(err error) bool {
	_, exit := errors.AsType[*ExitError](err)
	return exit
}

func (s *Streams) receive(ctx context.Context, c *channels) error {
	for {
		channel, content, err := c.next(ctx)
		if err != nil {
			return fmt.Errorf("the connection ended before the command did: %w", err)
		}
		switch channel {
		case channelStdout:
			err = c.hand(s.Stdout, content)
		case channelStderr:
			err = c.hand(s.Stderr, content)
		case channelStatus:
			err = ended(content)
			c.ws.Close(websocket.StatusNormalClosure, "")
			return err
		default:
			err = c.hand(nil, content)
		}
		if err != nil {
			return err
		}
	}
}

// feed sends Stdin, then its end. What cannot be sent because the command does not read any more
// is no error: the command's end says what matters.
func (s *Streams) feed(ctx context.Context, c *channels) error {
	err := c.sendAll(ctx, channelStdin, s.Stdin)
	if local, ok := errors.AsType[*localError](err); ok {
		return fmt.Errorf("reading Stdin: %w", local.err)
	}
	if err != nil {
		return nil
	}
	if !c.canEndStreams() {
		return ErrStdinEnd
	}
	c.send(ctx, channelClose, channelStdin) // a failure is the connection's, which receive sees
	return nil
}

func (s *Streams) resize(ctx context.Context, c *channels) error {
	for {
		size, err := s.Resize(ctx)
		if err != nil {
			return nil
		}
		body, err := json.Marshal(size)
		if err != nil {
			return err
		}
		if c.send(ctx, channelResize, body...) != nil {
			return nil // the connection's failure, which receive sees
		}
	}
}
