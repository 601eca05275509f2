package wire

import (
	"bytes"
	"io"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

var formats = []Format{JSON, Protobuf}

// readers tear a body in different ways.
var readers = map[string]func(io.Reader) io.Reader{
	"whole":    func(r io.Reader) io.Reader { return r },
	"halves":   iotest.HalfReader,
	"bytes":    iotest.OneByteReader,
	"data+eof": iotest.DataErrReader,
}

func collect(t testing.TB, r io.Reader, format Format, opts *Options) (ListMeta, []Object) {
	t.Helper()
	var objects []Object
	meta, err := ReadList(r, format, opts, func(o Object) error {
		objects = append(objects, o)
		return nil
	})
	if err != nil {
		t.Fatalf("ReadList: %v", err)
	}
	return meta, objects
}

// metaOf rebuilds an ObjectMeta from what an object tells.
func metaOf(o *Object) metav1.ObjectMeta {
	m := metav1.ObjectMeta{
		Name: o.Name(), Namespace: o.Namespace(), UID: types.UID(o.UID()),
		ResourceVersion: o.ResourceVersion(), Generation: o.Generation(), CreationTimestamp: metav1.NewTime(o.CreationTime()),
	}
	if t, ok := o.DeletionTime(); ok {
		m.DeletionTimestamp = new(metav1.NewTime(t))
	}
	o.EachLabel(func(k, v string) bool {
		metav1.SetMetaDataLabel(&m, k, v)
		return true
	})
	o.EachAnnotation(func(k, v string) bool {
		metav1.SetMetaDataAnnotation(&m, k, v)
		return true
	})
	o.EachOwner(func(r OwnerReference) bool {
		m.OwnerReferences = append(m.OwnerReferences, metav1.OwnerReference{
			APIVersion: r.APIVersion, Kind: r.Kind, Name: r.Name, UID: types.UID(r.UID),
			Controller: r.Controller.Pointer(), BlockOwnerDeletion: r.BlockOwnerDeletion.Pointer(),
		})
		return true
	})
	o.EachFinalizer(func(f string) bool {
		m.Finalizers = append(m.Finalizers, f)
		return true
	})
	return m
}

// routed is the part of an ObjectMeta that an object has to tell.
func routed(m metav1.ObjectMeta) metav1.ObjectMeta {
	m.GenerateName, m.SelfLink, m.DeletionGracePeriodSeconds, m.ManagedFields = "", "", nil, nil
	return m
}

func TestReadList(t *testing.T) {
	list := podList(30)
	now := metav1.Now().Rfc3339Copy()
	list.Items[3].DeletionTimestamp = &now
	list.Items[3].Finalizers = []string{"a.example.com/x", "b.example.com/y"}
	list.Items[4].Labels, list.Items[4].Annotations, list.Items[4].OwnerReferences = nil, nil, nil
	list.Items[5].Generation = 1 << 40
	list.Items[6].Annotations = map[string]string{lastApplied: "{}"}
	for _, format := range formats {
		for name, tear := range readers {
			t.Run(format.String()+"/"+name, func(t *testing.T) {
				meta, objects := collect(t, tear(bytes.NewReader(listBody(format, list))), format, nil)
				want := ListMeta{APIVersion: "v1", Kind: "PodList", ResourceVersion: "42", Continue: "next", RemainingItemCount: new(int64(7))}
				if diff := cmp.Diff(want, meta); diff != "" {
					t.Errorf("list metadata (-want +got):\n%s", diff)
				}
				if len(objects) != len(list.Items) {
					t.Fatalf("%d objects, want %d", len(objects), len(list.Items))
				}
				for i := range objects {
					checkPod(t, &objects[i], list.Items[i].DeepCopy())
				}
			})
		}
	}
}

// checkPod compares an object with the pod that it was, less what is left out.
func checkPod(t *testing.T, o *Object, want *corev1.Pod) {
	t.Helper()
	if err := o.Err(); err != nil {
		t.Errorf("%s: %v", want.Name, err)
	}
	want.ManagedFields = nil
	delete(want.Annotations, lastApplied)
	if len(want.Annotations) == 0 {
		want.Annotations = nil
	}
	if diff := cmp.Diff(routed(want.ObjectMeta), metaOf(o)); diff != "" {
		t.Errorf("routing metadata of %s (-want +got):\n%s", want.Name, diff)
	}
	if o.Format() == Protobuf {
		want.TypeMeta = metav1.TypeMeta{}
	}
	if diff := cmp.Diff(want, decodePod(t, o)); diff != "" {
		t.Errorf("decoded %s (-want +got):\n%s", want.Name, diff)
	}
}
