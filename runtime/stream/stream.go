package stream

import "iter"

// Map yields what f makes of each item of seq.
func Map[T, U any](seq iter.Seq[T], f func(T) U) iter.Seq[U] {
	return func(yield func(U) bool) {
		for item := range seq {
			if !yield(f(item)) {
				return
			}
		}
	}
}

// FlatMap yields all that f makes of each item of seq, which can be nothing: the owners of an object, say.
func FlatMap[T, U any](seq iter.Seq[T], f func(T) iter.Seq[U]) iter.Seq[U] {
	return func(yield func(U) bool) {
		for item := range seq {
			for made := range f(item) {
				if !yield(made) {
					return
				}
			}
		}
	}
}

// Filter yields the items of seq of which keep says so.
func Filter[T any](seq iter.Seq[T], keep func(T) bool) iter.Seq[T] {
	return func(yield func(T) bool) {
		for item := range seq {
			if keep(item) && !yield(item) {
				return
			}
		}
	}
}
