package controller

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-kube/kube"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
)

// viewed returns a view of a namespace's widgets, of which the cache shows one.
func viewed(t *testing.T, namespace string, shown objectKey, uid types.UID) *view {
	t.Helper()
	client, err := kube.NewClient(&kube.Config{Server: "http://unused.invalid"})
	if err != nil {
		t.Fatal(err)
	}
	endpoint := client.All(widgets).Endpoint()
	if namespace != "" {
		endpoint = client.Namespaced(widgets, namespace).Endpoint()
	}
	v := newView(endpoint, "", "", func(key objectKey) (uint64, bool) { return hashUID(uid), key == shown })
	v.active = true
	return v
}

func TestAViewCoversWhatItsWatchShows(t *testing.T) {
	widgetIn := func(namespace string) *kube.Write {
		return &kube.Write{Verb: "update", Kind: widgets.Descriptor(), Namespace: namespace, Name: "a", ResourceVersion: "5"}
	}
	gadget := &kube.Write{Verb: "update", Kind: gadgets.Descriptor(), Namespace: "ns", Name: "a", ResourceVersion: "5"}
	for _, test := range []struct {
		name      string
		namespace string
		inactive  bool
		write     *kube.Write
		want      bool
	}{
		{name: "everywhere", write: widgetIn("ns"), want: true},
		{name: "its namespace", namespace: "ns", write: widgetIn("ns"), want: true},
		{name: "another namespace", namespace: "ns", write: widgetIn("elsewhere")},
		{name: "another kind", write: gadget},
		{name: "before its first list", inactive: true, write: widgetIn("ns")},
	} {
		t.Run(test.name, func(t *testing.T) {
			v := viewed(t, test.namespace, objectKey{}, "")
			v.active = !test.inactive
			if got := v.covers(test.write, writtenKey(test.write)); got != test.want {
				t.Errorf("it covers it: %t, want %t", got, test.want)
			}
		})
	}
}

func TestADeletionIsAwaitedOfTheObjectThatIsShown(t *testing.T) {
	key := objectKey{"ns", "a"}
	v := viewed(t, "", key, "uid-1")
	by := &unseen{}
	if v.awaitDeletion(key, "uid-0", by) || v.awaitDeletion(objectKey{"ns", "b"}, "", by) {
		t.Error("it waits for the end of an object that is not shown")
	}
	if !v.awaitDeletion(key, "uid-1", by) || !v.awaitDeletion(key, "", by) {
		t.Error("it does not wait for the end of the object that is shown")
	}
	if got := v.ended(key, hashUID("uid-2")); len(got) != 0 {
		t.Error("the end of another object under the name is taken for the one that is awaited")
	}
	if got := v.ended(key, hashUID("uid-1")); len(got) != 2 || len(v.deletions) != 0 {
		t.Errorf("%d waited for the end, want 2; left over: %v", len(got), v.deletions)
	}
}

// A key waits from its last write on, not from its first, and runs for the reason that it was parked with.
func TestPatienceBeginsWithTheLastWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var runs []Reason
		v := viewed(t, "", objectKey{}, "")
		tracker := newTracker(10*time.Second, v, func(_ objectKey, reason Reason) { runs = append(runs, reason) })
		key := objectKey{"ns", "a"}
		write := func(version string) {
			tracker.wrote(key, &kube.Write{Verb: "update", Kind: widgets.Descriptor(), Namespace: "ns", Name: "a", ResourceVersion: version})
		}
		write("5")
		time.Sleep(8 * time.Second)
		write("6")
		reason := Reason{Kind: Updated}
		if patience, wait := tracker.park(key, reason); !wait || patience != 10*time.Second {
			t.Errorf("it waits %t, for %v; want 10s", wait, patience)
		}
		tracker.advanced(v, "5", false)
		if len(runs) != 0 {
			t.Error("it runs before its last write was shown")
		}
		tracker.advanced(v, "6", false)
		if diff := cmp.Diff([]Reason{reason}, runs); diff != "" {
			t.Errorf("runs (-want +got):\n%s", diff)
		}
		if parked, waited, missed := tracker.counts(); parked != 0 || waited != 1 || missed != 0 {
			t.Errorf("parked %d, waited %d, missed %d", parked, waited, missed)
		}
	})
}
