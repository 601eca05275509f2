package kubetest

import (
	"net/http"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// unstored answers creations of kinds that are questions, and not stored; nil for other kinds.
func unstored(kind schema.GroupKind) handler {
	switch kind {
	case schema.GroupKind{Group: corev1.GroupName, Kind: "Binding"}:
		return createBinding
	case schema.GroupKind{Group: authenticationv1.GroupName, Kind: "TokenReview"},
		schema.GroupKind{Group: authenticationv1.GroupName, Kind: "SelfSubjectReview"},
		schema.GroupKind{Group: authorizationv1.GroupName, Kind: "SubjectAccessReview"},
		schema.GroupKind{Group: authorizationv1.GroupName, Kind: "SelfSubjectAccessReview"},
		schema.GroupKind{Group: authorizationv1.GroupName, Kind: "LocalSubjectAccessReview"},
		schema.GroupKind{Group: authorizationv1.GroupName, Kind: "SelfSubjectRulesReview"}:
		return review
	}
	return nil
}

// review answers a question about users: everybody is the same one, and may do everything.
func review(w http.ResponseWriter, rq *request) error {
	if err := rq.createOptions(); err != nil {
		return err
	}
	obj, err := rq.decodeObject()
	if err != nil {
		return err
	}
	rq.answerReview(obj)
	return rq.respondBody(w, http.StatusCreated, obj, rq.kind.GroupVersionKind())
}

func (rq *request) answerReview(obj runtime.Object) {
	user := authenticationv1.UserInfo{Username: rq.user.name, UID: rq.user.uid, Groups: rq.user.groups}
	allowed := authorizationv1.SubjectAccessReviewStatus{Allowed: true}
	switch o := obj.(type) {
	case *authenticationv1.TokenReview:
		o.Status = authenticationv1.TokenReviewStatus{Authenticated: true, User: user, Audiences: o.Spec.Audiences}
	case *authenticationv1.SelfSubjectReview:
		o.Status.UserInfo = user
	case *authorizationv1.SubjectAccessReview:
		o.Status = allowed
	case *authorizationv1.LocalSubjectAccessReview:
		o.Status = allowed
	case *authorizationv1.SelfSubjectAccessReview:
		o.Status = allowed
	case *authorizationv1.SelfSubjectRulesReview:
		everything := []string{"*"}
		o.Status = authorizationv1.SubjectRulesReviewStatus{
			ResourceRules:    []authorizationv1.ResourceRule{{Verbs: everything, APIGroups: everything, Resources: everything}},
			NonResourceRules: []authorizationv1.NonResourceRule{{Verbs: everything, NonResourceURLs: everything}},
		}
	}
}
