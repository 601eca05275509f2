package reflector

import (
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/k8s/core"
	"github.com/go-kube/kube/resource"
	"github.com/go-kube/kube/runtime/watcher"
)

// benchmarked returns the cache of a reflector that nobody runs: the benchmark is the writer.
func benchmarked(b testing.TB, configure func(*Reflector[corev1.ConfigMap])) *cache {
	b.Helper()
	client, err := kube.NewClient(&kube.Config{Server: "http://unused.invalid"})
	if err != nil {
		b.Fatal(err)
	}
	r := New(client.All(core.ConfigMaps), nil)
	if configure != nil {
		configure(r)
	}
	return r.from.own
}

func storeOf(c *cache) Store[corev1.ConfigMap] {
	s := &source{own: c}
	s.cache.Store(c)
	return Store[corev1.ConfigMap]{s}
}

// objects returns n objects of about size bytes in their encoded form.
func objects(b testing.TB, n, size, version int) []*resource.Raw {
	b.Helper()
	all := make([]*resource.Raw, n)
	for i := range all {
		raw, err := resource.EncodeRaw(core.ConfigMaps.Descriptor(), &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: fmt.Sprint("namespace-", i%50), Name: fmt.Sprint("configuration-of-application-", i),
				UID: types.UID(fmt.Sprintf("6e5b0bd9-0000-4000-8000-%012d", i)), ResourceVersion: strconv.Itoa(version + i),
				Labels: map[string]string{"app": fmt.Sprint("app-", i%100)},
			},
			Data: map[string]string{"key": strings.Repeat("x", max(0, size-200))},
		})
		if err != nil {
			b.Fatal(err)
		}
		all[i] = raw
	}
	return all
}

// fill gives c a snapshot.
func fill(c *cache, all []*resource.Raw, version string) {
	c.take(c.whole, watcher.RawEvent{Type: watcher.Init})
	for _, raw := range all {
		c.take(c.whole, watcher.RawEvent{Type: watcher.InitApply, Object: c.kept(raw)})
	}
	c.take(c.whole, watcher.RawEvent{Type: watcher.InitDone, ResourceVersion: version})
}

// BenchmarkApply is one MODIFIED event in a store of 10 000 objects.
func BenchmarkApply(b *testing.B) {
	for name, configure := range map[string]func(*Reflector[corev1.ConfigMap]){
		"plain":       nil,
		"label index": func(r *Reflector[corev1.ConfigMap]) { r.Index(ByLabel[corev1.ConfigMap]("app")) },
		"decoding index": func(r *Reflector[corev1.ConfigMap]) {
			r.Index(NewIndex(func(o *corev1.ConfigMap) []string { return []string{o.Namespace} }))
		},
		"modify":     func(r *Reflector[corev1.ConfigMap]) { r.Modify(func(o *corev1.ConfigMap) { o.Labels = nil }) },
		"subscriber": nil,
	} {
		b.Run(name, func(b *testing.B) {
			c := benchmarked(b, configure)
			rounds := [2][]*resource.Raw{objects(b, 10_000, 1000, 1), objects(b, 10_000, 1000, 100_000)}
			fill(c, rounds[0], "50000")
			if name == "subscriber" {
				c.subscribers[newSubscriber()] = struct{}{}
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				raw := rounds[1-i/10_000%2][i%10_000]
				c.take(c.whole, watcher.RawEvent{Type: watcher.Apply, Object: c.kept(raw), ResourceVersion: raw.ResourceVersion()})
			}
		})
	}
}

// BenchmarkGet reads and decodes an object; compare it with BenchmarkDecode.
func BenchmarkGet(b *testing.B) {
	c := benchmarked(b, nil)
	all := objects(b, 10_000, 1000, 1)
	fill(c, all, "50000")
	store := storeOf(c)
	b.Run("one", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			if _, err := store.Get(resource.AsLazy[corev1.ConfigMap](all[i%len(all)]).Ref()); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("parallel", func(b *testing.B) {
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			for i := 0; pb.Next(); i++ {
				store.Get(resource.AsLazy[corev1.ConfigMap](all[i%len(all)]).Ref())
			}
		})
	})
	b.Run("decode alone", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			if _, err := resource.AsLazy[corev1.ConfigMap](all[i%len(all)]).Decode(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("lazy", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			store.Lazy(resource.AsLazy[corev1.ConfigMap](all[i%len(all)]).Ref())
		}
	})
}

// BenchmarkRelist is a new snapshot of 10 000 objects, of which nothing has changed.
func BenchmarkRelist(b *testing.B) {
	c := benchmarked(b, nil)
	fill(c, objects(b, 10_000, 1000, 1), "50000")
	again := objects(b, 10_000, 1000, 1)
	b.ReportAllocs()
	for b.Loop() {
		fill(c, again, "50000")
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/10_000, "ns/object")
}

// BenchmarkMemory reports what an object costs beside its bytes.
func BenchmarkMemory(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				c := benchmarked(b, nil)
				before := heap()
				fill(c, objects(b, n, 1000, 1), "5000000")
				settled := heap() - before
				b.ReportMetric(float64(settled)/float64(n), "B/object")
				b.ReportMetric(float64(settled-c.bytes)/float64(n), "overhead-B/object")
				runtime.KeepAlive(c)
			}
		})
	}
}

// heap returns the bytes in use.
func heap() int64 {
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}
