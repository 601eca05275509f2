package resource_test

import (
	"encoding/json/v2"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/go-kube/kube/resource"
)

type gadgetSpec struct {
	Size int32 `json:"size"`
}

type gadgetStatus struct {
	Ready bool `json:"ready"`
}

type gadget = resource.Object[gadgetSpec, gadgetStatus]

var gadgets = resource.DefineNamespaced[gadget](resource.Info{Group: "example.com", Version: "v1", Kind: "Gadget"})

var (
	_ metav1.Object  = (*gadget)(nil)
	_ runtime.Object = (*gadget)(nil)
	_ metav1.Object  = (*resource.Metadata[gadget])(nil)
	_ runtime.Object = (*resource.Metadata[gadget])(nil)
)

func TestNew(t *testing.T) {
	got := resource.New(gadgets, "g", gadgetSpec{Size: 3})
	want := &gadget{
		TypeMeta:   metav1.TypeMeta{APIVersion: "example.com/v1", Kind: "Gadget"},
		ObjectMeta: metav1.ObjectMeta{Name: "g"},
		Spec:       gadgetSpec{Size: 3},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got, want := got.GetObjectKind().GroupVersionKind(), (schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Gadget"}); got != want {
		t.Errorf("GroupVersionKind %v, want %v", got, want)
	}
}

func TestWithStatusHasNothingElse(t *testing.T) {
	g := resource.New(gadgets, "g", gadgetSpec{Size: 3})
	g.Namespace, g.UID, g.ResourceVersion, g.Labels = "ns", "u", "7", map[string]string{"a": "b"}
	got := g.WithStatus(gadgetStatus{Ready: true})
	want := &gadget{
		TypeMeta:   g.TypeMeta,
		ObjectMeta: metav1.ObjectMeta{Name: "g", Namespace: "ns"},
		Status:     &gadgetStatus{Ready: true},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if g.Status != nil {
		t.Error("the status of the receiver was set")
	}
}

func TestObjectJSON(t *testing.T) {
	text := `{"apiVersion":"example.com/v1","kind":"Gadget","metadata":{"name":"g","namespace":"ns"},"spec":{"size":0},"status":{"ready":false}}`
	var g gadget
	if err := json.Unmarshal([]byte(text), &g); err != nil {
		t.Fatal(err)
	}
	if g.Kind != "Gadget" || g.Name != "g" || g.Namespace != "ns" || g.Status == nil {
		t.Errorf("read as %+v", g)
	}
	g.Status = nil
	data, err := json.Marshal(&g)
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]any
	if err := json.Unmarshal(data, &fields); err != nil {
		t.Fatal(err)
	}
	if _, ok := fields["status"]; ok {
		t.Errorf("a nil status is written: %s", data)
	}
	if _, ok := fields["spec"].(map[string]any)["size"]; !ok {
		t.Errorf("a zero size is not written: %s", data)
	}
}

func TestMetadataUnmarshal(t *testing.T) {
	partial := metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: "g", Namespace: "ns", Labels: map[string]string{"a": "b"}}}
	data, err := partial.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	var m resource.Metadata[gadget]
	descriptor := gadgets.Metadata().Descriptor()
	if err := descriptor.DecodeProtobuf(data, &m); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(partial.ObjectMeta, m.ObjectMeta); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got, want := m.Ref(), (resource.Ref[gadget]{Namespace: "ns", Name: "g"}); got != want {
		t.Errorf("Ref %v, want %v", got, want)
	}
	if err := descriptor.DecodeProtobuf([]byte{0xff}, &m); err == nil {
		t.Error("bytes that are no protobuf give no error")
	}
}

// hub is embedded without being exported: its fields are the outer struct's, for JSON too.
type hub struct {
	Promoted []string `json:"promoted"`
}

// own brings a DeepCopyInto that leaves a mark.
type own struct {
	Copies int      `json:"copies"`
	Shared []string `json:"shared"`
}

func (o *own) DeepCopyInto(out *own) { *out = own{Copies: o.Copies + 1} }

// outer promotes own's method, which cannot copy it.
type outer struct {
	own
	More map[string]string `json:"more"`
}

type node struct {
	Next *node `json:"next"`
}

type everything struct {
	hub
	Bool      bool                    `json:"bool"`
	Text      string                  `json:"text"`
	Pointer   *int                    `json:"pointer"`
	Bytes     []byte                  `json:"bytes"`
	Strings   []string                `json:"strings"`
	Pairs     [2]*int                 `json:"pairs"`
	Structs   []gadgetSpec            `json:"structs"`
	Pointers  []*gadgetSpec           `json:"pointers"`
	Maps      map[string][]string     `json:"maps"`
	Nested    map[string]map[int]bool `json:"nested"`
	Any       any                     `json:"any"`
	List      *node                   `json:"list"`
	Time      metav1.Time             `json:"time"`
	TimePtr   *metav1.Time            `json:"timePtr"`
	Standard  time.Time               `json:"standard"`
	Raw       runtime.RawExtension    `json:"raw"`
	NilMap    map[string]string       `json:"nilMap"`
	EmptyMap  map[string]string       `json:"emptyMap"`
	EmptyList []string                `json:"emptyList"`
}

func TestDeepCopySharesNothing(t *testing.T) {
	one, two := 1, 2
	now := metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	o := &resource.Object[everything, everything]{
		TypeMeta:   metav1.TypeMeta{Kind: "Everything"},
		ObjectMeta: metav1.ObjectMeta{Name: "e", Labels: map[string]string{"a": "b"}, DeletionTimestamp: &now},
		Spec: everything{
			hub:  hub{Promoted: []string{"p"}},
			Bool: true, Text: "t", Pointer: &one, Bytes: []byte("b"), Strings: []string{"s"}, Pairs: [2]*int{&one, &two},
			Structs: []gadgetSpec{{1}}, Pointers: []*gadgetSpec{{2}, nil},
			Maps:   map[string][]string{"m": {"x"}, "nil": nil},
			Nested: map[string]map[int]bool{"n": {1: true}},
			Any:    map[string]any{"deep": []any{map[string]any{"x": "y"}, nil, 1.5}},
			List:   &node{&node{&node{}}}, Time: now, TimePtr: &now, Standard: now.Time,
			Raw:      runtime.RawExtension{Raw: []byte(`{"a":1}`)},
			EmptyMap: map[string]string{}, EmptyList: []string{},
		},
	}
	o.Status = &o.Spec

	c := o.DeepCopy()

	if diff := cmp.Diff(o, c, cmp.AllowUnexported(everything{})); diff != "" {
		t.Errorf("the copy differs (-original +copy):\n%s", diff)
	}
	for _, path := range shared(reflect.ValueOf(o), reflect.ValueOf(c), "o") {
		t.Errorf("%s is shared", path)
	}
}

// shared returns the paths at which two values lead to the same memory.
func shared(a, b reflect.Value, path string) (paths []string) {
	if !a.IsValid() || !b.IsValid() || a.Type() == reflect.TypeFor[time.Time]() {
		return nil // a time.Location is never written
	}
	switch a.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Slice:
		if a.Pointer() == b.Pointer() && !a.IsNil() && (a.Kind() != reflect.Slice || a.Cap() > 0) {
			return []string{path}
		}
	}
	switch a.Kind() {
	case reflect.Pointer, reflect.Interface:
		return shared(a.Elem(), b.Elem(), path+".*")
	case reflect.Struct:
		for i := range a.NumField() {
			paths = append(paths, shared(a.Field(i), b.Field(i), path+"."+a.Type().Field(i).Name)...)
		}
	case reflect.Slice, reflect.Array:
		for i := range a.Len() {
			paths = append(paths, shared(a.Index(i), b.Index(i), fmt.Sprintf("%s[%d]", path, i))...)
		}
	case reflect.Map:
		for it := a.MapRange(); it.Next(); {
			paths = append(paths, shared(it.Value(), b.MapIndex(it.Key()), fmt.Sprintf("%s[%v]", path, it.Key()))...)
		}
	}
	return paths
}

func TestDeepCopyUsesTheMethodOfAType(t *testing.T) {
	o := &resource.Object[[]own, outer]{
		Spec:   []own{{Copies: 1, Shared: []string{"x"}}},
		Status: &outer{own: own{Copies: 1, Shared: []string{"x"}}, More: map[string]string{"a": "b"}},
	}
	c := o.DeepCopy()
	if got := c.Spec[0]; got.Copies != 2 || got.Shared != nil {
		t.Errorf("DeepCopyInto of an element was not used: %+v", got)
	}
	if diff := cmp.Diff(map[string]string{"a": "b"}, c.Status.More); diff != "" {
		t.Errorf("a promoted DeepCopyInto was taken for the struct's own:\n%s", diff)
	}
	c.Status.Shared[0], c.Status.More["a"] = "changed", "changed"
	if o.Status.Shared[0] != "x" || o.Status.More["a"] != "b" {
		t.Errorf("the status is shared: %+v", o.Status)
	}
}

func TestDeepCopyOfNil(t *testing.T) {
	var o *gadget
	var m *resource.Metadata[gadget]
	if o.DeepCopy() != nil || o.DeepCopyObject() != nil || m.DeepCopy() != nil || m.DeepCopyObject() != nil {
		t.Error("the copy of nil is not nil")
	}
	if c := (&gadget{}).DeepCopy(); c.Status != nil {
		t.Error("a nil status became one")
	}
}

func TestMetadataDeepCopy(t *testing.T) {
	m := &resource.Metadata[gadget]{
		TypeMeta:   metav1.TypeMeta{APIVersion: "example.com/v1", Kind: "Gadget"},
		ObjectMeta: metav1.ObjectMeta{Name: "g", Labels: map[string]string{"a": "b"}},
	}
	c := m.DeepCopyObject().(*resource.Metadata[gadget])
	if diff := cmp.Diff(m, c); diff != "" {
		t.Errorf("the copy differs:\n%s", diff)
	}
	c.Labels["a"] = "changed"
	if m.Labels["a"] != "b" {
		t.Error("labels are shared")
	}
}

func BenchmarkObjectDeepCopy(b *testing.B) {
	o := resource.New(gadgets, "g", gadgetSpec{Size: 3}).WithStatus(gadgetStatus{Ready: true})
	b.ReportAllocs()
	for b.Loop() {
		o.DeepCopy()
	}
}
