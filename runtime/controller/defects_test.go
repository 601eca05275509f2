package controller

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/go-kube/kube/resource"
	"github.com/go-kube/kube/runtime/reflector"
)

// The tests of this file are named after defects of kube-rs (its ReflectHandle, its
// StreamBackoff) that have no test elsewhere.

func TestDeletionsReachThoseWhoShareAReflector(t *testing.T) {
	inLaggingBubble(t, 0, func(t *testing.T, r *rig, s *laggingServer) {
		s.add(t, widgetsPath, r.object("a"))
		s.add(t, gadgetsPath, r.object("child"))
		children := reflector.New(r.client.All(gadgets), nil)
		r.start(children)
		ctl := New(r.client.All(widgets), r.noting(nil), nil)
		ctl.WatchesFrom(children, func(*widget) []resource.Ref[widget] {
			return []resource.Ref[widget]{{Namespace: "ns", Name: "a"}}
		})
		r.start(ctl)
		time.Sleep(time.Second)
		r.clear()
		if err := r.client.Namespaced(gadgets, "ns").Delete(t.Context(), "child", nil); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		r.want(t, "0s a size 0 (related object updated: gadgets.example.com ns/child, attempt 1)")
	})
}

func TestAKindThatFailsPausesNoOther(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		w := r.serve(widgetsPath, r.object("a"))
		r.srv.Expect("GET "+gadgetsPath).Always().Status(403, "Forbidden", "no", 0)
		ctl := New(r.client.All(widgets), func(ctx context.Context, w *widget) (Action, error) {
			r.add(w.Name)
			return Await(), nil
		}, &Options{SyncTimeout: time.Second})
		ctl.Owns(r.client.All(gadgets))
		r.start(ctl)
		time.Sleep(time.Minute)
		r.clear()
		for range 3 {
			w.Send("MODIFIED", r.object("a"))
			time.Sleep(time.Second)
		}
		r.want(t, "0s a", "1s a", "2s a")
		if err := ctl.Ready(); err == nil || !strings.Contains(err.Error(), "gadgets.example.com") {
			t.Errorf("Ready = %v, want what is wrong with gadgets", err)
		}
	})
}
