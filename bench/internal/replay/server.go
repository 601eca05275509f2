package replay

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Server serves objects. It is an http.Handler, made for one client process: its events go to
// everyone who watches, but their versions count for one watch.
type Server struct {
	formats []*Objects // the same objects, in the formats that there are
	mux     http.ServeMux

	mu       sync.Mutex
	watchers map[*watcher]struct{}
	arrival  chan struct{} // closed when somebody begins to watch, and made anew
	changed  bool          // the last object has DoneLabel
	version  atomic.Int64

	lists, watches, gets, applies atomic.Int64
}

// NewServer returns a server of objects, of which nothing has changed yet. The same objects in
// another format go to clients that prefer that.
func NewServer(objects *Objects, others ...*Objects) *Server {
	s := &Server{formats: append([]*Objects{objects}, others...), watchers: map[*watcher]struct{}{}, arrival: make(chan struct{})}
	s.version.Store(listVersion)
	k := objects.kind
	collection := k.root() + "/" + k.Plural
	single := k.root() + "/namespaces/{namespace}/" + k.Plural + "/{name}"
	s.mux.HandleFunc("GET "+collection, s.collection)
	s.mux.HandleFunc("GET "+single, s.get)
	s.mux.HandleFunc("PATCH "+single, s.apply)
	s.mux.HandleFunc("PATCH "+single+"/status", s.apply)
	s.mux.HandleFunc("POST /bench/events", s.startEvents)
	s.mux.HandleFunc("POST /bench/next", s.next)
	s.mux.HandleFunc("POST /bench/expire", s.expire)
	s.discovery()
	return s
}

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// Requests says what the client has asked for.
func (s *Server) Requests() string {
	return fmt.Sprintf("%d lists, %d watches, %d gets, %d applies", s.lists.Load(), s.watches.Load(), s.gets.Load(), s.applies.Load())
}

// choose returns the objects in the format that the client likes best, or answers that there are
// none.
func (s *Server) choose(w http.ResponseWriter, r *http.Request) *Objects {
	accept := r.Header.Get("Accept")
	for entry := range strings.SplitSeq(accept, ",") {
		mediaType, _, _ := strings.Cut(strings.TrimSpace(entry), ";")
		for _, o := range s.formats {
			if mediaType == "" || mediaType == "*/*" || mediaType == o.format.mediaType(false) {
				return o
			}
		}
	}
	http.Error(w, fmt.Sprintf("this server has nothing that the client accepts: %q", accept), http.StatusNotAcceptable)
	return nil
}

func (s *Server) collection(w http.ResponseWriter, r *http.Request) {
	objects := s.choose(w, r)
	if objects == nil {
		return
	}
	if watch := r.URL.Query().Get("watch"); watch == "1" || watch == "true" {
		s.watches.Add(1)
		s.watch(w, r, objects)
		return
	}
	s.lists.Add(1)
	s.list(w, r, objects)
}

func (s *Server) list(w http.ResponseWriter, r *http.Request, objects *Objects) {
	query := r.URL.Query()
	items := s.items(objects)
	from, err := decodeContinue(query.Get("continue"), len(items))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	to := len(items)
	if limit, _ := strconv.Atoi(query.Get("limit")); limit > 0 {
		to = min(to, from+limit)
	}
	meta := metav1.ListMeta{ResourceVersion: strconv.FormatInt(s.version.Load(), 10)}
	if to < len(items) {
		meta.Continue = base64.RawURLEncoding.EncodeToString([]byte(strconv.Itoa(to)))
	}
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	*buf = objects.list((*buf)[:0], meta, items[from:to])
	w.Header().Set("Content-Type", objects.format.mediaType(false))
	w.Header().Set("Content-Length", strconv.Itoa(len(*buf)))
	w.Write(*buf)
}

// buffers are for bodies, so that the server does not spend its time on collecting garbage.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

func decodeContinue(token string, n int) (int, error) {
	if token == "" {
		return 0, nil
	}
	text, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil {
		return 0, fmt.Errorf("continue token %q: %w", token, err)
	}
	from, err := strconv.Atoi(string(text))
	if err != nil || from < 0 || from > n {
		return 0, fmt.Errorf("continue token %q does not come from this server", token)
	}
	return from, nil
}

// items are the objects as a list has them now.
func (s *Server) items(objects *Objects) [][]byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	items := objects.items
	if s.changed {
		items = append(items[:len(items)-1:len(items)-1], objects.done.encoded)
	}
	return items
}

func (s *Server) get(w http.ResponseWriter, r *http.Request) {
	s.gets.Add(1)
	s.one(w, r)
}

// apply takes whatever it is sent and answers with the object as it is.
func (s *Server) apply(w http.ResponseWriter, r *http.Request) {
	s.applies.Add(1)
	s.one(w, r)
}

func (s *Server) one(w http.ResponseWriter, r *http.Request) {
	objects := s.choose(w, r)
	if objects == nil {
		return
	}
	i, ok := objects.index[r.PathValue("namespace")+"/"+r.PathValue("name")]
	if !ok {
		http.NotFound(w, r)
		return
	}
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	*buf = objects.body((*buf)[:0], objects.items[i])
	w.Header().Set("Content-Type", objects.format.mediaType(false))
	w.Header().Set("Content-Length", strconv.Itoa(len(*buf)))
	w.Write(*buf)
}
