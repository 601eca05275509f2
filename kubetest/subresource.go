package kubetest

import (
	"maps"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// completeSubresource gives a built-in subresource what is particular to it.
func completeSubresource(k *kind, sub *subresource) {
	switch sub.name {
	case "scale":
		*sub = *scaleSubresource(builtinScale(k))
	case "token":
		sub.handlers = map[string]handler{verbCreate: createToken}
	case "eviction":
		sub.handlers = map[string]handler{verbCreate: evict}
		sub.alsoTakes = []schema.GroupVersionKind{{Group: "policy", Version: "v1beta1", Kind: "Eviction"}}
	case "binding":
		sub.handlers = map[string]handler{verbCreate: bind}
	case "ephemeralcontainers":
		sub.handlers, sub.prepare, sub.counts = objectVerbs(), prepareEphemeralContainers, true
	case "resize":
		sub.handlers, sub.prepare, sub.validate = objectVerbs(), prepareResize, validateResize
		sub.counts = true
	case "approval":
		sub.handlers, sub.prepare = objectVerbs(), prepareApproval
	case "finalize":
		sub.handlers, sub.prepare = map[string]handler{verbUpdate: update}, prepareFinalize
	case "log", "exec", "attach", "portforward", "proxy":
		sub.handlers = map[string]handler{verbGet: connect, verbCreate: connect, verbUpdate: connect, verbPatch: connect, verbDelete: connect}
		sub.hasRest = true
	}
}

// objectVerbs are the handlers of subresources whose bodies are objects of the kind itself.
func objectVerbs() map[string]handler {
	return map[string]handler{verbGet: get, verbUpdate: update, verbPatch: patch}
}

// readSubresource reads the body of a POST to a subresource, and the parameters of the request.
func (rq *request) readSubresource(into runtime.Object) error {
	if err := rq.createOptions(); err != nil {
		return err
	}
	sub := rq.kind.subresources[rq.subresource]
	if _, err := rq.decodeBody(into, sub.body.GroupVersionKind(), sub.alsoTakes...); err != nil {
		return err
	}
	return rq.checkNamespace()
}

// respondSuccess answers a POST that has no object to show.
func (rq *request) respondSuccess(w http.ResponseWriter) error {
	return rq.respondBody(w, http.StatusCreated, &metav1.Status{Status: metav1.StatusSuccess, Code: http.StatusCreated}, statusKind)
}

// mergeInto adds the members of from to a map that may be nil yet.
func mergeInto(to *map[string]string, from map[string]string) {
	if *to == nil && len(from) > 0 {
		*to = map[string]string{}
	}
	maps.Copy(*to, from)
}

// connect refuses what would be a connection to a node: there are none. A pod that has no node
// has an empty log, as on a real server.
func connect(w http.ResponseWriter, rq *request) error {
	o := rq.kind.table.get(key{rq.objectNamespace(), rq.name})
	if o == nil {
		return rq.notFound(rq.name)
	}
	host, isPod := hostOf(rq.kind.convert(o))
	switch {
	case isPod && host == "" && rq.subresource == "log":
		w.WriteHeader(http.StatusNoContent)
		return nil
	case isPod && host == "":
		return apierrors.NewBadRequest("pod " + rq.name + " does not have a host assigned")
	}
	return apierrors.NewInternalError(errNoNode)
}
