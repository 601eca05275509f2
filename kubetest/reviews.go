package kubetest

import (
	"net/http"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
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
	if err := rq.checkReview(obj); err != nil {
		return err
	}
	rq.answerReview(obj)
	return rq.respondBody(w, http.StatusCreated, obj, rq.kind.GroupVersionKind())
}

// checkReview refuses questions that make no sense, in the words of a real server.
func (rq *request) checkReview(obj runtime.Object) error {
	spec := field.NewPath("spec")
	var errs field.ErrorList
	subject := func(s *authorizationv1.SubjectAccessReviewSpec) {
		errs = append(errs, oneOfAttributes(s.ResourceAttributes, s.NonResourceAttributes)...)
		if s.User == "" && len(s.Groups) == 0 {
			errs = append(errs, field.Invalid(spec.Child("user"), s.User, "at least one of user or group must be specified"))
		}
	}
	switch o := obj.(type) {
	case *authenticationv1.TokenReview:
		if o.Spec.Token == "" {
			return apierrors.NewBadRequest("token is required for TokenReview in authentication")
		}
	case *authorizationv1.SubjectAccessReview:
		subject(&o.Spec)
	case *authorizationv1.LocalSubjectAccessReview:
		subject(&o.Spec)
	case *authorizationv1.SelfSubjectAccessReview:
		errs = oneOfAttributes(o.Spec.ResourceAttributes, o.Spec.NonResourceAttributes)
	}
	if len(errs) > 0 {
		return apierrors.NewInvalid(schema.GroupKind{Group: rq.group}, "", errs)
	}
	return nil
}

func oneOfAttributes(resource *authorizationv1.ResourceAttributes, other *authorizationv1.NonResourceAttributes) field.ErrorList {
	spec := field.NewPath("spec")
	switch {
	case resource != nil && other != nil:
		return field.ErrorList{field.Invalid(spec.Child("nonResourceAttributes"), other, "cannot be specified in combination with resourceAttributes")}
	case resource == nil && other == nil:
		return field.ErrorList{field.Invalid(spec, nil, "exactly one of nonResourceAttributes or resourceAttributes must be specified")}
	}
	return nil
}

func (rq *request) answerReview(obj runtime.Object) {
	user := authenticationv1.UserInfo{Username: rq.user.name, UID: rq.user.uid, Groups: rq.user.groups}
	allowed := authorizationv1.SubjectAccessReviewStatus{Allowed: true}
	switch o := obj.(type) {
	case *authenticationv1.TokenReview:
		o.Status = authenticationv1.TokenReviewStatus{Error: "invalid bearer token"}
		if account, ok := rq.server.accountOf(o.Spec.Token); ok {
			o.Status = authenticationv1.TokenReviewStatus{Authenticated: true, User: account, Audiences: o.Spec.Audiences}
		}
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
