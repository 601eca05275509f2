package controller

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-kube/kube/resource"
	"github.com/go-kube/kube/runtime/reflector"
	"github.com/go-kube/kube/runtime/watcher"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// watches returns how many watches were asked for.
func watches(r *rig) (n int) {
	for _, req := range r.srv.Requests() {
		if req.Query.Get("watch") == "true" {
			n++
		}
	}
	return n
}

func TestControllersShareReflectors(t *testing.T) {
	inLaggingBubble(t, 5*time.Second, func(t *testing.T, r *rig, s *laggingServer) {
		s.add(t, widgetsPath, r.object("a"))
		s.add(t, gadgetsPath, r.object("child", ownedBy("Widget", "a", "uid-1")))
		own, children := reflector.New(r.client.All(widgets), nil), reflector.New(r.client.All(gadgets), nil)
		r.start(own)
		for i := range 3 {
			ctl := NewFrom(own, func(ctx context.Context, w *widget) (Action, error) {
				child, err := children.Store().Get(resource.Ref[widget]{Namespace: "ns", Name: "child"})
				if err != nil {
					return Await(), err
				}
				r.add(fmt.Sprintf("%d: %s with size %d (%s)", i, w.Name, child.Spec.Size, ReasonFrom(ctx)))
				if i > 0 || child.Spec.Size > 0 {
					return Await(), nil
				}
				child.Spec.Size = 7
				return After(time.Second), replace(ctx, r.client.Namespaced(gadgets, "ns"), child)
			}, nil)
			switch i {
			case 0:
				ctl.OwnsFrom(children)
			case 1:
				ctl.WatchesFrom(children, func(g *widget) []resource.Ref[widget] {
					return []resource.Ref[widget]{{Namespace: "ns", Name: "a"}}
				})
			}
			r.start(ctl)
		}
		time.Sleep(3 * time.Second)
		r.start(children) // late: the third controller fails until then
		time.Sleep(20 * time.Second)
		lines := r.got()
		for _, want := range []string{
			"3s 0: a with size 0 (object found)",
			"8s 0: a with size 7 (related object updated: gadgets.example.com ns/child)", // not after a second, from the old state
			"3s 1: a with size 0 (object found)",
			"8s 1: a with size 7 (related object updated: gadgets.example.com ns/child)",
		} {
			if !strings.Contains(strings.Join(lines, "\n"), want) {
				t.Errorf("no %q in %q", want, lines)
			}
		}
		if n := watches(r); n != 2 {
			t.Errorf("%d watches of three controllers on two kinds, want 2", n)
		}
		r.clear()
		if err := r.client.Namespaced(gadgets, "ns").Delete(t.Context(), "child", nil); err != nil {
			t.Fatal(err)
		}
		if _, err := r.client.Namespaced(gadgets, "ns").Create(t.Context(), &widget{ObjectMeta: metav1.ObjectMeta{Name: "child"}}, nil); err != nil {
			t.Fatal(err)
		}
		time.Sleep(20 * time.Second)
		if got := strings.Join(r.got(), "\n"); !strings.Contains(got, "1: a with size 0") {
			t.Errorf("runs %q, want those of the deletion and the new object", got)
		}
	})
}

func TestAControllerEndsWithItsReflector(t *testing.T) {
	inLaggingBubble(t, 0, func(t *testing.T, r *rig, s *laggingServer) {
		objects := reflector.New(r.client.All(widgets), nil)
		stop := r.run(objects)
		ctl := NewFrom(objects, r.noting(nil), nil)
		ended := make(chan error, 1)
		go func() { ended <- ctl.Run(t.Context()) }()
		time.Sleep(time.Second)
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		if err := <-ended; !errors.Is(err, reflector.ErrStopped) || !strings.Contains(err.Error(), "has ended before the controller") {
			t.Errorf("Run = %v", err)
		}
	})
}

func TestAReflectorHasItsOwnWatchOptions(t *testing.T) {
	inLaggingBubble(t, 0, func(t *testing.T, r *rig, s *laggingServer) {
		objects := reflector.New(r.client.All(widgets), nil)
		err := NewFrom(objects, r.noting(nil), &Options{Watch: watcher.Options{Labels: "a=b"}}).Run(t.Context())
		if err == nil || !strings.Contains(err.Error(), "Options.Watch is set") {
			t.Errorf("Run = %v", err)
		}
		defer func() {
			if p := recover(); p == nil || !strings.Contains(fmt.Sprint(p), "has options of its own") {
				t.Errorf("WatchOptions panicked with %v", p)
			}
		}()
		NewFrom(objects, r.noting(nil), nil).OwnsFrom(objects).WatchOptions(watcher.Options{})
	})
}

func TestWritesOutsideOfASharedSelectorAreNotWaitedFor(t *testing.T) {
	inLaggingBubble(t, 5*time.Second, func(t *testing.T, r *rig, s *laggingServer) {
		s.add(t, widgetsPath, r.object("a", func(w *widget) { w.Labels = map[string]string{"tier": "x"} }))
		objects := reflector.New(r.client.All(widgets), &reflector.Options{Watch: watcher.Options{Labels: "tier=x"}})
		r.start(objects)
		ctl := NewFrom(objects, func(ctx context.Context, w *widget) (Action, error) {
			r.add(w.Name)
			if len(r.lines) > 1 {
				return Await(), nil
			}
			_, err := r.client.Namespaced(widgets, "ns").Create(ctx, &widget{ObjectMeta: metav1.ObjectMeta{Name: "b"}}, nil)
			return After(time.Second), err
		}, nil)
		r.start(ctl)
		time.Sleep(time.Minute)
		r.want(t, "0s a", "1s a")
	})
}
