package reflector

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/go-kube/kube/k8s/core"
	"github.com/go-kube/kube/resource"
)

func namedEntry(t *testing.T, namespace, name string) *entry {
	t.Helper()
	raw, err := resource.EncodeRaw(core.ConfigMaps.Descriptor(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}})
	if err != nil {
		t.Fatal(err)
	}
	return &entry{content{raw: raw}}
}

// TestTable compares a table with a map over 100 000 random steps.
func TestTable(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	table, model := newTable(0), map[key]*entry{}
	for step := range 100_000 {
		// The number of keys grows and shrinks, so that the table is full at times.
		k := keyOf(fmt.Sprint("n", random.IntN(3)), fmt.Sprint("o", random.IntN(1+step/50%500)))
		switch random.IntN(3) {
		case 0:
			if got, want := table.remove(k), model[k]; got != want {
				t.Fatalf("step %d: remove(%v) returned %p, want %p", step, k, got, want)
			}
			delete(model, k)
		default:
			e := namedEntry(t, k.namespace, k.name)
			if random.IntN(2) == 0 { // decoded
				e.content = content{raw: e.raw, extra: &extra{object: "object", namespace: k.namespace, name: k.name}}
			}
			if got, want := table.put(k, e), model[k]; got != want {
				t.Fatalf("step %d: put(%v) replaced %p, want %p", step, k, got, want)
			}
			model[k] = e
			if random.IntN(2) == 0 {
				e.content = namedEntry(t, k.namespace, k.name).content
				table.renew(e)
			}
		}
		if got, want := table.get(k), model[k]; got != want {
			t.Fatalf("step %d: get(%v) returned %p, want %p", step, k, got, want)
		}
		if got, want := table.object(k), model[k]; want == nil && got != nil || want != nil && got != want.raw {
			t.Fatalf("step %d: object(%v) returned %p of entry %p", step, k, got, want)
		}
		if got, ok := table.content(k); ok != (model[k] != nil) || ok && got != model[k].content {
			t.Fatalf("step %d: content(%v) returned %v, %v, want that of %p", step, k, got, ok, model[k])
		}
		if table.len != len(model) {
			t.Fatalf("step %d: length %d, want %d", step, table.len, len(model))
		}
	}
	got := map[key]*entry{}
	for e := range table.all() {
		got[e.key()] = e
	}
	if diff := cmp.Diff(model, got, cmp.Comparer(func(a, b *entry) bool { return a == b })); diff != "" {
		t.Errorf("entries (-model +table):\n%s", diff)
	}
	objects := map[*resource.Raw]bool{}
	for raw := range table.objects() {
		objects[raw] = true
	}
	for k, e := range model {
		if !objects[e.raw] {
			t.Errorf("the object %v is not among those of the table", k)
		}
	}
	if len(objects) != len(model) {
		t.Errorf("%d objects, want %d", len(objects), len(model))
	}
}

// TestTableTellsKeysApart has keys that are the same when written one after the other.
func TestTableTellsKeysApart(t *testing.T) {
	table := newTable(2)
	a, b := namedEntry(t, "ab", "c"), namedEntry(t, "a", "bc")
	table.put(a.key(), a)
	table.put(b.key(), b)
	a.extra = &extra{object: "object", namespace: "ab", name: "c"}
	if got, ok := table.content(keyOf("ab", "c")); !ok || got != a.content {
		t.Error("a decoded object is not found")
	}
	for _, k := range []key{keyOf("a", "bc"), keyOf("", "abc"), keyOf("abc", "")} {
		k.hash = a.key().hash // as it may be by chance
		if _, ok := table.content(k); ok {
			t.Errorf("%v is found, which is another", k)
		}
	}
	if table.get(keyOf("ab", "c")) != a || table.get(keyOf("a", "bc")) != b || table.get(keyOf("", "abc")) != nil {
		t.Error("the table confuses namespace and name")
	}
}
