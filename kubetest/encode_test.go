package kubetest

import (
	"bytes"
	"encoding/binary"
	"math/rand"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/apitesting/fuzzer"
	"k8s.io/apimachinery/pkg/api/meta"
	metafuzzer "k8s.io/apimachinery/pkg/apis/meta/fuzzer"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	k8swatch "k8s.io/apimachinery/pkg/watch"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/randfill"
)

// encoders are apimachinery's, for the formats that they write as we do.
func encoders(scheme *runtime.Scheme) map[format]runtime.Encoder {
	return map[format]runtime.Encoder{
		formatJSON:     json.NewSerializerWithOptions(json.DefaultMetaFactory, scheme, scheme, json.SerializerOptions{}),
		formatYAML:     json.NewSerializerWithOptions(json.DefaultMetaFactory, scheme, scheme, json.SerializerOptions{Yaml: true}),
		formatProtobuf: protobuf.NewSerializer(scheme, scheme),
	}
}

func newTestScheme(t *testing.T) *runtime.Scheme {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientscheme.AddToScheme, apiextensionsv1.AddToScheme, metav1.AddMetaToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	return scheme
}

// newFiller fills objects at random. JSON schemas stay empty, since they have no end.
func newFiller(scheme *runtime.Scheme) *randfill.Filler {
	funcs := fuzzer.MergeFuzzerFuncs(metafuzzer.Funcs, func(serializer.CodecFactory) []any {
		return []any{func(*apiextensionsv1.JSONSchemaProps, randfill.Continue) {}}
	})
	return fuzzer.FuzzerFor(funcs, rand.NewSource(1), serializer.NewCodecFactory(scheme))
}

func serialized(t *testing.T, e runtime.Encoder, obj runtime.Object) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := e.Encode(obj, &b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// compareBytes compares two encodings: JSON and YAML as text, so that a difference can be read.
func compareBytes(t *testing.T, what string, want, got []byte) {
	t.Helper()
	if !bytes.Equal(want, got) {
		t.Errorf("%s differs from apimachinery's (-want +got):\n%s", what, cmp.Diff(string(want), string(got)))
	}
}

// TestEncoding compares objects, their metadata, lists and events of every built-in kind with what
// the API machinery's own serializers write.
func TestEncoding(t *testing.T) {
	scheme := newTestScheme(t)
	filler := newFiller(scheme)
	s, err := NewServer(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, k := range s.kinds.catalog().kinds {
		if k.jsonOnly() || k.load != nil {
			continue
		}
		t.Run(k.String(), func(t *testing.T) {
			var objects []*object
			for i := range 3 {
				obj := k.new()
				if i > 0 {
					filler.Fill(obj)
				}
				setTypeMeta(obj, schema.GroupVersionKind{})
				obj, err := canonical(obj, k)
				if err != nil {
					t.Fatal(err)
				}
				objects = append(objects, newObject(obj, uint64(i+7)))
			}
			for f, encoder := range encoders(scheme) {
				compareKind(t, scheme, k, f, encoder, objects)
			}
		})
	}
}

func compareKind(t *testing.T, scheme *runtime.Scheme, k *kind, f format, encoder runtime.Encoder, objects []*object) {
	t.Helper()
	for _, o := range objects {
		whole := o.copy()
		setTypeMeta(whole, k.GroupVersionKind())
		got, err := k.document(o, media{format: f})
		if err != nil {
			t.Fatal(err)
		}
		compareBytes(t, "an object as "+f.String(), serialized(t, encoder, whole), got)

		part := meta.AsPartialObjectMetadata(o.meta)
		setTypeMeta(part, metaV1.WithKind(asMetadata))
		got, err = k.document(o, media{format: f, as: asMetadata, asVersion: "v1"})
		if err != nil {
			t.Fatal(err)
		}
		compareBytes(t, "metadata as "+f.String(), serialized(t, encoder, part), got)
		if f != formatYAML {
			compareEvent(t, f, serialized(t, encoder, whole))
		}
	}
	if !k.allows(verbList) {
		return
	}
	l := listOf{kind: k, meta: metav1.ListMeta{ResourceVersion: "9", Continue: "<&>", RemainingItemCount: new(int64(4))}, items: objects}
	got, err := l.encode(media{format: f})
	if err != nil {
		t.Fatal(err)
	}
	compareBytes(t, "a list as "+f.String(), serialized(t, encoder, typedList(t, scheme, &l)), got)
	l.items = nil
	if got, err = l.encode(media{format: f}); err != nil {
		t.Fatal(err)
	}
	compareBytes(t, "an empty list as "+f.String(), serialized(t, encoder, typedList(t, scheme, &l)), got)
}

// typedList returns a list as a value of its Go type.
func typedList(t *testing.T, scheme *runtime.Scheme, l *listOf) runtime.Object {
	t.Helper()
	gvk := l.kind.groupVersion().WithKind(l.kind.list)
	list, err := scheme.New(gvk)
	if err != nil {
		t.Fatal(err)
	}
	items := []runtime.Object{}
	for _, o := range l.items {
		items = append(items, o.content)
	}
	if err := meta.SetList(list, items); err != nil {
		t.Fatal(err)
	}
	m, err := meta.ListAccessor(list)
	if err != nil {
		t.Fatal(err)
	}
	m.SetResourceVersion(l.meta.ResourceVersion)
	m.SetContinue(l.meta.Continue)
	m.SetRemainingItemCount(l.meta.RemainingItemCount)
	setTypeMeta(list, gvk)
	return list
}

// compareEvent compares the frame around a document.
func compareEvent(t *testing.T, f format, document []byte) {
	t.Helper()
	ev := &metav1.WatchEvent{Type: string(k8swatch.Modified), Object: runtime.RawExtension{Raw: bytes.TrimSuffix(document, []byte("\n"))}}
	if f == formatProtobuf {
		ev.Object.Raw = document
	}
	var want bytes.Buffer
	switch f {
	case formatProtobuf:
		data, err := ev.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		want.Write(binary.BigEndian.AppendUint32(nil, uint32(len(data))))
		want.Write(data)
	default:
		want.Write(serialized(t, json.NewSerializerWithOptions(json.DefaultMetaFactory, nil, nil, json.SerializerOptions{}), ev))
	}
	var got bytes.Buffer
	if err := writeFrame(&got, f, k8swatch.Modified, document); err != nil {
		t.Fatal(err)
	}
	compareBytes(t, "an event as "+f.String(), want.Bytes(), got.Bytes())
}
