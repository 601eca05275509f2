package resource

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Scope says whether objects of a kind live in a namespace.
type Scope uint8

const (
	// NamespaceScoped kinds have a namespace in their path: Pods, Deployments.
	NamespaceScoped Scope = iota
	// ClusterScoped kinds have none: Nodes, CustomResourceDefinitions.
	ClusterScoped
)

// String returns the word that a CustomResourceDefinition uses: Namespaced or Cluster.
func (s Scope) String() string {
	if s == ClusterScoped {
		return "Cluster"
	}
	return "Namespaced"
}

// Info is the identity of a kind, as discovery reports it. It is plain data: a package of
// API types can describe its kinds without a client, a scheme or a registration.
type Info struct {
	// Group is the API group; empty for the core group.
	Group string
	// Version is the API version in the group, such as v1 or v1beta1.
	Version string
	// Kind is the name in the kind field of an object, such as WebApp.
	Kind string
	// Plural is the name in URL paths. Left empty, it is guessed from Kind by the English
	// rules of [Pluralize].
	Plural string
	// Singular is what kubectl prints for one object. Left empty, it is Kind in lower case.
	Singular string
	// ShortNames are what kubectl also accepts, such as po for pods.
	ShortNames []string
	// Categories are the groups of kinds that this one belongs to, such as all.
	Categories []string
	// Verbs are what the server allows, such as get, list and watch. It may be empty where
	// this is not known.
	Verbs []string
	// Subresources names what can be addressed below an object, such as status and scale. It
	// may be empty where this is not known.
	Subresources []string
	// Protobuf says that the server speaks protobuf for this kind. It is true for built-in
	// kinds only: custom resources are JSON.
	Protobuf bool
}

// APIVersion returns what stands in the apiVersion field of an object: group/version, or the
// version alone in the core group.
func (i Info) APIVersion() string {
	if i.Group == "" {
		return i.Version
	}
	return i.Group + "/" + i.Version
}

// GroupVersionKind returns the kind in apimachinery's form.
func (i Info) GroupVersionKind() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: i.Group, Version: i.Version, Kind: i.Kind}
}

// GroupVersionResource returns the resource in apimachinery's form.
func (i Info) GroupVersionResource() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: i.Group, Version: i.Version, Resource: i.Plural}
}

// GroupResource returns the resource without its version, as it stands in the server's
// messages.
func (i Info) GroupResource() schema.GroupResource {
	return schema.GroupResource{Group: i.Group, Resource: i.Plural}
}

// String returns plural.version.group, for logs and errors.
func (i Info) String() string {
	if i.Group == "" {
		return i.Plural + "." + i.Version
	}
	return i.Plural + "." + i.Version + "." + i.Group
}

// validated returns i with the guessed names filled in, and panics when a name that cannot
// be guessed is missing: a descriptor is written by a programmer, once.
func (i Info) validated() Info {
	if i.Version == "" || i.Kind == "" {
		panic(fmt.Sprintf("resource: a kind needs a Version and a Kind: group %q, version %q, kind %q", i.Group, i.Version, i.Kind))
	}
	if strings.ContainsAny(i.Group+i.Version+i.Kind+i.Plural, "/ ?#%") {
		panic(fmt.Sprintf("resource: names of a kind cannot hold '/', '?', '#', '%%' or blanks: group %q, version %q, kind %q, plural %q", i.Group, i.Version, i.Kind, i.Plural))
	}
	if i.Plural == "" {
		i.Plural = Pluralize(i.Kind)
	}
	if i.Singular == "" {
		i.Singular = strings.ToLower(i.Kind)
	}
	return i
}

// Pluralize guesses the plural, lower-case resource name of a kind the way Kubernetes'
// generators do: endpoints stays, -s, -x, -z, -ch and -sh take -es, a consonant and -y become
// -ies, everything else takes -s.
func Pluralize(kind string) string {
	s := strings.ToLower(kind)
	switch {
	case s == "":
		return ""
	case s == "endpoints" || s == "endpointslices":
		return s
	case s == "nodemetrics" || s == "podmetrics": // metrics.k8s.io names its kinds after what they measure
		return strings.TrimSuffix(s, "metrics") + "s"
	case hasSuffix(s, "s", "x", "z", "ch", "sh"):
		return s + "es"
	case strings.HasSuffix(s, "y") && len(s) > 1 && !strings.ContainsRune("aeiou", rune(s[len(s)-2])):
		return s[:len(s)-1] + "ies"
	default:
		return s + "s"
	}
}

func hasSuffix(s string, suffixes ...string) bool {
	for _, suffix := range suffixes {
		if strings.HasSuffix(s, suffix) {
			return true
		}
	}
	return false
}
