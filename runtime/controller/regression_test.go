package controller

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-kube/kube/resource"
	"github.com/go-kube/kube/runtime/reflector"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The tests of this file hold mistakes that another controller runtime made, kube-rs, and that
// must not be made here. The numbers are those of the list that they were collected in;
// runtime/testdata/lessons.txt has the whole list.

// 1: a trigger by an owned object carried the namespace of that object, even when the owner has
// none. So one owner had two keys: two runs at a time, and two plans for the next.
func TestRegression01ClusterScopedOwnerHasOnePlan(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.serve(realmsPath, &realm{
			TypeMeta:   metav1.TypeMeta{APIVersion: "example.com/v1", Kind: "Realm"},
			ObjectMeta: metav1.ObjectMeta{Name: "a", UID: "uid-a", ResourceVersion: "1"},
		})
		children := r.serve(gadgetsPath)
		ctl := New(r.client.All(realms), func(ctx context.Context, obj *realm) (Action, error) {
			r.add(obj.Name)
			return After(time.Minute), nil
		}, nil)
		ctl.Owns(r.client.All(gadgets))
		r.start(ctl)
		time.Sleep(30 * time.Second)
		children.Send("ADDED", r.object("child", ownedBy("Realm", "a", "uid-a")))
		time.Sleep(3*time.Minute - time.Second)
		r.want(t, "0s a", "30s a", "1m30s a", "2m30s a")
	})
}

// 5: what vanished while the server was away triggered nothing when a list showed it.
func TestRegression05RelistTriggersForWhatVanished(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.serve(widgetsPath, r.object("a"), r.object("b"))
		of := func(name string) func(*widget) { return func(w *widget) { w.Spec.Part = name } }
		first := r.srv.Expect("GET " + gadgetsPath + "?watch=true&sendInitialEvents=true").Watch()
		kept := r.object("kept", of("b"))
		for _, part := range []*widget{r.object("lost", of("a")), kept} {
			first.Send("ADDED", part)
		}
		first.InitialEventsEnd(r.next())
		ctl := New(r.client.All(widgets), r.noting(nil), nil)
		ctl.Watches(r.client.All(gadgets), func(part *widget) []resource.Ref[widget] {
			return []resource.Ref[widget]{{Namespace: "ns", Name: part.Spec.Part}}
		})
		r.settled(ctl)
		r.serve(gadgetsPath, kept)
		first.Error(410, metav1.StatusReasonExpired, "too old")
		time.Sleep(time.Minute)
		const want = "a size 0 (related object updated: gadgets.example.com ns/lost, attempt 1)"
		if got := r.got(); len(got) != 1 || !strings.HasSuffix(got[0], want) {
			t.Errorf("runs after the list: %q, want one: %s", got, want)
		}
	})
}

// 6: those who share a watch never heard of deletions.
func TestRegression06DeletionsReachThoseWhoShareAReflector(t *testing.T) {
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

// 7: all triggers of a controller had one backoff: a kind that fails paused all, and a healthy
// one reset that of the failing.
func TestRegression07AKindThatFailsPausesNoOther(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		w := r.serve(widgetsPath, r.object("a"))
		failing := r.srv.Expect("GET "+gadgetsPath).Always().Status(403, "Forbidden", "no", 0)
		ctl := New(r.client.All(widgets), func(ctx context.Context, w *widget) (Action, error) {
			r.add(w.Name)
			return Await(), nil
		}, &Options{SyncTimeout: time.Second})
		ctl.Owns(r.client.All(gadgets))
		r.start(ctl)
		time.Sleep(time.Minute)
		r.clear()
		before := failing.Served()
		var want []string
		for i := range 120 {
			w.Send("MODIFIED", r.object("a"))
			time.Sleep(time.Second)
			want = append(want, time.Duration(i*int(time.Second)).String()+" a")
		}
		r.want(t, want...)
		if n := failing.Served() - before; n > 6 {
			t.Errorf("the failing kind was asked for %d times in two minutes: something healthy resets its backoff", n)
		}
		if err := ctl.Ready(); err == nil || !strings.Contains(err.Error(), "gadgets.example.com") {
			t.Errorf("Ready = %v, want what is wrong with gadgets", err)
		}
	})
}

// 9: a debounce starved a key that is triggered all the time, and keys that were due ran in the
// order of a hash table.
func TestRegression09ABusyKeyIsNotStarved(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		w := r.serve(widgetsPath, r.object("busy"))
		ctl := New(r.client.All(widgets), r.noting(nil), &Options{Debounce: 3 * time.Second})
		r.start(ctl)
		const pause = 700 * time.Millisecond // so that no trigger comes in the moment of a run
		for range 10 * time.Minute / pause {
			w.Send("MODIFIED", r.object("busy"))
			time.Sleep(pause)
		}
		if n := len(r.got()); n != 19 {
			t.Errorf("%d runs in ten minutes, want 19: one 30s, which is 10 times Debounce, after the first trigger", n)
		}
	})
}

func TestRegression09DueKeysRunInTheirOrder(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		w := r.serve(widgetsPath)
		ctl := New(r.client.All(widgets), func(ctx context.Context, w *widget) (Action, error) {
			r.add(w.Name)
			time.Sleep(time.Second)
			return Await(), nil
		}, &Options{Concurrency: 1})
		r.settled(ctl)
		var want []string
		for i := range 50 {
			name := fmt.Sprint("w", i*37%50)
			w.Send("ADDED", r.object(name))
			synctest.Wait()
			want = append(want, (time.Duration(i)*time.Second).String()+" "+name)
		}
		time.Sleep(time.Minute)
		r.want(t, want...)
	})
}

// 10: a panic of a reconciler ended the controller.
func TestRegression10APanicEndsNothingElse(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		w := r.serve(widgetsPath, r.object("bad"), r.object("good"))
		ctl := New(r.client.All(widgets), r.noting(func(w *widget) (Action, error) {
			if w.Name == "bad" && w.Spec.Size == 0 {
				panic("at the disco")
			}
			return Await(), nil
		}), nil)
		r.settled(ctl)
		w.Send("MODIFIED", r.object("good", size(1)))
		w.Send("MODIFIED", r.object("bad", size(1)))
		synctest.Wait()
		for _, want := range []string{"0s good size 1", "0s bad size 1"} {
			if got := r.got(); !slices.ContainsFunc(got, func(line string) bool { return strings.HasPrefix(line, want) }) {
				t.Errorf("runs %q, want one with %q", got, want)
			}
		}
	})
}

// 11: the function that decides about retries was told of no attempts, and of no success.
func TestRegression11RetriesKnowTheirAttempt(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		w := r.serve(widgetsPath, r.object("a"))
		ctl := New(r.client.All(widgets), func(ctx context.Context, w *widget) (Action, error) {
			if w.Spec.Size == 1 {
				return Await(), nil
			}
			return Await(), errBoom
		}, nil)
		ctl.OnError(func(_ context.Context, _ *widget, _ error, attempt int) Action {
			r.add(fmt.Sprint("attempt ", attempt))
			return After(time.Second << attempt)
		})
		r.start(ctl)
		time.Sleep(10 * time.Second)
		w.Send("MODIFIED", r.object("a", size(1)))
		time.Sleep(10 * time.Second)
		w.Send("MODIFIED", r.object("a", size(2)))
		time.Sleep(time.Second)
		r.want(t, "0s attempt 1", "2s attempt 2", "6s attempt 3", "20s attempt 1")
	})
}
