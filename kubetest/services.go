package kubetest

import (
	"fmt"
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/rand"
)

// Services get addresses and ports before they are validated.

// serviceNetwork is where services have their addresses, as in the API server's default.
var serviceNetwork = netip.MustParsePrefix("10.0.0.0/16")

// nodePorts are the first of the ports that services get on nodes, and their number.
const (
	firstNodePort = 30000
	nodePorts     = 2768
)

// admitService gives a service its addresses and ports.
func admitService(rq *request, obj, old runtime.Object) error {
	o := obj.(*corev1.Service)
	if rq.subresource != "" {
		return nil
	}
	was, _ := old.(*corev1.Service)
	if was != nil {
		keepAllocated(&o.Spec, &was.Spec)
		dropUnused(&o.Spec, &was.Spec)
	} else if o.Spec.ClusterIP != "" && len(o.Spec.ClusterIPs) == 0 {
		o.Spec.ClusterIPs = []string{o.Spec.ClusterIP}
	}
	p := &problems{}
	p.clusterIPs(&o.Spec, was)
	if len(p.list) == 0 {
		if err := rq.allocate(p, &o.Spec, was); err != nil {
			return err
		}
	}
	if len(p.list) > 0 {
		return apierrors.NewInvalid(rq.kind.groupKind(), o.Name, p.list)
	}
	return nil
}

// keepAllocated takes what a service has been given from what it was, unless it says otherwise.
func keepAllocated(s, was *corev1.ServiceSpec) {
	if s.Type != corev1.ServiceTypeExternalName && was.Type != corev1.ServiceTypeExternalName {
		if s.ClusterIP == "" && (len(s.ClusterIPs) == 0 || slices.Equal(s.ClusterIPs, was.ClusterIPs)) {
			s.ClusterIP = was.ClusterIP
		}
		if len(s.ClusterIPs) == 0 && s.ClusterIP == was.ClusterIP {
			s.ClusterIPs = slices.Clone(was.ClusterIPs)
		}
		if s.IPFamilyPolicy == nil {
			s.IPFamilyPolicy = was.IPFamilyPolicy
		}
		if len(s.IPFamilies) == 0 {
			s.IPFamilies = slices.Clone(was.IPFamilies)
		}
	}
	if s.ClusterIP != was.ClusterIP && slices.Equal(s.ClusterIPs, was.ClusterIPs) {
		s.ClusterIPs = nil
		if s.ClusterIP != "" {
			s.ClusterIPs = append([]string{s.ClusterIP}, was.ClusterIPs[min(1, len(was.ClusterIPs)):]...)
		}
	} else if s.ClusterIP == was.ClusterIP && len(s.ClusterIPs) == 0 {
		s.ClusterIP = ""
	}
	for i := range s.Ports {
		p := &s.Ports[i]
		j := slices.IndexFunc(was.Ports, func(q corev1.ServicePort) bool { return q.Port == p.Port && q.Protocol == p.Protocol })
		if j >= 0 && p.NodePort == 0 && needsNodePorts(s) {
			p.NodePort = was.Ports[j].NodePort
		}
	}
	if s.HealthCheckNodePort == 0 && needsHealthCheck(s) && needsHealthCheck(was) {
		s.HealthCheckNodePort = was.HealthCheckNodePort
	}
}

func needsHealthCheck(s *corev1.ServiceSpec) bool {
	return s.Type == corev1.ServiceTypeLoadBalancer && s.ExternalTrafficPolicy == corev1.ServiceExternalTrafficPolicyLocal
}

// dropUnused removes what a service had as one of another type, and that has not been changed.
func dropUnused(s, was *corev1.ServiceSpec) {
	external := func(s *corev1.ServiceSpec) bool { return s.Type == corev1.ServiceTypeExternalName }
	if external(s) && !external(was) {
		if s.ClusterIP == was.ClusterIP && slices.Equal(s.ClusterIPs, was.ClusterIPs) {
			s.ClusterIP, s.ClusterIPs = "", nil
		}
		if slices.Equal(s.IPFamilies, was.IPFamilies) {
			s.IPFamilies = nil
		}
		if equality.Semantic.DeepEqual(s.IPFamilyPolicy, was.IPFamilyPolicy) {
			s.IPFamilyPolicy = nil
		}
		if equality.Semantic.DeepEqual(s.InternalTrafficPolicy, was.InternalTrafficPolicy) {
			s.InternalTrafficPolicy = nil
		}
	}
	if needsNodePorts(was) && !needsNodePorts(s) {
		for i := range s.Ports {
			if i < len(was.Ports) && s.Ports[i].NodePort == was.Ports[i].NodePort {
				s.Ports[i].NodePort = 0
			}
		}
	}
	if needsHealthCheck(was) && !needsHealthCheck(s) && s.HealthCheckNodePort == was.HealthCheckNodePort {
		s.HealthCheckNodePort = 0
	}
	if was.Type == corev1.ServiceTypeLoadBalancer && s.Type != was.Type {
		if equality.Semantic.DeepEqual(s.AllocateLoadBalancerNodePorts, was.AllocateLoadBalancerNodePorts) {
			s.AllocateLoadBalancerNodePorts = nil
		}
		if equality.Semantic.DeepEqual(s.LoadBalancerClass, was.LoadBalancerClass) {
			s.LoadBalancerClass = nil
		}
	}
	if accessible(was) && !accessible(s) && s.ExternalTrafficPolicy == was.ExternalTrafficPolicy {
		s.ExternalTrafficPolicy = ""
	}
}

// accessible reports whether a service can be reached from outside.
func accessible(s *corev1.ServiceSpec) bool {
	return s.Type == corev1.ServiceTypeLoadBalancer || s.Type == corev1.ServiceTypeNodePort || s.Type == corev1.ServiceTypeClusterIP && len(s.ExternalIPs) > 0
}

func needsNodePorts(s *corev1.ServiceSpec) bool {
	return s.Type == corev1.ServiceTypeNodePort || s.Type == corev1.ServiceTypeLoadBalancer && or(s.AllocateLoadBalancerNodePorts, true)
}

// allocate fills in what a service has no address or port for yet, and adds what it asks for and
// cannot have.
func (rq *request) allocate(p *problems, s *corev1.ServiceSpec, was *corev1.Service) error {
	usedIPs, usedPorts := rq.usedByServices()
	if was != nil {
		for _, ip := range was.Spec.ClusterIPs {
			delete(usedIPs, ip)
		}
		for _, port := range was.Spec.Ports {
			delete(usedPorts, port.NodePort)
		}
	}
	if s.Type != corev1.ServiceTypeExternalName {
		allocateIP(p, s, was, usedIPs)
	}
	if len(p.list) > 0 {
		return nil
	}
	return allocatePorts(p, s, was, usedPorts, rq.dryRun)
}

func allocateIP(p *problems, s *corev1.ServiceSpec, was *corev1.Service, used map[string]bool) {
	setPointer(&s.IPFamilyPolicy, corev1.IPFamilyPolicySingleStack)
	fresh := was == nil || was.Spec.Type == corev1.ServiceTypeExternalName
	if fresh && s.ClusterIP == "" {
		s.ClusterIP = freeAddress(used)
		s.ClusterIPs = []string{s.ClusterIP}
	} else if fresh && s.ClusterIP != corev1.ClusterIPNone {
		at := specPath.Child("clusterIPs")
		switch ip, err := netip.ParseAddr(s.ClusterIP); {
		case err == nil && !serviceNetwork.Contains(ip) && ip.Is4():
			p.invalid(at, s.ClusterIPs, fmt.Sprintf("failed to allocate IP %v: the provided IP (%v) is not in the valid range. The range of valid IPs is %v", ip, ip, serviceNetwork))
		case used[s.ClusterIP]:
			p.invalid(at, s.ClusterIPs, fmt.Sprintf("failed to allocate IP %v: provided IP is already allocated", ip))
		}
	}
	if len(s.IPFamilies) == 0 && s.ClusterIP != "" {
		s.IPFamilies = []corev1.IPFamily{familyOf(s.ClusterIP)}
	}
}

func allocatePorts(p *problems, s *corev1.ServiceSpec, was *corev1.Service, used map[int32]bool, dryRun bool) error {
	type pair struct {
		protocol corev1.Protocol
		port     int32
	}
	mine := map[pair]bool{}
	for i := range s.Ports {
		port := &s.Ports[i]
		if !needsNodePorts(s) {
			continue
		}
		at := specPath.Child("ports").Index(i).Child("nodePort")
		k := pair{port.Protocol, port.NodePort}
		switch {
		case port.NodePort == 0:
			port.NodePort = freePort(used)
		case mine[k] && was != nil:
			return fmt.Errorf("duplicate nodePort: {%s %d}", port.Protocol, port.NodePort)
		case used[port.NodePort] || mine[k]:
			p.invalid(at, port.NodePort, "provided port is already allocated")
		case !dryRun && (port.NodePort < firstNodePort || port.NodePort >= firstNodePort+nodePorts): // a real server does not look it up in a dry run
			p.invalid(at, port.NodePort, fmt.Sprintf("provided port is not in the valid range. The range of valid ports is %d-%d", firstNodePort, firstNodePort+nodePorts-1))
		}
		mine[pair{port.Protocol, port.NodePort}] = true
	}
	if needsHealthCheck(s) && s.HealthCheckNodePort == 0 {
		s.HealthCheckNodePort = freePort(used)
	}
	return nil
}

func serviceWarnings(_ *request, obj, _ runtime.Object) []string {
	if s := &obj.(*corev1.Service).Spec; s.ExternalName != "" && s.Type != corev1.ServiceTypeExternalName {
		return []string{`spec.externalName is ignored when spec.type is not "ExternalName"`}
	}
	return nil
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
