package reflector

import (
	"errors"
	"fmt"
)

var (
	// ErrAbsent is the error of Get for an object that the store does not have.
	ErrAbsent = errors.New("not in the store")
	// ErrNotReady is the error of Get before the store has its first snapshot. It is not
	// ErrAbsent: that an object is not there yet does not mean that it does not exist.
	ErrNotReady = errors.New("the store has no snapshot yet")
	// ErrOutside is the error of Get for an object of a namespace that the store is not of. It
	// matches ErrAbsent too.
	ErrOutside = fmt.Errorf("%w, which does not keep its namespace", ErrAbsent)
	// ErrStopped is the error of waiting for a store whose reflector has ended.
	ErrStopped = errors.New("the reflector has ended")
)

// DecodeError says that an object does not decode into its Go type. Such an object is stored
// like the others; it is missing in the indexes that decode, and no Modify function was run on it.
type DecodeError struct {
	// Resource is plural.group of the kind, or the plural alone in the core group.
	Resource string
	// Namespace, Name and ResourceVersion say which version of which object it is.
	Namespace, Name, ResourceVersion string
	// Err is the cause.
	Err error
}

// Error names the object and what is wrong with it.
func (e *DecodeError) Error() string {
	name := e.Name
	if e.Namespace != "" {
		name = e.Namespace + "/" + e.Name
	}
	return fmt.Sprintf("%s %s at resource version %s is stored undecoded: %v", e.Resource, name, e.ResourceVersion, e.Err)
}

// Unwrap returns the cause.
func (e *DecodeError) Unwrap() error { return e.Err }

// readError is the error of reading one object. It is made on each miss, so it formats late.
type readError struct {
	resource, namespace, name string
	cause                     error
}

func (e *readError) Error() string {
	name := e.name
	if e.namespace != "" {
		name = e.namespace + "/" + e.name
	}
	return fmt.Sprintf("%s %s: %v", e.resource, name, e.cause)
}

func (e *readError) Unwrap() error { return e.cause }
