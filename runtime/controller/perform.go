package controller

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"runtime/debug"
	"time"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/resource"
)

// call is one run of a key.
type call struct {
	runContext
	key objectKey
	obj any // what the reconciler is called with; nil before
}

// perform does one run of a key. ctx is that of all runs.
func (e *engine) perform(ctx context.Context, r *run[objectKey]) {
	returned := false
	c := &call{key: r.key}
	c.runContext = runContext{kube.WithWriteObserver(ctx, func(w kube.Write) { e.wrote(c, &w) }), r.reason, r.attempt}
	defer func() {
		if !returned { // the user's code has called runtime.Goexit, which nothing can stop
			r.outcome = e.failed(c, Await(), &PanicError{Stack: debug.Stack()})
		}
	}()
	r.outcome = e.reconcileKey(c)
	returned = true
}

func (e *engine) reconcileKey(c *call) (o outcome) {
	for _, last := range e.takeGone(c.key) {
		e.tellDeleted(c, last)
	}
	if patience, wait := e.writes.park(c.key, c.reason); wait {
		return outcome{none: true, again: true, delay: patience, reason: c.reason}
	}
	raw, ok := e.cache.get(c.key)
	if !ok {
		e.counts.absent.Add(1)
		return outcome{}
	}
	if c.reason.Kind == Deleted { // and made again before the run began
		c.reason = Reason{Kind: Updated}
	}
	if wait := e.paces.wait(c.key); wait > 0 {
		return outcome{none: true, again: true, delay: wait, reason: c.reason}
	}
	if wait := e.loops.begin(c.key, e.versionOf(raw), c.reason); wait > 0 {
		return outcome{none: true, again: true, delay: wait, reason: c.reason}
	}
	defer func() { e.loops.end(c.key, o) }()
	if e.loops.look(c, c.key) { // the object may have changed meanwhile
		if raw, ok = e.cache.get(c.key); !ok {
			e.counts.absent.Add(1)
			return outcome{}
		}
		e.loops.knows(c.key, e.versionOf(raw))
	}
	e.paces.spend(c.key)
	verbose := e.log.Enabled(c, slog.LevelDebug)
	if verbose {
		e.log.LogAttrs(c, slog.LevelDebug, "reconcile begins", e.attrs(c)...)
	}
	e.counts.reconciled.Add(1)
	action, err := e.callReconciler(c, raw)
	if err != nil {
		return e.failed(c, action, err)
	}
	if verbose {
		e.log.LogAttrs(c, slog.LevelDebug, "reconcile ended", append(e.attrs(c), slog.String("action", action.String()))...)
	}
	return e.succeeded(c, action)
}

// versionOf names the version of one of the controller's own objects.
func (e *engine) versionOf(raw *resource.Raw) objectVersion {
	return objectVersion{e.endpoint.Descriptor(), keyOf(raw), raw.ResourceVersion()}
}

// wrote takes in a write that the run c has made.
func (e *engine) wrote(c *call, w *kube.Write) {
	e.loops.wrote(c.key, w)
	e.writes.wrote(c.key, w)
}

func (e *engine) callReconciler(c *call, raw *resource.Raw) (action Action, err error) {
	err = contain(func() (err error) {
		if c.obj, err = e.decode(raw); err == nil {
			action, err = e.reconcile(&c.runContext, c.obj)
		}
		return err
	})
	return action, err
}

func (e *engine) succeeded(c *call, action Action) outcome {
	return e.rest(e.opts.Backoff.succeeded(c.attempt, action))
}

// rest adds the run of a resync to an outcome that asks for none.
func (e *engine) rest(o outcome) outcome {
	if period := e.opts.Resync; period > 0 && !o.again {
		jitter := time.Duration((rand.Float64() - 0.5) / 5 * float64(period))
		o.again, o.delay, o.reason = true, period+jitter, Reason{Kind: Resync}
	}
	return o
}

// failed decides what follows a failed run.
func (e *engine) failed(c *call, action Action, err error) outcome {
	e.counts.failed.Add(1)
	if _, ok := errors.AsType[*PanicError](err); ok {
		e.counts.panicked.Add(1)
	}
	if isUndecodable(err) {
		e.counts.undecodable.Add(1)
	}
	o, decided := e.askUser(c, err)
	if !decided {
		o = e.rule(c.attempt, action, err)
	}
	e.logFailure(c, o, err)
	return e.rest(o)
}

// rule is what happens where the user has no rule of their own.
func (e *engine) rule(attempt int, action Action, err error) outcome {
	return e.opts.Backoff.rule(attempt, action, err)
}

func (e *engine) retry(attempt int, err error) outcome { return e.opts.Backoff.retry(attempt, err) }

// askUser asks the hook of OnError; decided is false where there is none or it failed itself.
func (e *engine) askUser(c *call, err error) (o outcome, decided bool) {
	if e.onError == nil || c.obj == nil {
		return outcome{}, false
	}
	var action Action
	if failure := contain(func() error {
		action = e.onError(&c.runContext, c.obj, err, c.attempt)
		return nil
	}); failure != nil {
		e.log.LogAttrs(c, slog.LevelError, "the hook of OnError failed", append(e.attrs(c), errorAttrs(failure)...)...)
		return outcome{}, false
	}
	switch action.kind {
	case after:
		return outcome{failed: true, again: true, delay: action.delay, reason: Reason{Kind: Retried}}, true
	case retry:
		return e.retry(c.attempt, err), true
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

// tellDeleted calls the hook of OnDeleted. The run can have another reason, when the name was
// used again at once.
func (e *engine) tellDeleted(c *call, last *resource.Raw) {
	err := contain(func() error {
		e.onDeleted(&runContext{c.Context, Reason{Kind: Deleted}, 1}, last)
		return nil
	})
	if err != nil {
		e.log.LogAttrs(c, slog.LevelError, "the hook of OnDeleted failed", append(e.attrs(c), errorAttrs(err)...)...)
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
func (e *engine) logFailure(c *call, o outcome, err error) {
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
	if !e.log.Enabled(c, level) {
		return
	}
	attrs := append(e.attrs(c), errorAttrs(err)...)
	if o.again {
		attrs = append(attrs, slog.Duration("delay", o.delay))
	}
	e.log.LogAttrs(c, level, text, attrs...)
}

// attrs names a run in the log.
func (e *engine) attrs(c *call) []slog.Attr {
	return []slog.Attr{
		slog.String("kind", e.endpoint.Descriptor().Kind),
		slog.String("namespace", c.key.Namespace),
		slog.String("name", c.key.Name),
		slog.String("reason", c.reason.String()),
		slog.Int("attempt", c.attempt),
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
