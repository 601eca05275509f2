package controller

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/go-kube/kube"
)

// Backoff is how long a key waits after a failed run: Initial after the first failure, twice
// as long after each further one in a row, never longer than Max. A random part of up to half
// is taken off, so that keys that failed together do not come back together.
//
// The defaults are meant for what makes reconcilers fail. A conflict or a cache that lags is
// over in a fraction of a second, so the first retry comes soon, but not in the milliseconds
// in which it would fail the same way. What lasts longer is tried about ten times in the
// first two minutes, and every one to two minutes from then on: nobody waits a quarter of an
// hour after a mended outage, and 10 000 failing objects make about a hundred tries a second.
type Backoff struct {
	// Initial is the wait after the first failure; zero means 200ms.
	Initial time.Duration
	// Max bounds the wait; zero means 2 minutes.
	Max time.Duration
}

const (
	defaultBackoffInitial = 200 * time.Millisecond
	defaultBackoffMax     = 2 * time.Minute
)

func (b Backoff) withDefaults() Backoff {
	if b.Initial == 0 {
		b.Initial = defaultBackoffInitial
	}
	if b.Max == 0 {
		b.Max = max(defaultBackoffMax, b.Initial)
	}
	return b
}

func (b Backoff) validate() error {
	if b.Initial < 0 || b.Max < b.Initial {
		return fmt.Errorf("Options.Backoff is %s to %s; both have to be positive, and Max not below Initial", b.Initial, b.Max)
	}
	return nil
}

// delay returns the wait after the given number of failures in a row, from 1.
func (b Backoff) delay(failures int) time.Duration {
	full := b.full(failures)
	return full - rand.N(full/2+1)
}

// full is the longest that delay can be.
func (b Backoff) full(failures int) time.Duration {
	d := b.Initial
	for range failures - 1 {
		if d > b.Max/2 {
			return b.Max
		}
		d *= 2
	}
	return d
}

// succeeded is what follows a run that returned no error.
func (b Backoff) succeeded(attempt int, action Action) outcome {
	switch action.kind {
	case after:
		return outcome{again: true, delay: action.delay, reason: Reason{Kind: Requested}}
	case retry:
		return b.retry(attempt, nil)
	}
	return outcome{}
}

// rule is what follows a failed run.
func (b Backoff) rule(attempt int, action Action, err error) outcome {
	switch {
	case IsTerminal(err) || isUndecodable(err):
		return outcome{failed: true}
	case action.kind == after:
		return outcome{failed: true, again: true, delay: action.delay, reason: Reason{Kind: Retried}}
	}
	return b.retry(attempt, err)
}

// retry plans a run after the backoff, or after what the server asked for if that is longer.
func (b Backoff) retry(attempt int, err error) outcome {
	delay := b.delay(attempt)
	if asked, ok := kube.RetryAfter(err); ok {
		delay = max(delay, asked)
	}
	return outcome{failed: true, again: true, delay: delay, reason: Reason{Kind: Retried}}
}
