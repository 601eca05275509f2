package measure

// CPU returns the seconds that the process has run, in itself and in the kernel.
func CPU() float64 {
	user, system := processorTime()
	return user + system
}

// Resident returns the bytes of the process that are in memory, and Peak the most that were since
// [ResetPeak].
func Resident() int64 { return resident() }

// Peak is the largest value of [Resident] since [ResetPeak].
func Peak() int64 { return peak() }

// ResetPeak makes the present value of [Resident] the peak.
func ResetPeak() { resetPeak() }
