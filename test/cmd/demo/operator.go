package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

// buildOperator builds examples/webapp the way one would ship it.
func buildOperator(ctx context.Context, examples, binary string) error {
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", binary, "./webapp")
	build.Dir = examples
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("building the operator: %w\n%s", err, out)
	}
	return nil
}

// operator is the operator as a process of its own, so that it can be killed like one.
type operator struct {
	binary     string
	kubeconfig string

	process *exec.Cmd
	output  sync.WaitGroup
	mu      sync.Mutex
	lines   []string
	arrived chan struct{} // closed and replaced with each line
}

// start runs the operator; its log goes into lines.
func (o *operator) start() error {
	o.process = exec.Command(o.binary)
	o.process.Env = append(os.Environ(), "KUBECONFIG="+o.kubeconfig)
	stderr, err := o.process.StderrPipe()
	if err != nil {
		return err
	}
	if err := o.process.Start(); err != nil {
		return fmt.Errorf("starting the operator: %w", err)
	}
	o.mu.Lock()
	if o.arrived == nil {
		o.arrived = make(chan struct{})
	}
	o.mu.Unlock()
	o.output.Go(func() { o.read(stderr) })
	return nil
}

func (o *operator) read(r io.Reader) {
	for lines := bufio.NewScanner(r); lines.Scan(); {
		o.mu.Lock()
		o.lines = append(o.lines, lines.Text())
		close(o.arrived)
		o.arrived = make(chan struct{})
		o.mu.Unlock()
	}
}

// logged waits for a line of the operator's log that holds every one of words.
func (o *operator) logged(ctx context.Context, words ...string) (string, error) {
	for seen := 0; ; {
		o.mu.Lock()
		lines, arrived := o.lines[seen:], o.arrived
		seen = len(o.lines)
		o.mu.Unlock()
		for _, line := range lines {
			if containsAll(line, words) {
				return line, nil
			}
		}
		select {
		case <-arrived:
		case <-ctx.Done():
			return "", fmt.Errorf("waiting for %q in the operator's log: %w\n%s", words, context.Cause(ctx), o.log())
		}
	}
}

func containsAll(s string, words []string) bool {
	for _, w := range words {
		if !strings.Contains(s, w) {
			return false
		}
	}
	return true
}

// log is what the operator has written so far.
func (o *operator) log() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return "the operator's log:\n  " + strings.Join(o.lines, "\n  ")
}

// kill ends the operator without a chance to clean up.
func (o *operator) kill() error {
	if o.process == nil {
		return nil
	}
	if err := o.process.Process.Kill(); err != nil {
		return fmt.Errorf("killing the operator: %w", err)
	}
	return o.wait()
}

// wait collects the process; that it was killed is no error here.
func (o *operator) wait() error {
	o.output.Wait()
	err := o.process.Wait()
	o.process = nil
	if err != nil && !strings.Contains(err.Error(), "signal: killed") {
		return fmt.Errorf("the operator: %w\n%s", err, o.log())
	}
	return nil
}

// stop asks the operator to end, as a kubelet does, and waits for it.
func (o *operator) stop() (time.Duration, error) {
	if o.process == nil {
		return 0, nil
	}
	start := time.Now()
	if err := o.process.Process.Signal(syscall.SIGTERM); err != nil {
		return 0, fmt.Errorf("stopping the operator: %w", err)
	}
	err := o.wait()
	return time.Since(start), err
}
