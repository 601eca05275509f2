package kubetest

import (
	"fmt"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// podCells are the cells of a pod, as kubectl get pods shows them.
func podCells(pod *corev1.Pod) []any {
	s := podSummary{pod: pod, reason: orText(pod.Status.Reason, string(pod.Status.Phase)), total: len(pod.Spec.Containers)}
	if slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodScheduled && c.Reason == corev1.PodReasonSchedulingGated
	}) {
		s.reason = corev1.PodReasonSchedulingGated
	}
	s.summarize()
	restarts := strconv.Itoa(s.restarts)
	if s.restarts != 0 && !s.lastRestart.IsZero() {
		restarts += fmt.Sprintf(" (%s ago)", age(s.lastRestart))
	}
	ip := "<none>"
	if len(pod.Status.PodIPs) > 0 {
		ip = orText(pod.Status.PodIPs[0].IP, ip)
	}
	return []any{
		pod.Name, fmt.Sprintf("%d/%d", s.ready, s.total), s.reason, restarts, age(pod.CreationTimestamp),
		ip, orText(pod.Spec.NodeName, "<none>"), orText(pod.Status.NominatedNodeName, "<none>"), readinessGates(pod),
	}
}

// podSummary is what the containers of a pod add up to.
type podSummary struct {
	pod          *corev1.Pod
	reason       string
	ready, total int
	restarts     int
	lastRestart  metav1.Time
	sidecars     map[string]bool // init containers that go on running
}

func (s *podSummary) summarize() {
	s.sidecars = map[string]bool{}
	for _, c := range s.pod.Spec.InitContainers {
		if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			s.sidecars[c.Name] = true
			s.total++
		}
	}
	if !s.initializing() || s.hasCondition(corev1.PodInitialized) {
		s.restarts, s.lastRestart = 0, metav1.Time{}
		for _, c := range s.pod.Status.InitContainerStatuses {
			if s.sidecars[c.Name] {
				s.countRestarts(&c)
			}
		}
		s.running()
	}
	switch {
	case s.pod.DeletionTimestamp == nil:
	case s.pod.Status.Reason == "NodeLost":
		s.reason = "Unknown"
	case s.pod.Status.Phase != corev1.PodFailed && s.pod.Status.Phase != corev1.PodSucceeded:
		s.reason = "Terminating"
	}
}

func (s *podSummary) hasCondition(t corev1.PodConditionType) bool {
	return slices.ContainsFunc(s.pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == t && c.Status == corev1.ConditionTrue
	})
}

func (s *podSummary) countRestarts(c *corev1.ContainerStatus) {
	s.restarts += int(c.RestartCount)
	if t := c.LastTerminationState.Terminated; t != nil && s.lastRestart.Before(&t.FinishedAt) {
		s.lastRestart = t.FinishedAt
	}
}

// initializing reports whether an init container is not through yet, which gives the reason then.
func (s *podSummary) initializing() bool {
	for i := range s.pod.Status.InitContainerStatuses {
		c := &s.pod.Status.InitContainerStatuses[i]
		s.countRestarts(c)
		ended, waiting := c.State.Terminated, c.State.Waiting
		switch {
		case ended != nil && ended.ExitCode == 0:
			continue
		case s.sidecars[c.Name] && c.Started != nil && *c.Started:
			if c.Ready {
				s.ready++
			}
			continue
		case ended != nil:
			s.reason = "Init:" + endReason(ended)
		case waiting != nil && waiting.Reason != "" && waiting.Reason != "PodInitializing":
			s.reason = "Init:" + waiting.Reason
		default:
			s.reason = fmt.Sprintf("Init:%d/%d", i, len(s.pod.Spec.InitContainers))
		}
		return true
	}
	return false
}

func endReason(t *corev1.ContainerStateTerminated) string {
	switch {
	case t.Reason != "":
		return t.Reason
	case t.Signal != 0:
		return fmt.Sprintf("Signal:%d", t.Signal)
	}
	return fmt.Sprintf("ExitCode:%d", t.ExitCode)
}

// running looks at the containers proper, the last one first, so that the first one's reason
// counts.
func (s *podSummary) running() {
	anyRunning, failure := false, ""
	for i := range slices.Backward(s.pod.Status.ContainerStatuses) {
		c := &s.pod.Status.ContainerStatuses[i]
		s.countRestarts(c)
		switch ended := c.State.Terminated; {
		case c.State.Waiting != nil && c.State.Waiting.Reason != "":
			s.reason = c.State.Waiting.Reason
		case ended != nil:
			s.reason = endReason(ended)
			if ended.ExitCode != 0 {
				failure = s.reason
			}
		case c.Ready && c.State.Running != nil:
			anyRunning = true
			s.ready++
		}
	}
	switch {
	case s.reason != "Completed":
	case anyRunning && s.hasCondition(corev1.PodReady):
		s.reason = "Running"
	case failure != "":
		s.reason = failure
	case anyRunning:
		s.reason = "NotReady"
	}
}

func readinessGates(pod *corev1.Pod) string {
	gates := pod.Spec.ReadinessGates
	if len(gates) == 0 {
		return "<none>"
	}
	s := podSummary{pod: pod}
	open := 0
	for _, g := range gates {
		if s.hasCondition(g.ConditionType) {
			open++
		}
	}
	return fmt.Sprintf("%d/%d", open, len(gates))
}

// rowConditions marks the rows of pods that have ended.
func rowConditions(obj runtime.Object) []metav1.TableRowCondition {
	pod, ok := obj.(*corev1.Pod)
	if !ok {
		return nil
	}
	completed := metav1.TableRowCondition{Type: metav1.RowCompleted, Status: metav1.ConditionTrue, Reason: string(pod.Status.Phase)}
	switch pod.Status.Phase {
	case corev1.PodSucceeded:
		completed.Message = "The pod has completed successfully."
	case corev1.PodFailed:
		completed.Message = "The pod failed."
	default:
		return nil
	}
	return []metav1.TableRowCondition{completed}
}
