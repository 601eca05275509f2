package controller

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"
)

// ErrStopTimeout is the error of [Controller.Run] and [Runner.Run] when runs were still going on after
// StopTimeout of the options. It is also the cause (context.Cause) of the end of their contexts.
var ErrStopTimeout = errors.New("reconciles were still running when the stop timeout was over")

// end stops the runner and returns when its last run has ended. Runs get timeout before cancelRuns ends their
// contexts, which is then the error.
func (r *runner[K]) end(timeout time.Duration, log *slog.Logger, cancelRuns context.CancelCauseFunc) (err error) {
	r.stop()
	grace := time.NewTimer(max(timeout, 0))
	defer grace.Stop()
	select {
	case <-r.idle:
	case <-grace.C:
		select {
		case <-r.idle: // both at once
		default:
			err = r.cutShort(timeout, log, cancelRuns)
		}
	}
	r.wait()
	return err
}

// cutShort ends the contexts of what still runs.
func (r *runner[K]) cutShort(timeout time.Duration, log *slog.Logger, cancelRuns context.CancelCauseFunc) error {
	active := r.active()
	if len(active) == 0 {
		return nil // the last one has just ended
	}
	names := make([]string, 0, maxNamed)
	for _, key := range active[:min(len(active), maxNamed)] {
		names = append(names, fmt.Sprint(key))
	}
	log.Warn("reconciles are still running after the stop timeout, their contexts end now",
		"timeout", timeout, "count", len(active), "objects", names)
	cancelRuns(ErrStopTimeout)
	return fmt.Errorf("%w: %d after %s, %s among them", ErrStopTimeout, len(active), timeout, strings.Join(names, ", "))
}

// maxNamed is how many objects a message names at most.
const maxNamed = 5
