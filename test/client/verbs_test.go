package client_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/k8s/apps"
	"github.com/go-kube/kube/k8s/core"
	"github.com/go-kube/kube/resource"
	"github.com/go-kube/kube/test/servers"
	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func configMap(name string, data map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"test": "yes"}}, Data: data}
}

func TestCreateGetReplaceDelete(t *testing.T) {
	client, ns := connect(t)
	api := client.Namespaced(core.ConfigMaps, ns)
	ctx := t.Context()

	created := must[*corev1.ConfigMap](t)(api.Create(ctx, configMap("a", map[string]string{"k": "1"}), nil))
	if created.APIVersion != "v1" || created.Kind != "ConfigMap" || created.UID == "" || created.Namespace != ns {
		t.Errorf("created object lacks what the server knows: %+v", created)
	}
	if _, err := api.Create(ctx, configMap("a", nil), nil); !errors.Is(err, kube.ErrAlreadyExists) || !apierrors.IsAlreadyExists(err) {
		t.Errorf("second create: %v, want ErrAlreadyExists", err)
	}
	got := must[*corev1.ConfigMap](t)(api.Get(ctx, "a"))
	if diff := cmp.Diff(created, got); diff != "" {
		t.Errorf("get differs from what create returned (-create +get):\n%s", diff)
	}

	got.Data["k"] = "2"
	replaced := must[*corev1.ConfigMap](t)(api.Replace(ctx, got, nil))
	if replaced.Data["k"] != "2" || replaced.ResourceVersion == got.ResourceVersion {
		t.Errorf("replace had no effect: %+v", replaced)
	}
	if _, err := api.Replace(ctx, got, nil); !errors.Is(err, kube.ErrConflict) {
		t.Errorf("replace of an old version: %v, want ErrConflict", err)
	}
	err := api.Delete(ctx, "a", &kube.DeleteOptions{ResourceVersion: got.ResourceVersion})
	if !errors.Is(err, kube.ErrConflict) {
		t.Errorf("delete with an old version as precondition: %v, want ErrConflict", err)
	}
	if err := api.Delete(ctx, "a", &kube.DeleteOptions{UID: replaced.UID}); err != nil {
		t.Fatal(err)
	}
	_, err = api.Get(ctx, "a")
	if !errors.Is(err, kube.ErrNotFound) || !apierrors.IsNotFound(err) {
		t.Errorf("get after delete: %v, want ErrNotFound", err)
	}
	var kerr *kube.Error
	if !errors.As(err, &kerr) || kerr.Verb != "get" || kerr.Resource != "configmaps" || kerr.Namespace != ns || kerr.Name != "a" {
		t.Errorf("error names %+v", kerr)
	}
	if _, found, err := api.Lookup(ctx, "a"); found || err != nil {
		t.Errorf("Lookup of an absent object = %t, %v", found, err)
	}
	unknown := client.Namespaced(resource.Dynamic(resource.Info{Group: "example.org", Version: "v1", Kind: "Nothing"}, resource.NamespaceScoped), ns)
	if _, found, err := unknown.Lookup(ctx, "a"); found || !errors.Is(err, kube.ErrNotFound) {
		t.Errorf("Lookup of a kind that is not served = %t, %v; want ErrNotFound", found, err)
	}
}

func TestDryRunAndFieldValidation(t *testing.T) {
	client, ns := connect(t)
	api := client.Namespaced(core.ConfigMaps, ns)
	ctx := t.Context()
	must[*corev1.ConfigMap](t)(api.Create(ctx, configMap("dry", nil), &kube.CreateOptions{DryRun: true, FieldManager: "me"}))
	if _, found, err := api.Lookup(ctx, "dry"); found || err != nil {
		t.Errorf("after a dry run: found %t, %v", found, err)
	}
	dynamic := client.Namespaced(resource.Dynamic(core.ConfigMaps.Descriptor().Info, resource.NamespaceScoped), ns)
	typo := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "typo"}, "dtaa": map[string]any{},
	}}
	_, err := dynamic.Create(ctx, typo, &kube.CreateOptions{FieldValidation: kube.FieldValidationStrict})
	if err == nil || !strings.Contains(err.Error(), `unknown field "dtaa"`) {
		t.Errorf("strict create of an unknown field: %v", err)
	}
}

func TestListAndEach(t *testing.T) {
	client, ns := connect(t)
	api := client.Namespaced(core.ConfigMaps, ns)
	ctx := t.Context()
	for i := range 7 {
		must[*corev1.ConfigMap](t)(api.Create(ctx, configMap(fmt.Sprintf("m%d", i), map[string]string{"i": fmt.Sprint(i)}), nil))
	}
	list := must[*kube.List[corev1.ConfigMap]](t)(api.List(ctx, &kube.ListOptions{Labels: "test=yes", Limit: 3}))
	if len(list.Items) != 3 || list.Continue == "" || list.ResourceVersion == "" {
		t.Errorf("first page: %d items, %+v", len(list.Items), list.ListMeta)
	}
	page := must[*kube.List[corev1.ConfigMap]](t)(api.List(ctx, &kube.ListOptions{Limit: 3})) // the server does not count what it has to select from
	if page.RemainingItemCount == nil || *page.RemainingItemCount < 4 {
		t.Errorf("remaining items of the first page: %v", page.RemainingItemCount)
	}
	if list.Items[0].Kind != "ConfigMap" || len(list.Items[0].ManagedFields) == 0 {
		t.Errorf("a listed object lacks its kind or its managedFields: %+v", list.Items[0])
	}
	var names []string
	for m, err := range api.Each(ctx, &kube.ListOptions{Labels: "test=yes", Limit: 2}) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, m.Name)
	}
	if want := []string{"m0", "m1", "m2", "m3", "m4", "m5", "m6"}; !cmp.Equal(names, want) {
		t.Errorf("Each gave %v, want %v", names, want)
	}
	one := must[*kube.List[corev1.ConfigMap]](t)(client.All(core.ConfigMaps).List(ctx, &kube.ListOptions{Fields: "metadata.name=m3,metadata.namespace=" + ns}))
	if len(one.Items) != 1 {
		t.Errorf("field selector over all namespaces gave %d objects", len(one.Items))
	}
	if err := api.DeleteCollection(ctx, &kube.ListOptions{Labels: "test=yes"}, nil); err != nil {
		t.Fatal(err)
	}
	if rest := must[*kube.List[corev1.ConfigMap]](t)(api.List(ctx, &kube.ListOptions{Labels: "test"})); len(rest.Items) != 0 {
		t.Errorf("%d objects left after DeleteCollection", len(rest.Items))
	}
	_, err := api.List(ctx, &kube.ListOptions{Labels: "a in ("})
	if !apierrors.IsBadRequest(err) {
		t.Errorf("a bad selector: %v", err)
	}
}

func TestPatches(t *testing.T) {
	client, ns := connect(t)
	api := client.Namespaced(core.ConfigMaps, ns)
	ctx := t.Context()
	must[*corev1.ConfigMap](t)(api.Create(ctx, configMap("p", map[string]string{"a": "1", "b": "2"}), nil))
	merged := must[*corev1.ConfigMap](t)(api.Patch(ctx, "p", kube.MergePatch(map[string]any{"data": map[string]any{"a": nil, "c": "3"}}), nil))
	if want := map[string]string{"b": "2", "c": "3"}; !cmp.Equal(merged.Data, want) {
		t.Errorf("after the merge patch: %v, want %v", merged.Data, want)
	}
	strategic := must[*corev1.ConfigMap](t)(api.Patch(ctx, "p", kube.StrategicPatch([]byte(`{"data":{"d":"4"}}`)), &kube.PatchOptions{FieldManager: "me"}))
	if strategic.Data["d"] != "4" {
		t.Errorf("after the strategic patch: %v", strategic.Data)
	}
	steps := must[*corev1.ConfigMap](t)(api.Patch(ctx, "p", kube.JSONPatch(
		kube.JSONPatchOp{Op: "test", Path: "/data/d", Value: "4"},
		kube.JSONPatchOp{Op: "move", From: "/data/d", Path: "/data/e"},
		kube.JSONPatchOp{Op: "remove", Path: "/data/b"},
	), nil))
	if want := map[string]string{"c": "3", "e": "4"}; !cmp.Equal(steps.Data, want) {
		t.Errorf("after the JSON patch: %v, want %v", steps.Data, want)
	}
	_, err := api.Patch(ctx, "p", kube.JSONPatch(kube.JSONPatchOp{Op: "test", Path: "/data/c", Value: "other"}), nil)
	if !errors.Is(err, kube.ErrInvalid) {
		t.Errorf("a failed test step: %v, want ErrInvalid", err)
	}
}

func TestStatusIsSeparate(t *testing.T) {
	client, ns := connect(t)
	api := client.Namespaced(apps.Deployments, ns)
	ctx := t.Context()
	d := must[*appsv1.Deployment](t)(api.Create(ctx, deployment("web", 2), nil))
	d.Status.Replicas, d.Status.AvailableReplicas, d.Status.ReadyReplicas = 2, 2, 2
	three := int32(3)
	d.Spec.Replicas = &three
	got := must[*appsv1.Deployment](t)(api.Status().Replace(ctx, d, nil))
	if *got.Spec.Replicas != 2 || got.Status.AvailableReplicas != 2 {
		t.Errorf("a status write left %d replicas, %d available; want 2 and 2", *got.Spec.Replicas, got.Status.AvailableReplicas)
	}
	patched := must[*appsv1.Deployment](t)(api.Status().Patch(ctx, "web", kube.MergePatch(map[string]any{"status": map[string]any{"availableReplicas": 1}}), nil))
	if patched.Status.AvailableReplicas != 1 {
		t.Errorf("a status patch left %d available", patched.Status.AvailableReplicas)
	}
	if seen := must[*appsv1.Deployment](t)(api.Status().Get(ctx, "web")); seen.Status.AvailableReplicas != 1 {
		t.Errorf("the status reads %d available", seen.Status.AvailableReplicas)
	}
}

func deployment(name string, replicas int32) *appsv1.Deployment {
	labels := map[string]string{"app": name}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "nginx"}}},
			},
		},
	}
}

func TestScale(t *testing.T) {
	client, ns := connect(t)
	api := client.Namespaced(apps.Deployments, ns)
	ctx := t.Context()
	must[*appsv1.Deployment](t)(api.Create(ctx, deployment("web", 2), nil))
	scale := must[*kube.Scale](t)(api.Scale().Get(ctx, "web"))
	if scale.Spec.Replicas != 2 || scale.Status == nil || scale.Status.Selector != "app=web" || scale.Kind != "Scale" {
		t.Errorf("scale reads %+v", scale)
	}
	scale.Spec.Replicas = 4
	must[*kube.Scale](t)(api.Scale().Replace(ctx, "web", scale, nil))
	must[*kube.Scale](t)(api.Scale().Patch(ctx, "web", kube.MergePatch(map[string]any{"spec": map[string]any{"replicas": 5}}), nil))
	if d := must[*appsv1.Deployment](t)(api.Get(ctx, "web")); *d.Spec.Replicas != 5 {
		t.Errorf("the Deployment has %d replicas, want 5", *d.Spec.Replicas)
	}
	if _, err := client.Namespaced(core.ConfigMaps, ns).Scale().Get(ctx, "web"); !errors.Is(err, kube.ErrNotFound) {
		t.Errorf("scale of a ConfigMap: %v, want ErrNotFound", err)
	}
}

func TestSubresources(t *testing.T) {
	client, ns := connect(t)
	ctx := t.Context()
	accounts := client.Namespaced(core.ServiceAccounts, ns)
	must[*corev1.ServiceAccount](t)(accounts.Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "robot"}}, nil))
	seconds := int64(3600)
	request := newTokenRequest(seconds)
	token, err := accounts.Sub(core.ServiceAccountToken).Create(ctx, "robot", request, nil)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Count(token.Status.Token, ".") != 2 {
		t.Errorf("the token is %q, which is no JWT", token.Status.Token)
	}

	pods := client.Namespaced(core.Pods, ns)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Spec: corev1.PodSpec{
		ServiceAccountName: "robot", Containers: []corev1.Container{{Name: "c", Image: "i"}},
	}}
	must[*corev1.Pod](t)(pods.Create(ctx, pod, nil))
	// Bodies without a name get that of the object, which the server compares.
	binding := &corev1.Binding{Target: corev1.ObjectReference{Kind: "Node", Name: "n1"}}
	if _, err := pods.Sub(core.PodBinding).Create(ctx, "p", binding, nil); err != nil {
		t.Fatal(err)
	}
	if got := must[*corev1.Pod](t)(pods.Get(ctx, "p")); got.Spec.NodeName != "n1" {
		t.Errorf("the bound pod is on %q", got.Spec.NodeName)
	}
	if _, err := pods.Sub(core.PodEviction).Create(ctx, "p", newEviction(), nil); err != nil {
		t.Fatal(err)
	}
	if got := must[*corev1.Pod](t)(pods.Get(ctx, "p")); got.DeletionTimestamp == nil {
		t.Error("the evicted pod has no deletionTimestamp")
	}
	zero := time.Duration(0)
	if err := pods.Delete(ctx, "p", &kube.DeleteOptions{GracePeriod: &zero, Propagation: kube.PropagationBackground}); err != nil {
		t.Fatal(err)
	}
	if _, found, err := pods.Lookup(ctx, "p"); found || err != nil {
		t.Errorf("after a delete with no grace: found %t, %v", found, err)
	}
}

func TestMetadataOnly(t *testing.T) {
	client, ns := connect(t)
	ctx := t.Context()
	must[*corev1.ConfigMap](t)(client.Namespaced(core.ConfigMaps, ns).Create(ctx, configMap("m", map[string]string{"big": "x"}), nil))
	api := client.Namespaced(core.ConfigMaps.Metadata(), ns)
	got := must[*resource.Metadata[corev1.ConfigMap]](t)(api.Get(ctx, "m"))
	if got.Kind != "ConfigMap" || got.APIVersion != "v1" || got.Labels["test"] != "yes" {
		t.Errorf("metadata reads %+v", got)
	}
	list := must[*kube.List[resource.Metadata[corev1.ConfigMap]]](t)(api.List(ctx, &kube.ListOptions{Labels: "test=yes"}))
	if len(list.Items) != 1 || list.Items[0].Name != "m" || list.Items[0].Kind != "ConfigMap" {
		t.Errorf("metadata lists %+v", list.Items)
	}
	patched := must[*resource.Metadata[corev1.ConfigMap]](t)(api.Patch(ctx, "m", kube.MergePatch(map[string]any{"metadata": map[string]any{"labels": map[string]any{"more": "1"}}}), nil))
	if patched.Labels["more"] != "1" {
		t.Errorf("metadata patch gave %v", patched.Labels)
	}
	if _, err := api.Create(ctx, got, nil); err == nil {
		t.Error("an object of which only the metadata is known was created")
	}
}

func TestDynamic(t *testing.T) {
	client, ns := connect(t)
	ctx := t.Context()
	kind := resource.Dynamic(apps.Deployments.Descriptor().Info, resource.NamespaceScoped)
	api := client.Namespaced(kind, ns)
	typed := must[*appsv1.Deployment](t)(client.Namespaced(apps.Deployments, ns).Create(ctx, deployment("dyn", 2), nil))
	got := must[*unstructured.Unstructured](t)(api.Get(ctx, "dyn"))
	if replicas, ok, err := unstructured.NestedInt64(got.Object, "spec", "replicas"); replicas != 2 || !ok || err != nil {
		t.Errorf("replicas read %d, %t, %v; want an int64 2", replicas, ok, err)
	}
	if got.GetUID() != typed.UID {
		t.Errorf("uids differ: %s, %s", got.GetUID(), typed.UID)
	}
	unstructured.RemoveNestedField(got.Object, "metadata", "managedFields")
	if err := unstructured.SetNestedField(got.Object, int64(3), "spec", "replicas"); err != nil {
		t.Fatal(err)
	}
	if got = must[*unstructured.Unstructured](t)(api.Replace(ctx, got, nil)); got.GetGeneration() != 2 {
		t.Errorf("generation after the replace is %d, want 2", got.GetGeneration())
	}
	cluster := client.Namespaced(resource.Dynamic(core.Nodes.Descriptor().Info, resource.ClusterScoped), ns)
	if _, err := cluster.Get(ctx, "n"); err == nil || !strings.Contains(err.Error(), "cluster-scoped") {
		t.Errorf("a cluster-scoped dynamic kind in a namespace: %v", err)
	}
}

func TestWatch(t *testing.T) {
	client, ns := connect(t)
	ctx := t.Context()
	api := client.Namespaced(core.ConfigMaps, ns)
	must[*corev1.ConfigMap](t)(api.Create(ctx, configMap("w", nil), nil))
	var seen []string
	for event, err := range api.Watch(ctx, &kube.WatchOptions{Labels: "test=yes", SendInitialEvents: true, Timeout: 20 * time.Second}) {
		if err != nil {
			t.Fatal(err)
		}
		switch event.Type {
		case kube.Bookmark:
			if !event.InitialEventsEnd {
				continue
			}
			seen = append(seen, "initial events end")
			must[*corev1.ConfigMap](t)(api.Patch(ctx, "w", kube.MergePatch(map[string]any{"data": map[string]any{"k": "v"}}), nil))
		case kube.Modified:
			obj := must[*corev1.ConfigMap](t)(event.Object.Decode())
			seen = append(seen, "MODIFIED "+obj.Data["k"])
			if err := api.Delete(ctx, "w", nil); err != nil {
				t.Fatal(err)
			}
		default:
			seen = append(seen, event.Type.String()+" "+event.Object.Name())
		}
		if event.Type == kube.Deleted {
			break
		}
	}
	want := []string{"ADDED w", "initial events end", "MODIFIED v", "DELETED w"}
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	for _, err := range api.Watch(ctx, &kube.WatchOptions{ResourceVersion: "1"}) {
		if !errors.Is(err, kube.ErrExpired) && err != nil {
			t.Errorf("a watch from version 1: %v", err)
		}
		break
	}
}

func TestMisuseIsNamed(t *testing.T) {
	client, ns := connect(t)
	ctx := t.Context()
	for _, test := range []struct {
		name string
		err  func() error
		want string
	}{
		{"name over all namespaces", func() error { _, err := client.All(core.Pods).Get(ctx, "p"); return err }, "client.Namespaced"},
		{"empty name", func() error { _, err := client.Namespaced(core.Pods, ns).Get(ctx, ""); return err }, "name is empty"},
		{"name with a slash", func() error { _, err := client.Namespaced(core.Pods, ns).Get(ctx, "a/b"); return err }, `"a/b"`},
		{"empty namespace", func() error { _, err := client.Namespaced(core.Pods, "").Get(ctx, "p"); return err }, "namespace is empty"},
		{"other namespace", func() error {
			_, err := client.Namespaced(core.ConfigMaps, ns).Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "x", Namespace: "other"}}, nil)
			return err
		}, `"other"`},
		{"no namespace", func() error { _, err := client.All(core.ConfigMaps).Create(ctx, configMap("x", nil), nil); return err }, "metadata.namespace"},
		{"no name", func() error {
			_, err := client.Namespaced(core.ConfigMaps, ns).Create(ctx, configMap("", nil), nil)
			return err
		}, "generateName"},
		{"no manager", func() error {
			_, err := client.Namespaced(core.ConfigMaps, ns).Apply(ctx, configMap("x", nil), "", nil)
			return err
		}, "field manager"},
		{"empty patch", func() error {
			_, err := client.Namespaced(core.ConfigMaps, ns).Patch(ctx, "x", kube.Patch{}, nil)
			return err
		}, "patch is empty"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if err := test.err(); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error is %v; it should hold %q", err, test.want)
			}
		})
	}
}

func TestForbiddenNamesTheReason(t *testing.T) {
	server := servers.Real(t, "it has neither authentication nor authorization")
	client := must[*kube.Client](t)(kube.NewClient(&kube.Config{Server: server.URL(), CAData: server.CA(), BearerToken: server.NobodyToken()}))
	_, err := client.Namespaced(core.Secrets, "default").List(t.Context(), nil)
	if !errors.Is(err, kube.ErrForbidden) || !strings.Contains(err.Error(), "cannot list resource") {
		t.Errorf("error is %v, want the server's own words for forbidden", err)
	}
	client = must[*kube.Client](t)(kube.NewClient(&kube.Config{Server: server.URL(), CAData: server.CA(), BearerToken: "wrong"}))
	if _, err := client.Namespaced(core.Secrets, "default").List(t.Context(), nil); !errors.Is(err, kube.ErrUnauthorized) {
		t.Errorf("error is %v, want ErrUnauthorized", err)
	}
}
