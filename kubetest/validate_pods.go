package kubetest

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	unversioned "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var (
	specPath     = field.NewPath("spec")
	statusPath   = field.NewPath("status")
	metadataPath = field.NewPath("metadata")
)

// checkPod validates a pod; old is nil of a new one.
func checkPod(p *problems, pod, old *corev1.Pod) {
	p.podAnnotations(metadataPath.Child("annotations"), pod.Annotations, &pod.Spec)
	r := &podRules{problems: p, spec: &pod.Spec, isPod: true, name: pod.Name}
	r.check(specPath)
	r.onlyPod(specPath)
	if old != nil {
		p.podUpdate(pod, old)
		return
	}
	if len(pod.Spec.EphemeralContainers) > 0 {
		p.forbidden(specPath.Child("ephemeralContainers"), "cannot be set on create")
	}
	if pod.Spec.NodeName != "" && len(pod.Spec.SchedulingGates) > 0 {
		p.forbidden(specPath.Child("nodeName"), "cannot be set until all schedulingGates have been cleared")
	}
}

// template validates the template of pods of a workload.
func (p *problems) template(at *field.Path, t *corev1.PodTemplateSpec) {
	p.templateLabels(at, t)
	r := &podRules{problems: p, spec: &t.Spec}
	r.check(at.Child("spec"))
	if len(t.Spec.EphemeralContainers) > 0 {
		p.forbidden(at.Child("spec", "ephemeralContainers"), "ephemeral containers not allowed in pod template")
	}
}

func (p *problems) templateLabels(at *field.Path, t *corev1.PodTemplateSpec) {
	p.add(unversioned.ValidateLabels(t.Labels, at.Child("labels"))...)
	p.add(validation.ValidateAnnotations(t.Annotations, at.Child("annotations"))...)
	p.podAnnotations(at.Child("annotations"), t.Annotations, &t.Spec)
}

// podAnnotations validates the annotations of pods that mean something.
func (p *problems) podAnnotations(at *field.Path, annotations map[string]string, spec *corev1.PodSpec) {
	if value, ok := annotations[corev1.MirrorPodAnnotationKey]; ok && spec.NodeName == "" {
		p.invalid(at.Key(corev1.MirrorPodAnnotationKey), value, "must set spec.nodeName if mirror pod annotation is set")
	}
	const cost = "controller.kubernetes.io/pod-deletion-cost"
	if value, ok := annotations[cost]; ok {
		_, err := strconv.ParseInt(value, 10, 32)
		if err != nil || value[0] == '+' || value[0] == '0' && value != "0" {
			p.invalid(at.Key(cost), value, "must be a 32bit integer")
		}
	}
}

// check validates a pod spec.
func (r *podRules) check(at *field.Path) {
	s := r.spec
	r.hostUsers = s.HostUsers == nil || *s.HostUsers
	if s.TerminationGracePeriodSeconds == nil {
		r.required(at.Child("terminationGracePeriodSeconds"), "")
	}
	r.podVolumes(at.Child("volumes"))
	for _, c := range s.ResourceClaims {
		r.claims = append(r.claims, c.Name)
	}
	if len(s.ResourceClaims) > 0 {
		r.skip(at.Child("resourceClaims"))
	}
	r.containers(at.Child("containers"))
	r.initContainers(at.Child("initContainers"))
	r.ephemeralContainers(at.Child("ephemeralContainers"))
	r.podResources(at, s, r.claims)
	r.hostNetworkPorts(at.Child("containers"))
	requiredOneOf(r.problems, at.Child("restartPolicy"), s.RestartPolicy, corev1.RestartPolicyAlways, corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever)
	requiredOneOf(r.problems, at.Child("dnsPolicy"), s.DNSPolicy, corev1.DNSClusterFirstWithHostNet, corev1.DNSClusterFirst, corev1.DNSDefault, corev1.DNSNone)
	r.add(unversioned.ValidateLabels(s.NodeSelector, at.Child("nodeSelector"))...)
	r.podSecurity(at.Child("securityContext"))
	if s.ShareProcessNamespace != nil && *s.ShareProcessNamespace && s.HostPID {
		r.invalid(at.Child("shareProcessNamespace"), true, "ShareProcessNamespace and HostPID cannot both be enabled")
	}
	r.affinity(at.Child("affinity"), s.Affinity)
	r.dns(at.Child("dnsConfig"))
	r.gates(at)
	r.spread(at.Child("topologySpreadConstraints"), s.TopologySpreadConstraints)
	r.users(at)
	r.names(at)
	r.rest(at)
}

// hostNetworkPorts validates ports of pods that are in the network of their host.
func (r *podRules) hostNetworkPorts(at *field.Path) {
	if !r.spec.HostNetwork {
		return
	}
	for i, c := range r.spec.Containers {
		for j, port := range c.Ports {
			if (r.isPod || port.HostPort != 0) && port.HostPort != port.ContainerPort {
				r.invalid(at.Index(i).Child("ports").Index(j).Child("hostPort"), port.HostPort, "must match `containerPort` when `hostNetwork` is true")
			}
		}
	}
}

func (r *podRules) dns(at *field.Path) {
	const maxServers, maxSearches, maxChars = 3, 32, 2048
	c := r.spec.DNSConfig
	if r.spec.DNSPolicy == corev1.DNSNone {
		if c == nil {
			r.required(at, "must provide `dnsConfig` when `dnsPolicy` is None")
			return
		}
		if len(c.Nameservers) == 0 {
			r.required(at.Child("nameservers"), "must provide at least one DNS nameserver when `dnsPolicy` is None")
			return
		}
	}
	if c == nil {
		return
	}
	if len(c.Nameservers) > maxServers {
		r.invalid(at.Child("nameservers"), c.Nameservers, fmt.Sprintf("must not have more than %v nameservers", maxServers))
	}
	for i, server := range c.Nameservers {
		r.legacyIP(at.Child("nameservers").Index(i), server, nil)
	}
	if len(c.Searches) > maxSearches {
		r.invalid(at.Child("searches"), c.Searches, fmt.Sprintf("must not have more than %v search paths", maxSearches))
	}
	if len(strings.Join(c.Searches, " ")) > maxChars {
		r.invalid(at.Child("searches"), c.Searches, fmt.Sprintf("must not have more than %v characters (including spaces) in the search list", maxChars))
	}
	for i, search := range c.Searches {
		if search != "." {
			search = strings.TrimSuffix(search, ".")
			r.invalid(at.Child("searches").Index(i), search, utilvalidation.IsDNS1123SubdomainWithUnderscore(search)...)
		}
	}
	for i, option := range c.Options {
		if option.Name == "" {
			r.required(at.Child("options").Index(i), "must not be empty")
		}
	}
}

// legacyIP validates an address in a field that has taken odd ones before; old ones may stay.
func (p *problems) legacyIP(at *field.Path, ip string, old []string) {
	p.add(utilvalidation.IsValidIPForLegacyField(at, ip, true, old)...)
}

func (r *podRules) gates(at *field.Path) {
	for i, gate := range r.spec.ReadinessGates {
		r.invalid(at.Child("readinessGates").Index(i).Child("conditionType"), string(gate.ConditionType), qualified(string(gate.ConditionType))...)
	}
	seen := map[string]bool{}
	for i, gate := range r.spec.SchedulingGates {
		at := at.Child("schedulingGates").Index(i)
		r.invalid(at, gate.Name, qualified(gate.Name)...)
		if seen[gate.Name] {
			r.duplicate(at, gate.Name)
		}
		seen[gate.Name] = true
	}
}

// users validates what a pod with users of its own cannot have.
func (r *podRules) users(at *field.Path) {
	if r.hostUsers {
		return
	}
	const why = "when `hostUsers` is false"
	if r.spec.HostNetwork {
		r.forbidden(at.Child("hostNetwork"), why)
	}
	if r.spec.HostPID {
		r.forbidden(at.Child("HostPID"), why)
	}
	if r.spec.HostIPC {
		r.forbidden(at.Child("HostIPC"), why)
	}
	for _, list := range []struct {
		name       string
		containers []corev1.Container
	}{{"initContainers", r.spec.InitContainers}, {"containers", r.spec.Containers}} {
		for i, c := range list.containers {
			if len(c.VolumeDevices) > 0 {
				r.forbidden(at.Child(list.name).Index(i).Child("volumeDevices"), why)
			}
		}
	}
}

// names validates the names that a pod refers to or wants to have.
func (r *podRules) names(at *field.Path) {
	s := r.spec
	if h := s.HostnameOverride; h != nil {
		at := at.Child("hostnameOverride")
		if s.SetHostnameAsFQDN != nil && *s.SetHostnameAsFQDN {
			r.forbidden(at, "may not be specified when setHostnameAsFQDN is true")
		}
		if s.HostNetwork {
			r.forbidden(at, "may not be specified when hostNetwork is true")
		}
		const longest = 64
		if len(*h) > longest {
			r.add(field.TooLong(at, "", longest))
		}
		r.invalid(at, *h, subdomain(*h)...)
	}
	optional := func(name, value string, check func(string) []string) {
		if value != "" {
			r.invalid(at.Child(name), value, check(value)...)
		}
	}
	optional("serviceAccountName", s.ServiceAccountName, subdomain)
	optional("nodeName", s.NodeName, subdomain)
	if d := s.ActiveDeadlineSeconds; d != nil && (*d < 1 || *d > math.MaxInt32) {
		r.invalid(at.Child("activeDeadlineSeconds"), *d, utilvalidation.InclusiveRangeError(1, math.MaxInt32))
	}
	optional("hostname", s.Hostname, label)
	optional("subdomain", s.Subdomain, label)
}

func (r *podRules) rest(at *field.Path) {
	s := r.spec
	r.tolerations(at.Child("tolerations"), s.Tolerations)
	for i, alias := range s.HostAliases {
		at := at.Child("hostAliases").Index(i)
		r.legacyIP(at.Child("ip"), alias.IP, nil)
		for j, name := range alias.Hostnames {
			r.invalid(at.Child("hostnames").Index(j), name, subdomain(name)...)
		}
	}
	if s.PriorityClassName != "" {
		r.invalid(at.Child("priorityClassName"), s.PriorityClassName, subdomain(s.PriorityClassName)...)
	}
	if s.RuntimeClassName != nil {
		r.invalid(at.Child("runtimeClassName"), *s.RuntimeClassName, subdomain(*s.RuntimeClassName)...)
	}
	if s.PreemptionPolicy != nil {
		requiredOneOf(r.problems, at.Child("preemptionPolicy"), *s.PreemptionPolicy, corev1.PreemptLowerPriority, corev1.PreemptNever)
	}
	if s.Overhead != nil {
		r.requirements(at.Child("overhead"), &corev1.ResourceRequirements{Limits: s.Overhead}, nil, r.containerResource)
	}
	if s.OS != nil {
		if s.OS.Name == "" {
			r.required(at.Child("os", "name"), "")
		} else {
			oneOf(r.problems, at.Child("os"), s.OS.Name, corev1.Linux, corev1.Windows)
		}
		if s.OS.Name == corev1.Windows {
			r.skip(at.Child("os"))
		}
	}
}

// onlyPod validates what only a pod, and not a template of one, has to be.
func (r *podRules) onlyPod(at *field.Path) {
	s := r.spec
	for i, v := range s.Volumes {
		if s.ServiceAccountName != "" || v.Projected == nil {
			continue
		}
		for j, source := range v.Projected.Sources {
			if source.ServiceAccountToken != nil {
				r.forbidden(at.Child("volumes").Index(i).Child("projected", "sources").Index(j).Child("serviceAccountToken"), "must not be specified when serviceAccountName is not set")
			}
		}
	}
	if t := s.TerminationGracePeriodSeconds; t != nil {
		r.notNegative(at.Child("terminationGracePeriodSeconds"), *t)
	}
	for i, c := range s.Containers {
		r.image(at.Child("containers").Index(i), c.Image)
	}
	for i, c := range s.InitContainers {
		r.image(at.Child("initContainers").Index(i), c.Image)
	}
}

// podUpdate validates a change of a pod, of which hardly anything can change.
func (p *problems) podUpdate(pod, old *corev1.Pod) {
	for _, list := range []struct {
		name     string
		now, was []corev1.Container
	}{{"containers", pod.Spec.Containers, old.Spec.Containers}, {"initContainers", pod.Spec.InitContainers, old.Spec.InitContainers}} {
		at := specPath.Child(list.name)
		if len(list.now) != len(list.was) {
			p.forbidden(at, "pod updates may not add or remove containers")
			return
		}
	}
	if !p.deadlineUpdate(specPath.Child("activeDeadlineSeconds"), pod.Spec.ActiveDeadlineSeconds, old.Spec.ActiveDeadlineSeconds) {
		return
	}
	p.tolerationsUpdate(specPath.Child("tolerations"), pod.Spec.Tolerations, old.Spec.Tolerations)
	for i, gate := range pod.Spec.SchedulingGates {
		if !slices.Contains(old.Spec.SchedulingGates, gate) && !slices.Contains(pod.Spec.SchedulingGates[i+1:], gate) {
			p.forbidden(specPath.Child("schedulingGates").Index(i).Child("name"), fmt.Sprintf("only deletion is allowed, but found new scheduling gate '%s'", gate.Name))
		}
	}
	changed := pod.Spec.DeepCopy()
	for i := range changed.Containers {
		changed.Containers[i].Image = old.Spec.Containers[i].Image
	}
	for i := range changed.InitContainers {
		changed.InitContainers[i].Image = old.Spec.InitContainers[i].Image
	}
	changed.ActiveDeadlineSeconds = old.Spec.ActiveDeadlineSeconds
	changed.SchedulingGates = old.Spec.SchedulingGates
	changed.Tolerations = old.Spec.Tolerations
	if t, was := changed.TerminationGracePeriodSeconds, old.Spec.TerminationGracePeriodSeconds; was != nil && *was < 0 && t != nil && *t == 1 {
		changed.TerminationGracePeriodSeconds = was
	}
	if len(old.Spec.SchedulingGates) > 0 {
		p.gatedUpdate(changed, &old.Spec)
	}
	if !equality.Semantic.DeepEqual(*changed, old.Spec) {
		p.forbidden(specPath, fmt.Sprintf("pod updates may not change fields other than %s\n%v", podMayChange, specDiff(old.Spec, *changed)))
	}
}

const podMayChange = "`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"

// deadlineUpdate reports whether there is more to validate.
func (p *problems) deadlineUpdate(at *field.Path, now, was *int64) bool {
	switch {
	case now == nil && was == nil:
	case now == nil:
		p.invalid(at, now, "must not update from a positive integer to nil value")
	case *now < 0 || *now > math.MaxInt32:
		p.invalid(at, *now, utilvalidation.InclusiveRangeError(0, math.MaxInt32))
		return false
	case was != nil && *was < *now:
		p.invalid(at, *now, "must be less than or equal to previous value")
		return false
	}
	return true
}

func (p *problems) tolerationsUpdate(at *field.Path, now, was []corev1.Toleration) {
	for _, old := range was {
		if !slices.ContainsFunc(now, func(t corev1.Toleration) bool {
			t.TolerationSeconds = old.TolerationSeconds
			return reflect.DeepEqual(t, old)
		}) {
			p.forbidden(at, "existing toleration can not be modified except its tolerationSeconds")
			return
		}
	}
	p.tolerations(at, now)
}

// gatedUpdate takes what may change of a pod that waits for its gates from the old spec, after it has
// been validated.
func (p *problems) gatedUpdate(changed, old *corev1.PodSpec) {
	for key, value := range old.NodeSelector {
		if v, ok := changed.NodeSelector[key]; !ok || v != value {
			p.invalid(specPath.Child("nodeSelector"), changed.NodeSelector, "only additions to spec.nodeSelector are allowed (no mutations or deletions)")
			break
		}
	}
	changed.NodeSelector = old.NodeSelector
	if changed.Affinity != nil || old.Affinity != nil {
		p.skip(specPath.Child("affinity"))
	}
}

// matches compares a selector with the labels of a template.
func (p *problems) matches(at *field.Path, selector *metav1.LabelSelector, t *corev1.PodTemplateSpec) {
	s, err := metav1.LabelSelectorAsSelector(selector)
	if err == nil && !s.Empty() && !s.Matches(labels.Set(t.Labels)) {
		p.invalid(at.Child("metadata", "labels"), t.Labels, "`selector` does not match template `labels`")
	}
}

// validateResize validates a change of the resources of a running pod.
func validateResize(_ *request, obj, old runtime.Object) field.ErrorList {
	pod, was := obj.(*corev1.Pod), old.(*corev1.Pod)
	p := &problems{}
	if qosClass(&pod.Spec) != qosClass(&was.Spec) {
		p.invalid(specPath, qosClass(&was.Spec), "Pod QOS Class may not change as a result of resizing")
	}
	r := &podRules{problems: p, spec: &pod.Spec, isPod: true, name: pod.Name}
	r.check(specPath)
	return withoutDuplicates(p.list)
}
