package kubetest

import (
	"math"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// kindDefaults fill in the defaults that belong to a kind.
func kindDefaults() map[schema.GroupKind]func(runtime.Object) {
	core := func(kind string) schema.GroupKind { return schema.GroupKind{Kind: kind} }
	apps := func(kind string) schema.GroupKind { return schema.GroupKind{Group: appsv1.GroupName, Kind: kind} }
	rbac := func(kind string) schema.GroupKind { return schema.GroupKind{Group: rbacv1.GroupName, Kind: kind} }
	return map[schema.GroupKind]func(runtime.Object){
		core("Pod"):                   on(defaultPod),
		core("Service"):               on(defaultService),
		core("ReplicationController"): on(defaultReplicationController),
		core("LimitRange"):            on(defaultLimitRange),
		core("Secret"):                on(defaultSecret),
		core("PersistentVolume"): on(func(o *corev1.PersistentVolume) {
			setDefault(&o.Spec.PersistentVolumeReclaimPolicy, corev1.PersistentVolumeReclaimRetain)
			setPointer(&o.Spec.VolumeMode, corev1.PersistentVolumeFilesystem)
		}),
		apps("Deployment"):  on(defaultDeployment),
		apps("DaemonSet"):   on(defaultDaemonSet),
		apps("StatefulSet"): on(defaultStatefulSet),
		apps("ReplicaSet"):  on(func(o *appsv1.ReplicaSet) { setPointer(&o.Spec.Replicas, 1) }),
		{Group: batchv1.GroupName, Kind: "Job"}: on(func(o *batchv1.Job) {
			defaultJob(&o.Spec)
			if len(o.Labels) == 0 {
				o.Labels = o.Spec.Template.Labels
			}
		}),
		{Group: batchv1.GroupName, Kind: "CronJob"}: on(func(o *batchv1.CronJob) {
			setDefault(&o.Spec.ConcurrencyPolicy, batchv1.AllowConcurrent)
			setPointer(&o.Spec.Suspend, false)
			setPointer(&o.Spec.SuccessfulJobsHistoryLimit, 3)
			setPointer(&o.Spec.FailedJobsHistoryLimit, 1)
		}),
		{Group: autoscalingv2.GroupName, Kind: "HorizontalPodAutoscaler"}: defaultAutoscaler,
		{Group: networkingv1.GroupName, Kind: "NetworkPolicy"}: on(func(o *networkingv1.NetworkPolicy) {
			if len(o.Spec.PolicyTypes) > 0 {
				return
			}
			o.Spec.PolicyTypes = []networkingv1.PolicyType{networkingv1.PolicyTypeIngress}
			if len(o.Spec.Egress) > 0 {
				o.Spec.PolicyTypes = append(o.Spec.PolicyTypes, networkingv1.PolicyTypeEgress)
			}
		}),
		{Group: networkingv1.GroupName, Kind: "IngressClass"}: on(func(o *networkingv1.IngressClass) {
			if p := o.Spec.Parameters; p != nil {
				setPointer(&p.Scope, networkingv1.IngressClassParametersReferenceScopeCluster)
			}
		}),
		rbac("RoleBinding"):        on(func(o *rbacv1.RoleBinding) { setDefault(&o.RoleRef.APIGroup, rbacv1.GroupName) }),
		rbac("ClusterRoleBinding"): on(func(o *rbacv1.ClusterRoleBinding) { setDefault(&o.RoleRef.APIGroup, rbacv1.GroupName) }),
		{Group: storagev1.GroupName, Kind: "StorageClass"}: on(func(o *storagev1.StorageClass) {
			setPointer(&o.ReclaimPolicy, corev1.PersistentVolumeReclaimDelete)
			setPointer(&o.VolumeBindingMode, storagev1.VolumeBindingImmediate)
		}),
		{Group: schedulingv1.GroupName, Kind: "PriorityClass"}: on(func(o *schedulingv1.PriorityClass) {
			setPointer(&o.PreemptionPolicy, corev1.PreemptLowerPriority)
		}),
		{Group: storagev1.GroupName, Kind: "CSIDriver"}: on(defaultCSIDriver),
		{Group: admissionv1.GroupName, Kind: "ValidatingWebhookConfiguration"}: on(func(o *admissionv1.ValidatingWebhookConfiguration) {
			for i := range o.Webhooks {
				h := &o.Webhooks[i]
				defaultWebhook(&h.FailurePolicy, &h.MatchPolicy, &h.NamespaceSelector, &h.ObjectSelector, &h.TimeoutSeconds)
			}
		}),
		{Group: admissionv1.GroupName, Kind: "MutatingWebhookConfiguration"}: on(func(o *admissionv1.MutatingWebhookConfiguration) {
			for i := range o.Webhooks {
				h := &o.Webhooks[i]
				defaultWebhook(&h.FailurePolicy, &h.MatchPolicy, &h.NamespaceSelector, &h.ObjectSelector, &h.TimeoutSeconds)
				setPointer(&h.ReinvocationPolicy, admissionv1.NeverReinvocationPolicy)
			}
		}),
	}
}

// defaultWebhook fills in what validating and mutating webhooks have in common.
func defaultWebhook(failure **admissionv1.FailurePolicyType, match **admissionv1.MatchPolicyType, namespaces, objects **metav1.LabelSelector, timeout **int32) {
	setPointer(failure, admissionv1.Fail)
	setPointer(match, admissionv1.Equivalent)
	setPointer(namespaces, metav1.LabelSelector{})
	setPointer(objects, metav1.LabelSelector{})
	setPointer(timeout, 10)
}

func defaultPod(o *corev1.Pod) {
	if p := o.Spec.TerminationGracePeriodSeconds; p != nil && *p < 0 {
		o.Spec.TerminationGracePeriodSeconds = new(int64(1))
	}
	for _, list := range [][]corev1.Container{o.Spec.Containers, o.Spec.InitContainers} {
		for i := range list {
			defaultRequests(&list[i].Resources)
			for j := range list[i].Ports {
				if p := &list[i].Ports[j]; o.Spec.HostNetwork {
					setDefault(&p.HostPort, p.ContainerPort)
				}
			}
		}
	}
	setPointer(&o.Spec.EnableServiceLinks, corev1.DefaultEnableServiceLinks)
}

// defaultRequests takes requests from limits.
func defaultRequests(r *corev1.ResourceRequirements) {
	if r.Limits == nil {
		return
	}
	if r.Requests == nil {
		r.Requests = corev1.ResourceList{}
	}
	for name, limit := range r.Limits {
		if _, ok := r.Requests[name]; !ok {
			r.Requests[name] = limit.DeepCopy()
		}
	}
}

func defaultService(o *corev1.Service) {
	s := &o.Spec
	setDefault(&s.SessionAffinity, corev1.ServiceAffinityNone)
	switch c := s.SessionAffinityConfig; {
	case s.SessionAffinity == corev1.ServiceAffinityNone:
		s.SessionAffinityConfig = nil
	case s.SessionAffinity == corev1.ServiceAffinityClientIP && (c == nil || c.ClientIP == nil || c.ClientIP.TimeoutSeconds == nil):
		s.SessionAffinityConfig = &corev1.SessionAffinityConfig{ClientIP: &corev1.ClientIPConfig{TimeoutSeconds: new(corev1.DefaultClientIPServiceAffinitySeconds)}}
	}
	setDefault(&s.Type, corev1.ServiceTypeClusterIP)
	if s.Type == corev1.ServiceTypeNodePort || s.Type == corev1.ServiceTypeLoadBalancer || s.Type == corev1.ServiceTypeClusterIP && len(s.ExternalIPs) > 0 {
		setDefault(&s.ExternalTrafficPolicy, corev1.ServiceExternalTrafficPolicyCluster)
	}
	if s.Type != corev1.ServiceTypeExternalName {
		setPointer(&s.InternalTrafficPolicy, corev1.ServiceInternalTrafficPolicyCluster)
	}
	if s.Type == corev1.ServiceTypeLoadBalancer {
		setPointer(&s.AllocateLoadBalancerNodePorts, true)
		for i := range o.Status.LoadBalancer.Ingress {
			if in := &o.Status.LoadBalancer.Ingress[i]; in.IP != "" {
				setPointer(&in.IPMode, corev1.LoadBalancerIPModeVIP)
			}
		}
	}
}

func defaultReplicationController(o *corev1.ReplicationController) {
	if o.Spec.Template != nil && o.Spec.Template.Labels != nil {
		labels := o.Spec.Template.Labels
		if len(o.Spec.Selector) == 0 {
			o.Spec.Selector = labels
		}
		if len(o.Labels) == 0 {
			o.Labels = labels
		}
	}
	setPointer(&o.Spec.Replicas, 1)
}

func defaultLimitRange(o *corev1.LimitRange) {
	take := func(to *corev1.ResourceList, from corev1.ResourceList) {
		if *to == nil {
			*to = corev1.ResourceList{}
		}
		for name, value := range from {
			if _, ok := (*to)[name]; !ok {
				(*to)[name] = value.DeepCopy()
			}
		}
	}
	for i := range o.Spec.Limits {
		if l := &o.Spec.Limits[i]; l.Type == corev1.LimitTypeContainer {
			take(&l.Default, l.Max)
			take(&l.DefaultRequest, l.Default)
			take(&l.DefaultRequest, l.Min)
		}
	}
}

func defaultDeployment(o *appsv1.Deployment) {
	setPointer(&o.Spec.Replicas, 1)
	s := &o.Spec.Strategy
	setDefault(&s.Type, appsv1.RollingUpdateDeploymentStrategyType)
	if s.Type == appsv1.RollingUpdateDeploymentStrategyType {
		setPointer(&s.RollingUpdate, appsv1.RollingUpdateDeployment{})
		setPointer(&s.RollingUpdate.MaxUnavailable, intstr.FromString("25%"))
		setPointer(&s.RollingUpdate.MaxSurge, intstr.FromString("25%"))
	}
	setPointer(&o.Spec.RevisionHistoryLimit, 10)
	setPointer(&o.Spec.ProgressDeadlineSeconds, 600)
}

func defaultDaemonSet(o *appsv1.DaemonSet) {
	if _, ok := o.Annotations[appsv1.DeprecatedTemplateGeneration]; !ok {
		mergeInto(&o.Annotations, map[string]string{appsv1.DeprecatedTemplateGeneration: "0"})
	}
	s := &o.Spec.UpdateStrategy
	setDefault(&s.Type, appsv1.RollingUpdateDaemonSetStrategyType)
	if s.Type == appsv1.RollingUpdateDaemonSetStrategyType {
		setPointer(&s.RollingUpdate, appsv1.RollingUpdateDaemonSet{})
		setPointer(&s.RollingUpdate.MaxUnavailable, intstr.FromInt32(1))
		setPointer(&s.RollingUpdate.MaxSurge, intstr.FromInt32(0))
	}
	setPointer(&o.Spec.RevisionHistoryLimit, 10)
}

func defaultStatefulSet(o *appsv1.StatefulSet) {
	setDefault(&o.Spec.PodManagementPolicy, appsv1.OrderedReadyPodManagement)
	s := &o.Spec.UpdateStrategy
	if s.Type == "" {
		s.Type = appsv1.RollingUpdateStatefulSetStrategyType
		setPointer(&s.RollingUpdate, appsv1.RollingUpdateStatefulSetStrategy{})
	}
	if s.Type == appsv1.RollingUpdateStatefulSetStrategyType && s.RollingUpdate != nil {
		setPointer(&s.RollingUpdate.Partition, 0)
		setPointer(&s.RollingUpdate.MaxUnavailable, intstr.FromInt32(1))
	}
	setPointer(&o.Spec.PersistentVolumeClaimRetentionPolicy, appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{})
	setDefault(&o.Spec.PersistentVolumeClaimRetentionPolicy.WhenDeleted, appsv1.RetainPersistentVolumeClaimRetentionPolicyType)
	setDefault(&o.Spec.PersistentVolumeClaimRetentionPolicy.WhenScaled, appsv1.RetainPersistentVolumeClaimRetentionPolicyType)
	setPointer(&o.Spec.Replicas, 1)
	setPointer(&o.Spec.RevisionHistoryLimit, 10)
	for i := range o.Spec.VolumeClaimTemplates {
		setDefault(&o.Spec.VolumeClaimTemplates[i].Status.Phase, corev1.ClaimPending)
	}
}

func defaultJob(s *batchv1.JobSpec) {
	if s.Completions == nil && s.Parallelism == nil {
		s.Completions = new(int32(1))
	}
	setPointer(&s.Parallelism, 1)
	limit := int32(6)
	if s.BackoffLimitPerIndex != nil {
		limit = math.MaxInt32
	}
	setPointer(&s.BackoffLimit, limit)
	setPointer(&s.CompletionMode, batchv1.NonIndexedCompletion)
	setPointer(&s.Suspend, false)
	replacement := batchv1.TerminatingOrFailed
	if s.PodFailurePolicy != nil {
		replacement = batchv1.Failed
	}
	setPointer(&s.PodReplacementPolicy, replacement)
	setPointer(&s.ManualSelector, false)
}

func defaultAutoscaler(obj runtime.Object) {
	o, ok := obj.(*autoscalingv2.HorizontalPodAutoscaler)
	if !ok {
		return // autoscaling/v1 has one default, and that is of the same field
	}
	setPointer(&o.Spec.MinReplicas, 1)
	if len(o.Spec.Metrics) == 0 {
		const utilization = 80
		o.Spec.Metrics = []autoscalingv2.MetricSpec{{
			Type: autoscalingv2.ResourceMetricSourceType,
			Resource: &autoscalingv2.ResourceMetricSource{
				Name:   corev1.ResourceCPU,
				Target: autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: new(int32(utilization))},
			},
		}}
	}
	if b := o.Spec.Behavior; b != nil {
		b.ScaleUp = completeRules(b.ScaleUp, new(int32(0)), autoscalingv2.HPAScalingPolicy{Type: autoscalingv2.PodsScalingPolicy, Value: 4, PeriodSeconds: 15})
		b.ScaleDown = completeRules(b.ScaleDown, nil)
	}
}

// completeRules completes rules: policies are more, and as much again as there is, in 15 s.
func completeRules(rules *autoscalingv2.HPAScalingRules, window *int32, more ...autoscalingv2.HPAScalingPolicy) *autoscalingv2.HPAScalingRules {
	if rules == nil {
		rules = &autoscalingv2.HPAScalingRules{}
	}
	setPointer(&rules.SelectPolicy, autoscalingv2.MaxChangePolicySelect)
	if rules.StabilizationWindowSeconds == nil {
		rules.StabilizationWindowSeconds = window
	}
	if rules.Policies == nil {
		rules.Policies = append(more, autoscalingv2.HPAScalingPolicy{Type: autoscalingv2.PercentScalingPolicy, Value: 100, PeriodSeconds: 15})
	}
	return rules
}

func defaultCSIDriver(o *storagev1.CSIDriver) {
	setPointer(&o.Spec.AttachRequired, true)
	setPointer(&o.Spec.PodInfoOnMount, false)
	setPointer(&o.Spec.StorageCapacity, false)
	setPointer(&o.Spec.FSGroupPolicy, storagev1.ReadWriteOnceWithFSTypeFSGroupPolicy)
	if len(o.Spec.VolumeLifecycleModes) == 0 {
		o.Spec.VolumeLifecycleModes = []storagev1.VolumeLifecycleMode{storagev1.VolumeLifecyclePersistent}
	}
	setPointer(&o.Spec.RequiresRepublish, false)
	setPointer(&o.Spec.SELinuxMount, false)
}
