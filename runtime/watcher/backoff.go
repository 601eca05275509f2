package watcher

import (
	"math/rand/v2"
	"time"
)

// backoff yields growing delays: min, twice that, and so on up to max, each with up to 100 %
// added at random.
type backoff struct {
	min, max time.Duration
	step     time.Duration // of the next delay; zero at the start
}

func (b *backoff) next() time.Duration {
	step := max(b.step, b.min)
	b.step = min(2*step, b.max)
	return step + rand.N(step)
}

func (b *backoff) reset() { b.step = 0 }
