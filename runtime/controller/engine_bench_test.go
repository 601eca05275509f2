package controller

import (
	"context"
	"fmt"
	"iter"
	"sync"
	"testing"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/resource"
	"github.com/go-kube/kube/runtime/watcher"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// staticCache is a cache that never changes.
type staticCache map[objectKey]*resource.Raw

func (c staticCache) run(ctx context.Context) error   { <-ctx.Done(); return nil }
func (c staticCache) waitReady(context.Context) error { return nil }
func (c staticCache) version() string                 { return "1" }
func (staticCache) parts() *parts                     { return nil }
func (c staticCache) waitFor(ctx context.Context, _ string) error {
	<-ctx.Done()
	return ctx.Err()
}
func (c staticCache) state() watcher.State { return watcher.State{} }

func (staticCache) namespaceStates() map[string]watcher.State { return nil }
func (c staticCache) changes(context.Context) iter.Seq[change] {
	return func(func(change) bool) {}
}
func (c staticCache) get(key objectKey) (*resource.Raw, bool) { raw, ok := c[key]; return raw, ok }
func (c staticCache) all() iter.Seq[*resource.Raw] {
	return func(yield func(*resource.Raw) bool) {
		for _, raw := range c {
			if !yield(raw) {
				return
			}
		}
	}
}

// BenchmarkEngine takes changes of 10 000 objects from the cache to a reconciler that does
// nothing: what a controller adds to the cost of the watch and of decoding the object, which
// is left out in one half of it.
func BenchmarkEngine(b *testing.B) {
	client, err := kube.NewClient(&kube.Config{Server: "http://unused.invalid"})
	if err != nil {
		b.Fatal(err)
	}
	cached := staticCache{}
	var changes []change
	for i := range 10_000 {
		r := raw(b, metav1.ObjectMeta{Namespace: "ns", Name: fmt.Sprint("object-", i), UID: "1", ResourceVersion: "1", Generation: 1})
		cached[keyOf(r)] = r
		changes = append(changes, change{raw: r})
	}
	for _, decode := range []bool{false, true} {
		b.Run(fmt.Sprint("decode=", decode), func(b *testing.B) {
			var done sync.WaitGroup
			ctl := New(client.All(widgets), func(context.Context, *widget) (Action, error) {
				done.Done()
				return Await(), nil
			}, nil)
			e := ctl.engine
			e.cache = cached
			if !decode {
				blank := new(widget)
				e.decode = func(*resource.Raw) (any, error) { return blank, nil }
			}
			r := e.newRunner()
			e.setTerm(b.Context())
			e.writes = e.newTracker()
			e.runner.Store(r)
			r.open()
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				if i++; i == len(changes) {
					i = 0
					done.Wait() // so that no two changes become one run
				}
				done.Add(1)
				e.changed(changes[i])
			}
			done.Wait()
			r.stop()
			r.wait()
		})
	}
}
