package kubetest

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// webhookOf returns the webhook that converts objects of a definition, nil if there is none.
func webhookOf(s *apiextensionsv1.CustomResourceDefinitionSpec) *apiextensionsv1.WebhookClientConfig {
	c := s.Conversion
	if c == nil || c.Strategy != apiextensionsv1.WebhookConverter || c.Webhook == nil {
		return nil
	}
	return c.Webhook.ClientConfig
}

// convertible refuses a request whose objects a webhook would have to convert: nobody calls
// webhooks here, so the answer is that of a real server that cannot reach its webhook. Requests in
// the version of storage need no conversion.
func (rq *request) convertible() error {
	k := rq.kind
	if k.definition == nil || k.storage == nil {
		return nil
	}
	hook := webhookOf(k.definition.spec)
	if hook == nil {
		return nil
	}
	failed := func(from *kind) error {
		return fmt.Errorf("conversion webhook for %v failed: %s", from.GroupVersionKind(), rq.server.unreachable(hook))
	}
	if rq.name != "" {
		o := k.table.get(key{rq.objectNamespace(), rq.name})
		switch {
		case o != nil:
			return apierrors.NewInternalError(corrupt(rq.storedAt(o), o.revision, failed(k.storage)))
		case rq.verb == verbPatch:
			return failed(k)
		}
		return nil
	}
	if rq.verb == verbCreate {
		return failed(k)
	}
	snap, _ := k.table.snapshot(0, rq.objectNamespace(), key{}, 1, nil)
	if len(snap.objects) == 0 {
		if rq.verb == verbWatch {
			return failed(k.storage) // of what comes later
		}
		return nil
	}
	o := snap.objects[0]
	return rq.unreadable("/registry"+rq.storedAt(o), o.revision, failed(k.storage))
}

// storedAt is where a real server has an object, below what is common to all.
func (rq *request) storedAt(o *object) string {
	place := "/" + rq.group + "/" + rq.resource + "/"
	if rq.kind.namespaced() {
		place += o.meta.GetNamespace() + "/"
	}
	return place + o.meta.GetName()
}

// corrupt is what a real server's storage says of an object that it cannot read.
func corrupt(place string, revision uint64, err error) error {
	return fmt.Errorf("StorageError: corrupt object, Code: 7, Key: %s, ResourceVersion: 0, AdditionalErrorMsg: object not decodable revision=%d: %w", place, revision, err)
}

// unreadable is the answer to a list in which there is an object that cannot be read.
func (rq *request) unreadable(place string, revision uint64, err error) error {
	err = corrupt(place, revision, err)
	return &statusError{metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusInternalServerError, Reason: metav1.StatusReasonStoreReadError,
		Message: "failed to read one or more " + rq.resourceName().String() + " from the storage: " + err.Error(),
		Details: &metav1.StatusDetails{
			Group: rq.group, Kind: rq.resource, Name: "list",
			Causes: []metav1.StatusCause{{Type: metav1.CauseTypeUnexpectedServerResponse, Field: place, Message: err.Error()}},
		},
	}}
}

// unreachable says why a webhook has not been called.
func (s *Server) unreachable(hook *apiextensionsv1.WebhookClientConfig) string {
	const why = "kubetest calls no webhooks; use the version of storage, or the conversion strategy None"
	if hook.Service == nil {
		return fmt.Sprintf("Post %q: %s", or(hook.URL, "")+"?timeout=30s", why)
	}
	ref := hook.Service
	u := url.URL{
		Scheme: "https", Host: fmt.Sprintf("%s.%s.svc:%d", ref.Name, ref.Namespace, or(ref.Port, 443)),
		Path: "/" + strings.TrimPrefix(or(ref.Path, ""), "/"), RawQuery: "timeout=30s",
	}
	services := s.kinds.catalog().byKind[corev1.SchemeGroupVersion.WithKind("Service")]
	if services.table.get(key{ref.Namespace, ref.Name}) == nil {
		return fmt.Sprintf("Post %q: service %q not found", u.String(), ref.Name)
	}
	return fmt.Sprintf("Post %q: %s", u.String(), why)
}

// conversionWarnings says of a definition that it wants what there is not.
func conversionWarnings(obj runtime.Object) []string {
	crd := obj.(*apiextensionsv1.CustomResourceDefinition)
	if webhookOf(&crd.Spec) == nil || len(crd.Spec.Versions) < 2 {
		return nil
	}
	return []string{"kubetest calls no conversion webhooks: requests in other versions than that of storage fail, as they do when the webhook cannot be reached"}
}
