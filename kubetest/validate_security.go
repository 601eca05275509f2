package kubetest

import (
	"fmt"
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// security validates the security context of a container.
func (r *podRules) security(at *field.Path, sc *corev1.SecurityContext) {
	if sc == nil {
		return
	}
	r.userID(at.Child("runAsUser"), sc.RunAsUser)
	r.groupID(at.Child("runAsGroup"), sc.RunAsGroup)
	if m := sc.ProcMount; m != nil {
		oneOf(r.problems, at.Child("procMount"), *m, corev1.DefaultProcMount, corev1.UnmaskedProcMount)
		if r.hostUsers && *m == corev1.UnmaskedProcMount {
			r.invalid(at.Child("procMount"), *m, "`hostUsers` must be false to use `Unmasked`")
		}
	}
	r.seccomp(at.Child("seccompProfile"), sc.SeccompProfile)
	if sc.AllowPrivilegeEscalation != nil && !*sc.AllowPrivilegeEscalation {
		if sc.Privileged != nil && *sc.Privileged {
			r.invalid(at, sc, "cannot set `allowPrivilegeEscalation` to false and `privileged` to true")
		}
		if sc.Capabilities != nil {
			for _, c := range sc.Capabilities.Add {
				if c == "CAP_SYS_ADMIN" {
					r.invalid(at, sc, "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN")
				}
			}
		}
	}
	if sc.WindowsOptions != nil {
		r.skip(at.Child("windowsOptions"))
	}
	r.appArmor(at.Child("appArmorProfile"), sc.AppArmorProfile)
}

func (p *problems) userID(at *field.Path, id *int64) {
	if id != nil {
		p.invalid(at, *id, utilvalidation.IsValidUserID(*id)...)
	}
}

func (p *problems) groupID(at *field.Path, id *int64) {
	if id != nil {
		p.invalid(at, *id, utilvalidation.IsValidGroupID(*id)...)
	}
}

func (r *podRules) seccomp(at *field.Path, s *corev1.SeccompProfile) {
	if s == nil {
		return
	}
	if s.Type == "" {
		r.required(at.Child("type"), "type is required when seccompProfile is set")
	} else {
		oneOf(r.problems, at.Child("type"), s.Type, corev1.SeccompProfileTypeLocalhost, corev1.SeccompProfileTypeRuntimeDefault, corev1.SeccompProfileTypeUnconfined)
	}
	switch {
	case s.Type == corev1.SeccompProfileTypeLocalhost && s.LocalhostProfile == nil:
		r.required(at.Child("localhostProfile"), "must be set when seccomp type is Localhost")
	case s.Type == corev1.SeccompProfileTypeLocalhost:
		r.descending(at.Child("localhostProfile"), *s.LocalhostProfile)
	case s.LocalhostProfile != nil:
		r.invalid(at.Child("localhostProfile"), s, "can only be set when seccomp type is Localhost")
	}
}

func (r *podRules) appArmor(at *field.Path, a *corev1.AppArmorProfile) {
	const required = "must be set when AppArmor type is Localhost"
	switch {
	case a == nil:
	case a.Type == "":
		r.required(at.Child("type"), "type is required when appArmorProfile is set")
	case a.Type == corev1.AppArmorProfileTypeLocalhost && a.LocalhostProfile == nil:
		r.required(at.Child("localhostProfile"), required)
	case a.Type == corev1.AppArmorProfileTypeLocalhost:
		r.appArmorFile(at.Child("localhostProfile"), *a.LocalhostProfile, required)
	case a.Type == corev1.AppArmorProfileTypeRuntimeDefault || a.Type == corev1.AppArmorProfileTypeUnconfined:
		if a.LocalhostProfile != nil {
			r.invalid(at.Child("localhostProfile"), a.LocalhostProfile, "can only be set when AppArmor type is Localhost")
		}
	default:
		oneOf(r.problems, at.Child("type"), a.Type, corev1.AppArmorProfileTypeLocalhost, corev1.AppArmorProfileTypeRuntimeDefault, corev1.AppArmorProfileTypeUnconfined)
	}
}

func (r *podRules) appArmorFile(at *field.Path, file, required string) {
	const longest = 4095
	switch trimmed := strings.TrimSpace(file); {
	case trimmed != file:
		r.invalid(at, file, "must not be padded with whitespace")
	case trimmed == "":
		r.required(at, required)
	}
	if len(file) > longest {
		r.add(field.TooLong(at, "", longest))
	}
}

// podSecurity validates the security context of a pod.
func (r *podRules) podSecurity(at *field.Path) {
	sc := r.spec.SecurityContext
	if sc == nil {
		return
	}
	r.groupID(at.Child("fsGroup"), sc.FSGroup)
	r.userID(at.Child("runAsUser"), sc.RunAsUser)
	r.groupID(at.Child("runAsGroup"), sc.RunAsGroup)
	for i, id := range sc.SupplementalGroups {
		r.groupID(at.Child("supplementalGroups").Index(i), &id)
	}
	r.sysctls(at.Child("sysctls"), sc.Sysctls)
	if policy := sc.FSGroupChangePolicy; policy != nil {
		oneOf(r.problems, at.Child("fsGroupChangePolicy"), *policy, corev1.FSGroupChangeAlways, corev1.FSGroupChangeOnRootMismatch)
	}
	r.seccomp(at.Child("seccompProfile"), sc.SeccompProfile)
	if sc.WindowsOptions != nil {
		r.skip(at.Child("windowsOptions"))
	}
	r.appArmor(at.Child("appArmorProfile"), sc.AppArmorProfile)
	if policy := sc.SupplementalGroupsPolicy; policy != nil {
		oneOf(r.problems, at.Child("supplementalGroupsPolicy"), *policy, corev1.SupplementalGroupsPolicyMerge, corev1.SupplementalGroupsPolicyStrict)
	}
	if policy := sc.SELinuxChangePolicy; policy != nil {
		oneOf(r.problems, at.Child("seLinuxChangePolicy"), *policy, corev1.SELinuxChangePolicyMountOption, corev1.SELinuxChangePolicyRecursive)
	}
}

const (
	sysctlSegment = "[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
	sysctlFormat  = "^(" + sysctlSegment + "[\\./])*" + sysctlSegment + "$"
	sysctlLongest = 253
)

var sysctlName = regexp.MustCompile(sysctlFormat)

func (r *podRules) sysctls(at *field.Path, sysctls []corev1.Sysctl) {
	seen := map[string]bool{}
	for i, s := range sysctls {
		at := at.Index(i).Child("name")
		switch {
		case s.Name == "":
			r.required(at, "")
		case len(s.Name) > sysctlLongest || !sysctlName.MatchString(s.Name):
			r.invalid(at, s.Name, fmt.Sprintf("must have at most %d characters and match regex %s", sysctlLongest, sysctlFormat))
		case seen[s.Name]:
			r.duplicate(at, s.Name)
		}
		name := strings.ReplaceAll(s.Name, "/", ".")
		ipc := strings.HasPrefix(name, "kernel.shm") || strings.HasPrefix(name, "kernel.msg") || name == "kernel.sem" || strings.HasPrefix(name, "fs.mqueue.")
		switch {
		case r.spec.HostNetwork && strings.HasPrefix(name, "net."):
			r.invalid(at, s.Name, "may not be specified when 'hostNetwork' is true")
		case r.spec.HostIPC && ipc:
			r.invalid(at, s.Name, "may not be specified when 'hostIPC' is true")
		}
		seen[s.Name] = true
	}
}
