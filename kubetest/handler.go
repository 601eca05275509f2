package kubetest

import (
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
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
	rt, ok := parseRoute(r.Method, r.URL.Path)
	if !ok {
		s.serveOther(w, r)
		return
	}
	k := s.kinds.catalog().byPath[rt.path()]
	if k == nil {
		http.NotFound(w, r)
		return
	}
	rq := &request{route: rt, ctx: r.Context(), server: s, http: r, query: r.URL.Query(), kind: k, user: adminUser}
	if err := rq.answer(w); err != nil {
		rq.fail(w, err)
	}
}

// serveOther answers what is not about objects: discovery, health, version, OpenAPI.
func (s *Server) serveOther(w http.ResponseWriter, r *http.Request) {
	if h := s.others[r.URL.Path]; h != nil {
		h(w, r)
		return
	}
	http.NotFound(w, r)
}

func (rq *request) answer(w http.ResponseWriter) error {
	var err error
	if rq.media, err = negotiate(rq.http, rq.kind); err != nil {
		return err
	}
	h := rq.handler()
	if h == nil {
		return apierrors.NewMethodNotSupported(rq.resourceName(), rq.verb)
	}
	return h(w, rq)
}

// handler returns what answers the request, nil if nothing does.
func (rq *request) handler() handler {
	if rq.subresource != "" {
		if sub := rq.kind.subresources[rq.subresource]; sub != nil {
			return sub.handlers[rq.verb]
		}
		return nil
	}
	if !rq.kind.allows(rq.verb) {
		return nil
	}
	switch rq.verb {
	case verbGet:
		return get
	case verbList:
		return list
	case verbWatch:
		return watchPath
	case verbCreate:
		if rq.name == "" {
			return create
		}
	case verbUpdate:
		return update
	case verbPatch:
		return patch
	case verbDelete:
		return deleteOne
	case verbDeleteCollection:
		return deleteCollection
	}
	return nil
}
