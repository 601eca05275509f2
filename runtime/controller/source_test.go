package controller

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-kube/kube/resource"
	"github.com/go-kube/kube/runtime/watcher"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// settled starts a controller and clears the journal once it has reconciled what is there.
func (r *rig) settled(ctl *Controller[widget]) {
	r.start(ctl)
	r.clear()
	time.Sleep(time.Second)
	r.clear()
}

func TestOwnedObjectsTriggerTheirOwner(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.serve(widgetsPath, r.object("a"), r.object("b"))
		children := r.serve(gadgetsPath)
		ctl := New(r.client.All(widgets), r.noting(nil), nil)
		ctl.Owns(r.client.All(gadgets))
		r.settled(ctl)

		children.Send("ADDED", r.object("child", ownedBy("Widget", "a", "uid-a")))
		time.Sleep(time.Second)
		children.Send("MODIFIED", r.object("child", ownedBy("Widget", "a", "uid-a")))
		time.Sleep(time.Second)
		children.Send("DELETED", r.object("child", ownedBy("Widget", "a", "uid-a")))
		time.Sleep(time.Second)
		children.Send("ADDED", r.object("two", ownedBy("Widget", "a", "uid-a"), ownedBy("Widget", "b", "uid-b")))
		synctest.Wait()
		const because = "size 0 (related object updated: gadgets.example.com ns/"
		r.wantSorted(t,
			"0s a "+because+"child, attempt 1)",
			"1s a "+because+"child, attempt 1)",
			"2s a "+because+"child, attempt 1)",
			"3s a "+because+"two, attempt 1)",
			"3s b "+because+"two, attempt 1)",
		)
		for _, request := range r.srv.Requests() {
			if request.Path == gadgetsPath && !strings.Contains(request.Header.Get("Accept"), "as=PartialObjectMetadata") {
				t.Errorf("owned objects were asked for whole: Accept %q", request.Header.Get("Accept"))
			}
		}
	})
}

func TestOtherOwnersTriggerNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.serve(widgetsPath, r.object("a"))
		children := r.serve(gadgetsPath)
		ctl := New(r.client.All(widgets), r.noting(nil), nil)
		owned := ctl.Owns(r.client.All(gadgets))
		r.settled(ctl)
		otherGroup := func(w *widget) { w.OwnerReferences[0].APIVersion = "example.org/v1" }
		elsewhere := func(w *widget) { w.Namespace = "other" }
		for i, changes := range [][]func(*widget){
			{},
			{ownedBy("Gizmo", "a", "uid-a")},
			{ownedBy("Widget", "a", "uid of an earlier a")},
			{ownedBy("Widget", "unknown", "uid-a")},
			{ownedBy("Widget", "a", "uid-a"), otherGroup},
			{ownedBy("Widget", "a", "uid-a"), elsewhere},
		} {
			children.Send("ADDED", r.object(fmt.Sprint("child", i), changes...))
		}
		r.want(t)
		if n := len(owned.links); n != 3 {
			t.Errorf("%d of 6 objects are remembered, want those with an owner of the kind", n)
		}
	})
}

func TestClusterScopedOwnerOfNamespacedObjectsIsOneKey(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		owner := &realm{
			TypeMeta:   metav1.TypeMeta{APIVersion: "example.com/v1", Kind: "Realm"},
			ObjectMeta: metav1.ObjectMeta{Name: "a", UID: "uid-a", ResourceVersion: "1"},
		}
		own := r.serve(realmsPath, owner)
		children := r.serve(gadgetsPath)
		inside, most := 0, 0
		ctl := New(r.client.All(realms), func(ctx context.Context, obj *realm) (Action, error) {
			inside++
			most = max(most, inside)
			r.add(obj.Namespace + "/" + obj.Name)
			time.Sleep(10 * time.Second)
			inside--
			return Await(), nil
		}, nil)
		ctl.Owns(r.client.All(gadgets))
		ctl.ReconcileOn(yields(resource.Ref[realm]{Namespace: "wrong", Name: "a"}))
		r.start(ctl)
		time.Sleep(time.Second)
		children.Send("ADDED", r.object("child", ownedBy("Realm", "a", "uid-a")))
		own.Send("MODIFIED", owner)
		time.Sleep(time.Hour)
		r.want(t, "0s /a", "10s /a")
		if most != 1 {
			t.Errorf("%d reconciles of one object at a time", most)
		}
	})
}

func TestObjectThatChangesOwnersTriggersBoth(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.serve(widgetsPath, r.object("a"), r.object("b"))
		children := r.serve(gadgetsPath, r.object("child", ownedBy("Widget", "a", "uid-a")))
		ctl := New(r.client.All(widgets), r.noting(nil), nil)
		ctl.Owns(r.client.All(gadgets)).Filter(Generation())
		r.settled(ctl)
		children.Send("MODIFIED", r.object("child", ownedBy("Widget", "a", "uid-a"))) // held back
		time.Sleep(time.Second)
		children.Send("MODIFIED", r.object("child", ownedBy("Widget", "b", "uid-b")))
		time.Sleep(time.Second)
		children.Send("MODIFIED", r.object("child", ownedBy("Widget", "b", "uid-b"), size(2)))
		time.Sleep(time.Second)
		children.Send("MODIFIED", r.object("child", size(2)))
		synctest.Wait()
		const because = "size 0 (related object updated: gadgets.example.com ns/child, attempt 1)"
		r.wantSorted(t, "1s a "+because, "1s b "+because, "2s b "+because, "3s b "+because)
	})
}

// A relist tells what has vanished: kube-rs triggers nothing then.
func TestObjectsThatVanishedWhileTheServerWasAwayTriggerTheirOwners(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.serve(widgetsPath, r.object("a"), r.object("b"), r.object("c"))
		kept := r.object("kept", ownedBy("Widget", "b", "uid-b"))
		first := r.srv.Expect("GET " + gadgetsPath + "?watch=true&sendInitialEvents=true").Watch()
		first.Send("ADDED", r.object("lost", ownedBy("Widget", "a", "uid-a")))
		first.Send("ADDED", kept)
		first.InitialEventsEnd(r.next())
		ctl := New(r.client.All(widgets), r.noting(nil), nil)
		owned := ctl.Owns(r.client.All(gadgets))
		r.settled(ctl)
		r.serve(gadgetsPath, kept, r.object("new", ownedBy("Widget", "c", "uid-c")))
		first.Error(410, metav1.StatusReasonExpired, "too old")
		time.Sleep(10 * time.Second)
		synctest.Wait()
		var who []string
		for _, line := range r.lines {
			who = append(who, strings.Fields(line)[1])
		}
		if got := strings.Join(who, " "); got != "a c" && got != "c a" {
			t.Errorf("reconciles after the relist: %q", r.lines)
		}
		if n := len(owned.links); n != 2 {
			t.Errorf("%d objects are remembered, want 2", n)
		}
	})
}

func TestWatchedObjectsTriggerWhatTheyAreFoundToConcern(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.serve(widgetsPath, r.object("a"), r.object("b"))
		parts := r.serve(gadgetsPath)
		ctl := New(r.client.All(widgets), r.noting(nil), nil)
		ctl.Watches(r.client.All(gadgets), func(part *widget) []resource.Ref[widget] {
			if part.Spec.Part == "" {
				return nil
			}
			return []resource.Ref[widget]{{Namespace: "ns", Name: part.Spec.Part}, {Namespace: "ns", Name: "absent"}}
		})
		r.settled(ctl)
		of := func(name string) func(*widget) { return func(w *widget) { w.Spec.Part = name } }
		parts.Send("ADDED", r.object("part", of("a")))
		time.Sleep(time.Second)
		parts.Send("MODIFIED", r.object("part", of("b")))
		time.Sleep(time.Second)
		parts.Send("MODIFIED", r.object("part"))
		time.Sleep(time.Second)
		parts.Send("DELETED", r.object("part", of("a")))
		synctest.Wait()
		const because = "size 0 (related object updated: gadgets.example.com ns/part, attempt 1)"
		r.wantSorted(t, "0s a "+because, "1s a "+because, "1s b "+because, "2s b "+because, "3s a "+because)
		if s := ctl.Stats(); s.Absent != 0 {
			t.Errorf("Stats = %+v: an object that does not exist was queued", s)
		}
	})
}

func TestWatchedObjectThatDoesNotDecodeIsReportedAlone(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.serve(widgetsPath, r.object("a"))
		parts := r.serve(gadgetsPath, r.object("good"))
		var reported []error
		ctl := New(r.client.All(widgets), r.noting(nil), nil)
		ctl.Watches(r.client.All(gadgets), func(part *widget) []resource.Ref[widget] {
			if part.Name == "panics" {
				panic("mapper is broken")
			}
			return []resource.Ref[widget]{{Namespace: "ns", Name: "a"}}
		}).WatchOptions(watcher.Options{OnError: func(err error) { reported = append(reported, err) }})
		r.settled(ctl)
		parts.Send("MODIFIED", r.broken("good", r.next())) // triggers what it did before
		time.Sleep(time.Second)
		parts.Send("ADDED", r.broken("other", r.next()))
		parts.Send("ADDED", r.object("panics"))
		time.Sleep(time.Second)
		parts.Send("ADDED", r.object("fine"))
		synctest.Wait()
		r.want(t,
			"0s a size 0 (related object updated: gadgets.example.com ns/good, attempt 1)",
			"2s a size 0 (related object updated: gadgets.example.com ns/fine, attempt 1)",
		)
		if len(reported) != 3 {
			t.Fatalf("reported: %q", reported)
		}
		if _, ok := errors.AsType[*DecodeError](reported[1]); !ok {
			t.Errorf("reported %v for an object that does not decode", reported[1])
		}
		if _, ok := errors.AsType[*PanicError](reported[2]); !ok {
			t.Errorf("reported %v for a panic", reported[2])
		}
		r.wantLog("level=WARN", "related object", "resource=gadgets.example.com", "namespace=ns", "name=other")
		r.wantLog("level=WARN", "mapper is broken", "name=panics", "source_test.go")
	})
}

func TestMetadataCanBeWatchedAlone(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.serve(widgetsPath, r.object("a"))
		parts := r.serve(gadgetsPath)
		ctl := New(r.client.All(widgets), r.noting(nil), nil)
		ctl.Watches(r.client.All(gadgets.Metadata()), func(m *resource.Metadata[widget]) []resource.Ref[widget] {
			return []resource.Ref[widget]{{Namespace: m.Namespace, Name: m.Labels["for"]}}
		})
		r.settled(ctl)
		parts.Send("ADDED", r.object("part", func(w *widget) { w.Labels = map[string]string{"for": "a"} }))
		r.want(t, "0s a size 0 (related object updated: gadgets.example.com ns/part, attempt 1)")
	})
}

func TestControllerWaitsForTheFirstListsOfRelatedKinds(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.serve(widgetsPath, r.object("a"))
		children := r.watch(gadgetsPath)
		ctl := New(r.client.All(widgets), r.noting(nil), nil)
		ctl.Owns(r.client.All(gadgets))
		r.start(ctl)
		children.Send("ADDED", r.object("child", ownedBy("Widget", "a", "uid-a")))
		time.Sleep(5 * time.Second)
		r.want(t)
		children.InitialEventsEnd(r.next())
		time.Sleep(time.Minute)
		r.want(t, "5s a size 0 (object found, attempt 1)") // once, and not for the child again
	})
}

func TestControllerStartsWithoutAKindThatDoesNotCome(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.serve(widgetsPath, r.object("a"))
		missing := r.srv.Expect("GET " + gadgetsPath).Always()
		missing.Status(403, metav1.StatusReasonForbidden, "gadgets are forbidden", 0)
		ctl := New(r.client.All(widgets), r.noting(nil), nil)
		ctl.Owns(r.client.All(gadgets))
		r.start(ctl)
		time.Sleep(29 * time.Second)
		r.want(t)
		time.Sleep(2 * time.Second)
		r.want(t, "30s a size 0 (object found, attempt 1)")
		r.wantLog("level=WARN", "starting without a related kind", "resource=gadgets.example.com", "gadgets are forbidden")
		r.clear()
		missing.Times(0)
		children := r.serve(gadgetsPath, r.object("child", ownedBy("Widget", "a", "uid-a")))
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if n := len(r.lines); n != 1 || !strings.Contains(r.lines[0], "a size 0 (reconcile all: gadgets.example.com, attempt 1)") {
			t.Errorf("reconciles when the kind has come: %q", r.lines)
		}
		r.clear()
		children.Send("DELETED", r.object("child", ownedBy("Widget", "a", "uid-a")))
		r.want(t, "0s a size 0 (related object updated: gadgets.example.com ns/child, attempt 1)")
	})
}

func TestControllerNeedNotWaitForRelatedKinds(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.serve(widgetsPath, r.object("a"))
		r.watch(gadgetsPath)
		ctl := New(r.client.All(widgets), r.noting(nil), &Options{SyncTimeout: -1})
		ctl.Owns(r.client.All(gadgets))
		r.start(ctl)
		r.want(t, "0s a size 0 (object found, attempt 1)")
	})
}
