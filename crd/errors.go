package crd

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
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

// didYouMean returns "; did you mean X?" for the candidate nearest to word, and nothing
// where none is near.
func didYouMean(word string, candidates []string) string {
	best, bestDistance := "", len(word)/2+1
	for _, c := range candidates {
		d := distance(strings.ToLower(word), strings.ToLower(c))
		if len(word) > 2 && strings.HasPrefix(strings.ToLower(c), strings.ToLower(word)) {
			d = 1 // a word cut short: bool
		}
		if d < bestDistance {
			best, bestDistance = c, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", best)
}

// distance is the number of letters to insert, delete, replace or swap with their neighbour
// to make b from a.
func distance(a, b string) int {
	var rows [3][]int // two rows back, one back, now
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
	}
	for j := range rows[2] {
		rows[2][j] = j
	}
	for i := 1; i <= len(a); i++ {
		rows[0], rows[1], rows[2] = rows[1], rows[2], rows[0]
		rows[2][0] = i
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			rows[2][j] = min(rows[1][j]+1, rows[2][j-1]+1, rows[1][j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[2][j] = min(rows[2][j], rows[0][j-2]+1)
			}
		}
	}
	return rows[2][len(b)]
}
