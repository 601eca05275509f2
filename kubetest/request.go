package kubetest

import (
	"context"
	"net/http"
	"net/url"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// request is one request on its way through the server. Those that the server makes of itself
// (garbage collection, preloaded objects) have no http.Request.
type request struct {
	route
	ctx    context.Context
	server *Server
	http   *http.Request
	query  url.Values
	kind   *kind
	media  media
	user   user

	recorded     *Request // nil of requests of the server itself
	lag          uint64   // how many revisions the answer is behind
	dryRun       bool
	fieldManager string
	validation   string // of fields: Strict, Warn or Ignore
	warnings     []string
	// deletedAt is when the object was deleted, of one that is loaded; nil is now.
	deletedAt *metav1.Time
}

// handler answers a request, or returns the error to answer with.
type handler func(w http.ResponseWriter, rq *request) error

// internal returns a request of the server itself for objects of k.
func (s *Server) internal(verb string, k *kind, namespace, name string) *request {
	return &request{
		route: route{
			verb: verb, group: k.Group, version: k.Version, resource: k.Plural, namespace: namespace, name: name,
		},
		ctx: context.Background(), server: s, query: url.Values{}, kind: k, user: systemUser,
		fieldManager: "kubetest", validation: metav1.FieldValidationIgnore,
	}
}

// objectNamespace is the namespace that objects of the request have.
func (rq *request) objectNamespace() string {
	if rq.kind.namespaced() {
		return rq.namespace
	}
	return ""
}

// resourceName is the group and resource, as errors name them.
func (rq *request) resourceName() schema.GroupResource { return rq.kind.GroupResource() }

// warn adds a warning to the answer; each text is sent once.
func (rq *request) warn(text string) { rq.warnings = append(rq.warnings, text) }

// notFound says that the object does not exist.
func (rq *request) notFound(name string) error {
	return apierrors.NewNotFound(rq.resourceName(), name)
}
