package stream_test

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/go-kube/kube/k8s/core"
	"github.com/go-kube/kube/resource"
	"github.com/go-kube/kube/runtime/stream"
	"github.com/go-kube/kube/runtime/watcher"
)

// event is an event of a config map, in the form "Apply name uid@version"; uid and version may be left out.
func event(t testing.TB, text string) watcher.Event[corev1.ConfigMap] {
	t.Helper()
	words := strings.Fields(text)
	var e watcher.Event[corev1.ConfigMap]
	for e.Type = watcher.Init; e.Type.String() != words[0]; e.Type++ {
		if e.Type > watcher.Bookmark {
			t.Fatalf("%q is no event", text)
		}
	}
	if len(words) > 1 {
		e.Object = configMap(t, words[1:]...)
		e.ResourceVersion = e.Object.ResourceVersion()
	}
	return e
}

// configMap is a config map in the default namespace with a name and "uid@version".
func configMap(t testing.TB, words ...string) resource.Lazy[corev1.ConfigMap] {
	t.Helper()
	obj := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: words[0]}, Data: map[string]string{"big": "x"}}
	if len(words) > 1 {
		uid, version, _ := strings.Cut(words[1], "@")
		obj.UID, obj.ResourceVersion = types.UID(uid), version
	}
	raw, err := resource.EncodeRaw(core.ConfigMaps.Descriptor(), obj)
	if err != nil {
		t.Fatal(err)
	}
	return resource.AsLazy[corev1.ConfigMap](raw)
}

func sequence(t testing.TB, texts ...string) iter.Seq[watcher.Event[corev1.ConfigMap]] {
	return func(yield func(watcher.Event[corev1.ConfigMap]) bool) {
		for _, text := range texts {
			if !yield(event(t, text)) {
				return
			}
		}
	}
}

func texts(events iter.Seq[watcher.Event[corev1.ConfigMap]]) (all []string) {
	for e := range events {
		text := e.Type.String()
		if e.Object.Raw != nil {
			text = fmt.Sprintf("%s %s %s@%s", e.Type, e.Object.Name(), e.Object.UID(), e.Object.ResourceVersion())
		}
		all = append(all, text)
	}
	return all
}

func TestApplied(t *testing.T) {
	var got []string
	for object := range stream.Applied(sequence(t, "Init", "InitApply a u@1", "InitApply b v@2", "InitDone", "Apply a u@3", "Delete b v@4", "Apply c w@5")) {
		got = append(got, object.Name()+"@"+object.ResourceVersion())
	}
	if diff := cmp.Diff([]string{"a@1", "b@2", "a@3", "c@5"}, got); diff != "" {
		t.Errorf("objects (-want +got):\n%s", diff)
	}
}

func TestTouched(t *testing.T) {
	for name, test := range map[string]struct{ events, want []string }{
		"what is there and what changes": {
			[]string{"Init", "InitApply a u@1", "InitDone", "Apply a u@2", "Apply b v@3", "Delete a u@4"},
			[]string{"Apply a u@1", "Apply a u@2", "Apply b v@3", "Delete a u@4"},
		},
		"a later snapshot is the difference": {
			[]string{"Init", "InitApply a u@1", "InitApply b v@2", "InitDone", "Init", "InitApply a u@1", "InitApply b v@5", "InitApply c w@6", "InitDone"},
			[]string{"Apply a u@1", "Apply b v@2", "Apply b v@5", "Apply c w@6"},
		},
		"what has vanished": {
			[]string{"Init", "InitApply a u@1", "InitDone", "Apply b v@2", "Init", "InitApply b v@2", "InitDone", "Init", "InitDone"},
			[]string{"Apply a u@1", "Apply b v@2", "Delete a u@1", "Delete b v@2"},
		},
		"made again while nobody looked": {
			[]string{"Init", "InitApply a old@1", "InitDone", "Init", "InitApply a new@7", "InitDone"},
			[]string{"Apply a old@1", "Delete a old@1", "Apply a new@7"},
		},
		"made again, its deletion was missed": {
			[]string{"Init", "InitApply a old@1", "InitDone", "Apply a new@7", "Delete a old@8", "Delete a old@9"},
			[]string{"Apply a old@1", "Delete a old@1", "Apply a new@7", "Delete a new@7"},
		},
		"a snapshot that broke half way leaves no ghosts": {
			[]string{"Init", "InitApply a u@1", "InitApply b v@2", "Init", "InitApply b v@2", "InitDone", "Delete b v@3"},
			[]string{"Apply a u@1", "Apply b v@2", "Delete a u@1", "Delete b v@3"},
		},
		"gone within a snapshot": {
			[]string{"Init", "InitApply a u@1", "Delete a u@2", "InitDone", "Init", "InitDone"},
			[]string{"Apply a u@1", "Delete a u@2"},
		},
		"what was never there is not gone": {
			[]string{"Init", "InitDone", "Delete a u@1"},
			nil,
		},
		"repeated by the watch": {
			[]string{"Init", "InitDone", "Apply a u@1", "Apply a u@1"},
			[]string{"Apply a u@1", "Apply a u@1"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, texts(stream.Touched(sequence(t, test.events...)))); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		})
	}
}

// Each loop over a sequence starts anew, with what is there.
func TestTouchedAgain(t *testing.T) {
	touched := stream.Touched(sequence(t, "Init", "InitApply a u@1", "InitDone"))
	for range 2 {
		if diff := cmp.Diff([]string{"Apply a u@1"}, texts(touched)); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
	}
}

func TestModify(t *testing.T) {
	drop := func(m *corev1.ConfigMap) { m.Data = nil }
	failed := func(err error) { t.Error(err) }
	for e := range stream.Modify(sequence(t, "Init", "InitApply a u@1", "InitDone", "Apply a u@2", "Delete a u@3"), drop, failed) {
		if e.Object.Raw == nil {
			continue
		}
		obj, err := e.Object.Decode()
		if err != nil || obj.Data != nil || obj.Name != "a" || obj.ResourceVersion == "" {
			t.Errorf("%s: got %v, %v, want it without data", e.Type, obj, err)
		}
	}
}

// An object that cannot be modified comes as it is, and the reason is told.
func TestModifyFails(t *testing.T) {
	broken, err := resource.ParseRaw(core.ConfigMaps.Descriptor(), []byte(`{"metadata":{"name":"b","namespace":"default","uid":"u"},"data":7}`))
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		object resource.Lazy[corev1.ConfigMap]
		modify func(*corev1.ConfigMap)
		want   string
	}{
		"it does not decode": {resource.AsLazy[corev1.ConfigMap](broken), func(*corev1.ConfigMap) {}, "ConfigMap default/b"},
		"a panic":            {configMap(t, "a", "u@1"), func(*corev1.ConfigMap) { panic("no data") }, "no data"},
		"another name":       {configMap(t, "a", "u@1"), func(m *corev1.ConfigMap) { m.Name = "z" }, "default/z"},
		"another uid":        {configMap(t, "a", "u@1"), func(m *corev1.ConfigMap) { m.UID = "z" }, "(z)"},
	} {
		t.Run(name, func(t *testing.T) {
			events := stream.Snapshot(slices.Values([]resource.Lazy[corev1.ConfigMap]{test.object}))
			var failure error
			objects := slices.Collect(stream.Applied(stream.Modify(events, test.modify, func(err error) { failure = errors.Join(failure, err) })))
			if len(objects) != 1 || objects[0].Raw != test.object.Raw {
				t.Errorf("got %v, want the object as it came", objects)
			}
			if failure == nil || !strings.Contains(failure.Error(), test.want) {
				t.Errorf("told of %v, want %q", failure, test.want)
			}
			if n := len(slices.Collect(stream.Modify(events, test.modify, nil))); n != 3 {
				t.Errorf("got %d events where nobody is told, want 3", n)
			}
		})
	}
}

func TestSnapshot(t *testing.T) {
	objects := slices.Values([]resource.Lazy[corev1.ConfigMap]{configMap(t, "a", "u@1"), configMap(t, "b", "v@2")})
	want := []string{"Init", "InitApply a u@1", "InitApply b v@2", "InitDone"}
	if diff := cmp.Diff(want, texts(stream.Snapshot(objects))); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func TestMapAndFilter(t *testing.T) {
	numbers := slices.Values([]int{1, 2, 3, 4})
	even := stream.Filter(numbers, func(n int) bool { return n%2 == 0 })
	twice := stream.FlatMap(even, func(n int) iter.Seq[int] { return slices.Values([]int{n, n}) })
	got := slices.Collect(stream.Map(twice, func(n int) string { return fmt.Sprint(n) }))
	if diff := cmp.Diff([]string{"2", "2", "4", "4"}, got); diff != "" {
		t.Errorf("items (-want +got):\n%s", diff)
	}
	nothing := func(int) iter.Seq[int] { return func(func(int) bool) {} }
	if got := slices.Collect(stream.FlatMap(numbers, nothing)); got != nil {
		t.Errorf("got %v of nothing", got)
	}
}

// A loop that is broken breaks what is under it: nothing more is read.
func TestBrokenLoops(t *testing.T) {
	for name, through := range map[string]func(iter.Seq[watcher.Event[corev1.ConfigMap]]) iter.Seq[watcher.Event[corev1.ConfigMap]]{
		"Touched": stream.Touched[corev1.ConfigMap],
		"Modify": func(s iter.Seq[watcher.Event[corev1.ConfigMap]]) iter.Seq[watcher.Event[corev1.ConfigMap]] {
			return stream.Modify(s, func(*corev1.ConfigMap) {}, nil)
		},
		"Filter": func(s iter.Seq[watcher.Event[corev1.ConfigMap]]) iter.Seq[watcher.Event[corev1.ConfigMap]] {
			return stream.Filter(s, func(watcher.Event[corev1.ConfigMap]) bool { return true })
		},
		"Map": func(s iter.Seq[watcher.Event[corev1.ConfigMap]]) iter.Seq[watcher.Event[corev1.ConfigMap]] {
			return stream.Map(s, func(e watcher.Event[corev1.ConfigMap]) watcher.Event[corev1.ConfigMap] { return e })
		},
		"FlatMap": func(s iter.Seq[watcher.Event[corev1.ConfigMap]]) iter.Seq[watcher.Event[corev1.ConfigMap]] {
			return stream.FlatMap(s, func(e watcher.Event[corev1.ConfigMap]) iter.Seq[watcher.Event[corev1.ConfigMap]] {
				return slices.Values([]watcher.Event[corev1.ConfigMap]{e, e})
			})
		},
		"Applied and Snapshot": func(s iter.Seq[watcher.Event[corev1.ConfigMap]]) iter.Seq[watcher.Event[corev1.ConfigMap]] {
			return stream.Snapshot(stream.Applied(s))
		},
	} {
		t.Run(name, func(t *testing.T) {
			read, closed := 0, false
			source := func(yield func(watcher.Event[corev1.ConfigMap]) bool) {
				defer func() { closed = true }()
				for {
					for _, text := range []string{"Init", "InitApply a u@1", "InitDone", "Apply a u@2", "Init", "InitDone"} {
						if read++; !yield(event(t, text)) {
							return
						}
					}
				}
			}
			n := 0
			for range through(source) {
				if n++; n == 3 {
					break
				}
			}
			if !closed || read > 6 {
				t.Errorf("%d events were read, the loop under it has ended: %t", read, closed)
			}
		})
	}
}
