package kubetest

import (
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// traits are the simple properties of a built-in kind, as the registries of a real server have
// them (pkg/registry/*/*/strategy.go in Kubernetes).
type traits uint16

const (
	// createsOnUpdate lets a PUT create the object.
	createsOnUpdate traits = 1 << iota
	// conditional refuses an update without a resource version.
	conditional
	// counted has a generation.
	counted
	// returned answers a deletion with the object.
	returned
	// orphaning leaves dependents alone unless told otherwise.
	orphaning
	// uncollected is left alone by the garbage collector's finalizers.
	uncollected
	// pathNamed takes every name that can stand in a path.
	pathNamed
	// labelNamed takes names that are DNS labels.
	labelNamed
	// reported keeps a status that comes with a new object.
	reported
)

func (t traits) has(flag traits) bool { return t&flag != 0 }

// builtinTraits are the traits of the kinds that have any.
func builtinTraits() map[schema.GroupKind]traits {
	groups := map[string]map[string]traits{
		"": {
			"ReplicationController": counted | orphaning,
			"Pod":                   counted | returned,
			"PodTemplate":           counted | returned,
			"Endpoints":             createsOnUpdate,
			"Event":                 createsOnUpdate | uncollected,
			"LimitRange":            createsOnUpdate,
			"Namespace":             returned | labelNamed,
			"Node":                  reported,
			"PersistentVolume":      returned,
			"PersistentVolumeClaim": returned,
			"ResourceQuota":         returned,
			"Service":               createsOnUpdate | returned | labelNamed,
			"ServiceAccount":        returned,
		},
		"events.k8s.io": {"Event": createsOnUpdate | uncollected},
		"admissionregistration.k8s.io": {
			"MutatingAdmissionPolicy":          conditional | counted,
			"MutatingAdmissionPolicyBinding":   conditional | counted,
			"MutatingWebhookConfiguration":     conditional | counted,
			"ValidatingAdmissionPolicy":        conditional | counted,
			"ValidatingAdmissionPolicyBinding": conditional | counted,
			"ValidatingWebhookConfiguration":   conditional | counted,
		},
		"apps": {
			"DaemonSet":   counted,
			"Deployment":  counted,
			"ReplicaSet":  counted,
			"StatefulSet": counted | labelNamed,
		},
		"autoscaling":         {"HorizontalPodAutoscaler": counted},
		"batch":               {"CronJob": counted, "Job": counted | orphaning},
		"certificates.k8s.io": {"ClusterTrustBundle": conditional, "PodCertificateRequest": conditional},
		"coordination.k8s.io": {"Lease": createsOnUpdate | conditional, "LeaseCandidate": createsOnUpdate | conditional},
		"discovery.k8s.io":    {"EndpointSlice": counted},
		"flowcontrol.apiserver.k8s.io": {
			"FlowSchema":                 counted,
			"PriorityLevelConfiguration": counted,
		},
		"internal.apiserver.k8s.io": {"StorageVersion": conditional},
		"networking.k8s.io":         {"Ingress": counted, "IngressClass": counted, "NetworkPolicy": counted},
		"node.k8s.io":               {"RuntimeClass": createsOnUpdate | conditional},
		"policy":                    {"PodDisruptionBudget": conditional | counted},
		"rbac.authorization.k8s.io": {
			"ClusterRole":        createsOnUpdate | pathNamed,
			"ClusterRoleBinding": createsOnUpdate | pathNamed,
			"Role":               createsOnUpdate | pathNamed,
			"RoleBinding":        createsOnUpdate | pathNamed,
		},
		"resource.k8s.io": {
			"DeviceClass":               counted | returned,
			"DeviceTaintRule":           counted,
			"ResourceClaim":             returned,
			"ResourceClaimTemplate":     returned,
			"ResourcePoolStatusRequest": conditional | returned,
			"ResourceSlice":             counted | returned,
		},
		"scheduling.k8s.io": {
			"CompositePodGroup": conditional,
			"PodGroup":          conditional,
			"Workload":          conditional,
		},
		"storage.k8s.io": {
			"CSIDriver":             conditional | counted | returned,
			"CSINode":               conditional | returned,
			"CSIStorageCapacity":    conditional,
			"StorageClass":          returned,
			"VolumeAttachment":      conditional | returned,
			"VolumeAttributesClass": returned,
		},
		"storagemigration.k8s.io": {"StorageVersionMigration": conditional},
		"apiextensions.k8s.io":    {"CustomResourceDefinition": conditional | counted},
		"apiregistration.k8s.io":  {"APIService": conditional},
	}
	flat := map[schema.GroupKind]traits{}
	for group, kinds := range groups {
		for kind, t := range kinds {
			flat[schema.GroupKind{Group: group, Kind: kind}] = t
		}
	}
	return flat
}

// apply writes t into the strategy of a kind.
func (t traits) apply(s *strategy) {
	s.createOnUpdate = t.has(createsOnUpdate)
	s.needsVersion = t.has(conditional)
	s.generation = t.has(counted)
	s.returnsDeleted = t.has(returned)
	s.orphans = t.has(orphaning)
	s.noGarbage = t.has(uncollected)
	s.keepsStatus = t.has(reported)
	switch {
	case t.has(pathNamed):
		s.validName = pathName
	case t.has(labelNamed):
		s.validName = validation.NameIsDNSLabel
	default:
		s.validName = validation.NameIsDNSSubdomain
	}
}
