package kubetest

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// batchRules are the rules of the group batch.
func batchRules() map[schema.GroupKind]rules {
	return map[schema.GroupKind]rules{
		{Group: batchv1.GroupName, Kind: "Job"}:     ruled(checkJob),
		{Group: batchv1.GroupName, Kind: "CronJob"}: ruled(checkCronJob),
	}
}

func checkJob(p *problems, obj, old *batchv1.Job) {
	s := &obj.Spec
	if old == nil && !or(s.ManualSelector, false) && s.Selector != nil {
		p.generatedSelector(obj)
	}
	p.jobSpec(specPath, s)
	at := specPath.Child("selector")
	if s.Selector == nil {
		p.required(at, "")
	} else {
		p.selector(at, s.Selector)
	}
	if selector, err := metav1.LabelSelectorAsSelector(s.Selector); err == nil && !selector.Matches(labels.Set(s.Template.Labels)) {
		p.invalid(specPath.Child("template", "metadata", "labels"), s.Template.Labels, "`selector` does not match template `labels`")
	}
	if old != nil {
		p.jobUpdate(s, &old.Spec)
	}
	if or(s.CompletionMode, batchv1.NonIndexedCompletion) == batchv1.IndexedCompletion && s.Completions != nil && *s.Completions > 0 {
		if host := fmt.Sprintf("%s-%d", obj.Name, *s.Completions-1); len(label(host)) > 0 {
			p.invalid(metadataPath.Child("name"), obj.Name, "will not able to create pod with invalid DNS label: "+host)
		}
	}
}

// generatedSelector validates that labels of the template are those that the server has made.
func (p *problems) generatedSelector(obj *batchv1.Job) {
	at := specPath.Child("template", "metadata")
	want := labels.Set{
		"controller-uid": string(obj.UID), "job-name": obj.Name,
		batchv1.ControllerUidLabel: string(obj.UID), batchv1.JobNameLabel: obj.Name,
	}
	for _, key := range []string{"controller-uid", "job-name", batchv1.ControllerUidLabel, batchv1.JobNameLabel} {
		value, ok := obj.Spec.Template.Labels[key]
		switch {
		case !ok:
			p.required(at.Child("labels").Key(key), fmt.Sprintf("must be '%s'", want[key]))
		case value != want[key]:
			p.invalid(at.Child("labels").Key(key), obj.Spec.Template.Labels, fmt.Sprintf("must be '%s'", want[key]))
		}
	}
	if selector, err := metav1.LabelSelectorAsSelector(obj.Spec.Selector); err == nil && !selector.Matches(want) {
		p.invalid(specPath.Child("selector"), obj.Spec.Selector, "`selector` not auto-generated")
	}
}

// jobSpec validates the spec of a job, or of a template of one.
func (p *problems) jobSpec(at *field.Path, s *batchv1.JobSpec) {
	notNegativePointer(p, at.Child("parallelism"), s.Parallelism)
	notNegativePointer(p, at.Child("completions"), s.Completions)
	notNegativePointer(p, at.Child("activeDeadlineSeconds"), s.ActiveDeadlineSeconds)
	notNegativePointer(p, at.Child("backoffLimit"), s.BackoffLimit)
	notNegativePointer(p, at.Child("ttlSecondsAfterFinished"), s.TTLSecondsAfterFinished)
	notNegativePointer(p, at.Child("backoffLimitPerIndex"), s.BackoffLimitPerIndex)
	notNegativePointer(p, at.Child("maxFailedIndexes"), s.MaxFailedIndexes)
	if s.MaxFailedIndexes != nil && s.BackoffLimitPerIndex == nil {
		p.required(at.Child("backoffLimitPerIndex"), "when maxFailedIndexes is specified")
	}
	if s.ManagedBy != nil {
		p.add(utilvalidation.IsDomainPrefixedPath(at.Child("managedBy"), *s.ManagedBy)...)
		if len(*s.ManagedBy) > 63 {
			p.add(field.TooLong(at.Child("managedBy"), "", 63))
		}
	}
	p.completionMode(at, s)
	if s.PodFailurePolicy != nil {
		p.failurePolicy(at.Child("podFailurePolicy", "rules"), s)
	}
	if s.SuccessPolicy != nil {
		p.skip(at.Child("successPolicy"))
	}
	if policy := s.PodReplacementPolicy; policy != nil {
		supported := []batchv1.PodReplacementPolicy{batchv1.Failed, batchv1.TerminatingOrFailed}
		if s.PodFailurePolicy != nil {
			supported = supported[:1]
		}
		oneOf(p, at.Child("podReplacementPolicy"), *policy, supported...)
	}
	p.template(at.Child("template"), &s.Template)
	p.jobRestart(at.Child("template", "spec", "restartPolicy"), s)
}

func (p *problems) jobRestart(at *field.Path, s *batchv1.JobSpec) {
	switch policy := s.Template.Spec.RestartPolicy; {
	case policy == corev1.RestartPolicyAlways || policy == "":
		p.required(at, `valid values: "OnFailure", "Never"`)
	case policy != corev1.RestartPolicyOnFailure && policy != corev1.RestartPolicyNever:
		oneOf(p, at, policy, corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever)
	case s.PodFailurePolicy != nil && policy != corev1.RestartPolicyNever:
		p.invalid(at, policy, `only "Never" is supported when podFailurePolicy is specified`)
	}
}

func (p *problems) completionMode(at *field.Path, s *batchv1.JobSpec) {
	const most = 100000
	mode := or(s.CompletionMode, batchv1.NonIndexedCompletion)
	oneOf(p, at.Child("completionMode"), mode, batchv1.NonIndexedCompletion, batchv1.IndexedCompletion)
	switch mode {
	case batchv1.IndexedCompletion:
		if s.Completions == nil {
			p.required(at.Child("completions"), "when completion mode is Indexed")
		}
		if s.Parallelism != nil && *s.Parallelism > most {
			p.invalid(at.Child("parallelism"), *s.Parallelism, fmt.Sprintf("must be less than or equal to %d when completion mode is %s", most, mode))
		}
		if s.Completions != nil && s.MaxFailedIndexes != nil && *s.MaxFailedIndexes > *s.Completions {
			p.invalid(at.Child("maxFailedIndexes"), *s.MaxFailedIndexes, "must be less than or equal to completions")
		}
		if s.MaxFailedIndexes != nil && *s.MaxFailedIndexes > most {
			p.invalid(at.Child("maxFailedIndexes"), *s.MaxFailedIndexes, fmt.Sprintf("must be less than or equal to %d", most))
		}
	case batchv1.NonIndexedCompletion:
		const indexed = "requires indexed completion mode"
		if s.BackoffLimitPerIndex != nil {
			p.invalid(at.Child("backoffLimitPerIndex"), *s.BackoffLimitPerIndex, indexed)
		}
		if s.MaxFailedIndexes != nil {
			p.invalid(at.Child("maxFailedIndexes"), *s.MaxFailedIndexes, indexed)
		}
		if s.SuccessPolicy != nil {
			p.invalid(at.Child("successPolicy"), *s.SuccessPolicy, indexed)
		}
	}
}

func (p *problems) failurePolicy(at *field.Path, s *batchv1.JobSpec) {
	const most = 20
	if n := len(s.PodFailurePolicy.Rules); n > most {
		p.add(field.TooMany(at, n, most))
	}
	for i, rule := range s.PodFailurePolicy.Rules {
		at := at.Index(i)
		actions := []batchv1.PodFailurePolicyAction{batchv1.PodFailurePolicyActionCount, batchv1.PodFailurePolicyActionFailIndex, batchv1.PodFailurePolicyActionFailJob, batchv1.PodFailurePolicyActionIgnore}
		switch {
		case rule.Action == "":
			p.required(at.Child("action"), fmt.Sprintf("valid values: %q", actions))
		case rule.Action == batchv1.PodFailurePolicyActionFailIndex:
			if s.BackoffLimitPerIndex == nil {
				p.invalid(at.Child("action"), rule.Action, "requires the backoffLimitPerIndex to be set")
			}
		default:
			oneOf(p, at.Child("action"), rule.Action, actions...)
		}
		if rule.OnExitCodes != nil {
			p.exitCodes(at.Child("onExitCodes"), rule.OnExitCodes, &s.Template.Spec)
		}
		for j, c := range rule.OnPodConditions {
			at := at.Child("onPodConditions").Index(j)
			p.invalid(at.Child("type"), string(c.Type), qualified(string(c.Type))...)
			oneOf(p, at.Child("status"), c.Status, corev1.ConditionFalse, corev1.ConditionTrue, corev1.ConditionUnknown)
		}
		switch {
		case rule.OnExitCodes != nil && len(rule.OnPodConditions) > 0:
			p.invalid(at, field.OmitValueType{}, "specifying both OnExitCodes and OnPodConditions is not supported")
		case rule.OnExitCodes == nil && len(rule.OnPodConditions) == 0:
			p.invalid(at, field.OmitValueType{}, "specifying one of OnExitCodes and OnPodConditions is required")
		}
	}
}

func (p *problems) exitCodes(at *field.Path, on *batchv1.PodFailurePolicyOnExitCodesRequirement, spec *corev1.PodSpec) {
	operators := []batchv1.PodFailurePolicyOnExitCodesOperator{batchv1.PodFailurePolicyOnExitCodesOpIn, batchv1.PodFailurePolicyOnExitCodesOpNotIn}
	if on.Operator == "" {
		p.required(at.Child("operator"), fmt.Sprintf("valid values: %q", operators))
	} else {
		oneOf(p, at.Child("operator"), on.Operator, operators...)
	}
	if on.ContainerName != nil && !slices.ContainsFunc(slices.Concat(spec.Containers, spec.InitContainers), func(c corev1.Container) bool { return c.Name == *on.ContainerName }) {
		p.invalid(at.Child("containerName"), *on.ContainerName, "must be one of the container or initContainer names in the pod template")
	}
	values := at.Child("values")
	switch n := len(on.Values); {
	case n == 0:
		p.invalid(values, on.Values, "at least one value is required")
	case n > 255:
		p.add(field.TooMany(values, n, 255))
	}
	seen := map[int32]bool{}
	for i, v := range on.Values {
		if on.Operator == batchv1.PodFailurePolicyOnExitCodesOpIn && v == 0 {
			p.invalid(values.Index(i), v, "must not be 0 for the In operator")
		}
		if seen[v] {
			p.duplicate(values.Index(i), v)
		}
		seen[v] = true
	}
	if !slices.IsSorted(on.Values) {
		p.invalid(values, on.Values, "must be ordered")
	}
}

// jobUpdate validates what cannot change of a job.
func (p *problems) jobUpdate(s, old *batchv1.JobSpec) {
	if !equality.Semantic.DeepEqual(s.Completions, old.Completions) {
		indexed := or(s.CompletionMode, batchv1.NonIndexedCompletion) == batchv1.IndexedCompletion
		equal := equality.Semantic.DeepEqual(s.Completions, s.Parallelism)
		switch {
		case !indexed:
			p.unchanged(specPath.Child("completions"), s.Completions, old.Completions)
		case !equal && s.Completions != nil:
			p.invalid(specPath.Child("completions"), s.Completions, fmt.Sprintf("can only be modified in tandem with %s", specPath.Root().Child("parallelism")))
		}
	}
	p.unchanged(specPath.Child("selector"), s.Selector, old.Selector)
	p.jobTemplateUpdate(s, old)
	p.unchanged(specPath.Child("completionMode"), s.CompletionMode, old.CompletionMode)
	p.unchanged(specPath.Child("podFailurePolicy"), s.PodFailurePolicy, old.PodFailurePolicy)
	p.unchanged(specPath.Child("backoffLimitPerIndex"), s.BackoffLimitPerIndex, old.BackoffLimitPerIndex)
	p.unchanged(specPath.Child("managedBy"), s.ManagedBy, old.ManagedBy)
	p.unchanged(specPath.Child("successPolicy"), s.SuccessPolicy, old.SuccessPolicy)
}

// jobTemplateUpdate validates the template, of which some may change while the job has not begun.
func (p *problems) jobTemplateUpdate(s, old *batchv1.JobSpec) {
	was := old.Template.DeepCopy()
	if or(old.Suspend, false) {
		now := s.Template.DeepCopy()
		was.Labels, was.Annotations = now.Labels, now.Annotations
		was.Spec.NodeSelector, was.Spec.Tolerations, was.Spec.SchedulingGates = now.Spec.NodeSelector, now.Spec.Tolerations, now.Spec.SchedulingGates
		keepOtherAffinity(&was.Spec, now.Spec.Affinity)
		for i := range was.Spec.Containers {
			if i < len(now.Spec.Containers) {
				was.Spec.Containers[i].Resources = now.Spec.Containers[i].Resources
			}
		}
	}
	p.unchanged(specPath.Child("template"), &s.Template, was)
}

// keepOtherAffinity gives a spec the affinity to nodes of another one.
func keepOtherAffinity(spec *corev1.PodSpec, now *corev1.Affinity) {
	if now == nil && spec.Affinity == nil {
		return
	}
	if spec.Affinity == nil {
		spec.Affinity = &corev1.Affinity{}
	}
	spec.Affinity.NodeAffinity = nil
	if now != nil {
		spec.Affinity.NodeAffinity = now.NodeAffinity
	}
	if now == nil && *spec.Affinity == (corev1.Affinity{}) {
		spec.Affinity = nil
	}
}

func checkCronJob(p *problems, obj, old *batchv1.CronJob) {
	s := &obj.Spec
	p.schedule(s, old)
	notNegativePointer(p, specPath.Child("startingDeadlineSeconds"), s.StartingDeadlineSeconds)
	if s.TimeZone != nil && (old == nil || old.Spec.TimeZone == nil || *old.Spec.TimeZone != *s.TimeZone) {
		p.timeZone(specPath.Child("timeZone"), *s.TimeZone)
	}
	requiredOneOf(p, specPath.Child("concurrencyPolicy"), s.ConcurrencyPolicy, batchv1.AllowConcurrent, batchv1.ForbidConcurrent, batchv1.ReplaceConcurrent)
	template := specPath.Child("jobTemplate", "spec")
	p.jobSpec(template, &s.JobTemplate.Spec)
	if s.JobTemplate.Spec.Selector != nil {
		p.invalid(template.Child("selector"), s.JobTemplate.Spec.Selector, "`selector` will be auto-generated")
	}
	if or(s.JobTemplate.Spec.ManualSelector, false) {
		p.add(field.NotSupported(template.Child("manualSelector"), true, []string{"nil", "false"}))
	}
	notNegativePointer(p, specPath.Child("successfulJobsHistoryLimit"), s.SuccessfulJobsHistoryLimit)
	notNegativePointer(p, specPath.Child("failedJobsHistoryLimit"), s.FailedJobsHistoryLimit)
	if old == nil && len(obj.Name) > 52 {
		p.invalid(metadataPath.Child("name"), obj.Name, "must be no more than 52 characters")
	}
}

func (p *problems) schedule(s *batchv1.CronJobSpec, old *batchv1.CronJob) {
	at := specPath.Child("schedule")
	if s.Schedule == "" {
		p.declare(field.Required(at, ""))
		return
	}
	if err := parseCron(s.Schedule); err != nil {
		p.invalid(at, s.Schedule, err.Error())
	}
	zoned := strings.Contains(s.Schedule, "TZ")
	allowed := old != nil && strings.Contains(old.Spec.Schedule, "TZ")
	switch {
	case zoned && allowed && s.TimeZone != nil:
		p.invalid(at, s.Schedule, "cannot use both timeZone field and TZ or CRON_TZ in schedule")
	case zoned && !allowed:
		p.invalid(at, s.Schedule, "cannot use TZ or CRON_TZ in schedule, use timeZone field instead")
	}
}

var zonePart = regexp.MustCompile(`^[A-Za-z\.\-_0-9+]{1,14}$`)

func (p *problems) timeZone(at *field.Path, zone string) {
	if zone == "" {
		p.invalid(at, zone, "timeZone must be nil or non-empty string")
		return
	}
	for part := range strings.SplitSeq(zone, "/") {
		if part == "." || part == ".." || strings.HasPrefix(part, "-") || !zonePart.MatchString(part) {
			p.invalid(at, zone, "unknown time zone "+zone)
			return
		}
	}
	if strings.EqualFold(zone, "Local") {
		p.invalid(at, zone, "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones")
	}
	if _, err := time.LoadLocation(zone); err != nil {
		p.invalid(at, zone, err.Error())
	}
}
