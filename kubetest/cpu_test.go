//go:build unix

package kubetest_test

import (
	"syscall"
	"testing"
	"time"
)

// cpuTime returns how much work of a processor this process has been.
func cpuTime(b *testing.B) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
