package kubetest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/apimachinery/pkg/util/intstr"
)

func appsCells() map[string]func(runtime.Object) []any {
	return map[string]func(runtime.Object) []any{
		"deployments": cells(func(o *appsv1.Deployment) []any {
			names, images := containers(&o.Spec.Template.Spec)
			selector := "<invalid>"
			if s, err := metav1.LabelSelectorAsSelector(o.Spec.Selector); err == nil {
				selector = s.String()
			}
			return []any{
				o.Name, fmt.Sprintf("%d/%d", o.Status.ReadyReplicas, or(o.Spec.Replicas, 0)), int64(o.Status.UpdatedReplicas),
				int64(o.Status.AvailableReplicas), age(o.CreationTimestamp), names, images, selector,
			}
		}),
		"replicasets": cells(func(o *appsv1.ReplicaSet) []any {
			names, images := containers(&o.Spec.Template.Spec)
			return []any{
				o.Name, int64(or(o.Spec.Replicas, 0)), int64(o.Status.Replicas), int64(o.Status.ReadyReplicas), age(o.CreationTimestamp),
				names, images, metav1.FormatLabelSelector(o.Spec.Selector),
			}
		}),
		"statefulsets": cells(func(o *appsv1.StatefulSet) []any {
			names, images := containers(&o.Spec.Template.Spec)
			return []any{
				o.Name, fmt.Sprintf("%d/%d", o.Status.ReadyReplicas, or(o.Spec.Replicas, 0)), age(o.CreationTimestamp), names, images,
			}
		}),
		"daemonsets": cells(func(o *appsv1.DaemonSet) []any {
			names, images := containers(&o.Spec.Template.Spec)
			s := &o.Status
			return []any{
				o.Name, int64(s.DesiredNumberScheduled), int64(s.CurrentNumberScheduled), int64(s.NumberReady), int64(s.UpdatedNumberScheduled),
				int64(s.NumberAvailable), labels.FormatLabels(o.Spec.Template.Spec.NodeSelector), age(o.CreationTimestamp),
				names, images, metav1.FormatLabelSelector(o.Spec.Selector),
			}
		}),
		"controllerrevisions": cells(func(o *appsv1.ControllerRevision) []any {
			return []any{o.Name, owner(o), o.Revision, age(o.CreationTimestamp)}
		}),
	}
}

func batchCells() map[string]func(runtime.Object) []any {
	return map[string]func(runtime.Object) []any{
		"jobs": cells(func(o *batchv1.Job) []any {
			names, images := containers(&o.Spec.Template.Spec)
			return []any{
				o.Name, jobStatus(o), jobCompletions(o), jobDuration(&o.Status), age(o.CreationTimestamp),
				names, images, metav1.FormatLabelSelector(o.Spec.Selector),
			}
		}),
		"cronjobs": cells(func(o *batchv1.CronJob) []any {
			last, suspend := "<none>", "<unset>"
			if t := o.Status.LastScheduleTime; t != nil {
				last = age(*t)
			}
			if o.Spec.Suspend != nil {
				suspend = map[bool]string{true: "True", false: "False"}[*o.Spec.Suspend]
			}
			names, images := containers(&o.Spec.JobTemplate.Spec.Template.Spec)
			return []any{
				o.Name, o.Spec.Schedule, or(o.Spec.TimeZone, "<none>"), suspend, int64(len(o.Status.Active)), last, age(o.CreationTimestamp),
				names, images, metav1.FormatLabelSelector(o.Spec.JobTemplate.Spec.Selector),
			}
		}),
	}
}

func jobStatus(o *batchv1.Job) string {
	has := func(t batchv1.JobConditionType) bool {
		return slices.ContainsFunc(o.Status.Conditions, func(c batchv1.JobCondition) bool {
			return c.Type == t && c.Status == corev1.ConditionTrue
		})
	}
	switch {
	case has(batchv1.JobComplete):
		return "Complete"
	case has(batchv1.JobFailed):
		return "Failed"
	case o.DeletionTimestamp != nil:
		return "Terminating"
	}
	for _, t := range []batchv1.JobConditionType{batchv1.JobSuspended, batchv1.JobFailureTarget, batchv1.JobSuccessCriteriaMet} {
		if has(t) {
			return string(t)
		}
	}
	return "Running"
}

func jobCompletions(o *batchv1.Job) string {
	switch parallel := or(o.Spec.Parallelism, 0); {
	case o.Spec.Completions != nil:
		return fmt.Sprintf("%d/%d", o.Status.Succeeded, *o.Spec.Completions)
	case parallel > 1:
		return fmt.Sprintf("%d/1 of %d", o.Status.Succeeded, parallel)
	}
	return fmt.Sprintf("%d/1", o.Status.Succeeded)
}

func jobDuration(s *batchv1.JobStatus) string {
	switch {
	case s.StartTime == nil:
		return ""
	case s.CompletionTime == nil:
		return duration.HumanDuration(time.Since(s.StartTime.Time))
	}
	return duration.HumanDuration(s.CompletionTime.Sub(s.StartTime.Time))
}

func policyCells() map[string]func(runtime.Object) []any {
	text := func(v *intstr.IntOrString) string {
		if v == nil {
			return "N/A"
		}
		return v.String()
	}
	return map[string]func(runtime.Object) []any{
		"poddisruptionbudgets": cells(func(o *policyv1.PodDisruptionBudget) []any {
			return []any{
				o.Name, text(o.Spec.MinAvailable), text(o.Spec.MaxUnavailable), int64(o.Status.DisruptionsAllowed), age(o.CreationTimestamp),
			}
		}),
	}
}

func autoscalingCells() map[string]func(runtime.Object) []any {
	return map[string]func(runtime.Object) []any{"horizontalpodautoscalers": autoscalerCells}
}

// autoscalerCells takes both versions of autoscalers.
func autoscalerCells(obj runtime.Object) []any {
	minimum := func(p *int32) string {
		if p == nil {
			return "<unset>"
		}
		return strconv.Itoa(int(*p))
	}
	switch o := obj.(type) {
	case *autoscalingv2.HorizontalPodAutoscaler:
		ref := o.Spec.ScaleTargetRef
		return []any{
			o.Name, ref.Kind + "/" + ref.Name, metricTargets(o.Spec.Metrics, o.Status.CurrentMetrics), minimum(o.Spec.MinReplicas),
			int64(o.Spec.MaxReplicas), int64(o.Status.CurrentReplicas), age(o.CreationTimestamp),
		}
	case *autoscalingv1.HorizontalPodAutoscaler:
		ref, targets := o.Spec.ScaleTargetRef, "<none>"
		if target := o.Spec.TargetCPUUtilizationPercentage; target != nil {
			targets = fmt.Sprintf("cpu: %s/%d%%", percent(o.Status.CurrentCPUUtilizationPercentage, "<unknown>"), *target)
		}
		return []any{
			o.Name, ref.Kind + "/" + ref.Name, targets, minimum(o.Spec.MinReplicas), int64(o.Spec.MaxReplicas),
			int64(o.Status.CurrentReplicas), age(o.CreationTimestamp),
		}
	}
	return []any{accessor(obj).GetName()}
}

func percent(p *int32, none string) string {
	if p == nil {
		return none
	}
	return fmt.Sprintf("%d%%", *p)
}

// metricTargets shows two metrics at most, as current/target.
func metricTargets(specs []autoscalingv2.MetricSpec, statuses []autoscalingv2.MetricStatus) string {
	const most = 2
	if len(specs) == 0 {
		return "<none>"
	}
	var list []string
	for i := range specs {
		var status autoscalingv2.MetricStatus
		if i < len(statuses) {
			status = statuses[i]
		}
		list = append(list, metricTarget(&specs[i], &status))
	}
	if len(list) > most {
		return fmt.Sprintf("%s + %d more...", strings.Join(list[:most], ", "), len(list)-most)
	}
	return strings.Join(list, ", ")
}

func metricTarget(spec *autoscalingv2.MetricSpec, status *autoscalingv2.MetricStatus) string {
	var current *autoscalingv2.MetricValueStatus
	switch {
	case spec.Type == autoscalingv2.ExternalMetricSourceType && spec.External != nil:
		if status.External != nil {
			current = &status.External.Current
		}
		return quantityTarget(&spec.External.Target, current)
	case spec.Type == autoscalingv2.ObjectMetricSourceType && spec.Object != nil:
		if status.Object != nil {
			current = &status.Object.Current
		}
		return quantityTarget(&spec.Object.Target, current)
	case spec.Type == autoscalingv2.PodsMetricSourceType && spec.Pods != nil:
		if status.Pods != nil {
			current = &status.Pods.Current
		}
		return strings.TrimSuffix(quantityTarget(&spec.Pods.Target, current), " (avg)")
	case spec.Type == autoscalingv2.ResourceMetricSourceType && spec.Resource != nil:
		if status.Resource != nil {
			current = &status.Resource.Current
		}
		return resourceTarget(spec.Resource.Name, &spec.Resource.Target, current)
	case spec.Type == autoscalingv2.ContainerResourceMetricSourceType && spec.ContainerResource != nil:
		if status.ContainerResource != nil {
			current = &status.ContainerResource.Current
		}
		return resourceTarget(spec.ContainerResource.Name, &spec.ContainerResource.Target, current)
	}
	return "<unknown type>"
}

func quantityTarget(target *autoscalingv2.MetricTarget, current *autoscalingv2.MetricValueStatus) string {
	now := "<unknown>"
	if target.AverageValue != nil {
		if current != nil && current.AverageValue != nil {
			now = current.AverageValue.String()
		}
		return fmt.Sprintf("%s/%s (avg)", now, target.AverageValue)
	}
	if current != nil && current.Value != nil {
		now = current.Value.String()
	}
	return fmt.Sprintf("%s/%s", now, target.Value)
}

func resourceTarget(name corev1.ResourceName, target *autoscalingv2.MetricTarget, current *autoscalingv2.MetricValueStatus) string {
	if target.AverageValue != nil {
		return fmt.Sprintf("%s: %s", name, strings.TrimSuffix(quantityTarget(target, current), " (avg)"))
	}
	now := "<unknown>"
	if current != nil {
		now = percent(current.AverageUtilization, now)
	}
	return fmt.Sprintf("%s: %s/%s", name, now, percent(target.AverageUtilization, "<auto>"))
}
