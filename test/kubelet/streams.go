package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os/exec"
	"strconv"
	"sync"
	"syscall"

	"github.com/creack/pty"
	"k8s.io/cri-streaming/pkg/streaming/remotecommand"
)

// streams do what the streaming library asks of a container runtime.
type streams struct {
	runtime *runtime
}

// sessionOf makes a process the leader of a session whose terminal is its standard input.
func sessionOf() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true, Setctty: true} }

// Exec runs a command in a container's folder.
func (s *streams) Exec(_ context.Context, id string, words []string, in io.Reader, out, errs io.WriteCloser, tty bool, resize <-chan remotecommand.TerminalSize) error {
	c, err := s.runtime.container(id)
	if err != nil {
		return err
	}
	select {
	case <-c.ended:
		return errors.New("the container does not run")
	default:
	}
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Dir = c.cmd.Dir
	if tty {
		return s.execTTY(cmd, in, out, resize)
	}
	return s.exec(cmd, in, out, errs)
}

func (s *streams) exec(cmd *exec.Cmd, in io.Reader, out, errs io.WriteCloser) error {
	if out != nil {
		cmd.Stdout = out
	}
	if errs != nil {
		cmd.Stderr = errs
	}
	var stdin io.WriteCloser
	if in != nil {
		var err error
		if stdin, err = cmd.StdinPipe(); err != nil {
			return err
		}
	}
	wait, err := s.runtime.processes.start(cmd)
	if err != nil {
		return err
	}
	if in != nil {
		go func() { // not waited for: the client may have nothing more to say and not say so
			io.Copy(stdin, in)
			stdin.Close()
			io.Copy(io.Discard, in) // so that the client is not held up by what is not read
		}()
	}
	return wait()
}

func (s *streams) execTTY(cmd *exec.Cmd, in io.Reader, out io.Writer, resize <-chan remotecommand.TerminalSize) error {
	terminal, wait, err := startTTY(&s.runtime.processes, cmd)
	if err != nil {
		return err
	}
	defer terminal.Close()
	go func() {
		for size := range resize {
			pty.Setsize(terminal, &pty.Winsize{Cols: size.Width, Rows: size.Height})
		}
	}()
	if in != nil {
		go func() {
			io.Copy(terminal, in)
			terminal.Write([]byte{4}) // what ends the input of a terminal
		}()
	}
	if out == nil {
		out = io.Discard
	}
	copied := make(chan struct{})
	go func() {
		io.Copy(out, terminal) // ends with the process
		close(copied)
	}()
	err = wait()
	<-copied
	return err
}

// Attach is connected to a container until that ends or the client goes away.
func (s *streams) Attach(_ context.Context, id string, in io.Reader, out, errs io.WriteCloser, tty bool, resize <-chan remotecommand.TerminalSize) error {
	c, err := s.runtime.container(id)
	if err != nil {
		return err
	}
	if tty && !c.tty {
		return fmt.Errorf("container %s has no terminal", id)
	}
	a := c.output.attach(writer(out), writer(errs))
	defer c.output.detach(a)
	if c.resize != nil {
		go func() {
			for size := range resize {
				c.resize(size.Width, size.Height)
			}
		}()
	}
	if in != nil && c.stdin != nil {
		go func() {
			io.Copy(c.stdin, in)
			if c.once && !c.tty {
				c.stdin.Close()
			}
		}()
	}
	select {
	case <-c.ended:
	case <-a.failed:
	}
	return nil
}

// writer keeps a nil what it is.
func writer(w io.WriteCloser) io.Writer {
	if w == nil {
		return nil
	}
	return w
}

// PortForward connects a stream to a port of loopback, which is the machine's.
func (s *streams) PortForward(ctx context.Context, _ string, port int32, stream io.ReadWriteCloser) error {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(int(port))))
	if err != nil {
		return err
	}
	defer conn.Close()
	defer stream.Close()
	var wg sync.WaitGroup
	wg.Go(func() {
		io.Copy(conn, stream)
		conn.(*net.TCPConn).CloseWrite()
	})
	_, err = io.Copy(stream, conn)
	stream.Close()
	wg.Wait()
	return err
}
