package kubetest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Names and amounts of resources.

var countedResources = []corev1.ResourceName{
	corev1.ResourcePods, corev1.ResourceQuotas, corev1.ResourceServices, corev1.ResourceReplicationControllers,
	corev1.ResourceSecrets, corev1.ResourceConfigMaps, corev1.ResourcePersistentVolumeClaims,
	corev1.ResourceServicesNodePorts, corev1.ResourceServicesLoadBalancers,
}

var computeResources = []corev1.ResourceName{
	corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage,
	corev1.ResourceRequestsCPU, corev1.ResourceRequestsMemory, corev1.ResourceRequestsEphemeralStorage,
	corev1.ResourceLimitsCPU, corev1.ResourceLimitsMemory, corev1.ResourceLimitsEphemeralStorage, corev1.ResourceRequestsStorage,
}

const requestsPrefix = "requests."

// isExtendedResource reports whether a resource is one that the cluster has added.
func isExtendedResource(name string) bool {
	return !isNativeResource(name) && !strings.HasPrefix(name, requestsPrefix) && len(qualified(requestsPrefix+name)) == 0
}

func isNativeResource(name string) bool {
	return !strings.Contains(name, "/") || strings.Contains(name, corev1.ResourceDefaultNamespacePrefix)
}

func isHugePages(name string) bool { return strings.HasPrefix(name, corev1.ResourceHugePagesPrefix) }

func isIntegerResource(name string) bool {
	return slices.Contains(countedResources, corev1.ResourceName(name)) || isExtendedResource(name)
}

func isQuotaResource(name string) bool {
	n := corev1.ResourceName(name)
	return slices.Contains(countedResources, n) || slices.Contains(computeResources, n) ||
		isHugePages(name) || strings.HasPrefix(name, corev1.ResourceRequestsHugePagesPrefix)
}

// overcommits reports whether more of a resource can be limited than is requested.
func overcommits(name string) bool { return isNativeResource(name) && !isHugePages(name) }

// resourceName adds what is wrong with the name of a resource of any kind, and reports whether it is good.
func (p *problems) resourceName(at *field.Path, name string) bool {
	before := len(p.list)
	p.invalid(at, corev1.ResourceName(name), qualified(name)...)
	if len(p.list) == before && !strings.Contains(name, "/") && !isQuotaResource(name) && name != string(corev1.ResourceStorage) {
		p.invalid(at, corev1.ResourceName(name), "must be a standard resource type or fully qualified")
	}
	return len(p.list) == before
}

// containerResource adds what is wrong with the name of a resource of a container.
func (p *problems) containerResource(at *field.Path, name string) {
	p.resourceName(at, name)
	n := corev1.ResourceName(name)
	switch {
	case !strings.Contains(name, "/"):
		if n != corev1.ResourceCPU && n != corev1.ResourceMemory && n != corev1.ResourceEphemeralStorage && !isHugePages(name) {
			p.invalid(at, n, "must be a standard resource for containers")
		}
	case !isNativeResource(name) && !isExtendedResource(name):
		p.invalid(at, n, "doesn't follow extended resource name standard")
	}
}

// podResource adds what is wrong with the name of a resource of a whole pod.
func (p *problems) podResource(at *field.Path, name string) {
	if !p.resourceName(at, name) {
		return
	}
	if n := corev1.ResourceName(name); n != corev1.ResourceCPU && n != corev1.ResourceMemory && !isHugePages(name) {
		p.add(field.NotSupported(at, n, []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceHugePagesPrefix, corev1.ResourceMemory}))
	}
}

// requirements validates requests and limits; nameOf is what validates the names.
func (p *problems) requirements(at *field.Path, r *corev1.ResourceRequirements, claims []string, nameOf func(*field.Path, string)) {
	limits, requests := at.Child("limits"), at.Child("requests")
	compute, huge := false, false
	note := func(at *field.Path, name corev1.ResourceName, q resource.Quantity) {
		compute = compute || name == corev1.ResourceCPU || name == corev1.ResourceMemory
		if isHugePages(string(name)) {
			huge = true
			p.hugePages(at, name, q)
		}
	}
	inKeyOrder(r.Limits, func(name corev1.ResourceName, q resource.Quantity) {
		at := limits.Key(string(name))
		nameOf(at, string(name))
		p.quantity(at, string(name), q)
		note(at, name, q)
	})
	inKeyOrder(r.Requests, func(name corev1.ResourceName, q resource.Quantity) {
		at := requests.Key(string(name))
		nameOf(at, string(name))
		p.quantity(at, string(name), q)
		p.withinLimit(requests, limits, name, q, r.Limits)
		note(at, name, q)
	})
	if huge && !compute {
		p.forbidden(at, "HugePages require cpu or memory")
	}
	p.claimNames(at.Child("claims"), r.Claims, claims)
}

// withinLimit compares a request with the limit of the same resource.
func (p *problems) withinLimit(requests, limits *field.Path, name corev1.ResourceName, q resource.Quantity, all corev1.ResourceList) {
	limit, ok := all[name]
	switch {
	case !ok:
		if !overcommits(string(name)) {
			p.required(limits, "Limit must be set for non overcommitable resources")
		}
	case q.Cmp(limit) != 0 && !overcommits(string(name)):
		p.invalid(requests, q.String(), fmt.Sprintf("must be equal to %s limit of %s", name, limit.String()))
	case q.Cmp(limit) > 0:
		p.invalid(requests, q.String(), fmt.Sprintf("must be less than or equal to %s limit of %s", name, limit.String()))
	}
}

func (p *problems) hugePages(at *field.Path, name corev1.ResourceName, q resource.Quantity) {
	size, err := resource.ParseQuantity(strings.TrimPrefix(string(name), corev1.ResourceHugePagesPrefix))
	if err != nil || size.Sign() <= 0 || size.MilliValue()%1000 != 0 || q.Value()%size.Value() != 0 {
		p.invalid(at, q.String(), fmt.Sprintf("%s is not positive integer multiple of %s", q.String(), name))
	}
}

// claimNames validates the resource claims that a container names.
func (p *problems) claimNames(at *field.Path, claims []corev1.ResourceClaim, known []string) {
	seen := map[string]bool{}
	for i, c := range claims {
		at := at.Index(i)
		if c.Name == "" {
			p.required(at, "")
			continue
		}
		p.claimTwice(at, c, seen)
		if !slices.Contains(known, c.Name) {
			err := field.NotFound(at, c.Name)
			err.Detail = "must be one of the names in pod.spec.resourceClaims"
			if len(known) == 0 {
				err.Detail += " which is empty"
			} else {
				err.Detail += ": " + strings.Join(slices.Sorted(slices.Values(known)), ", ")
			}
			p.add(err)
		}
	}
}

// claimTwice finds a claim, or a request of it, that was named before.
func (p *problems) claimTwice(at *field.Path, c corev1.ResourceClaim, seen map[string]bool) {
	if seen[c.Name] {
		p.duplicate(at, c.Name)
		return
	}
	key := c.Name
	if c.Request != "" {
		p.invalid(at.Child("request"), c.Request, label(c.Request)...)
		key += "/" + c.Request
	}
	if seen[key] {
		p.duplicate(at, key)
	} else if c.Request == "" {
		for _, k := range slices.Sorted(maps.Keys(seen)) {
			if strings.HasPrefix(k, c.Name+"/") {
				p.duplicate(at, c.Name)
			}
		}
	}
	seen[key] = true
}

// podResources validates the resources of a whole pod.
func (p *problems) podResources(at *field.Path, spec *corev1.PodSpec, claims []string) {
	r := spec.Resources
	if r == nil {
		return
	}
	at = at.Child("resources")
	if spec.OS != nil && spec.OS.Name == corev1.Windows {
		p.forbidden(at, "may not be set for a windows pod")
		return
	}
	if r.Claims != nil {
		p.forbidden(at.Child("claims"), "claims may not be set for Resources at pod-level")
	}
	p.requirements(at, r, claims, p.podResource)
	total := corev1.ResourceList{}
	for _, c := range spec.Containers {
		for name, q := range c.Resources.Requests {
			sum := total[name]
			sum.Add(q)
			total[name] = sum
		}
	}
	inKeyOrder(total, func(name corev1.ResourceName, sum resource.Quantity) {
		if q, ok := r.Requests[name]; ok && sum.Cmp(q) > 0 {
			p.invalid(at.Child("requests").Key(string(name)), q.String(), "must be greater than or equal to aggregate container requests of "+sum.String())
		}
	})
	for i, c := range spec.Containers {
		inKeyOrder(c.Resources.Limits, func(name corev1.ResourceName, limit resource.Quantity) {
			if q, ok := r.Limits[name]; ok && limit.Cmp(q) > 0 {
				p.invalid(at.Child("containers").Index(i).Key(string(name)).Child("limits"), limit.String(), "must be less than or equal to pod limits of "+q.String())
			}
		})
	}
}
