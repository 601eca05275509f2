package gotypes

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	"encoding/json"
	"github.com/go-kube/kube/crd"
	"github.com/go-kube/kube/resource"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiresource "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// shapes are the types of Kubernetes that a schema may turn out to be. A type comes before one
// that has the same fields. Those that any author might have thought of by themselves, such as an
// object with a name, are atomic: the schema has to say so too.
type shapes struct {
	Time        metav1.Time          `json:"metav1.Time"`
	Quantity    apiresource.Quantity `json:"apiresource.Quantity"`
	IntOrString intstr.IntOrString   `json:"intstr.IntOrString"`
	Raw         json.RawMessage      `json:"json.RawMessage"`
	RawObject   runtime.RawExtension `json:"runtime.RawExtension"`
	Bytes       []byte               `json:"[]byte"`
	String      string               `json:"string"`
	Bool        bool                 `json:"bool"`
	Int         int                  `json:"int"`
	Int32       int32                `json:"int32"`
	Int64       int64                `json:"int64"`
	Float       float64              `json:"float64"`
	Nothing     struct{}             `json:"struct{}"`

	ObjectMeta    metav1.ObjectMeta    `json:"metav1.ObjectMeta"`
	LabelSelector metav1.LabelSelector `json:"metav1.LabelSelector"`
	Condition     metav1.Condition     `json:"metav1.Condition"`

	PodTemplateSpec           corev1.PodTemplateSpec            `json:"corev1.PodTemplateSpec"`
	PodSpec                   corev1.PodSpec                    `json:"corev1.PodSpec"`
	Container                 corev1.Container                  `json:"corev1.Container"`
	EphemeralContainer        corev1.EphemeralContainer         `json:"corev1.EphemeralContainer"`
	Volume                    corev1.Volume                     `json:"corev1.Volume"`
	VolumeSource              corev1.VolumeSource               `json:"corev1.VolumeSource"`
	VolumeMount               corev1.VolumeMount                `json:"corev1.VolumeMount"`
	EnvVar                    corev1.EnvVar                     `json:"corev1.EnvVar"`
	EnvVarSource              corev1.EnvVarSource               `json:"corev1.EnvVarSource"`
	EnvFromSource             corev1.EnvFromSource              `json:"corev1.EnvFromSource"`
	Affinity                  corev1.Affinity                   `json:"corev1.Affinity"`
	NodeAffinity              corev1.NodeAffinity               `json:"corev1.NodeAffinity"`
	PodAffinity               corev1.PodAffinity                `json:"corev1.PodAffinity"`
	NodeSelector              corev1.NodeSelector               `json:"corev1.NodeSelector"`
	PodAffinityTerm           corev1.PodAffinityTerm            `json:"corev1.PodAffinityTerm"`
	Toleration                corev1.Toleration                 `json:"corev1.Toleration"`
	TopologySpreadConstraint  corev1.TopologySpreadConstraint   `json:"corev1.TopologySpreadConstraint"`
	SecurityContext           corev1.SecurityContext            `json:"corev1.SecurityContext"`
	PodSecurityContext        corev1.PodSecurityContext         `json:"corev1.PodSecurityContext"`
	Probe                     corev1.Probe                      `json:"corev1.Probe"`
	Lifecycle                 corev1.Lifecycle                  `json:"corev1.Lifecycle"`
	ResourceRequirements      corev1.ResourceRequirements       `json:"corev1.ResourceRequirements"`
	VolumeResourceRequirement corev1.VolumeResourceRequirements `json:"corev1.VolumeResourceRequirements"`
	PersistentVolumeClaimSpec corev1.PersistentVolumeClaimSpec  `json:"corev1.PersistentVolumeClaimSpec"`
	PersistentVolumeClaim     corev1.PersistentVolumeClaim      `json:"corev1.PersistentVolumeClaim"`
	ServicePort               corev1.ServicePort                `json:"corev1.ServicePort"`
	ServiceSpec               corev1.ServiceSpec                `json:"corev1.ServiceSpec"`
	ContainerPort             corev1.ContainerPort              `json:"corev1.ContainerPort"`
	PodDNSConfig              corev1.PodDNSConfig               `json:"corev1.PodDNSConfig"`
	EmptyDirVolumeSource      corev1.EmptyDirVolumeSource       `json:"corev1.EmptyDirVolumeSource"`
	ConfigMapVolumeSource     corev1.ConfigMapVolumeSource      `json:"corev1.ConfigMapVolumeSource"`
	SecretVolumeSource        corev1.SecretVolumeSource         `json:"corev1.SecretVolumeSource"`
	ObjectReference           corev1.ObjectReference            `json:"corev1.ObjectReference"`
	SecretKeySelector         corev1.SecretKeySelector          `json:"corev1.SecretKeySelector"`
	ConfigMapKeySelector      corev1.ConfigMapKeySelector       `json:"corev1.ConfigMapKeySelector"`
	TypedLocalObjectReference corev1.TypedLocalObjectReference  `json:"corev1.TypedLocalObjectReference"`
	SecretReference           corev1.SecretReference            `json:"corev1.SecretReference"`
	LocalObjectReference      corev1.LocalObjectReference       `json:"corev1.LocalObjectReference"`

	JobSpec            batchv1.JobSpec           `json:"batchv1.JobSpec"`
	JobTemplateSpec    batchv1.JobTemplateSpec   `json:"batchv1.JobTemplateSpec"`
	DeploymentSpec     appsv1.DeploymentSpec     `json:"appsv1.DeploymentSpec"`
	DeploymentStrategy appsv1.DeploymentStrategy `json:"appsv1.DeploymentStrategy"`

	PolicyRule           rbacv1.PolicyRule                     `json:"rbacv1.PolicyRule"`
	IngressSpec          networkingv1.IngressSpec              `json:"networkingv1.IngressSpec"`
	NetworkPolicyPeer    networkingv1.NetworkPolicyPeer        `json:"networkingv1.NetworkPolicyPeer"`
	NetworkPolicyIngress networkingv1.NetworkPolicyIngressRule `json:"networkingv1.NetworkPolicyIngressRule"`
	NetworkPolicyEgress  networkingv1.NetworkPolicyEgressRule  `json:"networkingv1.NetworkPolicyEgressRule"`
}

// atomic are the shapes that have to be atomic in the schema.
var atomic = []string{
	"corev1.ObjectReference", "corev1.SecretKeySelector", "corev1.ConfigMapKeySelector", "corev1.TypedLocalObjectReference",
	"corev1.SecretReference", "corev1.LocalObjectReference", "metav1.LabelSelector", "corev1.NodeSelector",
}

// knownType is a Go type with the schema that package crd derives from it.
type knownType struct {
	expr   string
	schema props
	atomic bool
}

// knownTypes are derived once; nobody changes them.
var knownTypes = sync.OnceValues(deriveKnown)

// known is the schemas of all shapes: leafs by their Go type, and as a list, those with the most fields
// first.
type known struct {
	list  []knownType
	leafs map[string]props
}

func deriveKnown() (k known, err error) {
	kind := resource.DefineNamespaced[resource.Object[shapes, struct{}]](resource.Info{Group: "known.example.com", Version: "v1", Kind: "Known"})
	def, err := crd.For(kind, nil)
	if err != nil {
		return k, fmt.Errorf("the types of Kubernetes: %w", err)
	}
	k.leafs = map[string]props{}
	spec := def.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
	for _, expr := range keysOf(spec.Properties) {
		k.leafs[expr] = spec.Properties[expr]
		k.list = append(k.list, knownType{expr, spec.Properties[expr], slices.Contains(atomic, expr)})
	}
	slices.SortStableFunc(k.list, func(a, b knownType) int { return cmp.Compare(len(b.schema.Properties), len(a.schema.Properties)) })
	return k, nil
}

// know finds the type that a schema was made of, or nil. hint is the name of the field, which
// decides where two types have the same fields.
func (g *generator) know(s *props, hint string) *knownType {
	var best *knownType
	var bestScore float64
	for i := range g.list {
		k := &g.list[i]
		score := k.matches(s)
		if score == 0 || best != nil && score < bestScore || best != nil && score == bestScore && !k.prefers(s, hint) {
			continue
		}
		best, bestScore = k, score
	}
	return best
}

// prefers settles a tie.
func (k *knownType) prefers(s *props, hint string) bool {
	switch k.expr {
	case "corev1.SecretKeySelector":
		return !isAboutConfigMaps(s, hint)
	case "corev1.ConfigMapKeySelector":
		return isAboutConfigMaps(s, hint)
	}
	return false
}

func isAboutConfigMaps(s *props, hint string) bool {
	text := strings.ToLower(hint + " " + s.Description + " " + s.Properties["key"].Description + " " + s.Properties["optional"].Description)
	return strings.Contains(text, "configmap") && !strings.Contains(text, "secret")
}

// leastShare is how many of a type's fields a schema has to have: that of an older version of
// Kubernetes has a few less.
const leastShare = 0.6

// matches returns the share of the type's fields that the schema has, or 0 where the schema lets in
// what the type would lose, or would write without being asked.
func (k *knownType) matches(s *props) float64 {
	share := float64(len(s.Properties)) / float64(len(k.schema.Properties))
	switch {
	case s.Type != "object" || len(s.Properties) == 0 || share > 1 || share < leastShare:
		return 0
	case k.atomic && (s.XMapType == nil || *s.XMapType != "atomic"):
		return 0
	case len(k.schema.Properties) <= 5 && share < 1:
		return 0
	case !holds(&k.schema, s) || isStricter(&k.schema, s, true):
		return 0
	}
	return share
}

// isStricter reports whether parts of a schema have constraints that the type of Kubernetes does not
// know: then somebody else wrote them, and wants to see them. Those of the whole stand with the field.
func isStricter(of, s *props, whole bool) bool {
	unknown := len(s.Enum) > len(of.Enum) || s.Pattern != "" && of.Pattern == "" || len(s.XValidations) > len(of.XValidations) ||
		set(s.MinLength, of.MinLength) || set(s.MaxLength, of.MaxLength) || set(s.Minimum, of.Minimum) || set(s.Maximum, of.Maximum) ||
		set(s.MinItems, of.MinItems) || set(s.MaxItems, of.MaxItems) || set(s.MinProperties, of.MinProperties) || set(s.MaxProperties, of.MaxProperties)
	junctors := len(s.OneOf)+len(s.AllOf) > 0 || s.Not != nil || len(s.AnyOf) > 0 && !s.XIntOrString
	if junctors || unknown && !whole {
		return true
	}
	for name, p := range s.Properties {
		if inner, ok := of.Properties[name]; ok && isStricter(&inner, &p, false) {
			return true
		}
	}
	if s.Items != nil && of.Items != nil && isStricter(of.Items.Schema, s.Items.Schema, false) {
		return true
	}
	values := s.AdditionalProperties
	return values != nil && values.Schema != nil && of.AdditionalProperties != nil && isStricter(of.AdditionalProperties.Schema, values.Schema, false)
}

func set[V any](value, known *V) bool { return value != nil && known == nil }

// holds reports whether a Go type whose schema is of keeps everything that s lets in, and
// writes nothing that s does not want.
func holds(of, s *props) bool {
	if of.XIntOrString || s.XIntOrString {
		return of.XIntOrString && s.XIntOrString
	}
	open := of.XPreserveUnknownFields != nil
	switch {
	case open && (of.Type == "" || s.Type == "object"):
		return true
	case s.XPreserveUnknownFields != nil, s.Type != of.Type:
		return false
	}
	switch s.Type {
	case "array":
		return of.Items != nil && s.Items != nil && s.Items.Schema != nil && holds(of.Items.Schema, s.Items.Schema)
	case "object":
		return holdsObject(of, s)
	}
	return s.Format == of.Format || s.Format == "" && of.Format == "int64" || of.Format == "" && s.Type == "string" && s.Format != "byte"
}

func holdsObject(of, s *props) bool {
	if s.AdditionalProperties != nil {
		return s.AdditionalProperties.Schema != nil && of.AdditionalProperties != nil && holds(of.AdditionalProperties.Schema, s.AdditionalProperties.Schema)
	}
	for name, p := range s.Properties {
		inner, ok := of.Properties[name]
		if !ok || !holds(&inner, &p) {
			return false
		}
	}
	// What the type always writes has to be wanted always, but for lists and maps: they are null then, which
	// is as good as absent. Nothing gets into an object without fields.
	unwanted := func(name string) bool {
		p := of.Properties[name]
		return p.Type != "array" && p.AdditionalProperties == nil && !slices.Contains(s.Required, name)
	}
	return len(s.Properties) == 0 || !slices.ContainsFunc(of.Required, unwanted)
}
