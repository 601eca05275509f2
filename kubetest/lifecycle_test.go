package kubetest_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/k8s/core"
	"github.com/go-kube/kube/kubetest"
)

// world is what the tests of life cycles need.
type world struct {
	t      *testing.T
	server *kubetest.Server
	maps   kube.API[corev1.ConfigMap]
}

func inWorld(t *testing.T, f func(w world)) {
	synctest.Test(t, func(t *testing.T) {
		srv := kubetest.Start(t, nil)
		f(world{t, srv, srv.Client().Namespaced(core.ConfigMaps, "default")})
	})
}

// create creates a ConfigMap with owners.
func (w world) create(name string, change func(*corev1.ConfigMap), owners ...*corev1.ConfigMap) *corev1.ConfigMap {
	w.t.Helper()
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}
	for _, o := range owners {
		ref := core.ConfigMaps.Owner(o)
		ref.BlockOwnerDeletion = new(true)
		cm.OwnerReferences = append(cm.OwnerReferences, ref)
	}
	if change != nil {
		change(cm)
	}
	cm, err := w.maps.Create(context.Background(), cm, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	return cm
}

func (w world) delete(name string, policy kube.Propagation) {
	w.t.Helper()
	if err := w.maps.Delete(context.Background(), name, &kube.DeleteOptions{Propagation: policy}); err != nil {
		w.t.Fatal(err)
	}
}

// release removes the finalizers of a ConfigMap.
func (w world) release(name string) {
	w.t.Helper()
	cm, err := w.maps.Get(context.Background(), name)
	if err != nil {
		w.t.Fatal(err)
	}
	cm.Finalizers = nil
	if _, err := w.maps.Replace(context.Background(), cm, nil); err != nil {
		w.t.Fatal(err)
	}
}

// want compares the names of the ConfigMaps that there are.
func (w world) want(names ...string) {
	w.t.Helper()
	list, err := w.maps.List(context.Background(), nil)
	if err != nil {
		w.t.Fatal(err)
	}
	var got []string
	for _, cm := range list.Items {
		got = append(got, cm.Name)
	}
	if diff := cmp.Diff(names, got); diff != "" {
		w.t.Errorf("the ConfigMaps differ (-want +got):\n%s", diff)
	}
}

func keepFor(finalizer string) func(*corev1.ConfigMap) {
	return func(cm *corev1.ConfigMap) { cm.Finalizers = []string{finalizer} }
}

func TestGarbage(t *testing.T) {
	for name, f := range map[string]func(w world){
		"background takes dependents of dependents": func(w world) {
			a := w.create("a", nil)
			b := w.create("b", nil, a)
			w.create("c", nil, b)
			w.create("other", nil)
			w.delete("a", kube.PropagationBackground)
			w.want("other")
		},
		"one owner is enough": func(w world) {
			a, b := w.create("a", nil), w.create("b", nil)
			w.create("c", nil, a, b)
			w.delete("a", "")
			w.want("b", "c")
			c, err := w.maps.Get(context.Background(), "c")
			if err != nil || len(c.OwnerReferences) != 1 || c.OwnerReferences[0].UID != b.UID {
				w.t.Errorf("the reference to the owner that is gone should be gone too: %v, %v", c.OwnerReferences, err)
			}
			w.delete("b", "")
			w.want()
		},
		"orphans stay": func(w world) {
			a := w.create("a", nil)
			w.create("b", nil, a)
			w.delete("a", kube.PropagationOrphan)
			w.want("b")
			if b, err := w.maps.Get(context.Background(), "b"); err != nil || len(b.OwnerReferences) != 0 {
				w.t.Errorf("an orphan has owners: %v, %v", b.OwnerReferences, err)
			}
		},
		"foreground waits for dependents": func(w world) {
			a := w.create("a", nil)
			w.create("b", keepFor("example.com/f"), a)
			w.delete("a", kube.PropagationForeground)
			w.want("a", "b")
			w.release("b")
			w.want()
		},
		"foreground does not wait for who does not block": func(w world) {
			a := w.create("a", nil)
			w.create("b", func(cm *corev1.ConfigMap) {
				keepFor("example.com/f")(cm)
				cm.OwnerReferences[0].BlockOwnerDeletion = nil
			}, a)
			w.delete("a", kube.PropagationForeground)
			w.want("b")
			w.release("b")
			w.want()
		},
		"foreground goes down": func(w world) {
			a := w.create("a", nil)
			b := w.create("b", nil, a)
			w.create("c", keepFor("example.com/f"), b)
			w.delete("a", kube.PropagationForeground)
			w.want("a", "b", "c")
			w.release("c")
			w.want()
		},
		"an owner that is not there": func(w world) {
			w.create("a", nil, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "x", UID: "nobody"}})
			w.want()
		},
		"another object with the owner's name": func(w world) {
			owner := w.create("x", nil)
			owner.UID = "another"
			w.create("a", nil, owner)
			w.want("x")
		},
		"an owner of a kind that is not served": func(w world) {
			w.create("a", func(cm *corev1.ConfigMap) {
				cm.OwnerReferences = []metav1.OwnerReference{{APIVersion: "example.com/v1", Kind: "Foo", Name: "x", UID: "x"}}
			})
			w.want("a")
		},
		"a reference that comes late": func(w world) {
			a := w.create("a", nil)
			b := w.create("b", nil)
			w.delete("a", "")
			b.OwnerReferences = []metav1.OwnerReference{core.ConfigMaps.Owner(a)}
			if _, err := w.maps.Replace(context.Background(), b, nil); err != nil {
				w.t.Fatal(err)
			}
			w.want()
		},
		"a circle": func(w world) {
			a := w.create("a", nil)
			b := w.create("b", nil, a)
			ref := core.ConfigMaps.Owner(b)
			ref.BlockOwnerDeletion = new(true)
			a.OwnerReferences = []metav1.OwnerReference{ref}
			if _, err := w.maps.Replace(context.Background(), a, nil); err != nil {
				w.t.Fatal(err)
			}
			w.delete("a", kube.PropagationForeground)
			w.want()
		},
		"foreground waits for the finalizers of the owner, too": func(w world) {
			a := w.create("a", keepFor("example.com/f"))
			w.create("b", nil, a)
			w.delete("a", kube.PropagationForeground)
			w.want("a")
			w.release("a")
			w.want()
		},
	} {
		t.Run(name, func(t *testing.T) { inWorld(t, f) })
	}
}

func TestNamespaceDeletion(t *testing.T) {
	inWorld(t, func(w world) {
		t := w.t
		ctx := t.Context()
		client := w.server.Client()
		namespaces := client.All(core.Namespaces)
		if _, err := namespaces.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "team"}}, nil); err != nil {
			t.Fatal(err)
		}
		w.maps = client.Namespaced(core.ConfigMaps, "team")
		w.create("a", nil)
		w.create("b", keepFor("example.com/f"))
		if err := namespaces.Delete(ctx, "team", nil); err != nil {
			t.Fatal(err)
		}
		w.want("b")
		ns, err := namespaces.Get(ctx, "team")
		if err != nil {
			t.Fatal(err)
		}
		messages := map[corev1.NamespaceConditionType]string{}
		for _, c := range ns.Status.Conditions {
			if c.Status == corev1.ConditionTrue {
				messages[c.Type] = c.Reason + ": " + c.Message
			}
		}
		if diff := cmp.Diff(map[corev1.NamespaceConditionType]string{
			corev1.NamespaceContentRemaining:    "SomeResourcesRemain: Some resources are remaining: configmaps. has 1 resource instances",
			corev1.NamespaceFinalizersRemaining: "SomeFinalizersRemain: Some content in the namespace has finalizers remaining: example.com/f in 1 resource instances",
		}, messages); diff != "" || ns.Status.Phase != corev1.NamespaceTerminating {
			t.Errorf("phase %s, conditions (-want +got):\n%s", ns.Status.Phase, diff)
		}
		_, err = w.maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "c"}}, nil)
		if !errors.Is(err, kube.ErrForbidden) {
			t.Errorf("a new object in a namespace that is going: %v, want it to be forbidden", err)
		}
		w.release("b")
		if _, err := namespaces.Get(ctx, "team"); !errors.Is(err, kube.ErrNotFound) {
			t.Errorf("the empty namespace is still there: %v", err)
		}
		again, err := namespaces.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "team"}}, nil)
		if err != nil || again.UID == ns.UID {
			t.Errorf("the namespace cannot be made again: %v, %v", again, err)
		}
		w.want()
	})
}
