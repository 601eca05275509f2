package apiregistration

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/go-kube/kube/resource"
)

// APIService says which server answers for one version of an API group: the API server
// itself, or a Service behind it (API aggregation). Its name is version.group.
//
// The type is kube's own: Kubernetes' is in k8s.io/kube-aggregator, which brings client-go
// and the API server's libraries along. It has the same fields and the same JSON.
type APIService = resource.Object[APIServiceSpec, APIServiceStatus]

// APIServiceSpec says where the server of a group version is and how it ranks.
type APIServiceSpec struct {
	// Service is where the server is; nil when the API server answers itself.
	Service *ServiceReference `json:"service,omitempty"`
	// Group is the API group that the server hosts.
	Group string `json:"group,omitempty"`
	// Version is the version of the group that it hosts, such as v1.
	Version string `json:"version,omitempty"`
	// InsecureSkipTLSVerify turns the check of the server's certificate off. CABundle is the
	// better answer to a private certificate authority.
	InsecureSkipTLSVerify bool `json:"insecureSkipTLSVerify,omitempty"`
	// CABundle holds the PEM-encoded certificates that the server's certificate is checked
	// with; empty means the roots of the API server's system.
	CABundle []byte `json:"caBundle,omitempty"`
	// GroupPriorityMinimum is the least priority of the group: clients prefer groups with a
	// higher one. The highest minimum of the group's versions counts.
	GroupPriorityMinimum int32 `json:"groupPriorityMinimum"`
	// VersionPriority ranks the version in its group, highest first, and has to be above
	// zero. Equal ones are ranked by their names, as [resource.CompareVersions] does.
	VersionPriority int32 `json:"versionPriority"`
}

// ServiceReference names the Service of an aggregated API server.
type ServiceReference struct {
	// Namespace of the Service.
	Namespace string `json:"namespace,omitempty"`
	// Name of the Service.
	Name string `json:"name,omitempty"`
	// Port of the Service, 1 to 65535; nil means 443.
	Port *int32 `json:"port,omitempty"`
}

// APIServiceStatus says whether the server of a group version can be reached.
type APIServiceStatus struct {
	// Conditions by type; the type Available tells whether the server answers.
	Conditions []APIServiceCondition `json:"conditions,omitempty" patchStrategy:"merge" patchMergeKey:"type"`
}

// Available is the type of the condition that tells whether the server of an APIService
// exists and answers.
const Available = "Available"

// APIServiceCondition is one observation about an APIService.
type APIServiceCondition struct {
	// Type of the condition, such as [Available].
	Type string `json:"type"`
	// Status is True, False or Unknown.
	Status metav1.ConditionStatus `json:"status"`
	// LastTransitionTime is when Status last changed.
	LastTransitionTime metav1.Time `json:"lastTransitionTime,omitempty"`
	// Reason is one CamelCase word for the last change.
	Reason string `json:"reason,omitempty"`
	// Message tells a person about the last change.
	Message string `json:"message,omitempty"`
}
