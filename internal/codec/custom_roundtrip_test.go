package codec

import (
	jsonv1 "encoding/json"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	kjson "sigs.k8s.io/json"
)

// TestCustomTypesAreThoseOfTheServer compares with encoding/json, which is what the API
// machinery encodes with, and sigs.k8s.io/json, which it decodes with.
func TestCustomTypesAreThoseOfTheServer(t *testing.T) {
	filler := newCustomFiller(t, 2)
	for range 20 * rounds() {
		checkLikeServer(t, filler.Fill, new(gadget))
		checkLikeServer(t, filler.Fill, new(webApp))
	}
}

func checkLikeServer[T any](t *testing.T, fill func(any), obj *T) {
	t.Helper()
	fill(obj)
	want, err := jsonv1.Marshal(obj)
	if err != nil {
		t.Fatal(err)
	}
	got, err := EncodeJSON(obj)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Fatalf("encoded differently (-server +ours):\n%s", diff)
	}
	var theirs, ours T
	if err := kjson.UnmarshalCaseSensitivePreserveInts(want, &theirs); err != nil {
		t.Fatal(err)
	}
	if err := DecodeJSON(want, &ours); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(theirs, ours) {
		t.Fatalf("decoded differently (-server +ours):\n%s", cmp.Diff(theirs, ours, cmpopts.IgnoreUnexported(gadgetSpec{})))
	}
}

// TestCustomApplyLosesNothing is TestApplyLosesNothing for custom types.
func TestCustomApplyLosesNothing(t *testing.T) {
	filler := newCustomFiller(t, 3)
	for range 20 * rounds() {
		var obj, full, sparse gadget
		filler.Fill(&obj)
		obj.ManagedFields, obj.APIVersion, obj.Kind = nil, "example.com/v1", "Gadget"
		fullJSON, err := EncodeJSON(&obj)
		if err != nil {
			t.Fatal(err)
		}
		sparseJSON, err := EncodeApply(&obj, "example.com/v1", "Gadget", nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := DecodeJSON(fullJSON, &full); err != nil {
			t.Fatal(err)
		}
		if err := DecodeJSON(sparseJSON, &sparse); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(mustEncode(t, &full), mustEncode(t, &sparse)); diff != "" {
			t.Fatalf("the sparse form lost something (-full +sparse):\n%s", diff)
		}
	}
}

func mustEncode(t testing.TB, obj any) string {
	t.Helper()
	data, err := EncodeJSON(obj)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
