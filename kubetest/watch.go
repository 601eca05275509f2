package kubetest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"sync"
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
	stream := &watchStream{
		rq: rq, w: w, selection: rq.selection(o), bookmarks: o.AllowWatchBookmarks, cutting: make(chan struct{}),
	}
	rq.server.faults.open(stream)
	defer rq.server.faults.close(stream)
	stream.begin()
	if err := stream.serve(o.SendInitialEvents, revision, timeout); errors.Is(err, http.ErrAbortHandler) {
		panic(http.ErrAbortHandler)
	}
	return nil
}

// watchStream is the answer to a watch. It is used by the goroutine of its request only.
type watchStream struct {
	rq        *request
	w         http.ResponseWriter
	selection *selection
	bookmarks bool
	headed    bool // of a table: the columns were sent

	cutting   chan struct{} // closed to have the connection cut
	cutOnce   sync.Once
	delivered int            // how many events were sent
	held      []func() error // events to send after the next one
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
//
// It returns [http.ErrAbortHandler] to have the connection cut; any other error says that the
// client is gone.
func (s *watchStream) serve(sendInitial *bool, revision uint64, timeout time.Duration) error {
	initial := revision == 0
	if sendInitial != nil {
		initial = *sendInitial
	}
	switch {
	case initial:
		if err := s.rq.waitFor(revision, min(patience, timeout)); err != nil {
			s.fail(err)
			return nil
		}
		snap := s.rq.now(revision, s.selection.namespace, s.selection.matches)
		if err := s.sendInitial(snap, sendInitial != nil); err != nil {
			return err
		}
		revision = snap.revision
	case revision == 0:
		revision = s.rq.server.store.current() - s.rq.lag
	}
	return s.follow(revision, timeout)
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
func (s *watchStream) follow(after uint64, timeout time.Duration) error {
	deadline := time.Now().Add(timeout)
	end := time.NewTimer(timeout)
	defer end.Stop()
	marks := time.NewTimer(untilBookmark(deadline))
	defer marks.Stop()
	t := s.rq.kind.table
	ended := t.ended()
	if floor := t.floor(); after < floor {
		s.fail(tooOld(after, floor))
		return nil
	}
	var buffer []event
	for marking := false; ; {
		events, upTo, more, ok := t.changes(after, s.rq.lag, buffer)
		if !ok {
			return nil // it has been too slow, and finds out when it comes back
		}
		if err := s.sendChanges(events); err != nil {
			return err
		}
		clear(events)
		buffer, after = events, max(after, upTo)
		if marking {
			if err := s.bookmark(after, false); err != nil {
				return err
			}
			marks.Reset(untilBookmark(deadline))
			marking = false
		}
		if err := s.flush(); err != nil {
			return err
		}
		select {
		case <-more:
		case <-marks.C:
			marking = true // at the newest revision, which other kinds may have brought
		case <-end.C:
			return nil
		case <-s.cutting:
			return http.ErrAbortHandler
		case <-s.rq.server.down():
			return http.ErrAbortHandler
		case <-s.rq.ctx.Done():
			return s.rq.ctx.Err()
		case <-ended:
			return nil
		}
	}
}

// flush brings what was written to the client.
func (s *watchStream) flush() error { return http.NewResponseController(s.w).Flush() }

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
	data, err := s.document(o)
	if err != nil {
		return err
	}
	return s.deliver(func() error { return s.write(t, data) })
}

// document returns the object of an event.
func (s *watchStream) document(o *object) ([]byte, error) {
	if s.rq.media.as != asTable {
		return s.rq.kind.document(o, s.rq.media)
	}
	first := !s.headed
	s.headed = true
	return s.rq.tableDocument(o, first)
}

// bookmark tells the client a revision.
func (s *watchStream) bookmark(revision uint64, initialEnd bool) error {
	if !s.bookmarks {
		return nil
	}
	obj := s.rq.kind.new()
	if !s.rq.kind.custom {
		obj = s.rq.kind.newStored() // as all objects are before they are encoded
	}
	m := accessor(obj)
	m.SetResourceVersion(formatRevision(revision))
	if initialEnd {
		m.SetAnnotations(map[string]string{metav1.InitialEventsAnnotationKey: "true"})
	}
	if s.rq.kind.custom {
		setTypeMeta(obj, s.rq.kind.GroupVersionKind())
	}
	data, err := s.document(&object{content: obj, meta: m})
	if err != nil {
		return err
	}
	return s.write(k8swatch.Bookmark, data)
}

// write sends one frame.
func (s *watchStream) write(t k8swatch.EventType, document []byte) error {
	return writeFrame(s.w, s.rq.media.format, t, document)
}

// writeFrame writes an event in the form that watches have.
func writeFrame(w io.Writer, f format, t k8swatch.EventType, document []byte) error {
	if f == formatProtobuf {
		ev := metav1.WatchEvent{Type: string(t), Object: runtime.RawExtension{Raw: document}}
		frame := make([]byte, 4+ev.Size())
		binary.BigEndian.PutUint32(frame, uint32(len(frame)-4))
		if _, err := ev.MarshalTo(frame[4:]); err != nil {
			return err
		}
		_, err := w.Write(frame)
		return err
	}
	frame := make([]byte, 0, len(document)+32)
	frame = fmt.Appendf(frame, `{"type":"%s","object":`, t)
	frame = append(frame, document[:len(document)-1]...) // without its newline
	_, err := w.Write(append(frame, "}\n"...))
	return err
}
