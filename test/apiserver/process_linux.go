package apiserver

import "syscall"

// childAttributes has the child asked to stop when its parent dies, in addition to the pipe
// that it watches, and keeps the signals of a terminal away from it, so that its parent decides
// when it stops.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}
