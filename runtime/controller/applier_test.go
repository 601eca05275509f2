package controller

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/runtime/reflector"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func patches(r *rig) (n int) {
	for _, req := range r.srv.Requests() {
		if req.Method == http.MethodPatch {
			n++
		}
	}
	return n
}

// filled returns a running store of widgets.
func filled(r *rig) reflector.Store[widget] {
	f := reflector.New(r.client.All(widgets), nil)
	r.start(f)
	if err := f.Store().WaitReady(r.t.Context()); err != nil {
		r.t.Fatal(err)
	}
	return f.Store()
}

func TestApplierSendsNothingThatIsTrueAlready(t *testing.T) {
	inLaggingBubble(t, 10*time.Millisecond, func(t *testing.T, r *rig, s *laggingServer) {
		api := r.client.Namespaced(widgets, "ns")
		a := NewApplier(api, filled(r), "test", nil)
		wanted := func(size int) *widget {
			return &widget{ObjectMeta: metav1.ObjectMeta{Name: "a"}, Spec: widgetSpec{Size: size}}
		}
		other := func(patch string) func(*testing.T) {
			return func(t *testing.T) {
				if _, err := api.Patch(t.Context(), "a", kube.MergePatch([]byte(patch)), nil); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Second)
			}
		}
		for _, step := range []struct {
			name   string
			before func(*testing.T)
			size   int
			wait   time.Duration
			sends  bool
		}{
			{name: "first", size: 1, sends: true},
			{name: "the cache does not show it yet", size: 1, sends: true, wait: time.Second},
			{name: "the same", size: 1},
			{name: "the same again", size: 1},
			{name: "other content", size: 2, sends: true, wait: time.Second},
			{name: "the same as that", size: 2},
			{name: "somebody changed it", before: other(`{"spec":{"size":9}}`), size: 2, sends: true, wait: time.Second},
			{name: "somebody changed what is not ours", before: other(`{"metadata":{"labels":{"x":"y"}}}`), size: 2, sends: true, wait: time.Second},
			{name: "settled", size: 2},
			{name: "deleted", before: func(t *testing.T) {
				if err := api.Delete(t.Context(), "a", nil); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Second)
			}, size: 2, sends: true, wait: time.Second},
			{name: "made anew", size: 2},
		} {
			if step.before != nil {
				step.before(t)
			}
			before := patches(r)
			got, err := a.Apply(t.Context(), wanted(step.size))
			if err != nil {
				t.Fatalf("%s: %v", step.name, err)
			}
			if got.Spec.Size != step.size || got.UID == "" {
				t.Errorf("%s: got %+v", step.name, got)
			}
			if sent := patches(r) > before; sent != step.sends {
				t.Errorf("%s: sent %v, want %v", step.name, sent, step.sends)
			}
			time.Sleep(step.wait)
		}
		if diff := cmp.Diff(ApplierStats{Sent: 6, Skipped: 5}, a.Stats()); diff != "" {
			t.Errorf("Stats (-want +got):\n%s", diff)
		}
	})
}

func TestApplierKeepsObjectAndStatusApart(t *testing.T) {
	inLaggingBubble(t, 0, func(t *testing.T, r *rig, s *laggingServer) {
		a := NewApplier(r.client.Namespaced(widgets, "ns"), filled(r), "test", nil)
		obj := &widget{ObjectMeta: metav1.ObjectMeta{Name: "a"}, Spec: widgetSpec{Size: 1}}
		var sent []int
		for range 3 {
			before := patches(r)
			for _, apply := range []func(context.Context, *widget) (*widget, error){a.Apply, a.ApplyStatus} {
				if _, err := apply(t.Context(), obj); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Second)
			}
			sent = append(sent, patches(r)-before)
		}
		if diff := cmp.Diff([]int{2, 0, 0}, sent); diff != "" {
			t.Errorf("requests per round (-want +got):\n%s", diff)
		}
	})
}

func TestApplierSendsDryRunsAndWhatIsWrong(t *testing.T) {
	inLaggingBubble(t, 0, func(t *testing.T, r *rig, s *laggingServer) {
		store := filled(r)
		dry := NewApplier(r.client.Namespaced(widgets, "ns"), store, "test", &kube.ApplyOptions{DryRun: true})
		for range 2 {
			if _, err := dry.Apply(t.Context(), &widget{ObjectMeta: metav1.ObjectMeta{Name: "a"}}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
		}
		if n := patches(r); n != 2 {
			t.Errorf("%d requests, want both dry runs", n)
		}
		_, err := NewApplier(r.client.Namespaced(widgets, "ns"), store, "", nil).Apply(t.Context(), &widget{ObjectMeta: metav1.ObjectMeta{Name: "a"}})
		if err == nil || !strings.Contains(err.Error(), "field manager") {
			t.Errorf("error %v, want one that asks for a field manager", err)
		}
	})
}

func TestApplierForgetsWhatIsGone(t *testing.T) {
	inLaggingBubble(t, 0, func(t *testing.T, r *rig, s *laggingServer) {
		api := r.client.Namespaced(widgets, "ns")
		a := NewApplier(api, filled(r), "test", nil)
		for i := range minApplied + 1 {
			name := fmt.Sprint("a", i)
			if _, err := a.Apply(t.Context(), &widget{ObjectMeta: metav1.ObjectMeta{Name: name}}); err != nil {
				t.Fatal(err)
			}
			if err := api.Delete(t.Context(), name, nil); err != nil {
				t.Fatal(err)
			}
		}
		if n := len(a.last); n > 100 {
			t.Errorf("%d objects are remembered", n)
		}
	})
}
