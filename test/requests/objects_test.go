package requests_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/k8s/apps"
	"github.com/go-kube/kube/k8s/core"
	"github.com/go-kube/kube/k8s/policy"
	"github.com/go-kube/kube/k8s/rbac"
	"github.com/go-kube/kube/nodes"
	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiresource "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// must returns v, and ends the test when there is an error.
func must[T any](t *testing.T) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func TestEntry(t *testing.T) {
	w := connect(t)
	ctx := t.Context()
	api := w.admin(t).Namespaced(core.ConfigMaps, w.NewNamespace(t))
	entry := func() *kube.Entry[corev1.ConfigMap] {
		return must[*kube.Entry[corev1.ConfigMap]](t)(api.Entry(ctx, "shared"))
	}
	set := func(value string) func(*corev1.ConfigMap) {
		return func(cm *corev1.ConfigMap) { cm.Data = map[string]string{"key": value} }
	}
	insert := func() *corev1.ConfigMap { return &corev1.ConfigMap{} }

	mine, theirs := entry(), entry()
	mine.OrInsert(insert).Modify(set("mine"))
	if err := mine.Commit(ctx, &kube.CommitOptions{DryRun: true}); err != nil || mine.Stored() {
		t.Errorf("dry run: %v, stored %t", err, mine.Stored())
	}
	if _, found, err := api.Lookup(ctx, "shared"); found || err != nil {
		t.Errorf("after a dry run: found %t, %v", found, err)
	}
	if err := mine.Commit(ctx, nil); err != nil || !mine.Stored() {
		t.Errorf("create: %v, stored %t", err, mine.Stored())
	}
	if err := theirs.OrInsert(insert).Commit(ctx, nil); !errors.Is(err, kube.ErrAlreadyExists) {
		t.Errorf("create of what is there: %v", err)
	}
	theirs = entry()
	if err := mine.Modify(set("again")).Commit(ctx, nil); err != nil {
		t.Errorf("update: %v", err)
	}
	if err := theirs.Modify(set("theirs")).Commit(ctx, nil); !errors.Is(err, kube.ErrConflict) {
		t.Errorf("update of what has changed: %v", err)
	}
	if got := must[*corev1.ConfigMap](t)(api.Get(ctx, "shared")); got.Data["key"] != "again" {
		t.Errorf("stored is %v", got.Data)
	}
}

func TestDeleteAndWait(t *testing.T) {
	w := connect(t)
	ctx := t.Context()
	api := w.admin(t).Namespaced(core.ConfigMaps, w.NewNamespace(t))
	held := configMap("held")
	held.Finalizers = []string{"example.org/hold"}
	must[*corev1.ConfigMap](t)(api.Create(ctx, held, nil))
	done := make(chan error, 1)
	go func() { done <- api.DeleteAndWait(ctx, "held", nil) }()
	eventually(t, "the mark of deletion", func() bool {
		return must[*corev1.ConfigMap](t)(api.Get(ctx, "held")).DeletionTimestamp != nil
	})
	select {
	case err := <-done:
		t.Fatalf("returned before the finalizer was gone: %v", err)
	default:
	}
	must[*corev1.ConfigMap](t)(api.Patch(ctx, "held", kube.MergePatch(map[string]any{"metadata": map[string]any{"finalizers": nil}}), nil))
	if err := <-done; err != nil {
		t.Error(err)
	}
	if _, found, err := api.Lookup(ctx, "held"); found || err != nil {
		t.Errorf("afterwards: found %t, %v", found, err)
	}
	if err := api.DeleteAndWait(ctx, "held", nil); !errors.Is(err, kube.ErrNotFound) {
		t.Errorf("of what is gone: %v", err)
	}
}

func template() corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
	}
}

func TestRestartOfADeployment(t *testing.T) {
	w := connect(t)
	ctx := t.Context()
	client, ns := w.admin(t), w.NewNamespace(t)
	api := client.Namespaced(apps.Deployments, ns)
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: appsv1.DeploymentSpec{
		Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}, Template: template(),
	}}
	before := must[*appsv1.Deployment](t)(api.Create(ctx, deployment, nil))
	after := must[*appsv1.Deployment](t)(api.Restart(ctx, "web"))
	stamp := after.Spec.Template.Annotations["kubectl.kubernetes.io/restartedAt"]
	if _, err := time.Parse(time.RFC3339, stamp); err != nil || after.Generation != before.Generation+1 {
		t.Errorf("restarted at %q, generation %d after %d", stamp, after.Generation, before.Generation)
	}
	if _, err := client.Namespaced(apps.ReplicaSets, ns).Restart(ctx, "web"); err == nil || !strings.Contains(err.Error(), "a ReplicaSet cannot be restarted") {
		t.Errorf("of a ReplicaSet: %v", err)
	}
}

func TestResolveReferences(t *testing.T) {
	w := connect(t)
	ctx := t.Context()
	client, ns := w.admin(t), w.NewNamespace(t)
	api := client.Namespaced(core.ConfigMaps, ns)
	owner := must[*corev1.ConfigMap](t)(api.Create(ctx, configMap("owner"), nil))
	byOwner := kube.ToOwner(metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "owner", UID: owner.UID}, ns)
	byObject := kube.Reference{APIVersion: "v1", Kind: "ConfigMap", Namespace: ns, Name: "owner"}
	for name, ref := range map[string]kube.Reference{"owner": byOwner, "object": byObject, "local": {APIVersion: "v1", Kind: "ConfigMap", Name: "owner"}} {
		if got, err := api.Resolve(ctx, ref); err != nil || got.UID != owner.UID {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	if got, err := client.ResolveDynamic(ctx, byOwner); err != nil || got.GetUID() != owner.UID {
		t.Errorf("of any kind: %v, %v", got, err)
	}
	if _, err := client.Namespaced(core.Secrets, ns).Resolve(ctx, byObject); err == nil || !strings.Contains(err.Error(), "the reference is to a ConfigMap") {
		t.Errorf("of another kind: %v", err)
	}
	if err := api.Delete(ctx, "owner", nil); err != nil {
		t.Fatal(err)
	}
	must[*corev1.ConfigMap](t)(api.Create(ctx, configMap("owner"), nil))
	if _, err := api.Resolve(ctx, byOwner); !errors.Is(err, kube.ErrNotFound) {
		t.Errorf("of an owner whose place another one has: %v", err)
	}
}

func TestEphemeralContainers(t *testing.T) {
	w := connect(t)
	ctx := t.Context()
	api := w.admin(t).Namespaced(core.Pods, w.NewNamespace(t))
	pod := must[*corev1.Pod](t)(api.Create(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: template().Spec}, nil))
	add := func(name string) {
		pod.Spec.EphemeralContainers = append(pod.Spec.EphemeralContainers, corev1.EphemeralContainer{
			EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: name, Image: "i"},
		})
	}
	add("one")
	sub := api.Sub(core.PodEphemeralContainers)
	pod = must[*corev1.Pod](t)(sub.Replace(ctx, "web", pod, nil))
	must[*corev1.Pod](t)(sub.Patch(ctx, "web", kube.StrategicPatch(map[string]any{
		"spec": map[string]any{"ephemeralContainers": []any{map[string]any{"name": "two", "image": "i"}}},
	}), nil))
	var names []string
	for _, c := range must[*corev1.Pod](t)(sub.Get(ctx, "web")).Spec.EphemeralContainers {
		names = append(names, c.Name)
	}
	slices.Sort(names)
	if diff := cmp.Diff([]string{"one", "two"}, names); diff != "" {
		t.Error(diff)
	}
}

// TestDrain empties a node, and waits for what a disruption budget holds. No controller counts what
// the budget allows, so the test does.
func TestDrain(t *testing.T) {
	w := connect(t)
	ctx := t.Context()
	client, ns := w.admin(t), w.NewNamespace(t)
	name := "node-" + ns
	must[*corev1.Node](t)(client.All(core.Nodes).Create(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}, nil))
	unschedulable := func() int {
		list := must[*kube.List[corev1.Node]](t)(client.All(core.Nodes).List(ctx, &kube.ListOptions{Fields: "spec.unschedulable=true,metadata.name=" + name}))
		return len(list.Items)
	}
	api := client.Namespaced(core.Pods, ns)
	for _, pod := range []string{"free", "held"} {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: pod, Labels: map[string]string{"app": pod}}, Spec: template().Spec}
		p.Spec.NodeName = name
		p = must[*corev1.Pod](t)(api.Create(ctx, p, nil))
		p.Status.Phase = corev1.PodRunning
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
		must[*corev1.Pod](t)(api.Status().Replace(ctx, p, nil))
	}
	budgets := client.Namespaced(policy.PodDisruptionBudgets, ns)
	budget := must[*policyv1.PodDisruptionBudget](t)(budgets.Create(ctx, &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Name: "held"},
		Spec:       policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "held"}}},
	}, nil))
	count := func(allowed int32) {
		budget.Status = policyv1.PodDisruptionBudgetStatus{
			ObservedGeneration: budget.Generation, DisruptionsAllowed: allowed, CurrentHealthy: 1, DesiredHealthy: 1 - allowed, ExpectedPods: 1,
		}
		budget = must[*policyv1.PodDisruptionBudget](t)(budgets.Status().Replace(ctx, budget, nil))
	}
	count(0)
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	grace := time.Duration(0)
	var steps []string
	err := nodes.Drain(ctx, client, name, &nodes.DrainOptions{
		Force: true, GracePeriod: &grace, RetryInterval: 50 * time.Millisecond,
		Progress: func(e nodes.Event) {
			steps = append(steps, e.Pod+" "+string(e.Step))
			if e.Step == nodes.Blocked {
				if !strings.Contains(e.Err.Error(), "disruption budget") {
					t.Errorf("blocked: %v", e.Err)
				}
				count(1)
			}
		},
	})
	if err != nil {
		t.Fatalf("%v after %q", err, steps)
	}
	if unschedulable() != 1 {
		t.Error("the node is not cordoned")
	}
	if left := must[*kube.List[corev1.Pod]](t)(api.List(ctx, nil)).Items; len(left) != 0 {
		t.Errorf("%d pods are left", len(left))
	}
	if all := strings.Join(steps, ", "); !strings.Contains(all, "held blocked") || !strings.Contains(all, "held gone") || !strings.Contains(all, "free gone") || strings.Contains(all, "free blocked") {
		t.Errorf("steps: %s", all)
	}
	if err := nodes.Uncordon(ctx, client, name); err != nil || unschedulable() != 0 {
		t.Errorf("uncordon: %v, %d nodes are unschedulable", err, unschedulable())
	}
}

// TestDrainIsRefused: of a pod with two budgets the server says that it can never be evicted. The one who drains
// may do as much as a drain needs, and no more.
func TestDrainIsRefused(t *testing.T) {
	w := connect(t)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	client, ns := w.admin(t), w.NewNamespace(t)
	name := "node-" + ns
	must[*corev1.Node](t)(client.All(core.Nodes).Create(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}, nil))
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"nodes"}, Verbs: []string{"patch"}},
		{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"get", "list"}},
		{APIGroups: []string{""}, Resources: []string{"pods/eviction"}, Verbs: []string{"create"}},
		{APIGroups: []string{"apps"}, Resources: []string{"daemonsets"}, Verbs: []string{"get"}},
	}}
	must[*rbacv1.ClusterRole](t)(client.All(rbac.ClusterRoles).Create(ctx, role, nil))
	must[*rbacv1.ClusterRoleBinding](t)(client.All(rbac.ClusterRoleBindings).Create(ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: "drainer-" + ns}},
	}, nil))
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "held", Labels: map[string]string{"app": "held"}}, Spec: template().Spec}
	pod.Spec.NodeName = name
	api := client.Namespaced(core.Pods, ns)
	pod = must[*corev1.Pod](t)(api.Create(ctx, pod, nil))
	pod.Status.Phase = corev1.PodRunning
	must[*corev1.Pod](t)(api.Status().Replace(ctx, pod, nil))
	budgets := client.Namespaced(policy.PodDisruptionBudgets, ns)
	for _, budget := range []string{"one", "two"} {
		must[*policyv1.PodDisruptionBudget](t)(budgets.Create(ctx, &policyv1.PodDisruptionBudget{
			ObjectMeta: metav1.ObjectMeta{Name: budget},
			Spec:       policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "held"}}},
		}, nil))
	}
	drainer := newClient(t, w.user(t, "drainer-"+ns))
	grace := time.Duration(0)
	opts := &nodes.DrainOptions{Force: true, GracePeriod: &grace}
	eventually(t, "the role to count", func() bool {
		return !errors.Is(nodes.Cordon(ctx, drainer, name), kube.ErrForbidden)
	})
	err := nodes.Drain(ctx, drainer, name, opts)
	if err == nil || !strings.Contains(err.Error(), "more than one PodDisruptionBudget") {
		t.Errorf("error %v, want that there are two budgets", err)
	}
	if err := budgets.DeleteCollection(ctx, nil, nil); err != nil {
		t.Fatal(err)
	}
	if err := nodes.Drain(ctx, drainer, name, opts); err != nil {
		t.Errorf("without the budgets: %v", err)
	}
}

// TestResize changes the resources of a pod that runs. Its node, which would act on it, is none.
func TestResize(t *testing.T) {
	w := connect(t)
	ctx := t.Context()
	api := w.admin(t).Namespaced(core.Pods, w.NewNamespace(t))
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: template().Spec}
	cpu := func(text string) corev1.ResourceRequirements {
		return corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: apiresource.MustParse(text)}}
	}
	pod.Spec.Containers[0].Resources = cpu("100m")
	pod = must[*corev1.Pod](t)(api.Create(ctx, pod, nil))
	pod.Spec.Containers[0].Resources = cpu("200m")
	if _, err := api.Replace(ctx, pod, nil); !errors.Is(err, kube.ErrInvalid) {
		t.Errorf("without the subresource: %v", err)
	}
	sub := api.Sub(core.PodResize)
	pod = must[*corev1.Pod](t)(sub.Replace(ctx, "web", pod, nil))
	if got := pod.Spec.Containers[0].Resources.Requests.Cpu().String(); got != "200m" {
		t.Errorf("replaced: %s", got)
	}
	name := pod.Spec.Containers[0].Name
	pod = must[*corev1.Pod](t)(sub.Patch(ctx, "web", kube.StrategicPatch(map[string]any{"spec": map[string]any{"containers": []any{
		map[string]any{"name": name, "resources": map[string]any{"requests": map[string]any{"cpu": "300m"}}},
	}}}), nil))
	if got := must[*corev1.Pod](t)(sub.Get(ctx, "web")); got.Spec.Containers[0].Resources.Requests.Cpu().String() != "300m" || got.ResourceVersion != pod.ResourceVersion {
		t.Errorf("patched: %v", got.Spec.Containers[0].Resources)
	}
}
