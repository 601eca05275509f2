package apitest

import (
	"net/http"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Watch is a watch that a test drives. What is sent before the request comes is kept for it;
// between two steps the connection stays open and silent. The methods may be called from any
// goroutine and do not wait for the client.
type Watch struct {
	server *Server
	more   chan struct{} // holds a token while steps may be waiting

	mu    sync.Mutex
	steps []step
	open  int
}

// step is one thing to do with a connection; it returns false to end it cleanly.
type step func(w http.ResponseWriter, f format) (goOn bool)

// Send sends an event of type ADDED, MODIFIED or DELETED.
func (w *Watch) Send(eventType string, object any) {
	w.add(func(rw http.ResponseWriter, f format) bool {
		f.writeEvent(rw, eventType, object)
		return true
	})
}

// Bookmark sends a BOOKMARK event.
func (w *Watch) Bookmark(resourceVersion string) { w.bookmark(resourceVersion, nil) }

// InitialEventsEnd sends the BOOKMARK that ends the initial events of a streaming list.
func (w *Watch) InitialEventsEnd(resourceVersion string) {
	w.bookmark(resourceVersion, map[string]string{metav1.InitialEventsAnnotationKey: "true"})
}

func (w *Watch) bookmark(resourceVersion string, annotations map[string]string) {
	w.Send("BOOKMARK", &metav1.PartialObjectMetadata{
		ObjectMeta: metav1.ObjectMeta{ResourceVersion: resourceVersion, Annotations: annotations},
	})
}

// Error sends an ERROR event.
func (w *Watch) Error(code int, reason metav1.StatusReason, message string) {
	w.Send("ERROR", failure(code, reason, message))
}

// Write sends bytes as they are.
func (w *Watch) Write(data []byte) {
	w.add(func(rw http.ResponseWriter, _ format) bool {
		rw.Write(data)
		return true
	})
}

// Close ends the watch as a server does whose timeout is reached.
func (w *Watch) Close() {
	w.add(func(http.ResponseWriter, format) bool { return false })
}

// Abort cuts the watch: with HTTP/1.1 the connection is closed, with HTTP/2 the stream is reset.
func (w *Watch) Abort() {
	w.add(func(http.ResponseWriter, format) bool { panic(http.ErrAbortHandler) })
}

// Open reports whether a client is connected.
func (w *Watch) Open() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.open > 0
}

func (w *Watch) add(s step) {
	w.mu.Lock()
	w.steps = append(w.steps, s)
	w.mu.Unlock()
	w.signal()
}

func (w *Watch) signal() {
	select {
	case w.more <- struct{}{}:
	default:
	}
}

func (w *Watch) next() step {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.steps) == 0 {
		return nil
	}
	s := w.steps[0]
	w.steps = w.steps[1:]
	return s
}

func (w *Watch) connected(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.open += n
}

// serve answers the request.
func (w *Watch) serve(rw http.ResponseWriter, r *http.Request) {
	w.connected(1)
	defer w.connected(-1)
	f := w.server.format(r)
	rw.Header().Set("Content-Type", f.watchType())
	flush := http.NewResponseController(rw).Flush
	for flush() == nil {
		s := w.next()
		if s == nil {
			select {
			case <-w.more:
			case <-r.Context().Done():
				return
			}
			continue
		}
		if !s(rw, f) {
			w.signal() // for the connection that comes next
			return
		}
	}
}
