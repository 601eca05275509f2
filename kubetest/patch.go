package kubetest

import (
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// patch answers PATCH on an object, or on a subresource whose bodies are objects of the kind.
func patch(w http.ResponseWriter, rq *request) error {
	return apierrors.NewMethodNotSupported(rq.resourceName(), rq.verb)
}
