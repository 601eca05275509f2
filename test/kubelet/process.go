package main

import (
	"errors"
	"fmt"
	"os/exec"
	goruntime "runtime"
	"sync"
	"syscall"

	utilexec "k8s.io/utils/exec"
)

// processes are those that run.
type processes struct {
	mu      sync.Mutex
	running map[*exec.Cmd]bool
	ended   bool // nothing more is started
}

// start runs cmd, in a process group of its own, and returns its end: nil or an error as the
// streaming library wants it.
//
// On Linux the kernel ends the child with the thread that started it, so the goroutine keeps the
// thread to itself for as long as the child lives.
func (p *processes) start(cmd *exec.Cmd) (wait func() error, err error) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	}
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	started, ended := make(chan error), make(chan error, 1)
	go func() {
		goruntime.LockOSThread()
		defer goruntime.UnlockOSThread()
		if err := p.begin(cmd); err != nil {
			started <- err
			return
		}
		started <- nil
		err := cmd.Wait()
		p.end(cmd)
		ended <- err
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return func() error { return exitError(<-ended) }, nil
}

func (p *processes) begin(cmd *exec.Cmd) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		return errors.New("the node stops")
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	p.running[cmd] = true
	return nil
}

func (p *processes) end(cmd *exec.Cmd) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.running, cmd)
}

func (p *processes) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.running)
}

// killAll ends every process, and lets none begin.
func (p *processes) killAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
	for cmd := range p.running {
		kill(cmd)
	}
}

// kill ends a process and what it has started. The only error is that it has ended already.
func kill(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }

// exitError gives a process that a signal has ended the code that shells give it.
func exitError(err error) error {
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok {
		return err
	}
	code := exit.ExitCode()
	if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		code = 128 + int(status.Signal())
	}
	return utilexec.CodeExitError{Err: fmt.Errorf("exit status %d", code), Code: code}
}
