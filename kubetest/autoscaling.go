package kubetest

import (
	"encoding/json"
	"maps"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
)

// Horizontal pod autoscalers are stored as autoscaling/v2. What autoscaling/v1 has no fields for
// stands there in annotations, as in Kubernetes (pkg/apis/autoscaling/v1/conversion.go).
const (
	metricsAnnotation        = "autoscaling.alpha.kubernetes.io/metrics"
	currentMetricsAnnotation = "autoscaling.alpha.kubernetes.io/current-metrics"
	conditionsAnnotation     = "autoscaling.alpha.kubernetes.io/conditions"
	behaviorAnnotation       = "autoscaling.alpha.kubernetes.io/behavior"
)

// defaultUtilization is what autoscaling/v1 means when it says nothing about metrics.
const defaultUtilization = 80

func autoscalerConversion() conversion {
	return conversion{
		load: func(obj runtime.Object) runtime.Object {
			return autoscalerV1(obj.(*autoscalingv2.HorizontalPodAutoscaler))
		},
		store: func(obj runtime.Object) runtime.Object {
			return autoscalerV2(obj.(*autoscalingv1.HorizontalPodAutoscaler))
		},
	}
}

// behavior has the names that the annotation has: those of Go fields.
type behavior struct {
	ScaleUp   *scalingRules
	ScaleDown *scalingRules
}

type scalingRules struct {
	StabilizationWindowSeconds *int32
	SelectPolicy               *autoscalingv2.ScalingPolicySelect
	Policies                   []scalingPolicy
	Tolerance                  *resource.Quantity
}

type scalingPolicy struct {
	Type          autoscalingv2.HPAScalingPolicyType
	Value         int32
	PeriodSeconds int32
}

func autoscalerV1(in *autoscalingv2.HorizontalPodAutoscaler) *autoscalingv1.HorizontalPodAutoscaler {
	out := &autoscalingv1.HorizontalPodAutoscaler{
		ObjectMeta: in.ObjectMeta,
		Spec: autoscalingv1.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv1.CrossVersionObjectReference(in.Spec.ScaleTargetRef),
			MinReplicas:    in.Spec.MinReplicas,
			MaxReplicas:    in.Spec.MaxReplicas,
		},
		Status: autoscalingv1.HorizontalPodAutoscalerStatus{
			LastScaleTime: in.Status.LastScaleTime, CurrentReplicas: in.Status.CurrentReplicas, DesiredReplicas: in.Status.DesiredReplicas,
			ObservedGeneration: in.Status.ObservedGeneration,
		},
	}
	a := annotations{withoutAutoscaling(in.Annotations)}
	a.putAll(metricsAnnotation, otherMetricsV1(in.Spec.Metrics, &out.Spec))
	a.putAll(currentMetricsAnnotation, currentMetricsV1(in.Status.CurrentMetrics, &out.Status))
	var conditions []any
	for _, c := range in.Status.Conditions {
		conditions = append(conditions, autoscalingv1.HorizontalPodAutoscalerCondition{
			Type: autoscalingv1.HorizontalPodAutoscalerConditionType(c.Type), Status: c.Status,
			LastTransitionTime: c.LastTransitionTime, Reason: c.Reason, Message: c.Message,
		})
	}
	a.putAll(conditionsAnnotation, conditions)
	if b := in.Spec.Behavior; b != nil {
		a.put(behaviorAnnotation, behavior{rulesOut(b.ScaleUp), rulesOut(b.ScaleDown)})
	}
	out.Annotations = a.m
	return out
}

// isCPU reports whether a metric is the one that autoscaling/v1 has a field for.
func isCPU(m *autoscalingv2.MetricSpec) bool {
	return m.Type == autoscalingv2.ResourceMetricSourceType && m.Resource != nil && m.Resource.Name == corev1.ResourceCPU &&
		m.Resource.Target.AverageUtilization != nil
}

// otherMetricsV1 returns the metrics that autoscaling/v1 has no field for. The other one goes
// into spec.
func otherMetricsV1(metrics []autoscalingv2.MetricSpec, spec *autoscalingv1.HorizontalPodAutoscalerSpec) []any {
	var others []any
	for i := range metrics {
		m := &metrics[i]
		if !isCPU(m) {
			others = append(others, metricV1(m))
		} else if spec.TargetCPUUtilizationPercentage == nil {
			spec.TargetCPUUtilizationPercentage = m.Resource.Target.AverageUtilization
		}
	}
	return others
}

func currentMetricsV1(metrics []autoscalingv2.MetricStatus, status *autoscalingv1.HorizontalPodAutoscalerStatus) []any {
	var all []any
	for i := range metrics {
		m := &metrics[i]
		all = append(all, metricStatusV1(m))
		if m.Type == autoscalingv2.ResourceMetricSourceType && m.Resource != nil && m.Resource.Name == corev1.ResourceCPU && m.Resource.Current.AverageUtilization != nil {
			status.CurrentCPUUtilizationPercentage = m.Resource.Current.AverageUtilization
		}
	}
	return all
}

func autoscalerV2(in *autoscalingv1.HorizontalPodAutoscaler) *autoscalingv2.HorizontalPodAutoscaler {
	out := &autoscalingv2.HorizontalPodAutoscaler{
		ObjectMeta: in.ObjectMeta,
		Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv2.CrossVersionObjectReference(in.Spec.ScaleTargetRef),
			MinReplicas:    in.Spec.MinReplicas,
			MaxReplicas:    in.Spec.MaxReplicas,
		},
		Status: autoscalingv2.HorizontalPodAutoscalerStatus{
			LastScaleTime: in.Status.LastScaleTime, CurrentReplicas: in.Status.CurrentReplicas, DesiredReplicas: in.Status.DesiredReplicas,
			ObservedGeneration: in.Status.ObservedGeneration,
		},
	}
	a := annotations{in.Annotations}
	var others []autoscalingv1.MetricSpec
	a.get(metricsAnnotation, &others)
	for i := range others {
		out.Spec.Metrics = append(out.Spec.Metrics, metricV2(&others[i]))
	}
	if p := in.Spec.TargetCPUUtilizationPercentage; p != nil {
		out.Spec.Metrics = append(out.Spec.Metrics, cpuMetric(*p))
	}
	if len(out.Spec.Metrics) == 0 {
		out.Spec.Metrics = []autoscalingv2.MetricSpec{cpuMetric(defaultUtilization)}
	}
	var b behavior
	if a.get(behaviorAnnotation, &b) && b != (behavior{}) {
		out.Spec.Behavior = &autoscalingv2.HorizontalPodAutoscalerBehavior{ScaleUp: rulesIn(b.ScaleUp), ScaleDown: rulesIn(b.ScaleDown)}
	}
	statusV2(in, a, &out.Status)
	out.Annotations = withoutAutoscaling(in.Annotations)
	return out
}

func statusV2(in *autoscalingv1.HorizontalPodAutoscaler, a annotations, out *autoscalingv2.HorizontalPodAutoscalerStatus) {
	var current []autoscalingv1.MetricStatus
	switch p := in.Status.CurrentCPUUtilizationPercentage; {
	case a.get(currentMetricsAnnotation, &current):
		for i := range current {
			out.CurrentMetrics = append(out.CurrentMetrics, metricStatusV2(&current[i]))
		}
	case p != nil:
		out.CurrentMetrics = []autoscalingv2.MetricStatus{{
			Type: autoscalingv2.ResourceMetricSourceType,
			Resource: &autoscalingv2.ResourceMetricStatus{
				Name: corev1.ResourceCPU, Current: autoscalingv2.MetricValueStatus{AverageUtilization: p},
			},
		}}
	}
	var conditions []autoscalingv1.HorizontalPodAutoscalerCondition
	a.get(conditionsAnnotation, &conditions)
	for _, c := range conditions {
		out.Conditions = append(out.Conditions, autoscalingv2.HorizontalPodAutoscalerCondition{
			Type: autoscalingv2.HorizontalPodAutoscalerConditionType(c.Type), Status: c.Status,
			LastTransitionTime: c.LastTransitionTime, Reason: c.Reason, Message: c.Message,
		})
	}
}

func cpuMetric(utilization int32) autoscalingv2.MetricSpec {
	return autoscalingv2.MetricSpec{
		Type: autoscalingv2.ResourceMetricSourceType,
		Resource: &autoscalingv2.ResourceMetricSource{
			Name:   corev1.ResourceCPU,
			Target: autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: &utilization},
		},
	}
}

func rulesOut(r *autoscalingv2.HPAScalingRules) *scalingRules {
	if r == nil {
		return nil
	}
	out := &scalingRules{StabilizationWindowSeconds: r.StabilizationWindowSeconds, SelectPolicy: r.SelectPolicy, Tolerance: r.Tolerance}
	for _, p := range r.Policies {
		out.Policies = append(out.Policies, scalingPolicy(p))
	}
	return out
}

func rulesIn(r *scalingRules) *autoscalingv2.HPAScalingRules {
	if r == nil {
		return nil
	}
	out := &autoscalingv2.HPAScalingRules{StabilizationWindowSeconds: r.StabilizationWindowSeconds, SelectPolicy: r.SelectPolicy, Tolerance: r.Tolerance}
	for _, p := range r.Policies {
		out.Policies = append(out.Policies, autoscalingv2.HPAScalingPolicy(p))
	}
	return out
}

// annotations keeps values as JSON in annotations.
type annotations struct{ m map[string]string }

func (a *annotations) put(name string, value any) {
	data, err := json.Marshal(value)
	if err != nil {
		return // plain structs always encode
	}
	if a.m == nil {
		a.m = map[string]string{}
	}
	a.m[name] = string(data)
}

func (a *annotations) putAll(name string, values []any) {
	if len(values) > 0 {
		a.put(name, values)
	}
}

// get reads a value. What cannot be read is as if it were not there, as users can write anything.
func (a *annotations) get(name string, into any) bool {
	text, ok := a.m[name]
	return ok && json.Unmarshal([]byte(text), into) == nil
}

// withoutAutoscaling returns a copy of annotations without those that stand for fields.
func withoutAutoscaling(m map[string]string) map[string]string {
	m = maps.Clone(m)
	for _, name := range []string{metricsAnnotation, currentMetricsAnnotation, conditionsAnnotation, behaviorAnnotation} {
		delete(m, name)
	}
	return m
}
