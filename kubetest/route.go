package kubetest

import (
	"net/http"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Verbs, as discovery and RBAC have them.
const (
	verbGet              = "get"
	verbList             = "list"
	verbWatch            = "watch"
	verbCreate           = "create"
	verbUpdate           = "update"
	verbPatch            = "patch"
	verbDelete           = "delete"
	verbDeleteCollection = "deletecollection"
	verbConnect          = "connect"
)

// route is where a request goes: what its method and path say.
type route struct {
	verb        string
	group       string
	version     string
	resource    string
	namespace   string
	name        string
	subresource string
	rest        string // what follows the subresource, with its leading slash
}

func (r *route) path() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: r.group, Version: r.version, Resource: r.resource}
}

// parseRoute returns where a request goes. It reports false for paths that are not below the
// version of a group: discovery, health, and what does not exist.
func parseRoute(method, path string) (route, bool) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	r := route{verb: verbOf(method)}
	switch {
	case len(parts) > 2 && parts[0] == "api":
		r.version, parts = parts[1], parts[2:]
	case len(parts) > 3 && parts[0] == "apis":
		r.group, r.version, parts = parts[1], parts[2], parts[3:]
	default:
		return route{}, false
	}
	if slices.Contains(parts, "") {
		return route{}, false
	}
	if parts[0] == verbWatch && len(parts) > 1 && r.verb == verbGet {
		r.verb, parts = verbWatch, parts[1:]
	}
	r.locate(parts)
	return r, true
}

func verbOf(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead:
		return verbGet
	case http.MethodPost:
		return verbCreate
	case http.MethodPut:
		return verbUpdate
	case http.MethodPatch:
		return verbPatch
	case http.MethodDelete:
		return verbDelete
	}
	return ""
}

// locate reads the parts of the path from the namespace on.
func (r *route) locate(parts []string) {
	if parts[0] == "namespaces" && len(parts) > 1 {
		r.namespace = parts[1]
		if len(parts) > 2 && !isNamespaceSubresource(parts[2]) {
			parts = parts[2:]
		}
	}
	r.resource = parts[0]
	if len(parts) > 1 {
		r.name = parts[1]
	}
	if len(parts) > 2 {
		r.subresource = parts[2]
	}
	if len(parts) > 3 {
		r.rest = "/" + strings.Join(parts[3:], "/")
	}
	if r.name == "" && r.verb == verbGet {
		r.verb = verbList
	}
	if r.name == "" && r.verb == verbDelete {
		r.verb = verbDeleteCollection
	}
}

// isNamespaceSubresource tells /namespaces/NAME/status from a resource in a namespace.
func isNamespaceSubresource(s string) bool { return s == "status" || s == "finalize" }
