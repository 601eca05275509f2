package kubetest

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/sets"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// podRules validates a pod spec.
type podRules struct {
	*problems
	spec      *corev1.PodSpec
	isPod     bool                     // and not a template of one
	name      string                   // of the pod, if it is one
	volumes   map[string]corev1.Volume // those that are good
	claims    []string                 // names of resource claims
	hostUsers bool
}

// containers validates the ordinary containers of a pod.
func (r *podRules) containers(at *field.Path) {
	if len(r.spec.Containers) == 0 {
		r.required(at, "")
		return
	}
	names := sets.Set[string]{}
	for i := range r.spec.Containers {
		c, at := &r.spec.Containers[i], at.Index(i)
		r.container(at, c)
		if names.Has(c.Name) {
			r.duplicate(at.Child("name"), c.Name)
		}
		names.Insert(c.Name)
		r.running(at, c)
		r.restartRules(at, c.RestartPolicy, c.RestartPolicyRules)
	}
	r.hostPorts(at, r.spec.Containers)
}

// initContainers validates the containers that run before.
func (r *podRules) initContainers(at *field.Path) {
	names := sets.Set[string]{}
	for _, c := range r.spec.Containers {
		names.Insert(c.Name)
	}
	for i := range r.spec.InitContainers {
		c, at0 := &r.spec.InitContainers[i], at
		at := at.Index(i)
		r.container(at, c)
		r.restartRules(at, c.RestartPolicy, c.RestartPolicyRules)
		if names.Has(c.Name) {
			r.duplicate(at.Child("name"), c.Name)
		} else if c.Name != "" {
			names.Insert(c.Name)
		}
		r.hostPorts(at0, r.spec.InitContainers[i:i+1])
		if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			r.running(at, c)
			continue
		}
		const always = "may not be set for init containers without restartPolicy=Always"
		for _, f := range []struct {
			name string
			set  bool
		}{{"lifecycle", c.Lifecycle != nil}, {"livenessProbe", c.LivenessProbe != nil}, {"readinessProbe", c.ReadinessProbe != nil}, {"startupProbe", c.StartupProbe != nil}} {
			if f.set {
				r.forbidden(at.Child(f.name), always)
			}
		}
		for j, policy := range c.ResizePolicy {
			if policy.RestartPolicy == corev1.RestartContainer {
				r.invalid(at.Child("resizePolicy").Index(j).Child("restartPolicy"), policy.RestartPolicy, "must not be set to 'RestartContainer' for non-sidecar initContainers")
			}
		}
	}
}

// ephemeralContainers validates those that were added to a running pod.
func (r *podRules) ephemeralContainers(at *field.Path) {
	others, all := sets.Set[string]{}, sets.Set[string]{}
	for _, c := range slices.Concat(r.spec.Containers, r.spec.InitContainers) {
		others.Insert(c.Name)
		all.Insert(c.Name)
	}
	for i := range r.spec.EphemeralContainers {
		e, at := &r.spec.EphemeralContainers[i], at.Index(i)
		c := corev1.Container(e.EphemeralContainerCommon)
		r.container(at, &c)
		r.image(at, c.Image)
		if all.Has(e.Name) {
			r.duplicate(at.Child("name"), e.Name)
		}
		all.Insert(e.Name)
		if e.TargetContainerName != "" && !others.Has(e.TargetContainerName) {
			r.add(field.NotFound(at.Child("targetContainerName"), e.TargetContainerName))
		}
		r.onlyEphemeral(at, e)
	}
}

// ephemeralFields are the fields that an ephemeral container may have.
var ephemeralFields = sets.New("Name", "Image", "Command", "Args", "WorkingDir", "EnvFrom", "Env", "VolumeMounts", "VolumeDevices",
	"TerminationMessagePath", "TerminationMessagePolicy", "ImagePullPolicy", "SecurityContext", "Stdin", "StdinOnce", "TTY")

func (r *podRules) onlyEphemeral(at *field.Path, e *corev1.EphemeralContainer) {
	const never = "cannot be set for an Ephemeral Container"
	r.onlyFields(at, e.EphemeralContainerCommon, ephemeralFields, never)
	for j, m := range e.VolumeMounts {
		at := at.Child("volumeMounts").Index(j)
		if m.SubPath != "" {
			r.forbidden(at.Child("subPath"), never)
		}
		if m.SubPathExpr != "" {
			r.forbidden(at.Child("subPathExpr"), never)
		}
	}
}

// onlyFields adds that fields of a struct are set that may not be.
func (p *problems) onlyFields(at *field.Path, of any, allowed sets.Set[string], detail string) {
	v := reflect.ValueOf(of)
	for i := range v.NumField() {
		if name := v.Type().Field(i).Name; !allowed.Has(name) && !v.Field(i).IsZero() {
			p.forbidden(at.Child(lowerFirst(name)), detail)
		}
	}
}

// image validates what only the image of a pod, and not that of a template, has to be.
func (r *podRules) image(at *field.Path, image string) {
	if image != strings.TrimSpace(image) {
		r.invalid(at.Child("image"), image, "must not have leading or trailing whitespace")
	}
}

// container validates what all containers have in common.
func (r *podRules) container(at *field.Path, c *corev1.Container) {
	r.problems.name(at.Child("name"), c.Name, label)
	if c.Image == "" {
		r.required(at.Child("image"), "")
	}
	requiredOneOf(r.problems, at.Child("terminationMessagePolicy"), c.TerminationMessagePolicy, corev1.TerminationMessageReadFile, corev1.TerminationMessageFallbackToLogsOnError)
	r.ports(at.Child("ports"), c.Ports)
	r.env(at.Child("env"), c.Env)
	r.envFrom(at.Child("envFrom"), c.EnvFrom)
	r.mounts(at.Child("volumeMounts"), c)
	r.devices(at.Child("volumeDevices"), c)
	requiredOneOf(r.problems, at.Child("imagePullPolicy"), c.ImagePullPolicy, corev1.PullAlways, corev1.PullIfNotPresent, corev1.PullNever)
	r.requirements(at.Child("resources"), &c.Resources, r.claims, r.containerResource)
	r.resizePolicy(at.Child("resizePolicy"), c.ResizePolicy)
	r.security(at.Child("securityContext"), c.SecurityContext)
}

var protocols = []corev1.Protocol{corev1.ProtocolSCTP, corev1.ProtocolTCP, corev1.ProtocolUDP}

func (r *podRules) ports(at *field.Path, ports []corev1.ContainerPort) {
	names := sets.Set[string]{}
	for i, port := range ports {
		at := at.Index(i)
		if port.Name != "" {
			if msgs := utilvalidation.IsValidPortName(port.Name); len(msgs) > 0 {
				r.invalid(at.Child("name"), port.Name, msgs...)
			} else if names.Has(port.Name) {
				r.duplicate(at.Child("name"), port.Name)
			} else {
				names.Insert(port.Name)
			}
		}
		if port.ContainerPort == 0 {
			r.required(at.Child("containerPort"), "")
		} else {
			r.invalid(at.Child("containerPort"), port.ContainerPort, utilvalidation.IsValidPortNum(int(port.ContainerPort))...)
		}
		if port.HostPort != 0 {
			r.invalid(at.Child("hostPort"), port.HostPort, utilvalidation.IsValidPortNum(int(port.HostPort))...)
		}
		requiredOneOf(r.problems, at.Child("protocol"), port.Protocol, protocols...)
	}
}

// hostPorts finds ports of the host that two containers want.
func (r *podRules) hostPorts(at *field.Path, containers []corev1.Container) {
	used := sets.Set[string]{}
	for i, c := range containers {
		for j, port := range c.Ports {
			if port.HostPort == 0 {
				continue
			}
			key := fmt.Sprintf("%s/%s/%d", port.Protocol, port.HostIP, port.HostPort)
			if used.Has(key) {
				r.duplicate(at.Index(i).Child("ports").Index(j).Child("hostPort"), key)
			}
			used.Insert(key)
		}
	}
}

// running validates what only containers have that keep running.
func (r *podRules) running(at *field.Path, c *corev1.Container) {
	if l := c.Lifecycle; l != nil {
		at := at.Child("lifecycle")
		if l.PostStart != nil {
			r.lifecycleHandler(at.Child("postStart"), l.PostStart)
		}
		if l.PreStop != nil {
			r.lifecycleHandler(at.Child("preStop"), l.PreStop)
		}
		if l.StopSignal != nil {
			r.stopSignal(at.Child("stopSignal"), *l.StopSignal)
		}
	}
	r.probe(at.Child("livenessProbe"), c.LivenessProbe, true, true)
	r.probe(at.Child("readinessProbe"), c.ReadinessProbe, false, false)
	r.probe(at.Child("startupProbe"), c.StartupProbe, true, true)
}

// stopSignal validates what can be without the list of all signals of Linux.
func (r *podRules) stopSignal(at *field.Path, signal corev1.Signal) {
	switch {
	case r.spec.OS == nil:
		r.forbidden(at, "may not be set for containers with empty `spec.os.name`")
	case r.spec.OS.Name == corev1.Windows:
		oneOf(r.problems, at, signal, corev1.SIGKILL, corev1.SIGTERM)
	default:
		r.skip(at)
	}
}

func (r *podRules) probe(at *field.Path, probe *corev1.Probe, once, grace bool) {
	if probe == nil {
		return
	}
	r.handler(at, probe.Exec, probe.HTTPGet, probe.TCPSocket, probe.GRPC, nil)
	r.notNegative(at.Child("initialDelaySeconds"), int64(probe.InitialDelaySeconds))
	r.notNegative(at.Child("timeoutSeconds"), int64(probe.TimeoutSeconds))
	r.notNegative(at.Child("periodSeconds"), int64(probe.PeriodSeconds))
	r.notNegative(at.Child("successThreshold"), int64(probe.SuccessThreshold))
	r.notNegative(at.Child("failureThreshold"), int64(probe.FailureThreshold))
	if t := probe.TerminationGracePeriodSeconds; t != nil && *t <= 0 {
		r.invalid(at.Child("terminationGracePeriodSeconds"), *t, "must be greater than 0")
	}
	if once && probe.SuccessThreshold != 1 {
		r.invalid(at.Child("successThreshold"), probe.SuccessThreshold, "must be 1")
	}
	if t := probe.TerminationGracePeriodSeconds; t != nil && !grace {
		r.invalid(at.Child("terminationGracePeriodSeconds"), *t, "must not be set for readinessProbes")
	}
}

func (r *podRules) lifecycleHandler(at *field.Path, h *corev1.LifecycleHandler) {
	r.handler(at, h.Exec, h.HTTPGet, h.TCPSocket, nil, h.Sleep)
}

// handler validates the one thing that a probe or a hook does.
func (r *podRules) handler(at *field.Path, exec *corev1.ExecAction, get *corev1.HTTPGetAction, tcp *corev1.TCPSocketAction, grpc *corev1.GRPCAction, sleep *corev1.SleepAction) {
	count := 0
	first := func(name string, set bool) bool {
		if !set {
			return false
		}
		count++
		if count > 1 {
			r.forbidden(at.Child(name), "may not specify more than 1 handler type")
		}
		return count == 1
	}
	if first("exec", exec != nil) && len(exec.Command) == 0 {
		r.required(at.Child("exec", "command"), "")
	}
	if first("httpGet", get != nil) {
		r.httpGet(at.Child("httpGet"), get)
	}
	if first("tcpSocket", tcp != nil) {
		r.portOrName(at.Child("tcpSocket", "port"), tcp.Port)
	}
	if first("grpc", grpc != nil) {
		r.portOrName(at.Child("grpc", "port"), intstr.FromInt32(grpc.Port))
	}
	if first("sleep", sleep != nil) {
		if grace := r.spec.TerminationGracePeriodSeconds; grace != nil && (sleep.Seconds < 0 || sleep.Seconds > *grace) {
			r.invalid(at.Child("sleep"), sleep.Seconds, fmt.Sprintf("must be non-negative and less than terminationGracePeriodSeconds (%d)", *grace))
		}
	}
	if count == 0 {
		r.required(at, "must specify a handler type")
	}
}

func (r *podRules) httpGet(at *field.Path, get *corev1.HTTPGetAction) {
	if get.Path == "" {
		r.required(at.Child("path"), "")
	}
	r.portOrName(at.Child("port"), get.Port)
	oneOf(r.problems, at.Child("scheme"), get.Scheme, corev1.URISchemeHTTP, corev1.URISchemeHTTPS)
	for _, h := range get.HTTPHeaders {
		r.invalid(at.Child("httpHeaders"), h.Name, utilvalidation.IsHTTPHeaderName(h.Name)...)
	}
}

// portOrName validates a port that is a number or the name of one.
func (p *problems) portOrName(at *field.Path, port intstr.IntOrString) {
	if port.Type == intstr.String {
		p.invalid(at, port.StrVal, utilvalidation.IsValidPortName(port.StrVal)...)
		return
	}
	p.invalid(at, port.IntValue(), utilvalidation.IsValidPortNum(port.IntValue())...)
}

func (r *podRules) resizePolicy(at *field.Path, policies []corev1.ContainerResizePolicy) {
	seen := map[corev1.ResourceName]bool{}
	for i, policy := range policies {
		if seen[policy.ResourceName] {
			r.duplicate(at.Index(i), policy.ResourceName)
		}
		seen[policy.ResourceName] = true
		requiredOneOf(r.problems, at, policy.ResourceName, corev1.ResourceCPU, corev1.ResourceMemory)
		requiredOneOf(r.problems, at, policy.RestartPolicy, corev1.NotRequired, corev1.RestartContainer)
		if r.spec.RestartPolicy == corev1.RestartPolicyNever && policy.RestartPolicy != corev1.NotRequired {
			r.invalid(at, policy.RestartPolicy, "must be 'NotRequired' when pod `restartPolicy` is 'Never'")
		}
	}
}

// restartRules validates the restart policy of a container.
func (r *podRules) restartRules(at *field.Path, policy *corev1.ContainerRestartPolicy, rules []corev1.ContainerRestartRule) {
	if policy == nil {
		if len(rules) > 0 {
			r.required(at.Child("restartPolicy"), "must specify restartPolicy when restart rules are used")
		}
	} else {
		oneOf(r.problems, at.Child("restartPolicy"), *policy, corev1.ContainerRestartPolicyAlways, corev1.ContainerRestartPolicyNever, corev1.ContainerRestartPolicyOnFailure)
	}
	if len(rules) > 0 {
		r.skip(at.Child("restartPolicyRules"))
	}
}
