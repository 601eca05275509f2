package kube

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Sentinels for errors.Is. Each holds for the errors of this package that the API server
// answered with that reason; apimachinery's predicates (apierrors.IsNotFound and the others)
// hold as well.
var (
	// ErrNotFound is a 404: the object, or the kind itself, does not exist.
	ErrNotFound = errors.New("not found")
	// ErrAlreadyExists is a 409 on create: an object of that name exists.
	ErrAlreadyExists = errors.New("already exists")
	// ErrConflict is a 409 on a write: the object changed since it was read, or another
	// field manager owns a field.
	ErrConflict = errors.New("conflict")
	// ErrInvalid is a 422: the object breaks the rules of its kind.
	ErrInvalid = errors.New("invalid")
	// ErrForbidden is a 403: the credentials may not do this.
	ErrForbidden = errors.New("forbidden")
	// ErrUnauthorized is a 401: the credentials are missing, wrong or expired.
	ErrUnauthorized = errors.New("unauthorized")
	// ErrExpired is a 410: a resource version or continue token is too old. See [IsExpired].
	ErrExpired = errors.New("expired")
)

// Error is the error of one request. It wraps what went wrong: a *apierrors.StatusError
// when the API server refused the request, and the transport's or decoder's error otherwise.
type Error struct {
	// Verb is the Kubernetes verb: get, list, watch, create, update, patch, apply, delete,
	// deletecollection.
	Verb string
	// Resource is plural.group of the kind, or the plural alone in the core group. A
	// subresource is appended: pods/status.
	Resource string
	// Namespace is the namespace of the request; empty for cluster-scoped kinds and for
	// requests over all namespaces.
	Namespace string
	// Name is the object's name; empty for requests to a collection.
	Name string
	// Err is the cause.
	Err error
}

// Error says what was asked for and why it failed.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Verb)
	b.WriteByte(' ')
	b.WriteString(e.Resource)
	switch {
	case e.Name != "" && e.Namespace != "":
		fmt.Fprintf(&b, " %s/%s", e.Namespace, e.Name)
	case e.Name != "":
		b.WriteString(" " + e.Name)
	case e.Namespace != "":
		b.WriteString(" in namespace " + e.Namespace)
	}
	fmt.Fprintf(&b, ": %v", e.Err)
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Is makes errors.Is(err, ErrNotFound) and the other sentinels of this package true where
// the API server gave that reason.
func (e *Error) Is(target error) bool {
	switch target {
	case ErrNotFound:
		return apierrors.IsNotFound(e.Err)
	case ErrAlreadyExists:
		return apierrors.IsAlreadyExists(e.Err)
	case ErrConflict:
		return apierrors.IsConflict(e.Err)
	case ErrInvalid:
		return apierrors.IsInvalid(e.Err)
	case ErrForbidden:
		return apierrors.IsForbidden(e.Err)
	case ErrUnauthorized:
		return apierrors.IsUnauthorized(e.Err)
	case ErrExpired:
		return IsExpired(e.Err)
	}
	return false
}

// IsExpired reports whether err says that a resource version or a continue token is too old
// to go on from: HTTP 410, or the reason Expired or Gone. The way out is a new list.
// See https://kubernetes.io/docs/reference/using-api/api-concepts/#410-gone-responses
func IsExpired(err error) bool {
	status, ok := statusOf(err)
	if !ok {
		return false
	}
	return status.Code == http.StatusGone ||
		status.Reason == metav1.StatusReasonExpired || status.Reason == metav1.StatusReasonGone
}

// ContinueToken returns the token that the server offers with [ErrExpired] in place of one that is too
// old: with it as [ListOptions.Continue] a list goes on behind the last object that it had, with what is
// there now. What changed between the two states is in neither part, or in both. ok is false where err
// brings no token: then only a new list is left.
func ContinueToken(err error) (token string, ok bool) {
	status, ok := statusOf(err)
	if !ok || !IsExpired(err) || status.ListMeta.Continue == "" {
		return "", false
	}
	return status.ListMeta.Continue, true
}

// CanRetry reports whether the same request, sent again unchanged, can be expected to work
// and cannot do harm: either nothing of it was sent, or the server said that it was too busy
// (429) or not ready to take it (503 with Retry-After).
func CanRetry(err error) bool {
	if err == nil {
		return false
	}
	status, ok := statusOf(err)
	if !ok {
		return nothingSent(err)
	}
	switch status.Code {
	case http.StatusTooManyRequests:
		return true
	case http.StatusServiceUnavailable:
		_, told := RetryAfter(err)
		return told
	}
	return false
}

// RetryAfter returns how long the server asked to wait before the next try; ok is false when
// it did not say.
func RetryAfter(err error) (d time.Duration, ok bool) {
	status, isStatus := statusOf(err)
	if !isStatus || status.Details == nil || status.Details.RetryAfterSeconds <= 0 {
		return 0, false
	}
	return time.Duration(status.Details.RetryAfterSeconds) * time.Second, true
}

// statusOf finds the API server's Status in err.
func statusOf(err error) (metav1.Status, bool) {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return metav1.Status{}, false
	}
	return status.Status(), true
}
