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

// Validate reports what keeps i from describing a kind: a missing Version or Kind, or a name
// that cannot stand in a URL path. Plural may be empty. Other rules are the server's.
func (i Info) Validate() error {
	for _, f := range []struct {
		field, value string
		required     bool
	}{{"Group", i.Group, false}, {"Version", i.Version, true}, {"Kind", i.Kind, true}, {"Plural", i.Plural, false}} {
		switch {
		case f.value == "" && f.required:
			return fmt.Errorf("a kind needs a %s: group %q, version %q, kind %q, plural %q", f.field, i.Group, i.Version, i.Kind, i.Plural)
		case f.value != "" && !isName(f.value):
			return fmt.Errorf("%s %q of a kind: want letters, digits, '-' and '.', with a letter or digit first and last", f.field, f.value)
		}
	}
	return nil
}

// isName reports whether s can be an element of a path as it is. It is wider than any one
// of Kubernetes' own rules for groups, versions, kinds and resources.
func isName(s string) bool {
	for _, r := range []byte(s) {
		if !isAlphanumeric(r) && r != '-' && r != '.' {
			return false
		}
	}
	return s != "" && isAlphanumeric(s[0]) && isAlphanumeric(s[len(s)-1])
}

func isAlphanumeric(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

// completed returns i with the guessed names filled in, and panics when i is not valid: a
// descriptor is written by a programmer, once.
func (i Info) completed() Info {
	if err := i.Validate(); err != nil {
		panic("resource: " + err.Error())
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
