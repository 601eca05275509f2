package controller

import (
	"context"
	"errors"
	"log/slog"
	"runtime/debug"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/resource"
)

// perform does one run of a key. ctx is that of all runs.
func (e *engine) perform(ctx context.Context, r *run[objectKey]) {
	returned := false
	run := &runContext{ctx, r.reason, r.attempt}
	defer func() {
		if !returned { // the user's code has called runtime.Goexit, which nothing can stop
			r.outcome = e.failed(run, r.key, nil, Await(), &PanicError{Stack: debug.Stack()})
		}
	}()
	r.outcome = e.reconcileKey(run, r.key)
	returned = true
}

func (e *engine) reconcileKey(ctx *runContext, key objectKey) outcome {
	for _, last := range e.takeGone(key) {
		e.tellDeleted(&runContext{ctx.Context, Reason{Kind: Deleted}, 1}, key, last)
	}
	raw, ok := e.cache.get(key)
	if !ok {
		e.counts.absent.Add(1)
		return outcome{}
	}
	e.debug(ctx, "reconcile begins", key)
	obj, action, err := e.call(ctx, raw)
	e.counts.reconciled.Add(1)
	if err != nil {
		return e.failed(ctx, key, obj, action, err)
	}
	e.debug(ctx, "reconcile ended", key, slog.String("action", action.String()))
	return e.succeeded(ctx, action)
}

// call calls the reconciler. obj is what it was called with; nil if it panicked.
func (e *engine) call(ctx context.Context, raw *resource.Raw) (obj any, action Action, err error) {
	err = contain(func() (err error) {
		obj, action, err = e.reconcile(ctx, raw)
		return err
	})
	return obj, action, err
}

func (e *engine) succeeded(ctx *runContext, action Action) outcome {
	switch action.kind {
	case after:
		return outcome{again: true, delay: action.delay, reason: Reason{Kind: Requested}}
	case retry:
		return e.retry(ctx.attempt, nil)
	}
	return outcome{}
}

// failed decides what follows a failed run.
func (e *engine) failed(ctx *runContext, key objectKey, obj any, action Action, err error) outcome {
	e.counts.failed.Add(1)
	if _, ok := errors.AsType[*PanicError](err); ok {
		e.counts.panicked.Add(1)
	}
	if isUndecodable(err) {
		e.counts.undecodable.Add(1)
	}
	o, decided := e.askUser(ctx, key, obj, err)
	if !decided {
		o = e.rule(ctx.attempt, action, err)
	}
	e.logFailure(ctx, key, o, err)
	return o
}

// rule is what happens where the user has no rule of their own.
func (e *engine) rule(attempt int, action Action, err error) outcome {
	switch {
	case IsTerminal(err) || isUndecodable(err):
		return outcome{failed: true}
	case action.kind == after:
		return outcome{failed: true, again: true, delay: action.delay, reason: Reason{Kind: Retried}}
	}
	return e.retry(attempt, err)
}

// retry plans a run after the backoff, or after what the server asked for if that is longer.
func (e *engine) retry(attempt int, err error) outcome {
	delay := e.opts.Backoff.delay(attempt)
	if asked, ok := kube.RetryAfter(err); ok {
		delay = max(delay, asked)
	}
	return outcome{failed: true, again: true, delay: delay, reason: Reason{Kind: Retried}}
}

// askUser asks the hook of OnError; decided is false where there is none or it failed itself.
func (e *engine) askUser(ctx *runContext, key objectKey, obj any, err error) (o outcome, decided bool) {
	if e.onError == nil {
		return outcome{}, false
	}
	var action Action
	if failure := contain(func() error {
		action = e.onError(ctx, obj, err, ctx.attempt)
		return nil
	}); failure != nil {
		e.log.LogAttrs(ctx, slog.LevelError, "the hook of OnError failed", append(e.attrs(ctx, key), errorAttrs(failure)...)...)
		return outcome{}, false
	}
	switch action.kind {
	case after:
		return outcome{failed: true, again: true, delay: action.delay, reason: Reason{Kind: Retried}}, true
	case retry:
		return e.retry(ctx.attempt, err), true
	}
	return outcome{failed: true}, true
}

func (e *engine) takeGone(key objectKey) []*resource.Raw {
	if e.onDeleted == nil {
		return nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	gone := e.gone[key]
	delete(e.gone, key)
	return gone
}

func (e *engine) tellDeleted(ctx *runContext, key objectKey, last *resource.Raw) {
	err := contain(func() error {
		e.onDeleted(ctx, last)
		return nil
	})
	if err != nil {
		e.log.LogAttrs(ctx, slog.LevelError, "the hook of OnDeleted failed", append(e.attrs(ctx, key), errorAttrs(err)...)...)
	}
}

// contain calls f, and makes an error of a panic.
func contain(f func() error) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = &PanicError{Value: value, Stack: debug.Stack()}
		}
	}()
	return f()
}

func isUndecodable(err error) bool {
	_, ok := errors.AsType[*DecodeError](err)
	return ok
}

// logFailure logs a failed run once. A conflict is no news: somebody else wrote first, and the
// retry will see it.
func (e *engine) logFailure(ctx *runContext, key objectKey, o outcome, err error) {
	level, text := slog.LevelWarn, "reconcile failed, trying again"
	switch {
	case !o.again:
		level, text = slog.LevelError, "reconcile failed, not trying again before something changes"
	case errors.Is(err, kube.ErrConflict):
		level = slog.LevelDebug
	}
	if _, ok := errors.AsType[*PanicError](err); ok {
		level = slog.LevelError
	}
	if !e.log.Enabled(ctx, level) {
		return
	}
	attrs := append(e.attrs(ctx, key), errorAttrs(err)...)
	if o.again {
		attrs = append(attrs, slog.Duration("delay", o.delay))
	}
	e.log.LogAttrs(ctx, level, text, attrs...)
}

func (e *engine) debug(ctx *runContext, text string, key objectKey, more ...slog.Attr) {
	if e.log.Enabled(ctx, slog.LevelDebug) {
		e.log.LogAttrs(ctx, slog.LevelDebug, text, append(e.attrs(ctx, key), more...)...)
	}
}

// attrs names a run in the log.
func (e *engine) attrs(ctx *runContext, key objectKey) []slog.Attr {
	return []slog.Attr{
		slog.String("kind", e.endpoint.Descriptor().Kind),
		slog.String("namespace", key.Namespace),
		slog.String("name", key.Name),
		slog.String("reason", ctx.reason.String()),
		slog.Int("attempt", ctx.attempt),
	}
}

// errorAttrs tells an error, with the stack of a panic.
func errorAttrs(err error) []slog.Attr {
	attrs := []slog.Attr{slog.Any("error", err)}
	if p, ok := errors.AsType[*PanicError](err); ok {
		attrs = append(attrs, slog.String("stack", string(p.Stack)))
	}
	return attrs
}
