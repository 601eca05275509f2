package replay

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"
)

// frameBuffer is how much is gathered before it is written: few system calls on this side, as
// the API server has with many events at a time.
const frameBuffer = 64 << 10

// watcher is one open watch.
type watcher struct {
	commands chan command // what it has to send
	next     chan struct{}
}

// command is what a watch is told to do.
type command struct {
	expire        bool
	count, window int
	rate          float64 // events a second; 0 is as fast as they are read
}

// watch answers a watch until its client goes or it expires.
func (s *Server) watch(w http.ResponseWriter, r *http.Request, objects *Objects) {
	me := &watcher{commands: make(chan command), next: make(chan struct{}, 1)}
	out := &stream{objects: objects, out: bufio.NewWriterSize(w, frameBuffer), http: http.NewResponseController(w)}
	w.Header().Set("Content-Type", objects.format.mediaType(true))
	items := s.items(objects)
	s.join(me)
	defer s.leave(me)
	if r.URL.Query().Get("sendInitialEvents") == "true" {
		for _, item := range items {
			out.send("ADDED", item)
		}
		out.send("BOOKMARK", objects.bookmark(s.version.Load(), true))
	}
	for out.flush() == nil {
		select {
		case <-r.Context().Done():
			return
		case c := <-me.commands:
			if c.expire {
				out.sendError(objects.expired())
				out.flush()
				return
			}
			s.sendEvents(r.Context(), me, out, c)
		}
	}
}

func (s *Server) join(me *watcher) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watchers[me] = struct{}{}
	close(s.arrival)
	s.arrival = make(chan struct{})
}

func (s *Server) leave(me *watcher) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.watchers, me)
}

// Watched reports whether anybody watches.
func (s *Server) Watched() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.watchers) > 0
}

// watching returns everyone who watches, and waits until there is somebody.
func (s *Server) watching(ctx context.Context) []*watcher {
	for {
		s.mu.Lock()
		arrival, all := s.arrival, slices.Collect(maps.Keys(s.watchers))
		s.mu.Unlock()
		if len(all) > 0 {
			return all
		}
		select {
		case <-ctx.Done():
			return nil
		case <-arrival:
		}
	}
}

// sendEvents sends MODIFIED events, and the object with DoneLabel after them.
func (s *Server) sendEvents(ctx context.Context, me *watcher, out *stream, c command) {
	begin := time.Now()
	for k := range c.count - 1 {
		if c.rate > 0 {
			if !pause(ctx, out, begin.Add(time.Duration(float64(k)/c.rate*float64(time.Second)))) {
				return
			}
		}
		out.sendTemplate(out.objects.events[k%len(out.objects.events)], s.version.Add(1))
		if c.window > 0 && k%c.window == c.window-1 {
			out.flush()
			select {
			case <-ctx.Done():
				return
			case <-me.next:
			}
		}
	}
	out.sendTemplate(out.objects.done, s.version.Add(1))
	s.mu.Lock()
	s.changed = true
	s.mu.Unlock()
}

// pause sends what is gathered and waits until at; false when the client has gone meanwhile.
func pause(ctx context.Context, out *stream, at time.Time) bool {
	left := time.Until(at)
	if left <= 0 {
		return true
	}
	if out.flush() != nil {
		return false
	}
	timer := time.NewTimer(left)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// stream writes frames. After the first error nothing is written any more; flush returns it.
type stream struct {
	objects *Objects
	out     *bufio.Writer
	http    *http.ResponseController
	frame   []byte
}

func (s *stream) send(kind string, object []byte) {
	s.frame, _ = s.objects.event(s.frame[:0], kind, s.objects.typeMeta, object)
	s.out.Write(s.frame)
}

func (s *stream) sendError(status []byte) {
	s.frame, _ = s.objects.event(s.frame[:0], "ERROR", statusMeta, status)
	s.out.Write(s.frame)
}

func (s *stream) sendTemplate(t template, version int64) {
	var at int
	s.frame, at = s.objects.event(s.frame[:0], "MODIFIED", s.objects.typeMeta, t.encoded)
	t.stamp(s.frame[at:], version, time.Now().UnixNano())
	s.out.Write(s.frame)
}

func (s *stream) flush() error {
	if err := s.out.Flush(); err != nil {
		return err
	}
	return s.http.Flush()
}

// tell gives a command to everyone who watches; while there is nobody, it waits.
func (s *Server) tell(r *http.Request, c command) {
	for _, watcher := range s.watching(r.Context()) {
		select {
		case watcher.commands <- c:
		case <-r.Context().Done():
			return
		}
	}
}

func (s *Server) startEvents(w http.ResponseWriter, r *http.Request) {
	var c command
	var err error
	for name, into := range map[string]*int{"count": &c.count, "window": &c.window} {
		if *into, err = number(r, name); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
	}
	rate, err := number(r, "rate")
	if err != nil || c.count < 1 {
		http.Error(w, fmt.Sprintf("count %d is below 1, or rate is no number: %v", c.count, err), http.StatusBadRequest)
		return
	}
	c.rate = float64(rate)
	s.tell(r, c)
}

// number reads a number from the query; what is not there is 0.
func number(r *http.Request, name string) (int, error) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("%s=%q is no number of at least 0", name, text)
	}
	return n, nil
}

func (s *Server) next(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for watcher := range s.watchers {
		select {
		case watcher.next <- struct{}{}:
		default:
		}
	}
	io.WriteString(w, "next")
}

// expire ends the watches, and changes the last object of the list.
func (s *Server) expire(_ http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.changed = true
	s.mu.Unlock()
	s.version.Add(1)
	s.tell(r, command{expire: true})
}
