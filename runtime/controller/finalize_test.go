package controller

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/internal/apitest"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const finalizer = "example.com/cleanup"

// finalizeRig calls a reconciler made by Finalize, and notes what it does.
type finalizeRig struct {
	*rig
	patch     *apitest.Expectation
	reconcile func(context.Context, *widget) (Action, error)
	action    Action
	err       error // of apply and cleanup
}

func newFinalizeRig(r *rig, patch func(*apitest.Expectation)) *finalizeRig {
	f := &finalizeRig{rig: r}
	if patch != nil {
		f.patch = r.srv.Expect("PATCH /apis/example.com/v1/namespaces/ns/widgets/a")
		patch(f.patch)
	}
	note := func(what string) func(context.Context, *widget) (Action, error) {
		return func(context.Context, *widget) (Action, error) {
			r.add(what)
			return f.action, f.err
		}
	}
	f.reconcile = Finalize(r.client.All(widgets), finalizer, note("apply"), note("cleanup"))
	return f
}

func accepted(r *rig) func(*apitest.Expectation) {
	return func(e *apitest.Expectation) { e.JSON(http.StatusOK, r.object("a")) }
}

// wantPatch checks the body of the only request.
func (f *finalizeRig) wantPatch(t *testing.T, want string) {
	t.Helper()
	requests := f.srv.Requests()
	if len(requests) != 1 {
		t.Fatalf("%d requests, want one patch", len(requests))
	}
	if got := requests[0].Header.Get("Content-Type"); got != "application/json-patch+json" {
		t.Errorf("Content-Type %q", got)
	}
	if diff := cmp.Diff(steps(t, []byte(want)), steps(t, requests[0].Body)); diff != "" {
		t.Errorf("patch (-want +got):\n%s", diff)
	}
}

func steps(t *testing.T, patch []byte) (steps []map[string]any) {
	t.Helper()
	if err := json.Unmarshal(patch, &steps); err != nil {
		t.Fatalf("%v: %s", err, patch)
	}
	return steps
}

func with(finalizers ...string) func(*widget) { return func(w *widget) { w.Finalizers = finalizers } }

func deleting(w *widget) { w.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)} }

func TestFinalizeAddsItsFinalizerFirst(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		f := newFinalizeRig(r, accepted(r))
		action, err := f.reconcile(t.Context(), r.object("a"))
		if action != Await() || err != nil {
			t.Errorf("%v, %v", action, err)
		}
		f.want(t)
		f.wantPatch(t, `[
			{"op":"test","path":"/metadata/uid","value":"uid-a"},
			{"op":"test","path":"/metadata/finalizers","value":null},
			{"op":"add","path":"/metadata/finalizers","value":["example.com/cleanup"]}]`)
	})
}

func TestFinalizeAddsItsFinalizerToOthers(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		f := newFinalizeRig(r, accepted(r))
		if _, err := f.reconcile(t.Context(), r.object("a", with("x/y", "x/z"))); err != nil {
			t.Error(err)
		}
		f.want(t)
		f.wantPatch(t, `[
			{"op":"test","path":"/metadata/uid","value":"uid-a"},
			{"op":"test","path":"/metadata/finalizers","value":["x/y","x/z"]},
			{"op":"add","path":"/metadata/finalizers/-","value":"example.com/cleanup"}]`)
	})
}

func TestFinalizeAppliesUnderItsFinalizer(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		f := newFinalizeRig(r, nil)
		f.action, f.err = After(time.Minute), errBoom
		action, err := f.reconcile(t.Context(), r.object("a", with("x/y", finalizer)))
		if action != After(time.Minute) || !errors.Is(err, errBoom) {
			t.Errorf("%v, %v: want what apply returned", action, err)
		}
		f.want(t, "0s apply")
	})
}

func TestFinalizeCleansUpAndRemovesItsFinalizer(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		f := newFinalizeRig(r, accepted(r))
		action, err := f.reconcile(t.Context(), r.object("a", with("x/y", finalizer), deleting))
		if action != Await() || err != nil {
			t.Errorf("%v, %v", action, err)
		}
		f.want(t, "0s cleanup")
		f.wantPatch(t, `[
			{"op":"test","path":"/metadata/uid","value":"uid-a"},
			{"op":"test","path":"/metadata/finalizers/1","value":"example.com/cleanup"},
			{"op":"remove","path":"/metadata/finalizers/1"}]`)
	})
}

func TestFinalizeLeavesOthersToTheirWork(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		f := newFinalizeRig(r, nil)
		action, err := f.reconcile(t.Context(), r.object("a", with("x/y"), deleting))
		if action != Await() || err != nil {
			t.Errorf("%v, %v", action, err)
		}
		f.want(t)
	})
}

func TestFinalizeKeepsItsFinalizerUntilCleanupIsDone(t *testing.T) {
	for _, test := range []struct {
		action Action
		err    error
	}{{After(time.Minute), nil}, {Retry(), nil}, {Await(), errBoom}, {After(time.Second), Terminal(errBoom)}} {
		inBubble(t, func(t *testing.T, r *rig) {
			f := newFinalizeRig(r, nil) // a request would fail the test
			f.action, f.err = test.action, test.err
			action, err := f.reconcile(t.Context(), r.object("a", with(finalizer), deleting))
			if action != test.action || !errors.Is(err, test.err) || IsTerminal(err) != IsTerminal(test.err) {
				t.Errorf("%v, %v: want what cleanup returned, %v, %v", action, err, test.action, test.err)
			}
			if err != nil && !strings.Contains(err.Error(), "cleanup for finalizer "+finalizer) {
				t.Errorf("error %q does not say what failed", err)
			}
		})
	}
}

func TestFinalizeTakesAGoneObjectForDone(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		f := newFinalizeRig(r, func(e *apitest.Expectation) { e.Status(404, metav1.StatusReasonNotFound, "gone", 0) })
		if _, err := f.reconcile(t.Context(), r.object("a", with(finalizer), deleting)); err != nil {
			t.Error(err)
		}
	})
}

func TestFinalizeFailsWhenItsTestsDo(t *testing.T) {
	for what, change := range map[string]func(*widget){
		"add finalizer":    func(*widget) {},
		"remove finalizer": func(w *widget) { with(finalizer)(w); deleting(w) },
	} {
		inBubble(t, func(t *testing.T, r *rig) {
			f := newFinalizeRig(r, func(e *apitest.Expectation) { e.Status(422, metav1.StatusReasonInvalid, "testing value failed", 0) })
			_, err := f.reconcile(t.Context(), r.object("a", change))
			if !errors.Is(err, kube.ErrInvalid) || !strings.Contains(err.Error(), what+" "+finalizer) {
				t.Errorf("error %v, want one that names %s", err, what)
			}
		})
	}
}

func TestFinalizeOfAClusterScopedObject(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		obj := &realm{ObjectMeta: metav1.ObjectMeta{Name: "a", UID: "1"}}
		r.srv.Expect("PATCH "+realmsPath+"/a").JSON(http.StatusOK, obj)
		nothing := func(context.Context, *realm) (Action, error) { return Await(), nil }
		if _, err := Finalize(r.client.All(realms), finalizer, nothing, nothing)(t.Context(), obj); err != nil {
			t.Error(err)
		}
	})
}

func TestFinalizeNests(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		api := r.client.All(widgets)
		note := func(what string) func(context.Context, *widget) (Action, error) {
			return func(context.Context, *widget) (Action, error) { r.add(what); return Await(), nil }
		}
		inner := Finalize(api, "example.com/inner", note("inner apply"), note("inner cleanup"))
		outer := Finalize(api, "example.com/outer", inner, inner)
		r.srv.Expect("PATCH /apis/example.com/v1/namespaces/ns/widgets/a").Always().JSON(http.StatusOK, r.object("a"))
		for _, change := range []func(*widget){
			with(), with("example.com/outer"), with("example.com/outer", "example.com/inner"),
			func(w *widget) { with("example.com/outer", "example.com/inner")(w); deleting(w) },
		} {
			if _, err := outer(t.Context(), r.object("a", change)); err != nil {
				t.Error(err)
			}
		}
		r.want(t, "0s inner apply", "0s inner cleanup")
		var last []string
		for _, request := range r.srv.Requests() {
			s := steps(t, request.Body)
			last = append(last, fmt.Sprint(s[len(s)-1]["op"], " ", s[len(s)-1]["path"], " ", s[len(s)-1]["value"]))
		}
		want := []string{
			"add /metadata/finalizers [example.com/outer]",
			"add /metadata/finalizers/- example.com/inner",
			"remove /metadata/finalizers/1 <nil>",
			"remove /metadata/finalizers/0 <nil>",
		}
		if diff := cmp.Diff(want, last); diff != "" {
			t.Errorf("patches (-want +got):\n%s", diff)
		}
	})
}

func TestFinalizeRefusesBadNames(t *testing.T) {
	nothing := func(context.Context, *widget) (Action, error) { return Await(), nil }
	for name, want := range map[string]string{
		"":                   "name part must",
		"cleanup":            "it needs a domain, as in example.com/cleanup",
		"example.com/":       "name part must",
		"a/b/c":              "must consist of alphanumeric",
		"Example.com/x":      "prefix part",
		"example.com/with a": "name part must",
	} {
		func() {
			defer func() {
				if msg := fmt.Sprint(recover()); !strings.Contains(msg, want) || !strings.Contains(msg, fmt.Sprintf("%q", name)) {
					t.Errorf("Finalize(%q): panic %q, want it to say %q", name, msg, want)
				}
			}()
			Finalize(kube.API[widget]{}, name, nothing, nothing)
		}()
	}
}

// A whole life: found without the finalizer, applied under it, deleted, cleaned up, gone.
func TestFinalizeInAController(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		w := r.serve(widgetsPath, r.object("a"))
		f := newFinalizeRig(r, accepted(r))
		f.patch.Always()
		ctl := New(r.client.All(widgets), f.reconcile, nil)
		ctl.Filter(Or(Generation(), Finalizers()))
		r.start(ctl)
		synctest.Wait()
		time.Sleep(time.Second)
		w.Send("MODIFIED", r.object("a", with(finalizer)))
		time.Sleep(time.Second)
		w.Send("MODIFIED", r.object("a", with(finalizer), deleting))
		time.Sleep(time.Second)
		w.Send("DELETED", r.object("a", deleting))
		time.Sleep(time.Minute)
		r.want(t, "1s apply", "2s cleanup")
		if n := f.patch.Served(); n != 2 {
			t.Errorf("%d patches, want one to add and one to remove", n)
		}
	})
}
