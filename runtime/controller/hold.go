package controller

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
)

// errEnding is why a term ends that was made from the context that the function of Hold gets.
var errEnding = errors.New("the context of Run has ended")

// nextTerm waits until reconciles may run, and returns a context that ends when they no longer
// may.
func (e *engine) nextTerm(ctx context.Context) (term context.Context, err error) {
	if e.hold == nil || ctx.Err() != nil {
		return ctx, nil
	}
	err = contain(func() (err error) {
		term, err = e.hold(ctx)
		return err
	})
	switch {
	case ctx.Err() != nil:
		return ctx, nil
	case err != nil:
		return nil, fmt.Errorf("the function of Hold: %w", err)
	case term == nil:
		return nil, errors.New("the function of Hold returned neither a context nor an error")
	}
	return term, nil
}

// serve lets keys run until ctx or term ends. The end of term ends those that run at once, the
// end of ctx does not.
func (e *engine) serve(ctx, term, runs context.Context, r *runner[objectKey]) {
	runs, cancel := context.WithCancelCause(runs)
	context.AfterFunc(term, func() {
		if cause := context.Cause(term); cause != errEnding {
			cancel(cause)
		}
	})
	e.setTerm(runs)
	r.open()
	e.log.LogAttrs(ctx, slog.LevelInfo, "controller started")
	for {
		select {
		case <-r.timer.C:
			r.wake()
		case <-term.Done():
			r.shut()
			if ctx.Err() == nil {
				e.log.LogAttrs(ctx, slog.LevelInfo, "controller holds", slog.Any("cause", context.Cause(term)))
			}
			return
		case <-ctx.Done():
			return
		}
	}
}

func (e *engine) setTerm(ctx context.Context) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.term = ctx
}

// currentTerm is the context of the runs that begin.
func (e *engine) currentTerm() context.Context {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.term
}

// pause lets no run begin, or lets them begin again.
func (e *engine) pause(paused bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.paused = paused
	if r := e.runner.Load(); r != nil {
		r.pause(paused)
	}
}
