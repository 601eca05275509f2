package reflector

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/go-kube/kube/resource"
	"github.com/go-kube/kube/runtime/watcher"
)

// TestPacked: a large store holds its objects packed, and nobody can tell.
func TestPacked(t *testing.T) {
	const n = 4 * worthPacking
	all := objects(t, n, 1000, 1)
	c := benchmarked(t, nil)
	fill(c, all, "5000")
	store := storeOf(c)
	if stats := store.Stats(); stats.Objects != n || stats.Bytes > n*700 {
		t.Errorf("%d objects take %d bytes", stats.Objects, stats.Bytes)
	}
	for _, raw := range all {
		want, err := resource.AsLazy[corev1.ConfigMap](raw).Decode()
		if err != nil {
			t.Fatal(err)
		}
		got, err := store.Get(resource.AsLazy[corev1.ConfigMap](raw).Ref())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%s (-want +got):\n%s", raw, diff)
		}
	}
}

// TestPackedIsCompared: what a relist finds unchanged is told to nobody, and keeps its bytes.
func TestPackedIsCompared(t *testing.T) {
	const n = 2 * worthPacking
	all := objects(t, n, 1000, 1)
	c := benchmarked(t, nil)
	fill(c, all, "5000")
	before := map[string]*resource.Raw{}
	for _, raw := range c.all() {
		before[raw.Name()] = raw
	}
	all[n-1] = objects(t, n, 1000, 7000)[n-1]
	fill(c, all, "8000")
	changed := 0
	for _, raw := range c.all() {
		if raw != before[raw.Name()] {
			changed++
		}
	}
	if changed != 1 {
		t.Errorf("%d objects have other bytes after a relist that changed one", changed)
	}
	c.take(c.whole, watcher.RawEvent{Type: watcher.Apply, Object: c.kept(all[0]), ResourceVersion: "8001"})
	if now, _ := c.get(all[0].Namespace(), all[0].Name()); now.raw != before[all[0].Name()] {
		t.Error("an event that says nothing new has changed the bytes")
	}
}
