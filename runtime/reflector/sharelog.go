package reflector

import (
	"context"
	"errors"
	"log/slog"
	"slices"
)

// sharedLog is the handler of the log of a cache that several may run: each of their loggers gets
// each record, and a logger that several of them have gets it once.
type sharedLog struct {
	source *source                           // whose cache it is
	with   []func(slog.Handler) slog.Handler // what was added to it since
}

// shareLog has the log of the own cache of s go to all who run it. log is that of s.
func (s *source) shareLog(log *slog.Logger) *slog.Logger {
	s.log = log
	return slog.New(&sharedLog{source: s})
}

// Enabled implements [slog.Handler].
func (h *sharedLog) Enabled(ctx context.Context, level slog.Level) bool {
	return slices.ContainsFunc(h.source.audience(), func(user *source) bool { return user.log.Enabled(ctx, level) })
}

// Handle implements [slog.Handler].
func (h *sharedLog) Handle(ctx context.Context, r slog.Record) error {
	var told []*slog.Logger
	return h.tell(ctx, r, h.with, &told)
}

// tell hands r to the loggers that are not among told. One may be that of another shared cache, which
// watches the namespaces together with others.
func (h *sharedLog) tell(ctx context.Context, r slog.Record, with []func(slog.Handler) slog.Handler, told *[]*slog.Logger) (err error) {
	for _, user := range h.source.audience() {
		user.unlessLeft(func() {
			if slices.Contains(*told, user.log) {
				return
			}
			*told = append(*told, user.log)
			handler := user.log.Handler()
			if inner, ok := handler.(*sharedLog); ok {
				err = errors.Join(err, inner.tell(ctx, r, slices.Concat(inner.with, with), told))
				return
			}
			for _, add := range with {
				handler = add(handler)
			}
			if handler.Enabled(ctx, r.Level) {
				err = errors.Join(err, handler.Handle(ctx, r.Clone()))
			}
		})
	}
	return err
}

// WithAttrs implements [slog.Handler].
func (h *sharedLog) WithAttrs(attrs []slog.Attr) slog.Handler {
	return h.and(func(to slog.Handler) slog.Handler { return to.WithAttrs(attrs) })
}

// WithGroup implements [slog.Handler].
func (h *sharedLog) WithGroup(name string) slog.Handler {
	return h.and(func(to slog.Handler) slog.Handler { return to.WithGroup(name) })
}

func (h *sharedLog) and(add func(slog.Handler) slog.Handler) slog.Handler {
	return &sharedLog{h.source, append(slices.Clip(h.with), add)}
}

// greet tells the log of s, who has come late, what is wrong with the watch of c: the others were told
// before.
func (s *source) greet(c *cache) {
	if state := c.state(); state.LastError != nil {
		s.log.Warn("the watch that is shared is failing", "resource", c.descriptor.GroupResource().String(),
			"error", state.LastError, "failures", state.Failures)
	}
}
