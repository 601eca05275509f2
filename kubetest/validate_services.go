package kubetest

import (
	"fmt"
	"net/netip"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	unversioned "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func checkService(p *problems, obj, old *corev1.Service) {
	s := &obj.Spec
	if old != nil {
		p.serviceUpdate(s, &old.Spec)
	}
	if len(s.Ports) == 0 && !headless(s) && s.Type != corev1.ServiceTypeExternalName {
		p.required(specPath.Child("ports"), "")
	}
	p.serviceType(s)
	names := map[string]bool{}
	for i := range s.Ports {
		p.servicePort(specPath.Child("ports").Index(i), &s.Ports[i], len(s.Ports) > 1, names)
	}
	if s.Selector != nil {
		p.add(unversioned.ValidateLabels(s.Selector, specPath.Child("selector"))...)
	}
	p.sessions(s)
	p.clusterIPs(s, old)
	p.externalIPs(s, old)
	requiredOneOf(p, specPath.Child("type"), s.Type, corev1.ServiceTypeClusterIP, corev1.ServiceTypeExternalName, corev1.ServiceTypeLoadBalancer, corev1.ServiceTypeNodePort)
	p.samePorts(s)
	p.sourceRanges(s, old)
	if s.AllocateLoadBalancerNodePorts != nil && s.Type != corev1.ServiceTypeLoadBalancer {
		p.forbidden(specPath.Child("allocateLoadBalancerNodePorts"), "may only be used when `type` is 'LoadBalancer'")
	}
	p.loadBalancerClass(s)
	p.trafficPolicies(s)
}

func headless(s *corev1.ServiceSpec) bool {
	return len(s.ClusterIPs) == 1 && s.ClusterIPs[0] == corev1.ClusterIPNone
}

func (p *problems) serviceType(s *corev1.ServiceSpec) {
	switch s.Type {
	case corev1.ServiceTypeLoadBalancer, corev1.ServiceTypeNodePort:
		if headless(s) {
			p.invalid(specPath.Child("clusterIPs").Index(0), s.ClusterIPs[0], fmt.Sprintf("may not be set to 'None' for %s services", s.Type))
		}
	case corev1.ServiceTypeExternalName:
		const why = "may not be set for ExternalName services"
		if len(s.ClusterIPs) > 0 {
			p.forbidden(specPath.Child("clusterIPs"), why)
		}
		if len(s.IPFamilies) > 0 {
			p.forbidden(specPath.Child("ipFamilies"), why)
		}
		if s.IPFamilyPolicy != nil {
			p.forbidden(specPath.Child("ipFamilyPolicy"), why)
		}
		p.name(specPath.Child("externalName"), strings.TrimSuffix(s.ExternalName, "."), subdomain)
	}
}

func (p *problems) servicePort(at *field.Path, port *corev1.ServicePort, named bool, names map[string]bool) {
	if port.Name == "" {
		if named {
			p.required(at.Child("name"), "")
		}
	} else {
		p.invalid(at.Child("name"), port.Name, label(port.Name)...)
		if names[port.Name] {
			p.duplicate(at.Child("name"), port.Name)
		}
		names[port.Name] = true
	}
	p.invalid(at.Child("port"), port.Port, utilvalidation.IsValidPortNum(int(port.Port))...)
	requiredOneOf(p, at.Child("protocol"), port.Protocol, protocols...)
	p.portOrName(at.Child("targetPort"), port.TargetPort)
	if port.AppProtocol != nil {
		p.invalid(at.Child("appProtocol"), *port.AppProtocol, qualified(*port.AppProtocol)...)
	}
}

func (p *problems) sessions(s *corev1.ServiceSpec) {
	requiredOneOf(p, specPath.Child("sessionAffinity"), s.SessionAffinity, corev1.ServiceAffinityClientIP, corev1.ServiceAffinityNone)
	at := specPath.Child("sessionAffinityConfig")
	switch c := s.SessionAffinityConfig; s.SessionAffinity {
	case corev1.ServiceAffinityNone:
		if c != nil {
			p.forbidden(at, "must not be set when session affinity is None")
		}
	case corev1.ServiceAffinityClientIP:
		const why = "when session affinity type is ClientIP"
		switch {
		case c == nil:
			p.required(at, why)
		case c.ClientIP == nil:
			p.required(at.Child("clientIP"), why)
		case c.ClientIP.TimeoutSeconds == nil:
			p.required(at.Child("clientIP", "timeoutSeconds"), why)
		default:
			const day = 86400
			if t := *c.ClientIP.TimeoutSeconds; t <= 0 || t > day {
				p.invalid(at.Child("clientIP", "timeoutSeconds"), t, fmt.Sprintf("must be greater than 0 and less than %d", day))
			}
		}
	}
}

// clusterIPs validates the addresses of a service, and the families of them.
func (p *problems) clusterIPs(s *corev1.ServiceSpec, old *corev1.Service) {
	if s.Type == corev1.ServiceTypeExternalName {
		return
	}
	at := specPath.Child("clusterIPs")
	switch {
	case s.ClusterIP != "" && len(s.ClusterIPs) == 0:
		p.required(at, "")
	case s.ClusterIP != "" && s.ClusterIPs[0] != s.ClusterIP:
		p.invalid(at, s.ClusterIPs, "first value must match `clusterIP`")
	case s.ClusterIP == "" && len(s.ClusterIPs) > 0:
		p.invalid(at, s.ClusterIPs, "must be empty when `clusterIP` is not specified")
	}
	seen := map[corev1.IPFamily]bool{}
	for i, family := range s.IPFamilies {
		at := specPath.Child("ipFamilies").Index(i)
		oneOf(p, at, family, corev1.IPv4Protocol, corev1.IPv6Protocol)
		if seen[family] {
			p.duplicate(at, family)
		}
		seen[family] = true
	}
	if s.IPFamilyPolicy != nil {
		oneOf(p, specPath.Child("ipFamilyPolicy"), *s.IPFamilyPolicy, corev1.IPFamilyPolicyPreferDualStack, corev1.IPFamilyPolicyRequireDualStack, corev1.IPFamilyPolicySingleStack)
	}
	before := len(p.list)
	p.addresses(at, s.ClusterIPs, old)
	if len(p.list) == before {
		p.families(at, s)
	}
}

func (p *problems) addresses(at *field.Path, ips []string, old *corev1.Service) {
	var known []string
	if old != nil {
		known = old.Spec.ClusterIPs
	}
	for i, ip := range ips {
		if i == 0 && ip == corev1.ClusterIPNone {
			if len(ips) > 1 {
				p.invalid(at, ips, "'None' must be the first and only value")
			}
			continue
		}
		p.legacyIP(at.Index(i), ip, known)
	}
	if len(ips) > 2 {
		p.invalid(at, ips, "may only hold up to 2 values")
	}
}

func (p *problems) families(at *field.Path, s *corev1.ServiceSpec) {
	if len(s.ClusterIPs) == 2 && familyOf(s.ClusterIPs[0]) == familyOf(s.ClusterIPs[1]) {
		p.invalid(at, s.ClusterIPs, "may specify no more than one IP for each IP family")
	}
	for i, ip := range s.ClusterIPs {
		known := i < len(s.IPFamilies) && (s.IPFamilies[i] == corev1.IPv4Protocol || s.IPFamilies[i] == corev1.IPv6Protocol)
		if known && !headless(s) && familyOf(ip) != s.IPFamilies[i] {
			p.invalid(at.Index(i), ip, fmt.Sprintf("expected an %s value as indicated by `ipFamilies[%v]`", s.IPFamilies[i], i))
		}
	}
}

func (p *problems) externalIPs(s *corev1.ServiceSpec, old *corev1.Service) {
	var known []string
	if old != nil {
		known = old.Spec.ExternalIPs
	}
	for i, ip := range s.ExternalIPs {
		at, before := specPath.Child("externalIPs").Index(i), len(p.list)
		p.legacyIP(at, ip, known)
		if len(p.list) == before {
			p.endpointIP(at, ip)
		}
	}
}

// endpointIP validates an address that traffic can be sent to.
func (p *problems) endpointIP(at *field.Path, text string) {
	ip, err := netip.ParseAddr(text)
	switch {
	case err != nil:
		p.invalid(at, text, "must be a valid IP address")
	case ip.IsUnspecified():
		p.invalid(at, text, fmt.Sprintf("may not be unspecified (%v)", text))
	case ip.IsLoopback():
		p.invalid(at, text, "may not be in the loopback range (127.0.0.0/8, ::1/128)")
	case ip.IsLinkLocalUnicast():
		p.invalid(at, text, "may not be in the link-local range (169.254.0.0/16, fe80::/10)")
	case ip.IsLinkLocalMulticast():
		p.invalid(at, text, "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)")
	}
}

// samePorts finds ports that are there twice, and ports of nodes where there are none.
func (p *problems) samePorts(s *corev1.ServiceSpec) {
	at := specPath.Child("ports")
	for i, port := range s.Ports {
		if s.Type == corev1.ServiceTypeClusterIP && port.NodePort != 0 {
			p.forbidden(at.Index(i).Child("nodePort"), "may not be used when `type` is 'ClusterIP'")
		}
	}
	type key struct {
		protocol corev1.Protocol
		port     int32
	}
	nodePorts, ports := map[key]bool{}, map[key]bool{}
	for i, port := range s.Ports {
		k := key{port.Protocol, port.NodePort}
		if port.NodePort != 0 && nodePorts[k] {
			p.duplicate(at.Index(i).Child("nodePort"), port.NodePort)
		}
		nodePorts[k] = true
	}
	for i, port := range s.Ports {
		k := key{port.Protocol, port.Port}
		if ports[k] {
			p.duplicate(at.Index(i), internalPort{Protocol: port.Protocol, Port: port.Port})
		}
		ports[k] = true
	}
}

// internalPort is a port of a service as a real server has it inside, and shows it in a message.
type internalPort struct {
	Name        string
	Protocol    corev1.Protocol
	AppProtocol *string
	Port        int32
	TargetPort  int
	NodePort    int32
}

func (p *problems) sourceRanges(s *corev1.ServiceSpec, old *corev1.Service) {
	if len(s.LoadBalancerSourceRanges) == 0 {
		return
	}
	at := specPath.Child("LoadBalancerSourceRanges")
	if s.Type != corev1.ServiceTypeLoadBalancer {
		p.forbidden(at, "may only be used when `type` is 'LoadBalancer'")
	}
	var known []string
	if old != nil {
		for _, r := range old.Spec.LoadBalancerSourceRanges {
			known = append(known, strings.TrimSpace(r))
		}
	}
	for i, r := range s.LoadBalancerSourceRanges {
		p.add(utilvalidation.IsValidCIDRForLegacyField(at.Index(i), strings.TrimSpace(r), true, known)...)
	}
}

func (p *problems) loadBalancerClass(s *corev1.ServiceSpec) {
	at := specPath.Child("loadBalancerClass")
	switch class := s.LoadBalancerClass; {
	case class == nil:
	case s.Type == corev1.ServiceTypeLoadBalancer:
		p.invalid(at, *class, qualified(*class)...)
	default:
		p.forbidden(at, "may only be used when `type` is 'LoadBalancer'")
	}
}

func (p *problems) trafficPolicies(s *corev1.ServiceSpec) {
	external := accessible(s)
	at := specPath.Child("externalTrafficPolicy")
	switch policy := s.ExternalTrafficPolicy; {
	case external:
		requiredOneOf(p, at, policy, corev1.ServiceExternalTrafficPolicyCluster, corev1.ServiceExternalTrafficPolicyLocal)
	case policy != "":
		p.invalid(at, policy, "may only be set for externally-accessible services")
	}
	at = specPath.Child("healthCheckNodePort")
	switch checked := needsHealthCheck(s); {
	case !checked && s.HealthCheckNodePort != 0:
		p.invalid(at, s.HealthCheckNodePort, "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'")
	case checked && s.HealthCheckNodePort == 0:
		p.required(at, "")
	case checked:
		p.invalid(at, s.HealthCheckNodePort, utilvalidation.IsValidPortNum(int(s.HealthCheckNodePort))...)
	}
	at = specPath.Child("internalTrafficPolicy")
	switch policy := s.InternalTrafficPolicy; {
	case policy != nil:
		oneOf(p, at, *policy, corev1.ServiceInternalTrafficPolicyCluster, corev1.ServiceInternalTrafficPolicyLocal)
	case s.Type != corev1.ServiceTypeExternalName:
		p.required(at, "")
	}
	if d := s.TrafficDistribution; d != nil {
		oneOf(p, specPath.Child("trafficDistribution"), *d, corev1.ServiceTrafficDistributionPreferClose, corev1.ServiceTrafficDistributionPreferSameZone, corev1.ServiceTrafficDistributionPreferSameNode)
	}
}

// serviceUpdate validates that a service keeps its first address.
func (p *problems) serviceUpdate(s, old *corev1.ServiceSpec) {
	const once = "may not change once set"
	if s.Type != corev1.ServiceTypeExternalName && old.Type != corev1.ServiceTypeExternalName {
		p.primaries(s, old, once)
	}
	if s.Type == corev1.ServiceTypeLoadBalancer && old.Type == s.Type && !equality.Semantic.DeepEqual(s.LoadBalancerClass, old.LoadBalancerClass) {
		p.invalid(specPath.Child("loadBalancerClass"), s.LoadBalancerClass, once)
	}
	p.loadBalancerClass(s)
	if needsHealthCheck(s) && needsHealthCheck(old) && s.HealthCheckNodePort != old.HealthCheckNodePort {
		p.forbidden(specPath.Child("healthCheckNodePort"), immutable)
	}
}

func (p *problems) primaries(s, old *corev1.ServiceSpec, once string) {
	at := specPath.Child("clusterIPs")
	if !headless(s) || !headless(old) {
		switch {
		case len(s.ClusterIPs) == len(old.ClusterIPs):
			for i, ip := range old.ClusterIPs {
				if ip != s.ClusterIPs[i] {
					p.invalid(at.Index(i), s.ClusterIPs, once)
				}
			}
		case len(s.ClusterIPs) == 0:
			p.invalid(at.Index(0), s.ClusterIPs, "primary clusterIP can not be unset")
		case len(old.ClusterIPs) > 0 && s.ClusterIPs[0] != old.ClusterIPs[0]:
			p.invalid(at.Index(0), s.ClusterIPs, once)
		}
	}
	if headless(s) || headless(old) {
		return
	}
	if len(s.IPFamilies) == len(old.IPFamilies) {
		for i, family := range old.IPFamilies {
			if family != s.IPFamilies[i] {
				p.invalid(specPath.Child("ipFamilies").Index(0), s.IPFamilies, once)
			}
		}
	}
}

func checkEndpoints(p *problems, obj, old *corev1.Endpoints) { //nolint:staticcheck // deprecated, and served
	if old != nil && equality.Semantic.DeepEqual(obj.Subsets, old.Subsets) {
		return
	}
	for i := range obj.Subsets {
		s, at := &obj.Subsets[i], field.NewPath("subsets").Index(i)
		if len(s.Addresses) == 0 && len(s.NotReadyAddresses) == 0 {
			p.required(at, "must specify `addresses` or `notReadyAddresses`")
		}
		for j := range s.Addresses {
			p.endpointAddress(at.Child("addresses").Index(j), &s.Addresses[j])
		}
		for j := range s.NotReadyAddresses {
			p.endpointAddress(at.Child("notReadyAddresses").Index(j), &s.NotReadyAddresses[j])
		}
		for j, port := range s.Ports {
			at := at.Child("ports").Index(j)
			switch {
			case port.Name != "":
				p.invalid(at.Child("name"), port.Name, label(port.Name)...)
			case len(s.Ports) > 1:
				p.required(at.Child("name"), "")
			}
			p.invalid(at.Child("port"), port.Port, utilvalidation.IsValidPortNum(int(port.Port))...)
			requiredOneOf(p, at.Child("protocol"), port.Protocol, protocols...)
			if port.AppProtocol != nil {
				p.invalid(at.Child("appProtocol"), *port.AppProtocol, qualified(*port.AppProtocol)...)
			}
		}
	}
}

func (p *problems) endpointAddress(at *field.Path, a *corev1.EndpointAddress) { //nolint:staticcheck // deprecated, and served
	p.legacyIP(at.Child("ip"), a.IP, nil)
	if a.Hostname != "" {
		p.invalid(at.Child("hostname"), a.Hostname, label(a.Hostname)...)
	}
	if a.NodeName != nil {
		p.invalid(at.Child("nodeName"), *a.NodeName, subdomain(*a.NodeName)...)
	}
	p.endpointIP(at.Child("ip"), a.IP)
}
