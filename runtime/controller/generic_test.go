package controller

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/go-kube/kube/k8s/core"
	"github.com/go-kube/kube/resource"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// A controller needs no Go type of its kind: over metadata it gets that, over a dynamic kind
// whole objects; each can own and watch the others.
func TestControllersOfMetadataAndOfDynamicKinds(t *testing.T) {
	inLaggingBubble(t, 0, func(t *testing.T, r *rig, s *laggingServer) {
		s.add(t, widgetsPath, r.object("a", size(3)))
		dynamic := resource.Dynamic(resource.Info{Group: "example.com", Version: "v1", Kind: "Widget"}, resource.NamespaceScoped)
		ofMetadata := New(r.client.All(widgets.Metadata()), func(ctx context.Context, m *resource.Metadata[widget]) (Action, error) {
			r.add(fmt.Sprintf("metadata of %s %s/%s (%s)", m.Kind, m.Namespace, m.Name, ReasonFrom(ctx)))
			return Await(), nil
		}, nil)
		ofMetadata.Owns(r.client.All(gadgets))
		ofDynamic := New(r.client.All(dynamic), func(ctx context.Context, u *unstructured.Unstructured) (Action, error) {
			size, _, err := unstructured.NestedInt64(u.Object, "spec", "size")
			r.add(fmt.Sprintf("dynamic %s of size %d (%s)", u.GetName(), size, ReasonFrom(ctx)))
			return Await(), err
		}, nil)
		ofDynamic.Watches(r.client.All(gadgets.Metadata()), func(m *resource.Metadata[widget]) []resource.Ref[unstructured.Unstructured] {
			return []resource.Ref[unstructured.Unstructured]{{Namespace: m.Namespace, Name: "a"}}
		})
		r.start(ofMetadata)
		r.start(ofDynamic)
		synctest.Wait()
		child := r.object("child", ownedBy("Widget", "a", "uid-1"))
		child.ResourceVersion, child.UID = "", ""
		if _, err := r.client.Namespaced(gadgets, "ns").Create(t.Context(), child, nil); err != nil {
			t.Fatal(err)
		}
		r.wantSorted(t,
			"0s dynamic a of size 3 (object found)",
			"0s dynamic a of size 3 (related object updated: gadgets.example.com ns/child)",
			"0s metadata of Widget ns/a (object found)",
			"0s metadata of Widget ns/a (related object updated: gadgets.example.com ns/child)",
		)
	})
}

// Controllers of a built-in kind with its type and without have one watch, whoever starts first.
func TestTypedAndDynamicControllersOfABuiltInKind(t *testing.T) {
	for _, dynamicFirst := range []bool{false, true} {
		inBubble(t, func(t *testing.T, r *rig) {
			const path = "/api/v1/configmaps"
			w := r.serve(path, &corev1.ConfigMap{
				ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "a", UID: "uid-a", ResourceVersion: "1"}, Data: map[string]string{"k": "v"},
			})
			typed := New(r.client.All(core.ConfigMaps), func(_ context.Context, o *corev1.ConfigMap) (Action, error) {
				r.add("typed: " + o.Data["k"])
				return Await(), nil
			}, nil)
			dynamic := New(r.client.All(resource.Dynamic(core.ConfigMaps.Descriptor().Info, resource.NamespaceScoped)),
				func(_ context.Context, u *unstructured.Unstructured) (Action, error) {
					value, _, err := unstructured.NestedString(u.Object, "data", "k")
					r.add("dynamic: " + value)
					return Await(), err
				}, nil)
			if dynamicFirst {
				r.start(dynamic)
				synctest.Wait()
				r.start(typed)
			} else {
				r.start(typed)
				synctest.Wait()
				r.start(dynamic)
			}
			r.wantSorted(t, "0s dynamic: v", "0s typed: v")
			r.clear()
			w.Send("MODIFIED", &corev1.ConfigMap{
				ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "a", UID: "uid-a", ResourceVersion: "12"}, Data: map[string]string{"k": "w"},
			})
			r.wantSorted(t, "0s dynamic: w", "0s typed: w")
			if n := len(ownWatches(r)); n != 1 {
				t.Errorf("%d watches, want 1", n)
			}
		})
	}
}
