// Package kubetest is a Kubernetes API server in memory, for tests of operators and of anything
// else that talks to one. It behaves as the real server does, which is measured, starts in
// about a millisecond, and works in a bubble of testing/synctest, where hours pass in no time.
//
// A whole test, of a controller that gives each namespace a quota:
//
//	package quota
//
//	import (
//		"context"
//		"testing"
//		"testing/synctest"
//		"time"
//
//		"github.com/go-kube/kube"
//		"github.com/go-kube/kube/k8s/core"
//		"github.com/go-kube/kube/kubetest"
//		"github.com/go-kube/kube/runtime/controller"
//		corev1 "k8s.io/api/core/v1"
//		"k8s.io/apimachinery/pkg/api/resource"
//		metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
//	)
//
//	func newController(client *kube.Client) *controller.Controller[corev1.Namespace] {
//		limit := corev1.ResourceList{corev1.ResourcePods: resource.MustParse("20")}
//		return controller.New(client.All(core.Namespaces), func(ctx context.Context, ns *corev1.Namespace) (controller.Action, error) {
//			quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "default"}, Spec: corev1.ResourceQuotaSpec{Hard: limit}}
//			_, err := client.Namespaced(core.ResourceQuotas, ns.Name).Apply(ctx, quota, "quota-operator", nil)
//			return controller.Await(), err
//		}, nil)
//	}
//
//	func TestQuota(t *testing.T) {
//		synctest.Test(t, func(t *testing.T) {
//			srv := kubetest.Start(t, nil)
//			client := srv.Client()
//			srv.Go(newController(client).Run)
//
//			team := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "team"}}
//			if _, err := client.All(core.Namespaces).Create(t.Context(), team, nil); err != nil {
//				t.Fatal(err)
//			}
//			time.Sleep(time.Second) // of the bubble: everything that happens within a second has happened
//			if _, err := client.Namespaced(core.ResourceQuotas, "team").Get(t.Context(), "default"); err != nil {
//				t.Fatal(err)
//			}
//		})
//	}
//
// # The server
//
// [Start] gives a server that ends with the test, [NewServer] one for everything else. It is an
// [net/http.Handler], and has ways in of its own: [Server.Client] and [Server.Config] through memory,
// [Server.URL], [Server.Kubeconfig] and [Server.ListenTLS] over loopback, for kubectl and any
// other client. Any number of servers can live in one process; they share nothing. [Options]
// says what exists from the start: Go values, custom resource definitions, YAML, files.
//
// Every built-in kind of Kubernetes 1.37 is served with its subresources, and custom resources
// by their definitions; in JSON, YAML and protobuf, whole, as metadata or as tables, with
// discovery and OpenAPI. Resource versions, paging, selectors, watches with bookmarks, streaming
// lists, patches, server-side apply, dry runs, field validation, preconditions, finalizers and
// grace periods are those of the real server, down to the words of its refusals: the tests of this
// package replay what a real one has answered.
//
// # What is validated, and what is filled in
//
// Custom resources are validated, pruned and completed by their definitions, with the API server's own code; definitions
// themselves too. Metadata is validated for every kind: names, labels, annotations, owners and finalizers.
//
// These built-in kinds are validated with their updates, in the words, order and causes of a real
// server: Pod, PodTemplate, Service, Endpoints, ConfigMap, Secret, ServiceAccount, Namespace, Node, LimitRange, ResourceQuota,
// PersistentVolumeClaim, ReplicationController, Deployment, ReplicaSet, StatefulSet, DaemonSet,
// ControllerRevision, Job, CronJob, HorizontalPodAutoscaler, PodDisruptionBudget, Ingress, IngressClass,
// NetworkPolicy, EndpointSlice, Role, ClusterRole, RoleBinding, ClusterRoleBinding, Lease, PriorityClass, StorageClass,
// ValidatingWebhookConfiguration and MutatingWebhookConfiguration. Of all other kinds, and of every status but those of
// Namespace, ResourceQuota, PodDisruptionBudget and the workloads of apps, only the metadata is validated.
//
// Within those kinds, these fields are taken as they are: sources of volumes other than emptyDir, hostPath,
// configMap, secret, downwardAPI, projected, nfs, persistentVolumeClaim, csi, ephemeral and image; resource claims of pods;
// restart rules of containers; options of Windows; the seccomp and AppArmor annotations; the success policy of
// jobs; scope selectors of quotas; match conditions of webhooks; strategies of leases; hints of
// endpoints; dataSourceRef of claims. [Options.Strict] reports an object that has one of them, and one of a kind
// that is not validated.
//
// Defaults are filled in for the kinds above, CSIDriver and PersistentVolume, and new services get addresses and ports. Of admission,
// there is what gives pods a priority, overhead and tolerations, and new nodes a taint. Limit ranges and quotas are stored
// and have no effect, and claims get no finalizer that protects them, as nobody would remove it.
//
// Nobody calls webhooks, neither those of admission nor those of conversion: of a definition whose versions a
// webhook converts, everything works in the version of storage, and fails in the others as it does when the
// webhook cannot be reached.
//
// # What happens by itself
//
// Garbage collection by owner references and the emptying of namespaces that are deleted are
// always on. They need no time: when a request is answered, what follows from it in the server
// has happened.
//
// Nothing else acts. There are no nodes: a pod that is bound to one stays as it is, and stays
// while it is being deleted until somebody deletes it with a grace period of zero, as a
// kubelet does. Deployments make no pods, volumes are not bound, and nobody is asked for
// credentials: every client may do everything.
//
// The surprise: history is bounded, as it is in a real server. A watch or a list that goes back
// further than 5 minutes or 10 000 changes of its kind gets 410 Expired.
//
// # When things go wrong
//
// [Server.Fault] makes requests fail, hang, conflict or see old data, cuts connections, and
// loses, repeats, delays and swaps the events of watches. [Server.Stop] and [Server.Restart] are
// a crash, [Server.Compact] ends history early. [Server.Requests] tells what came.
//
// [StartScript] is for tests that are about single requests: a server without objects that
// answers what the test has written down.
package kubetest
