package kube_test

import (
	"errors"
	"testing"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/k8s/core"
	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestStatusIsKept: what a server says of a refusal is there for the caller to read, whole.
func TestStatusIsKept(t *testing.T) {
	for _, test := range []struct {
		name, body string
		code       int
		is         error
		want       metav1.Status
	}{
		{"invalid", `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Pod \"a b\" is invalid","reason":"Invalid",
			"details":{"name":"a b","kind":"Pod","causes":[{"reason":"FieldValueInvalid","message":"Invalid value","field":"metadata.name"},
			{"reason":"FieldValueRequired","message":"Required value","field":"spec.containers"}]},"code":422}`, 422, kube.ErrInvalid,
			metav1.Status{Message: `Pod "a b" is invalid`, Reason: metav1.StatusReasonInvalid, Code: 422, Details: &metav1.StatusDetails{
				Name: "a b", Kind: "Pod", Causes: []metav1.StatusCause{
					{Type: metav1.CauseTypeFieldValueInvalid, Message: "Invalid value", Field: "metadata.name"},
					{Type: metav1.CauseTypeFieldValueRequired, Message: "Required value", Field: "spec.containers"},
				}}}},
		{"expired, with a token to go on from", `{"kind":"Status","apiVersion":"v1","metadata":{"continue":"fresh"},"status":"Failure",
			"message":"the token is too old","reason":"Expired","code":410}`, 410, kube.ErrExpired,
			metav1.Status{ListMeta: metav1.ListMeta{Continue: "fresh"}, Message: "the token is too old", Reason: metav1.StatusReasonExpired, Code: 410}},
		{"conflict", `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"changed","reason":"Conflict",
			"details":{"name":"a","group":"apps","kind":"deployments","uid":"u"},"code":409}`, 409, kube.ErrConflict,
			metav1.Status{Message: "changed", Reason: metav1.StatusReasonConflict, Code: 409,
				Details: &metav1.StatusDetails{Name: "a", Group: "apps", Kind: "deployments", UID: "u"}}},
		{"a reason that is not known", `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"gone","reason":"Vanished","code":404}`, 404, kube.ErrNotFound,
			metav1.Status{Message: "gone", Reason: "Vanished", Code: 404}},
		{"no code", `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"no","reason":"Forbidden"}`, 403, kube.ErrForbidden,
			metav1.Status{Message: "no", Reason: metav1.StatusReasonForbidden, Code: 403}},
	} {
		t.Run(test.name, func(t *testing.T) {
			rec, client := recording(t, "https://host")
			rec.code, rec.answer = test.code, test.body
			_, err := client.All(core.Pods).List(t.Context(), nil)
			if !errors.Is(err, test.is) {
				t.Errorf("error %v, want one that is %v", err, test.is)
			}
			status, ok := errors.AsType[*apierrors.StatusError](err)
			if !ok {
				t.Fatalf("no Status in %T", err)
			}
			test.want.Status, test.want.TypeMeta = metav1.StatusFailure, status.ErrStatus.TypeMeta
			if diff := cmp.Diff(test.want, status.ErrStatus); diff != "" {
				t.Error(diff)
			}
			if token, ok := kube.ContinueToken(err); token != test.want.ListMeta.Continue || ok != (token != "") {
				t.Errorf("token %q, %t", token, ok)
			}
		})
	}
}

// TestDeleteAnswers: a server answers a deletion with a Status, with less of one, or with the object.
func TestDeleteAnswers(t *testing.T) {
	for _, body := range []string{
		`{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success","details":{"name":"p","group":"clux.dev","kind":"foos","uid":"1234"}}`,
		`{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success","details":{"group":"clux.dev","kind":"foos"}}`,
		`{"kind":"Status","apiVersion":"v1","status":"Success"}`,
		`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","deletionTimestamp":"2030-01-01T00:00:00Z"}}`,
	} {
		rec, client := recording(t, "https://host")
		rec.answer = body
		if err := client.Namespaced(core.Pods, "ns").Delete(t.Context(), "p", nil); err != nil {
			t.Errorf("%s: %v", body, err)
		}
		if err := client.Namespaced(core.Pods, "ns").DeleteCollection(t.Context(), nil, nil); err != nil {
			t.Errorf("of a collection, %s: %v", body, err)
		}
	}
}
