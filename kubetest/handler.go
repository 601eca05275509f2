package kubetest

import (
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ServeHTTP implements [http.Handler]: it answers one request as an API server does.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !s.handling.enter() {
		http.Error(w, "the server is closed", http.StatusServiceUnavailable)
		return
	}
	defer s.handling.leave()
	s.serve(w, r)
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	defer discardBody(r)
	rq := &request{ctx: r.Context(), server: s, http: r, query: r.URL.Query(), user: adminUser}
	var ok bool
	if rq.route, ok = parseRoute(r.Method, r.URL.Path); ok {
		rq.kind = s.kinds.catalog().byPath[rq.path()]
	}
	w, done := rq.record(w)
	defer done()
	w, err := rq.suffer(w)
	if err != nil {
		rq.media, _ = negotiate(r, nil)
		rq.fail(w, err)
		return
	}
	s.dispatch(w, rq)
	if lost, ok := w.(*lostAnswer); ok {
		lost.lose()
	}
}

// dispatch finds out who answers a request, and has it answered.
func (s *Server) dispatch(w http.ResponseWriter, rq *request) {
	answer := rq.answer
	if rq.kind == nil {
		h := s.endpoint(rq.http.URL.Path)
		if h == nil {
			s.serveUnknown(w, rq)
			return
		}
		answer = func(w http.ResponseWriter) error { return h(w, rq) }
	}
	if err := answer(w); err != nil {
		rq.fail(w, err)
	}
}

// serveUnknown answers that there is nothing at a path. A real server has a handler for each
// built-in group, which does it in JSON.
func (s *Server) serveUnknown(w http.ResponseWriter, rq *request) {
	if !s.hasBuiltinGroup(rq.http.URL.Path) {
		http.NotFound(w, rq.http)
		return
	}
	rq.media, _ = negotiate(rq.http, nil)
	rq.fail(w, errNoResource)
}

// hasBuiltinGroup reports whether a path is below a group that Kubernetes serves by itself.
func (s *Server) hasBuiltinGroup(path string) bool {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	if parts[0] == "api" {
		return true
	}
	if parts[0] != "apis" || len(parts) < 2 {
		return false
	}
	for _, k := range s.kinds.catalog().kinds {
		if k.Group == parts[1] && !k.custom {
			return true
		}
	}
	return false
}

func (rq *request) answer(w http.ResponseWriter) error {
	h, err := rq.handler()
	if err != nil {
		rq.media, _ = negotiate(rq.http, nil)
		return err
	}
	if deprecated := rq.kind.strategy.deprecated; deprecated != "" {
		rq.warn(deprecated)
	}
	if rq.media, err = negotiate(rq.http, rq.kind); err != nil {
		return err
	}
	if err := rq.convertible(); err != nil {
		return err
	}
	return h(w, rq)
}

var (
	errNoResource = &statusError{metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusNotFound, Reason: metav1.StatusReasonNotFound,
		Message: "the server could not find the requested resource", Details: &metav1.StatusDetails{},
	}}
	errNoMethod = &statusError{metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusMethodNotAllowed, Reason: metav1.StatusReasonMethodNotAllowed,
		Message: "the server does not allow this method on the requested resource", Details: &metav1.StatusDetails{},
	}}
)

// handler returns what answers the request.
func (rq *request) handler() (handler, error) {
	handlers := rq.handlers()
	if len(handlers) == 0 && rq.kind.custom && rq.subresource != "" {
		return nil, rq.notFound(rq.name)
	}
	if len(handlers) == 0 {
		return nil, errNoResource
	}
	h := handlers[rq.verb]
	switch {
	case h != nil && rq.http.Method != http.MethodHead:
		return h, nil
	case rq.kind.custom:
		return nil, apierrors.NewMethodNotSupported(rq.resourceName(), rq.verb)
	}
	return nil, errNoMethod
}

// handlers returns what answers requests to the path, by verb. It is empty where there is
// nothing at the path.
func (rq *request) handlers() map[string]handler {
	k := rq.kind
	anywhere := k.namespaced() && rq.namespace == ""
	switch {
	case !k.namespaced() && rq.namespace != "" && rq.kind.table != rq.server.store.namespaces:
		return nil
	case rq.subresource != "":
		if sub := k.subresources[rq.subresource]; sub != nil && !anywhere && (rq.rest == "" || sub.hasRest) {
			return sub.handlers
		}
		return nil
	case rq.name != "" && anywhere:
		return nil
	case rq.name != "":
		return k.allowed(objectHandlers)
	case anywhere:
		return k.allowed(allNamespacesHandlers)
	}
	return k.allowed(collectionHandlers)
}

var (
	objectHandlers        = map[string]handler{verbGet: get, verbUpdate: update, verbPatch: patch, verbDelete: deleteOne, verbWatch: watchPath}
	collectionHandlers    = map[string]handler{verbList: list, verbWatch: watchPath, verbCreate: create, verbDeleteCollection: deleteCollection}
	allNamespacesHandlers = map[string]handler{verbList: list, verbWatch: watchPath}
)

// allowed returns the handlers of verbs that the kind has.
func (k *kind) allowed(handlers map[string]handler) map[string]handler {
	allowed := make(map[string]handler, len(handlers))
	for verb, h := range handlers {
		if k.allows(verb) {
			allowed[verb] = h
		}
	}
	return allowed
}
