package controller

import (
	"errors"
	"fmt"
	"time"
)

// Action is what a reconciler wants to happen next. Its zero value is [Await].
type Action struct {
	kind  actionKind
	delay time.Duration
}

type actionKind uint8

const (
	await actionKind = iota
	after
	retry
)

// Await waits for the next trigger: a change of the object or of what belongs to it. Beside
// an error it leaves the error to the rule: see [Controller.OnError].
func Await() Action { return Action{} }

// After runs the key again once d has passed since the end of this run, or earlier if
// something triggers it. Zero and less run it again at once; d is bounded at 180 days.
// Beside an error it takes the place of the backoff.
func After(d time.Duration) Action { return Action{kind: after, delay: d} }

// Retry runs the key again with the backoff of a failed run, and counts as one. The hook of
// [Controller.OnError] returns it for the errors that it leaves to the usual rule; a
// reconciler returns it, without an error, where the world is not ready yet and that is not
// worth a word in the log.
func Retry() Action { return Action{kind: retry} }

// String returns the action for logs.
func (a Action) String() string {
	switch a.kind {
	case after:
		return "after " + a.delay.String()
	case retry:
		return "retry"
	}
	return "await"
}

// Terminal marks err as one that trying again cannot mend, such as a wrong spec: the key is
// not run again before something triggers it, even where the reconciler returned [After]
// beside it. It returns nil for a nil err.
func Terminal(err error) error {
	if err == nil {
		return nil
	}
	return &terminalError{err}
}

// IsTerminal reports whether err is, or wraps, an error made by [Terminal].
func IsTerminal(err error) bool {
	var t *terminalError
	return errors.As(err, &t)
}

type terminalError struct{ err error }

func (e *terminalError) Error() string { return e.err.Error() }
func (e *terminalError) Unwrap() error { return e.err }

// PanicError is the error of a reconcile that panicked. The controller goes on; the key is
// tried again as after any error.
type PanicError struct {
	// Value is what panic was called with; nil where the reconciler ended its goroutine with
	// [runtime.Goexit].
	Value any
	// Stack is the stack of the goroutine at the panic.
	Stack []byte
}

// Error returns the value of the panic, without the stack.
func (e *PanicError) Error() string {
	if e.Value == nil {
		return "the function ended its goroutine (runtime.Goexit)"
	}
	return fmt.Sprintf("panic: %v", e.Value)
}

// Unwrap returns the value of the panic where it is an error, and nil otherwise.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// DecodeError is the error of an object whose content does not fit the Go type of its kind.
// The object is not tried again before it changes; the others of its kind are not touched.
type DecodeError struct {
	// Err names the object, and says what does not fit.
	Err error
}

// Error returns the message of Err.
func (e *DecodeError) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *DecodeError) Unwrap() error { return e.Err }
