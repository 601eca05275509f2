package controller

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-kube/kube/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var widgetKind = &resource.Descriptor{Info: resource.Info{
	Group: "example.com", Version: "v1", Kind: "Widget", Plural: "widgets", Singular: "widget",
}}

// raw returns a widget as a server would send it.
func raw(t testing.TB, meta metav1.ObjectMeta) *resource.Raw {
	t.Helper()
	r, err := resource.EncodeRaw(widgetKind, &metav1.PartialObjectMetadata{
		TypeMeta:   metav1.TypeMeta{APIVersion: "example.com/v1", Kind: "Widget"},
		ObjectMeta: meta,
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// meta changes a copy of a widget's metadata.
func meta(change func(*metav1.ObjectMeta)) metav1.ObjectMeta {
	m := metav1.ObjectMeta{Namespace: "ns", Name: "a", UID: "1", ResourceVersion: "1", Generation: 1}
	if change != nil {
		change(&m)
	}
	return m
}

func TestPredicatesPassTheirChanges(t *testing.T) {
	changes := map[string]func(*metav1.ObjectMeta){
		"nothing":     func(m *metav1.ObjectMeta) {},
		"version":     func(m *metav1.ObjectMeta) { m.ResourceVersion = "2" },
		"generation":  func(m *metav1.ObjectMeta) { m.ResourceVersion, m.Generation = "2", 2 },
		"labels":      func(m *metav1.ObjectMeta) { m.ResourceVersion, m.Labels = "2", map[string]string{"a": "b"} },
		"annotations": func(m *metav1.ObjectMeta) { m.ResourceVersion, m.Annotations = "2", map[string]string{"a": "b"} },
		"finalizers":  func(m *metav1.ObjectMeta) { m.ResourceVersion, m.Finalizers = "2", []string{"x/y"} },
		"recreated":   func(m *metav1.ObjectMeta) { m.ResourceVersion, m.UID = "2", "2" },
		"deletion": func(m *metav1.ObjectMeta) {
			m.ResourceVersion, m.DeletionTimestamp = "2", &metav1.Time{Time: metav1.Now().Time}
		},
	}
	tier := Changed(func(r *resource.Raw) (string, bool) { return r.Label("a") })
	always := "recreated deletion"
	for name, test := range map[string]struct {
		predicate Predicate
		passes    string
	}{
		"Generation":      {Generation(), "generation"},
		"ResourceVersion": {ResourceVersion(), "version generation labels annotations finalizers"},
		"Labels":          {Labels(), "labels"},
		"Annotations":     {Annotations(), "annotations"},
		"Finalizers":      {Finalizers(), "finalizers"},
		"Or":              {Or(Generation(), Labels(), Finalizers()), "generation labels finalizers"},
		"And":             {And(Generation(), ResourceVersion()), "generation"},
		"nested":          {And(Or(Generation(), Labels()), ResourceVersion()), "generation labels"},
		"Changed":         {tier, "nothing version generation labels annotations finalizers"},
		"Fallback":        {Fallback(tier, Generation()), "generation labels"},
		"Fallback unused": {Fallback(Generation(), Labels()), "generation"},
		"zero":            {Predicate{}, "nothing version generation labels annotations finalizers"},
		"Or of zero":      {Or(Predicate{}, Generation()), "nothing version generation labels annotations finalizers"},
	} {
		t.Run(name, func(t *testing.T) {
			for change, apply := range changes {
				f := newFilter(test.predicate)
				if !f.pass(objectKey{"ns", "a"}, raw(t, meta(nil))) {
					t.Fatal("an object that was not seen before does not pass")
				}
				want := slices.Contains(strings.Fields(test.passes+" "+always), change)
				if got := f.pass(objectKey{"ns", "a"}, raw(t, meta(apply))); got != want {
					t.Errorf("change of %s: passes = %t, want %t", change, got, want)
				}
			}
		})
	}
}

func TestGenerationOfAKindWithoutOnePassesEveryChange(t *testing.T) {
	f := newFilter(Generation())
	key := objectKey{"ns", "a"}
	for i, version := range []string{"1", "2", "2", "3"} {
		r := raw(t, meta(func(m *metav1.ObjectMeta) { m.Generation, m.ResourceVersion = 0, version }))
		if got, want := f.pass(key, r), i != 2; got != want {
			t.Errorf("event %d: passes = %t, want %t", i, got, want)
		}
	}
}

func TestWhereDecidesByTheObjectAlone(t *testing.T) {
	ours := Where(func(r *resource.Raw) bool { _, ok := r.Label("ours"); return ok })
	labels := func(generation int64, ours bool) *resource.Raw {
		return raw(t, meta(func(m *metav1.ObjectMeta) {
			m.Generation = generation
			if ours {
				m.Labels = map[string]string{"ours": ""}
			}
		}))
	}
	key := objectKey{"ns", "a"}
	alone := newFilter(ours)
	both := newFilter(And(ours, Generation()))
	for i, step := range []struct {
		raw        *resource.Raw
		alone, and bool
	}{
		{labels(1, false), false, false},
		{labels(1, true), true, true},
		{labels(1, true), true, false},
		{labels(2, false), false, false}, // held back, and not forgotten:
		{labels(2, true), true, true},
		{labels(2, true), true, false},
	} {
		if got := alone.pass(key, step.raw); got != step.alone {
			t.Errorf("step %d: Where passes = %t, want %t", i, got, step.alone)
		}
		if got := both.pass(key, step.raw); got != step.and {
			t.Errorf("step %d: And passes = %t, want %t", i, got, step.and)
		}
	}
}

func TestFilterForgetsDeletedObjects(t *testing.T) {
	f := newFilter(Or(Generation(), Labels()))
	for i := range 1000 {
		key := objectKey{"ns", fmt.Sprint(i)}
		if !f.pass(key, raw(t, meta(nil))) || f.pass(key, raw(t, meta(nil))) {
			t.Fatal("an object passes the first time, and unchanged not again")
		}
		f.drop(key)
		if len(f.passed) != 0 {
			t.Fatal("a deleted object is still remembered")
		}
		if !f.pass(key, raw(t, meta(nil))) {
			t.Fatal("an object does not pass after its deletion")
		}
		f.drop(key)
	}
}

func TestFilterWithoutPredicateRemembersNothing(t *testing.T) {
	f := newFilter(Predicate{})
	for range 2 {
		if !f.pass(objectKey{"ns", "a"}, raw(t, meta(nil))) {
			t.Error("the zero predicate holds something back")
		}
	}
	if len(f.passed) != 0 {
		t.Error("the zero predicate remembers objects")
	}
}

func TestPredicateWithoutPartsIsAMistake(t *testing.T) {
	for name, f := range map[string]func(...Predicate) Predicate{"And": And, "Or": Or, "Fallback": Fallback} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if msg := fmt.Sprint(recover()); !strings.Contains(msg, name) {
					t.Errorf("panic %q does not name %s", msg, name)
				}
			}()
			f()
		})
	}
}

func BenchmarkFilter(b *testing.B) {
	r := raw(b, meta(func(m *metav1.ObjectMeta) { m.Labels = map[string]string{"app": "web", "tier": "front"} }))
	for name, p := range map[string]Predicate{"generation": Generation(), "labels": Labels(), "both": Or(Generation(), Labels())} {
		b.Run(name, func(b *testing.B) {
			f := newFilter(p)
			b.ReportAllocs()
			for b.Loop() {
				f.pass(objectKey{"ns", "a"}, r)
			}
		})
	}
}
