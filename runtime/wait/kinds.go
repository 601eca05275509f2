package wait

import (
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// PodRunning holds when all containers of a Pod were started. It fails when the Pod has ended.
// See https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#pod-phase
func PodRunning() Condition[corev1.Pod] {
	return func(p *corev1.Pod) (bool, error) {
		switch {
		case p == nil:
			return false, nil
		case p.Status.Phase == corev1.PodFailed || p.Status.Phase == corev1.PodSucceeded:
			return false, failed("the pod has ended in phase "+string(p.Status.Phase), p.Status.Reason, p.Status.Message)
		}
		return p.Status.Phase == corev1.PodRunning, nil
	}
}

// PodReady holds when a Pod can serve: its condition Ready. It fails when the Pod has ended.
func PodReady() Condition[corev1.Pod] {
	running := PodRunning()
	return func(p *corev1.Pod) (bool, error) {
		if done, err := running(p); !done {
			return false, err
		}
		for _, c := range p.Status.Conditions {
			if c.Type == corev1.PodReady {
				return c.Status == corev1.ConditionTrue, nil
			}
		}
		return false, nil
	}
}

// JobComplete holds when a Job is done. It fails when the Job has failed for good.
// See https://kubernetes.io/docs/concepts/workloads/controllers/job/#job-termination-and-cleanup
func JobComplete() Condition[batchv1.Job] {
	return func(j *batchv1.Job) (bool, error) {
		if j == nil {
			return false, nil
		}
		for _, c := range j.Status.Conditions {
			if c.Status != corev1.ConditionTrue {
				continue
			}
			switch c.Type {
			case batchv1.JobComplete:
				return true, nil
			case batchv1.JobFailed:
				return false, failed("the job has failed", c.Reason, c.Message)
			}
		}
		return false, nil
	}
}

// DeploymentComplete holds when the newest state of a Deployment is rolled out. It fails when the
// rollout has exceeded its deadline (spec.progressDeadlineSeconds).
// See https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#deployment-status
func DeploymentComplete() Condition[appsv1.Deployment] {
	return func(d *appsv1.Deployment) (bool, error) {
		if d == nil || d.Status.ObservedGeneration < d.Generation {
			return false, nil // what the status says is of an earlier spec
		}
		for _, c := range d.Status.Conditions {
			if c.Type != appsv1.DeploymentProgressing {
				continue
			}
			if c.Status == corev1.ConditionFalse && c.Reason == "ProgressDeadlineExceeded" {
				return false, failed("the rollout does not get ahead", c.Reason, c.Message)
			}
			return c.Status == corev1.ConditionTrue && c.Reason == "NewReplicaSetAvailable", nil
		}
		return false, nil
	}
}

// ServiceProvisioned holds when the load balancer of a Service has addresses. Other Services
// have none, and it holds for them at once.
func ServiceProvisioned() Condition[corev1.Service] {
	return func(s *corev1.Service) (bool, error) {
		if s == nil {
			return false, nil
		}
		if s.Spec.Type != corev1.ServiceTypeLoadBalancer {
			return true, nil
		}
		ingress := s.Status.LoadBalancer.Ingress
		for _, i := range ingress {
			if i.IP == "" && i.Hostname == "" {
				return false, nil
			}
		}
		return len(ingress) > 0, nil
	}
}

// IngressProvisioned holds when the load balancer of an Ingress has addresses.
func IngressProvisioned() Condition[networkingv1.Ingress] {
	return func(i *networkingv1.Ingress) (bool, error) {
		if i == nil {
			return false, nil
		}
		ingress := i.Status.LoadBalancer.Ingress
		for _, i := range ingress {
			if i.IP == "" && i.Hostname == "" {
				return false, nil
			}
		}
		return len(ingress) > 0, nil
	}
}

// Established holds when the server serves the kind of a CustomResourceDefinition. It fails
// when the names of the kind are taken by another.
func Established() Condition[apiextensionsv1.CustomResourceDefinition] {
	return func(d *apiextensionsv1.CustomResourceDefinition) (established bool, err error) {
		if d == nil {
			return false, nil
		}
		for _, c := range d.Status.Conditions {
			switch {
			case c.Type == apiextensionsv1.NamesAccepted && c.Status == apiextensionsv1.ConditionFalse:
				err = failed("the names are not accepted", c.Reason, c.Message)
			case c.Type == apiextensionsv1.Established && c.Status == apiextensionsv1.ConditionTrue:
				established = true
			}
		}
		if established { // and stays so, whatever became of the names
			return true, nil
		}
		return false, err
	}
}
