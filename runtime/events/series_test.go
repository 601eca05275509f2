package events

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func noted(note string) Event { return Event{Reason: "Started", Action: "Starting", Note: note} }

func TestNotesThatTakeTurnsAreCountedEach(t *testing.T) {
	inBubble(t, func(t *testing.T, server *fakeEvents, r *Recorder) {
		for i := range 30 {
			publish(t, r, about("a", ""), noted(fmt.Sprint("pod ", i%3)))
		}
		if len(server.created) != 3 || len(server.notes) != 0 {
			t.Fatalf("%d Events, changed notes %v; want one for each of the 3 notes", len(server.created), server.notes)
		}
		for _, e := range server.created {
			if server.count[e.Name] != 10 {
				t.Errorf("%q is counted %d times, want 10", e.Note, server.count[e.Name])
			}
		}
	})
}

func TestNotesThatAreNeverTheSameAreCombined(t *testing.T) {
	inBubble(t, func(t *testing.T, server *fakeEvents, r *Recorder) {
		for i := range 1000 {
			publish(t, r, about("a", ""), noted(fmt.Sprint("attempt ", i)))
			time.Sleep(100 * time.Millisecond)
		}
		if len(server.created) != maxNotes+1 {
			t.Fatalf("%d Events, want %d and one for the rest", len(server.created), maxNotes)
		}
		last := server.created[maxNotes]
		if want := "(combined from similar events): attempt 10"; last.Note != want {
			t.Errorf("the first note of the rest is %q, want %q", last.Note, want)
		}
		if want := "(combined from similar events): attempt 999"; server.notes[last.Name] != want || server.count[last.Name] != 990 {
			t.Errorf("the rest is %q, counted %d times; want %q, 990 times", server.notes[last.Name], server.count[last.Name], want)
		}

		// A note of before is still an Event of its own, and counted there.
		publish(t, r, about("a", ""), noted("attempt 3"))
		if n := server.count[server.created[3].Name]; n != 2 || len(server.created) != maxNotes+1 {
			t.Errorf("%d Events, %q is counted %d times, want 2", len(server.created), server.created[3].Note, n)
		}

		// After the window there is room for new ones.
		time.Sleep(window)
		publish(t, r, about("a", ""), noted("attempt 1000"))
		if got := server.created[len(server.created)-1].Note; len(server.created) != maxNotes+2 || got != "attempt 1000" {
			t.Errorf("%d Events, the last says %q", len(server.created), got)
		}
	})
}

func TestACombinedEventThatTheServerHasDroppedIsWrittenAnew(t *testing.T) {
	inBubble(t, func(t *testing.T, server *fakeEvents, r *Recorder) {
		for i := range maxNotes + 2 {
			publish(t, r, about("a", ""), noted(fmt.Sprint("attempt ", i)))
		}
		server.gone = true
		publish(t, r, about("a", ""), noted("attempt 100"))
		if got := server.created[len(server.created)-1].Note; len(server.created) != maxNotes+2 || got != combined+"attempt 100" {
			t.Errorf("%d Events, the last says %q", len(server.created), got)
		}
	})
}

func TestNotesThatMayNotBeChangedAreCountedAllTheSame(t *testing.T) {
	inBubble(t, func(t *testing.T, server *fakeEvents, r *Recorder) {
		server.strict = true
		for i := range 100 {
			publish(t, r, about("a", ""), noted(fmt.Sprint("attempt ", i)))
		}
		if len(server.created) != maxNotes+1 || len(server.notes) != 0 {
			t.Fatalf("%d Events, changed notes %v", len(server.created), server.notes)
		}
		if n := server.count[server.created[maxNotes].Name]; n != 90 {
			t.Errorf("the rest is counted %d times, want 90", n)
		}
	})
}

func TestALongNoteIsTheSameWhateverIsCutOff(t *testing.T) {
	inBubble(t, func(t *testing.T, server *fakeEvents, r *Recorder) {
		long := strings.Repeat("x", 2*maxNote)
		for _, end := range []string{"a", "b", "a", "b"} {
			publish(t, r, about("a", ""), noted(long+end))
		}
		if len(server.created) != 1 || server.count[server.created[0].Name] != 4 {
			t.Errorf("%d Events, counts %v; want one, as nobody can tell the notes apart", len(server.created), server.count)
		}
	})
}

// Clocks may stand still between two Events about one object.
func TestEventsOfOneMomentHaveNamesOfTheirOwn(t *testing.T) {
	inBubble(t, func(t *testing.T, server *fakeEvents, r *Recorder) {
		names := map[string]bool{}
		for i := range 8 {
			publish(t, r, about("a", ""), noted(fmt.Sprint(i)))
			names[server.created[i].Name] = true
		}
		if len(names) != 8 {
			t.Errorf("%d names of 8 Events", len(names))
		}
	})
}

func TestARecorderRemembersFewNotes(t *testing.T) {
	inBubble(t, func(t *testing.T, server *fakeEvents, r *Recorder) {
		for i := range 1000 {
			publish(t, r, about("a", ""), noted(fmt.Sprint(i)))
		}
		for _, s := range r.kept {
			if len(s.written) > maxNotes {
				t.Errorf("%d Events of a sort are remembered", len(s.written))
			}
		}
	})
}
