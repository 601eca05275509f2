package kubetest

import (
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// deleteCollection answers DELETE on a collection: it deletes the objects that a list with the
// same parameters has, one by one, and answers with that list.
func deleteCollection(w http.ResponseWriter, rq *request) error {
	o, err := rq.listOptions()
	if err != nil {
		return err
	}
	options, err := rq.deleteOptions()
	if err != nil {
		return err
	}
	items, meta, err := rq.list(o)
	if err != nil {
		return err
	}
	for _, item := range items {
		if err := rq.deleteListed(item, options); err != nil && !apierrors.IsNotFound(err) {
			return err
		}
	}
	return rq.respondList(w, items, meta)
}

func (rq *request) deleteListed(item *object, options *metav1.DeleteOptions) error {
	one := *rq
	one.namespace = item.meta.GetNamespace()
	_, _, err := one.delete(item.meta.GetName(), options)
	return err
}
