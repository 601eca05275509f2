package events

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/k8s/core"
	k8sevents "github.com/go-kube/kube/k8s/events"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// maxNotes is how many Events of one sort may differ by their notes within the window. It is
	// client-go's number, as are the words before the notes of those that are combined.
	maxNotes = 10
	combined = "(combined from similar events): "
)

// series is what was written of one sort.
type series struct {
	used time.Time // guarded by the recorder

	mu       sync.Mutex // held during requests: two of a sort at a time would be two Events
	written  []*written // by note
	combined written    // of the notes beyond
}

// written is an Event that was written.
type written struct {
	name   string
	note   uint64 // hashed: notes are long
	count  int32  // zero for none
	last   time.Time
	frozen bool // its note cannot be changed by this identity
}

// writtenFor returns the Event that one with this note is counted at, or one to be. The caller
// holds mu.
func (s *series) writtenFor(note uint64, now time.Time) *written {
	s.written = slices.DeleteFunc(s.written, func(w *written) bool { return w.count == 0 || w.over(now) })
	for _, w := range s.written {
		if w.note == note {
			return w
		}
	}
	if len(s.written) < maxNotes {
		w := &written{}
		s.written = append(s.written, w)
		return w
	}
	if s.combined.over(now) {
		s.combined = written{}
	}
	return &s.combined
}

// over reports whether it is too late to be counted at.
func (w *written) over(now time.Time) bool { return now.Sub(w.last) >= window }

// publication is one call of Publish.
type publication struct {
	client    *kube.Client
	namespace string
	note      string
	hash      uint64 // of the note that was given
	now       time.Time
}

// repeat counts one more, and sees to it that the note is the latest.
func (p *publication) repeat(ctx context.Context, w *written) error {
	change := map[string]any{"series": eventsv1.EventSeries{Count: w.count + 1, LastObservedTime: metav1.NewMicroTime(p.now)}}
	if err := p.patch(ctx, w, change); err != nil {
		return err
	}
	w.count++
	w.last = p.now
	return nil
}

func (p *publication) patch(ctx context.Context, w *written, change map[string]any) error {
	if p.hash != w.note && !w.frozen {
		// events.k8s.io/v1 lets nobody change a note. The same Event in the core group does.
		change["message"] = p.note
		_, err := p.client.Namespaced(core.Events, p.namespace).Patch(ctx, w.name, kube.MergePatch(change), nil)
		if !errors.Is(err, kube.ErrForbidden) {
			if err == nil {
				w.note = p.hash
			}
			return err
		}
		delete(change, "message")
		w.frozen = true
	}
	_, err := p.client.Namespaced(k8sevents.Events, p.namespace).Patch(ctx, w.name, kube.MergePatch(change), nil)
	return err
}
