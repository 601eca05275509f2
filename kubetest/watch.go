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
	switch {
	case !rq.kind.allows(verbWatch):
		return apierrors.NewMethodNotSupported(rq.resourceName(), verbWatch)
	case rq.media.format == formatYAML:
		return notAcceptableStream(rq.kind)
	}
	revision, err := parseRevision(o.ResourceVersion)
	if err != nil {
		return err
	}
	timeout := time.Duration(float64(minWatch) * (1 + rand.Float64()))
	if o.TimeoutSeconds != nil && *o.TimeoutSeconds > 0 {
		timeout = time.Duration(*o.TimeoutSeconds) * time.Second
	}
	stream := &watchStream{rq: rq, w: w, selection: rq.selection(o), bookmarks: o.AllowWatchBookmarks}
	stream.begin()
	stream.serve(o.SendInitialEvents, revision, timeout)
	return nil
}

// watchStream is the answer to a watch. It is used by the goroutine of its request only.
type watchStream struct {
	rq        *request
	w         http.ResponseWriter
	selection *selection
	bookmarks bool
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

// serve sends what exists, if that is wanted, and changes after it, until the timeout or until
// the client is gone.
func (s *watchStream) serve(sendInitial *bool, revision uint64, timeout time.Duration) {
	initial := revision == 0
	if sendInitial != nil {
		initial = *sendInitial
	}
	switch {
	case initial:
		if err := s.rq.waitFor(revision, min(patience, timeout)); err != nil {
			s.fail(err)
			return
		}
		snap, _ := s.rq.kind.table.snapshot(0, s.selection.namespace, key{}, 0, s.selection.matches)
		if s.sendInitial(snap, sendInitial != nil) != nil {
			return
		}
		revision = snap.revision
	case revision == 0:
		revision = s.rq.server.store.current()
	}
	s.follow(revision, timeout)
}

// sendInitial sends what exists. A streaming list gets a bookmark at the end of it.
func (s *watchStream) sendInitial(snap snapshot, streaming bool) error {
	for _, o := range snap.objects {
		if err := s.send(k8swatch.Added, o); err != nil {
			return err
		}
	}
	if !streaming {
		return nil
	}
	return s.bookmark(snap.revision, true)
}

// follow sends the changes after a revision.
func (s *watchStream) follow(after uint64, timeout time.Duration) {
	deadline := time.Now().Add(timeout)
	end := time.NewTimer(timeout)
	defer end.Stop()
	marks := time.NewTimer(untilBookmark(deadline))
	defer marks.Stop()
	flush := http.NewResponseController(s.w).Flush
	t := s.rq.kind.table
	var buffer []event
	for first := true; ; first = false {
		events, upTo, more, ok := t.changes(after, buffer)
		if !ok {
			// One that has been too slow just ends, and finds out when it comes back.
			if first {
				s.fail(tooOld(after, t.floor()))
			}
			return
		}
		if s.sendChanges(events) != nil || flush() != nil {
			return
		}
		clear(events)
		buffer, after = events, max(after, upTo)
		select {
		case <-more:
		case <-marks.C:
			if s.bookmark(after, false) != nil {
				return
			}
			marks.Reset(untilBookmark(deadline))
		case <-end.C:
			return
		case <-s.rq.ctx.Done():
			return
		case <-s.rq.server.down():
			return
		}
	}
}

// untilBookmark returns how long it is until the next bookmark: a minute, or less shortly
// before the end.
func untilBookmark(deadline time.Time) time.Duration {
	if left := time.Until(deadline) - bookmarkBefore; left > 0 {
		return min(bookmarkEvery, left)
	}
	return bookmarkEvery
}

func tooOld(revision, floor uint64) error {
	return apierrors.NewResourceExpired(fmt.Sprintf("too old resource version: %d (%d)", revision, floor))
}

// fail sends an error as an event.
func (s *watchStream) fail(err error) {
	status := statusOf(err)
	if data, err := encodeBody(&status, statusKind, s.rq.media); err == nil {
		s.write(k8swatch.Error, data)
	}
}

func (s *watchStream) sendChanges(events []event) error {
	for i := range events {
		if err := s.sendChange(&events[i]); err != nil {
			return err
		}
	}
	return nil
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
	return s.write(t, data)
}

// bookmark tells the client a revision.
func (s *watchStream) bookmark(revision uint64, initialEnd bool) error {
	if !s.bookmarks {
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
