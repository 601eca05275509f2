package watcher_test

import (
	"context"
	"errors"
	"iter"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/k8s/core"
	"github.com/go-kube/kube/resource"
	"github.com/go-kube/kube/runtime/watcher"
)

func given(t *testing.T, name, version string) *resource.Raw {
	t.Helper()
	raw, err := resource.EncodeRaw(core.ConfigMaps.Descriptor(), object(name, version))
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// relay runs an engine over the given events, and then until its context ends. It returns what the engine
// yielded and its state at the end of the events.
func relay(t *testing.T, opts *watcher.Options, events ...watcher.RawEvent) (got []watcher.RawEvent, state watcher.State) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var engine *watcher.Engine
	engine = watcher.NewEngineFrom(kube.Detached(core.ConfigMaps, nil), opts, func(ctx context.Context) iter.Seq[watcher.RawEvent] {
		return func(yield func(watcher.RawEvent) bool) {
			for _, event := range events {
				if !yield(event) {
					return
				}
			}
			state = engine.State()
			cancel()
		}
	})
	for event := range engine.Events(ctx) {
		got = append(got, event)
	}
	if err := engine.State().LastError; err != nil {
		state = engine.State()
	}
	return got, state
}

// What a sequence leaves out of its events is filled in.
func TestRelay(t *testing.T) {
	got, state := relay(t, nil,
		watcher.RawEvent{Type: watcher.Init, ResourceVersion: "3"},
		watcher.RawEvent{Type: watcher.InitApply, Object: given(t, "a", "5"), ResourceVersion: "5"},
		watcher.RawEvent{Type: watcher.Apply, Object: given(t, "b", "11")},
		watcher.RawEvent{Type: watcher.Delete, Object: given(t, "c", "9")},
		watcher.RawEvent{Type: watcher.Bookmark, ResourceVersion: "8"},
		watcher.RawEvent{Type: watcher.InitDone},
		watcher.RawEvent{Type: watcher.Apply, Object: given(t, "a", "12")},
		watcher.RawEvent{Type: watcher.Bookmark, ResourceVersion: "20"},
		watcher.RawEvent{Type: watcher.Delete, Object: given(t, "b", "11"), ResourceVersion: "21"},
	)
	var lines []string
	for _, e := range got {
		name := ""
		if e.Object != nil {
			name = e.Object.Name()
		}
		lines = append(lines, strings.Join([]string{e.Type.String(), name, e.ResourceVersion}, " "))
	}
	want := []string{"Init  ", "InitApply a ", "InitApply b ", "Delete c ", "Bookmark  ", "InitDone  11", "Apply a 12", "Bookmark  20", "Delete b 21"}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if state.Phase != watcher.Watching || !state.Synced || state.ResourceVersion != "21" || state.LastError != nil {
		t.Errorf("state = %+v", state)
	}
}

// Objects that were never on a server have no version, and a snapshot of them has none.
func TestRelayWithoutVersions(t *testing.T) {
	got, state := relay(t, nil,
		watcher.RawEvent{Type: watcher.Init},
		watcher.RawEvent{Type: watcher.InitApply, Object: given(t, "a", "")},
		watcher.RawEvent{Type: watcher.InitDone},
	)
	if len(got) != 3 || got[2].ResourceVersion != "" || !state.Synced || state.ResourceVersion != "" {
		t.Errorf("got %v, state %+v", got, state)
	}
}

// What breaks the protocol ends the loop, and is told.
func TestRelayOutOfOrder(t *testing.T) {
	init := watcher.RawEvent{Type: watcher.Init}
	done := watcher.RawEvent{Type: watcher.InitDone}
	secret, err := resource.EncodeRaw(core.Secrets.Descriptor(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "s"}})
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		events []watcher.RawEvent
		want   string
	}{
		"no Init":           {[]watcher.RawEvent{{Type: watcher.InitApply, Object: given(t, "a", "1")}}, "InitApply came outside of a snapshot"},
		"InitDone alone":    {[]watcher.RawEvent{init, done, done}, "InitDone came outside of a snapshot"},
		"no snapshot":       {[]watcher.RawEvent{{Type: watcher.Apply, Object: given(t, "a", "1")}}, "begin with Init"},
		"Delete before all": {[]watcher.RawEvent{{Type: watcher.Delete, Object: given(t, "a", "1")}}, "begin with Init"},
		"no object":         {[]watcher.RawEvent{init, {Type: watcher.InitApply}}, "without an object"},
		"another kind":      {[]watcher.RawEvent{init, done, {Type: watcher.Apply, Object: secret}}, "Secret s of v1"},
		"no type":           {[]watcher.RawEvent{init, {}}, "EventType(0)"},
	} {
		t.Run(name, func(t *testing.T) {
			var told error
			got, state := relay(t, &watcher.Options{OnError: func(err error) { told = errors.Join(told, err) }}, append(test.events, init)...)
			if len(got) != len(test.events)-1 {
				t.Errorf("got %d events, want those before the wrong one: %d", len(got), len(test.events)-1)
			}
			for what, err := range map[string]error{"OnError": told, "State": state.LastError} {
				if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "configmaps") {
					t.Errorf("%s: %v, want %q", what, err, test.want)
				}
			}
		})
	}
}

// A sequence that ends is told from a context that ended.
func TestRelayEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		events := func(ctx context.Context) iter.Seq[watcher.RawEvent] {
			return func(yield func(watcher.RawEvent) bool) {
				if yield(watcher.RawEvent{Type: watcher.Init}) && yield(watcher.RawEvent{Type: watcher.InitDone}) {
					select {
					case <-ctx.Done():
					case <-time.After(time.Hour):
					}
				}
			}
		}
		engine := watcher.NewEngineFrom(kube.Detached(core.ConfigMaps, nil), nil, events)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		for range engine.Events(ctx) {
		}
		if err := engine.State().LastError; err != nil {
			t.Errorf("the context has ended, and that is told as a failure: %v", err)
		}
		for range engine.Events(t.Context()) {
		}
		if err := engine.State().LastError; !errors.Is(err, watcher.ErrSequenceEnded) {
			t.Errorf("the sequence has ended, the state says %v", err)
		}
	})
}

func TestRelayOptions(t *testing.T) {
	none := func(context.Context) iter.Seq[watcher.RawEvent] { return func(func(watcher.RawEvent) bool) {} }
	for _, opts := range []watcher.Options{{Labels: "a=b"}, {PageSize: 7}, {Timeout: time.Hour}} {
		if err := watcher.NewEngineFrom(kube.Detached(core.ConfigMaps, nil), &opts, none).Err(); err == nil || !strings.Contains(err.Error(), "configmaps") {
			t.Errorf("options %+v: error %v", opts, err)
		}
	}
	if err := watcher.NewEngineFrom(kube.Detached(core.ConfigMaps, nil), &watcher.Options{OnError: func(error) {}}, none).Err(); err != nil {
		t.Error(err)
	}
}

// A function that was left out is a mistake where it is made.
func TestRelayOfNothing(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no function is no mistake")
		}
	}()
	watcher.NewEngineFrom(kube.Detached(core.ConfigMaps, nil), nil, nil)
}
