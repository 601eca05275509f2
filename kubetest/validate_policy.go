package kubetest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	namecheck "k8s.io/apimachinery/pkg/api/validate/content"
	unversioned "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// policyRules are the rules of the groups that say what others may do.
func policyRules() map[schema.GroupKind]rules {
	in := func(group, kind string) schema.GroupKind { return schema.GroupKind{Group: group, Kind: kind} }
	return map[schema.GroupKind]rules{
		in(policyv1.GroupName, "PodDisruptionBudget"):               withStatus(ruled(checkBudget), checkBudgetStatus),
		in(rbacv1.GroupName, "Role"):                                ruled(func(p *problems, o, _ *rbacv1.Role) { p.policyRules(o.Rules, true) }),
		in(rbacv1.GroupName, "ClusterRole"):                         ruled(checkClusterRole),
		in(rbacv1.GroupName, "RoleBinding"):                         ruled(checkRoleBinding),
		in(rbacv1.GroupName, "ClusterRoleBinding"):                  ruled(checkClusterRoleBinding),
		in(coordinationv1.GroupName, "Lease"):                       ruled(checkLease),
		in(schedulingv1.GroupName, "PriorityClass"):                 ruled(checkPriorityClass),
		in(autoscalingv2.GroupName, "HorizontalPodAutoscaler"):      {object: checkAutoscaler},
		in(admissionv1.GroupName, "ValidatingWebhookConfiguration"): ruled(checkValidatingWebhooks),
		in(admissionv1.GroupName, "MutatingWebhookConfiguration"):   ruled(checkMutatingWebhooks),
	}
}

func checkBudget(p *problems, obj, _ *policyv1.PodDisruptionBudget) {
	s := &obj.Spec
	if s.MinAvailable != nil && s.MaxUnavailable != nil {
		p.invalid(specPath, *s, "minAvailable and maxUnavailable cannot be both set")
	}
	if s.MinAvailable != nil {
		p.intOrPercent(specPath.Child("minAvailable"), *s.MinAvailable)
		p.atMostAll(specPath.Child("minAvailable"), *s.MinAvailable)
	}
	if s.MaxUnavailable != nil {
		p.intOrPercent(specPath.Child("maxUnavailable"), *s.MaxUnavailable)
		p.atMostAll(specPath.Child("maxUnavailable"), *s.MaxUnavailable)
	}
	p.selector(specPath.Child("selector"), s.Selector)
	if s.UnhealthyPodEvictionPolicy != nil {
		oneOf(p, specPath.Child("unhealthyPodEvictionPolicy"), *s.UnhealthyPodEvictionPolicy, policyv1.AlwaysAllow, policyv1.IfHealthyBudget)
	}
}

func checkBudgetStatus(p *problems, obj, _ *policyv1.PodDisruptionBudget) {
	s := &obj.Status
	p.add(unversioned.ValidateConditions(s.Conditions, statusPath.Child("conditions"))...)
	p.counts(count{"disruptionsAllowed", int64(s.DisruptionsAllowed)}, count{"currentHealthy", int64(s.CurrentHealthy)},
		count{"desiredHealthy", int64(s.DesiredHealthy)}, count{"expectedPods", int64(s.ExpectedPods)})
}

func (p *problems) policyRules(all []rbacv1.PolicyRule, namespaced bool) {
	for i, rule := range all {
		at := field.NewPath("rules").Index(i)
		if len(rule.Verbs) == 0 {
			p.declare(field.Required(at.Child("verbs"), ""))
		}
		if len(rule.NonResourceURLs) > 0 {
			if namespaced {
				p.invalid(at.Child("nonResourceURLs"), rule.NonResourceURLs, "namespaced rules cannot apply to non-resource URLs")
			}
			if len(rule.APIGroups)+len(rule.Resources)+len(rule.ResourceNames) > 0 {
				p.invalid(at.Child("nonResourceURLs"), rule.NonResourceURLs, "rules cannot apply to both regular resources and non-resource URLs")
			}
			continue
		}
		if len(rule.APIGroups) == 0 {
			p.required(at.Child("apiGroups"), "resource rules must supply at least one api group")
		}
		if len(rule.Resources) == 0 {
			p.required(at.Child("resources"), "resource rules must supply at least one resource")
		}
	}
}

func checkClusterRole(p *problems, obj, _ *rbacv1.ClusterRole) {
	p.policyRules(obj.Rules, false)
	if a := obj.AggregationRule; a != nil {
		at := field.NewPath("aggregationRule", "clusterRoleSelectors")
		if len(a.ClusterRoleSelectors) == 0 {
			p.required(at, "at least one clusterRoleSelector required if aggregationRule is non-nil")
		}
		for i := range a.ClusterRoleSelectors {
			before := len(p.list)
			if p.selector(at.Index(i), &a.ClusterRoleSelectors[i]); len(p.list) > before {
				p.invalid(at.Index(i), nil, "invalid label selector.")
			}
		}
	}
}

func checkRoleBinding(p *problems, obj, old *rbacv1.RoleBinding) {
	p.roleRef(obj.RoleRef, "Role", "ClusterRole")
	for i, s := range obj.Subjects {
		p.subject(field.NewPath("subjects").Index(i), s, true)
	}
	if old != nil && obj.RoleRef != old.RoleRef {
		p.declare(field.Invalid(field.NewPath("roleRef"), obj.RoleRef, immutable))
	}
}

func checkClusterRoleBinding(p *problems, obj, old *rbacv1.ClusterRoleBinding) {
	p.roleRef(obj.RoleRef, "ClusterRole")
	for i, s := range obj.Subjects {
		p.subject(field.NewPath("subjects").Index(i), s, false)
	}
	if old != nil && obj.RoleRef != old.RoleRef {
		p.declare(field.Invalid(field.NewPath("roleRef"), obj.RoleRef, immutable))
	}
}

func (p *problems) roleRef(ref rbacv1.RoleRef, kinds ...string) {
	at := field.NewPath("roleRef")
	oneOf(p, at.Child("apiGroup"), ref.APIGroup, rbacv1.GroupName)
	oneOf(p, at.Child("kind"), ref.Kind, kinds...)
	p.declaredName(at.Child("name"), ref.Name, namecheck.IsPathSegmentName)
}

// declaredName is name of a field that a declaration says is required.
func (p *problems) declaredName(at *field.Path, value string, check func(string) []string) {
	if value == "" {
		p.declare(field.Required(at, ""))
		return
	}
	p.invalid(at, value, check(value)...)
}

func (p *problems) subject(at *field.Path, s rbacv1.Subject, namespaced bool) {
	if s.Name == "" {
		p.declare(field.Required(at.Child("name"), ""))
	}
	switch s.Kind {
	case rbacv1.ServiceAccountKind:
		if s.Name != "" {
			p.invalid(at.Child("name"), s.Name, subdomain(s.Name)...)
		}
		if s.APIGroup != "" {
			oneOf(p, at.Child("apiGroup"), s.APIGroup, "")
		}
		if !namespaced && s.Namespace == "" {
			p.required(at.Child("namespace"), "")
		}
	case rbacv1.UserKind, rbacv1.GroupKind:
		oneOf(p, at.Child("apiGroup"), s.APIGroup, rbacv1.GroupName)
	default:
		oneOf(p, at.Child("kind"), s.Kind, rbacv1.ServiceAccountKind, rbacv1.UserKind, rbacv1.GroupKind)
	}
}

func checkLease(p *problems, obj, _ *coordinationv1.Lease) {
	s := &obj.Spec
	if d := s.LeaseDurationSeconds; d != nil && *d <= 0 {
		p.invalid(specPath.Child("leaseDurationSeconds"), *d, "must be greater than 0")
	}
	if t := s.LeaseTransitions; t != nil && *t < 0 {
		p.invalid(specPath.Child("leaseTransitions"), *t, "must be greater than or equal to 0")
	}
	if s.Strategy != nil {
		p.skip(specPath.Child("strategy"))
	}
	if or(s.PreferredHolder, "") != "" && or(s.Strategy, "") == "" {
		p.forbidden(specPath.Child("preferredHolder"), "may only be specified if `strategy` is defined")
	}
}

func checkPriorityClass(p *problems, obj, old *schedulingv1.PriorityClass) {
	const highest, system = 1000000000, "system-"
	if old != nil {
		if obj.Value != old.Value {
			p.forbidden(field.NewPath("value"), "may not be changed in an update.")
		}
		p.unchanged(field.NewPath("preemptionPolicy"), obj.PreemptionPolicy, old.PreemptionPolicy)
		return
	}
	switch known := obj.Name == "system-cluster-critical" || obj.Name == "system-node-critical"; {
	case strings.HasPrefix(obj.Name, system) && !known:
		p.forbidden(metadataPath.Child("name"), fmt.Sprintf("priority class names with '%s' prefix are reserved for system use only. error: %s is not a known system priority class", system, obj.Name))
	case !known && obj.Value > highest:
		p.forbidden(field.NewPath("value"), fmt.Sprintf("maximum allowed value of a user defined priority is %v", highest))
	}
	if obj.PreemptionPolicy != nil {
		requiredOneOf(p, field.NewPath("preemptionPolicy"), *obj.PreemptionPolicy, corev1.PreemptLowerPriority, corev1.PreemptNever)
	}
}

// checkAutoscaler validates an autoscaler in whichever version it is stored.
func checkAutoscaler(p *problems, obj, _ runtime.Object) {
	o, ok := obj.(*autoscalingv2.HorizontalPodAutoscaler)
	if !ok {
		p.skip(specPath)
		return
	}
	s := &o.Spec
	if s.MinReplicas != nil && *s.MinReplicas < 0 {
		p.declare(field.Invalid(specPath.Child("minReplicas"), *s.MinReplicas, "must be greater than or equal to 0"))
	}
	at := specPath.Child("maxReplicas")
	switch {
	case s.MaxReplicas == 0:
		p.declare(field.Required(at, ""))
	case s.MaxReplicas < 0:
		p.declare(field.Invalid(at, s.MaxReplicas, "must be greater than or equal to 1"))
	}
	if s.MinReplicas != nil && s.MaxReplicas < *s.MinReplicas {
		p.invalid(at, s.MaxReplicas, "must be greater than or equal to `minReplicas`")
	}
	p.scaleTarget(specPath.Child("scaleTargetRef"), s.ScaleTargetRef, p.declaredName)
	for i := range s.Metrics {
		p.metric(specPath.Child("metrics").Index(i), &s.Metrics[i])
	}
	objective := slices.ContainsFunc(s.Metrics, func(m autoscalingv2.MetricSpec) bool {
		return m.Type == autoscalingv2.ObjectMetricSourceType || m.Type == autoscalingv2.ExternalMetricSourceType
	})
	if s.MinReplicas != nil && *s.MinReplicas == 0 && !objective {
		p.forbidden(specPath.Child("metrics"), "must specify at least one Object or External metric to support scaling to zero replicas")
	}
	if b := s.Behavior; b != nil {
		p.scalingRules(specPath.Child("behavior", "scaleUp"), b.ScaleUp)
		p.scalingRules(specPath.Child("behavior", "scaleDown"), b.ScaleDown)
	}
}

func (p *problems) scaleTarget(at *field.Path, ref autoscalingv2.CrossVersionObjectReference, name func(*field.Path, string, func(string) []string)) {
	name(at.Child("kind"), ref.Kind, namecheck.IsPathSegmentName)
	name(at.Child("name"), ref.Name, namecheck.IsPathSegmentName)
	if _, err := schema.ParseGroupVersion(ref.APIVersion); err != nil {
		p.invalid(at.Child("apiVersion"), ref.APIVersion, err.Error())
	}
}

func (p *problems) scalingRules(at *field.Path, r *autoscalingv2.HPAScalingRules) {
	const longestWindow, longestPeriod = 3600, 1800
	if r == nil {
		return
	}
	if w := r.StabilizationWindowSeconds; w != nil {
		if *w < 0 {
			p.invalid(at.Child("stabilizationWindowSeconds"), *w, "must be greater than or equal to zero")
		}
		if *w > longestWindow {
			p.invalid(at.Child("stabilizationWindowSeconds"), *w, fmt.Sprintf("must be less than or equal to %v", longestWindow))
		}
	}
	if r.SelectPolicy != nil {
		oneOf(p, at.Child("selectPolicy"), *r.SelectPolicy, autoscalingv2.DisabledPolicySelect, autoscalingv2.MaxChangePolicySelect, autoscalingv2.MinChangePolicySelect)
	}
	if len(r.Policies) == 0 {
		p.required(at.Child("policies"), "must specify at least one Policy")
	}
	for i, policy := range r.Policies {
		at := at.Child("policies").Index(i)
		oneOf(p, at.Child("type"), policy.Type, autoscalingv2.PercentScalingPolicy, autoscalingv2.PodsScalingPolicy)
		p.positive(at.Child("value"), int64(policy.Value))
		p.positive(at.Child("periodSeconds"), int64(policy.PeriodSeconds))
		if policy.PeriodSeconds > longestPeriod {
			p.invalid(at.Child("periodSeconds"), policy.PeriodSeconds, fmt.Sprintf("must be less than or equal to %v", longestPeriod))
		}
	}
	if t := r.Tolerance; t != nil && t.Sign() < 0 {
		p.invalid(at.Child("tolerance"), t.String(), "must be greater than or equal to 0")
	}
}

// metric validates a metric: it has the one source that its type names.
func (p *problems) metric(at *field.Path, m *autoscalingv2.MetricSpec) {
	types := []autoscalingv2.MetricSourceType{
		autoscalingv2.ContainerResourceMetricSourceType, autoscalingv2.ExternalMetricSourceType, autoscalingv2.ObjectMetricSourceType,
		autoscalingv2.PodsMetricSourceType, autoscalingv2.ResourceMetricSourceType,
	}
	if m.Type == "" {
		p.required(at.Child("type"), "must specify a metric source type")
	}
	oneOf(p, at.Child("type"), m.Type, types...)
	present := map[string]bool{}
	source := func(name string, set bool, check func(at *field.Path)) {
		if set {
			present[name] = true
			if len(present) == 1 {
				check(at.Child(name))
			}
		}
	}
	source("object", m.Object != nil, func(at *field.Path) { p.objectMetric(at, m.Object) })
	source("external", m.External != nil, func(at *field.Path) {
		p.metricOf(at, &m.External.Metric, &m.External.Target)
		p.valueTarget(at.Child("target"), &m.External.Target, "must set either a target value for metric or a per-pod target")
		if m.External.Target.Value != nil && m.External.Target.AverageValue != nil {
			p.forbidden(at.Child("target", "value"), "may not set both a target value for metric and a per-pod target")
		}
	})
	source("pods", m.Pods != nil, func(at *field.Path) {
		p.metricOf(at, &m.Pods.Metric, &m.Pods.Target)
		if m.Pods.Target.AverageValue == nil {
			p.required(at.Child("target", "averageValue"), "must specify a positive target averageValue")
		}
	})
	source("resource", m.Resource != nil, func(at *field.Path) { p.resourceMetric(at, string(m.Resource.Name), nil, &m.Resource.Target) })
	source("containerResource", m.ContainerResource != nil, func(at *field.Path) {
		p.resourceMetric(at, string(m.ContainerResource.Name), &m.ContainerResource.Container, &m.ContainerResource.Target)
	})
	expected := ""
	if slices.Contains(types, m.Type) {
		expected = lowerFirst(string(m.Type))
		if !present[expected] {
			p.required(at.Child(expected), "must populate information for the given metric source")
		}
	} else {
		oneOf(p, at.Child("type"), m.Type, types...)
	}
	for _, name := range slices.Sorted(maps.Keys(present)) {
		if len(present) > 1 && name != expected {
			p.forbidden(at.Child(name), "must populate the given metric source only")
		}
	}
}

func (p *problems) objectMetric(at *field.Path, m *autoscalingv2.ObjectMetricSource) {
	p.scaleTarget(at.Child("describedObject"), m.DescribedObject, p.name)
	p.metricOf(at, &m.Metric, &m.Target)
	p.valueTarget(at.Child("target"), &m.Target, "must set either a target value or averageValue")
}

func (p *problems) metricOf(at *field.Path, id *autoscalingv2.MetricIdentifier, target *autoscalingv2.MetricTarget) {
	if id.Name == "" {
		p.required(at.Child("metric", "name"), "must specify a metric name")
	} else {
		p.invalid(at.Child("metric", "name"), id.Name, namecheck.IsPathSegmentName(id.Name)...)
	}
	p.metricTarget(at.Child("target"), target)
}

func (p *problems) valueTarget(at *field.Path, t *autoscalingv2.MetricTarget, detail string) {
	if t.Value == nil && t.AverageValue == nil {
		p.required(at.Child("averageValue"), detail)
	}
}

func (p *problems) resourceMetric(at *field.Path, name string, container *string, t *autoscalingv2.MetricTarget) {
	switch {
	case name == "":
		p.required(at.Child("name"), "must specify a resource name")
	case container != nil:
		p.containerResource(at.Child("name"), name)
	}
	if container != nil {
		if *container == "" {
			p.required(at.Child("container"), "must specify a container")
		} else {
			p.invalid(at.Child("container"), *container, label(*container)...)
		}
	}
	at = at.Child("target")
	p.metricTarget(at, t)
	switch {
	case t.AverageUtilization == nil && t.AverageValue == nil:
		p.required(at.Child("averageUtilization"), "must set either a target raw value or a target utilization")
	case t.AverageUtilization != nil && t.AverageValue != nil:
		p.forbidden(at.Child("averageValue"), "may not set both a target raw value and a target utilization")
	}
}

func (p *problems) metricTarget(at *field.Path, t *autoscalingv2.MetricTarget) {
	if t.Type == "" {
		p.required(at.Child("type"), "must specify a metric target type")
	}
	if t.Type != autoscalingv2.UtilizationMetricType && t.Type != autoscalingv2.ValueMetricType && t.Type != autoscalingv2.AverageValueMetricType {
		p.invalid(at.Child("type"), t.Type, "must be either Utilization, Value, or AverageValue")
	}
	if t.Value != nil && t.Value.Sign() != 1 {
		p.invalid(at.Child("value"), t.Value, "must be positive")
	}
	if t.AverageValue != nil && t.AverageValue.Sign() != 1 {
		p.invalid(at.Child("averageValue"), t.AverageValue, "must be positive")
	}
	if t.AverageUtilization != nil && *t.AverageUtilization < 1 {
		p.invalid(at.Child("averageUtilization"), *t.AverageUtilization, "must be greater than 0")
	}
}
