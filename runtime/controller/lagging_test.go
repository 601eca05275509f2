package controller

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-kube/kube/internal/apitest"
	"k8s.io/apimachinery/pkg/labels"
)

// laggingServer keeps objects as an API server does, as far as these tests go, and tells its
// watches of them late.
type laggingServer struct {
	lag   func() time.Duration     // before an event is sent
	later map[string]time.Duration // how much more, by collection

	mu      sync.Mutex
	version int
	uids    int
	objects map[string]content // by path
	events  []laggingEvent
	more    chan struct{} // closed at the next event
	refused int           // conflicts
	gets    int           // of objects
	// unreadable has each get be refused.
	unreadable bool
	open       map[string]int // watches, by path
	opened     int            // watches ever
}

type content = map[string]any

type laggingEvent struct {
	collection  string
	before, now content // nil where there is none
	version     int
}

// lagging returns a rig on such a server.
func lagging(t *testing.T, lag func() time.Duration) (*rig, *laggingServer) {
	s := &laggingServer{lag: lag, objects: map[string]content{}, more: make(chan struct{}), open: map[string]int{}}
	r := &rig{t: t, journal: newJournal(), srv: apitest.Start(t, &apitest.Options{Handler: s})}
	r.connect()
	return r, s
}

func inLaggingBubble(t *testing.T, lag time.Duration, f func(*testing.T, *rig, *laggingServer)) {
	synctest.Test(t, func(t *testing.T) {
		r, s := lagging(t, func() time.Duration { return lag })
		f(t, r, s)
	})
}

// add stores an object as if it had always been there.
func (s *laggingServer) add(t *testing.T, collection string, obj *widget) {
	t.Helper()
	data, err := json.Marshal(obj)
	if err != nil {
		t.Fatal(err)
	}
	var c content
	if err := json.Unmarshal(data, &c); err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.store(collection, obj.Namespace, obj.Name, c)
}

// store keeps c as the object of a name, or takes the object out when c is nil.
func (s *laggingServer) store(collection, namespace, name string, c content) {
	path := collection + "/" + namespace + "/" + name
	before := s.objects[path]
	s.version++
	if c == nil {
		delete(s.objects, path)
	} else {
		c["apiVersion"], c["kind"] = "example.com/v1", "Any"
		m := metaOf(c)
		m["namespace"], m["name"], m["resourceVersion"] = namespace, name, strconv.Itoa(s.version)
		if before == nil {
			s.uids++
			m["uid"] = "uid-" + strconv.Itoa(s.uids)
		} else {
			m["uid"] = metaOf(before)["uid"]
		}
		s.objects[path] = c
	}
	s.events = append(s.events, laggingEvent{collection, before, c, s.version})
	close(s.more)
	s.more = make(chan struct{})
}

func metaOf(c content) content {
	m, _ := c["metadata"].(content)
	if m == nil {
		m = content{}
		c["metadata"] = m
	}
	return m
}

func (s *laggingServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Query().Get("watch") == "true" {
		s.watch(w, r)
		return
	}
	if r.URL.Path == widgetsPath || r.URL.Path == gadgetsPath {
		s.answer(w, 400, content{"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 400})
		return
	}
	code, answer := s.unary(r)
	s.answer(w, code, answer)
}

func (s *laggingServer) answer(w http.ResponseWriter, code int, answer content) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	json.NewEncoder(w).Encode(answer)
}

// unary does a write in a namespace.
func (s *laggingServer) unary(r *http.Request) (int, content) {
	s.mu.Lock()
	defer s.mu.Unlock()
	prefix, rest, _ := strings.Cut(r.URL.Path, "/namespaces/")
	parts := strings.Split(rest, "/")
	namespace, collection := parts[0], prefix+"/"+parts[1]
	name := ""
	if len(parts) > 2 {
		name = parts[2]
	}
	var body content
	json.NewDecoder(r.Body).Decode(&body)
	if name == "" && r.Method == http.MethodPost {
		name = metaOf(body)["name"].(string)
	}
	known := s.objects[collection+"/"+namespace+"/"+name]
	switch {
	case len(parts) > 3 && parts[3] == "eviction":
		s.delete(collection, namespace, name)
		return 201, content{"kind": "Status", "apiVersion": "v1", "status": "Success"}
	case r.Method == http.MethodGet && s.unreadable:
		return 403, content{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Forbidden", "code": 403}
	case (r.Method == http.MethodGet || r.Method == http.MethodDelete && name != "") && known == nil:
		return 404, content{
			"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": 404, "details": content{"name": name},
		}
	case r.Method == http.MethodGet:
		s.gets++
		return 200, known
	case r.Method == http.MethodDelete && name == "":
		return 200, s.deleteAll(collection, namespace)
	case r.Method == http.MethodDelete:
		return 200, s.delete(collection, namespace, name)
	case r.Method == http.MethodPatch:
		merged := content{}
		merge(merged, known)
		merge(merged, body)
		body = merged
	case r.Method == http.MethodPut:
		if v, _ := metaOf(body)["resourceVersion"].(string); v != "" && v != metaOf(known)["resourceVersion"] {
			s.refused++
			return 409, content{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Conflict", "code": 409}
		}
	}
	if known != nil && same(known, body) {
		return 200, known
	}
	s.store(collection, namespace, name, body)
	return 200, body
}

// same compares without what the server sets.
func same(a, b content) bool {
	plain := func(c content) string {
		copied := content{}
		merge(copied, c)
		for _, set := range []string{"resourceVersion", "uid", "namespace", "name"} {
			delete(metaOf(copied), set)
		}
		delete(copied, "kind")
		delete(copied, "apiVersion")
		text, _ := json.Marshal(copied)
		return string(text)
	}
	return plain(a) == plain(b)
}

// merge merges b into a as a merge patch does.
func merge(a, b content) {
	for key, value := range b {
		inner, isMap := value.(content)
		switch {
		case value == nil:
			delete(a, key)
		case isMap:
			into, ok := a[key].(content)
			copied := content{}
			if ok {
				merge(copied, into)
			}
			merge(copied, inner)
			a[key] = copied
		default:
			a[key] = value
		}
	}
}

func (s *laggingServer) delete(collection, namespace, name string) content {
	known := s.objects[collection+"/"+namespace+"/"+name]
	uid := metaOf(known)["uid"]
	if metaOf(known)["finalizers"] != nil {
		marked := content{}
		merge(marked, known)
		metaOf(marked)["deletionTimestamp"] = "2026-01-01T00:00:00Z"
		s.store(collection, namespace, name, marked)
		return marked
	}
	s.store(collection, namespace, name, nil)
	return content{"kind": "Status", "apiVersion": "v1", "status": "Success", "details": content{"name": name, "uid": uid}}
}

func (s *laggingServer) deleteAll(collection, namespace string) content {
	var items []any
	for _, path := range slices.Sorted(maps.Keys(s.objects)) {
		if name, ok := strings.CutPrefix(path, collection+"/"+namespace+"/"); ok {
			items = append(items, s.objects[path])
			s.delete(collection, namespace, name)
		}
	}
	return content{"kind": "AnyList", "apiVersion": "example.com/v1", "metadata": content{}, "items": items}
}

// watch sends the objects that are there, and then what happens, late.
func (s *laggingServer) watch(w http.ResponseWriter, r *http.Request) {
	selector, err := labels.Parse(r.URL.Query().Get("labelSelector"))
	if err != nil {
		panic(err)
	}
	w.Header().Set("Content-Type", "application/json")
	send := func(kind string, c content) { json.NewEncoder(w).Encode(content{"type": kind, "object": c}) }
	defer s.closed(r.URL.Path)
	s.mu.Lock()
	s.open[r.URL.Path]++
	s.opened++
	for path, c := range s.objects {
		if strings.HasPrefix(path, r.URL.Path+"/") && selects(selector, c) {
			send("ADDED", c)
		}
	}
	send("BOOKMARK", content{"apiVersion": "example.com/v1", "kind": "Any", "metadata": content{
		"resourceVersion": strconv.Itoa(s.version), "annotations": content{"k8s.io/initial-events-end": "true"},
	}})
	next := len(s.events)
	s.mu.Unlock()
	http.NewResponseController(w).Flush()
	for {
		s.mu.Lock()
		pending, more := s.events[next:], s.more
		next = len(s.events)
		s.mu.Unlock()
		for _, e := range pending {
			if e.collection != r.URL.Path {
				continue
			}
			time.Sleep(s.lag() + s.later[e.collection])
			e.send(selector, send)
			http.NewResponseController(w).Flush()
		}
		select {
		case <-more:
		case <-r.Context().Done():
			return
		}
	}
}

func (s *laggingServer) closed(path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open[path]--
}

// watches returns how many watches are open, and how many were opened ever. One that was closed is
// read on for a moment by net/http, in the hope to use its connection again.
func (s *laggingServer) watches() (open, opened int) {
	time.Sleep(100 * time.Millisecond)
	synctest.Wait()
	return s.counts()
}

func (s *laggingServer) counts() (open, opened int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, n := range s.open {
		open += n
	}
	return open, s.opened
}

func selects(selector labels.Selector, c content) bool {
	set := labels.Set{}
	if values, ok := metaOf(c)["labels"].(content); ok {
		for key, value := range values {
			set[key] = fmt.Sprint(value)
		}
	}
	return selector.Matches(set)
}

func (e laggingEvent) send(selector labels.Selector, send func(string, content)) {
	was, is := e.before != nil && selects(selector, e.before), e.now != nil && selects(selector, e.now)
	switch {
	case is && was:
		send("MODIFIED", e.now)
	case is:
		send("ADDED", e.now)
	case was:
		gone := content{}
		merge(gone, e.before)
		metaOf(gone)["resourceVersion"] = strconv.Itoa(e.version)
		send("DELETED", gone)
	}
}

// total returns the sum of the sizes.
func (s *laggingServer) total() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	sum := 0.0
	for _, c := range s.objects {
		sum += c["spec"].(content)["size"].(float64)
	}
	return int(sum)
}
