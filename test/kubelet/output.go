package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"k8s.io/cri-client/pkg/logs"
)

// output takes what a container writes: to its log, a line of the CRI's format for each of its
// own, and to whoever is attached.
type output struct {
	mu       sync.Mutex
	log      *os.File
	partial  map[string][]byte // by stream
	attached map[*attachment]bool
}

// attachment is one client.
type attachment struct {
	stdout, stderr io.Writer
	failed         chan struct{} // closed when it cannot be written to
}

func newOutput(log *os.File) *output {
	return &output{log: log, partial: map[string][]byte{}, attached: map[*attachment]bool{}}
}

func (o *output) stream(name string) io.Writer { return &outputStream{o, name} }

type outputStream struct {
	output *output
	name   string
}

func (s *outputStream) Write(data []byte) (int, error) {
	o := s.output
	o.mu.Lock()
	defer o.mu.Unlock()
	for a := range o.attached {
		a.write(s.name, data)
	}
	rest := append(o.partial[s.name], data...)
	for {
		line, after, found := bytes.Cut(rest, []byte("\n"))
		if !found {
			o.partial[s.name] = rest
			return len(data), nil
		}
		if err := o.write(s.name, "F", line); err != nil {
			return 0, err
		}
		rest = after
	}
}

// write adds a line to the log. The tag is F for a full one, and P for one that goes on.
func (o *output) write(stream, tag string, line []byte) error {
	_, err := fmt.Fprintf(o.log, "%s %s %s %s\n", time.Now().UTC().Format(logs.RFC3339NanoFixed), stream, tag, line)
	return err
}

// end writes what is left, and closes the log.
func (o *output) end() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for stream, rest := range o.partial {
		if len(rest) > 0 {
			o.write(stream, "P", rest)
		}
	}
	o.log.Close()
}

func (o *output) attach(stdout, stderr io.Writer) *attachment {
	a := &attachment{stdout: stdout, stderr: stderr, failed: make(chan struct{})}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.attached[a] = true
	return a
}

func (o *output) detach(a *attachment) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.attached, a)
}

func (a *attachment) write(stream string, data []byte) {
	w := a.stdout
	if stream == "stderr" {
		w = a.stderr
	}
	if w == nil {
		return
	}
	if _, err := w.Write(data); err != nil {
		select {
		case <-a.failed:
		default:
			close(a.failed)
		}
	}
}
