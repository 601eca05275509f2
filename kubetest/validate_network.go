package kubetest

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	namecheck "k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// networkRules are the rules of the groups networking.k8s.io and discovery.k8s.io.
func networkRules() map[schema.GroupKind]rules {
	networking := func(kind string) schema.GroupKind {
		return schema.GroupKind{Group: networkingv1.GroupName, Kind: kind}
	}
	return map[schema.GroupKind]rules{
		networking("Ingress"):                                 ruled(checkIngress),
		networking("IngressClass"):                            ruled(checkIngressClass),
		networking("NetworkPolicy"):                           ruled(checkNetworkPolicy),
		{Group: discoveryv1.GroupName, Kind: "EndpointSlice"}: ruled(checkEndpointSlice),
	}
}

func checkIngress(p *problems, obj, old *networkingv1.Ingress) {
	s := &obj.Spec
	if len(s.Rules) == 0 && s.DefaultBackend == nil {
		p.invalid(specPath, s.Rules, "either `defaultBackend` or `rules` must be specified")
	}
	if s.DefaultBackend != nil {
		p.backend(specPath.Child("defaultBackend"), s.DefaultBackend)
	}
	for i := range s.Rules {
		p.ingressRule(specPath.Child("rules").Index(i), &s.Rules[i])
	}
	for i, tls := range s.TLS {
		at := specPath.Child("tls").Index(i)
		for j, host := range tls.Hosts {
			p.host(at.Child("hosts").Index(j), host)
		}
		if tls.SecretName != "" {
			p.invalid(at.Child("secretName"), tls.SecretName, subdomain(tls.SecretName)...)
		}
	}
	if s.IngressClassName != nil {
		p.invalid(specPath.Child("ingressClassName"), *s.IngressClassName, subdomain(*s.IngressClassName)...)
	}
	const class = "kubernetes.io/ingress.class"
	if value, ok := obj.Annotations[class]; ok && old == nil && s.IngressClassName != nil && value != *s.IngressClassName {
		p.invalid(field.NewPath("annotations").Child(class), value, "must match `ingressClassName` when both are specified")
	}
}

// host validates the name of a host, whose first label may be a star.
func (p *problems) host(at *field.Path, host string) {
	if strings.Contains(host, "*") {
		p.invalid(at, host, utilvalidation.IsWildcardDNS1123Subdomain(host)...)
		return
	}
	p.invalid(at, host, subdomain(host)...)
}

func (p *problems) ingressRule(at *field.Path, rule *networkingv1.IngressRule) {
	if rule.Host != "" {
		if _, err := netip.ParseAddr(rule.Host); err == nil {
			p.invalid(at.Child("host"), rule.Host, "must be a DNS name, not an IP address")
		}
		p.host(at.Child("host"), rule.Host)
	}
	if rule.HTTP == nil {
		return
	}
	at = at.Child("http", "paths")
	if len(rule.HTTP.Paths) == 0 {
		p.required(at, "")
	}
	for i := range rule.HTTP.Paths {
		p.ingressPath(at.Index(i), &rule.HTTP.Paths[i])
	}
}

func (p *problems) ingressPath(at *field.Path, path *networkingv1.HTTPIngressPath) {
	if path.PathType == nil {
		p.required(at.Child("pathType"), "pathType must be specified")
		return
	}
	const absolute = "must be an absolute path"
	switch *path.PathType {
	case networkingv1.PathTypeExact, networkingv1.PathTypePrefix:
		if !strings.HasPrefix(path.Path, "/") {
			p.invalid(at.Child("path"), path.Path, absolute)
		}
		for _, bad := range []string{"//", "/./", "/../", "%2f", "%2F"} {
			if strings.Contains(path.Path, bad) {
				p.invalid(at.Child("path"), path.Path, fmt.Sprintf("must not contain '%s'", bad))
			}
		}
		for _, bad := range []string{"/..", "/."} {
			if strings.HasSuffix(path.Path, bad) {
				p.invalid(at.Child("path"), path.Path, fmt.Sprintf("cannot end with '%s'", bad))
			}
		}
	case networkingv1.PathTypeImplementationSpecific:
		if path.Path != "" && !strings.HasPrefix(path.Path, "/") {
			p.invalid(at.Child("path"), path.Path, absolute)
		}
	default:
		oneOf(p, at.Child("pathType"), *path.PathType, networkingv1.PathTypeExact, networkingv1.PathTypeImplementationSpecific, networkingv1.PathTypePrefix)
	}
	p.backend(at.Child("backend"), &path.Backend)
}

func (p *problems) backend(at *field.Path, b *networkingv1.IngressBackend) {
	switch {
	case b.Resource != nil && b.Service != nil:
		p.invalid(at, "", "cannot set both resource and service backends")
	case b.Resource != nil:
		p.resourceBackend(at.Child("resource"), b.Resource)
	case b.Service == nil:
		p.invalid(at, "", "resource or service backend is required")
	default:
		p.name(at.Child("service", "name"), b.Service.Name, label)
		port, path := b.Service.Port, at.Child("service", "port")
		switch {
		case port.Name != "" && port.Number != 0:
			p.invalid(at, "", "cannot set both port name & port number")
		case port.Name != "":
			p.invalid(path.Child("name"), port.Name, utilvalidation.IsValidPortName(port.Name)...)
		case port.Number != 0:
			p.invalid(path.Child("number"), port.Number, utilvalidation.IsValidPortNum(int(port.Number))...)
		default:
			p.required(at, "port name or number is required")
		}
	}
}

func (p *problems) resourceBackend(at *field.Path, ref *corev1.TypedLocalObjectReference) {
	if ref.APIGroup != nil {
		p.invalid(at.Child("apiGroup"), *ref.APIGroup, subdomain(*ref.APIGroup)...)
	}
	p.name(at.Child("kind"), ref.Kind, namecheck.IsPathSegmentName)
	p.name(at.Child("name"), ref.Name, namecheck.IsPathSegmentName)
}

func checkIngressClass(p *problems, obj, old *networkingv1.IngressClass) {
	const longest = 250
	at := specPath.Child("controller")
	if old != nil {
		p.unchanged(at, obj.Spec.Controller, old.Spec.Controller)
	}
	if len(obj.Spec.Controller) > longest {
		p.add(field.TooLong(at, "", longest))
	}
	p.add(utilvalidation.IsDomainPrefixedPath(at, obj.Spec.Controller)...)
	ref, at := obj.Spec.Parameters, specPath.Child("parameters")
	if ref == nil {
		return
	}
	if ref.APIGroup != nil {
		p.invalid(at.Child("apiGroup"), *ref.APIGroup, subdomain(*ref.APIGroup)...)
	}
	p.declaredName(at.Child("kind"), ref.Kind, namecheck.IsPathSegmentName)
	p.declaredName(at.Child("name"), ref.Name, namecheck.IsPathSegmentName)
	switch scope := or(ref.Scope, ""); {
	case scope != networkingv1.IngressClassParametersReferenceScopeNamespace && scope != networkingv1.IngressClassParametersReferenceScopeCluster:
		oneOf(p, at.Child("scope"), scope, networkingv1.IngressClassParametersReferenceScopeCluster, networkingv1.IngressClassParametersReferenceScopeNamespace)
	case scope == networkingv1.IngressClassParametersReferenceScopeCluster:
		if ref.Namespace != nil {
			p.forbidden(at.Child("namespace"), "`parameters.scope` is set to 'Cluster'")
		}
	case ref.Namespace == nil:
		p.required(at.Child("namespace"), "`parameters.scope` is set to 'Namespace'")
	default:
		p.invalid(at.Child("namespace"), *ref.Namespace, label(*ref.Namespace)...)
	}
}

func checkNetworkPolicy(p *problems, obj, old *networkingv1.NetworkPolicy) {
	var known []string
	if old != nil {
		known = blocksOf(&old.Spec)
	}
	s := &obj.Spec
	p.selector(specPath.Child("podSelector"), &s.PodSelector)
	for i, rule := range s.Ingress {
		p.policyRule(specPath.Child("ingress").Index(i), "from", rule.Ports, rule.From, known)
	}
	for i, rule := range s.Egress {
		p.policyRule(specPath.Child("egress").Index(i), "to", rule.Ports, rule.To, known)
	}
	at := specPath.Child("policyTypes")
	if len(s.PolicyTypes) > 2 {
		p.invalid(at, s.PolicyTypes, "may not specify more than two policyTypes")
		return
	}
	for i, t := range s.PolicyTypes {
		oneOf(p, at.Index(i), t, networkingv1.PolicyTypeIngress, networkingv1.PolicyTypeEgress)
	}
}

// blocksOf returns all ranges of addresses in a policy.
func blocksOf(s *networkingv1.NetworkPolicySpec) []string {
	var blocks []string
	add := func(peers []networkingv1.NetworkPolicyPeer) {
		for _, peer := range peers {
			if b := peer.IPBlock; b != nil {
				blocks = append(append(blocks, b.CIDR), b.Except...)
			}
		}
	}
	for _, rule := range s.Ingress {
		add(rule.From)
	}
	for _, rule := range s.Egress {
		add(rule.To)
	}
	return blocks
}

func (p *problems) policyRule(at *field.Path, direction string, ports []networkingv1.NetworkPolicyPort, peers []networkingv1.NetworkPolicyPeer, known []string) {
	for i := range ports {
		p.policyPort(at.Child("ports").Index(i), &ports[i])
	}
	for i := range peers {
		peer, at := &peers[i], at.Child(direction).Index(i)
		p.selector(at.Child("podSelector"), peer.PodSelector)
		p.selector(at.Child("namespaceSelector"), peer.NamespaceSelector)
		if peer.IPBlock != nil {
			p.block(at.Child("ipBlock"), peer.IPBlock, known)
		}
		selected := peer.PodSelector != nil || peer.NamespaceSelector != nil
		switch {
		case !selected && peer.IPBlock == nil:
			p.required(at, "must specify a peer")
		case selected && peer.IPBlock != nil:
			p.forbidden(at, "may not specify both ipBlock and another peer")
		}
	}
}

func (p *problems) policyPort(at *field.Path, port *networkingv1.NetworkPolicyPort) {
	if port.Protocol != nil {
		oneOf(p, at.Child("protocol"), *port.Protocol, corev1.ProtocolTCP, corev1.ProtocolUDP, corev1.ProtocolSCTP)
	}
	end := at.Child("endPort")
	switch {
	case port.Port == nil:
		if port.EndPort != nil {
			p.invalid(end, *port.EndPort, "may not be specified when `port` is not specified")
		}
	case port.Port.Type == intstr.String:
		if port.EndPort != nil {
			p.invalid(end, *port.EndPort, "may not be specified when `port` is non-numeric")
		}
		p.invalid(at.Child("port"), port.Port.StrVal, utilvalidation.IsValidPortName(port.Port.StrVal)...)
	default:
		p.invalid(at.Child("port"), port.Port.IntVal, utilvalidation.IsValidPortNum(int(port.Port.IntVal))...)
		if port.EndPort != nil {
			if *port.EndPort < port.Port.IntVal {
				p.invalid(end, *port.EndPort, "must be greater than or equal to `port`")
			}
			p.invalid(end, *port.EndPort, utilvalidation.IsValidPortNum(int(*port.EndPort))...)
		}
	}
}

func (p *problems) block(at *field.Path, b *networkingv1.IPBlock, known []string) {
	if b.CIDR == "" {
		p.declare(field.Required(at.Child("cidr"), ""))
		return
	}
	p.add(utilvalidation.IsValidCIDRForLegacyField(at.Child("cidr"), b.CIDR, true, known)...)
	whole, err := netip.ParsePrefix(b.CIDR)
	if err != nil {
		return
	}
	for i, text := range b.Except {
		at := at.Child("except").Index(i)
		p.add(utilvalidation.IsValidCIDRForLegacyField(at, text, true, known)...)
		if except, err := netip.ParsePrefix(text); err == nil && (!whole.Contains(except.Addr()) || whole.Bits() >= except.Bits()) {
			p.invalid(at, text, "must be a strict subset of `cidr`")
		}
	}
}

func checkEndpointSlice(p *problems, obj, old *discoveryv1.EndpointSlice) {
	kinds := []discoveryv1.AddressType{discoveryv1.AddressTypeFQDN, discoveryv1.AddressTypeIPv4, discoveryv1.AddressTypeIPv6}
	if obj.AddressType == "" {
		p.required(field.NewPath("addressType"), "")
	} else {
		oneOf(p, field.NewPath("addressType"), obj.AddressType, kinds...)
	}
	names := map[string]bool{}
	for i, port := range obj.Ports {
		at := field.NewPath("ports").Index(i)
		if name := or(port.Name, ""); name != "" {
			p.invalid(at.Child("name"), name, label(name)...)
		}
		if names[or(port.Name, "")] {
			p.duplicate(at.Child("name"), port.Name)
		}
		names[or(port.Name, "")] = true
		if port.Protocol != nil && !slices.Contains(protocols, *port.Protocol) {
			oneOf(p, at.Child("protocol"), *port.Protocol, protocols...)
		}
		if port.AppProtocol != nil {
			p.invalid(at.Child("appProtocol"), *port.AppProtocol, qualified(*port.AppProtocol)...)
		}
	}
	if old == nil || !equality.Semantic.DeepEqual(obj.Endpoints, old.Endpoints) {
		for i := range obj.Endpoints {
			p.endpoint(field.NewPath("endpoints").Index(i), &obj.Endpoints[i], obj.AddressType)
		}
	}
	if old != nil && obj.AddressType != old.AddressType {
		p.declare(field.Invalid(field.NewPath("addressType"), nil, immutable))
	}
}

func (p *problems) endpoint(at *field.Path, e *discoveryv1.Endpoint, kind discoveryv1.AddressType) {
	addresses := at.Child("addresses")
	if len(e.Addresses) == 0 {
		p.declare(field.Required(addresses, ""))
	}
	for i, address := range e.Addresses {
		before := len(p.list)
		switch kind {
		case discoveryv1.AddressTypeFQDN:
			p.invalid(addresses.Index(i), address, subdomain(address)...)
			continue
		case discoveryv1.AddressTypeIPv4, discoveryv1.AddressTypeIPv6:
		default:
			continue // nobody knows what an address is
		}
		p.legacyIP(addresses.Index(i), address, nil)
		if len(p.list) > before {
			continue
		}
		if ip, err := netip.ParseAddr(address); err == nil && ip.Is4() != (kind == discoveryv1.AddressTypeIPv4) {
			p.invalid(addresses, address, fmt.Sprintf("must be an %s address", kind))
		}
		p.endpointIP(addresses.Index(i), address)
	}
	if e.NodeName != nil {
		p.invalid(at.Child("nodeName"), *e.NodeName, subdomain(*e.NodeName)...)
	}
	if e.Hostname != nil {
		p.invalid(at.Child("hostname"), *e.Hostname, label(*e.Hostname)...)
	}
	if e.Hints != nil || len(e.DeprecatedTopology) > 0 {
		p.skip(at)
	}
}
