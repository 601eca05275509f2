package watcher

import (
	"errors"
	"log/slog"
	"testing"
)

// A watch that has lasted long enough clears the failures before it, and not those after it.
func TestRecoveryIsOfThePast(t *testing.T) {
	s := &status{log: slog.New(slog.DiscardHandler)}
	s.failed(t.Context(), Retrying, errors.New("first"), 0)
	early := s.recovery()
	second := errors.New("second")
	s.failed(t.Context(), Retrying, second, 0)
	early()
	if got := s.current(); got.LastError != second || got.Failures != 2 {
		t.Errorf("got %+v, want both failures", got)
	}
	s.recovered()
	if got := s.current(); got.LastError != nil || got.Failures != 0 {
		t.Errorf("got %+v, want it healthy", got)
	}
}
