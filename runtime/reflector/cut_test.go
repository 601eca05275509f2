package reflector_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/go-kube/kube/internal/apitest"
	"github.com/go-kube/kube/k8s/core"
	"github.com/go-kube/kube/runtime/reflector"
)

// world is an API server with config maps that cuts its watches at random, in every way that
// there is, and forgets its history now and then.
type world struct {
	srv *apitest.Server

	mu       sync.Mutex
	random   *rand.Rand
	version  int
	born     int
	objects  map[string]*cm
	history  []change
	oldest   int           // versions before are forgotten
	changed  chan struct{} // closed at the next change
	pages    map[string][]*cm
	peaceful bool
	cuts     int
}

type change struct {
	version int
	typ     string
	object  *cm
}

func newWorld(seed uint64) *world {
	return &world{
		random: rand.New(rand.NewPCG(seed, 0)), version: 100, oldest: 100,
		objects: map[string]*cm{}, pages: map[string][]*cm{}, changed: make(chan struct{}),
	}
}

// mutate creates, changes or deletes an object.
func (w *world) mutate() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.version++
	name := fmt.Sprint("o", w.random.IntN(30))
	version := strconv.Itoa(w.version)
	old, exists := w.objects[name]
	c := change{w.version, "MODIFIED", object(name, version)}
	switch {
	case !exists:
		w.born++
		c.typ = "ADDED"
		c.object.UID = nth(w.born)
	case w.random.IntN(3) == 0:
		c.typ = "DELETED"
		c.object.UID = old.UID
	default:
		c.object.UID = old.UID
	}
	if c.typ == "DELETED" {
		delete(w.objects, name)
	} else {
		w.objects[name] = c.object
	}
	w.history = append(w.history, c)
	if w.random.IntN(100) == 0 {
		w.oldest, w.history = w.version, nil
	}
	close(w.changed)
	w.changed = make(chan struct{})
}

// chance is true once in n times, unless there is peace.
func (w *world) chance(n int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return !w.peaceful && w.random.IntN(n) == 0
}

func (w *world) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	rw.Header().Set("Content-Type", "application/json")
	switch {
	case w.chance(20):
		w.refuse(rw, 503, "ServiceUnavailable")
	case query.Get("watch") == "":
		w.list(rw, query.Get("continue"))
	default:
		w.watch(rw, r, query.Get("resourceVersion"), query.Get("sendInitialEvents") == "true")
	}
}

func (w *world) refuse(rw http.ResponseWriter, code int, reason string) {
	rw.WriteHeader(code)
	json.NewEncoder(rw).Encode(status(code, reason))
}

func status(code int, reason string) map[string]any {
	return map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "reason": reason}
}

// list answers with a page of 7 objects of the state at its first page.
func (w *world) list(rw http.ResponseWriter, token string) {
	if token != "" && w.chance(20) {
		w.refuse(rw, 410, "Expired")
		return
	}
	w.mu.Lock()
	items, version := w.pages[token], token[:strings.IndexByte(token+":", ':')]
	if token == "" {
		version = strconv.Itoa(w.version)
		for _, o := range w.objects {
			items = append(items, o)
		}
	}
	next := ""
	if len(items) > 7 {
		next = version + ":" + strconv.Itoa(len(items))
		w.pages[next], items = items[7:], items[:7]
	}
	w.mu.Unlock()
	body, _ := json.Marshal(map[string]any{"metadata": map[string]any{"resourceVersion": version, "continue": next}, "items": items})
	if w.chance(20) {
		rw.Write(body[:len(body)/2])
		panic(http.ErrAbortHandler)
	}
	rw.Write(body)
}

// watch answers with what exists, if asked to, and the changes since version.
func (w *world) watch(rw http.ResponseWriter, r *http.Request, version string, initial bool) {
	from, _ := strconv.Atoi(version)
	if w.forgotten(from) && !initial {
		if w.chance(2) {
			w.refuse(rw, 410, "Expired")
		} else {
			w.send(rw, "ERROR", status(410, "Gone"))
		}
		return
	}
	if initial {
		from = w.sendAll(rw)
	}
	for {
		changes, wait, ok := w.since(from)
		if !ok {
			w.send(rw, "ERROR", status(410, "Expired"))
			return
		}
		for _, c := range changes {
			w.cut(rw)
			w.send(rw, c.typ, c.object)
			from = c.version
		}
		if http.NewResponseController(rw).Flush() != nil {
			return
		}
		if w.chance(10) {
			w.cut(rw)
			return
		}
		select {
		case <-wait:
		case <-time.After(time.Minute):
			w.send(rw, "BOOKMARK", object("", strconv.Itoa(from)))
		case <-r.Context().Done():
			return
		}
	}
}

func (w *world) forgotten(version int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return version < w.oldest
}

func (w *world) sendAll(rw http.ResponseWriter) (version int) {
	w.mu.Lock()
	version = w.version
	var objects []*cm
	for _, o := range w.objects {
		objects = append(objects, o)
	}
	w.mu.Unlock()
	for _, o := range objects {
		w.cut(rw)
		w.send(rw, "ADDED", o)
	}
	end := object("", strconv.Itoa(version))
	end.Annotations = map[string]string{"k8s.io/initial-events-end": "true"}
	w.send(rw, "BOOKMARK", end)
	return version
}

func (w *world) send(rw http.ResponseWriter, typ string, object any) {
	json.NewEncoder(rw).Encode(map[string]any{"type": typ, "object": object})
}

// since returns the changes after version, and what is closed at the next one.
func (w *world) since(version int) (changes []change, wait chan struct{}, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if version < w.oldest {
		return nil, nil, false
	}
	for _, c := range w.history {
		if c.version > version {
			changes = append(changes, c)
		}
	}
	return changes, w.changed, true
}

// cut ends the connection at random: between frames or within one, at once or after a while,
// alone or with all others.
func (w *world) cut(rw http.ResponseWriter) {
	if !w.chance(12) {
		return
	}
	w.mu.Lock()
	w.cuts++
	how := w.random.IntN(4)
	w.mu.Unlock()
	switch how {
	case 0:
		rw.Write([]byte(`{"type":"ADDED","object":{"metadata":{"name":"half`))
	case 1:
		w.send(rw, "ERROR", status(500, "InternalError"))
		return
	case 2:
		time.Sleep(time.Second)
	case 3:
		w.srv.Network().Cut()
	}
	http.NewResponseController(rw).Flush()
	panic(http.ErrAbortHandler)
}

func (w *world) cutSoFar() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.cuts
}

// TestCutAThousandTimes cuts a watch a thousand times at random. Nothing is lost: in the end
// the store has what the server has, and so has a mirror that only follows the changes.
func TestCutAThousandTimes(t *testing.T) {
	for name, opts := range map[string]apitest.Options{"HTTP1": {}, "HTTP2": {HTTP2: true}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				seed := rand.Uint64()
				t.Logf("seed %d", seed)
				w := newWorld(seed)
				opts.Handler = w
				w.srv = apitest.Start(t, &opts)
				cutAThousandTimes(t, w)
			})
		})
	}
}

func cutAThousandTimes(t *testing.T, w *world) {
	r := reflector.New(w.srv.Client().All(core.ConfigMaps), nil)
	r.Index(byNamespace)
	mirror := newMirror(r)
	go mirror.follow(t.Context())
	run(t, r)
	for w.cutSoFar() < 1000 {
		for range rand.IntN(5) {
			w.mutate()
		}
		time.Sleep(rand.N(2 * time.Second))
	}
	w.mu.Lock()
	w.peaceful = true
	w.mu.Unlock()
	time.Sleep(5 * time.Minute)
	synctest.Wait()

	want := map[string]string{}
	for name, o := range w.objects {
		want[name] = string(o.UID) + "@" + o.ResourceVersion
	}
	got := map[string]string{}
	for lazy := range r.Store().All() {
		got[lazy.Name()] = string(lazy.UID()) + "@" + lazy.ResourceVersion()
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("store (-server +store):\n%s", diff)
	}
	if diff := cmp.Diff(want, mirror.state()); diff != "" {
		t.Errorf("mirror (-server +mirror):\n%s", diff)
	}
	if n := len(names(byNamespace.Lookup(r.Store(), "default"))); n != len(want) {
		t.Errorf("got %d objects in the index, want %d", n, len(want))
	}
	if err := r.Store().WaitFor(t.Context(), strconv.Itoa(w.version)); err != nil {
		t.Error(err)
	}
	if state := r.State(); state.LastError != nil {
		t.Errorf("got state %+v, want it healthy", state)
	}
	wantBytes(t, r)
}
