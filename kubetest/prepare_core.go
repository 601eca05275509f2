package kubetest

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/rand"
)

// What a real server does with new objects of the core group besides reading them: the admission
// plugins that are on by default, and what the registries fill in.

// admitPod does what the plugins Priority and DefaultTolerationSeconds do.
func admitPod(rq *request, obj, old runtime.Object) error {
	pod := obj.(*corev1.Pod)
	if old != nil || rq.subresource != "" {
		return nil
	}
	if err := rq.setPriority(pod); err != nil {
		return err
	}
	for _, taint := range []string{corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable} {
		tolerated := slices.ContainsFunc(pod.Spec.Tolerations, func(t corev1.Toleration) bool {
			return (t.Key == taint || t.Key == "") && (t.Effect == corev1.TaintEffectNoExecute || t.Effect == "")
		})
		if !tolerated {
			pod.Spec.Tolerations = append(pod.Spec.Tolerations, corev1.Toleration{
				Key: taint, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: new(int64(300)),
			})
		}
	}
	return nil
}

// setPriority takes the priority of a pod from its class, or the default one.
func (rq *request) setPriority(pod *corev1.Pod) error {
	k := rq.server.kinds.catalog().byKind[schedulingv1.SchemeGroupVersion.WithKind("PriorityClass")]
	class := &schedulingv1.PriorityClass{PreemptionPolicy: new(corev1.PreemptLowerPriority)}
	switch name := pod.Spec.PriorityClassName; {
	case name != "":
		o := k.table.get(key{name: name})
		if o == nil {
			return apierrors.NewForbidden(rq.resourceName(), pod.Name, fmt.Errorf("no PriorityClass with name %v was found", name))
		}
		class = k.convert(o).(*schedulingv1.PriorityClass)
	default:
		if found := rq.defaultPriority(k); found != nil {
			class = found
			pod.Spec.PriorityClassName = class.Name
		}
	}
	if pod.Spec.Priority != nil && *pod.Spec.Priority != class.Value {
		return apierrors.NewForbidden(rq.resourceName(), pod.Name,
			fmt.Errorf("the integer value of priority (%d) must not be provided in pod spec; priority admission controller computed %d from the given PriorityClass name", *pod.Spec.Priority, class.Value))
	}
	pod.Spec.Priority = new(class.Value)
	if pod.Spec.PreemptionPolicy == nil {
		pod.Spec.PreemptionPolicy = class.PreemptionPolicy
	}
	return nil
}

// defaultPriority returns the class of pods that name none, the one of least value if there
// are several; nil if there is none.
func (rq *request) defaultPriority(k *kind) *schedulingv1.PriorityClass {
	var class *schedulingv1.PriorityClass
	snap, _ := k.table.snapshot(0, "", key{}, 0, nil)
	for _, o := range snap.objects {
		if c := k.convert(o).(*schedulingv1.PriorityClass); c.GlobalDefault && (class == nil || c.Value < class.Value) {
			class = c
		}
	}
	return class
}

// preparePod gives a new pod its status.
func preparePod(_ *request, obj runtime.Object) {
	pod := obj.(*corev1.Pod)
	pod.Status = corev1.PodStatus{Phase: corev1.PodPending, QOSClass: qosClass(&pod.Spec)}
	if len(pod.Spec.SchedulingGates) > 0 {
		pod.Status.Conditions = []corev1.PodCondition{{
			Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonSchedulingGated,
			Message: "Scheduling is blocked due to non-empty scheduling gates",
		}}
	}
}

// qosClass follows from the requests and limits of all containers.
func qosClass(spec *corev1.PodSpec) corev1.PodQOSClass {
	guaranteed, any := true, false
	for _, c := range slices.Concat(spec.InitContainers, spec.Containers) {
		for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
			request, limit := c.Resources.Requests[name], c.Resources.Limits[name]
			any = any || !request.IsZero() || !limit.IsZero()
			guaranteed = guaranteed && !limit.IsZero() && request.Cmp(limit) == 0
		}
	}
	switch {
	case !any:
		return corev1.PodQOSBestEffort
	case guaranteed:
		return corev1.PodQOSGuaranteed
	}
	return corev1.PodQOSBurstable
}

// serviceNetwork is where services have their addresses, as in the API server's default.
var serviceNetwork = netip.MustParsePrefix("10.0.0.0/16")

// nodePorts are the first of the ports that services get on nodes, and their number.
const (
	firstNodePort = 30000
	nodePorts     = 2768
)

// prepareService gives a new service addresses and ports.
func prepareService(rq *request, obj runtime.Object) {
	o := obj.(*corev1.Service)
	rq.allocate(&o.Spec)
}

// prepareServiceUpdate keeps the addresses and ports of a service that names none.
func prepareServiceUpdate(rq *request, obj, old runtime.Object) {
	o, was := obj.(*corev1.Service), old.(*corev1.Service)
	if o.Spec.Type == corev1.ServiceTypeExternalName {
		if was.Spec.Type != corev1.ServiceTypeExternalName {
			o.Spec.ClusterIP, o.Spec.ClusterIPs, o.Spec.IPFamilies, o.Spec.IPFamilyPolicy = "", nil, nil, nil
		}
		return
	}
	if o.Spec.ClusterIP == "" && was.Spec.Type != corev1.ServiceTypeExternalName {
		o.Spec.ClusterIP = was.Spec.ClusterIP
		if len(o.Spec.ClusterIPs) == 0 {
			o.Spec.ClusterIPs = slices.Clone(was.Spec.ClusterIPs)
		}
	}
	if o.Spec.IPFamilyPolicy == nil {
		o.Spec.IPFamilyPolicy = was.Spec.IPFamilyPolicy
	}
	if len(o.Spec.IPFamilies) == 0 {
		o.Spec.IPFamilies = slices.Clone(was.Spec.IPFamilies)
	}
	for i := range o.Spec.Ports {
		p := &o.Spec.Ports[i]
		j := slices.IndexFunc(was.Spec.Ports, func(q corev1.ServicePort) bool { return q.Port == p.Port && q.Protocol == p.Protocol })
		if j >= 0 && p.NodePort == 0 && needsNodePorts(&o.Spec) {
			p.NodePort = was.Spec.Ports[j].NodePort
		}
	}
	rq.allocate(&o.Spec)
}

func needsNodePorts(s *corev1.ServiceSpec) bool {
	return s.Type == corev1.ServiceTypeNodePort || s.Type == corev1.ServiceTypeLoadBalancer && or(s.AllocateLoadBalancerNodePorts, true)
}

// allocate fills in what a service has no address or port for yet.
func (rq *request) allocate(s *corev1.ServiceSpec) {
	if s.Type == corev1.ServiceTypeExternalName {
		return
	}
	setPointer(&s.IPFamilyPolicy, corev1.IPFamilyPolicySingleStack)
	if s.ClusterIP == "" && len(s.ClusterIPs) > 0 {
		s.ClusterIP = s.ClusterIPs[0]
	}
	usedIPs, usedPorts := rq.usedByServices()
	if s.ClusterIP == "" {
		s.ClusterIP = freeAddress(usedIPs)
	}
	if len(s.ClusterIPs) == 0 {
		s.ClusterIPs = []string{s.ClusterIP}
	}
	if len(s.IPFamilies) == 0 {
		s.IPFamilies = []corev1.IPFamily{familyOf(s.ClusterIP)}
	}
	for i := range s.Ports {
		if p := &s.Ports[i]; p.NodePort == 0 && needsNodePorts(s) {
			p.NodePort = freePort(usedPorts)
		}
	}
}

func familyOf(ip string) corev1.IPFamily {
	if address, err := netip.ParseAddr(ip); err == nil && address.Is6() {
		return corev1.IPv6Protocol
	}
	return corev1.IPv4Protocol
}

// usedByServices returns the addresses and the node ports that are taken.
func (rq *request) usedByServices() (map[string]bool, map[int32]bool) {
	ips, ports := map[string]bool{}, map[int32]bool{}
	snap, _ := rq.kind.table.snapshot(0, "", key{}, 0, nil)
	for _, o := range snap.objects {
		service := rq.kind.convert(o).(*corev1.Service)
		for _, ip := range service.Spec.ClusterIPs {
			ips[ip] = true
		}
		for _, p := range service.Spec.Ports {
			ports[p.NodePort] = true
		}
	}
	return ips, ports
}

// freeAddress returns an address that no service has; the first ones are left for those that
// ask for one.
func freeAddress(used map[string]bool) string {
	const reserved, size = 256, 1 << 16
	for {
		n := reserved + rand.Intn(size-reserved-1)
		base := serviceNetwork.Addr().As4()
		base[2], base[3] = byte(n>>8), byte(n)
		if ip := netip.AddrFrom4(base).String(); !used[ip] {
			return ip
		}
	}
}

func freePort(used map[int32]bool) int32 {
	for {
		port := int32(firstNodePort + rand.Intn(nodePorts))
		if !used[port] {
			used[port] = true
			return port
		}
	}
}

// prepareJob makes the selector of a new job, which selects the pods of this job alone.
func prepareJob(_ *request, obj runtime.Object) {
	o := obj.(*batchv1.Job)
	if or(o.Spec.ManualSelector, false) {
		return
	}
	uid := string(o.UID)
	labels := map[string]string{
		batchv1.ControllerUidLabel: uid, batchv1.JobNameLabel: o.Name, "controller-uid": uid, "job-name": o.Name,
	}
	merged := maps.Clone(o.Spec.Template.Labels)
	mergeInto(&merged, labels)
	o.Spec.Template.Labels = merged
	if o.Spec.Selector == nil {
		o.Spec.Selector = &metav1.LabelSelector{}
	}
	mergeInto(&o.Spec.Selector.MatchLabels, map[string]string{batchv1.ControllerUidLabel: uid})
}

// prepareVolume and prepareClaim give new volumes and claims their status.
func prepareVolume(_ *request, obj runtime.Object) {
	obj.(*corev1.PersistentVolume).Status.Phase = corev1.VolumePending
}

func prepareClaim(_ *request, obj runtime.Object) {
	obj.(*corev1.PersistentVolumeClaim).Status.Phase = corev1.ClaimPending
}
