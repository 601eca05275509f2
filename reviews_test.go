package kube_test

import (
	"strings"
	"testing"

	"github.com/go-kube/kube/k8s/authentication"
	"github.com/go-kube/kube/k8s/authorization"
	"github.com/go-kube/kube/k8s/core"
	"github.com/go-kube/kube/resource"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Objects that are only ever created, and kept by nobody, have no names.
func TestCreateReviews(t *testing.T) {
	rec, client := recording(t, "https://example.org")
	for want, create := range map[string]func() error{
		"/apis/authentication.k8s.io/v1/selfsubjectreviews": func() error {
			_, err := client.All(authentication.SelfSubjectReviews).Create(t.Context(), &authenticationv1.SelfSubjectReview{}, nil)
			return err
		},
		"/apis/authorization.k8s.io/v1/selfsubjectrulesreviews": func() error {
			_, err := client.All(authorization.SelfSubjectRulesReviews).Create(t.Context(), &authorizationv1.SelfSubjectRulesReview{}, nil)
			return err
		},
		"/apis/authorization.k8s.io/v1/namespaces/ns/localsubjectaccessreviews": func() error {
			_, err := client.Namespaced(authorization.LocalSubjectAccessReviews, "ns").Create(t.Context(), &authorizationv1.LocalSubjectAccessReview{}, nil)
			return err
		},
		"/apis/example.org/v1/questions": func() error { // whose verbs are not known
			kind := resource.Dynamic(resource.Info{Group: "example.org", Version: "v1", Kind: "Question"}, resource.ClusterScoped)
			_, err := client.All(kind).Create(t.Context(), &unstructured.Unstructured{Object: map[string]any{"kind": "Question"}}, nil)
			return err
		},
	} {
		if err := create(); err != nil {
			t.Errorf("%s: %v", want, err)
		} else if rec.request.Method != "POST" || rec.request.URL.Path != want {
			t.Errorf("%s %s, want a POST to %s", rec.request.Method, rec.request.URL.Path, want)
		}
	}
	_, err := client.Namespaced(core.ConfigMaps, "ns").Create(t.Context(), &corev1.ConfigMap{}, nil)
	if err == nil || !strings.Contains(err.Error(), "neither a name nor a generateName") {
		t.Errorf("a ConfigMap without a name: %v", err)
	}
}
