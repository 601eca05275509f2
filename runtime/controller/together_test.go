package controller

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/resource"
)

func ownWatches(r *rig) (watches []string) {
	for _, req := range r.srv.Requests() {
		if req.Query.Get("watch") == "true" {
			watches = append(watches, req.Path)
		}
	}
	return watches
}

// 1000 controllers of 50 kinds need 50 watches, and leave no goroutine behind.
func TestAThousandControllersShareFiftyWatches(t *testing.T) {
	const kinds, controllers = 50, 1000
	inBubble(t, func(t *testing.T, r *rig) {
		var apis []kube.API[widget]
		for i := range kinds {
			info := resource.Info{Group: "example.com", Version: "v1", Kind: fmt.Sprintf("Kind%d", i), Plural: fmt.Sprintf("kind%d", i)}
			apis = append(apis, r.client.All(resource.DefineNamespaced[widget](info)))
			r.serve("/apis/example.com/v1/"+info.Plural, r.object("a"))
		}
		var reconciled atomic.Int32
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, controllers)
		began := time.Now()
		for i := range controllers {
			ctl := New(apis[i%kinds], func(context.Context, *widget) (Action, error) {
				reconciled.Add(1)
				return Await(), nil
			}, nil)
			go func() { ended <- ctl.Run(ctx) }()
		}
		synctest.Wait()
		if n := reconciled.Load(); n != controllers {
			t.Errorf("%d of %d controllers have reconciled their object", n, controllers)
		}
		if n := len(ownWatches(r)); n != kinds {
			t.Errorf("%d watches, want %d", n, kinds)
		}
		cancel()
		for range controllers {
			if err := <-ended; err != nil {
				t.Errorf("Run: %v", err)
			}
		}
		if took := time.Since(began); took >= time.Second {
			t.Errorf("starting and stopping waited for %s", took)
		}
		r.client.Close()
		synctest.Wait()
		stacks := make([]byte, 1<<20)
		stacks = stacks[:runtime.Stack(stacks, true)]
		for _, left := range []string{"controller.(*engine)", "controller.(*runner", "runtime/reflector.", "runtime/watcher."} {
			if n := strings.Count(string(stacks), left); n > 0 {
				t.Errorf("%d calls of %s are left", n, left)
			}
		}
	})
}

func TestOwnWatchSharesNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.serve(widgetsPath, r.object("a"))
		for range 2 {
			r.start(New(r.client.All(widgets), r.noting(nil), nil))
			r.start(New(r.client.All(widgets), r.noting(nil), &Options{OwnWatch: true}))
		}
		synctest.Wait()
		if n := len(ownWatches(r)); n != 3 {
			t.Errorf("%d watches of two controllers with their own and two that share, want 3", n)
		}
	})
}

// A controller that begins late finds what is there, and goes on when the first one has ended.
func TestControllersComeAndGoOnASharedWatch(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		w := r.serve(widgetsPath, r.object("a"))
		stop := r.run(New(r.client.All(widgets), r.noting(nil), nil))
		synctest.Wait()
		r.clear()
		late := New(r.client.All(widgets), r.noting(nil), nil)
		late.OnDeleted(func(_ context.Context, last resource.Lazy[widget]) { r.add("gone: " + last.Name()) })
		r.start(late)
		r.want(t, "0s a size 0 (object found, attempt 1)")
		if err := stop(); err != nil {
			t.Errorf("Run: %v", err)
		}
		r.clear()
		w.Send("MODIFIED", r.object("a", size(2)))
		synctest.Wait()
		w.Send("DELETED", r.object("a"))
		r.want(t, "0s a size 2 (object updated, attempt 1)", "0s gone: a")
		if n := len(ownWatches(r)); n != 1 {
			t.Errorf("%d watches, want 1", n)
		}
	})
}

func TestAReflectorExcludesOwnWatch(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		ctl := New(r.client.All(widgets), r.noting(nil), nil)
		err := NewFrom(ctl.objects, r.noting(nil), &Options{OwnWatch: true}).Run(t.Context())
		if err == nil || !strings.Contains(err.Error(), "Options.OwnWatch is set") {
			t.Errorf("Run = %v", err)
		}
	})
}
