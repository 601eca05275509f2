package main

import (
	"bufio"
	"os"
	"time"
)

// parent is the process at the other end of standard input.
type parent struct {
	done chan struct{} // closed when it wants the server to stop, or is dead
	dead bool          // which of these, once done is closed
}

func watchParent() *parent {
	p := &parent{done: make(chan struct{})}
	go func() {
		_, err := bufio.NewReader(os.Stdin).ReadString('\n')
		p.dead = err != nil
		close(p.done)
	}()
	return p
}

// isDead tells whether the parent has died. A signal that the kernel sends at its death may be
// ahead of the end of the pipe, so this waits a little.
func (p *parent) isDead() bool {
	select {
	case <-p.done:
		return p.dead
	case <-time.After(time.Second):
		return false
	}
}
