package resource_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/go-kube/kube/resource"
)

func TestRef(t *testing.T) {
	namespaced := resource.RefTo(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "ns"}})
	if want := (resource.Ref[corev1.Pod]{Namespace: "ns", Name: "p"}); namespaced != want {
		t.Errorf("got %v, want %v", namespaced, want)
	}
	cluster := resource.RefTo(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}})
	if got := namespaced.String() + " " + cluster.String(); got != "ns/p n" {
		t.Errorf("got %q", got)
	}
	if namespaced.IsZero() || cluster.IsZero() || !(resource.Ref[corev1.Pod]{}).IsZero() {
		t.Error("IsZero")
	}
	seen := map[resource.Ref[corev1.Pod]]bool{namespaced: true}
	if !seen[resource.Ref[corev1.Pod]{Namespace: "ns", Name: "p"}] {
		t.Error("a ref is no good map key")
	}
}

func TestOwnerRef(t *testing.T) {
	gadgetsV2 := resource.DefineNamespaced[gadget](resource.Info{Group: "example.com", Version: "v2", Kind: "Gadget"})
	reference := func(apiVersion, kind string) metav1.OwnerReference {
		return metav1.OwnerReference{APIVersion: apiVersion, Kind: kind, Name: "owner"}
	}
	for _, test := range []struct {
		what      string
		kind      *resource.Descriptor
		reference metav1.OwnerReference
		want      resource.Ref[any]
		ok        bool
	}{
		{"namespaced owner lives beside its dependant", gadgets.Descriptor(), reference("example.com/v1", "Gadget"), resource.Ref[any]{Namespace: "ns", Name: "owner"}, true},
		{"another version of the group", gadgetsV2.Descriptor(), reference("example.com/v1", "Gadget"), resource.Ref[any]{Namespace: "ns", Name: "owner"}, true},
		{"cluster-scoped owner has no namespace", nodes.Descriptor(), reference("v1", "Node"), resource.Ref[any]{Name: "owner"}, true},
		{"another kind", gadgets.Descriptor(), reference("example.com/v1", "Widget"), resource.Ref[any]{}, false},
		{"another group", gadgets.Descriptor(), reference("example.org/v1", "Gadget"), resource.Ref[any]{}, false},
		{"core is no wildcard", pods.Descriptor(), reference("example.com/v1", "Pod"), resource.Ref[any]{}, false},
		{"no apiVersion", gadgets.Descriptor(), reference("", "Gadget"), resource.Ref[any]{}, false},
	} {
		got, ok := resource.OwnerRef[any](test.kind, test.reference, "ns")
		if got != test.want || ok != test.ok {
			t.Errorf("%s: got %v, %t", test.what, got, ok)
		}
	}
}

func TestSplitAPIVersion(t *testing.T) {
	for _, test := range []struct{ apiVersion, group, version string }{
		{"v1", "", "v1"},
		{"apps/v1", "apps", "v1"},
		{"rbac.authorization.k8s.io/v1", "rbac.authorization.k8s.io", "v1"},
		{"", "", ""},
		{"/v1", "", "v1"},
		{"a/b/c", "a", "b/c"},
	} {
		if group, version := resource.SplitAPIVersion(test.apiVersion); group != test.group || version != test.version {
			t.Errorf("SplitAPIVersion(%q) = %q, %q", test.apiVersion, group, version)
		}
	}
}
