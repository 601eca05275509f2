package kubetest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestFieldsOfNewObjects compares the managed fields of new objects with those that a field
// manager gives them, for objects of every kind that are filled at random.
func TestFieldsOfNewObjects(t *testing.T) {
	s, err := NewServer(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	filler := newFiller(newTestScheme(t))
	walked, needed := 0, 0
	for _, k := range s.kinds.catalog().kinds {
		if k.custom || !k.allows(verbCreate) {
			continue
		}
		c, err := s.newCreation(k)
		if err != nil {
			continue // a review, which nobody keeps
		}
		m, err := s.fieldManager(k, "")
		if err != nil {
			t.Fatal(err)
		}
		for n := range 20 {
			obj := k.new()
			if n > 0 {
				filler.Fill(obj)
			}
			k.strategy.setDefaults(obj)
			accessor(obj).SetManagedFields(nil)
			got, err := c.entries(obj.DeepCopyObject(), "test", k.groupVersion().String())
			if err != nil {
				needed++
				continue
			}
			walked++
			tracked := updateFields(m, k.empty(), obj, "test")
			if diff := cmp.Diff(accessor(tracked).GetManagedFields(), got, cmpopts.IgnoreFields(metav1.ManagedFieldsEntry{}, "Time"), fieldsAsText); diff != "" {
				t.Errorf("%s: managed fields (-field manager +ours):\n%s", k.GroupVersionKind(), diff)
				break
			}
		}
	}
	if walked < 500 || needed > walked/2 {
		t.Errorf("%d objects were compared, and %d need a field manager", walked, needed)
	}
	t.Logf("%d objects were compared, and %d need a field manager", walked, needed)
}

// fieldsAsText compares sets of fields by their text, which is shown.
var fieldsAsText = cmp.Transformer("text", func(f metav1.FieldsV1) string { return string(f.Raw) })
