//go:build !unix

package apiserver

import "syscall"

// childAttributes has nothing to set here: the child watches its standard input.
func childAttributes() *syscall.SysProcAttr { return nil }
