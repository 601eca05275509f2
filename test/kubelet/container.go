package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/creack/pty"
	v1 "k8s.io/api/core/v1"
	internalapi "k8s.io/cri-api/pkg/apis"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// start runs a container of a pod.
func (r *runtime) start(p *v1.Pod, spec *v1.Container, dir string) (*container, error) {
	words := slices.Concat(spec.Command, spec.Args)
	if len(words) == 0 {
		return nil, errors.New("it has no command, and images are not known here")
	}
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Dir = filepath.Join(dir, spec.Name)
	if err := os.MkdirAll(cmd.Dir, 0o700); err != nil {
		return nil, err
	}
	for _, e := range spec.Env {
		cmd.Env = append(cmd.Environ(), e.Name+"="+e.Value)
	}
	c := &container{
		id:    p.Namespace + "." + p.Name + "." + spec.Name,
		tty:   spec.TTY,
		once:  spec.StdinOnce,
		cmd:   cmd,
		ended: make(chan struct{}),
	}
	c.logPath = filepath.Join(r.dir, "logs", c.id+".log")
	log, err := os.OpenFile(c.logPath, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	c.output = newOutput(log)
	wait, err := c.begin(&r.processes, spec.Stdin)
	if err != nil {
		return nil, errors.Join(err, log.Close())
	}
	go func() {
		c.err = wait()
		c.output.end()
		close(c.ended)
	}()
	return c, nil
}

func (c *container) begin(p *processes, stdin bool) (wait func() error, err error) {
	if c.tty {
		return c.beginTTY(p)
	}
	c.cmd.Stdout, c.cmd.Stderr = c.output.stream("stdout"), c.output.stream("stderr")
	if stdin {
		if c.stdin, err = c.cmd.StdinPipe(); err != nil {
			return nil, err
		}
	}
	return p.start(c.cmd)
}

func (c *container) beginTTY(p *processes) (wait func() error, err error) {
	terminal, ended, err := startTTY(p, c.cmd)
	if err != nil {
		return nil, err
	}
	c.stdin = terminal
	c.resize = func(width, height uint16) error {
		return pty.Setsize(terminal, &pty.Winsize{Cols: width, Rows: height})
	}
	copied := make(chan struct{})
	go func() {
		io.Copy(c.output.stream("stdout"), terminal) // ends with the process
		close(copied)
	}()
	return func() error {
		err := ended()
		<-copied
		terminal.Close()
		return err
	}, nil
}

// startTTY runs cmd at a terminal, and returns the other end of that.
func startTTY(p *processes, cmd *exec.Cmd) (terminal *os.File, wait func() error, err error) {
	terminal, tty, err := pty.Open()
	if err != nil {
		return nil, nil, err
	}
	defer tty.Close()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
	cmd.SysProcAttr = sessionOf()
	wait, err = p.start(cmd)
	if err != nil {
		return nil, nil, errors.Join(err, terminal.Close())
	}
	return terminal, wait, nil
}

// states tells the log reader whether a container still runs.
type states struct {
	internalapi.RuntimeService
	runtime *runtime
}

func (s *states) ContainerStatus(_ context.Context, id string, _ bool) (*runtimeapi.ContainerStatusResponse, error) {
	c, err := s.runtime.container(id)
	if err != nil {
		return nil, err
	}
	state := runtimeapi.ContainerState_CONTAINER_RUNNING
	select {
	case <-c.ended:
		state = runtimeapi.ContainerState_CONTAINER_EXITED
	default:
	}
	return &runtimeapi.ContainerStatusResponse{Status: &runtimeapi.ContainerStatus{State: state}}, nil
}
