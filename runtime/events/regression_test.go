package events

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"
)

// 25 of a list of mistakes that kube-rs made (runtime/testdata/lessons.txt has all of them): the
// version of an object told its Events apart, an Event that the server had dropped was an error,
// two at a time were two Events, and the names of Events could be too long.
func TestRegression25EventsAreCountedWhateverTheVersion(t *testing.T) {
	inBubble(t, func(t *testing.T, server *fakeEvents, r *Recorder) {
		for i := range 20 {
			publish(t, r, about("a", fmt.Sprint("version ", i)), started)
			time.Sleep(time.Minute)
		}
		if len(server.created) != 1 || server.count[server.created[0].Name] != 20 {
			t.Errorf("%d Events, counts %v; want one with a count of 20", len(server.created), server.count)
		}
	})
}

// Of notes that differ, kube-rs shows the first.
func TestRegression25TheLatestNoteIsThere(t *testing.T) {
	inBubble(t, func(t *testing.T, server *fakeEvents, r *Recorder) {
		for i := range 50 {
			note := fmt.Sprint("note ", i)
			publish(t, r, about("a", ""), Event{Reason: "Started", Action: "Starting", Note: note})
			last := server.created[len(server.created)-1]
			if now, ok := server.notes[last.Name]; ok {
				last.Note = now
			}
			if !strings.HasSuffix(last.Note, note) {
				t.Errorf("the last Event says %q, want %q", last.Note, note)
			}
		}
	})
}

func TestRegression25ADroppedEventIsNoError(t *testing.T) {
	inBubble(t, func(t *testing.T, server *fakeEvents, r *Recorder) {
		publish(t, r, about("a", ""), started)
		server.gone = true
		time.Sleep(time.Second)
		publish(t, r, about("a", ""), started)
		if len(server.created) != 2 {
			t.Errorf("%d Events, want a second one", len(server.created))
		}
	})
}

func TestRegression25TwoFirstOnesAreOneEvent(t *testing.T) {
	inBubble(t, func(t *testing.T, server *fakeEvents, r *Recorder) {
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() {
				if err := r.Publish(t.Context(), about("a", ""), started); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if len(server.created) != 1 {
			t.Errorf("%d Events, want one", len(server.created))
		}
	})
}

func TestRegression25NamesAreBounded(t *testing.T) {
	inBubble(t, func(t *testing.T, server *fakeEvents, r *Recorder) {
		publish(t, r, about(strings.Repeat("long-", 50)+"abc", ""), started)
		if problems := validation.IsDNS1123Subdomain(server.created[0].Name); len(problems) > 0 {
			t.Errorf("name %q: %s", server.created[0].Name, problems)
		}
	})
}
