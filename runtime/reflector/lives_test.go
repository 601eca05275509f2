package reflector

import (
	"fmt"
	"slices"
	"strconv"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/go-kube/kube/k8s/core"
	"github.com/go-kube/kube/resource"
	"github.com/go-kube/kube/runtime/watcher"
)

// lives is a cache of one name, under which one object comes after the other.
type lives struct {
	*cache
	t *testing.T
}

func (l *lives) event(kind watcher.EventType, uid string, version int) {
	l.t.Helper()
	event := watcher.RawEvent{Type: kind, ResourceVersion: strconv.Itoa(version)}
	if uid != "" {
		raw, err := resource.EncodeRaw(core.ConfigMaps.Descriptor(), &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "a", UID: types.UID(uid), ResourceVersion: event.ResourceVersion},
		})
		if err != nil {
			l.t.Fatal(err)
		}
		event.Object = raw
	}
	l.take(l.whole, event)
}

// list is a snapshot in which the object is that of uid.
func (l *lives) list(uid string, version int) {
	l.event(watcher.Init, "", version)
	l.event(watcher.InitApply, uid, version)
	l.event(watcher.InitDone, "", version)
}

// following returns who is told of c as by a watch.
func following(t *testing.T, c *cache) (s *subscriber, told func(n int) []string) {
	s = newSubscriber()
	s.follows = true
	c.enlist(s)
	t.Cleanup(s.leave)
	return s, func(n int) (events []string) {
		for range n {
			event, ok := s.takeEvent()
			if !ok {
				break
			}
			text := event.Type.String()
			if event.Object != nil {
				text = fmt.Sprint(text, " ", event.Object.UID())
			}
			events = append(events, text)
		}
		return events
	}
}

// A name that is deleted and made again around a list: who has heard of the second object from the list, and not of
// the deletion of the first yet, hears of the deletion of the second, however many come after it.
func TestDeletionOfALifeThatAListTold(t *testing.T) {
	l := &lives{benchmarked(t, nil), t}
	l.list("first", 1)
	s, told := following(t, l.cache)
	told(4)
	l.event(watcher.Delete, "first", 2)
	l.event(watcher.Apply, "second", 3)
	l.list("second", 4)
	if got, want := told(3), []string{"Init", "InitApply second", "InitDone"}; !slices.Equal(got, want) {
		t.Fatalf("told %q, want %q", got, want)
	}
	l.event(watcher.Delete, "second", 5)
	l.event(watcher.Apply, "third", 6)
	l.event(watcher.Delete, "third", 7)
	l.event(watcher.Apply, "fourth", 8)
	l.event(watcher.Delete, "fourth", 9)
	if got, want := told(9), []string{"Delete first", "Delete second", "Delete fourth", "Bookmark"}; !slices.Equal(got, want) {
		t.Errorf("told %q, want %q", got, want)
	}
	if n := len(s.pending) + len(s.gone) + len(s.queue) + len(s.former); n > 0 {
		t.Errorf("%d things are kept that were told", n)
	}
}

// Who is stuck costs no more at the hundredth list than at the second.
func TestDeletionsBeforeManyLists(t *testing.T) {
	l := &lives{benchmarked(t, nil), t}
	l.list("first", 1)
	s, told := following(t, l.cache)
	told(4)
	version := 2
	for range 100 {
		for range 3 {
			uid := fmt.Sprint("of-", version)
			l.event(watcher.Apply, uid, version)
			l.event(watcher.Delete, uid, version+1)
			version += 2
		}
		l.list("last", version)
		version++
	}
	if n := s.len(); n > 6 {
		t.Errorf("%d changes are kept for one name, want those of the last two lists", n)
	}
	got := told(20)
	if want := []string{"Init", "InitApply last", "InitDone"}; len(got) < 4 || !slices.Equal(got[:3], want) || got[len(got)-1] != fmt.Sprint("Delete of-", version-3) {
		t.Errorf("told %q, want %q and the last deletion", got, want)
	}
}
