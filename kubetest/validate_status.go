package kubetest

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

// count is a number in a status.
type count struct {
	name  string
	value int64
}

// counts validates numbers that must not be negative.
func (p *problems) counts(all ...count) {
	for _, c := range all {
		p.notNegative(statusPath.Child(c.name), c.value)
	}
}

// atMost validates numbers that must not be greater than a limit.
func (p *problems) atMost(limit int64, detail string, all ...count) {
	for _, c := range all {
		if c.value > limit {
			p.invalid(statusPath.Child(c.name), int32(c.value), detail)
		}
	}
}

const (
	moreThanReplicas = "cannot be greater than status.replicas"
	moreThanReady    = "cannot be greater than readyReplicas"
)

// counted validates the number of collisions, which a controller counts upwards.
func (p *problems) counted(now, was *int32) {
	if was != nil && (now == nil || *now < *was) {
		p.invalid(statusPath.Child("collisionCount"), or(now, 0), "cannot be decremented")
	}
}

func checkDeploymentStatus(p *problems, obj, old *appsv1.Deployment) {
	s := &obj.Status
	updated, ready := count{"updatedReplicas", int64(s.UpdatedReplicas)}, count{"readyReplicas", int64(s.ReadyReplicas)}
	available := count{"availableReplicas", int64(s.AvailableReplicas)}
	p.counts(count{"observedGeneration", s.ObservedGeneration}, count{"replicas", int64(s.Replicas)}, updated, ready, available,
		count{"unavailableReplicas", int64(s.UnavailableReplicas)})
	notNegativePointer(p, statusPath.Child("terminatingReplicas"), s.TerminatingReplicas)
	notNegativePointer(p, statusPath.Child("collisionCount"), s.CollisionCount)
	p.atMost(int64(s.Replicas), moreThanReplicas, updated, ready, available)
	p.atMost(int64(s.ReadyReplicas), moreThanReady, available)
	p.counted(s.CollisionCount, old.Status.CollisionCount)
}

func checkReplicaSetStatus(p *problems, obj, _ *appsv1.ReplicaSet) {
	s := &obj.Status
	labeled, ready := count{"fullyLabeledReplicas", int64(s.FullyLabeledReplicas)}, count{"readyReplicas", int64(s.ReadyReplicas)}
	available := count{"availableReplicas", int64(s.AvailableReplicas)}
	p.counts(count{"replicas", int64(s.Replicas)}, labeled, ready, available, count{"observedGeneration", s.ObservedGeneration})
	notNegativePointer(p, statusPath.Child("terminatingReplicas"), s.TerminatingReplicas)
	p.atMost(int64(s.Replicas), moreThanReplicas, labeled, ready, available)
	p.atMost(int64(s.ReadyReplicas), moreThanReady, available)
}

func checkReplicationControllerStatus(p *problems, obj, _ *corev1.ReplicationController) {
	s := &obj.Status
	labeled, ready := count{"fullyLabeledReplicas", int64(s.FullyLabeledReplicas)}, count{"readyReplicas", int64(s.ReadyReplicas)}
	available := count{"availableReplicas", int64(s.AvailableReplicas)}
	p.counts(count{"replicas", int64(s.Replicas)}, labeled, ready, available, count{"observedGeneration", s.ObservedGeneration})
	p.atMost(int64(s.Replicas), moreThanReplicas, labeled, ready, available)
	p.atMost(int64(s.ReadyReplicas), moreThanReady, available)
}

func checkStatefulSetStatus(p *problems, obj, old *appsv1.StatefulSet) {
	s := &obj.Status
	ready, current := count{"readyReplicas", int64(s.ReadyReplicas)}, count{"currentReplicas", int64(s.CurrentReplicas)}
	updated, available := count{"updatedReplicas", int64(s.UpdatedReplicas)}, count{"availableReplicas", int64(s.AvailableReplicas)}
	p.counts(count{"replicas", int64(s.Replicas)}, ready, current, updated, available, count{"observedGeneration", s.ObservedGeneration})
	notNegativePointer(p, statusPath.Child("collisionCount"), s.CollisionCount)
	p.atMost(int64(s.Replicas), moreThanReplicas, ready, current, updated, available)
	p.atMost(int64(s.ReadyReplicas), "cannot be greater than status.readyReplicas", available)
	p.counted(s.CollisionCount, old.Status.CollisionCount)
}

func checkDaemonSetStatus(p *problems, obj, old *appsv1.DaemonSet) {
	s := &obj.Status
	p.counts(
		count{"currentNumberScheduled", int64(s.CurrentNumberScheduled)}, count{"numberMisscheduled", int64(s.NumberMisscheduled)},
		count{"desiredNumberScheduled", int64(s.DesiredNumberScheduled)}, count{"numberReady", int64(s.NumberReady)},
		count{"observedGeneration", s.ObservedGeneration}, count{"updatedNumberScheduled", int64(s.UpdatedNumberScheduled)},
		count{"numberAvailable", int64(s.NumberAvailable)}, count{"numberUnavailable", int64(s.NumberUnavailable)},
	)
	notNegativePointer(p, statusPath.Child("collisionCount"), s.CollisionCount)
	p.counted(s.CollisionCount, old.Status.CollisionCount)
}
