// Package events_test writes Events to a real API server and kubetest, which both check what may be
// written and what may be changed.
package events_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/k8s/core"
	k8sevents "github.com/go-kube/kube/k8s/events"
	"github.com/go-kube/kube/runtime/events"
	"github.com/go-kube/kube/test/apiserver"
	"github.com/go-kube/kube/test/servers"
)

func TestMain(m *testing.M) { servers.Main(m) }

// world is a namespace of a server, and a recorder.
type world struct {
	t         *testing.T
	client    *kube.Client
	namespace string
	recorder  *events.Recorder
}

func newWorld(t *testing.T) *world {
	t.Helper()
	server := servers.Shared(t)
	client := apiserver.NewClient(t, server)
	return &world{t, client, server.NewNamespace(t), events.NewRecorder(client, "example.com/test", &events.Options{Instance: "test-0"})}
}

// object makes something to tell about.
func (w *world) object(name string) *corev1.ConfigMap {
	w.t.Helper()
	obj, err := w.client.Namespaced(core.ConfigMaps, w.namespace).Create(w.t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	return obj
}

func (w *world) publish(about corev1.ObjectReference, note string) {
	w.t.Helper()
	if err := w.recorder.Publish(w.t.Context(), about, events.Event{Reason: "Tested", Action: "Testing", Note: note}); err != nil {
		w.t.Fatal(err)
	}
}

// of returns the Events about an object, by name and so by age.
func (w *world) of(namespace string, about corev1.ObjectReference) []*eventsv1.Event {
	w.t.Helper()
	list, err := w.client.Namespaced(k8sevents.Events, namespace).List(w.t.Context(), nil)
	if err != nil {
		w.t.Fatal(err)
	}
	var found []*eventsv1.Event
	for _, e := range list.Items {
		if e.Regarding.UID == about.UID && e.Regarding.Kind == about.Kind {
			found = append(found, e)
		}
	}
	return found
}

func TestRepetitionsAreCounted(t *testing.T) {
	w := newWorld(t)
	about := events.About(core.ConfigMaps, w.object("a"))
	for range 5 {
		w.publish(about, "again")
	}
	got := w.of(w.namespace, about)
	if len(got) != 1 || got[0].Series == nil || got[0].Series.Count != 5 || got[0].Note != "again" {
		t.Fatalf("Events %+v, want one with a count of 5", got)
	}
	if e := got[0]; e.ReportingController != "example.com/test" || e.ReportingInstance != "test-0" || e.Type != "Normal" || e.Regarding.Name != "a" {
		t.Errorf("Event %+v", e)
	}
	if e := got[0]; time.Since(e.Series.LastObservedTime.Time) > 10*time.Minute || e.Series.LastObservedTime.Before(&e.EventTime) {
		t.Errorf("times %s and %s", e.EventTime, e.Series.LastObservedTime)
	}
}

func TestNotesBeyondTheTenthAreOneEvent(t *testing.T) {
	w := newWorld(t)
	about := events.About(core.ConfigMaps, w.object("a"))
	for i := range 15 {
		w.publish(about, fmt.Sprint("attempt ", i))
	}
	got := w.of(w.namespace, about)
	if len(got) != 11 {
		t.Fatalf("%d Events, want 11", len(got))
	}
	last := got[10]
	if last.Note != "(combined from similar events): attempt 14" || last.Series == nil || last.Series.Count != 5 {
		t.Errorf("the last Event says %q with %+v", last.Note, last.Series)
	}
}

func TestAnEventThatIsGoneIsWrittenAnew(t *testing.T) {
	w := newWorld(t)
	about := events.About(core.ConfigMaps, w.object("a"))
	w.publish(about, "again")
	if err := w.client.Namespaced(k8sevents.Events, w.namespace).DeleteCollection(t.Context(), nil, nil); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		w.publish(about, "again")
	}
	if got := w.of(w.namespace, about); len(got) != 1 || got[0].Series == nil || got[0].Series.Count != 2 {
		t.Errorf("Events %+v, want one with a count of 2", got)
	}
}

func TestEventsOfClusterScopedObjectsAreInDefault(t *testing.T) {
	w := newWorld(t)
	ns, err := w.client.All(core.Namespaces).Get(t.Context(), w.namespace)
	if err != nil {
		t.Fatal(err)
	}
	about := events.About(core.Namespaces, ns)
	w.publish(about, "hello")
	if got := w.of(metav1.NamespaceDefault, about); len(got) != 1 || got[0].Regarding.Name != w.namespace {
		t.Errorf("Events %+v, want one", got)
	}
}

// What is as long as it may be, and longer, makes an Event that the server takes.
func TestWhatIsLongIsTaken(t *testing.T) {
	w := newWorld(t)
	obj := w.object(strings.Repeat("a.", 126) + "b")
	about := events.About(core.ConfigMaps, obj)
	related := about
	err := w.recorder.Publish(t.Context(), about, events.Event{
		Warning: true, Reason: strings.Repeat("R", 128), Action: strings.Repeat("A", 128), Note: strings.Repeat("ä", 2000), Related: &related,
	})
	if err != nil {
		t.Fatal(err)
	}
	got := w.of(w.namespace, about)
	if len(got) != 1 || got[0].Type != "Warning" || got[0].Related == nil || !strings.HasSuffix(got[0].Note, "ä…") {
		t.Errorf("Events %+v", got)
	}
}
