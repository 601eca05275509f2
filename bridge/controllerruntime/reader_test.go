package controllerruntime_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	bridge "github.com/go-kube/kube/bridge/controllerruntime"
	"github.com/go-kube/kube/k8s/apps"
	"github.com/go-kube/kube/k8s/core"
	"github.com/go-kube/kube/kubetest"
	"github.com/go-kube/kube/resource"
	"github.com/go-kube/kube/runtime/reflector"
)

var (
	byNode  = reflector.NewIndex(func(p *corev1.Pod) []string { return []string{p.Spec.NodeName} })
	byImage = reflector.NewIndex(func(p *corev1.Pod) []string { return []string{p.Spec.Containers[0].Image} })
)

func pod(namespace, name, node, image, app string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{"app": app}},
		Spec:       corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{Name: "c", Image: image}}},
	}
}

func start(t *testing.T) *kubetest.Server {
	return kubetest.Start(t, &kubetest.Options{Objects: []runtime.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "team"}},
		pod("default", "a", "n1", "nginx", "web"),
		pod("default", "b", "n2", "nginx", "web"),
		pod("team", "a", "n1", "redis", "db"),
		&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1"}},
	}})
}

// follow adds what the tests read, and waits for nothing.
func follow(t *testing.T, srv *kubetest.Server, r *bridge.Reader) {
	pods := reflector.New(srv.Client().All(core.Pods), nil)
	pods.Index(byNode)
	pods.Index(byImage)
	pods.Index(reflector.ByLabel[corev1.Pod]("app"))
	pods.Index(reflector.ByNamespace[corev1.Pod]())
	srv.Go(pods.Run)
	r.Add(pods, map[string]*reflector.Index[corev1.Pod]{"spec.nodeName": byNode, "image": byImage})
	nodes := reflector.New(srv.Client().All(core.Nodes), nil)
	srv.Go(nodes.Run)
	r.Add(nodes, nil)
}

// theirs is controller-runtime's own cache of the same server.
func theirs(t *testing.T, srv *kubetest.Server) client.Reader {
	t.Helper()
	c, err := cache.New(&rest.Config{Host: srv.URL()}, cache.Options{DefaultTransform: cache.TransformStripManagedFields()})
	if err != nil {
		t.Fatal(err)
	}
	index := func(field string, f func(*corev1.Pod) string) {
		err := c.IndexField(t.Context(), &corev1.Pod{}, field, func(o client.Object) []string { return []string{f(o.(*corev1.Pod))} })
		if err != nil {
			t.Fatal(err)
		}
	}
	index("spec.nodeName", func(p *corev1.Pod) string { return p.Spec.NodeName })
	index("image", func(p *corev1.Pod) string { return p.Spec.Containers[0].Image })
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- c.Start(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	if !c.WaitForCacheSync(t.Context()) {
		t.Fatal("no sync")
	}
	return c
}

func unstructuredOf(kind string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(schema.GroupVersionKind{Version: "v1", Kind: kind})
	return u
}

func unstructuredList(kind string) *unstructured.UnstructuredList {
	u := &unstructured.UnstructuredList{}
	u.SetGroupVersionKind(schema.GroupVersionKind{Version: "v1", Kind: kind})
	return u
}

func metadataOf(kind string) *metav1.PartialObjectMetadata {
	m := &metav1.PartialObjectMetadata{}
	m.SetGroupVersionKind(schema.GroupVersionKind{Version: "v1", Kind: kind})
	return m
}

func metadataList(kind string) *metav1.PartialObjectMetadataList {
	m := &metav1.PartialObjectMetadataList{}
	m.SetGroupVersionKind(schema.GroupVersionKind{Version: "v1", Kind: kind})
	return m
}

// A read answers as controller-runtime's own cache does.
func TestSameAsTheirCache(t *testing.T) {
	srv := start(t)
	ours := bridge.NewReader(nil)
	follow(t, srv, ours)
	cached := theirs(t, srv)

	get := func(namespace, name string, into func() client.Object) func(client.Reader) (any, error) {
		return func(r client.Reader) (any, error) {
			obj := into()
			err := r.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, obj)
			return obj, err
		}
	}
	list := func(into func() client.ObjectList, opts ...client.ListOption) func(client.Reader) (any, error) {
		return func(r client.Reader) (any, error) {
			l := into()
			if err := r.List(t.Context(), l, opts...); err != nil {
				return nil, err
			}
			return sorted(t, l), nil
		}
	}
	typedPod := func() client.Object { return &corev1.Pod{} }
	typedPods := func() client.ObjectList { return &corev1.PodList{} }
	anyPod := func() client.Object { return unstructuredOf("Pod") }
	for _, test := range []struct {
		name string
		read func(client.Reader) (any, error)
	}{
		{"get", get("default", "a", typedPod)},
		{"get of another namespace", get("team", "a", typedPod)},
		{"get what is not there", get("team", "b", typedPod)},
		{"get of a cluster-scoped kind", get("", "n1", func() client.Object { return &corev1.Node{} })},
		{"get of a cluster-scoped kind with a namespace", get("team", "n1", func() client.Object { return &corev1.Node{} })},
		{"get unstructured", get("default", "a", anyPod)},
		{"get metadata", get("default", "a", func() client.Object { return metadataOf("Pod") })},
		{"get metadata of what is not there", get("team", "b", func() client.Object { return metadataOf("Pod") })},
		{"list", list(typedPods)},
		{"list nodes", list(func() client.ObjectList { return &corev1.NodeList{} })},
		{"list a namespace", list(typedPods, client.InNamespace("team"))},
		{"list a namespace that is not there", list(typedPods, client.InNamespace("nowhere"))},
		{"list labels", list(typedPods, client.MatchingLabels{"app": "web"})},
		{"list labels, none", list(typedPods, client.MatchingLabels{"app": "none"})},
		{"list labels of a namespace", list(typedPods, client.MatchingLabels{"app": "web"}, client.InNamespace("team"))},
		{"list labels, one of", list(typedPods, selecting("app in (web,none),app!=db"))},
		{"list labels that are not", list(typedPods, selecting("app notin (web)"))},
		{"list labels, nothing", list(typedPods, client.MatchingLabelsSelector{Selector: labels.Nothing()})},
		{"list labels, everything", list(typedPods, client.MatchingLabelsSelector{Selector: labels.Everything()})},
		{"list labels with a value that is none", list(typedPods, client.MatchingLabels{"app": "web,app=db"})},
		{"list labels and a field", list(typedPods, client.MatchingLabels{"app": "web"}, client.MatchingFields{"spec.nodeName": "n1"})},
		{"list a field", list(typedPods, client.MatchingFields{"spec.nodeName": "n1"})},
		{"list a field of a namespace", list(typedPods, client.MatchingFields{"spec.nodeName": "n1"}, client.InNamespace("team"))},
		{"list two fields", list(typedPods, client.MatchingFields{"spec.nodeName": "n1", "image": "nginx"})},
		{"list a field with a value that nothing has", list(typedPods, client.MatchingFields{"spec.nodeName": "n9"})},
		{"list unstructured", list(func() client.ObjectList { return unstructuredList("PodList") })},
		{"list unstructured, without List", list(func() client.ObjectList { return unstructuredList("Pod") })},
		{"list unstructured of labels", list(func() client.ObjectList { return unstructuredList("PodList") }, client.MatchingLabels{"app": "db"}, client.InNamespace("team"))},
		{"list metadata", list(func() client.ObjectList { return metadataList("PodList") }, client.InNamespace("default"))},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := test.read(ours)
			want, wantErr := test.read(cached)
			if fmt.Sprint(err) != fmt.Sprint(wantErr) || apierrors.IsNotFound(err) != apierrors.IsNotFound(wantErr) {
				t.Fatalf("error %v, controller-runtime's is %v", err, wantErr)
			}
			if diff := cmp.Diff(want, got); err == nil && diff != "" {
				t.Errorf("controller-runtime's and ours:\n%s", diff)
			}
		})
	}
}

func selecting(text string) client.ListOption {
	selector, err := labels.Parse(text)
	if err != nil {
		panic(err)
	}
	return client.MatchingLabelsSelector{Selector: selector}
}

// sorted returns the objects of a list in order, as neither cache has one.
func sorted(t *testing.T, list client.ObjectList) []runtime.Object {
	t.Helper()
	items, err := meta.ExtractList(list)
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(items, func(a, b runtime.Object) int {
		x, y := a.(client.Object), b.(client.Object)
		return strings.Compare(x.GetNamespace()+"/"+x.GetName(), y.GetNamespace()+"/"+y.GetName())
	})
	return items
}

func TestRefusals(t *testing.T) {
	srv := start(t)
	r := bridge.NewReader(nil)
	follow(t, srv, r)
	for _, test := range []struct {
		name string
		read func() error
		want string
	}{
		{"a kind that was not added", func() error {
			return r.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "x"}, &appsv1.Deployment{})
		}, `reading v1.Deployment in namespace "default": no store was added for it; Add one, or set Options.Fallback`},
		{"unstructured without a kind", func() error {
			return r.Get(t.Context(), client.ObjectKey{Name: "x"}, &unstructured.Unstructured{})
		}, "reading a *unstructured.Unstructured: set its apiVersion and kind, nothing else says of what kind it is"},
		{"a field without an index", func() error {
			return r.List(t.Context(), &corev1.PodList{}, client.MatchingFields{"status.phase": "Running"})
		}, "field selector status.phase=Running of /v1, Kind=Pod: there is no index of that name; give one to Add"},
		{"a field that is not", func() error {
			return r.List(t.Context(), &corev1.PodList{}, client.MatchingFieldsSelector{Selector: fields.OneTermNotEqualSelector("spec.nodeName", "n1")})
		}, "field selector spec.nodeName!=n1: a cache finds fields by equality alone"},
		{"continue", func() error { return r.List(t.Context(), &corev1.PodList{}, client.Continue("x")) },
			"the continue option is not supported by a cache: it has no pages"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if err := test.read(); err == nil || err.Error() != test.want {
				t.Errorf("%v\nwant %s", err, test.want)
			}
		})
	}
}

func TestFallback(t *testing.T) {
	srv := start(t)
	direct, err := client.New(&rest.Config{Host: srv.URL()}, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := bridge.NewReader(&bridge.Options{Fallback: direct})
	team := reflector.New(srv.Client().Namespaced(core.Pods, "team"), nil)
	srv.Go(team.Run)
	r.Add(team, nil)

	srv.ForgetRequests()
	for _, namespace := range []string{"team", "default"} {
		if err := r.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "a"}, &corev1.Pod{}); err != nil {
			t.Error(err)
		}
	}
	var all, some corev1.PodList
	if err := r.List(t.Context(), &all); err != nil || len(all.Items) != 3 {
		t.Errorf("%d pods, %v", len(all.Items), err)
	}
	if err := r.List(t.Context(), &some, client.InNamespace("team")); err != nil || len(some.Items) != 1 {
		t.Errorf("%d pods, %v", len(some.Items), err)
	}
	if err := r.List(t.Context(), &corev1.NodeList{}); err != nil {
		t.Error(err)
	}
	var asked []string
	for _, q := range srv.Requests() {
		if !strings.Contains(q.Path, "/api/v1/") || q.Verb == "watch" || q.Namespace == "team" {
			continue
		}
		asked = append(asked, q.Verb+" "+q.Resource)
	}
	if want := []string{"get pods", "list pods", "list nodes"}; !slices.Equal(asked, want) {
		t.Errorf("the fallback was asked %q, want %q", asked, want)
	}
}

// A limit, and a version that the store has to have seen.
func TestListOptions(t *testing.T) {
	srv := start(t)
	r := bridge.NewReader(nil)
	follow(t, srv, r)
	var list corev1.PodList
	if err := r.List(t.Context(), &list, client.Limit(2)); err != nil || len(list.Items) != 2 || list.Continue == "" {
		t.Errorf("%d pods, continue %q, %v; want 2, and that there are more", len(list.Items), list.Continue, err)
	}
	if err := r.List(t.Context(), &list, client.Limit(2), client.Continue(list.Continue)); err == nil {
		t.Error("the rest of a list was read")
	}
	if err := r.List(t.Context(), &list, client.Limit(3)); err != nil || len(list.Items) != 3 || list.Continue != "" || list.ResourceVersion == "" {
		t.Errorf("%d pods at %q, continue %q, %v; want all 3", len(list.Items), list.ResourceVersion, list.Continue, err)
	}
	late, err := srv.Client().Namespaced(core.Pods, "default").Create(t.Context(), pod("", "late", "n1", "nginx", "web"), nil)
	if err != nil {
		t.Fatal(err)
	}
	since := &client.GetOptions{Raw: &metav1.GetOptions{ResourceVersion: late.ResourceVersion}}
	if err := r.Get(t.Context(), client.ObjectKeyFromObject(late), &corev1.Pod{}, since); err != nil {
		t.Error(err)
	}
	all := &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: late.ResourceVersion}}
	if err := r.List(t.Context(), &list, all); err != nil || len(list.Items) != 4 {
		t.Errorf("%d pods, %v; want 4", len(list.Items), err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	idle := bridge.NewReader(nil)
	idle.Add(reflector.New(srv.Client().All(core.Pods), nil), nil)
	if err := idle.Get(ctx, client.ObjectKey{Name: "x"}, &corev1.Pod{}); !errors.Is(err, context.Canceled) {
		t.Errorf("a read of a store that never runs ends with %v, want that of the context", err)
	}
}

// A store of several namespaces does not answer for others, although it spans what it spans.
func TestStoreOfSeveralNamespaces(t *testing.T) {
	srv := start(t)
	r := bridge.NewReader(nil)
	pods := reflector.New(srv.Client().All(core.Pods), &reflector.Options{Namespaces: reflector.NewNamespaceSet("team", "kube-system")})
	srv.Go(pods.Run)
	r.Add(pods, nil)
	var list corev1.PodList
	if err := r.List(t.Context(), &list); err != nil || len(list.Items) != 1 {
		t.Fatalf("%d pods, %v; want that of one namespace", len(list.Items), err)
	}
	if err := r.List(t.Context(), &list, client.InNamespace("kube-system")); err != nil || len(list.Items) != 0 {
		t.Errorf("%d pods, %v; want none", len(list.Items), err)
	}
	if err := r.List(t.Context(), &list, client.InNamespace("default")); !errors.Is(err, bridge.ErrNoStore) {
		t.Errorf("a list of another namespace: %v", err)
	}
	if err := r.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "a"}, &corev1.Pod{}); !errors.Is(err, bridge.ErrNoStore) {
		t.Errorf("a get of another namespace: %v", err)
	}
}

// What a reader gets is its own.
func TestCopies(t *testing.T) {
	srv := start(t)
	r := bridge.NewReader(nil)
	decoded := reflector.New(srv.Client().All(core.Pods), &reflector.Options{Decoded: true})
	srv.Go(decoded.Run)
	r.Add(decoded, nil)
	for range 2 {
		var p corev1.Pod
		if err := r.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "a"}, &p); err != nil || p.Labels["app"] != "web" {
			t.Fatalf("%v, %v", p.Labels, err)
		}
		p.Labels["app"] = "spoilt"
	}
}

// A store of metadata answers for metadata, and not for what it does not have.
func TestMetadataStore(t *testing.T) {
	srv := start(t)
	r := bridge.NewReader(nil)
	pods := reflector.New(srv.Client().All(core.Pods.Metadata()), nil)
	srv.Go(pods.Run)
	r.Add(pods, nil)
	m := metadataOf("Pod")
	if err := r.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "a"}, m); err != nil || m.Labels["app"] != "web" {
		t.Errorf("%v, %v", m, err)
	}
	for _, obj := range []client.Object{&corev1.Pod{}, unstructuredOf("Pod")} {
		if err := r.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "a"}, obj); !errors.Is(err, bridge.ErrNoStore) {
			t.Errorf("%T: %v", obj, err)
		}
	}
}

func TestDynamicStore(t *testing.T) {
	srv := start(t)
	r := bridge.NewReader(nil)
	nodes := reflector.New(srv.Client().All(resource.Dynamic(resource.Info{Version: "v1", Kind: "Node"}, resource.ClusterScoped)), nil)
	srv.Go(nodes.Run)
	r.Add(nodes, nil)
	u := unstructuredOf("Node")
	if err := r.Get(t.Context(), client.ObjectKey{Name: "n1"}, u); err != nil || u.GetName() != "n1" {
		t.Errorf("%v, %v", u, err)
	}
}

// oddPod is a pod whose node has a number, which pods on nodes do not decode into.
type oddPod = resource.Object[struct {
	NodeName int `json:"nodeName,omitempty"`
}, struct{}]

var oddPods = resource.DefineNamespaced[oddPod](resource.Info{Version: "v1", Kind: "Pod"})

type oddPodList struct {
	metav1.TypeMeta
	metav1.ListMeta
	Items []oddPod
}

func (l *oddPodList) DeepCopyObject() runtime.Object { panic("not called") }

// Objects that do not decode are reported, and the others are there.
func TestDecodeErrors(t *testing.T) {
	srv := start(t)
	if _, err := srv.Client().Namespaced(core.Pods, "default").Create(t.Context(), pod("", "nowhere", "", "nginx", "web"), nil); err != nil {
		t.Fatal(err)
	}
	pods := reflector.New(srv.Client().All(oddPods), nil)
	srv.Go(pods.Run)
	var told []string
	tolerant := bridge.NewReader(&bridge.Options{OnDecodeError: func(err error) { told = append(told, err.Error()) }})
	tolerant.Add(pods, nil)
	var list oddPodList
	if err := tolerant.List(t.Context(), &list); err != nil || len(list.Items) != 1 || list.Items[0].Name != "nowhere" {
		t.Errorf("%v, %v; want the pod that decodes", list.Items, err)
	}
	if len(told) != 3 || !strings.HasPrefix(slices.Min(told), "Pod default/a: ") {
		t.Errorf("told %q", told)
	}
	strict := bridge.NewReader(nil)
	strict.Add(pods, nil)
	if err := strict.List(t.Context(), &list); err == nil || !strings.HasPrefix(err.Error(), "Pod ") {
		t.Errorf("the list fails with %v, want the name of a pod", err)
	}
	if err := strict.Get(t.Context(), client.ObjectKey{Namespace: "team", Name: "a"}, &oddPod{}); err == nil || !strings.HasPrefix(err.Error(), "Pod team/a: ") {
		t.Errorf("the get fails with %v, want the name of the pod", err)
	}
}

func TestAddTwice(t *testing.T) {
	srv := start(t)
	r := bridge.NewReader(nil)
	deployments := reflector.New(srv.Client().All(apps.Deployments), nil)
	r.Add(deployments, nil)
	defer func() {
		if recover() == nil {
			t.Error("a second store of the same kind was taken")
		}
	}()
	r.Add(deployments, nil)
}
