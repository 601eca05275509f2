//go:build unix

package wire

import (
	"syscall"
	"time"
)

// cpuTime is the CPU time that the process has used, the garbage collector's included. On a
// machine that does other work too it says more than the time that passed.
func cpuTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
