package measure

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"syscall"
)

// processorTime returns the seconds that the process has run, in itself and in the kernel.
func processorTime() (user, system float64) {
	var usage syscall.Rusage
	Check(syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	seconds := func(t syscall.Timeval) float64 { return float64(t.Sec) + float64(t.Usec)/1e6 }
	return seconds(usage.Utime), seconds(usage.Stime)
}

// resident returns the bytes of the process that are in memory.
func resident() int64 { return status("VmRSS:") }

// peak returns the largest value of resident since resetPeak.
func peak() int64 { return status("VmHWM:") }

// resetPeak makes the present value of resident the peak; see proc_pid_clear_refs(5).
func resetPeak() { Check(os.WriteFile("/proc/self/clear_refs", []byte("5"), 0)) }

func status(name string) int64 {
	f, err := os.Open("/proc/self/status")
	Check(err)
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if value, ok := strings.CutPrefix(lines.Text(), name); ok {
			var kib int64
			_, err := fmt.Sscanf(value, "%d kB", &kib)
			Check(err)
			return kib << 10
		}
	}
	Check(fmt.Errorf("/proc/self/status has no %s", name))
	return 0
}
