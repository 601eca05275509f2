package kubetest

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	k8swatch "k8s.io/apimachinery/pkg/watch"
)

const (
	// minWatch is the least time after which a watch without timeoutSeconds ends; the most is twice that.
	minWatch = 30 * time.Minute
	// bookmarkEvery is how often a bookmark is sent, and bookmarkBefore how long before the end.
	bookmarkEvery  = time.Minute
	bookmarkBefore = 2 * time.Second
)

// watchPath answers GET /…/watch/…, the way to watch before there was ?watch=true.
func watchPath(w http.ResponseWriter, rq *request) error {
	o, err := rq.listOptions()
	if err != nil {
		return err
	}
	return rq.watch(w, o)
}

// watch answers with changes until the timeout.
func (rq *request) watch(w http.ResponseWriter, o *internalversion.ListOptions) error {
	stream := &watchStream{rq: rq, w: w, selection: rq.selection(o), bookmarks: o.AllowWatchBookmarks}
	start, err := rq.watchFrom(o, stream)
	if err != nil {
		return err
	}
	timeout := time.Duration(float64(minWatch) * (1 + rand.Float64()))
	if o.TimeoutSeconds != nil && *o.TimeoutSeconds > 0 {
		timeout = time.Duration(*o.TimeoutSeconds) * time.Second
	}
	stream.begin()
	return stream.run(start, timeout)
}

// watchFrom returns the revision after which changes are sent. It puts the initial events
// into the stream.
func (rq *request) watchFrom(o *internalversion.ListOptions, stream *watchStream) (uint64, error) {
	revision, err := parseRevision(o.ResourceVersion)
	if err != nil {
		return 0, err
	}
	initial := revision == 0
	if o.SendInitialEvents != nil {
		initial = *o.SendInitialEvents
	}
	switch {
	case initial:
		if err := rq.waitFor(revision); err != nil {
			return 0, err
		}
		snap, _ := rq.kind.table.snapshot(0, stream.selection.namespace, key{}, 0, stream.selection.matches)
		stream.initial = snap.objects
		stream.endMark = o.SendInitialEvents != nil && o.AllowWatchBookmarks
		return snap.revision, nil
	case revision == 0:
		return rq.server.store.current(), nil
	}
	return revision, nil
}

// watchStream is the answer to a watch. It is used by the goroutine of its request only.
type watchStream struct {
	rq        *request
	w         http.ResponseWriter
	selection *selection
	bookmarks bool
	initial   []*object
	endMark   bool

	sent   uint64 // the client knows everything up to this revision
	marked uint64 // the revision of the last bookmark or event
}

func (s *watchStream) begin() {
	h := s.w.Header()
	contentType := s.rq.media.format.String()
	if s.rq.media.format != formatJSON {
		contentType += ";stream=watch"
	}
	h.Set("Content-Type", contentType)
	s.rq.writeWarnings(h)
	s.w.WriteHeader(http.StatusOK)
}

// run sends changes after a revision, until the timeout or until the client is gone.
func (s *watchStream) run(after uint64, timeout time.Duration) error {
	end := time.NewTimer(timeout)
	defer end.Stop()
	marks := time.NewTimer(min(bookmarkEvery, max(timeout-bookmarkBefore, time.Second)))
	defer marks.Stop()
	deadline := time.Now().Add(timeout)
	if err := s.sendInitial(after); err != nil {
		return nil // the client is gone
	}
	flush := http.NewResponseController(s.w).Flush
	var buffer []event
	s.sent = after
	for first := true; ; first = false {
		events, upTo, more, ok := s.rq.kind.table.changes(s.sent, buffer)
		if !ok {
			s.expired(first)
			return nil
		}
		for i := range events {
			if err := s.sendChange(&events[i]); err != nil {
				return nil
			}
		}
		clear(events)
		buffer, s.sent = events, max(s.sent, upTo)
		if flush() != nil {
			return nil
		}
		select {
		case <-more:
		case <-marks.C:
			if err := s.bookmark(s.sent, false); err != nil {
				return nil
			}
			marks.Reset(min(bookmarkEvery, max(time.Until(deadline)-bookmarkBefore, time.Second)))
		case <-end.C:
			return nil
		case <-s.rq.ctx.Done():
			return nil
		}
	}
}

// expired ends a watch that starts before what is remembered with an error; one that was too
// slow just ends, and finds out when it comes back.
func (s *watchStream) expired(first bool) {
	if !first {
		return
	}
	err := apierrors.NewResourceExpired(fmt.Sprintf("too old resource version: %d (%d)", s.sent, s.rq.kind.table.floor()))
	status := statusOf(err)
	data, encodeErr := encodeBody(&status, statusKind, s.rq.media)
	if encodeErr == nil {
		s.write(k8swatch.Error, data)
	}
}

func (s *watchStream) sendInitial(revision uint64) error {
	for _, o := range s.initial {
		if err := s.send(k8swatch.Added, o); err != nil {
			return err
		}
	}
	s.initial = nil
	if !s.endMark {
		return nil
	}
	return s.bookmark(revision, true)
}

// sendChange sends ev as it looks through the selection: an object that comes to be selected
// is added, one that ceases to be is deleted.
func (s *watchStream) sendChange(ev *event) error {
	before, now := s.selection.matches(ev.old), !ev.deleted && s.selection.matches(ev.object)
	switch {
	case now && before:
		return s.send(k8swatch.Modified, ev.object)
	case now:
		return s.send(k8swatch.Added, ev.object)
	case before && ev.deleted:
		return s.send(k8swatch.Deleted, ev.object)
	case before:
		return s.send(k8swatch.Deleted, newObject(ev.old.copy(), ev.revision))
	}
	return nil
}

func (s *watchStream) send(t k8swatch.EventType, o *object) error {
	data, err := s.rq.kind.document(o, s.rq.media)
	if err != nil {
		return err
	}
	s.marked = o.revision
	return s.write(t, data)
}

// bookmark tells the client a revision.
func (s *watchStream) bookmark(revision uint64, initialEnd bool) error {
	if !s.bookmarks || revision == s.marked && !initialEnd {
		return nil
	}
	obj := s.rq.kind.new()
	m := accessor(obj)
	m.SetResourceVersion(formatRevision(revision))
	if initialEnd {
		m.SetAnnotations(map[string]string{metav1.InitialEventsAnnotationKey: "true"})
	}
	if s.rq.kind.custom {
		setTypeMeta(obj, s.rq.kind.GroupVersionKind())
	}
	data, err := s.rq.kind.document(&object{content: obj, meta: m}, s.rq.media)
	if err != nil {
		return err
	}
	s.marked = revision
	return s.write(k8swatch.Bookmark, data)
}

// write sends one frame.
func (s *watchStream) write(t k8swatch.EventType, document []byte) error {
	if s.rq.media.format == formatProtobuf {
		ev := metav1.WatchEvent{Type: string(t), Object: runtime.RawExtension{Raw: document}}
		frame := make([]byte, 4+ev.Size())
		binary.BigEndian.PutUint32(frame, uint32(len(frame)-4))
		if _, err := ev.MarshalTo(frame[4:]); err != nil {
			return err
		}
		_, err := s.w.Write(frame)
		return err
	}
	frame := make([]byte, 0, len(document)+32)
	frame = fmt.Appendf(frame, `{"type":"%s","object":`, t)
	frame = append(frame, document[:len(document)-1]...) // without its newline
	_, err := s.w.Write(append(frame, "}\n"...))
	return err
}
