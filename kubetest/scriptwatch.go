package kubetest

import (
	"net/http"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	k8swatch "k8s.io/apimachinery/pkg/watch"
)

// ScriptWatch is a watch of a [Script], which the test drives. What is sent before the request
// comes is kept for it; between two steps the connection stays open and silent. The methods
// do not wait for the client.
type ScriptWatch struct {
	script *Script
	more   chan struct{} // holds a token while steps may be waiting

	mu    sync.Mutex
	steps []watchStep
	open  int
}

// watchStep is one thing to do with a connection; it returns false to end it cleanly.
type watchStep func(w http.ResponseWriter, r *http.Request) (goOn bool)

// Added sends an ADDED event.
func (w *ScriptWatch) Added(obj runtime.Object) { w.send(k8swatch.Added, obj) }

// Modified sends a MODIFIED event.
func (w *ScriptWatch) Modified(obj runtime.Object) { w.send(k8swatch.Modified, obj) }

// Deleted sends a DELETED event.
func (w *ScriptWatch) Deleted(obj runtime.Object) { w.send(k8swatch.Deleted, obj) }

// Bookmark sends a BOOKMARK event with a resource version.
func (w *ScriptWatch) Bookmark(resourceVersion string) { w.bookmark(resourceVersion, nil) }

// InitialEventsEnd sends the BOOKMARK event that ends the initial events of a streaming list.
func (w *ScriptWatch) InitialEventsEnd(resourceVersion string) {
	w.bookmark(resourceVersion, map[string]string{metav1.InitialEventsAnnotationKey: "true"})
}

func (w *ScriptWatch) bookmark(resourceVersion string, annotations map[string]string) {
	w.send(k8swatch.Bookmark, &metav1.PartialObjectMetadata{
		TypeMeta:   metav1.TypeMeta{APIVersion: metaV1.String(), Kind: asMetadata},
		ObjectMeta: metav1.ObjectMeta{ResourceVersion: resourceVersion, Annotations: annotations},
	})
}

// Error sends an ERROR event.
func (w *ScriptWatch) Error(code int, reason metav1.StatusReason, message string) {
	w.send(k8swatch.Error, &metav1.Status{Status: metav1.StatusFailure, Code: int32(code), Reason: reason, Message: message})
}

// Write sends bytes as they are.
func (w *ScriptWatch) Write(data []byte) {
	w.add(func(rw http.ResponseWriter, _ *http.Request) bool {
		rw.Write(data)
		return true
	})
}

// End ends the watch as a server does whose timeout is reached. What is sent after it is for
// the next request that meets the expectation.
func (w *ScriptWatch) End() {
	w.add(func(http.ResponseWriter, *http.Request) bool { return false })
}

// Cut cuts the connection.
func (w *ScriptWatch) Cut() {
	w.add(func(http.ResponseWriter, *http.Request) bool { panic(http.ErrAbortHandler) })
}

// Open reports whether a client is connected.
func (w *ScriptWatch) Open() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.open > 0
}

func (w *ScriptWatch) send(t k8swatch.EventType, obj runtime.Object) {
	obj = obj.DeepCopyObject()
	w.add(func(rw http.ResponseWriter, r *http.Request) bool {
		data, m, err := encodeFor(r, obj)
		if err != nil {
			w.script.t.Errorf("kubetest: encode an event: %v", err)
			return false
		}
		// An object without a protobuf form cannot be sent to a client that was promised it.
		if m.format != streamFormat(r) {
			w.script.t.Errorf("kubetest: a %T has no form in %s, in which the watch was begun", obj, streamFormat(r))
			return false
		}
		writeFrame(rw, m.format, t, data)
		return true
	})
}

// streamFormat is the encoding of the frames that a client gets.
func streamFormat(r *http.Request) format {
	m, err := negotiate(r, nil)
	if err != nil || m.format == formatYAML {
		return formatJSON
	}
	return m.format
}

func (w *ScriptWatch) add(s watchStep) {
	w.mu.Lock()
	w.steps = append(w.steps, s)
	w.mu.Unlock()
	w.signal()
}

func (w *ScriptWatch) signal() {
	select {
	case w.more <- struct{}{}:
	default:
	}
}

func (w *ScriptWatch) next() watchStep {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.steps) == 0 {
		return nil
	}
	s := w.steps[0]
	w.steps = w.steps[1:]
	return s
}

func (w *ScriptWatch) connected(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.open += n
}

// serve answers the request.
func (w *ScriptWatch) serve(rw http.ResponseWriter, r *http.Request) {
	w.connected(1)
	defer w.connected(-1)
	contentType := streamFormat(r).String()
	if streamFormat(r) != formatJSON {
		contentType += ";stream=watch"
	}
	rw.Header().Set("Content-Type", contentType)
	flush := http.NewResponseController(rw).Flush
	for flush() == nil {
		s := w.next()
		if s == nil {
			select {
			case <-w.more:
			case <-r.Context().Done():
				return
			case <-w.script.down:
				return
			}
			continue
		}
		if !s(rw, r) {
			w.signal() // for the connection that comes next
			return
		}
	}
}
