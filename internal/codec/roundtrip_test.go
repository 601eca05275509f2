package codec

import (
	"bytes"
	"encoding/json/jsontext"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	jsonserializer "k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
)

// rounds is how many random objects of each kind are tried.
func rounds() int {
	if testing.Short() {
		return 2
	}
	return 15
}

// eachObject calls f with random objects of every built-in kind.
func eachObject(t *testing.T, f func(t *testing.T, gvk schema.GroupVersionKind, obj runtime.Object)) {
	t.Helper()
	scheme := newScheme(t)
	all := kinds(scheme)
	if len(all) < 200 {
		t.Fatalf("only %d kinds; the scheme is not filled", len(all))
	}
	filler := newFiller(t, scheme, 1)
	for _, gvk := range all {
		t.Run(gvk.GroupVersion().String()+" "+gvk.Kind, func(t *testing.T) {
			for range rounds() {
				obj, err := scheme.New(gvk)
				if err != nil {
					t.Fatal(err)
				}
				filler.Fill(obj)
				obj.GetObjectKind().SetGroupVersionKind(gvk)
				f(t, gvk, obj)
			}
		})
	}
}

func TestJSONIsThatOfTheServer(t *testing.T) {
	scheme := newScheme(t)
	theirs := jsonserializer.NewSerializerWithOptions(jsonserializer.DefaultMetaFactory, scheme, scheme, jsonserializer.SerializerOptions{})
	eachObject(t, func(t *testing.T, gvk schema.GroupVersionKind, obj runtime.Object) {
		want, err := runtime.Encode(theirs, obj)
		if err != nil {
			t.Fatal(err)
		}
		got, err := EncodeJSON(obj)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(bytes.TrimSuffix(want, []byte("\n"))), string(got)); diff != "" {
			t.Fatalf("encoded differently (-server +ours):\n%s", diff)
		}
		wantObj, _, err := theirs.Decode(got, nil, newOf(obj))
		if err != nil {
			t.Fatal(err)
		}
		gotObj := newOf(obj)
		if err := DecodeJSON(want, gotObj); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(wantObj, gotObj) {
			t.Fatalf("decoded differently (-server +ours):\n%s", cmp.Diff(wantObj, gotObj))
		}
	})
}

func TestProtobufIsThatOfTheServer(t *testing.T) {
	scheme := newScheme(t)
	theirs := protobuf.NewSerializer(scheme, scheme)
	supported := 0
	eachObject(t, func(t *testing.T, gvk schema.GroupVersionKind, obj runtime.Object) {
		want, err := runtime.Encode(theirs, obj)
		if SupportsProtobuf(obj) != (err == nil) {
			t.Fatalf("SupportsProtobuf is %v, the server says: %v", SupportsProtobuf(obj), err)
		}
		if err != nil {
			return
		}
		supported++
		apiVersion, kind := gvk.ToAPIVersionAndKind()
		got, err := EncodeProtobuf(obj, apiVersion, kind)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(want, got) {
			t.Fatalf("encoded differently:\nserver %x\nours   %x", want, got)
		}
		var envelope runtime.Unknown
		if err := envelope.Unmarshal(want[len(magic):]); err != nil {
			t.Fatal(err)
		}
		wantObj, _, err := theirs.Decode(got, nil, newOf(obj))
		if err != nil {
			t.Fatal(err)
		}
		gotObj := newOf(obj)
		if err := DecodeProtobuf(envelope.Raw, gotObj); err != nil {
			t.Fatal(err)
		}
		gotObj.GetObjectKind().SetGroupVersionKind(gvk)
		wantObj.GetObjectKind().SetGroupVersionKind(gvk)
		if !reflect.DeepEqual(wantObj, gotObj) {
			t.Fatalf("decoded differently (-server +ours):\n%s", cmp.Diff(wantObj, gotObj))
		}
	})
	if supported < 200*rounds() {
		t.Fatalf("only %d objects went through protobuf", supported)
	}
}

func TestUnstructuredIsThatOfTheServer(t *testing.T) {
	eachObject(t, func(t *testing.T, gvk schema.GroupVersionKind, obj runtime.Object) {
		data, err := EncodeJSON(obj)
		if err != nil {
			t.Fatal(err)
		}
		var want, got unstructured.Unstructured
		if err := want.UnmarshalJSON(data); err != nil {
			t.Fatal(err)
		}
		if err := DecodeJSON(data, &got); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(want, got) {
			t.Fatalf("decoded differently (-server +ours):\n%s", cmp.Diff(want, got))
		}
		wantData, err := want.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		gotData, err := EncodeJSON(&got)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(bytes.TrimSuffix(wantData, []byte("\n"))), string(gotData)); diff != "" {
			t.Fatalf("encoded differently (-server +ours):\n%s", diff)
		}
	})
}

// TestApplyLosesNothing decodes the sparse form of random objects: it has to give back all
// that the full form gives back, but for managedFields.
func TestApplyLosesNothing(t *testing.T) {
	eachObject(t, func(t *testing.T, gvk schema.GroupVersionKind, obj runtime.Object) {
		apiVersion, kind := gvk.ToAPIVersionAndKind()
		if accessor, err := meta.Accessor(obj); err == nil {
			accessor.SetManagedFields(nil)
		}
		full, err := EncodeJSON(obj)
		if err != nil {
			t.Fatal(err)
		}
		sparse, err := EncodeApply(obj, apiVersion, kind, nil)
		if err != nil {
			t.Fatal(err)
		}
		if !jsontext.Value(sparse).IsValid() {
			t.Fatalf("invalid JSON: %s", sparse)
		}
		want, got := newOf(obj), newOf(obj)
		if err := DecodeJSON(full, want); err != nil {
			t.Fatal(err)
		}
		if err := DecodeJSON(sparse, got); err != nil {
			t.Fatal(err)
		}
		if !equality.Semantic.DeepEqual(want, got) {
			t.Fatalf("the sparse form lost something (-full +sparse):\n%s", cmp.Diff(want, got))
		}
	})
}

// TestBuiltInTypesArePlain looks at every type that traitsOf trusts.
func TestBuiltInTypesArePlain(t *testing.T) {
	scheme := newScheme(t)
	for _, gvk := range kinds(scheme) {
		obj, err := scheme.New(gvk)
		if err != nil {
			t.Fatal(err)
		}
		walk := traitsWalk{trust: func(reflect.Type) bool { return false }, seen: make(map[reflect.Type]bool)}
		if found := walk.visit(reflect.TypeOf(obj).Elem()); found != plain {
			t.Errorf("%s: traits are %b, and traitsOf says %b", gvk, found, traitsOf(reflect.TypeOf(obj).Elem()))
		}
	}
}

// newOf returns a new, empty object of obj's type.
func newOf(obj runtime.Object) runtime.Object {
	return reflect.New(reflect.TypeOf(obj).Elem()).Interface().(runtime.Object)
}
