package reflector

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"testing"
	"testing/slogtest"
)

// A shared log is a handler like any other, with one who hears it and within another.
func TestSharedLogIsAHandler(t *testing.T) {
	var out bytes.Buffer
	outer, inner := newSource(false), newSource(false)
	log := inner.shareLog(outer.shareLog(slog.New(slog.NewJSONHandler(&out, nil))))
	slogtest.Run(t, func(*testing.T) slog.Handler {
		out.Reset()
		return log.Handler()
	}, func(t *testing.T) map[string]any {
		var record map[string]any
		if err := json.Unmarshal(out.Bytes(), &record); err != nil {
			t.Fatal(err)
		}
		return record
	})
}
