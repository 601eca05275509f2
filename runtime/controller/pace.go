package controller

import (
	"fmt"
	"math"
	"time"
)

// Rate bounds how often something happens: PerSecond on average, and Burst at once after a
// quiet time. The zero Rate sets no bound.
type Rate struct {
	// PerSecond is the average; 0 sets no bound.
	PerSecond float64
	// Burst is how many happen at once; 0 is a second's worth, at least 1.
	Burst int
}

// validate says what is wrong with the option called name.
func (r Rate) validate(name string) error {
	switch {
	case math.IsNaN(r.PerSecond) || math.IsInf(r.PerSecond, 0) || r.PerSecond < 0 || r.PerSecond > float64(time.Second):
		return fmt.Errorf("Options.%s.PerSecond is %v; it has to be 0 (no bound) or a positive number up to a billion", name, r.PerSecond)
	case r.Burst < 0:
		return fmt.Errorf("Options.%s.Burst is %d; it has to be 0 (a second's worth) or more", name, r.Burst)
	case r.Burst > 0 && r.PerSecond == 0:
		return fmt.Errorf("Options.%s.Burst is %d without PerSecond, which would never be used", name, r.Burst)
	}
	return nil
}

// pace keeps runs to a rate. It is a token bucket, written as the time at which the bucket
// will be full again. The zero pace sets no bound.
type pace struct {
	interval moment // between runs
	burst    moment // how far full may lie ahead
	full     moment
}

func newPace(r Rate) pace {
	if r.PerSecond == 0 {
		return pace{}
	}
	burst := r.Burst
	if burst == 0 {
		burst = max(1, int(r.PerSecond))
	}
	interval := max(1, moment(min(float64(time.Second)/r.PerSecond, float64(horizon))))
	return pace{interval: interval, burst: interval * min(moment(burst), moment(horizon)/interval)}
}

// free returns when the next run may begin.
func (p *pace) free(now moment) moment {
	return max(now, p.full+p.interval-p.burst)
}

// spend counts a run that begins.
func (p *pace) spend(now moment) { p.full = max(p.full, now) + p.interval }

// refund takes back a run that did not take place.
func (p *pace) refund() { p.full -= p.interval }
