package crd

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// FieldError is one thing that is wrong with a Go type, its tags or the options. [For]
// returns all that it finds, joined; errors.As finds the first.
type FieldError struct {
	// Field is where: a Go field as Type.Field (WebAppSpec.Replicas), a Go type, or a member
	// of [Options] or resource.Info.
	Field string
	// Err says what is wrong and what would be right.
	Err error
}

// Error returns the field and what is wrong with it.
func (e *FieldError) Error() string { return e.Field + ": " + e.Err.Error() }

// Unwrap returns Err.
func (e *FieldError) Unwrap() error { return e.Err }

// failures collects what is wrong, so that one run reports everything.
type failures struct{ list []*FieldError }

func (f *failures) add(field, format string, args ...any) {
	f.list = append(f.list, &FieldError{Field: field, Err: fmt.Errorf(format, args...)})
}

// joined returns the failures sorted by field and text, each once, or nil.
func (f *failures) joined() error {
	slices.SortStableFunc(f.list, func(a, b *FieldError) int {
		return cmp.Or(cmp.Compare(a.Field, b.Field), cmp.Compare(a.Err.Error(), b.Err.Error()))
	})
	var errs []error
	for i, e := range f.list {
		if i == 0 || e.Error() != f.list[i-1].Error() {
			errs = append(errs, e)
		}
	}
	return errors.Join(errs...)
}
