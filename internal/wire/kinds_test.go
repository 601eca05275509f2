package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	eventsv1 "k8s.io/api/events/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	networkingv1 "k8s.io/api/networking/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// TestEveryKind reads a list of every kind of the stable groups: metadata is where this
// package expects it.
func TestEveryKind(t *testing.T) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		admissionv1.AddToScheme, appsv1.AddToScheme, autoscalingv2.AddToScheme, batchv1.AddToScheme, certificatesv1.AddToScheme,
		coordinationv1.AddToScheme, corev1.AddToScheme, discoveryv1.AddToScheme, eventsv1.AddToScheme, flowcontrolv1.AddToScheme,
		networkingv1.AddToScheme, nodev1.AddToScheme, policyv1.AddToScheme, rbacv1.AddToScheme, resourcev1.AddToScheme,
		schedulingv1.AddToScheme, storagev1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	kinds := 0
	for gvk, typ := range scheme.AllKnownTypes() {
		if _, ok := typ.FieldByName("Items"); !ok || gvk.Kind == "List" || gvk.Group == "" && gvk.Version != "v1" {
			continue
		}
		kinds++
		t.Run(gvk.GroupVersion().String()+" "+gvk.Kind, func(t *testing.T) { checkKind(t, gvk, typ) })
	}
	if kinds < 50 {
		t.Errorf("only %d kinds were looked at", kinds)
	}
}

func checkKind(t *testing.T, gvk schema.GroupVersionKind, typ reflect.Type) {
	list := reflect.New(typ)
	list.Interface().(metav1.ListInterface).SetResourceVersion("9")
	items := list.Elem().FieldByName("Items")
	items.Set(reflect.MakeSlice(items.Type(), 2, 2))
	var want []metav1.ObjectMeta
	for i := range 2 {
		meta := metaFor(gvk.Kind, i)
		items.Index(i).FieldByName("ObjectMeta").Set(reflect.ValueOf(meta))
		want = append(want, routed(meta))
	}
	bodies := map[Format][]byte{
		Protobuf: wrap(gvk.GroupVersion().String(), gvk.Kind, must(list.Interface().(marshaler).Marshal())),
		JSON:     must(json.Marshal(list.Interface())),
	}
	for format, body := range bodies {
		meta, objects := collect(t, bytes.NewReader(body), format, nil)
		if meta.ResourceVersion != "9" || len(objects) != 2 {
			t.Fatalf("%s: version %q, %d objects", format, meta.ResourceVersion, len(objects))
		}
		for i := range objects {
			if diff := cmp.Diff(want[i], metaOf(&objects[i])); diff != "" || objects[i].Err() != nil {
				t.Errorf("%s: %v (-want +got):\n%s", format, objects[i].Err(), diff)
			}
		}
	}
}

func metaFor(kind string, i int) metav1.ObjectMeta {
	now := metav1.NewTime(time.Unix(1700000000+int64(i), 0))
	return metav1.ObjectMeta{
		Name: fmt.Sprintf("%s-%d", strings.ToLower(kind), i), Namespace: "ns", UID: "u", ResourceVersion: "3", Generation: int64(i),
		CreationTimestamp: now, DeletionTimestamp: &now, Labels: map[string]string{"a": "b"}, Annotations: map[string]string{"c": "d"},
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: "x", UID: "y", Controller: new(false)}},
		Finalizers:      []string{"e/f"}, ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "m", FieldsV1: metav1.NewFieldsV1("{}")}},
	}
}
