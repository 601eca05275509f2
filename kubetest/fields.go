package kubetest

import (
	"fmt"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// selectable is what field selectors can use of the objects of a kind, besides metadata.name
// and metadata.namespace.
type selectable struct {
	// values returns the fields of an object, which is in the version of storage.
	values func(obj runtime.Object) fields.Set
	// aliases are names in selectors for names in values.
	aliases map[string]string
	// onlyAliases says that the names in values cannot be used themselves.
	onlyAliases bool
	// unknown is the message about any other field, given its name.
	unknown string
}

// builtinFields are the fields that the API server can select by.
func builtinFields(gk schema.GroupKind) *selectable {
	switch gk {
	case schema.GroupKind{Kind: "Pod"}:
		return &selectable{values: valuesOf(podFields), aliases: map[string]string{"spec.host": "spec.nodeName"}}
	case schema.GroupKind{Kind: "Node"}:
		return &selectable{values: valuesOf(func(n *corev1.Node) fields.Set {
			return fields.Set{"spec.unschedulable": strconv.FormatBool(n.Spec.Unschedulable)}
		})}
	case schema.GroupKind{Kind: "ReplicationController"}:
		return &selectable{values: valuesOf(func(rc *corev1.ReplicationController) fields.Set {
			return fields.Set{"status.replicas": strconv.Itoa(int(rc.Status.Replicas))}
		})}
	case schema.GroupKind{Kind: "Namespace"}:
		return &selectable{values: valuesOf(func(ns *corev1.Namespace) fields.Set {
			return fields.Set{"status.phase": string(ns.Status.Phase)}
		})}
	case schema.GroupKind{Kind: "Secret"}:
		return &selectable{values: valuesOf(func(s *corev1.Secret) fields.Set {
			return fields.Set{"type": string(s.Type)}
		})}
	case schema.GroupKind{Kind: "Service"}:
		return &selectable{values: valuesOf(func(s *corev1.Service) fields.Set {
			return fields.Set{"spec.clusterIP": s.Spec.ClusterIP, "spec.type": string(s.Spec.Type)}
		})}
	case schema.GroupKind{Kind: "Event"}:
		return &selectable{values: valuesOf(eventFields)}
	case schema.GroupKind{Group: "events.k8s.io", Kind: "Event"}:
		return &selectable{values: valuesOf(eventFields), aliases: newEventFields, onlyAliases: true}
	case schema.GroupKind{Group: "batch", Kind: "Job"}:
		return &selectable{unknown: "field label %q not supported for Job", values: valuesOf(func(j *batchv1.Job) fields.Set {
			return fields.Set{"status.successful": strconv.Itoa(int(j.Status.Succeeded))}
		})}
	case schema.GroupKind{Group: "certificates.k8s.io", Kind: "CertificateSigningRequest"}:
		return &selectable{values: valuesOf(func(r *certificatesv1.CertificateSigningRequest) fields.Set {
			return fields.Set{"spec.signerName": r.Spec.SignerName}
		})}
	case schema.GroupKind{Group: "resource.k8s.io", Kind: "ResourceSlice"}:
		return &selectable{
			unknown: "field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: %s",
			values:  valuesOf(sliceFields),
		}
	}
	return nil
}

// valuesOf adapts the fields of a Go type to those of any object.
func valuesOf[T any, P interface {
	*T
	runtime.Object
}](f func(P) fields.Set) func(runtime.Object) fields.Set {
	return func(obj runtime.Object) fields.Set { return f(obj.(P)) }
}

func podFields(p *corev1.Pod) fields.Set {
	ip := ""
	if len(p.Status.PodIPs) > 0 {
		ip = p.Status.PodIPs[0].IP
	}
	return fields.Set{
		"spec.nodeName":            p.Spec.NodeName,
		"spec.restartPolicy":       string(p.Spec.RestartPolicy),
		"spec.schedulerName":       p.Spec.SchedulerName,
		"spec.serviceAccountName":  p.Spec.ServiceAccountName,
		"spec.hostNetwork":         strconv.FormatBool(p.Spec.HostNetwork),
		"status.phase":             string(p.Status.Phase),
		"status.podIP":             ip,
		"status.podIPs":            "", // known, and never set
		"status.nominatedNodeName": p.Status.NominatedNodeName,
	}
}

func eventFields(e *corev1.Event) fields.Set {
	source := e.Source.Component
	if source == "" {
		source = e.ReportingController
	}
	return fields.Set{
		"involvedObject.kind":            e.InvolvedObject.Kind,
		"involvedObject.namespace":       e.InvolvedObject.Namespace,
		"involvedObject.name":            e.InvolvedObject.Name,
		"involvedObject.uid":             string(e.InvolvedObject.UID),
		"involvedObject.apiVersion":      e.InvolvedObject.APIVersion,
		"involvedObject.resourceVersion": e.InvolvedObject.ResourceVersion,
		"involvedObject.fieldPath":       e.InvolvedObject.FieldPath,
		"reason":                         e.Reason,
		"reportingComponent":             e.ReportingController,
		"source":                         source,
		"type":                           e.Type,
	}
}

// newEventFields are the names that the fields of events have in events.k8s.io.
var newEventFields = map[string]string{
	"reason":                    "reason",
	"regarding.kind":            "involvedObject.kind",
	"regarding.namespace":       "involvedObject.namespace",
	"regarding.name":            "involvedObject.name",
	"regarding.uid":             "involvedObject.uid",
	"regarding.apiVersion":      "involvedObject.apiVersion",
	"regarding.resourceVersion": "involvedObject.resourceVersion",
	"regarding.fieldPath":       "involvedObject.fieldPath",
	"reportingController":       "reportingComponent",
	"type":                      "type",
}

func sliceFields(s *resourcev1.ResourceSlice) fields.Set {
	node := ""
	if s.Spec.NodeName != nil {
		node = *s.Spec.NodeName
	}
	return fields.Set{"spec.nodeName": node, "spec.driver": s.Spec.Driver, "spec.pool.name": s.Spec.Pool.Name}
}

// fieldsOf returns the values of the fields that selectors can use.
func (k *kind) fieldsOf(o *object) fields.Set {
	set := fields.Set{}
	if k.strategy.selectable != nil {
		set = k.strategy.selectable.values(o.content)
	}
	set["metadata.name"] = o.meta.GetName()
	if k.namespaced() {
		set["metadata.namespace"] = o.meta.GetNamespace()
	}
	return set
}

// fieldLabel checks a field of a selector, and returns its name and value as fieldsOf has them.
func (k *kind) fieldLabel(label, value string) (string, string, error) {
	s := k.strategy.selectable
	if label == "metadata.name" || label == "metadata.namespace" && (k.namespaced() || s == nil) {
		return label, value, nil
	}
	if s == nil {
		return "", "", fmt.Errorf("%q is not a known field selector: only %q, %q", label, "metadata.name", "metadata.namespace")
	}
	if name, ok := s.aliases[label]; ok {
		return name, value, nil
	}
	if _, ok := s.values(k.newStored())[label]; ok && !s.onlyAliases {
		return label, value, nil
	}
	if s.unknown != "" {
		return "", "", fmt.Errorf(s.unknown, label)
	}
	return "", "", fmt.Errorf("field label not supported: %s", label)
}
