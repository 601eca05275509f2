package resource_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/go-kube/kube/resource"
)

var (
	pods  = resource.DefineNamespaced[corev1.Pod](resource.Info{Version: "v1", Kind: "Pod", Protobuf: true})
	nodes = resource.DefineCluster[corev1.Node](resource.Info{Version: "v1", Kind: "Node", Plural: "nodes", Singular: "node"})

	_ resource.NamespacedKind[corev1.Pod]                                   = pods
	_ resource.NamespacedKind[resource.Metadata[corev1.Pod]]                = pods.Metadata()
	_ resource.Kind[corev1.Node]                                            = nodes
	_ resource.Kind[resource.Metadata[corev1.Node]]                         = nodes.Metadata()
	_ resource.NamespacedKind[unstructured.Unstructured]                    = resource.DynamicKind{}
	_ resource.NamespacedKind[resource.Metadata[unstructured.Unstructured]] = resource.DynamicKind{}.Metadata()
	_ interface {
		Descriptor() *resource.SubresourceDescriptor
	} = resource.Subresource[corev1.Pod, policyv1.Eviction]{}
	_ interface {
		Descriptor() *resource.SubresourceDescriptor
	} = resource.Connection[corev1.Pod, corev1.PodLogOptions]{}
)

func TestDescriptors(t *testing.T) {
	widget := resource.Info{Group: "example.com", Version: "v1", Kind: "Widget", Protobuf: true}
	dynamic := resource.Dynamic(widget, resource.ClusterScoped)
	podInfo := resource.Info{Version: "v1", Kind: "Pod", Plural: "pods", Singular: "pod", Protobuf: true}
	nodeInfo := resource.Info{Version: "v1", Kind: "Node", Plural: "nodes", Singular: "node"}
	widgetInfo := resource.Info{Group: "example.com", Version: "v1", Kind: "Widget", Plural: "widgets", Singular: "widget"}
	for _, test := range []struct {
		what string
		got  func() *resource.Descriptor
		want resource.Descriptor
	}{
		{"namespaced", pods.Descriptor, resource.Descriptor{Info: podInfo, Scope: resource.NamespaceScoped}},
		{"namespaced metadata", pods.Metadata().Descriptor, resource.Descriptor{Info: podInfo, Scope: resource.NamespaceScoped, MetadataOnly: true}},
		{"cluster", nodes.Descriptor, resource.Descriptor{Info: nodeInfo, Scope: resource.ClusterScoped}},
		{"cluster metadata", nodes.Metadata().Descriptor, resource.Descriptor{Info: nodeInfo, Scope: resource.ClusterScoped, MetadataOnly: true}},
		{"dynamic, never protobuf", dynamic.Descriptor, resource.Descriptor{Info: widgetInfo, Scope: resource.ClusterScoped}},
		{"dynamic metadata", dynamic.Metadata().Descriptor, resource.Descriptor{Info: widgetInfo, Scope: resource.ClusterScoped, MetadataOnly: true}},
	} {
		if diff := cmp.Diff(&test.want, test.got(), cmpopts.IgnoreUnexported(resource.Descriptor{}, resource.SubresourceDescriptor{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.what, diff)
		}
		if one, two := test.got(), test.got(); one != two {
			t.Errorf("%s: two calls give two pointers", test.what)
		}
	}
}

func TestDescriptorIsCompletedOnce(t *testing.T) {
	kind := resource.DefineNamespaced[corev1.Pod](resource.Info{Version: "v1", Kind: "Pod"})
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			if kind.Descriptor().Plural != "pods" || !kind.Metadata().Descriptor().MetadataOnly {
				t.Error("half a descriptor")
			}
		})
	}
	group.Wait()
}

func TestWrongDefinitionsPanicWhenUsed(t *testing.T) {
	noKind := resource.Info{Version: "v1"}
	noVersion := resource.Info{Kind: "Pod"}
	body := resource.Info{Version: "v1", Kind: "Pod"}
	for _, test := range []struct {
		what string
		use  func()
		want string
	}{
		{"namespaced", func() { resource.DefineNamespaced[corev1.Pod](noKind).Descriptor() }, `resource: a kind needs a Kind: group "", version "v1"`},
		{"cluster", func() { resource.DefineCluster[corev1.Node](noVersion).Descriptor() }, `resource: a kind needs a Version`},
		{"metadata", func() { resource.DefineCluster[corev1.Node](noVersion).Metadata().Descriptor() }, `resource: a kind needs a Version`},
		{"dynamic", func() { resource.Dynamic(noVersion, resource.ClusterScoped).Descriptor() }, `resource: a kind needs a Version`},
		{"owner", func() { resource.DefineNamespaced[corev1.Pod](noKind).Owner(&corev1.Pod{}) }, `resource: a kind needs a Kind`},
		{"subresource without a name", func() { resource.DefineSubresource[corev1.Pod, corev1.Pod]("", body).Descriptor() }, `resource: "" is no name of a subresource`},
		{"subresource with a path", func() { resource.DefineSubresource[corev1.Pod, corev1.Pod]("a/b", body).Descriptor() }, `resource: "a/b" is no name of a subresource`},
		{"subresource without a body", func() { resource.DefineSubresource[corev1.Pod, corev1.Pod]("a", noKind).Descriptor() }, `resource: subresource a: a kind needs a Kind`},
		{"connection without options", func() { resource.DefineConnection[corev1.Pod, corev1.Pod]("a", noKind).Descriptor() }, `resource: subresource a: a kind needs a Kind`},
	} {
		if got := recovered(test.use); !strings.HasPrefix(got, test.want) {
			t.Errorf("%s: panic %q, want %q", test.what, got, test.want)
		}
	}
}

func recovered(f func()) (message string) {
	defer func() {
		if r := recover(); r != nil {
			message = fmt.Sprint(r)
		}
	}()
	f()
	return ""
}

func TestSubresources(t *testing.T) {
	eviction := resource.DefineSubresource[corev1.Pod, policyv1.Eviction]("eviction", resource.Info{
		Group: "policy", Version: "v1", Kind: "Eviction", Verbs: []string{"create"}, Protobuf: true,
	})
	log := resource.DefineConnection[corev1.Pod, corev1.PodLogOptions]("log", resource.Info{Version: "v1", Kind: "PodLogOptions", Verbs: []string{"get"}})
	for _, test := range []struct {
		got  func() *resource.SubresourceDescriptor
		want resource.SubresourceDescriptor
	}{
		{eviction.Descriptor, resource.SubresourceDescriptor{Name: "eviction", Body: resource.Info{
			Group: "policy", Version: "v1", Kind: "Eviction", Verbs: []string{"create"}, Protobuf: true,
		}}},
		{log.Descriptor, resource.SubresourceDescriptor{Name: "log", Body: resource.Info{Version: "v1", Kind: "PodLogOptions", Verbs: []string{"get"}}}},
	} {
		if diff := cmp.Diff(&test.want, test.got(), cmpopts.IgnoreUnexported(resource.Descriptor{}, resource.SubresourceDescriptor{})); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if one, two := test.got(), test.got(); one != two {
			t.Error("two calls give two pointers")
		}
	}
}

func TestOwnerReferences(t *testing.T) {
	yes := true
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "ns", UID: "u"}}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", UID: "v"}}
	podMetadata := &resource.Metadata[corev1.Pod]{ObjectMeta: pod.ObjectMeta}
	nodeMetadata := &resource.Metadata[corev1.Node]{ObjectMeta: node.ObjectMeta}
	widgets := resource.Dynamic(resource.Info{Group: "example.com", Version: "v1", Kind: "Widget"}, resource.NamespaceScoped)
	widget := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "w", "uid": "x"}}}

	ofPod := metav1.OwnerReference{APIVersion: "v1", Kind: "Pod", Name: "p", UID: "u"}
	ofNode := metav1.OwnerReference{APIVersion: "v1", Kind: "Node", Name: "n", UID: "v"}
	ofWidget := metav1.OwnerReference{APIVersion: "example.com/v1", Kind: "Widget", Name: "w", UID: "x"}
	for _, test := range []struct {
		what                    string
		owner, controller, want metav1.OwnerReference
	}{
		{"namespaced", pods.Owner(pod), pods.ControllerOwner(pod), ofPod},
		{"cluster", nodes.Owner(node), nodes.ControllerOwner(node), ofNode},
		{"namespaced metadata", pods.Metadata().Owner(podMetadata), pods.Metadata().ControllerOwner(podMetadata), ofPod},
		{"cluster metadata", nodes.Metadata().Owner(nodeMetadata), nodes.Metadata().ControllerOwner(nodeMetadata), ofNode},
		{"dynamic", widgets.Owner(widget), widgets.ControllerOwner(widget), ofWidget},
	} {
		if diff := cmp.Diff(test.want, test.owner); diff != "" {
			t.Errorf("%s: Owner (-want +got):\n%s", test.what, diff)
		}
		test.want.Controller, test.want.BlockOwnerDeletion = &yes, &yes
		if diff := cmp.Diff(test.want, test.controller); diff != "" {
			t.Errorf("%s: ControllerOwner (-want +got):\n%s", test.what, diff)
		}
	}
}
