package events

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"os"
	"sync"
	"time"

	"github.com/go-kube/kube"
	k8sevents "github.com/go-kube/kube/k8s/events"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// window is how long after the last Event another one of the same sort is counted to it. The
	// server forgets Events after an hour by default; client-go uses the same six minutes.
	window = 6 * time.Minute
	// maxKept bounds how many sorts of Events are remembered.
	maxKept = 4096
)

// Recorder publishes Events of one controller. Make one with [NewRecorder]. It is safe for
// concurrent use, starts no goroutine, and remembers at most a few thousand Events of the last
// minutes.
type Recorder struct {
	client     *kube.Client
	controller string
	instance   string

	seed maphash.Seed // of notes

	mu    sync.Mutex
	kept  map[sort]*series
	swept time.Time
	named time.Time // what the last Event was named after
}

// Options changes how a recorder works.
type Options struct {
	// Instance tells this process from others of the controller; empty is the host name, which
	// in a cluster is that of the pod.
	Instance string
}

// Event is what happened.
type Event struct {
	// Warning says that somebody should look at it; other Events are Normal.
	Warning bool
	// Reason is why it happened, in one word for machines: ScalingReplicaSet. At most 128
	// bytes; required.
	Reason string
	// Action is what was done, in one word: Scaling. At most 128 bytes; required.
	Action string
	// Note is a sentence for people. What is beyond 1024 bytes is cut off.
	Note string
	// Related is another object that belongs to it; nil for none.
	Related *corev1.ObjectReference
}

// NewRecorder returns a recorder. controller is the name of the controller, such as
// example.com/webapp. opts, which may be nil, are copied.
func NewRecorder(client *kube.Client, controller string, opts *Options) *Recorder {
	r := &Recorder{client: client, controller: controller, seed: maphash.MakeSeed(), kept: map[sort]*series{}}
	if opts != nil {
		r.instance = opts.Instance
	}
	if r.instance == "" {
		r.instance, _ = os.Hostname()
	}
	if r.instance == "" {
		r.instance = controller
	}
	r.instance = cut(r.instance, maxWord)
	return r
}

// sort is what makes two Events one that happened twice. The version of an object does not
// belong to it.
type sort struct {
	warning            bool
	reason, action     string
	regarding, related corev1.ObjectReference
}

// Publish writes an Event about regarding, into its namespace, or into "default" for a
// cluster-scoped object. The same Event within six minutes of the last is counted at that.
//
// Events of which only the notes differ are Events of their own, up to ten. Further ones become one
// Event, whose note is the latest with "(combined from similar events): " before it, so that notes
// which are never the same fill nothing. An identity that may not patch events of the core
// group leaves that Event with its first note, and counts.
//
// Publish fails as a create or a patch does, and with an error that names the field for an Event
// that the server would not take.
func (r *Recorder) Publish(ctx context.Context, regarding corev1.ObjectReference, e Event) error {
	if err := r.validate(&regarding, &e); err != nil {
		return fmt.Errorf("event about %s %s: %w", regarding.Kind, regarding.Name, err)
	}
	now := time.Now()
	s := r.seriesOf(sortOf(regarding, &e), now)
	s.mu.Lock()
	defer s.mu.Unlock()
	e.Note = cut(e.Note, maxNote)
	note := maphash.String(r.seed, e.Note)
	w := s.writtenFor(note, now)
	if w == &s.combined {
		e.Note = cut(combined+e.Note, maxNote)
	}
	p := publication{r.client, namespaceOf(&regarding), e.Note, note, now}
	if w.count > 0 {
		err := p.repeat(ctx, w)
		if !errors.Is(err, kube.ErrNotFound) { // else the server has dropped it
			return err
		}
	}
	created := r.event(regarding, &e, p.namespace, r.name(now), now)
	if _, err := r.client.Namespaced(k8sevents.Events, p.namespace).Create(ctx, created, nil); err != nil {
		w.count = 0
		return err
	}
	w.name, w.note, w.count, w.last = created.Name, note, 1, now
	return nil
}

func namespaceOf(regarding *corev1.ObjectReference) string {
	if regarding.Namespace == "" {
		return metav1.NamespaceDefault
	}
	return regarding.Namespace
}

func sortOf(regarding corev1.ObjectReference, e *Event) sort {
	s := sort{warning: e.Warning, reason: e.Reason, action: e.Action, regarding: regarding}
	if e.Related != nil {
		s.related = *e.Related
	}
	s.regarding.ResourceVersion, s.related.ResourceVersion = "", ""
	return s
}

// seriesOf returns what is known of a sort, and forgets what is too old to be counted to.
func (r *Recorder) seriesOf(k sort, now time.Time) *series {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now.Sub(r.swept) >= window/2 || len(r.kept) >= maxKept {
		r.sweep(now)
	}
	s := r.kept[k]
	if s == nil {
		s = &series{}
		r.kept[k] = s
	}
	s.used = now
	return s
}

func (r *Recorder) sweep(now time.Time) {
	r.swept = now
	limit := maxKept
	if len(r.kept) >= maxKept {
		limit = maxKept / 2
	}
	for k, s := range r.kept {
		// Of too many, which ones are forgotten does not matter: they become Events of their own.
		if now.Sub(s.used) >= window || len(r.kept) > limit {
			delete(r.kept, k)
		}
	}
}

// name returns the time to name an Event after, which is that of no other: two can come at one
// time, as clocks go.
func (r *Recorder) name(now time.Time) time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !now.After(r.named) {
		now = r.named.Add(time.Nanosecond)
	}
	r.named = now
	return now
}

func (r *Recorder) event(regarding corev1.ObjectReference, e *Event, namespace string, name, now time.Time) *eventsv1.Event {
	kind := corev1.EventTypeNormal
	if e.Warning {
		kind = corev1.EventTypeWarning
	}
	return &eventsv1.Event{
		ObjectMeta:          metav1.ObjectMeta{Namespace: namespace, Name: eventName(regarding.Name, name)},
		EventTime:           metav1.NewMicroTime(now),
		ReportingController: r.controller,
		ReportingInstance:   r.instance,
		Type:                kind,
		Reason:              e.Reason,
		Action:              e.Action,
		Note:                e.Note,
		Regarding:           regarding,
		Related:             e.Related,
	}
}
