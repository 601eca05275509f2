package reflector

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"strconv"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/go-kube/kube/k8s/core"
	"github.com/go-kube/kube/resource"
	"github.com/go-kube/kube/runtime/watcher"
)

// model is a server as a cache hears of it, and what the cache should hold: uid@version and the
// label of each object by name.
type model struct {
	t       *testing.T
	random  *rand.Rand
	cache   *cache
	version int
	objects map[string]*resource.Raw
}

func (m *model) object(name string, uid types.UID) *resource.Raw {
	m.version++
	raw, err := resource.EncodeRaw(core.ConfigMaps.Descriptor(), &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "default", Name: name, UID: uid, ResourceVersion: strconv.Itoa(m.version),
			Labels: map[string]string{"app": fmt.Sprint(m.random.IntN(3))},
		},
		Data: map[string]string{"k": fmt.Sprint(m.random.IntN(3))},
	})
	if err != nil {
		m.t.Fatal(err)
	}
	return raw
}

// step creates, changes or deletes an object and returns the event for it.
func (m *model) step() watcher.RawEvent {
	name := fmt.Sprint("o", m.random.IntN(40))
	old := m.objects[name]
	event := watcher.RawEvent{Type: watcher.Apply}
	switch {
	case old == nil:
		event.Object = m.object(name, types.UID(fmt.Sprint("born-", m.version)))
	case m.random.IntN(3) == 0:
		event.Type = watcher.Delete
		event.Object = m.object(name, old.UID())
	default:
		event.Object = m.object(name, old.UID())
	}
	if m.objects[name] = event.Object; event.Type == watcher.Delete {
		delete(m.objects, name)
	}
	event.ResourceVersion = event.Object.ResourceVersion()
	return event
}

// relist loses some events, and has the cache take a snapshot during which things go on.
func (m *model) relist() {
	for range m.random.IntN(20) {
		m.step()
	}
	m.cache.take(m.cache.whole, watcher.RawEvent{Type: watcher.Init})
	for _, raw := range m.objects {
		m.cache.take(m.cache.whole, watcher.RawEvent{Type: watcher.InitApply, Object: m.cache.kept(raw)})
	}
	for range m.random.IntN(20) {
		event := m.step()
		if event.Type == watcher.Apply {
			event.Type = watcher.InitApply
		}
		m.cache.take(m.cache.whole, event)
	}
	if m.random.IntN(4) == 0 {
		m.relist() // it breaks, and starts over
		return
	}
	m.cache.take(m.cache.whole, watcher.RawEvent{Type: watcher.InitDone, ResourceVersion: strconv.Itoa(m.version)})
}

// state is what the model says.
func (m *model) state() map[string]string {
	state := map[string]string{}
	for name, raw := range m.objects {
		state[name] = text(raw)
	}
	return state
}

func text(raw *resource.Raw) string { return string(raw.UID()) + "@" + raw.ResourceVersion() }

// loop is a subscriber that takes its time, and what it knows.
type loop struct {
	*subscriber
	known map[string]string
}

func (l *loop) hear(n int) {
	for range n {
		raw, news, ok := l.take()
		switch {
		case !ok:
			return
		case news == isDeleted:
			delete(l.known, raw.Name())
		default:
			l.known[raw.Name()] = text(raw)
		}
	}
}

// TestModel sends random events and snapshots through a cache, with subscribers that come
// late and take their time, and compares everything with a model of the server.
func TestModel(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	byKey := NewIndex(func(o *corev1.ConfigMap) []string { return []string{o.Data["k"]} })
	byApp := ByLabel[corev1.ConfigMap]("app")
	m := &model{t: t, random: rand.New(rand.NewPCG(seed, 0)), objects: map[string]*resource.Raw{}}
	m.cache = benchmarked(t, func(r *Reflector[corev1.ConfigMap]) { r.Index(byKey); r.Index(byApp) })
	var loops []*loop
	for i := range 20_000 {
		switch {
		case i == 0 || m.random.IntN(100) == 0:
			m.relist()
		case i%1000 == 1:
			loops = append(loops, &loop{newSubscriber(), map[string]string{}})
			m.cache.enlist(loops[len(loops)-1].subscriber)
		default:
			m.cache.take(m.cache.whole, m.step())
		}
		for j, l := range loops {
			// Of each of the 40 names two deletions, what there is now and what there was at the
			// start can be pending.
			if n := l.len(); n > 4*40 || len(l.queue) > 2*3*40+65 {
				t.Fatalf("step %d: %d changes of 40 names are pending, %d queued", i, n, len(l.queue))
			}
			if j > 0 && m.random.IntN(20) == 0 { // the first one is stuck
				l.hear(m.random.IntN(20))
			}
		}
		if i%100 == 0 {
			m.check(byKey, byApp)
		}
	}
	for i, l := range loops {
		l.hear(1000)
		if diff := cmp.Diff(m.state(), l.known); diff != "" {
			t.Errorf("subscriber %d (-model +known):\n%s", i, diff)
		}
		if len(l.pending)+len(l.gone)+len(l.queue) > 0 {
			t.Errorf("subscriber %d keeps %d pending, %d gone, %d queued", i, len(l.pending), len(l.gone), len(l.queue))
		}
	}
}

// The strings of an index do not keep the bytes of an object alive.
func TestIndexHasStringsOfItsOwn(t *testing.T) {
	c := benchmarked(t, func(r *Reflector[corev1.ConfigMap]) { r.Index(ByLabel[corev1.ConfigMap]("app")) })
	all := objects(t, 1, 1000, 1)
	fill(c, all, "10")
	for key, b := range c.indexed[0].buckets {
		for _, s := range []string{key, b.value} {
			data := all[0].Bytes()
			at, from := uintptr(unsafe.Pointer(unsafe.StringData(s))), uintptr(unsafe.Pointer(unsafe.SliceData(data)))
			if at >= from && at < from+uintptr(len(data)) {
				t.Errorf("%q shares the memory of the object", s)
			}
		}
	}
}

// check compares the store and its indexes with the model.
func (m *model) check(byKey, byApp *Index[corev1.ConfigMap]) {
	m.t.Helper()
	store := storeOf(m.cache)
	got, keys, apps, bytes := map[string]string{}, map[string]string{}, map[string]string{}, int64(0)
	for lazy := range store.All() {
		got[lazy.Name()] = text(lazy.Raw)
		bytes += int64(lazy.Size())
	}
	for value := range 3 {
		for lazy := range byKey.Lookup(store, fmt.Sprint(value)) {
			keys[lazy.Name()] = text(lazy.Raw)
			if obj, err := lazy.Decode(); err != nil || obj.Data["k"] != fmt.Sprint(value) {
				m.t.Errorf("the index has %v, %v under %d", obj, err, value)
			}
		}
		for lazy := range byApp.Lookup(store, fmt.Sprint(value)) {
			apps[lazy.Name()] = text(lazy.Raw)
			if got, _ := lazy.Label("app"); got != fmt.Sprint(value) {
				m.t.Errorf("the index has app=%s under %d", got, value)
			}
		}
	}
	want := m.state()
	for what, got := range map[string]map[string]string{"store": got, "index by data": keys, "index by label": apps} {
		if !maps.Equal(want, got) {
			m.t.Fatalf("%s at version %d (-model +got):\n%s", what, m.version, cmp.Diff(want, got))
		}
	}
	if stats := store.Stats(); stats.Bytes != bytes || stats.Objects != len(want) {
		m.t.Errorf("got %+v, want %d objects of %d bytes", stats, len(want), bytes)
	}
}
