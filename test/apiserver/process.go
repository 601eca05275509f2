package apiserver

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// stopWait is how long a process may take to stop by itself. It gives itself one second.
const stopWait = 15 * time.Second

// process is a running server program.
type process struct {
	stdin io.WriteCloser // a line tells the program to stop; the end, that its parent is dead
	os    *os.Process    // nil until it has started
	ended chan struct{}  // closed when it has ended
	err   error          // how it ended, once ended is closed
}

// startProcess runs the program in dir with its log appended to a file, and returns the URL
// that it prints, from then on listened to.
func startProcess(ctx context.Context, binary, dir, logPath string, args []string) (*process, string, error) {
	log, err := os.OpenFile(logPath, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, "", err
	}
	defer log.Close()
	cmd := exec.Command(binary, args...)
	cmd.Dir = dir
	cmd.Stderr = log
	cmd.SysProcAttr = childAttributes()
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, "", err
	}
	reader, writer, err := os.Pipe()
	if err != nil {
		return nil, "", err
	}
	defer reader.Close()
	cmd.Stdout = writer
	p := &process{stdin: stdin, ended: make(chan struct{})}
	err = p.run(cmd)
	writer.Close()
	if err != nil {
		return nil, "", err
	}
	// Reading ends with the process, so it has to end with the context.
	defer context.AfterFunc(ctx, p.kill)()
	line, err := bufio.NewReader(reader).ReadString('\n')
	if err != nil {
		p.kill()
		<-p.ended
		return nil, "", errors.Join(context.Cause(ctx), p.failure(logPath))
	}
	return p, strings.TrimSpace(line), nil
}

// run starts the command and returns; a goroutine waits for its end. On Linux the kernel ends
// the child with the thread that started it, so that goroutine keeps the thread to itself for
// as long as the child lives.
func (p *process) run(cmd *exec.Cmd) error {
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		p.os = cmd.Process
		started <- err
		if err != nil {
			return
		}
		p.err = cmd.Wait()
		close(p.ended)
	}()
	return <-started
}

// kill ends the process at once. It may be called at any time, more than once.
func (p *process) kill() {
	// The only error is that it has ended already.
	_ = p.os.Kill()
}

// stop lets the process stop by itself, and kills it if it does not.
func (p *process) stop() error {
	if p.hasEnded() {
		return nil
	}
	// An error means that it has ended meanwhile, which is what is waited for.
	_, _ = io.WriteString(p.stdin, "stop\n")
	timer := time.NewTimer(stopWait)
	defer timer.Stop()
	select {
	case <-p.ended:
		return p.err
	case <-timer.C:
		p.kill()
		<-p.ended
		return fmt.Errorf("did not stop within %v and was killed", stopWait)
	}
}

func (p *process) hasEnded() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// failure describes how the process ended, with the end of its log.
func (p *process) failure(logPath string) error {
	return fmt.Errorf("the server ended: %w; the end of %s:\n%s", p.err, logPath, tail(logPath, 20))
}

// tail returns the last lines of a file.
func tail(path string, n int) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimRight(string(data), "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
