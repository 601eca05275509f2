package stream_test

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-kube/kube/runtime/stream"
)

// count yields from, from+10, … n times, one each period, until its context ends.
func count(from, n int, period time.Duration) func(context.Context) iter.Seq[int] {
	return func(ctx context.Context) iter.Seq[int] {
		return func(yield func(int) bool) {
			for i := range n {
				select {
				case <-time.After(period):
				case <-ctx.Done():
					return
				}
				if !yield(from + 10*i) {
					return
				}
			}
		}
	}
}

func TestMerge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		got := slices.Collect(stream.Merge(t.Context(), count(1, 3, time.Second), count(2, 2, 1600*time.Millisecond)))
		if want := []int{1, 2, 11, 21, 12}; !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
		if took := time.Since(begun); took != 3200*time.Millisecond {
			t.Errorf("it took %s, want 3.2s: until the last has ended", took)
		}
	})
}

func TestMergeNothing(t *testing.T) {
	for range stream.Merge[int](t.Context()) {
		t.Error("there is an item of no sequence")
	}
	empty := func(context.Context) iter.Seq[int] { return func(func(int) bool) {} }
	for range stream.Merge(t.Context(), empty, empty) {
		t.Error("there is an item of empty sequences")
	}
}

// waiting is a source that waits for its context, and says how many of its kind run.
func waiting(running *atomic.Int32) func(context.Context) iter.Seq[int] {
	return func(ctx context.Context) iter.Seq[int] {
		return func(yield func(int) bool) {
			running.Add(1)
			defer running.Add(-1)
			<-ctx.Done()
			time.Sleep(time.Second) // what it has to put away
		}
	}
}

// Whichever way a loop ends, its goroutines have ended before.
func TestMergeEnds(t *testing.T) {
	for name, end := range map[string]func(context.Context, iter.Seq[int], context.CancelFunc){
		"by a break": func(_ context.Context, merged iter.Seq[int], _ context.CancelFunc) {
			for range merged {
				break
			}
		},
		"by its context": func(_ context.Context, merged iter.Seq[int], cancel context.CancelFunc) {
			for range merged {
				cancel()
			}
		},
		"by a panic of its body": func(_ context.Context, merged iter.Seq[int], _ context.CancelFunc) {
			defer func() {
				if recover() != "enough" {
					panic("the panic of the body is lost")
				}
			}()
			for range merged {
				panic("enough")
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				var running atomic.Int32
				merged := stream.Merge(ctx, waiting(&running), count(1, 1000, time.Second), waiting(&running))
				for range 2 { // a loop can begin anew
					if ctx.Err() != nil {
						break
					}
					end(ctx, merged, cancel)
					if n := running.Load(); n != 0 {
						t.Errorf("%d sources run after the loop has ended", n)
					}
				}
			})
		})
	}
}

// A source that nobody takes from is one item ahead and no more.
func TestMergeReadsNothingAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var made atomic.Int32
		source := func(context.Context) iter.Seq[int] {
			return func(yield func(int) bool) {
				for i := range 100 {
					made.Add(1)
					if !yield(i) {
						return
					}
				}
			}
		}
		taken := 0
		for range stream.Merge(t.Context(), source) {
			synctest.Wait()
			if taken++; int(made.Load()) > taken+1 {
				t.Fatalf("%d items were made when %d were taken", made.Load(), taken)
			}
			if taken == 10 {
				break
			}
		}
	})
}

// A panic of a source is one of the loop, where it can be dealt with, and ends the other sources.
func TestMergePanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cause := errors.New("no such file")
		var running atomic.Int32
		fails := func(context.Context) iter.Seq[int] {
			return func(yield func(int) bool) {
				yield(1)
				panic(cause)
			}
		}
		defer func() {
			err, _ := recover().(error)
			if failure, ok := errors.AsType[*stream.SourceError](err); !ok || !errors.Is(err, cause) || !strings.Contains(failure.Error(), "merge_test.go") {
				t.Errorf("the loop panicked with %v, want the cause and where it was", err)
			}
			if running.Load() != 0 {
				t.Error("the other source goes on")
			}
		}()
		got := 0
		for n := range stream.Merge(t.Context(), waiting(&running), fails) {
			got += n
		}
		t.Errorf("the loop ended with %d", got)
	})
}

// A panic after the loop was left is not swallowed.
func TestMergePanicsWhenStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fails := func(ctx context.Context) iter.Seq[int] {
			return func(yield func(int) bool) {
				<-ctx.Done()
				panic("cannot close")
			}
		}
		defer func() {
			if failure, _ := recover().(*stream.SourceError); failure == nil || failure.Value != "cannot close" || failure.Unwrap() != nil {
				t.Errorf("panicked with %v", failure)
			}
		}()
		for range stream.Merge(t.Context(), count(1, 5, time.Second), fails) {
			break
		}
		t.Error("the panic is lost")
	})
}
