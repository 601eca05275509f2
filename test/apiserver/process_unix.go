//go:build unix && !linux

package apiserver

import "syscall"

// childAttributes keeps the signals of a terminal away from the child, so that its parent
// decides when it stops.
func childAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
