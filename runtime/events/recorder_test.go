package events

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/internal/apitest"
	"github.com/go-kube/kube/internal/deptest"
	"github.com/go-kube/kube/internal/wire"
	"github.com/go-kube/kube/k8s/core"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

// fakeEvents keeps Events as the server does, as far as these tests go.
type fakeEvents struct {
	mu      sync.Mutex
	created []*eventsv1.Event
	count   map[string]int32
	notes   map[string]string // that were changed
	gone    bool              // the server has dropped its Events
	strict  bool              // Events of the core group may not be changed
}

func (f *fakeEvents) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	var e eventsv1.Event
	if r.Method == http.MethodPost {
		if e.Unmarshal(protobufOf(r)) != nil {
			w.WriteHeader(400)
			return
		}
		f.created = append(f.created, &e)
		json.NewEncoder(w).Encode(&e)
		return
	}
	if f.gone {
		w.WriteHeader(404)
		json.NewEncoder(w).Encode(&metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: "Failure", Reason: "NotFound", Code: 404})
		return
	}
	if core := strings.HasPrefix(r.URL.Path, "/api/v1/"); core && f.strict {
		w.WriteHeader(403)
		json.NewEncoder(w).Encode(&metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: "Failure", Reason: "Forbidden", Code: 403})
		return
	}
	var change struct {
		Series  *eventsv1.EventSeries
		Message *string
	}
	json.NewDecoder(r.Body).Decode(&change)
	name := r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]
	f.count[name] = change.Series.Count
	if change.Message != nil {
		f.notes[name] = *change.Message
	}
	json.NewEncoder(w).Encode(&e)
}

func inBubble(t *testing.T, f func(t *testing.T, server *fakeEvents, r *Recorder)) {
	synctest.Test(t, func(t *testing.T) {
		server := &fakeEvents{count: map[string]int32{}, notes: map[string]string{}}
		srv := apitest.Start(t, &apitest.Options{Handler: server})
		f(t, server, NewRecorder(srv.Client(), "example.com/test", &Options{Instance: "pod-1"}))
	})
}

func about(name, version string) corev1.ObjectReference {
	ref := About(core.Pods, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: "u"}})
	ref.ResourceVersion = version
	return ref
}

var started = Event{Reason: "Started", Action: "Starting", Note: "it runs"}

func publish(t *testing.T, r *Recorder, regarding corev1.ObjectReference, e Event) {
	t.Helper()
	if err := r.Publish(t.Context(), regarding, e); err != nil {
		t.Fatal(err)
	}
}

func TestAnEventIsWritten(t *testing.T) {
	inBubble(t, func(t *testing.T, server *fakeEvents, r *Recorder) {
		now := metav1.NewMicroTime(time.Now())
		publish(t, r, about("a", ""), Event{Warning: true, Reason: "Failed", Action: "Starting", Note: "no image"})
		got := server.created[0]
		want := &eventsv1.Event{
			ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: fmt.Sprintf("a.%x", now.UnixNano())},
			EventTime:  now, ReportingController: "example.com/test", ReportingInstance: "pod-1",
			Type: "Warning", Reason: "Failed", Action: "Starting", Note: "no image",
			Regarding: corev1.ObjectReference{APIVersion: "v1", Kind: "Pod", Namespace: "ns", Name: "a", UID: "u"},
		}
		got.TypeMeta = metav1.TypeMeta{}
		if !got.EventTime.Equal(&want.EventTime) {
			t.Errorf("EventTime %v, want %v", got.EventTime, want.EventTime)
		}
		got.EventTime = want.EventTime
		got.DeprecatedFirstTimestamp, got.DeprecatedLastTimestamp, got.CreationTimestamp = metav1.Time{}, metav1.Time{}, metav1.Time{}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("event (-want +got):\n%s", diff)
		}
	})
}

func TestTheSameEventIsCounted(t *testing.T) {
	inBubble(t, func(t *testing.T, server *fakeEvents, r *Recorder) {
		for i := range 5 { // of an object that changes all the time
			publish(t, r, about("a", fmt.Sprint(i)), started)
			time.Sleep(window - time.Second)
		}
		if len(server.created) != 1 || server.count[server.created[0].Name] != 5 {
			t.Errorf("%d events, counts %v; want one with a count of 5", len(server.created), server.count)
		}
		time.Sleep(time.Second)
		publish(t, r, about("a", ""), started)
		if len(server.created) != 2 {
			t.Errorf("%d events, want a new one after the window", len(server.created))
		}
	})
}

func TestAnotherEventIsNotCounted(t *testing.T) {
	inBubble(t, func(t *testing.T, server *fakeEvents, r *Recorder) {
		other := about("b", "")
		for i, e := range []Event{
			started,
			{Warning: true, Reason: "Started", Action: "Starting", Note: "it runs"},
			{Reason: "Restarted", Action: "Starting", Note: "it runs"},
			{Reason: "Started", Action: "Restarting", Note: "it runs"},
			{Reason: "Started", Action: "Starting", Note: "it runs", Related: &other},
			{Reason: "Started", Action: "Starting", Note: "another note"},
		} {
			time.Sleep(time.Second)
			if publish(t, r, about("a", ""), e); len(server.created) != i+1 {
				t.Errorf("%d events after %+v, want %d", len(server.created), e, i+1)
			}
		}
		publish(t, r, about("b", ""), started)
		if len(server.created) != 7 || len(server.count) != 0 {
			t.Errorf("%d events, counts %v", len(server.created), server.count)
		}
	})
}

func TestAnEventThatTheServerHasDroppedIsWrittenAnew(t *testing.T) {
	inBubble(t, func(t *testing.T, server *fakeEvents, r *Recorder) {
		publish(t, r, about("a", ""), started)
		server.gone = true
		time.Sleep(time.Second)
		publish(t, r, about("a", ""), started)
		server.gone = false
		publish(t, r, about("a", ""), started)
		if len(server.created) != 2 || server.count[server.created[1].Name] != 2 {
			t.Errorf("%d events, counts %v", len(server.created), server.count)
		}
	})
}

func TestTwoAtATimeAreOneEvent(t *testing.T) {
	inBubble(t, func(t *testing.T, server *fakeEvents, r *Recorder) {
		var wg sync.WaitGroup
		for range 10 {
			wg.Go(func() { r.Publish(t.Context(), about("a", ""), started) })
		}
		wg.Wait()
		if len(server.created) != 1 || server.count[server.created[0].Name] != 10 {
			t.Errorf("%d events, counts %v", len(server.created), server.count)
		}
	})
}

func TestARefusedEventIsNotRemembered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := apitest.Start(t, nil)
		srv.Expect("POST "+"/apis/events.k8s.io/v1/namespaces/default/events").Times(2).Status(403, "Forbidden", "no", 0)
		r := NewRecorder(srv.Client(), "test", nil)
		for range 2 {
			node := About(core.Nodes, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}})
			if err := r.Publish(t.Context(), node, started); !errors.Is(err, kube.ErrForbidden) {
				t.Errorf("error %v", err)
			}
		}
	})
}

func TestTheRecorderForgets(t *testing.T) {
	inBubble(t, func(t *testing.T, server *fakeEvents, r *Recorder) {
		for i := range 3 * maxKept {
			r.seriesOf(sortOf(about(fmt.Sprint(i), ""), &started), time.Now())
			if len(r.kept) > maxKept {
				t.Fatalf("%d are remembered", len(r.kept))
			}
		}
		time.Sleep(window)
		if publish(t, r, about("a", ""), started); len(r.kept) != 1 {
			t.Errorf("%d are remembered, want the last", len(r.kept))
		}
	})
}

func TestBadEventsAreRefused(t *testing.T) {
	inBubble(t, func(t *testing.T, server *fakeEvents, r *Recorder) {
		for want, publish := range map[string]func() error{
			"Event.Reason is empty": func() error { return r.Publish(t.Context(), about("a", ""), Event{Action: "x"}) },
			"Event.Action is empty": func() error { return r.Publish(t.Context(), about("a", ""), Event{Reason: "x"}) },
			"has 129 bytes": func() error {
				return r.Publish(t.Context(), about("a", ""), Event{Reason: strings.Repeat("x", 129), Action: "x"})
			},
			"names no kind": func() error { return r.Publish(t.Context(), corev1.ObjectReference{}, started) },
			`the name "a b" of the controller`: func() error {
				return NewRecorder(nil, "a b", nil).Publish(t.Context(), about("a", ""), started)
			},
		} {
			if err := publish(); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("error %v, want %q in it", err, want)
			}
		}
	})
}

func TestNamesAndNotesFit(t *testing.T) {
	now := time.Now()
	for _, object := range []string{"a", "system:node", "UPPER", "-", ".", "..a", strings.Repeat("x", 253), strings.Repeat("a.", 126) + "a", "ä"} {
		if problems := validation.IsDNS1123Subdomain(eventName(object, now)); len(problems) > 0 {
			t.Errorf("the name of an event about %q: %v", object, problems)
		}
	}
	for _, note := range []string{strings.Repeat("x", 2000), strings.Repeat("ä", 1000)} {
		if got := cut(note, maxNote); len(got) > maxNote || len(got) < maxNote-4 || !strings.HasSuffix(got, "…") || strings.Contains(got, "\uFFFD") {
			t.Errorf("a note of %d bytes becomes %d: %q", len(note), len(got), got[len(got)-10:])
		}
	}
	if got := cut("short", maxNote); got != "short" {
		t.Errorf("cut to %q", got)
	}
}

func TestImports(t *testing.T) {
	deptest.Allow(t,
		"github.com/go-kube/kube",
		"github.com/go-kube/kube/resource",
		"github.com/go-kube/kube/k8s/core",
		"github.com/go-kube/kube/k8s/events",
		"github.com/go-kube/kube/internal/wire",
		"github.com/go-kube/kube/internal/codec",
		"github.com/go-kube/kube/kubeconfig",
		"k8s.io/api/...",
		"sigs.k8s.io/yaml/...",
		"go.yaml.in/yaml/v3/...",
		"golang.org/x/sync/...",
	)
}

// protobufOf returns the message in the body of r.
func protobufOf(r *http.Request) []byte {
	body := make([]byte, r.ContentLength)
	for n := 0; n < len(body); {
		read, err := r.Body.Read(body[n:])
		if n += read; err != nil {
			break
		}
	}
	_, _, raw, _ := wire.Envelope(body)
	return raw
}
