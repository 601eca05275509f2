package kubetest

import (
	"fmt"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// workloadRules are the rules of the group apps.
func workloadRules() map[schema.GroupKind]rules {
	apps := func(kind string) schema.GroupKind { return schema.GroupKind{Group: appsv1.GroupName, Kind: kind} }
	return map[schema.GroupKind]rules{
		apps("Deployment"):              withStatus(ruled(checkDeployment), checkDeploymentStatus),
		apps("ReplicaSet"):              withStatus(ruled(checkReplicaSet), checkReplicaSetStatus),
		apps("StatefulSet"):             withStatus(ruled(checkStatefulSet), checkStatefulSetStatus),
		apps("DaemonSet"):               withStatus(ruled(checkDaemonSet), checkDaemonSetStatus),
		apps("ControllerRevision"):      ruled(checkRevision),
		{Kind: "ReplicationController"}: withStatus(ruled(checkReplicationController), checkReplicationControllerStatus),
		{Kind: "PodTemplate"}: ruled(func(p *problems, obj, _ *corev1.PodTemplate) {
			p.template(field.NewPath("template"), &obj.Template)
		}),
	}
}

// workloadSelector validates the selector of a workload, which must not be empty.
func (p *problems) workloadSelector(at *field.Path, s *metav1.LabelSelector, what string) {
	if s == nil {
		p.required(at, "")
		return
	}
	p.selector(at, s)
	if len(s.MatchLabels)+len(s.MatchExpressions) == 0 {
		p.invalid(at, s, "empty selector is invalid for "+what)
	}
}

// alwaysTemplate validates a template whose pods always run.
func (p *problems) alwaysTemplate(at *field.Path, t *corev1.PodTemplateSpec, what string) {
	p.template(at, t)
	p.always(at, t, what)
}

func (p *problems) always(at *field.Path, t *corev1.PodTemplateSpec, what string) {
	oneOf(p, at.Child("spec", "restartPolicy"), t.Spec.RestartPolicy, corev1.RestartPolicyAlways)
	if t.Spec.ActiveDeadlineSeconds != nil {
		p.forbidden(at.Child("spec", "activeDeadlineSeconds"), "activeDeadlineSeconds in "+what+" is not Supported")
	}
}

// selectedTemplate validates the template of a ReplicaSet, or of a Deployment.
func (p *problems) selectedTemplate(selector *metav1.LabelSelector, t *corev1.PodTemplateSpec) {
	if _, err := metav1.LabelSelectorAsSelector(selector); err != nil {
		p.invalid(specPath.Child("selector"), selector, "invalid label selector")
		return
	}
	at := specPath.Child("template")
	p.matches(at, selector, t)
	p.alwaysTemplate(at, t, "ReplicaSet")
}

func checkDeployment(p *problems, obj, old *appsv1.Deployment) {
	s := &obj.Spec
	notNegativePointer(p, specPath.Child("replicas"), s.Replicas)
	p.workloadSelector(specPath.Child("selector"), s.Selector, "deployment")
	p.selectedTemplate(s.Selector, &s.Template)
	p.deploymentStrategy(specPath.Child("strategy"), &s.Strategy)
	p.notNegative(specPath.Child("minReadySeconds"), int64(s.MinReadySeconds))
	notNegativePointer(p, specPath.Child("revisionHistoryLimit"), s.RevisionHistoryLimit)
	if d := s.ProgressDeadlineSeconds; d != nil {
		notNegativePointer(p, specPath.Child("progressDeadlineSeconds"), d)
		if *d <= s.MinReadySeconds {
			p.invalid(specPath.Child("progressDeadlineSeconds"), *d, "must be greater than minReadySeconds")
		}
	}
	if old != nil {
		p.unchanged(specPath.Child("selector"), s.Selector, old.Spec.Selector)
	}
}

func (p *problems) deploymentStrategy(at *field.Path, s *appsv1.DeploymentStrategy) {
	switch s.Type {
	case appsv1.RecreateDeploymentStrategyType:
		if s.RollingUpdate != nil {
			p.forbidden(at.Child("rollingUpdate"), "may not be specified when strategy `type` is 'Recreate'")
		}
	case appsv1.RollingUpdateDeploymentStrategyType:
		r, at := s.RollingUpdate, at.Child("rollingUpdate")
		unavailable, surge := intOf(r.MaxUnavailable), intOf(r.MaxSurge)
		p.intOrPercent(at.Child("maxUnavailable"), unavailable)
		p.intOrPercent(at.Child("maxSurge"), surge)
		if number(unavailable) == 0 && number(surge) == 0 {
			p.invalid(at.Child("maxUnavailable"), unavailable, "may not be 0 when `maxSurge` is 0")
		}
		p.atMostAll(at.Child("maxUnavailable"), unavailable)
	default:
		p.add(field.NotSupported(at, s, []appsv1.DeploymentStrategyType{appsv1.RecreateDeploymentStrategyType, appsv1.RollingUpdateDeploymentStrategyType}))
	}
}

func intOf(v *intstr.IntOrString) intstr.IntOrString {
	if v == nil {
		return intstr.IntOrString{}
	}
	return *v
}

// intOrPercent validates a number that is not negative, or a percentage.
func (p *problems) intOrPercent(at *field.Path, v intstr.IntOrString) {
	if v.Type == intstr.String {
		p.invalid(at, v, utilvalidation.IsValidPercent(v.StrVal)...)
		return
	}
	p.notNegative(at, int64(v.IntVal))
}

func percentOf(v intstr.IntOrString) (int, bool) {
	if v.Type != intstr.String || len(utilvalidation.IsValidPercent(v.StrVal)) > 0 {
		return 0, false
	}
	n, err := strconv.Atoi(strings.TrimSuffix(v.StrVal, "%"))
	return n, err == nil
}

// number is the number of a percentage, or the plain number.
func number(v intstr.IntOrString) int {
	if n, ok := percentOf(v); ok {
		return n
	}
	return v.IntValue()
}

func (p *problems) atMostAll(at *field.Path, v intstr.IntOrString) {
	if n, ok := percentOf(v); ok && n > 100 {
		p.invalid(at, v, "must not be greater than 100%")
	}
}

func checkReplicaSet(p *problems, obj, old *appsv1.ReplicaSet) {
	s := &obj.Spec
	notNegativePointer(p, specPath.Child("replicas"), s.Replicas)
	p.notNegative(specPath.Child("minReadySeconds"), int64(s.MinReadySeconds))
	p.workloadSelector(specPath.Child("selector"), s.Selector, "deployment")
	p.selectedTemplate(s.Selector, &s.Template)
	if old != nil {
		p.unchanged(specPath.Child("selector"), s.Selector, old.Spec.Selector)
	}
}

func checkReplicationController(p *problems, obj, _ *corev1.ReplicationController) {
	s := &obj.Spec
	p.notNegative(specPath.Child("minReadySeconds"), int64(s.MinReadySeconds))
	if len(s.Selector) == 0 {
		p.required(specPath.Child("selector"), "")
	}
	notNegativePointer(p, specPath.Child("replicas"), s.Replicas)
	at := specPath.Child("template")
	if s.Template == nil {
		p.required(at, "")
		return
	}
	if len(s.Selector) > 0 && !labels.SelectorFromSet(s.Selector).Matches(labels.Set(s.Template.Labels)) {
		p.invalid(at.Child("metadata", "labels"), s.Template.Labels, "`selector` does not match template `labels`")
	}
	p.alwaysTemplate(at, s.Template, "ReplicationController")
}

func checkStatefulSet(p *problems, obj, old *appsv1.StatefulSet) {
	if old == nil {
		p.statefulSet(&obj.Spec, true, false)
		return
	}
	before := &problems{}
	before.statefulSet(&old.Spec, false, false)
	p.statefulSet(&obj.Spec, false, len(before.list) > 0)
	p.unchanged(specPath.Child("selector"), obj.Spec.Selector, old.Spec.Selector)
	p.unchanged(specPath.Child("volumeClaimTemplates"), obj.Spec.VolumeClaimTemplates, old.Spec.VolumeClaimTemplates)
	p.unchanged(specPath.Child("serviceName"), obj.Spec.ServiceName, old.Spec.ServiceName)
	p.unchanged(specPath.Child("podManagementPolicy"), obj.Spec.PodManagementPolicy, old.Spec.PodManagementPolicy)
}

// statefulSet validates the spec of a StatefulSet: of a new one what cannot change later too; anyTemplate
// leaves out the template.
func (p *problems) statefulSet(s *appsv1.StatefulSetSpec, fresh, anyTemplate bool) {
	switch s.PodManagementPolicy {
	case "":
		p.required(specPath.Child("podManagementPolicy"), "")
	case appsv1.OrderedReadyPodManagement, appsv1.ParallelPodManagement:
	default:
		p.invalid(specPath.Child("podManagementPolicy"), s.PodManagementPolicy, fmt.Sprintf("must be '%s' or '%s'", appsv1.OrderedReadyPodManagement, appsv1.ParallelPodManagement))
	}
	p.statefulStrategy(specPath.Child("updateStrategy"), &s.UpdateStrategy)
	if policy := s.PersistentVolumeClaimRetentionPolicy; policy != nil {
		at := specPath.Child("persistentVolumeClaimRetentionPolicy")
		oneOf(p, at.Child("whenDeleted"), policy.WhenDeleted, appsv1.RetainPersistentVolumeClaimRetentionPolicyType, appsv1.DeletePersistentVolumeClaimRetentionPolicyType)
		oneOf(p, at.Child("whenScaled"), policy.WhenScaled, appsv1.RetainPersistentVolumeClaimRetentionPolicyType, appsv1.DeletePersistentVolumeClaimRetentionPolicyType)
	}
	for i := range s.VolumeClaimTemplates {
		if fresh {
			p.claimSpec(specPath.Child("volumeClaimTemplates").Index(i).Child("spec"), &s.VolumeClaimTemplates[i].Spec)
		}
	}
	notNegativePointer(p, specPath.Child("replicas"), s.Replicas)
	p.notNegative(specPath.Child("minReadySeconds"), int64(s.MinReadySeconds))
	if s.Ordinals != nil {
		p.notNegative(specPath.Child("ordinals.start"), int64(s.Ordinals.Start))
	}
	if fresh && s.ServiceName != "" {
		p.invalid(specPath.Child("serviceName"), s.ServiceName, label(s.ServiceName)...)
	}
	p.workloadSelector(specPath.Child("selector"), s.Selector, "statefulset")
	if _, err := metav1.LabelSelectorAsSelector(s.Selector); err != nil {
		p.invalid(specPath.Child("selector"), s.Selector, "")
	} else {
		p.statefulTemplate(specPath.Child("template"), s, anyTemplate)
	}
	p.always(specPath.Child("template"), &s.Template, "StatefulSet")
}

func (p *problems) statefulTemplate(at *field.Path, s *appsv1.StatefulSetSpec, anyTemplate bool) {
	t := s.Template.DeepCopy()
	t.Spec.Subdomain, t.Spec.Hostname = "", ""
	t.Spec.Volumes = withClaims(t.Spec.Volumes, s.VolumeClaimTemplates)
	p.matches(at, s.Selector, t)
	if !anyTemplate {
		p.template(at, t)
	}
	p.templateLabels(at, t)
}

// withClaims returns volumes with those that the claims of a StatefulSet become.
func withClaims(volumes []corev1.Volume, claims []corev1.PersistentVolumeClaim) []corev1.Volume {
	made, named := []corev1.Volume{}, map[string]bool{}
	for _, c := range claims {
		if named[c.Name] {
			continue
		}
		named[c.Name] = true
		source := corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: c.Name}}
		made = append(made, corev1.Volume{Name: c.Name, VolumeSource: source})
	}
	for _, v := range volumes {
		if !named[v.Name] {
			made = append(made, v)
		}
	}
	return made
}

func (p *problems) statefulStrategy(at *field.Path, s *appsv1.StatefulSetUpdateStrategy) {
	switch s.Type {
	case "":
		p.required(at, "")
	case appsv1.OnDeleteStatefulSetStrategyType:
		if s.RollingUpdate != nil {
			p.invalid(at.Child("rollingUpdate"), s.RollingUpdate, "only allowed for updateStrategy 'RollingUpdate'")
		}
	case appsv1.RollingUpdateStatefulSetStrategyType:
		if r, at := s.RollingUpdate, at.Child("rollingUpdate"); r != nil {
			notNegativePointer(p, at.Child("partition"), r.Partition)
			if m := r.MaxUnavailable; m != nil {
				p.intOrPercent(at.Child("maxUnavailable"), *m)
				if number(*m) == 0 {
					p.invalid(at.Child("maxUnavailable"), *m, "cannot be 0")
				}
				p.atMostAll(at.Child("maxUnavailable"), *m)
			}
		}
	default:
		p.invalid(at, *s, "must be 'RollingUpdate' or 'OnDelete'")
	}
}

func checkDaemonSet(p *problems, obj, old *appsv1.DaemonSet) {
	s := &obj.Spec
	if old != nil {
		p.unchanged(specPath.Child("selector"), s.Selector, old.Spec.Selector)
	}
	p.selector(specPath.Child("selector"), s.Selector)
	if selector, err := metav1.LabelSelectorAsSelector(s.Selector); err == nil && !selector.Matches(labels.Set(s.Template.Labels)) {
		p.invalid(specPath.Child("template", "metadata", "labels"), s.Template.Labels, "`selector` does not match template `labels`")
	}
	if s.Selector != nil && len(s.Selector.MatchLabels)+len(s.Selector.MatchExpressions) == 0 {
		p.invalid(specPath.Child("selector"), s.Selector, "empty selector is invalid for daemonset")
	}
	p.alwaysTemplate(specPath.Child("template"), &s.Template, "DaemonSet")
	p.notNegative(specPath.Child("minReadySeconds"), int64(s.MinReadySeconds))
	p.daemonStrategy(specPath.Child("updateStrategy"), &s.UpdateStrategy)
	notNegativePointer(p, specPath.Child("revisionHistoryLimit"), s.RevisionHistoryLimit)
}

func (p *problems) daemonStrategy(at *field.Path, s *appsv1.DaemonSetUpdateStrategy) {
	switch s.Type {
	case appsv1.OnDeleteDaemonSetStrategyType:
		return
	case appsv1.RollingUpdateDaemonSetStrategyType:
	default:
		p.add(field.NotSupported(at, s, []appsv1.DaemonSetUpdateStrategyType{appsv1.RollingUpdateDaemonSetStrategyType, appsv1.OnDeleteDaemonSetStrategyType}))
		return
	}
	r, at := s.RollingUpdate, at.Child("rollingUpdate")
	if r == nil {
		p.required(at, "")
		return
	}
	unavailable, surge := intOf(r.MaxUnavailable), intOf(r.MaxSurge)
	p.intOrPercent(at.Child("maxUnavailable"), unavailable)
	p.intOrPercent(at.Child("maxSurge"), surge)
	p.atMostAll(at.Child("maxUnavailable"), unavailable)
	p.atMostAll(at.Child("maxSurge"), surge)
	switch {
	case number(unavailable) != 0 && number(surge) != 0:
		p.invalid(at.Child("maxSurge"), surge, "may not be set when maxUnavailable is non-zero")
	case number(unavailable) == 0 && number(surge) == 0:
		p.required(at.Child("maxUnavailable"), "cannot be 0 when maxSurge is 0")
	}
}

func checkRevision(p *problems, obj, old *appsv1.ControllerRevision) {
	p.notNegative(field.NewPath("revision"), obj.Revision)
	if old != nil {
		if !equality.Semantic.DeepEqual(obj.Data, old.Data) {
			p.invalid(field.NewPath("data"), obj.Data, immutable)
		}
		return
	}
	switch text := strings.TrimSpace(string(obj.Data.Raw)); {
	case text == "" || text == "null":
		p.required(field.NewPath("data"), "data is mandatory")
	case text[0] != '{':
		p.required(field.NewPath("data"), "data must be a valid JSON object")
	}
}
