package csr

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/go-kube/kube"
	"github.com/go-kube/kube/k8s/certificates"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ErrDecided is given for a request of which the opposite was decided before. A decision cannot be
// taken back: the one who asks has to make another request.
var ErrDecided = errors.New("decided already")

// maxConflicts is how often a decision is begun anew because the request changed meanwhile.
const maxConflicts = 10

// Approve lets the signer issue the certificate that the request called name asks for, and returns
// the request. reason is a word for programs, such as "NodeKnown", and message is for humans; both
// may be empty, and stand for "Approved" then. Approving twice is no error, and changes nothing.
// It fails with [ErrDecided] for a request that was denied, and with [kube.ErrNotFound].
//
// The caller needs the permission to approve for the signer. See
// https://kubernetes.io/docs/reference/access-authn-authz/certificate-signing-requests/#authorization
func Approve(ctx context.Context, client *kube.Client, name, reason, message string) (*certificatesv1.CertificateSigningRequest, error) {
	return decide(ctx, client, name, certificatesv1.CertificateSigningRequestCondition{
		Type: certificatesv1.CertificateApproved, Reason: reason, Message: message,
	})
}

// Deny refuses the certificate that the request called name asks for. See [Approve] for the rest.
func Deny(ctx context.Context, client *kube.Client, name, reason, message string) (*certificatesv1.CertificateSigningRequest, error) {
	return decide(ctx, client, name, certificatesv1.CertificateSigningRequestCondition{
		Type: certificatesv1.CertificateDenied, Reason: reason, Message: message,
	})
}

// Decision reports whether a request was approved or denied.
func Decision(request *certificatesv1.CertificateSigningRequest) (decided, approved bool) {
	approved = has(request, certificatesv1.CertificateApproved)
	return approved || has(request, certificatesv1.CertificateDenied), approved
}

func has(request *certificatesv1.CertificateSigningRequest, what certificatesv1.RequestConditionType) bool {
	return slices.ContainsFunc(request.Status.Conditions, func(c certificatesv1.CertificateSigningRequestCondition) bool {
		return c.Type == what && c.Status != corev1.ConditionFalse
	})
}

func decide(ctx context.Context, client *kube.Client, name string, verdict certificatesv1.CertificateSigningRequestCondition) (*certificatesv1.CertificateSigningRequest, error) {
	if verdict.Reason == "" {
		verdict.Reason = string(verdict.Type)
	}
	verdict.Status = corev1.ConditionTrue
	verdict.LastUpdateTime = metav1.Now()
	api := client.All(certificates.CertificateSigningRequests)
	for attempt := 1; ; attempt++ {
		request, err := api.Get(ctx, name)
		if err != nil {
			return nil, err
		}
		decided, approved := Decision(request)
		switch {
		case decided && approved == (verdict.Type == certificatesv1.CertificateApproved):
			return request, nil
		case decided:
			return nil, fmt.Errorf("csr: %s cannot be %s: %w", name, verdict.Type, ErrDecided)
		}
		request.Status.Conditions = append(request.Status.Conditions, verdict)
		request, err = api.Sub(certificates.CertificateSigningRequestApproval).Replace(ctx, name, request, nil)
		if !errors.Is(err, kube.ErrConflict) || attempt == maxConflicts {
			return request, err
		}
	}
}
