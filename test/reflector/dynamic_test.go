package reflector_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	_ "embed"
	"encoding/base64"
	"encoding/pem"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/k8s/admissionregistration"
	"github.com/go-kube/kube/k8s/apiextensions"
	"github.com/go-kube/kube/k8s/apiregistration"
	"github.com/go-kube/kube/k8s/apps"
	"github.com/go-kube/kube/k8s/autoscaling"
	"github.com/go-kube/kube/k8s/batch"
	"github.com/go-kube/kube/k8s/certificates"
	"github.com/go-kube/kube/k8s/coordination"
	"github.com/go-kube/kube/k8s/core"
	"github.com/go-kube/kube/k8s/discovery"
	"github.com/go-kube/kube/k8s/events"
	"github.com/go-kube/kube/k8s/flowcontrol"
	"github.com/go-kube/kube/k8s/networking"
	"github.com/go-kube/kube/k8s/node"
	"github.com/go-kube/kube/k8s/policy"
	"github.com/go-kube/kube/k8s/rbac"
	"github.com/go-kube/kube/k8s/scheduling"
	"github.com/go-kube/kube/k8s/storage"
	"github.com/go-kube/kube/resource"
	"github.com/go-kube/kube/runtime/reflector"
)

//go:embed testdata/objects.yaml
var objectsYAML string

// A store that holds objects as protobuf gives readers without a type what the server sends as JSON,
// to the last null and empty list: of the objects in testdata, and of all that a server has by itself.
func TestDynamicReaderGetsWhatTheServerSendsAsJSON(t *testing.T) {
	client, namespace := connect(t)
	createAll(t, client, namespace)
	same(t, client, core.ConfigMaps, 3)
	//lint:ignore SA1019 servers still have them
	same(t, client, core.Endpoints, 2)
	same(t, client, core.Events, 2)
	same(t, client, core.LimitRanges, 1)
	same(t, client, core.Namespaces, 2)
	same(t, client, core.Nodes, 1)
	same(t, client, core.PersistentVolumeClaims, 1)
	same(t, client, core.PersistentVolumes, 1)
	same(t, client, core.Pods, 2)
	same(t, client, core.PodTemplates, 1)
	same(t, client, core.ReplicationControllers, 1)
	same(t, client, core.ResourceQuotas, 1)
	same(t, client, core.Secrets, 2)
	same(t, client, core.ServiceAccounts, 1)
	same(t, client, core.Services, 3)
	same(t, client, apps.ControllerRevisions, 1)
	same(t, client, apps.DaemonSets, 1)
	same(t, client, apps.Deployments, 1)
	same(t, client, apps.ReplicaSets, 1)
	same(t, client, apps.StatefulSets, 1)
	same(t, client, batch.CronJobs, 1)
	same(t, client, batch.Jobs, 1)
	same(t, client, autoscaling.HorizontalPodAutoscalers, 1)
	same(t, client, certificates.CertificateSigningRequests, 1)
	same(t, client, coordination.Leases, 1)
	same(t, client, discovery.EndpointSlices, 2)
	same(t, client, events.Events, 2)
	same(t, client, flowcontrol.FlowSchemas, 1)
	same(t, client, flowcontrol.PriorityLevelConfigurations, 1)
	same(t, client, networking.IngressClasses, 1)
	same(t, client, networking.Ingresses, 1)
	same(t, client, networking.NetworkPolicies, 2)
	same(t, client, node.RuntimeClasses, 1)
	same(t, client, policy.PodDisruptionBudgets, 2)
	same(t, client, rbac.ClusterRoleBindings, 0)
	same(t, client, rbac.ClusterRoles, 1)
	same(t, client, rbac.RoleBindings, 1)
	same(t, client, rbac.Roles, 2)
	same(t, client, scheduling.PriorityClasses, 1)
	same(t, client, storage.CSIDrivers, 1)
	same(t, client, storage.CSIStorageCapacities, 1)
	same(t, client, storage.StorageClasses, 1)
	same(t, client, storage.VolumeAttachments, 1)
	same(t, client, admissionregistration.ValidatingAdmissionPolicies, 1)
	same(t, client, admissionregistration.ValidatingAdmissionPolicyBindings, 1)
	same(t, client, admissionregistration.ValidatingWebhookConfigurations, 1)
	same(t, client, apiextensions.CustomResourceDefinitions, 1)
	same(t, client, apiregistration.APIServices, 1)
}

// createAll creates the objects in testdata, and deletes them after the test. What a server does
// not know is left out.
func createAll(t *testing.T, client *kube.Client, namespace string) {
	t.Helper()
	text := strings.NewReplacer("NAMESPACE", namespace, "REQUEST", certificateRequest(t)).Replace(objectsYAML)
	for document := range strings.SplitSeq(text, "\n---\n") {
		u := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(document), &u.Object); err != nil {
			t.Fatal(err)
		}
		kind, err := client.DiscoverKind(t.Context(), u.GroupVersionKind())
		if err != nil {
			t.Fatal(err)
		}
		api := client.All(kind)
		if kind.Descriptor().Scope == resource.NamespaceScoped {
			api = client.Namespaced(kind, namespace)
		}
		if _, err := api.Create(t.Context(), u, nil); err != nil {
			t.Errorf("create %s %s: %v", u.GetKind(), u.GetName(), err)
			continue
		}
		t.Cleanup(func() {
			ctx := context.WithoutCancel(t.Context())
			api.Delete(ctx, u.GetName(), nil)
			api.Patch(ctx, u.GetName(), kube.MergePatch([]byte(`{"metadata":{"finalizers":null}}`)), nil)
		})
	}
}

// certificateRequest returns a request for a certificate, as it stands in JSON.
func certificateRequest(t *testing.T) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	request, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: pkix.Name{CommonName: "me"}}, key)
	if err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: request}))
}

// same compares what a typed store says without types with what the server sends as JSON, for all objects
// of a kind, of which there are a few at least.
func same[K any](t *testing.T, client *kube.Client, kind resource.Kind[K], atLeast int) {
	d := kind.Descriptor()
	t.Run(d.Info.String(), func(t *testing.T) {
		list, err := client.All(resource.Dynamic(d.Info, d.Scope)).List(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		store := run(t, reflector.New(client.All(kind), nil))
		if err := store.WaitReady(patiently(t)); err != nil {
			t.Fatal(err)
		}
		compared := 0
		for _, want := range list.Items {
			ref := resource.Ref[unstructured.Unstructured]{Namespace: want.GetNamespace(), Name: want.GetName()}
			lazy, ok := reflector.Dynamic(store).Lazy(ref)
			if !ok || lazy.ResourceVersion() != want.GetResourceVersion() {
				continue // the server has changed it since
			}
			if d.Protobuf && !lazy.IsProtobuf() {
				t.Fatal("the store has JSON: there is nothing to compare")
			}
			got, err := reflector.Dynamic(store).Get(ref)
			if err != nil {
				t.Error(err)
				continue
			}
			unstructured.RemoveNestedField(want.Object, "metadata", "managedFields")
			if diff := cmp.Diff(want.Object, got.Object); diff != "" {
				t.Errorf("%s (-server +store):\n%s", ref, diff)
			}
			compared++
		}
		if compared < atLeast {
			t.Errorf("%d objects were compared, want %d at least", compared, atLeast)
		}
	})
}
