package client_test

import (
	"errors"
	"sort"
	"strings"
	"testing"

	"encoding/json/v2"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/k8s/apiextensions"
	"github.com/go-kube/kube/k8s/apps"
	"github.com/go-kube/kube/resource"
	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// owned lists the leaves that manager owns, as the server says.
func owned(t *testing.T, obj metav1.Object, manager, subresource string) []string {
	t.Helper()
	var leaves []string
	for _, entry := range obj.GetManagedFields() {
		if entry.Manager != manager || entry.Subresource != subresource {
			continue
		}
		var fields map[string]any
		if err := json.Unmarshal(entry.FieldsV1.GetRawBytes(), &fields); err != nil {
			t.Fatal(err)
		}
		leaves = append(leaves, flatten("", fields)...)
	}
	sort.Strings(leaves)
	return leaves
}

func flatten(path string, fields map[string]any) (leaves []string) {
	for key, value := range fields {
		if key == "." {
			continue
		}
		inner := value.(map[string]any)
		child := path + "." + strings.TrimPrefix(key, "f:")
		if len(inner) == 0 {
			leaves = append(leaves, child)
		}
		leaves = append(leaves, flatten(child, inner)...)
	}
	return leaves
}

func TestApplyOwnsWhatIsSet(t *testing.T) {
	client, ns := connect(t)
	api := client.Namespaced(apps.Deployments, ns)
	ctx := t.Context()
	base := must[*appsv1.Deployment](t)(api.Apply(ctx, deployment("web", 2), "first", nil))
	if got := owned(t, base, "first", ""); len(got) == 0 {
		t.Fatal("the first manager owns nothing")
	}

	replicas, seconds := int32(0), int32(30)
	partial := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec: appsv1.DeploymentSpec{Replicas: &replicas, ProgressDeadlineSeconds: &seconds}}
	got := must[*appsv1.Deployment](t)(api.Apply(ctx, partial, "second", nil))
	if want := []string{".spec.progressDeadlineSeconds", ".spec.replicas"}; !cmp.Equal(owned(t, got, "second", ""), want) {
		t.Errorf("the second manager owns %v, want %v", owned(t, got, "second", ""), want)
	}
	if *got.Spec.Replicas != 0 || got.Spec.Template.Spec.Containers[0].Image != "nginx" {
		t.Errorf("after the second apply: %d replicas of %q", *got.Spec.Replicas, got.Spec.Template.Spec.Containers[0].Image)
	}
	if first := owned(t, got, "first", ""); !contains(first, `.spec.template.spec.containers.k:{"name":"web"}.image`) || contains(first, ".spec.replicas") {
		t.Errorf("the first manager owns %v; it should have kept its image and lost its replicas", first)
	}

	_, err := api.Apply(ctx, deployment("web", 7), "first", &kube.ApplyOptions{FailOnConflict: true})
	if !errors.Is(err, kube.ErrConflict) || !strings.Contains(err.Error(), ".spec.replicas") {
		t.Errorf("a conflicting apply that does not force: %v", err)
	}
}

func contains(list []string, s string) bool {
	for _, l := range list {
		if l == s {
			return true
		}
	}
	return false
}

func TestApplyDoesNotOwnServiceName(t *testing.T) {
	client, ns := connect(t)
	api := client.Namespaced(apps.StatefulSets, ns)
	ctx := t.Context()
	labels := map[string]string{"app": "db"}
	full := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "db"}, Spec: appsv1.StatefulSetSpec{
		ServiceName: "db", Selector: &metav1.LabelSelector{MatchLabels: labels},
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels},
			Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "db", Image: "db"}}}},
	}}
	must[*appsv1.StatefulSet](t)(api.Create(ctx, full, nil))
	three := int32(3)
	got := must[*appsv1.StatefulSet](t)(api.Apply(ctx, &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "db"},
		Spec: appsv1.StatefulSetSpec{Replicas: &three}}, "scaler", nil))
	if want := []string{".spec.replicas"}; !cmp.Equal(owned(t, got, "scaler", ""), want) {
		t.Errorf("the partial StatefulSet owns %v, want %v", owned(t, got, "scaler", ""), want)
	}
	if got.Spec.ServiceName != "db" {
		t.Errorf("serviceName became %q", got.Spec.ServiceName)
	}
}

func TestApplyZero(t *testing.T) {
	client, ns := connect(t)
	api := client.Namespaced(apps.Deployments, ns)
	ctx := t.Context()
	must[*appsv1.Deployment](t)(api.Apply(ctx, deployment("z", 1), "first", nil))
	partial := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "z"}}
	got := must[*appsv1.Deployment](t)(api.Apply(ctx, partial, "second", &kube.ApplyOptions{Zero: []string{"spec.minReadySeconds"}}))
	if want := []string{".spec.minReadySeconds"}; !cmp.Equal(owned(t, got, "second", ""), want) {
		t.Errorf("the second manager owns %v, want %v", owned(t, got, "second", ""), want)
	}
	_, err := api.Apply(ctx, partial, "second", &kube.ApplyOptions{Zero: []string{"spec.minReadySecond"}})
	if err == nil || !strings.Contains(err.Error(), "minReadySeconds") {
		t.Errorf("a misspelt path in Zero: %v; it should suggest minReadySeconds", err)
	}
}

type checkSpec struct {
	Text string `json:"text,omitempty"`
}

type checkStatus struct {
	Ready bool   `json:"ready"`
	Note  string `json:"note,omitempty"`
}

type check = resource.Object[checkSpec, checkStatus]

var checks = resource.DefineNamespaced[check](resource.Info{Group: "client.example.com", Version: "v1", Kind: "Check"})

func installChecks(t *testing.T, client *kube.Client) {
	t.Helper()
	preserve := true
	definition := &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "checks.client.example.com"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "client.example.com", Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "checks", Singular: "check", Kind: "Check", ListKind: "CheckList"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true,
				Subresources: &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}},
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
					Type: "object", XPreserveUnknownFields: &preserve,
				}},
			}},
		},
	}
	api := client.All(apiextensions.CustomResourceDefinitions)
	must[*apiextensionsv1.CustomResourceDefinition](t)(api.Apply(t.Context(), definition, "test", nil))
	for event, err := range api.Watch(t.Context(), &kube.WatchOptions{Fields: "metadata.name=" + definition.Name}) {
		if err != nil {
			t.Fatal(err)
		}
		if event.Type != kube.Added && event.Type != kube.Modified {
			continue
		}
		for _, c := range must[*apiextensionsv1.CustomResourceDefinition](t)(event.Object.Decode()).Status.Conditions {
			if c.Type == apiextensionsv1.Established && c.Status == apiextensionsv1.ConditionTrue {
				return
			}
		}
	}
}

func TestApplyStoresFalseOfACustomStatus(t *testing.T) {
	client, ns := connect(t)
	installChecks(t, client)
	ctx := t.Context()
	api := client.Namespaced(checks, ns)
	created := must[*check](t)(api.Create(ctx, resource.New(checks, "c", checkSpec{Text: "t"}), nil))
	for _, ready := range []bool{true, false} {
		got := must[*check](t)(api.Status().Apply(ctx, created.WithStatus(checkStatus{Ready: ready}), "op", nil))
		if got.Status == nil || got.Status.Ready != ready {
			t.Errorf("status after applying ready %t: %+v", ready, got.Status)
		}
		if want := []string{".status.ready"}; !cmp.Equal(owned(t, got, "op", "status"), want) {
			t.Errorf("the status apply owns %v, want %v", owned(t, got, "op", "status"), want)
		}
		if got.Spec.Text != "t" {
			t.Errorf("the spec became %+v", got.Spec)
		}
	}
}
