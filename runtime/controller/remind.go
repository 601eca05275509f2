package controller

import (
	"context"
	"log/slog"
	"time"

	"github.com/go-kube/kube/runtime/watcher"
)

// reminding is how often a controller says what it still waits for.
const reminding = time.Minute

// remind says again and again which kinds, and which namespaces of them, the controller has no objects of. The
// watches say so once, when it begins; it may be a day before somebody asks why nothing happens.
func (e *engine) remind(ctx context.Context) {
	ticker := time.NewTicker(reminding)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			e.reportMissing(ctx)
		case <-ctx.Done():
			return
		}
	}
}

func (e *engine) reportMissing(ctx context.Context) {
	for i, s := range e.state() {
		// A related kind that is not installed is none that anybody has to care for.
		counts := func(w watcher.State) bool { return !w.Synced && (i == 0 || w.Phase != watcher.WaitingForKind) }
		var missing []string
		for _, err := range s.problems(counts) {
			missing = append(missing, err.Error())
		}
		if len(missing) == 0 {
			continue
		}
		level, text := slog.LevelWarn, "a related kind is not complete, and what is missing triggers nothing"
		if i == 0 { // the controller's own
			level, text = slog.LevelError, "a namespace that has joined is not complete, and its objects are not reconciled"
			if !e.working.Load() {
				text = "the controller cannot start before its objects are known"
			}
		}
		e.log.LogAttrs(ctx, level, text, slog.String("resource", s.Resource), slog.Any("missing", missing))
	}
}
