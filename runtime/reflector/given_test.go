package reflector_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"

	"github.com/go-kube/kube/internal/apitest"
	"github.com/go-kube/kube/k8s/core"
	"github.com/go-kube/kube/resource"
	"github.com/go-kube/kube/runtime/reflector"
	"github.com/go-kube/kube/runtime/watcher"
)

// feed is a sequence of events that a test sends, one after the other.
type feed struct {
	t      testing.TB
	events chan watcher.Event[corev1.ConfigMap]
}

func newFeed(t testing.TB) *feed {
	return &feed{t, make(chan watcher.Event[corev1.ConfigMap])}
}

// sequence yields what is sent, until ctx or the feed ends.
func (f *feed) sequence(ctx context.Context) iter.Seq[watcher.Event[corev1.ConfigMap]] {
	return func(yield func(watcher.Event[corev1.ConfigMap]) bool) {
		for {
			select {
			case event, ok := <-f.events:
				if !ok || !yield(event) {
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}
}

// send sends an event, of an object where there is one.
func (f *feed) send(typ watcher.EventType, objects ...*corev1.ConfigMap) {
	f.t.Helper()
	event := watcher.Event[corev1.ConfigMap]{Type: typ}
	for _, o := range objects {
		raw, err := resource.EncodeRaw(core.ConfigMaps.Descriptor(), o)
		if err != nil {
			f.t.Fatal(err)
		}
		event.Object = resource.AsLazy[corev1.ConfigMap](raw)
	}
	f.events <- event
}

// A store is filled by a sequence as by a watch: snapshots are swapped in, and followers hear the difference.
func TestFromEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFeed(t)
		r := reflector.FromEvents(core.ConfigMaps, f.sequence, nil)
		r.Index(byTier)
		follower := follow(t, r, nil)
		run(t, r)
		f.send(watcher.Init)
		f.send(watcher.InitApply, object("a", "1", label("tier", "x")))
		f.send(watcher.Apply, object("b", "2")) // of the snapshot too
		wantStore(t, r)
		if _, err := r.Store().Get(ref("a")); !errors.Is(err, reflector.ErrNotReady) {
			t.Errorf("within the first snapshot: %v", err)
		}
		f.send(watcher.InitDone)
		wantStore(t, r, "a@1", "b@2")
		follower.want("=a@1 =b@2")
		if state := r.State(); state.Phase != watcher.Watching || !state.Synced || state.ResourceVersion != "2" {
			t.Errorf("state = %+v", state)
		}

		f.send(watcher.Apply, object("b", "3"))
		follower.want("b@3")
		f.send(watcher.Delete, object("a", "4"))
		follower.want("-a@4")
		if err := r.Store().WaitFor(t.Context(), "4"); err != nil {
			t.Error(err)
		}
		f.send(watcher.Apply, object("a", "5", label("tier", "x")))
		follower.want("a@5")
		if got := names(byTier.Lookup(r.Store(), "x")); len(got) != 1 {
			t.Errorf("the index has %v", got)
		}

		f.send(watcher.Init)
		f.send(watcher.InitApply, object("b", "3"))
		f.send(watcher.InitApply, object("c", "9"))
		wantStore(t, r, "a@5", "b@3")
		f.send(watcher.InitDone)
		wantStore(t, r, "b@3", "c@9")
		follower.want("-a@5 c@9")
	})
}

var byTier = reflector.ByLabel[corev1.ConfigMap]("tier")

// Where no versions come, nothing is missing but that they can be waited for.
func TestFromEventsWithoutVersions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFeed(t)
		r := reflector.FromEvents(core.ConfigMaps, f.sequence, nil)
		run(t, r)
		bare := func(o *corev1.ConfigMap) { o.UID, o.ResourceVersion = "", "" }
		f.send(watcher.Init)
		f.send(watcher.InitApply, object("a", "", bare))
		f.send(watcher.InitDone)
		f.send(watcher.Apply, object("a", "", bare, data("k", "new")))
		synctest.Wait()
		obj, err := r.Store().Get(ref("a"))
		if err != nil || obj.Data["k"] != "new" || !r.Store().Ready() {
			t.Errorf("got %v, %v", obj, err)
		}
		f.send(watcher.Delete, object("a", "", bare))
		wantStore(t, r)
	})
}

// The objects of a large store are packed, wherever they come from.
func TestFromEventsPacks(t *testing.T) {
	size := func(source func(*testing.T, []*corev1.ConfigMap) *reflector.Reflector[corev1.ConfigMap]) (bytes int64) {
		synctest.Test(t, func(t *testing.T) {
			var objects []*corev1.ConfigMap
			for i := range 2000 {
				objects = append(objects, object(fmt.Sprintf("o%d", i), "7", data("text", strings.Repeat("the same words in all of them ", 20))))
			}
			r := source(t, objects)
			synctest.Wait()
			if n := r.Store().Len(); n != len(objects) {
				t.Fatalf("%d objects, want %d", n, len(objects))
			}
			bytes = r.Store().Stats().Bytes
		})
		return bytes
	}
	watched := size(func(t *testing.T, objects []*corev1.ConfigMap) *reflector.Reflector[corev1.ConfigMap] {
		r, _ := started(t, apitest.Start(t, &apitest.Options{HTTP2: true, Protobuf: true}), nil, objects...)
		return r
	})
	given := size(func(t *testing.T, objects []*corev1.ConfigMap) *reflector.Reflector[corev1.ConfigMap] {
		f := newFeed(t)
		r := reflector.FromEvents(core.ConfigMaps, f.sequence, nil)
		run(t, r)
		f.send(watcher.Init)
		for _, o := range objects {
			f.send(watcher.InitApply, o)
		}
		f.send(watcher.InitDone)
		return r
	})
	if given > watched+watched/5 {
		t.Errorf("the store of a sequence takes %d bytes, that of a watch %d", given, watched)
	}
}

// A sequence that ends is an error of Run, unless its context has ended; the store keeps what it has.
func TestFromEventsEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFeed(t)
		var told error
		r := reflector.FromEvents(core.ConfigMaps, f.sequence, &reflector.Options{Watch: watcher.Options{OnError: func(err error) { told = err }}})
		ended := make(chan error, 1)
		go func() { ended <- r.Run(t.Context()) }()
		f.send(watcher.Init)
		f.send(watcher.InitApply, object("a", "1"))
		f.send(watcher.InitDone)
		close(f.events)
		if err := <-ended; !errors.Is(err, watcher.ErrSequenceEnded) || !errors.Is(told, watcher.ErrSequenceEnded) {
			t.Errorf("Run returned %v, OnError was told %v", err, told)
		}
		wantStore(t, r, "a@1")
		if err := r.Store().WaitFor(t.Context(), "9"); !errors.Is(err, reflector.ErrStopped) {
			t.Errorf("WaitFor: %v", err)
		}
		for change := range r.Changes(t.Context()) { // what is there, and then the end
			if change.Ref().Name != "a" {
				t.Errorf("change of %s", change.Ref())
			}
		}
	})
}

// A sequence that breaks the protocol is an error of Run that says how, and breaks nothing else.
func TestFromEventsOutOfOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFeed(t)
		r := reflector.FromEvents(core.ConfigMaps, f.sequence, nil)
		ended := make(chan error, 1)
		go func() { ended <- r.Run(t.Context()) }()
		f.send(watcher.InitApply, object("a", "1"))
		if err := <-ended; err == nil || !strings.Contains(err.Error(), "configmaps: InitApply came outside of a snapshot") {
			t.Errorf("Run returned %v", err)
		}
		if err := r.Store().WaitReady(t.Context()); !errors.Is(err, reflector.ErrStopped) || !strings.Contains(err.Error(), "InitApply") {
			t.Errorf("WaitReady: %v", err)
		}
	})
}

func TestFromEventsOptions(t *testing.T) {
	none := func(context.Context) iter.Seq[watcher.Event[corev1.ConfigMap]] {
		return func(func(watcher.Event[corev1.ConfigMap]) bool) {}
	}
	for want, opts := range map[string]*reflector.Options{
		"Options.Share":      {Share: true},
		"Options.Namespaces": {Namespaces: reflector.NewNamespaceSet("a")},
		"options of a watch": {Watch: watcher.Options{Fields: "metadata.name=a"}},
		"Options.MaxBytes":   {MaxBytes: -1},
	} {
		if err := reflector.FromEvents(core.ConfigMaps, none, opts).Run(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: Run returned %v", want, err)
		}
	}
}

// What is wrong with an object goes to the logger of the options.
func TestFromEventsLogs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		f := newFeed(t)
		r := reflector.FromEvents(core.ConfigMaps, f.sequence, &reflector.Options{
			Watch: watcher.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))}, MaxBytes: 1,
		})
		stop := run(t, r)
		f.send(watcher.Init)
		f.send(watcher.InitApply, object("a", "1"))
		synctest.Wait()
		stop()
		if !strings.Contains(log.String(), "store is too large") {
			t.Errorf("the log has %q", log.String())
		}
		if r.Endpoint().Client().Logger() == nil {
			t.Error("what is made from the reflector has no logger")
		}
	})
}

// A function that was left out is a mistake where it is made.
func TestFromEventsOfNothing(t *testing.T) {
	defer func() {
		if p := recover(); p == nil || !strings.Contains(fmt.Sprint(p), "FromEvents") {
			t.Errorf("panicked with %v", p)
		}
	}()
	reflector.FromEvents[corev1.ConfigMap](core.ConfigMaps, nil, nil)
}
