//go:build !linux

package measure

import (
	"fmt"
	"os"
)

func init() {
	fmt.Fprintln(os.Stderr, "memory is read from /proc: the benchmark runs on Linux alone")
	os.Exit(1)
}

func processorTime() (user, system float64) { return 0, 0 }
func resident() int64                       { return 0 }
func peak() int64                           { return 0 }
func resetPeak()                            {}
