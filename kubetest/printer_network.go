package kubetest

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	coordinationv1 "k8s.io/api/coordination/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func networkingCells() map[string]func(runtime.Object) []any {
	return map[string]func(runtime.Object) []any{
		"ingresses": cells(func(o *networkingv1.Ingress) []any {
			ports := "80"
			if len(o.Spec.TLS) > 0 {
				ports = "80, 443"
			}
			return []any{o.Name, or(o.Spec.IngressClassName, "<none>"), ingressHosts(o.Spec.Rules), ingressAddresses(o), ports, age(o.CreationTimestamp)}
		}),
		"ingressclasses": cells(func(o *networkingv1.IngressClass) []any {
			name, parameters := o.Name, "<none>"
			if o.Annotations[networkingv1.AnnotationIsDefaultIngressClass] == "true" {
				name += " (default)"
			}
			if p := o.Spec.Parameters; p != nil {
				parameters = p.Kind + "/" + p.Name
				if p.APIGroup != nil {
					parameters = p.Kind + "." + *p.APIGroup + "/" + p.Name
				}
			}
			return []any{name, o.Spec.Controller, parameters, age(o.CreationTimestamp)}
		}),
		"networkpolicies": cells(func(o *networkingv1.NetworkPolicy) []any {
			return []any{o.Name, metav1.FormatLabelSelector(&o.Spec.PodSelector), age(o.CreationTimestamp)}
		}),
		"servicecidrs": cells(func(o *networkingv1.ServiceCIDR) []any {
			return []any{o.Name, strings.Join(o.Spec.CIDRs, ","), age(o.CreationTimestamp)}
		}),
		"ipaddresses": cells(func(o *networkingv1.IPAddress) []any {
			return []any{o.Name, addressParent(o.Spec.ParentRef), age(o.CreationTimestamp)}
		}),
	}
}

func ingressHosts(rules []networkingv1.IngressRule) string {
	var hosts []string
	for i, r := range rules {
		if len(hosts) == shown {
			return strings.Join(hosts, ",") + " + " + strconv.Itoa(len(rules)-shown) + " more..."
		}
		if r.Host != "" {
			hosts = append(hosts, rules[i].Host)
		}
	}
	return orText(strings.Join(hosts, ","), "*")
}

func ingressAddresses(o *networkingv1.Ingress) string {
	var list []string
	for _, i := range o.Status.LoadBalancer.Ingress {
		if address := cmp.Or(i.IP, i.Hostname); address != "" {
			list = append(list, address)
		}
	}
	slices.Sort(list)
	return strings.Join(slices.Compact(list), ",")
}

func addressParent(ref *networkingv1.ParentReference) string {
	if ref == nil {
		return "<none>"
	}
	parts := []string{strings.ToLower(schema.GroupResource{Group: ref.Group, Resource: ref.Resource}.String())}
	if ref.Namespace != "" {
		parts = append(parts, ref.Namespace)
	}
	return strings.Join(append(parts, ref.Name), "/")
}

func discoveryCells() map[string]func(runtime.Object) []any {
	return map[string]func(runtime.Object) []any{
		"endpointslices": cells(func(o *discoveryv1.EndpointSlice) []any {
			var ports, addresses []string
			for _, p := range o.Ports {
				switch {
				case p.Port != nil:
					ports = append(ports, strconv.Itoa(int(*p.Port)))
				default:
					ports = append(ports, or(p.Name, "*"))
				}
			}
			for _, e := range o.Endpoints {
				addresses = append(addresses, e.Addresses...)
			}
			return []any{o.Name, string(o.AddressType), some(ports, "<unset>"), some(addresses, "<unset>"), age(o.CreationTimestamp)}
		}),
	}
}

func leaseCells() map[string]func(runtime.Object) []any {
	return map[string]func(runtime.Object) []any{
		"leases": cells(func(o *coordinationv1.Lease) []any {
			return []any{o.Name, or(o.Spec.HolderIdentity, ""), age(o.CreationTimestamp)}
		}),
	}
}
