package wait

import (
	"errors"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// judged is a condition applied to an object.
type judged struct {
	name string
	done bool
	err  error
}

func judge[K any](name string, c Condition[K], obj *K) judged {
	done, err := c(obj)
	return judged{name, done, err}
}

func pod(phase corev1.PodPhase, ready corev1.ConditionStatus) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{UID: "u"},
		Status:     corev1.PodStatus{Phase: phase, Reason: "Evicted", Conditions: []corev1.PodCondition{{Type: "Ready", Status: ready}}},
	}
}

func job(kind batchv1.JobConditionType, status corev1.ConditionStatus) *batchv1.Job {
	return &batchv1.Job{Status: batchv1.JobStatus{Conditions: []batchv1.JobCondition{
		{Type: "SuccessCriteriaMet", Status: "True"},
		{Type: kind, Status: status, Reason: "BackoffLimitExceeded", Message: "too often"},
	}}}
}

func deployment(generation, observed int64, status corev1.ConditionStatus, reason string) *appsv1.Deployment {
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Generation: generation},
		Status: appsv1.DeploymentStatus{ObservedGeneration: observed, Conditions: []appsv1.DeploymentCondition{
			{Type: "Available", Status: "True"}, {Type: "Progressing", Status: status, Reason: reason},
		}},
	}
}

func service(kind corev1.ServiceType, ingress ...corev1.LoadBalancerIngress) *corev1.Service {
	return &corev1.Service{Spec: corev1.ServiceSpec{Type: kind}, Status: corev1.ServiceStatus{LoadBalancer: corev1.LoadBalancerStatus{Ingress: ingress}}}
}

func ingress(entries ...networkingv1.IngressLoadBalancerIngress) *networkingv1.Ingress {
	return &networkingv1.Ingress{Status: networkingv1.IngressStatus{LoadBalancer: networkingv1.IngressLoadBalancerStatus{Ingress: entries}}}
}

func definition(names, established apiextensionsv1.ConditionStatus) *apiextensionsv1.CustomResourceDefinition {
	return &apiextensionsv1.CustomResourceDefinition{Status: apiextensionsv1.CustomResourceDefinitionStatus{
		Conditions: []apiextensionsv1.CustomResourceDefinitionCondition{
			{Type: "Established", Status: established}, {Type: "NamesAccepted", Status: names, Reason: "NameConflict"},
		},
	}}
}

const balanced = corev1.ServiceTypeLoadBalancer

func TestConditionsHold(t *testing.T) {
	for _, j := range []judged{
		judge("exists", Exists[corev1.Pod](), pod("", "")),
		judge("deleted, absent", Deleted[corev1.Pod]("u"), nil),
		judge("deleted, another", Deleted[corev1.Pod]("v"), pod("", "")),
		judge("pod running", PodRunning(), pod("Running", "False")),
		judge("pod ready", PodReady(), pod("Running", "True")),
		judge("job", JobComplete(), job("Complete", "True")),
		judge("deployment", DeploymentComplete(), deployment(2, 2, "True", "NewReplicaSetAvailable")),
		judge("service, ip", ServiceProvisioned(), service(balanced, corev1.LoadBalancerIngress{IP: "1.2.3.4"})),
		judge("service, hostname", ServiceProvisioned(), service(balanced, corev1.LoadBalancerIngress{Hostname: "x"})),
		judge("service without a balancer", ServiceProvisioned(), service("ClusterIP")),
		judge("ingress, ip", IngressProvisioned(), ingress(networkingv1.IngressLoadBalancerIngress{IP: "1.2.3.4"})),
		judge("ingress, hostname", IngressProvisioned(), ingress(networkingv1.IngressLoadBalancerIngress{Hostname: "x"})),
		judge("established", Established(), definition("True", "True")),
		judge("established with names lost", Established(), definition("False", "True")),
		judge("not", Not(PodRunning()), pod("Pending", "")),
		judge("not, never", Not(PodRunning()), pod("Failed", "")),
		judge("and", And(PodRunning(), PodReady()), pod("Running", "True")),
		judge("and of nothing", And[corev1.Pod](), nil),
		judge("or", Or(Deleted[corev1.Pod]("u"), PodRunning()), pod("Running", "")),
		judge("or, one fails", Or(PodRunning(), Exists[corev1.Pod]()), pod("Failed", "")),
	} {
		if !j.done || j.err != nil {
			t.Errorf("%s: %v, %v; want it to hold", j.name, j.done, j.err)
		}
	}
}

func TestConditionsArePending(t *testing.T) {
	for _, j := range []judged{
		judge("exists", Exists[corev1.Pod](), nil),
		judge("deleted", Deleted[corev1.Pod]("u"), pod("", "")),
		judge("deleted, any", Deleted[corev1.Pod](""), pod("", "")),
		judge("pod running, absent", PodRunning(), nil),
		judge("pod running", PodRunning(), pod("Pending", "")),
		judge("pod ready", PodReady(), pod("Running", "False")),
		judge("pod ready, pending", PodReady(), pod("Pending", "True")),
		judge("job, absent", JobComplete(), nil),
		judge("job", JobComplete(), job("Complete", "False")),
		judge("job, not failed", JobComplete(), job("Failed", "False")),
		judge("deployment, absent", DeploymentComplete(), nil),
		judge("deployment, status of an earlier spec", DeploymentComplete(), deployment(3, 2, "True", "NewReplicaSetAvailable")),
		judge("deployment, earlier failure", DeploymentComplete(), deployment(3, 2, "False", "ProgressDeadlineExceeded")),
		judge("deployment", DeploymentComplete(), deployment(2, 2, "True", "ReplicaSetUpdated")),
		judge("service, absent", ServiceProvisioned(), nil),
		judge("service, no entry", ServiceProvisioned(), service(balanced)),
		judge("service, empty entry", ServiceProvisioned(), service(balanced, corev1.LoadBalancerIngress{IP: "1.2.3.4"}, corev1.LoadBalancerIngress{})),
		judge("ingress, absent", IngressProvisioned(), nil),
		judge("ingress, no entry", IngressProvisioned(), ingress()),
		judge("ingress, empty entry", IngressProvisioned(), ingress(networkingv1.IngressLoadBalancerIngress{})),
		judge("established, absent", Established(), nil),
		judge("established", Established(), definition("True", "False")),
		judge("not", Not(PodRunning()), pod("Running", "")),
		judge("and", And(PodRunning(), PodReady()), pod("Running", "False")),
		judge("or", Or(PodReady(), Deleted[corev1.Pod]("u")), pod("Running", "False")),
		judge("or of nothing", Or[corev1.Pod](), nil),
	} {
		if j.done || j.err != nil {
			t.Errorf("%s: %v, %v; want it to be pending", j.name, j.done, j.err)
		}
	}
}

func TestConditionsFail(t *testing.T) {
	for want, j := range map[string]judged{
		"the pod has ended in phase Failed: Evicted":                     judge("", PodRunning(), pod("Failed", "")),
		"the pod has ended in phase Succeeded":                           judge("", PodReady(), pod("Succeeded", "True")),
		"the job has failed: BackoffLimitExceeded: too often":            judge("", JobComplete(), job("Failed", "True")),
		"the rollout does not get ahead: ProgressDeadlineExceeded":       judge("", DeploymentComplete(), deployment(2, 2, "False", "ProgressDeadlineExceeded")),
		"the names are not accepted: NameConflict":                       judge("", Established(), definition("False", "False")),
		"it has failed: the pod has ended in phase Failed":               judge("", And(Exists[corev1.Pod](), PodRunning()), pod("Failed", "")),
		"phase Failed: Evicted\nit has failed: the pod has ended in pha": judge("", Or(PodRunning(), PodReady()), pod("Failed", "")),
	} {
		if j.done || !errors.Is(j.err, ErrFailed) || !strings.Contains(j.err.Error(), want) {
			t.Errorf("%v, %v; want a failure with %q", j.done, j.err, want)
		}
	}
}

func TestDeletedNeedsMetadata(t *testing.T) {
	if _, err := Deleted[int]("u")(new(int)); err == nil || !strings.Contains(err.Error(), "*int has no metadata") {
		t.Errorf("error %v", err)
	}
}
