package kubetest

import (
	"reflect"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// partDefaults fill in the defaults of types that are parts of objects.
var partDefaults = func() map[reflect.Type]func(any) {
	all := map[reflect.Type]func(any){}
	add := func(t reflect.Type, set func(any)) { all[t] = set }
	add(part(defaultPodSpec))
	add(part(func(c *corev1.Container) {
		defaultContainer(c.Image, &c.ImagePullPolicy, &c.TerminationMessagePath, &c.TerminationMessagePolicy)
	}))
	add(part(func(c *corev1.EphemeralContainer) {
		defaultContainer(c.Image, &c.ImagePullPolicy, &c.TerminationMessagePath, &c.TerminationMessagePolicy)
	}))
	add(part(func(p *corev1.ContainerPort) { setDefault(&p.Protocol, corev1.ProtocolTCP) }))
	add(part(func(p *corev1.EndpointPort) { setDefault(&p.Protocol, corev1.ProtocolTCP) })) //nolint:staticcheck // deprecated, and served
	add(part(func(p *corev1.Probe) {
		setDefault(&p.TimeoutSeconds, 1)
		setDefault(&p.PeriodSeconds, 10)
		setDefault(&p.SuccessThreshold, 1)
		setDefault(&p.FailureThreshold, 3)
	}))
	add(part(func(a *corev1.HTTPGetAction) {
		setDefault(&a.Path, "/")
		setDefault(&a.Scheme, corev1.URISchemeHTTP)
	}))
	add(part(func(g *corev1.GRPCAction) { setPointer(&g.Service, "") }))
	add(part(func(s *corev1.ObjectFieldSelector) { setDefault(&s.APIVersion, "v1") }))
	add(part(defaultVolume))
	add(part(func(s *corev1.SecretVolumeSource) { setPointer(&s.DefaultMode, corev1.SecretVolumeSourceDefaultMode) }))
	add(part(func(s *corev1.ConfigMapVolumeSource) {
		setPointer(&s.DefaultMode, corev1.ConfigMapVolumeSourceDefaultMode)
	}))
	add(part(func(s *corev1.DownwardAPIVolumeSource) {
		setPointer(&s.DefaultMode, corev1.DownwardAPIVolumeSourceDefaultMode)
	}))
	add(part(func(s *corev1.ProjectedVolumeSource) {
		setPointer(&s.DefaultMode, corev1.ProjectedVolumeSourceDefaultMode)
	}))
	add(part(func(s *corev1.ServiceAccountTokenProjection) { setPointer(&s.ExpirationSeconds, 60*60) }))
	add(part(func(s *corev1.HostPathVolumeSource) { setPointer(&s.Type, corev1.HostPathUnset) }))
	add(part(func(s *corev1.PersistentVolumeClaimSpec) {
		setPointer(&s.VolumeMode, corev1.PersistentVolumeFilesystem)
	}))
	add(part(func(p *corev1.ServicePort) {
		setDefault(&p.Protocol, corev1.ProtocolTCP)
		if p.TargetPort == intstr.FromInt32(0) || p.TargetPort == intstr.FromString("") {
			p.TargetPort = intstr.FromInt32(p.Port)
		}
	}))
	add(part(func(p *networkingv1.NetworkPolicyPort) { setPointer(&p.Protocol, corev1.ProtocolTCP) }))
	add(part(func(p *batchv1.PodFailurePolicyOnPodConditionsPattern) { setDefault(&p.Status, corev1.ConditionTrue) }))
	add(part(func(r *admissionv1.Rule) { setPointer(&r.Scope, admissionv1.AllScopes) }))
	add(part(func(s *admissionv1.ServiceReference) { setPointer(&s.Port, 443) }))
	add(part(func(s *rbacv1.Subject) {
		if s.Kind == rbacv1.UserKind || s.Kind == rbacv1.GroupKind {
			setDefault(&s.APIGroup, rbacv1.GroupName)
		}
	}))
	return all
}()

func defaultPodSpec(s *corev1.PodSpec) {
	setDefault(&s.ServiceAccountName, s.DeprecatedServiceAccount)
	s.DeprecatedServiceAccount = s.ServiceAccountName
	setDefault(&s.DNSPolicy, corev1.DNSClusterFirst)
	setDefault(&s.RestartPolicy, corev1.RestartPolicyAlways)
	setPointer(&s.SecurityContext, corev1.PodSecurityContext{})
	setPointer(&s.TerminationGracePeriodSeconds, corev1.DefaultTerminationGracePeriodSeconds)
	setDefault(&s.SchedulerName, corev1.DefaultSchedulerName)
}

func defaultContainer(image string, pull *corev1.PullPolicy, path *string, policy *corev1.TerminationMessagePolicy) {
	setDefault(pull, pullPolicy(image))
	setDefault(path, corev1.TerminationMessagePathDefault)
	setDefault(policy, corev1.TerminationMessageReadFile)
}

// pullPolicy is Always for images whose tag is latest, and IfNotPresent for all others.
func pullPolicy(image string) corev1.PullPolicy {
	name, digest := image, false
	if i := strings.LastIndexByte(name, '@'); i >= 0 {
		name, digest = name[:i], true
	}
	_, tag, tagged := strings.Cut(name[strings.LastIndexByte(name, '/')+1:], ":")
	if image != "" && (tag == "latest" || !tagged && !digest) {
		return corev1.PullAlways
	}
	return corev1.PullIfNotPresent
}

func defaultVolume(v *corev1.Volume) {
	if v.VolumeSource == (corev1.VolumeSource{}) {
		v.EmptyDir = &corev1.EmptyDirVolumeSource{}
	}
	if v.Image != nil {
		setDefault(&v.Image.PullPolicy, pullPolicy(v.Image.Reference))
	}
}
